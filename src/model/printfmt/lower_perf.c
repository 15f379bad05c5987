/* SPDX-License-Identifier: MIT */
/*
 * Lowers nodes like perf: all numbers have 64 bits and no sign, and fields are read without their
 * sign.
 */
#include "model/printfmt/printfmt_internal.h"

#include <stdlib.h>
#include <string.h>

bool pf_has_brackets(const struct sonde_field *f)
{
	return strchr(f->type, '[') != NULL;
}

uint32_t pf_perf_elem_width(const struct sonde_schema *sc, const struct sonde_field *f)
{
	const char *open = strrchr(f->type, '['), *word;
	uint32_t n;

	if (!open)
		return f->width;
	n = (uint32_t)strtoul(open + 1, NULL, 0);
	if (n)
		return f->width / n;
	if (f->is_dynamic) {
		static const struct {
			char name[6];
			uint8_t width;
		} types[] = { { "u8[", 1 },  { "u16[", 2 }, { "u32[", 4 },
			      { "u64[", 8 }, { "s8[", 1 },  { "s16[", 2 },
			      { "s32[", 4 }, { "s64[", 8 }, { "char[", 1 } };

		word = open;
		while (word > f->type && word[-1] != ' ')
			word--;
		for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
			if (!strncmp(word, types[i].name, strlen(types[i].name)))
				return types[i].width;
		return 0;
	}
	if (f->is_text)
		return 1;
	return f->is_long ? sc->abi.long_bytes : 0;
}

/*
 * In perf 6.1 __get_rel_dynamic_array counts from the record's start, like for a __data_loc field.
 */
const struct sonde_field *pf_perf_array_field(struct pf_compiler *c, const struct sonde_field *f)
{
	struct sonde_field *plain;

	if (!f->is_relative || c->dialect->rel_arrays)
		return f;
	plain = arena_alloc(c->arena, sizeof(*plain));
	if (!plain) {
		c->no_memory = true;
		return f;
	}
	*plain = *f;
	plain->is_relative = 0;
	return plain;
}

static bool lower_perf_same(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(s, word, len);
}

unsigned pf_perf_cast_width(const char *type, size_t len, bool element)
{
	if (element) {
		if (len < 2 || type[len - 1] != '*')
			return 8;
		len -= 2;
	}
	if (!len || type[len - 1] == '*' || (len >= 6 && !memcmp(type, "struct", 6)))
		return 8;
	if (lower_perf_same(type, len, "u8") || lower_perf_same(type, len, "s8"))
		return 1;
	if (lower_perf_same(type, len, "u16") || lower_perf_same(type, len, "s16"))
		return 2;
	if (lower_perf_same(type, len, "u32") || lower_perf_same(type, len, "s32"))
		return 4;
	if (len >= 9 && !memcmp(type, "unsigned ", 9)) {
		type += 9;
		len -= 9;
	}
	if (lower_perf_same(type, len, "char"))
		return 1;
	if (lower_perf_same(type, len, "short"))
		return 2;
	return lower_perf_same(type, len, "int") ? 4 : 8;
}

uint64_t pf_perf_cast(uint64_t v, const char *type, bool element)
{
	unsigned width = pf_perf_cast_width(type, strlen(type), element);

	return width < 8 ? v & ((1ull << 8 * width) - 1) : v;
}

static struct pf_expr *lower_perf_truncate(struct pf_compiler *c, struct pf_expr *e, unsigned width)
{
	if (width == 8)
		return e;
	return pf_expr_new(c,
			   width == 1   ? PF_E_TRUNC1
			   : width == 2 ? PF_E_TRUNC2
					: PF_E_TRUNC4,
			   e, NULL);
}

static struct pf_expr *lower_perf_element(struct pf_compiler *c, const struct pf_node *n)
{
	const struct pf_node *base = n->a, *cast = NULL;
	struct pf_expr *e, *index = pf_lower_perf(c, n->b);

	if (!index)
		return NULL;
	for (; base->kind == PF_CAST; base = base->a)
		if (!cast)
			cast = base;
	if (base->kind == PF_DYNARRAY) {
		uint32_t width = pf_perf_elem_width(c->schema, base->field);

		e = pf_expr_dynamic(c, PF_E_DYNINDEX, pf_perf_array_field(c, base->field));
		if (!e)
			return NULL;
		e->width = (uint8_t)(width ? width : c->schema->abi.long_bytes);
		e->value = 1; /* the index counts bytes, even if elements are wider */
	} else if (base->kind == PF_FIELD && base->field) {
		const struct sonde_field *f = base->field;
		uint32_t width = pf_perf_elem_width(c->schema, f);

		if (index->code == PF_E_CONST && index->value < 4096 && !f->is_dynamic &&
		    f->offset + index->value * width < PF_MAX_OFFSET) {
			e = pf_expr_load(c, (uint32_t)(f->offset + index->value * width), width,
					 false);
			return e && cast ? lower_perf_truncate(
						   c, e,
						   pf_perf_cast_width(cast->text,
								      strlen(cast->text), true))
					 : e;
		}
		e = pf_expr_dynamic(c, PF_E_INDEX, NULL);
		if (!e)
			return NULL;
		e->offset = f->offset;
		e->width =
			width == 1 || width == 2 || width == 4 || width == 8 ? (uint8_t)width : 0;
		e->value = width;
	} else {
		return pf_expr_const(c, 0);
	}
	e->a = index;
	return cast ? lower_perf_truncate(c, e,
					  pf_perf_cast_width(cast->text, strlen(cast->text), true))
		    : e;
}

