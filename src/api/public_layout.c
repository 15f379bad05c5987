/* SPDX-License-Identifier: MIT */
/*
 * The layout of sonde.h's plain structs, which other languages read by offset (ctypes, LuaJIT's
 * FFI). New members may be appended; the members here must not change. Offsets are for 64-bit
 * machines.
 */

#include "sonde/sonde.h"

#if UINTPTR_MAX > UINT32_MAX
#define AT(type, member, offset) \
	_Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

AT(sonde_event, size, 0);
AT(sonde_event, schema, 4);
AT(sonde_event, time_ns, 8);
AT(sonde_event, cpu, 16);
AT(sonde_event, pid, 20);
AT(sonde_event, tid, 24);
AT(sonde_event, flags, 28);
AT(sonde_event, comm, 32);
AT(sonde_event, bytes_len, 36);
AT(sonde_event, bytes, 40);
AT(sonde_event, record, 48);
AT(sonde_event, record_len, 56);
AT(sonde_event, cpumode, 60);
AT(sonde_event, file_off, 64);
AT(sonde_event, map_epoch, 72);

AT(sonde_field, size, 0);
AT(sonde_field, offset, 4);
AT(sonde_field, width, 8);
AT(sonde_field, elem_width, 12);
AT(sonde_field, kind, 16);
AT(sonde_field, is_signed, 17);
AT(sonde_field, is_array, 18);
AT(sonde_field, is_dynamic, 19);
AT(sonde_field, is_relative, 20);
AT(sonde_field, is_text, 21);
AT(sonde_field, is_pointer, 22);
AT(sonde_field, is_long, 23);
AT(sonde_field, is_common, 24);
AT(sonde_field, byte_order, 25);
AT(sonde_field, bit_offset, 28);
AT(sonde_field, bit_width, 30);
AT(sonde_field, name, 32);
AT(sonde_field, type, 40);
AT(sonde_field, labels, 48);
AT(sonde_field, fields, 56);
AT(sonde_field, nr_labels, 64);
AT(sonde_field, nr_fields, 68);

AT(sonde_rules, size, 0);
AT(sonde_rules, status_failed, 4);
AT(sonde_rules, version, 8);
AT(sonde_rules, status_usage, 16);
AT(sonde_rules, status_interrupted, 20);
AT(sonde_rules, perl_dies_with_errno, 24);
AT(sonde_rules, perl_exit_fails, 28);
AT(sonde_rules, perl_runs_on_after_exit, 32);
AT(sonde_rules, unsigned_fields, 36);
AT(sonde_rules, unsigned_ids, 40);
AT(sonde_rules, unprintable_stays_bytes, 44);
AT(sonde_rules, perl_texts_run_on, 48);
AT(sonde_rules, perl_arrays_are_zero, 52);
AT(sonde_rules, binds_by_place, 56);
AT(sonde_rules, passes_over_handlers, 60);
AT(sonde_rules, drops_file_name, 64);
AT(sonde_rules, defines_all_constants, 68);
AT(sonde_rules, defines_before_each_event, 72);
AT(sonde_rules, signed_defines, 76);
AT(sonde_rules, syscall_names, 80);
AT(sonde_rules, sample_keys, 84);
AT(sonde_rules, attr_bytes, 88);
AT(sonde_rules, register_text_bytes, 92);
AT(sonde_rules, data_src_text_bytes, 96);
AT(sonde_rules, absent_data_src_is_long, 100);
AT(sonde_rules, db_samples_without_ids, 104);
AT(sonde_rules, db_frames_begin_symbols, 108);
AT(sonde_rules, db_looks_up_addr_first, 112);
AT(sonde_rules, exit_forgets_task, 116);
AT(sonde_rules, status_no_command, 120);
AT(sonde_rules, unserved_is_failure, 124);
AT(sonde_rules, statuses_are_errnos, 128);
AT(sonde_rules, unrun_command_fails, 132);
AT(sonde_rules, last_input_only, 136);
AT(sonde_rules, words_are_no_recordings, 140);
AT(sonde_rules, silent_about_input, 144);
AT(sonde_rules, reads_stdin_pipe, 148);
AT(sonde_rules, prepends_path, 152);
AT(sonde_rules, lists_wrappers_only, 156);
AT(sonde_rules, record_takes_commands, 160);
AT(sonde_rules, record_adds_all_cpus, 164);
AT(sonde_rules, needs_wrappers, 168);
AT(sonde_rules, options_miss_wrappers, 172);
AT(sonde_rules, records_despite_input, 176);
AT(sonde_rules, live_input_is_word, 180);
AT(sonde_rules, live_takes_no_options, 184);
AT(sonde_rules, live_status_of_report, 188);
AT(sonde_rules, perfs_scripts_first, 192);
AT(sonde_rules, needs_suffix, 196);
AT(sonde_rules, missing_script_is_usage, 200);
AT(sonde_rules, ignores_buildid_variable, 204);
AT(sonde_rules, tilde_is_folder, 208);
AT(sonde_rules, has_no_colors, 212);
AT(sonde_rules, list_in_perfs_form, 216);
AT(sonde_rules, list_matches_events_only, 220);
AT(sonde_rules, list_takes_word_by_word, 224);
AT(sonde_rules, list_passes_over_words, 228);

