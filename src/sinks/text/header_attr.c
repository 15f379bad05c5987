/* SPDX-License-Identifier: MIT */
/* An event's attr as a list of "name = value"; members that are 0 are left out. */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>

#include "sinks/text/header.h"
#include "sonde/sonde.h"

struct bit_name {
	uint64_t bit;
	const char *name;
};

/* In perf's order, which is not that of the bits. */
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
static const struct bit_name branch_bits_unknown_to_perf_6_1[] = {
	{ 1 << 19, "COUNTERS" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The names of the bits that are set, each with a bar in front of it unless it is the first. */
static const char *put_bits(struct outbuf *out, uint64_t value, const struct bit_name *names,
			    size_t nr, const char *bar)
{
	for (size_t i = 0; i < nr; i++) {
		if (!(value & names[i].bit))
			continue;
		outbuf_fmt(out, "%s%s", bar, names[i].name);
		bar = "|";
	}
	return bar;
}

static void put_sample_type(struct outbuf *out, uint64_t value, int compat)
{
	const char *bar;

	if (!value)
		return;
	outbuf_str(out, ", sample_type = ");
	bar = put_bits(out, value, sample_bits, COUNT(sample_bits), "");
	if (!compat)
		put_bits(out, value, sample_bits_unknown_to_perf,
			 COUNT(sample_bits_unknown_to_perf), bar);
}

static void put_branch_type(struct outbuf *out, uint64_t value, int compat)
{
	const char *bar;

	if (!value)
		return;
	outbuf_str(out, ", branch_sample_type = ");
	bar = put_bits(out, value, branch_bits, COUNT(branch_bits), "");
	if (compat != SONDE_COMPAT_PERF_6_1)
		put_bits(out, value, branch_bits_unknown_to_perf_6_1,
			 COUNT(branch_bits_unknown_to_perf_6_1), bar);
}

static void put_number(struct outbuf *out, const char *name, uint64_t value)
{
	if (value)
		outbuf_fmt(out, ", %s = %" PRIu64, name, value);
}

static void put_hex(struct outbuf *out, const char *name, uint64_t value)
{
	if (value)
		outbuf_fmt(out, ", %s = 0x%" PRIx64, name, value);
}

/* ---- what newer perfs add: words for type and config -------------------------------------------------------------- */

static const char *const hardware[] = { "CPU_CYCLES",
					"INSTRUCTIONS",
					"CACHE_REFERENCES",
					"CACHE_MISSES",
					"BRANCH_INSTRUCTIONS",
					"BRANCH_MISSES",
					"BUS_CYCLES",
					"STALLED_CYCLES_FRONTEND",
					"STALLED_CYCLES_BACKEND",
					"REF_CPU_CYCLES" };
static const char *const software[] = {
	"CPU_CLOCK",        "TASK_CLOCK",      "PAGE_FAULTS",     "CONTEXT_SWITCHES",
	"CPU_MIGRATIONS",   "PAGE_FAULTS_MIN", "PAGE_FAULTS_MAJ", "ALIGNMENT_FAULTS",
	"EMULATION_FAULTS", "DUMMY",           "BPF_OUTPUT",      "CGROUP_SWITCHES"
};
static const char *const caches[] = { "L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE" };
static const char *const ops[] = { "READ", "WRITE", "PREFETCH" };
static const char *const results[] = { "ACCESS", "MISS" };

static const char *word(const char *const *words, size_t nr, uint64_t i)
{
	return i < nr ? words[i] : NULL;
}

#define WORD(list, i) word(list, sizeof(list) / sizeof(*(list)), i)

static void put_config_word(struct outbuf *out, const struct perf_event_attr *attr,
			    const char *name)
{
	uint64_t config = attr->config;
	const char *text, *op, *result;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		text = WORD(hardware, config);
		if (text)
			outbuf_fmt(out, " (PERF_COUNT_HW_%s)", text);
		return;
	case PERF_TYPE_SOFTWARE:
		text = WORD(software, config);
		if (text)
			outbuf_fmt(out, " (PERF_COUNT_SW_%s)", text);
		return;
	case PERF_TYPE_HW_CACHE:
		text = WORD(caches, config & 0xff);
		op = WORD(ops, config >> 8 & 0xff);
		result = WORD(results, config >> 16 & 0xff);
		if (text && op && result)
			outbuf_fmt(out,
				   " (PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | "
				   "PERF_COUNT_HW_CACHE_%s)",
				   result, op, text);
		return;
	case PERF_TYPE_TRACEPOINT:
		if (name && strchr(name, ':'))
			outbuf_fmt(out, " (%s)", name);
		return;
	default:
		return;
	}
}

static void put_type_and_config(struct outbuf *out, const struct perf_event_attr *attr,
				uint32_t attr_bytes, const struct text_header_event *event,
				bool words)
{
	if (!words) {
		put_number(out, "type", attr->type);
		put_number(out, "size", attr_bytes);
		put_hex(out, "config", attr->config);
		return;
	}
	outbuf_fmt(out, ", type = %u", attr->type);
	if (event->pmu)
		outbuf_fmt(out, " (%s)", event->pmu);
	put_number(out, "size", attr_bytes);
	outbuf_fmt(out, attr->config ? ", config = 0x%" PRIx64 : ", config = %" PRIx64,
		   (uint64_t)attr->config);
	put_config_word(out, attr, event->name);
}

void text_header_attr_put(const struct perf_event_attr *attr, uint32_t attr_bytes,
			  const struct text_header_event *event, int compat, struct outbuf *out)
{
	put_type_and_config(out, attr, attr_bytes, event, compat == SONDE_COMPAT_PERF_6_12);
	put_number(out, "{ sample_period, sample_freq }", attr->sample_period);
	put_sample_type(out, attr->sample_type, compat);
	if (attr->read_format) {
		outbuf_str(out, ", read_format = ");
		put_bits(out, attr->read_format, read_bits, COUNT(read_bits), "");
	}
#define FLAG(member) put_number(out, #member, attr->member)
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
	put_number(out, "{ wakeup_events, wakeup_watermark }", attr->wakeup_events);
	put_number(out, "bp_type", attr->bp_type);
	put_hex(out, "{ bp_addr, config1 }", attr->bp_addr);
	put_hex(out, "{ bp_len, config2 }", attr->bp_len);
	put_branch_type(out, attr->branch_sample_type, compat);
	put_hex(out, "sample_regs_user", attr->sample_regs_user);
	put_number(out, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid)
		outbuf_fmt(out, ", clockid = %d", attr->clockid);
	put_hex(out, "sample_regs_intr", attr->sample_regs_intr);
	put_number(out, "aux_watermark", attr->aux_watermark);
	put_number(out, "sample_max_stack", attr->sample_max_stack);
	put_number(out, "aux_sample_size", attr->aux_sample_size);
	put_number(out, "sig_data", attr->sig_data);
}
