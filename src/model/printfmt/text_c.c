/* SPDX-License-Identifier: MIT */
/* Compiles an argument of %s by the rules of C and the kernel. */
#include "model/printfmt/printfmt_internal.h"

#include <string.h>

/*
 * Compiles a number in the table of __print_flags() or __print_symbolic(): an unsigned long of the
 * recorded machine, or 64 bits if wide, as for __print_flags_u64().
 */
static struct pf_expr *text_c_table_number(struct pf_compiler *c, const struct pf_node *n,
					   bool wide)
{
	struct pf_ctype t;
	struct pf_expr *e = pf_lower_c(c, n, &t);

	if (e && !wide && c->schema->abi.long_bytes == 4)
		e = pf_expr_new(c, PF_E_TRUNC4, e, NULL);
	return e;
}

/* True if the value of a table's entry contains an unknown name. */
static bool text_c_has_unknown_name(const struct pf_node *n, unsigned depth)
{
	uint64_t v;

	if (!n || depth > PF_MAX_DEPTH)
		return false;
	if (n->kind == PF_ATOM)
		return !n->is_char && (n->text[0] < '0' || n->text[0] > '9') &&
		       !pf_known_name(n->text, false, &v);
	return text_c_has_unknown_name(n->a, depth + 1) || text_c_has_unknown_name(n->b, depth + 1);
}

static bool text_c_fill_entries(struct pf_compiler *c, struct pf_text *t, const struct pf_node *n)
{
	struct pf_entry *e;
	uint32_t nr = 0;

	for (const struct pf_pair *p = n->pairs; p; p = p->next)
		nr++;
	e = arena_array(c->arena, nr ? nr : 1, sizeof(*e));
	if (!e) {
		c->no_memory = true;
		return false;
	}
	t->entries = e;
	t->nr_entries = nr;
	for (const struct pf_pair *p = n->pairs; p; p = p->next, e++) {
		bool had_reason = c->parser->why[0] != 0;
		struct pf_expr *value = text_c_table_number(c, p->value, n->value);
		size_t len;

		e->name = pf_unescape(c, p->name, &len);
		if (!e->name || c->no_memory)
			return false;
		e->len = (uint32_t)len;
		if (value && value->code == PF_E_CONST && !text_c_has_unknown_name(p->value, 0)) {
			e->value = value->value;
			e->never = t->kind == PF_T_FLAGS && !e->value;
		} else { /* this entry never matches; the others still can */
			e->never = true;
			if (!had_reason)
				c->parser->why[0] = 0;
		}
	}
	return true;
}

static struct pf_text *text_of_table(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_text *t = pf_text_new(c, n->kind == PF_FLAGS ? PF_T_FLAGS : PF_T_SYMBOL);
	size_t len = 0;

	if (!t || !text_c_fill_entries(c, t, n))
		return NULL;
	t->text = pf_unescape(c, n->delim ? n->delim : "", &len);
	t->len = (uint32_t)len;
	t->num = text_c_table_number(c, n->a, n->value);
	return t->num && t->text ? t : NULL;
}

static struct pf_text *text_of_array(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_text *t = pf_text_new(c, n->kind == PF_ARRAY ? PF_T_ARRAY : PF_T_HEX);
	struct pf_ctype type;

	if (!t)
		return NULL;
	t->compact = n->kind == PF_HEX_STR;
	t->braces = true;
	if (!pf_lower_place(c, n->a, &t->place, &type)) {
		pf_refuse(c->parser, "array that is not in the record");
		return NULL;
	}
	t->count = pf_lower_c(c, n->b, &type);
	if (t->count && n->kind == PF_ARRAY)
		t->elem = pf_lower_c(c, n->c, &type);
	return t->count && (t->elem || n->kind != PF_ARRAY) ? t : NULL;
}

static struct pf_text *text_c_hex_dump(struct pf_compiler *c, const struct pf_node *n)
{
	/* (prefix, prefix type, bytes in a row, bytes in a group, buffer, length, with text) */
	const struct pf_node *group = n->more, *buffer = group->next, *len = buffer->next,
			     *ascii = len->next;
	struct pf_text *t = pf_text_new(c, PF_T_HEX_DUMP);
	struct pf_ctype type;
	size_t n_text;

