/* SPDX-License-Identifier: MIT */
/* The options of the text sink. */
#ifndef SONDE_SINKS_TEXT_OPTIONS_H
#define SONDE_SINKS_TEXT_OPTIONS_H

#include "sinks/line_options.h"
#include "sinks/sink.h"

struct text_options {
	struct line_options lines;
	char *fields;        /* NULL means the default columns */
	uint64_t max_blocks; /* shown per branch stack; KEY_NO_NUMBER means all */
	/* Flags. For color, 0 means never and 1 always. */
	uint32_t ns, deltatime, latency, per_event_dump, dump, header_info, color, full_source_path;
};

enum { NR_TEXT_KEYS = 20 };
extern const struct key text_keys[NR_TEXT_KEYS];

int text_options_check(const struct sink_options *opts);
struct sink_wants text_options_wants(const struct sink_options *opts);
void text_options_notes(const struct sink_options *opts, struct outbuf *out);

#endif