AT(sonde_define, size, 0);
AT(sonde_define, kind, 4);
AT(sonde_define, value, 8);
AT(sonde_define, field, 16);
AT(sonde_define, text, 24);

AT(sonde_defect, size, 0);
AT(sonde_defect, severity, 4);
AT(sonde_defect, count, 8);
AT(sonde_defect, name, 16);
AT(sonde_defect, advice, 24);
AT(sonde_defect, first, 32);

AT(sonde_sample, size, 0);
AT(sonde_sample, nr_reads, 4);
AT(sonde_sample, present, 8);
AT(sonde_sample, ip, 24);
AT(sonde_sample, period, 56);
AT(sonde_sample, reads, 80);
AT(sonde_sample, weight, 88);
AT(sonde_sample, nr_branches, 144);
AT(sonde_sample, branches, 160);
AT(sonde_sample, user_regs_abi, 168);
AT(sonde_sample, user_regs, 200);
AT(sonde_sample, user_stack, 216);
AT(sonde_sample, raw_len, 232);

AT(sonde_location, size, 0);
AT(sonde_location, addr, 8);
AT(sonde_location, dso, 16);
AT(sonde_location, map_start, 32);
AT(sonde_location, sym, 56);
AT(sonde_location, sym_off, 80);
AT(sonde_location, dso_id, 88);
AT(sonde_location, dso_off, 96);
AT(sonde_location, answer, 104);
AT(sonde_location, sym_is_object, 116);

AT(sonde_dso, size, 0);
AT(sonde_dso, id, 8);
AT(sonde_dso, short_name, 16);
AT(sonde_dso, long_name, 24);
AT(sonde_dso, build_id, 32);

AT(sonde_task, size, 0);
AT(sonde_task, flags, 4);
AT(sonde_task, pid, 8);
AT(sonde_task, tid, 12);
AT(sonde_task, id, 16);
AT(sonde_task, name, 24);
AT(sonde_task, program, 48);

AT(sonde_code, size, 0);
AT(sonde_code, line, 4);
AT(sonde_code, file, 8);
AT(sonde_code, text, 16);
AT(sonde_code, text_len, 24);
AT(sonde_code, insn_len, 32);
AT(sonde_code, insn, 36);

AT(sonde_profile_facts, size, 0);
AT(sonde_profile_facts, flags, 4);
AT(sonde_profile_facts, nr_tables, 8);
AT(sonde_profile_facts, nr_keys, 12);
AT(sonde_profile_facts, samples, 16);
AT(sonde_profile_facts, unresolved_samples, 24);
AT(sonde_profile_facts, dropped_samples, 32);
AT(sonde_profile_facts, hidden_samples, 40);
AT(sonde_profile_facts, truncated_chains, 48);
AT(sonde_profile_facts, first_ns, 56);
AT(sonde_profile_facts, last_ns, 64);
AT(sonde_profile_facts, unresolved_by_reason, 72);

