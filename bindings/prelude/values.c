/* SPDX-License-Identifier: MIT */
/*
 * How the bytes of a field become a script's value, and what print formats say about flags and
 * symbols.
 */
#include "prelude.h"

#include <stdlib.h>
#include <string.h>

enum prelude_value prelude_value_kind(const struct sonde_field *f)
{
	if (f->kind >= SONDE_FIELD_FLOAT)
		return f->kind == SONDE_FIELD_FLOAT    ? PRELUDE_FLOAT
		       : f->kind == SONDE_FIELD_NESTED ? PRELUDE_NESTED
						       : PRELUDE_INT;
	if (f->is_array || f->is_dynamic)
		return f->is_text ? PRELUDE_TEXT : PRELUDE_BYTES;
	switch (f->width) {
	case 1:
	case 2:
	case 4:
	case 8:
		return PRELUDE_INT;
	default:
		return PRELUDE_ZERO;
	}
}

bool prelude_value_signed(const struct sonde_field *f, const struct sonde_rules *rules)
{
	return f->is_signed && (f->width == 8 || !rules->unsigned_fields);
}

bool prelude_is_text(const uint8_t *bytes, size_t len)
{
	if (!len || bytes[len - 1])
		return false;
	for (; *bytes; bytes++) {
		uint8_t c = *bytes;

		if (!((c >= 0x20 && c <= 0x7e) || c >= 0xa0 || (c >= 0x09 && c <= 0x0d)))
			return false;
	}
	return true;
}

static bool values_is_number(const char *text)
{
	return (*text >= '0' && *text <= '9') || *text == '-';
}

/*
 * perf passes every constant of a print format to scripts as a definition of value 0 of the most
 * recent field. Real definitions are the pairs of a flag table and, after them, the word that the
 * format prints if no flag is set, as in
 *	REC->prev_state & 0xff ? __print_flags(REC->prev_state & 0xff, "|", { 1, "S" }, ...) : "R"
 */
bool prelude_define_wanted(struct prelude_defines *state, const struct sonde_define *d,
			   const struct sonde_rules *rules)
{
	if (rules->defines_all_constants)
		return true;
	switch ((enum sonde_define_kind)d->kind) {
	case SONDE_DEFINE_FLAG_FIELD:
		if (!state->flag_field || strcmp(state->flag_field, d->field))
			state->has_zero = false;
		state->flag_field = d->field;
		return true;
	case SONDE_DEFINE_FLAG_VALUE:
		if (!state->flag_field || strcmp(state->flag_field, d->field))
			return false;
		if (d->value)
			return true;
		if (state->has_zero || values_is_number(d->text))
			return false;
		state->has_zero = true;
		return true;
	case SONDE_DEFINE_SYMBOLIC_FIELD:
	case SONDE_DEFINE_SYMBOLIC_VALUE:
		return true;
	}
	return false;
}

bool prelude_define_signed(const struct sonde_schema *sc, const struct sonde_define *d,
			   const struct sonde_rules *rules)
{
	const struct sonde_field *f = sonde_schema_field(sc, d->field);

	return f && f->kind == SONDE_FIELD_ENUM && prelude_value_signed(f, rules);
}
