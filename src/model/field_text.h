/* SPDX-License-Identifier: MIT */
/* Fields as text, for events that have no print format: "dev=8388608 comm=sh sectors=[1, 2]". */
#ifndef SONDE_MODEL_FIELD_TEXT_H
#define SONDE_MODEL_FIELD_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "sonde/sonde.h"

/*
 * The value of a field: numbers decimal, pointers as 0x..., the label of an enum or else its
 * number, texts up to their NUL, elements in brackets, members of a struct as {a=1 b=2}, anything
 * else as hexadecimal bytes. Nothing if the field is outside of the record.
 */
void field_text_put(const struct sonde_field *f, const uint8_t *bytes, uint32_t len, bool swap,
		    struct outbuf *out);
/* name=value for each field but the common ones. */
void fields_text_put(const struct sonde_field *fields, size_t nr, const uint8_t *bytes,
		     uint32_t len, bool swap, struct outbuf *out);

#endif
