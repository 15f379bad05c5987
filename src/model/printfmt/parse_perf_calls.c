/* SPDX-License-Identifier: MIT */
/*
 * Parses the functions of print formats, such as __print_flags(), and their tables like perf. Each
 * parser begins at the "(" after the name.
 */
#include "model/printfmt/parse_perf.h"

#include <stdio.h>
#include <string.h>

/*
 * Parses `{ value, "name" }, ...`; a comma after the last entry is accepted. Begins at the token
 * before the first entry.
 */
static bool parse_table(struct pf_parser *p, struct pf_pair **ret)
{
	do {
		struct pf_node *n = pf_node_new(p, PF_NULL);
		struct pf_pair *pair = arena_alloc(p->arena, sizeof(*pair));

		if (!n || !pair) {
			p->no_memory = true;
			return false;
		}
		pf_next(p);
		if (!pf_is(p, PF_TOK_OP, "{"))
			return true;
		if (!pf_perf_operand(p, n) || (p->tok.kind == PF_TOK_OP && !pf_perf_operator(p, n)))
			return false;
		if (!pf_is(p, PF_TOK_DELIM, ","))
			return pf_perf_refuse_token(p, ",");
		pair->value_text = pf_perf_constant_text(p, n);
		if (!pair->value_text)
			return false;
		n = pf_node_new(p, PF_NULL);
		if (!n || !pf_perf_operand(p, n) || !pf_perf_expect(p, PF_TOK_OP, "}"))
			return false;
		pair->name = pf_perf_constant_text(p, n);
		if (!pair->name)
			return false;
		*ret = pair;
		ret = &pair->next;
	} while (pf_is(p, PF_TOK_DELIM, ","));
	return true;
}

static struct pf_node *parse_full_argument(struct pf_parser *p)
{
	struct pf_node *n = pf_node_new(p, PF_NULL);

	if (!n || !pf_perf_operand(p, n))
		return NULL;
	while (p->tok.kind == PF_TOK_OP)
		if (!pf_perf_operator(p, n))
			return NULL;
	if (!pf_is(p, PF_TOK_DELIM, ",")) {
		pf_perf_refuse_token(p, ",");
		return NULL;
	}
	return n;
}

static bool parse_print_flags(struct pf_parser *p, struct pf_node *n)
{
	n->kind = PF_FLAGS;
	n->a = parse_full_argument(p);
	if (!n->a)
		return false;
	pf_next(p);
	if (pf_perf_at_value(p)) {
		n->delim = pf_token_text(p);
		pf_next(p);
	}
	if (!pf_is(p, PF_TOK_DELIM, ","))
		return pf_perf_refuse_token(p, ",");
	return parse_table(p, &n->pairs) && pf_perf_expect(p, PF_TOK_DELIM, ")");
}

static bool parse_print_symbolic(struct pf_parser *p, struct pf_node *n)
{
	n->kind = PF_SYMBOL;
	n->a = parse_full_argument(p);
	return n->a && parse_table(p, &n->pairs) && pf_perf_expect(p, PF_TOK_DELIM, ")");
}

/*
 * Parses one operand (perf 6.1) or a complete expression. `stop` must follow and remains the
 * current token.
 */
static struct pf_node *parse_bare_argument(struct pf_parser *p, const char *stop)
{
	struct pf_node *n = pf_node_new(p, PF_NULL);

	if (!n || !pf_perf_operand(p, n))
		return NULL;
	while (p->dialect->full_arguments && p->tok.kind == PF_TOK_OP)
		if (!pf_perf_operator(p, n))
			return NULL;
	if (!pf_is(p, PF_TOK_DELIM, stop)) {
		pf_perf_refuse_token(p, stop);
		return NULL;
	}
	return n;
}

static bool parse_print_bytes(struct pf_parser *p, struct pf_node *n, enum pf_kind kind)
{
	n->kind = (uint8_t)kind;
	n->a = parse_bare_argument(p, ",");
	n->b = n->a ? parse_bare_argument(p, kind == PF_ARRAY ? "," : ")") : NULL;
	if (!n->b)
		return false;
	if (kind == PF_ARRAY) {
		n->c = parse_bare_argument(p, ")");
		if (!n->c)
			return false;
	}
	pf_next(p);
	return true;
}