static int lower_perf_binary_code(const char *op)
{
	static const struct {
		char op[4];
		enum pf_code code;
	} codes[] = {
		{ "|", PF_E_OR },   { "||", PF_E_LOR }, { "&", PF_E_AND }, { "&&", PF_E_LAND },
		{ "<", PF_E_LT },   { "<<", PF_E_SHL }, { "<=", PF_E_LE }, { ">", PF_E_GT },
		{ ">>", PF_E_SHR }, { ">=", PF_E_GE },  { "==", PF_E_EQ }, { "!=", PF_E_NE },
		{ "-", PF_E_SUB },  { "+", PF_E_ADD },  { "/", PF_E_DIV }, { "%", PF_E_MOD },
		{ "*", PF_E_MUL },
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (!strcmp(codes[i].op, op))
			return codes[i].code;
	return -1;
}

bool pf_perf_binary(const char *op, uint64_t a, uint64_t b, uint64_t *ret)
{
	static const struct pf_run nothing = { .bytes = (const uint8_t *)"" };
	struct pf_expr ea = { .code = PF_E_CONST, .value = a },
		       eb = { .code = PF_E_CONST, .value = b };
	struct pf_expr e = { .a = &ea, .b = &eb };
	int code = strcmp(op, "^") ? lower_perf_binary_code(op) : PF_E_XOR;

	if (code < 0 || (!b && (code == PF_E_DIV || code == PF_E_MOD)))
		return false;
	e.code = (uint8_t)code;
	*ret = pf_eval(&nothing, &e);
	return true;
}

static struct pf_expr *lower_perf_operator(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_expr *a, *b, *e;
	int code;

	if (n->op[0] == '[')
		return lower_perf_element(c, n);
	if (n->op[0] == '?') {
		const struct pf_expr *no;

		a = pf_lower_perf(c, n->a);
		b = a ? pf_lower_perf(c, n->b->a) : NULL;
		no = b ? pf_lower_perf(c, n->b->b) : NULL;
		if (!no)
			return NULL;
		if (a->code == PF_E_CONST)
			return a->value ? b : (struct pf_expr *)no;
		e = pf_expr_dynamic(c, PF_E_COND, NULL);
		if (e) {
			e->a = a;
			e->b = b;
			e->c = no;
		}
		return e;
	}
	b = n->b ? pf_lower_perf(c, n->b) : NULL;
	if (!b)
		return NULL;
	if (!strcmp(n->op, "!"))
		return pf_expr_new(c, PF_E_LNOT, b, NULL);
	if (!strcmp(n->op, "~"))
		return pf_expr_new(c, PF_E_NOT, b, NULL);
	a = n->a ? pf_lower_perf(c, n->a) : NULL;
	if (!a)
		return NULL;
	code = lower_perf_binary_code(n->op);
	return code < 0 ? pf_expr_const(c, 0) : pf_expr_new(c, (enum pf_code)code, a, b);
}

static struct pf_expr *lower_perf_number(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_expr *e;

	switch (n->kind) {
	case PF_ATOM:
		return pf_expr_const(c, strtoull(n->text, NULL, 0));
	case PF_NUMBER:
		return pf_expr_const(c, n->value);
	case PF_FIELD:
		return n->field ? pf_expr_load(c, n->field->offset, n->field->width, false)
				: pf_expr_const(c, 0);
	case PF_CAST:
		e = pf_lower_perf(c, n->a);
		return e ? lower_perf_truncate(c, e,
					       pf_perf_cast_width(n->text, strlen(n->text), false))
			 : NULL;
	case PF_OP:
		return lower_perf_operator(c, n);
	case PF_DYNLEN:
		return pf_expr_dynamic(c, PF_E_DYNLEN, n->field);
	case PF_DYNARRAY:
		return pf_expr_dynamic(c, PF_E_DYNADDR, pf_perf_array_field(c, n->field));
	}
	return pf_expr_const(c, 0);
}

struct pf_expr *pf_lower_perf(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_expr *e;

	if (!pf_enter(c))
		return NULL;
	e = lower_perf_number(c, n);
	pf_leave(c);
	return e;
}

/* ---- text ------------------------------------------------------------------------------------ */

struct pf_text *pf_text_new(struct pf_compiler *c, enum pf_text_kind kind)
{
	struct pf_text *t = arena_alloc(c->arena, sizeof(*t));

	if (t)
		t->kind = (uint8_t)kind;
	else
		c->no_memory = true;
	return t;
}

bool pf_text_set(struct pf_compiler *c, struct pf_text *t, const char *text, size_t len)
{
	char *copy = arena_alloc(c->arena, len + 16);

	if (!copy) {
		c->no_memory = true;
		return false;
	}
	memcpy(copy, text, len);
	t->text = copy;
	t->len = (uint32_t)len;
	return true;
}

static bool lower_perf_fill_entries(struct pf_compiler *c, struct pf_text *t,
				    const struct pf_pair *pairs)
{
	struct pf_entry *e;
	uint32_t n = 0;

	for (const struct pf_pair *p = pairs; p; p = p->next)
		n++;
	e = arena_array(c->arena, n ? n : 1, sizeof(*e));
	if (!e) {
		c->no_memory = true;
		return false;
	}
	t->entries = e;
	t->nr_entries = n;
	for (const struct pf_pair *p = pairs; p; p = p->next, e++) {
		uint64_t v;

		if (p->value_text[0] >= '0' && p->value_text[0] <= '9')
			e->value = strtoull(p->value_text, NULL, 0);
		else
			e->value = pf_known_name(p->value_text, true, &v) ? v : UINT64_MAX;
		e->matches_none = (int64_t)e->value < 0;
		e->name = p->name;
		e->len = (uint32_t)strlen(p->name);
		if (t->kind == PF_T_FLAGS)
			e->never = (int64_t)e->value <= 0;
		t->none_entry |= e->matches_none;
	}
	return true;
}

static struct pf_text *lower_perf_array_text(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_text *t = pf_text_new(c, n->kind == PF_ARRAY ? PF_T_ARRAY : PF_T_HEX);

	if (!t)
		return NULL;
	t->compact = n->kind == PF_HEX_STR;
	if ((n->a->kind == PF_FIELD || n->a->kind == PF_DYNARRAY) && n->a->field)
		t->place = (struct pf_place){
			.field = pf_perf_array_field(c, n->a->field),
			.itself = n->a->kind == PF_FIELD,
		};
	else
		t->kind = PF_T_NOTHING;
	t->count = pf_lower_perf(c, n->b);
	if (n->kind == PF_ARRAY)
		t->elem = pf_lower_perf(c, n->c);
	return t->count && (t->elem || n->kind != PF_ARRAY) ? t : NULL;
}

static struct pf_text *lower_perf_const_text(struct pf_compiler *c, const char *text)
{
	struct pf_text *t = pf_text_new(c, PF_T_CONST);

	if (t && !pf_text_set(c, t, text, strlen(text)))
		return NULL;
	return t;
}

static const struct pf_text *lower_perf_text(struct pf_compiler *c, const struct pf_node *n)
{
	const struct sonde_field *f = n->field;
	struct pf_text *t;

	switch (n->kind) {
	case PF_ATOM:
		return lower_perf_const_text(c, n->text);
	case PF_FIELD:
		if (!f)
			return pf_text_new(c, PF_T_NOTHING);
		t = pf_text_new(c, !pf_has_brackets(f) && f->width == c->schema->abi.long_bytes
					   ? PF_T_POINTER
					   : PF_T_BYTES);
		if (!t)
			return NULL;
		t->place = (struct pf_place){ .field = f, .itself = true };
		if (t->kind == PF_T_POINTER) {
			t->num = pf_expr_load(c, f->offset, f->width, false);
			return t->num ? t : NULL;
		}
		return t;
	case PF_FLAGS:
	case PF_SYMBOL:
		t = pf_text_new(c, n->kind == PF_FLAGS ? PF_T_FLAGS : PF_T_SYMBOL);
		if (!t || !lower_perf_fill_entries(c, t, n->pairs))
			return NULL;
		t->num = pf_lower_perf(c, n->a);
		t->text = n->delim ? n->delim : "";
		t->len = (uint32_t)strlen(t->text);
		return t->num ? t : NULL;
	case PF_HEX:
	case PF_HEX_STR:
	case PF_ARRAY:
		return lower_perf_array_text(c, n);
	case PF_STR:
	case PF_BITMASK:
	case PF_CPUMASK:
	case PF_SOCKADDR:
		if (!f)
			return pf_text_new(c, PF_T_NOTHING);
		t = pf_text_new(c, n->kind == PF_STR        ? PF_T_CSTR
				   : n->kind == PF_SOCKADDR ? PF_T_SOCKADDR
							    : PF_T_BITMASK);
		if (!t)
			return NULL;
		t->is_list = n->kind == PF_CPUMASK;
		t->compact = n->kind == PF_STR && c->dialect->empty_strings;
		t->place.field = f;
		return t;
	case PF_OP:
		if (n->op[0] != '?')
			break;
		t = pf_text_new(c, PF_T_COND);
		if (!t)
			return NULL;
		t->num = pf_lower_perf(c, n->a);
		t->a = t->num ? pf_lower_text_perf(c, n->b->a) : NULL;
		t->b = t->a ? pf_lower_text_perf(c, n->b->b) : NULL;
		return t->b ? t : NULL;
	}
	return pf_text_new(c, PF_T_NOTHING);
}

const struct pf_text *pf_lower_text_perf(struct pf_compiler *c, const struct pf_node *n)
{
	const struct pf_text *t;

	if (!pf_enter(c))
		return NULL;
	t = lower_perf_text(c, n);
	pf_leave(c);
	return t;
}
