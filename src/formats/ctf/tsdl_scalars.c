/* SPDX-License-Identifier: MIT */
/* Values and attributes of TSDL, and the types that have only those: integers, floats, strings. */
#include <stdio.h>
#include <string.h>

#include "formats/ctf/tsdl.h"

enum { DOTTED_BYTES = 256 };

struct ctf_type *tsdl_type_new(struct tsdl *p, enum ctf_kind kind)
{
	struct ctf_type *type = arena_alloc(&p->trace->arena, sizeof(*type));

	if (!type) {
		err_nomem();
		return NULL;
	}
	*type = (struct ctf_type){ .kind = kind, .align = 1, .base = 10 };
	return type;
}

/* ---- values and attributes ------------------------------------------------------------------- */

int tsdl_dotted(struct tsdl *p, const char **ret)
{
	char room[80], words[DOTTED_BYTES] = "";
	size_t n = 0;

	for (;;) {
		if (p->token.kind != TOKEN_WORD)
			return tsdl_fail(p, "expected a name, found %s", tsdl_found(p, room));
		n += (size_t)snprintf(words + n, sizeof(words) - n, "%s", p->token.text);
		if (n >= sizeof(words) - 1)
			return tsdl_fail(p, "the name is longer than %zu bytes", sizeof(words));
		TRY(tsdl_advance(p));
		if (!tsdl_is_sign(p, '.'))
			break;
		TRY(tsdl_advance(p));
		words[n++] = '.';
		words[n] = '\0';
	}
	*ret = arena_strdup(&p->trace->arena, words);
	return *ret ? 0 : err_nomem();
}

int tsdl_value(struct tsdl *p, struct tsdl_value *ret)
{
	char room[80];

	*ret = (struct tsdl_value){ .at = p->token };
	if (tsdl_is_sign(p, '-') || tsdl_is_sign(p, '+')) {
		ret->is_negative = tsdl_is_sign(p, '-');
		TRY(tsdl_advance(p));
		if (p->token.kind != TOKEN_NUMBER)
			return tsdl_fail(p, "expected a number, found %s", tsdl_found(p, room));
	}
	switch (p->token.kind) {
	case TOKEN_NUMBER:
		ret->is_number = true;
		ret->number = p->token.number;
		return tsdl_advance(p);
	case TOKEN_TEXT:
		ret->text = p->token.text;
		return tsdl_advance(p);
	case TOKEN_WORD:
		ret->is_path = true;
		return tsdl_dotted(p, &ret->text);
	default:
		return tsdl_fail(p, "expected a value, found %s", tsdl_found(p, room));
	}
}

int tsdl_value_unsigned(struct tsdl *p, const struct tsdl_value *v, const char *what, uint64_t *ret)
{
	*ret = 0;
	if (!v->is_number || (v->is_negative && v->number))
		return tsdl_fail_at(p, v->at.line, v->at.column,
				    "'%s' must be a number that is not negative", what);
	*ret = v->number;
	return 0;
}

int tsdl_order(struct tsdl *p, const struct tsdl_value *v, uint8_t *ret)
{
	static const struct {
		const char *word;
		uint8_t order;
	} words[] = { { "le", SONDE_ORDER_LITTLE },
		      { "be", SONDE_ORDER_BIG },
		      { "network", SONDE_ORDER_BIG },
		      { "native", 0 } };

	for (size_t i = 0; v->text && i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(v->text, words[i].word)) {
			*ret = words[i].order;
			return 0;
		}
	}
	return tsdl_fail_at(p, v->at.line, v->at.column,
			    "a byte order is le, be, network or native");
}

int tsdl_align(struct tsdl *p, const struct tsdl_value *v, uint32_t *ret)
{
	uint64_t n;

	TRY(tsdl_value_unsigned(p, v, "align", &n));
	if (!n || n & (n - 1) || n > UINT32_C(1) << 20)
		return tsdl_fail_at(p, v->at.line, v->at.column,
				    "an alignment is a power of 2, at most 1048576");
	*ret = (uint32_t)n;
	return 0;
}

static int scalars_bool(struct tsdl *p, const struct tsdl_value *v, bool *ret)
{
	if (v->is_number && v->number <= 1 && !v->is_negative)
		*ret = v->number;
	else if (v->text && (!strcmp(v->text, "true") || !strcmp(v->text, "TRUE")))
		*ret = true;
	else if (v->text && (!strcmp(v->text, "false") || !strcmp(v->text, "FALSE")))
		*ret = false;
	else
		return tsdl_fail_at(p, v->at.line, v->at.column, "expected true or false");
	return 0;
}

static int scalars_base(struct tsdl *p, const struct tsdl_value *v, uint8_t *ret)
{
	static const struct {
		const char *word;
		uint8_t base;
	} words[] = { { "decimal", 10 }, { "dec", 10 },  { "d", 10 },          { "i", 10 },
		      { "u", 10 },       { "hex", 16 },  { "x", 16 },          { "X", 16 },
		      { "p", 16 },       { "octal", 8 }, { "oct", 8 },         { "o", 8 },
		      { "binary", 2 },   { "b", 2 },     { "hexadecimal", 16 } };

	for (size_t i = 0; v->text && i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(v->text, words[i].word)) {
			*ret = words[i].base;
			return 0;
		}
	}
	if (!v->is_number || v->is_negative ||
	    (v->number != 2 && v->number != 8 && v->number != 10 && v->number != 16))
		return tsdl_fail_at(p, v->at.line, v->at.column, "a base is 2, 8, 10 or 16");
	*ret = (uint8_t)v->number;
	return 0;
}

