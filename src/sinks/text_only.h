/* SPDX-License-Identifier: MIT */
/*
 * Options of the text sink alone. Other sinks that write a line for each event parse them only to
 * refuse them.
 */
#ifndef SONDE_SINKS_TEXT_ONLY_H
#define SONDE_SINKS_TEXT_ONLY_H

#include <stdint.h>

#include "base/keys.h"
#include "sinks/line_options.h"

struct text_only {
	char *fields;
	uint64_t max_blocks;
	uint32_t deltatime, latency, per_event_dump, dump, header_info;
};

/* The keys of member `m` of struct `s`, for a table. */
#define TEXT_ONLY_KEYS(s, m)                                                                  \
	KEY_TEXT("fields", s, m.fields),                                                      \
		KEY_NUMBER("max-blocks", s, m.max_blocks, 0, KEY_NO_NUMBER - 1),              \
		KEY_FLAG("deltatime", s, m.deltatime), KEY_FLAG("latency", s, m.latency),     \
		KEY_FLAG("per-event-dump", s, m.per_event_dump), KEY_FLAG("dump", s, m.dump), \
		KEY_FLAG("header-info", s, m.header_info)

/* Fails with -EINVAL and "OPTION works with text only: `instead`" if one of them was given. */
int text_only_refuse(const struct text_only *o, const char *instead);
/* The same error for one more option. */
int text_only_refuse_option(const char *option, const char *instead);

/*
 * Options of a sink whose lines have one form: all are refused.
 *
 *	static const struct key keys[] = { ONE_FORM_KEYS(struct one_form_options, ) };
 */
struct one_form_options {
	struct line_options lines;
	struct text_only text;
};

#define ONE_FORM_KEYS(s, m) LINE_OPTIONS_KEYS(s, m lines), TEXT_ONLY_KEYS(s, m text)

int one_form_refuse(const struct one_form_options *o, const char *instead);

#endif
