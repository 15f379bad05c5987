/* SPDX-License-Identifier: MIT */
/*
 * The header of a recording (--header, -I): lines that begin with '#', one or several for
 * each header section in the order of the sections, then the names of those that are missing.
 */
#ifndef SONDE_SINKS_PERF_HEADER_H
#define SONDE_SINKS_PERF_HEADER_H

#include "base/bytes.h"
#include "base/outbuf.h"
#include "compat/rules.h"

struct recording;
struct text_options;
struct perf_event_attr;

/*
 * header_info: prints tables (topologies, caches); without it they are only named. -EINVAL if the
 * recording is not perf.data.
 */
int perf_header_put(struct recording *rec, const struct text_options *o, struct outbuf *out);

/* Words for an attr: the names of the event and of its pmu (NULL if unknown). */
struct perf_header_event {
	const char *name, *pmu;
};
/* The name of the pmu with this type, stored in `room`; NULL if unknown. */
const char *perf_header_pmu_name(struct recording *rec, uint32_t type, char room[64]);
/*
 * header_attr.c: prints an event's attr, ", type = 1, size = 128, ..."; `is` is the text between
 * name and value.
 */
void perf_header_attr_put(const struct perf_event_attr *attr, const char *is,
			  const struct perf_header_event *event, const struct rules *rules,
			  struct outbuf *out);
/* header_machine.c: prints the sections that are tables. */
int perf_header_cpus_put(struct bytes *b, unsigned nr_cpus, const char *arch,
			 const struct rules *rules, struct outbuf *out);
int perf_header_numa_put(struct bytes *b, struct outbuf *out);
int perf_header_caches_put(struct bytes *b, struct outbuf *out);
int perf_header_memory_put(struct bytes *b, struct outbuf *out);
/* header_bpf.c; `btf` is the section of type information, empty if there is none. */
int perf_header_bpf_put(struct bytes *b, struct bytes btf, struct outbuf *out);
int perf_header_btf_put(struct bytes *b, struct outbuf *out);

/* Prints a string of a section up to its NUL. */
int perf_header_str_put(struct bytes *b, const char *before, const char *behind,
			struct outbuf *out);

#endif
