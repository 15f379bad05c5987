/* SPDX-License-Identifier: MIT */
/*
 * Prints an event's attr as a list of "name = value", with words for type and config if perf 6.12
 * has words.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>

#include "formats/perfdata/attr_text.h"
#include "sinks/perf/header.h"
#include "sonde/sonde.h"

/* ---- what newer perfs add: words for type and config ----------------------------------------- */

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

static const char *attr_word(const char *const *words, size_t nr, uint64_t i)
{
	return i < nr ? words[i] : NULL;
}

#define WORD(list, i) attr_word(list, sizeof(list) / sizeof(*(list)), i)

static void attr_put_config_word(struct outbuf *out, const struct perf_event_attr *attr,
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

static void attr_put_kind_in_words(struct outbuf *out, const struct perf_event_attr *attr,
				   const char *is, const struct perf_header_event *event)
{
	outbuf_fmt(out, ", type%s%u", is, attr->type);
	if (event->pmu)
		outbuf_fmt(out, " (%s)", event->pmu);
	if (attr->size)
		outbuf_fmt(out, ", size%s%" PRIu32, is, attr->size);
	outbuf_fmt(out, ", config%s%s%" PRIx64, is, attr->config ? "0x" : "",
		   (uint64_t)attr->config);
	attr_put_config_word(out, attr, event->name);
}

void perf_header_attr_put(const struct perf_event_attr *attr, const char *is,
			  const struct perf_header_event *event, const struct rules *rules,
			  struct outbuf *out)
{
	const struct perfdata_attr_style style = { .is = is, .rules = rules };

	if (rules->names_attr_kinds)
		attr_put_kind_in_words(out, attr, is, event);
	else
		perfdata_attr_put_kind(out, attr, attr->size, &style);
	perfdata_attr_put_members(out, attr, &style);
}
