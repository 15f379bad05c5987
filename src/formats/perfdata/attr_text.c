/* SPDX-License-Identifier: MIT */
/* An event's attr as a list of names and values, without members that are 0. */
#include "formats/perfdata/attr_text.h"

#include <inttypes.h>
#include <string.h>

struct bit_name {
	uint64_t bit;
	const char *name;
};

/* The names are in perf's order, which is not the order of the bits. */
static const struct bit_name sample_bits[] = {
	{ PERF_SAMPLE_IP, "IP" },
	{ PERF_SAMPLE_TID, "TID" },
	{ PERF_SAMPLE_TIME, "TIME" },
	{ PERF_SAMPLE_ADDR, "ADDR" },
	{ PERF_SAMPLE_READ, "READ" },
	{ PERF_SAMPLE_CALLCHAIN, "CALLCHAIN" },
	{ PERF_SAMPLE_ID, "ID" },
	{ PERF_SAMPLE_CPU, "CPU" },
	{ PERF_SAMPLE_PERIOD, "PERIOD" },
	{ PERF_SAMPLE_STREAM_ID, "STREAM_ID" },
	{ PERF_SAMPLE_RAW, "RAW" },
	{ PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ PERF_SAMPLE_REGS_USER, "REGS_USER" },
	{ PERF_SAMPLE_STACK_USER, "STACK_USER" },
	{ PERF_SAMPLE_IDENTIFIER, "IDENTIFIER" },
	{ PERF_SAMPLE_REGS_INTR, "REGS_INTR" },
	{ PERF_SAMPLE_DATA_SRC, "DATA_SRC" },
	{ PERF_SAMPLE_WEIGHT, "WEIGHT" },
	{ PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR" },
	{ PERF_SAMPLE_AUX, "AUX" },
	{ PERF_SAMPLE_CGROUP, "CGROUP" },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE" },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE" },
	{ PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
};
static const struct bit_name sample_bits_unknown_to_perf[] = {
	{ PERF_SAMPLE_TRANSACTION, "TRANSACTION" },
};
static const struct bit_name read_bits[] = {
	{ 1, "TOTAL_TIME_ENABLED" },
	{ 2, "TOTAL_TIME_RUNNING" },
	{ 4, "ID" },
	{ 8, "GROUP" },
	{ 16, "LOST" },
};
static const struct bit_name branch_bits[] = {
	{ 1, "USER" },
	{ 2, "KERNEL" },
	{ 4, "HV" },
	{ 8, "ANY" },
	{ 16, "ANY_CALL" },
	{ 32, "ANY_RETURN" },
	{ 64, "IND_CALL" },
	{ 128, "ABORT_TX" },
	{ 256, "IN_TX" },
	{ 512, "NO_TX" },
	{ 1 << 10, "COND" },
	{ 1 << 11, "CALL_STACK" },
	{ 1 << 12, "IND_JUMP" },
	{ 1 << 13, "CALL" },
	{ 1 << 14, "NO_FLAGS" },
	{ 1 << 15, "NO_CYCLES" },
	{ 1 << 16, "TYPE_SAVE" },
	{ 1 << 17, "HW_INDEX" },
	{ 1 << 18, "PRIV_SAVE" },
};
static const struct bit_name branch_bits_newer[] = {
	{ 1 << 19, "COUNTERS" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Prints the names of the set bits, separated by bars. */
static const char *attr_text_put_bits(struct outbuf *out, uint64_t value,
				      const struct bit_name *names, size_t nr, const char *bar)
{
	for (size_t i = 0; i < nr; i++) {
		if (!(value & names[i].bit))
			continue;
		outbuf_fmt(out, "%s%s", bar, names[i].name);
		bar = "|";
	}
	return bar;
}

/* perf names both members of a union, JSON the first. */
static void attr_text_put_name(struct outbuf *out, const struct perfdata_attr_style *style,
			       const char *name)
{
	size_t skipped = *name == '{' ? 2 : 0;

	if (style->json)
		json_name(style->json, name + skipped, strcspn(name + skipped, ","));
	else
		outbuf_fmt(out, ", %s%s", name, style->is);
}

static void attr_text_begin_bits(const struct perfdata_attr_style *style)
{
	if (style->json)
		json_begin_words(style->json);
}

static void attr_text_end_bits(const struct perfdata_attr_style *style)
{
	if (style->json)
		json_end_words(style->json);
}

static void attr_text_put_sample_type(struct outbuf *out, uint64_t value,
				      const struct perfdata_attr_style *style)
{
	const char *bar;

	if (!value)
		return;
	attr_text_put_name(out, style, "sample_type");
	attr_text_begin_bits(style);
	bar = attr_text_put_bits(out, value, sample_bits, COUNT(sample_bits), "");
	if (!style->rules->lacks_newer_attr_bits)
		attr_text_put_bits(out, value, sample_bits_unknown_to_perf,
				   COUNT(sample_bits_unknown_to_perf), bar);
	attr_text_end_bits(style);
}

static void attr_text_put_branch_type(struct outbuf *out, uint64_t value,
				      const struct perfdata_attr_style *style)
{
	const char *bar;

	if (!value)
		return;
	attr_text_put_name(out, style, "branch_sample_type");
	attr_text_begin_bits(style);
	bar = attr_text_put_bits(out, value, branch_bits, COUNT(branch_bits), "");
	if (!style->rules->lacks_counters_bit)
		attr_text_put_bits(out, value, branch_bits_newer, COUNT(branch_bits_newer), bar);
	attr_text_end_bits(style);
}

static void attr_text_put_number(struct outbuf *out, const struct perfdata_attr_style *style,
				 const char *name, uint64_t value)
{
	if (!value)
		return;
	attr_text_put_name(out, style, name);
	if (style->json)
		json_u64(style->json, value);
	else
		outbuf_u64(out, value);
}

static void attr_text_put_hex(struct outbuf *out, const struct perfdata_attr_style *style,
			      const char *name, uint64_t value)
{
	if (!value)
		return;
	if (style->json) {
		attr_text_put_number(out, style, name, value);
		return;
	}
	attr_text_put_name(out, style, name);
	outbuf_fmt(out, "0x%" PRIx64, value);
}

void perfdata_attr_put_kind(struct outbuf *out, const struct perf_event_attr *attr,
			    uint32_t attr_bytes, const struct perfdata_attr_style *style)
{
	attr_text_put_number(out, style, "type", attr->type);
	attr_text_put_number(out, style, "size", attr_bytes);
	attr_text_put_hex(out, style, "config", attr->config);
}

void perfdata_attr_put_members(struct outbuf *out, const struct perf_event_attr *attr,
			       const struct perfdata_attr_style *style)
{
	attr_text_put_number(out, style, "{ sample_period, sample_freq }", attr->sample_period);
	attr_text_put_sample_type(out, attr->sample_type, style);
	if (attr->read_format) {
		attr_text_put_name(out, style, "read_format");
		attr_text_begin_bits(style);
		attr_text_put_bits(out, attr->read_format, read_bits, COUNT(read_bits), "");
		attr_text_end_bits(style);
	}
#define FLAG(member) attr_text_put_number(out, style, #member, attr->member)
	FLAG(disabled);
	FLAG(inherit);
	FLAG(pinned);
	FLAG(exclusive);
	FLAG(exclude_user);
	FLAG(exclude_kernel);
	FLAG(exclude_hv);
	FLAG(exclude_idle);
	FLAG(mmap);
	FLAG(comm);
	FLAG(freq);
	FLAG(inherit_stat);
	FLAG(enable_on_exec);
	FLAG(task);
	FLAG(watermark);
	FLAG(precise_ip);
	FLAG(mmap_data);
	FLAG(sample_id_all);
	FLAG(exclude_host);
	FLAG(exclude_guest);
	FLAG(exclude_callchain_kernel);
	FLAG(exclude_callchain_user);
	FLAG(mmap2);
	FLAG(comm_exec);
	FLAG(use_clockid);
	FLAG(context_switch);
	FLAG(write_backward);
	FLAG(namespaces);
	FLAG(ksymbol);
	FLAG(bpf_event);
	FLAG(aux_output);
	FLAG(cgroup);
	FLAG(text_poke);
	FLAG(build_id);
	FLAG(inherit_thread);
	FLAG(remove_on_exec);
	FLAG(sigtrap);
#undef FLAG
	attr_text_put_number(out, style, "{ wakeup_events, wakeup_watermark }",
			     attr->wakeup_events);
	attr_text_put_number(out, style, "bp_type", attr->bp_type);
	attr_text_put_hex(out, style, "{ bp_addr, config1 }", attr->bp_addr);
	attr_text_put_hex(out, style, "{ bp_len, config2 }", attr->bp_len);
	attr_text_put_branch_type(out, attr->branch_sample_type, style);
	attr_text_put_hex(out, style, "sample_regs_user", attr->sample_regs_user);
	attr_text_put_number(out, style, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid) {
		attr_text_put_name(out, style, "clockid");
		if (style->json)
			json_i64(style->json, attr->clockid);
		else
			outbuf_fmt(out, "%d", attr->clockid);
	}
	attr_text_put_hex(out, style, "sample_regs_intr", attr->sample_regs_intr);
	attr_text_put_number(out, style, "aux_watermark", attr->aux_watermark);
	attr_text_put_number(out, style, "sample_max_stack", attr->sample_max_stack);
	attr_text_put_number(out, style, "aux_sample_size", attr->aux_sample_size);
	attr_text_put_number(out, style, "sig_data", attr->sig_data);
}
