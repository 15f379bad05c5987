/* SPDX-License-Identifier: MIT */
/*
 * Parses the text of a tracefs `format` file (name, ID, fields, print fmt) into a schema. Layout
 * facts: docs/formats/tracefs.md.
 */
#ifndef SONDE_FORMATS_TRACEFS_EVENTFORMAT_H
#define SONDE_FORMATS_TRACEFS_EVENTFORMAT_H

#include "base/bytes.h"
#include "model/schema.h"

/*
 * Reads one format file. The schema is allocated in the arena, with kind, system, event, name,
 * fields, print_fmt, tracepoint_id and abi set; id, print and defines are not. text.file and
 * text.what are for messages. -EBADMSG if the text is not a format file.
 */
int eventformat_parse(struct arena *a, struct bytes text, const char *system, struct abi abi,
		      struct sonde_schema **ret);

#endif
