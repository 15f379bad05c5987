/* SPDX-License-Identifier: MIT */
/* Options of the sinks that write a line for each event: text and jsonl. */
#ifndef SONDE_SINKS_LINE_OPTIONS_H
#define SONDE_SINKS_LINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/keys.h"

/*
 * Where the header is printed: nowhere, in front of the events, instead of the events, or (all)
 * instead of the events and including the header records of a stream.
 */
enum line_header { HEADER_NONE, HEADER_WITH, HEADER_ONLY, HEADER_ALL };

extern const char *const line_header_words[];

/* The first line of a dump whose records cannot be sorted by time. */
#define LINE_DUMP_UNORDERED \
	"WARNING: No sample_id_all support, falling back to unordered processing\n"

struct line_options {
	uint32_t header; /* enum line_header */
	/* Flags that select the records of state that have lines. */
	uint32_t show_task, show_mmap, show_switch, show_namespace, show_cgroup, show_lost,
		show_round, show_bpf, show_text_poke;
};

static inline bool line_options_show_any(const struct line_options *o)
{
	return o->show_task || o->show_mmap || o->show_switch || o->show_namespace ||
	       o->show_cgroup || o->show_lost || o->show_round || o->show_bpf || o->show_text_poke;
}

/* The keys of member `m` of struct `s`, for a table. */
#define LINE_OPTIONS_KEYS(s, m)                                         \
	KEY_WORD("header", s, m.header, line_header_words),             \
		KEY_FLAG("show-task-events", s, m.show_task),           \
		KEY_FLAG("show-mmap-events", s, m.show_mmap),           \
		KEY_FLAG("show-switch-events", s, m.show_switch),       \
		KEY_FLAG("show-namespace-events", s, m.show_namespace), \
		KEY_FLAG("show-cgroup-events", s, m.show_cgroup),       \
		KEY_FLAG("show-lost-events", s, m.show_lost),           \
		KEY_FLAG("show-round-events", s, m.show_round),         \
		KEY_FLAG("show-bpf-events", s, m.show_bpf),             \
		KEY_FLAG("show-text-poke-events", s, m.show_text_poke)

#endif
