/* SPDX-License-Identifier: MIT */
/* Fields as text, for events that have no print format: "dev=8388608 comm=sh sectors=[1, 2]". */
#ifndef SONDE_MODEL_FIELD_TEXT_H
#define SONDE_MODEL_FIELD_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "sonde/sonde.h"

/*
 * Writes the value of a field: numbers decimal, pointers as 0x..., enums as their label or else
 * their number, texts up to their NUL, arrays in brackets, structs as {a=1 b=2}, anything else as
 * hexadecimal bytes. Writes nothing if the field is outside the record.
 */
void field_text_put(const struct sonde_field *f, const uint8_t *bytes, uint32_t len, bool swap,
		    struct outbuf *out);
/* Writes name=value for each field except the common ones. */
void fields_text_put(const struct sonde_field *fields, size_t nr, const uint8_t *bytes,
		     uint32_t len, bool swap, struct outbuf *out);

/*
 * Advice on a name that a tracepoint has no field for: ids of tasks are its common_pid. "" for
 * other names.
 */
const char *field_text_advice(const char *name);

#endif
