/* SPDX-License-Identifier: MIT */
/*
 * The fields of a schema as text, like fields_text_put(), compiled once into a small program: for
 * schemas without a print format. The usual values are written directly to the output buffer, in a
 * piece of memory that is large enough for all of them.
 *
 *	sc->field_program = field_program_new(sc);
 *	if (!sc->field_program || !field_program_run(sc->field_program, bytes, len, out))
 *		fields_text_put(...);
 */
#ifndef SONDE_MODEL_FIELD_PROGRAM_H
#define SONDE_MODEL_FIELD_PROGRAM_H

#include "base/outbuf.h"
#include "model/schema.h"

struct field_program;

/* Allocated in the schema's arena; NULL if memory ran out. */
const struct field_program *field_program_new(const struct sonde_schema *sc);
/*
 * The payload is in this host's byte order, as far as fields do not state theirs. False, with
 * nothing written, if it is too short for the fields.
 */
bool field_program_run(const struct field_program *p, const uint8_t *bytes, uint32_t len,
		       struct outbuf *out);

#endif