static int scalars_encoding(struct tsdl *p, const struct tsdl_value *v, bool *ret)
{
	static const char *const texts[] = { "UTF8", "utf8", "UTF-8", "utf-8", "ASCII", "ascii" };

	*ret = false;
	for (size_t i = 0; v->text && i < sizeof(texts) / sizeof(*texts); i++)
		*ret |= !strcmp(v->text, texts[i]);
	if (!*ret && (!v->text || strcmp(v->text, "none") != 0))
		return tsdl_fail_at(p, v->at.line, v->at.column,
				    "an encoding is UTF8, ASCII or none");
	return 0;
}

/* "clock.NAME.value" */
static int scalars_clock(struct tsdl *p, const struct tsdl_value *v, const struct ctf_clock **ret)
{
	const size_t len = v->text ? strlen(v->text) : 0;

	vec_foreach(clock, &p->trace->clocks) {
		const size_t n = strlen((*clock)->name);

		if (len == n + 12 && !memcmp(v->text, "clock.", 6) &&
		    !memcmp(v->text + 6, (*clock)->name, n) && !strcmp(v->text + 6 + n, ".value")) {
			*ret = *clock;
			return 0;
		}
	}
	return tsdl_fail_at(p, v->at.line, v->at.column,
			    "'map' must be clock.NAME.value of a clock that is declared above");
}

/* Reads "NAME =" of an attribute. *ret_name is valid as long as the trace. */
static int scalars_attribute(struct tsdl *p, const char **ret_name, struct tsdl_value *ret)
{
	char room[80];

	if (p->token.kind != TOKEN_WORD)
		return tsdl_fail(p, "expected an attribute, found %s", tsdl_found(p, room));
	*ret_name = p->token.text;
	TRY(tsdl_advance(p));
	TRY(tsdl_expect(p, '='));
	TRY(tsdl_value(p, ret));
	return tsdl_expect(p, ';');
}

int tsdl_integer(struct tsdl *p, const struct ctf_type **ret)
{
	struct ctf_type *type = tsdl_type_new(p, CTF_INT);
	const struct tsdl_token at = p->token;
	bool has_align = false;

	if (!type)
		return -ENOMEM;
	TRY(tsdl_expect(p, '{'));
	while (!tsdl_is_sign(p, '}')) {
		struct tsdl_value v;
		const char *name;
		uint64_t bits;

		TRY(scalars_attribute(p, &name, &v));
		if (!strcmp(name, "size")) {
			TRY(tsdl_value_unsigned(p, &v, name, &bits));
			if (!bits || bits > 64)
				return tsdl_fail_at(p, v.at.line, v.at.column,
						    "an integer has 1 to 64 bits");
			type->bits = (uint32_t)bits;
		} else if (!strcmp(name, "signed")) {
			TRY(scalars_bool(p, &v, &type->is_signed));
		} else if (!strcmp(name, "byte_order")) {
			TRY(tsdl_order(p, &v, &type->order));
		} else if (!strcmp(name, "align")) {
			TRY(tsdl_align(p, &v, &type->align));
			has_align = true;
		} else if (!strcmp(name, "base")) {
			TRY(scalars_base(p, &v, &type->base));
		} else if (!strcmp(name, "encoding")) {
			TRY(scalars_encoding(p, &v, &type->is_text));
		} else if (!strcmp(name, "map")) {
			TRY(scalars_clock(p, &v, &type->clock));
		} else {
			p->trace->nr_ignored++;
		}
	}
	if (!type->bits)
		return tsdl_fail_at(p, at.line, at.column, "the integer has no size");
	if (!has_align)
		type->align = type->bits % 8 ? 1 : 8;
	*ret = type;
	return tsdl_expect(p, '}');
}

int tsdl_float(struct tsdl *p, const struct ctf_type **ret)
{
	struct ctf_type *type = tsdl_type_new(p, CTF_FLOAT);
	const struct tsdl_token at = p->token;
	uint64_t exponent = 0, mantissa = 0;

	if (!type)
		return -ENOMEM;
	type->align = 8;
	TRY(tsdl_expect(p, '{'));
	while (!tsdl_is_sign(p, '}')) {
		struct tsdl_value v;
		const char *name;

		TRY(scalars_attribute(p, &name, &v));
		if (!strcmp(name, "exp_dig"))
			TRY(tsdl_value_unsigned(p, &v, name, &exponent));
		else if (!strcmp(name, "mant_dig"))
			TRY(tsdl_value_unsigned(p, &v, name, &mantissa));
		else if (!strcmp(name, "byte_order"))
			TRY(tsdl_order(p, &v, &type->order));
		else if (!strcmp(name, "align"))
			TRY(tsdl_align(p, &v, &type->align));
		else
			p->trace->nr_ignored++;
	}
	if (exponent == 8 && mantissa == 24)
		type->bits = 32;
	else if (exponent == 11 && mantissa == 53)
		type->bits = 64;
	else
		return tsdl_fail_at(p, at.line, at.column,
				    "exp_dig and mant_dig of a float are 8 and 24, or 11 and 53");
	*ret = type;
	return tsdl_expect(p, '}');
}

int tsdl_string(struct tsdl *p, const struct ctf_type **ret)
{
	struct ctf_type *type = tsdl_type_new(p, CTF_STRING);

	if (!type)
		return -ENOMEM;
	type->align = 8;
	*ret = type;
	if (!tsdl_is_sign(p, '{'))
		return 0;
	TRY(tsdl_advance(p));
	while (!tsdl_is_sign(p, '}')) {
		struct tsdl_value v;
		const char *name;
		bool is_text;

		TRY(scalars_attribute(p, &name, &v));
		if (!strcmp(name, "encoding"))
			TRY(scalars_encoding(p, &v, &is_text));
		else
			p->trace->nr_ignored++;
	}
	return tsdl_advance(p);
}