	if (!t)
		return NULL;
	if (n->a->kind != PF_ATOM || !n->a->is_string ||
	    !pf_lower_place(c, buffer, &t->place, &type)) {
		pf_refuse(c->parser, "hex dump of something that is not in the record");
		return NULL;
	}
	t->text = pf_unescape(c, n->a->text, &n_text);
	t->len = (uint32_t)n_text;
	t->prefix_type = pf_lower_c(c, n->b, &type);
	t->row = pf_lower_c(c, n->c, &type);
	t->group = pf_lower_c(c, group, &type);
	t->count = pf_lower_c(c, len, &type);
	t->ascii = pf_lower_c(c, ascii, &type);
	return t->text && t->prefix_type && t->row && t->group && t->count && t->ascii ? t : NULL;
}

static struct pf_text *text_of_bytes(struct pf_compiler *c, const struct pf_node *n,
				     enum pf_text_kind kind)
{
	struct pf_text *t = pf_text_new(c, kind);
	struct pf_ctype elem;

	if (!t)
		return NULL;
	if (pf_lower_place(c, n, &t->place, &elem))
		return t;
	pf_refuse(c->parser, "text that is not in the record");
	return NULL;
}

static struct pf_text *text_of_field(struct pf_compiler *c, const struct sonde_field *f)
{
	struct pf_text *t;

	if (!f)
		return pf_text_new(c, PF_T_NOTHING);
	t = pf_text_new(c, !f->is_array && f->width == c->schema->abi.long_bytes ? PF_T_POINTER
										 : PF_T_BYTES);
	if (!t)
		return NULL;
	t->place.field = f;
	if (t->kind == PF_T_POINTER)
		t->num = pf_expr_load(c, f->offset, f->width, false);
	return t->num || t->kind == PF_T_BYTES ? t : NULL;
}

static struct pf_text *text_of_atom(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_text *t = pf_text_new(c, PF_T_CONST);
	const char *text;
	size_t len;

	if (!t)
		return NULL;
	text = pf_unescape(c, !n->is_string && !strcmp(n->text, "NULL") ? "(null)" : n->text, &len);
	return text && pf_text_set(c, t, text, len) ? t : NULL;
}

static struct pf_text *text_c_conditional(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_text *t = pf_text_new(c, PF_T_COND);

	if (!t)
		return NULL;
	t->num = pf_truth_c(c, n->a);
	t->a = t->num ? pf_lower_text_c(c, n->b->a) : NULL;
	t->b = t->a ? pf_lower_text_c(c, n->b->b) : NULL;
	return t->b ? t : NULL;
}

static struct pf_text *text(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_text *t;

	switch (n->kind) {
	case PF_ATOM:
		return text_of_atom(c, n);
	case PF_FIELD:
		return text_of_field(c, n->field);
	case PF_FLAGS:
	case PF_SYMBOL:
		return text_of_table(c, n);
	case PF_HEX:
	case PF_HEX_STR:
	case PF_ARRAY:
		return text_of_array(c, n);
	case PF_BITMASK:
	case PF_CPUMASK:
		return text_of_bytes(c, n, PF_T_BITMASK);
	case PF_SOCKADDR:
		return text_of_bytes(c, n, PF_T_SOCKADDR);
	case PF_HEX_DUMP:
		return text_c_hex_dump(c, n);
	case PF_OP:
		if (n->op[0] == '?')
			return text_c_conditional(c, n);
		return text_of_bytes(c, n, PF_T_BYTES);
	case PF_CAST:
		t = (struct pf_text *)pf_lower_text_c(c, n->a);
		return t;
	case PF_STR:
	case PF_DYNARRAY:
	case PF_ADDR:
		return text_of_bytes(c, n, PF_T_BYTES);
	}
	pf_refuse(c->parser, "a number where text should be");
	return NULL;
}

const struct pf_text *pf_lower_text_c(struct pf_compiler *c, const struct pf_node *n)
{
	const struct pf_text *t;

	if (!pf_enter(c))
		return NULL;
	t = text(c, n);
	pf_leave(c);
	return t;
}
