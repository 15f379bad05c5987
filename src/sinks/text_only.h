/* SPDX-License-Identifier: MIT */
/*
 * Options of the text sink alone. Other sinks that write a line for each event parse them only to
 * refuse them.
 */
#ifndef SONDE_SINKS_TEXT_ONLY_H
#define SONDE_SINKS_TEXT_ONLY_H

#include <stdint.h>

#include "base/keys.h"

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

#endif