AT(sonde_profile_table, size, 0);
AT(sonde_profile_table, schema, 4);
AT(sonde_profile_table, name, 8);
AT(sonde_profile_table, group, 16);
AT(sonde_profile_table, nr_members, 24);
AT(sonde_profile_table, flags, 28);
AT(sonde_profile_table, nr_rows, 32);
AT(sonde_profile_table, samples, 40);
AT(sonde_profile_table, period, 48);
AT(sonde_profile_table, shown_samples, 56);
AT(sonde_profile_table, shown_period, 64);

AT(sonde_aggregate_options, size, 0);
AT(sonde_aggregate_options, limit, 4);
AT(sonde_aggregate_options, kind, 8);
AT(sonde_aggregate_options, events, 16);
AT(sonde_aggregate_options, field, 24);
AT(sonde_aggregate_options, by, 32);
AT(sonde_aggregate_options, where, 40);
AT(sonde_aggregate_options, low, 48);
AT(sonde_aggregate_options, high, 56);
AT(sonde_aggregate_options, step, 64);

AT(sonde_aggregate_facts, size, 0);
AT(sonde_aggregate_facts, nr_keys, 4);
AT(sonde_aggregate_facts, kind, 8);
AT(sonde_aggregate_facts, title, 16);
AT(sonde_aggregate_facts, count, 24);
AT(sonde_aggregate_facts, unfit, 32);
AT(sonde_aggregate_facts, merged, 40);
AT(sonde_aggregate_facts, sum, 48);

AT(sonde_aggregate_value, kind, 0);
AT(sonde_aggregate_value, reserved, 4);
AT(sonde_aggregate_value, number, 8);
AT(sonde_aggregate_value, text, 16);

AT(sonde_aggregate_bucket, low, 0);
AT(sonde_aggregate_bucket, high, 8);
AT(sonde_aggregate_bucket, count, 16);

AT(sonde_aggregate_row, size, 0);
AT(sonde_aggregate_row, flags, 4);
AT(sonde_aggregate_row, count, 8);
AT(sonde_aggregate_row, sum, 16);
AT(sonde_aggregate_row, min, 24);
AT(sonde_aggregate_row, max, 32);
AT(sonde_aggregate_row, mean, 40);
AT(sonde_aggregate_row, p50, 48);
AT(sonde_aggregate_row, p90, 56);
AT(sonde_aggregate_row, p99, 64);
AT(sonde_aggregate_row, keys, 72);
AT(sonde_aggregate_row, buckets, 80);
AT(sonde_aggregate_row, nr_keys, 88);
AT(sonde_aggregate_row, nr_buckets, 92);
AT(sonde_aggregate_row, p95, 96);

AT(sonde_aggregate_print_options, size, 0);
AT(sonde_aggregate_print_options, top, 4);
AT(sonde_aggregate_print_options, format, 8);
AT(sonde_aggregate_print_options, from_ns, 24);
AT(sonde_aggregate_print_options, to_ns, 32);
AT(sonde_aggregate_print_options, columns, 16);
AT(sonde_aggregate_print_options, reserved, 20);

AT(sonde_profile_row, size, 0);
AT(sonde_profile_row, flags, 4);
AT(sonde_profile_row, samples, 8);
AT(sonde_profile_row, period, 16);
AT(sonde_profile_row, children_samples, 24);
AT(sonde_profile_row, children_period, 32);
AT(sonde_profile_row, period_sys, 40);
AT(sonde_profile_row, period_us, 48);
AT(sonde_profile_row, period_guest_sys, 56);
AT(sonde_profile_row, period_guest_us, 64);
AT(sonde_profile_row, weights, 72);
AT(sonde_profile_row, first_ns, 104);
AT(sonde_profile_row, last_ns, 112);
AT(sonde_profile_row, merged, 120);
AT(sonde_profile_row, task, 128);
AT(sonde_profile_row, place, 136);
AT(sonde_profile_row, max_depth, 140);

