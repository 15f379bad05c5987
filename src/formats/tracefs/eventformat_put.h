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
enum { EVENTFORMAT_COMMON_BYTES = 8, EVENTFORMAT_PID_AT = 4, EVENTFORMAT_COMM_BYTES = 16 };

/* True if the schema's payload begins with the kernel's common fields: type and pid. */
bool eventformat_has_common(const struct sonde_schema *sc);
/*
 * The bytes in front of the schema's own payload: 0 if it has the kernel's common fields. Otherwise
 * they are added, and a place of EVENTFORMAT_COMM_BYTES for each eventformat_is_comm(), in order.
 */
uint32_t eventformat_added_bytes(const struct sonde_schema *sc);
/*
 * True for a dynamic text of the schema that is the name of a task in an event of the scheduler. It
 * becomes char[16], as in the kernel: trace-cmd's text for these events needs it.
 */
bool eventformat_is_comm(const struct sonde_schema *sc, const struct sonde_field *f);
/* A name as readers of format files accept it: other characters become '_'. */
void eventformat_put_name(struct outbuf *o, const char *name);
/*
 * Writes the text, for records of this id. The schema's own fields begin eventformat_added_bytes()
 * later. Members of nested fields become fields "outer_inner". Fields that are bits of another
 * field are left out.
 */
void eventformat_put(struct outbuf *o, const struct sonde_schema *sc, uint32_t id);

#endif
