# SPDX-License-Identifier: MIT
"""Counts the rows of a database export with call chains."""
perf_db_export_mode = True
perf_db_export_callchains = True
counts = [0, 0, 0]


def sample_table(id, evsel_id, machine_id, thread_id, comm_id, dso_id, symbol_id, sym_offset, ip,
                 time, cpu, to_dso_id, to_symbol_id, to_sym_offset, to_ip, period, weight,
                 transaction, data_src, branch_type, in_tx, call_path_id, insn_cnt, cyc_cnt, flags,
                 *more):
    counts[0] += 1


def call_path_table(*row):
    counts[1] += 1


def symbol_table(*row):
    counts[2] += 1


def trace_end():
    print(counts)