AT(sonde_profile_value, size, 0);
AT(sonde_profile_value, kind, 4);
AT(sonde_profile_value, id, 8);
AT(sonde_profile_value, rank, 12);
AT(sonde_profile_value, unknown, 16);
AT(sonde_profile_value, place, 20);
AT(sonde_profile_value, number, 24);
AT(sonde_profile_value, text, 32);
AT(sonde_profile_value, long_text, 40);
AT(sonde_profile_value, bytes_len, 48);
AT(sonde_profile_value, width, 52);
AT(sonde_profile_value, level, 56);
AT(sonde_profile_read, size, 0);
AT(sonde_profile_read, pid, 4);
AT(sonde_profile_read, tid, 8);
AT(sonde_profile_read, schema, 12);
AT(sonde_profile_read, name, 16);
AT(sonde_profile_read, value, 24);

AT(sonde_profile_place, size, 0);
AT(sonde_profile_place, unknown, 4);
AT(sonde_profile_place, ip, 8);
AT(sonde_profile_place, dso_addr, 16);
AT(sonde_profile_place, dso_id, 24);
AT(sonde_profile_place, dso, 32);
AT(sonde_profile_place, dso_path, 40);
AT(sonde_profile_place, sym, 48);
AT(sonde_profile_place, sym_start, 56);
AT(sonde_profile_place, sym_end, 64);
AT(sonde_profile_place, map_bytes, 72);
AT(sonde_profile_place, file, 80);
AT(sonde_profile_place, line, 88);
AT(sonde_profile_place, cpumode, 92);
AT(sonde_profile_place, level, 96);
AT(sonde_profile_place, is_inlined, 97);
AT(sonde_profile_place, sym_binding, 98);

AT(sonde_profile_node, size, 0);
AT(sonde_profile_node, nr_frames, 4);
AT(sonde_profile_node, frames, 8);
AT(sonde_profile_node, parent, 16);
AT(sonde_profile_node, child, 20);
AT(sonde_profile_node, next, 24);
AT(sonde_profile_node, hit_period, 32);
AT(sonde_profile_node, hit_samples, 40);
AT(sonde_profile_node, period, 48);
AT(sonde_profile_node, samples, 56);

AT(sonde_profile_path, size, 0);
AT(sonde_profile_path, nr_frames, 4);
AT(sonde_profile_path, frames, 8);
AT(sonde_profile_path, samples, 16);
AT(sonde_profile_path, period, 24);
AT(sonde_profile_path, weights, 32);
AT(sonde_profile_path, first_ns, 64);
AT(sonde_profile_path, last_ns, 72);
AT(sonde_profile_path, place, 80);
AT(sonde_profile_path, flags, 84);

AT(sonde_columns_options, size, 0);
AT(sonde_columns_options, flags, 4);
AT(sonde_columns_options, rows, 8);

AT(sonde_columns_table, size, 0);
AT(sonde_columns_table, schema, 4);
AT(sonde_columns_table, name, 8);
AT(sonde_columns_table, nr_columns, 16);
AT(sonde_columns_table, rows, 24);
AT(sonde_columns_table, unfit, 32);
AT(sonde_columns_table, lost, 40);

AT(sonde_nearest, size, 0);
AT(sonde_nearest, distance, 4);
AT(sonde_nearest, wanted, 8);
AT(sonde_nearest, closest, 16);
AT(sonde_nearest, meant, 24);

/* As Arrow's specification has them. */
_Static_assert(sizeof(struct ArrowSchema) == 72, "Arrow's C data interface");
_Static_assert(sizeof(struct ArrowArray) == 80, "Arrow's C data interface");
_Static_assert(sizeof(struct ArrowArrayStream) == 40, "Arrow's C stream interface");

_Static_assert(sizeof(struct sonde_label) == 24, "an element of an array");
_Static_assert(sizeof(struct sonde_read_value) == 24, "an element of an array");
_Static_assert(sizeof(struct sonde_branch) == 24, "an element of an array");
_Static_assert(sizeof(struct sonde_task_name) == 24, "a part of another struct");
_Static_assert(sizeof(struct sonde_frame) == 40, "an element of an array");
#endif