/* Parses __get_str(name) and similar functions. */
static bool parse_get_field(struct pf_parser *p, struct pf_node *n, enum pf_kind kind,
			    bool must_exist)
{
	pf_next(p);
	if (p->tok.kind != PF_TOK_ITEM)
		return pf_perf_refuse_token(p, "a field's name");
	n->kind = (uint8_t)kind;
	n->text = pf_token_text(p);
	if (!n->text)
		return false;
	n->field = pf_find_field(p, n->text, must_exist);
	if (must_exist && !n->field)
		return pf_refuse(p, "no field %s", n->text);
	pf_next(p);
	if (!pf_perf_expect(p, PF_TOK_DELIM, ")"))
		return false;
	if (kind == PF_DYNARRAY && pf_is(p, PF_TOK_OP, "["))
		return pf_refuse(p, "an element of __get_dynamic_array needs a cast");
	return true;
}

static bool parse_builtin_expect(struct pf_parser *p, struct pf_node *n)
{
	if (!pf_perf_operand(p, n))
		return false;
	if (!pf_is(p, PF_TOK_DELIM, ","))
		return pf_perf_refuse_token(p, ",");
	pf_next(p);
	if (p->tok.kind != PF_TOK_ITEM)
		return pf_perf_refuse_token(p, "a number");
	pf_next(p);
	return pf_perf_expect(p, PF_TOK_DELIM, ")");
}

static bool parse_size_of(struct pf_parser *p, struct pf_node *n)
{
	uint64_t size = 0;
	char digits[24];

	pf_next(p);
	if (pf_is(p, PF_TOK_ITEM, "unsigned")) {
		size = 4;
		pf_next(p);
	}
	if (pf_is(p, PF_TOK_ITEM, "long")) {
		size = p->schema->abi.long_bytes;
		pf_next(p);
		if (pf_is(p, PF_TOK_ITEM, "long")) {
			size = 8;
			pf_next(p);
		}
	} else if (pf_is(p, PF_TOK_ITEM, "int")) {
		size = 4;
		pf_next(p);
	} else if (pf_is(p, PF_TOK_ITEM, "REC")) {
		const struct sonde_field *f;
		char *name;

		pf_next(p);
		if (!pf_perf_expect(p, PF_TOK_OP, "->"))
			return false;
		name = pf_token_text(p);
		f = name ? pf_find_field(p, name, false) : NULL;
		if (!f || pf_has_brackets(f))
			return pf_refuse(p, "the operand of sizeof has no known size");
		size = f->width;
		pf_next(p);
	}
	if (!size)
		return pf_refuse(p, "the operand of sizeof has no known size");
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)size);
	n->kind = PF_ATOM;
	n->text = pf_join(p, digits, "", "");
	return n->text && pf_perf_expect(p, PF_TOK_DELIM, ")");
}

bool pf_perf_call(struct pf_parser *p, struct pf_node *n, const char *name)
{
	static const struct {
		const char *name;
		enum pf_kind kind;
	} getters[] = {
		{ "__get_str", PF_STR },
		{ "__get_rel_str", PF_STR },
		{ "__get_bitmask", PF_BITMASK },
		{ "__get_rel_bitmask", PF_BITMASK },
		{ "__get_dynamic_array", PF_DYNARRAY },
		{ "__get_rel_dynamic_array", PF_DYNARRAY },
		{ "__get_dynamic_array_len", PF_DYNLEN },
		{ "__get_rel_dynamic_array_len", PF_DYNLEN },
		{ "__get_cpumask", PF_CPUMASK },
		{ "__get_rel_cpumask", PF_CPUMASK },
		{ "__get_sockaddr", PF_SOCKADDR },
		{ "__get_rel_sockaddr", PF_SOCKADDR },
	};

	for (size_t i = 0; i < sizeof(getters) / sizeof(*getters); i++) {
		enum pf_kind kind = getters[i].kind;

		if (strcmp(name, getters[i].name))
			continue;
		if ((kind == PF_CPUMASK && !p->dialect->has_cpumask) ||
		    (kind == PF_SOCKADDR && !p->dialect->has_sockaddr))
			break;
		return parse_get_field(p, n, kind, kind == PF_DYNARRAY || kind == PF_DYNLEN);
	}
	if (!strcmp(name, "__print_flags"))
		return parse_print_flags(p, n);
	if (!strcmp(name, "__print_symbolic"))
		return parse_print_symbolic(p, n);
	if (!strcmp(name, "__print_hex"))
		return parse_print_bytes(p, n, PF_HEX);
	if (!strcmp(name, "__print_hex_str"))
		return parse_print_bytes(p, n, PF_HEX_STR);
	if (!strcmp(name, "__print_array"))
		return parse_print_bytes(p, n, PF_ARRAY);
	if (!strcmp(name, "__builtin_expect"))
		return parse_builtin_expect(p, n);
	if (!strcmp(name, "sizeof") && p->dialect->has_sizeof)
		return parse_size_of(p, n);
	return pf_refuse(p, "function %s not defined", name);
}
