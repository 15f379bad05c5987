/* SPDX-License-Identifier: MIT */
/*
 * Writes the text of a tracefs `format` file from a schema: the opposite of eventformat_parse().
 * Layout facts: docs/formats/tracefs.md.
 */
#ifndef SONDE_FORMATS_TRACEFS_EVENTFORMAT_PUT_H
#define SONDE_FORMATS_TRACEFS_EVENTFORMAT_PUT_H

#include "base/outbuf.h"
#include "model/schema.h"

/* The common fields that every record of the kernel begins with. */
enum { EVENTFORMAT_COMMON_BYTES = 8, EVENTFORMAT_PID_AT = 4 };

/* True if the schema's payload begins with the kernel's common fields: type and pid. */
bool eventformat_has_common(const struct sonde_schema *sc);
/* A name as readers of format files accept it: other characters become '_'. */
void eventformat_put_name(struct outbuf *o, const char *name);
/*
 * Writes the text, for records of this id. If the schema has no common fields of the kernel, they
 * are added, and the schema's own fields begin EVENTFORMAT_COMMON_BYTES later. Members of nested
 * fields become fields "outer_inner". Fields that are bits of another field are left out.
 */
void eventformat_put(struct outbuf *o, const struct sonde_schema *sc, uint32_t id);

#endif
