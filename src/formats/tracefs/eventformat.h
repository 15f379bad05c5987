/* SPDX-License-Identifier: MIT */
/*
 * The text of a tracefs `format` file (name, ID, fields, print fmt) <-> a schema. Layout facts: docs/formats/tracefs.md.
 */
#ifndef SONDE_FORMATS_TRACEFS_EVENTFORMAT_H
#define SONDE_FORMATS_TRACEFS_EVENTFORMAT_H

#include "base/bytes.h"
#include "model/schema.h"

/*
 * Reads one format file. The schema (kind, system, event, name, fields, print_fmt, tracepoint_id, abi set; id, print and
 * defines not) is allocated in the arena. text.file and text.what are used in messages. -EBADMSG for text that is none.
 */
int eventformat_parse(struct arena *a, struct bytes text, const char *system, struct abi abi,
		      struct sonde_schema **ret);

#endif
