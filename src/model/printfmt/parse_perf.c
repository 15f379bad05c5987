/* SPDX-License-Identifier: MIT */
/*
 * perf's reading of a print format, faults included. It knows operands and "the rest behind an
 * operand"; priorities are settled only between an operator and its right neighbour, so that chains
 * of equal priority group to the right. What it accepts and refuses was measured;
 * docs/formats/tracefs.md lists it.
 *
 * After each function the parser looks at the token behind what was read.
 */
#include "model/printfmt/printfmt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_operand(struct pf_parser *p, struct pf_node *n);
static bool parse_operand_here(struct pf_parser *p, struct pf_node *n);
static bool parse_operator(struct pf_parser *p, struct pf_node *n);
static bool parse_record_field(struct pf_parser *p, struct pf_node *n);

static bool parse_refuse_token(struct pf_parser *p, const char *wanted)
{
	return pf_refuse(p, "%s expected, found \"%.*s\"", wanted,
			 p->tok.len > 40 ? 40 : (int)p->tok.len, p->tok.text);
}

/* The token must be this one; moves on. */
static bool parse_expect(struct pf_parser *p, enum pf_token_kind kind, const char *text)
{
	if (!pf_is(p, kind, text))
		return parse_refuse_token(p, text);
	pf_next(p);
	return true;
}

static bool parse_at_value(const struct pf_parser *p)
{
	return p->tok.kind == PF_TOK_ITEM || p->tok.kind == PF_TOK_STRING ||
	       p->tok.kind == PF_TOK_CHAR;
}

/* Smaller binds tighter; -1 for what is no operator. */
static int parse_priority(const char *op)
{
	static const struct {
		char op[4];
		signed char prio;
	} table[] = {
		{ "~", 4 },   { "!", 4 },   { "*", 6 },   { "/", 6 },  { "%", 6 },  { "+", 7 },
		{ "-", 7 },   { ">>", 8 },  { "<<", 8 },  { "<", 9 },  { ">", 9 },  { "<=", 9 },
		{ ">=", 9 },  { "==", 10 }, { "!=", 10 }, { "&", 11 }, { "^", 12 }, { "|", 13 },
		{ "&&", 14 }, { "||", 15 }, { "?", 16 },  { "++", 3 }, { "--", 3 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(op, table[i].op))
			return table[i].prio;
	return -1;
}

static bool parse_is_binary(const char *op)
{
	int prio = parse_priority(op);

	return prio > 4 && prio < 16;
}

static bool parse_token_op(struct pf_parser *p, char op[4])
{
	if (p->tok.len > 3)
		return false;
	memcpy(op, p->tok.text, p->tok.len);
	op[p->tok.len] = 0;
	return true;
}

/* n becomes an operator whose first operand is what n was. */
static struct pf_node *parse_push_down(struct pf_parser *p, struct pf_node *n, const char *op)
{
	struct pf_node *a = pf_node_new(p, PF_NULL);

	if (!a)
		return NULL;
	*a = *n;
	*n = (struct pf_node){ .kind = PF_OP, .a = a };
	strcpy(n->op, op);
	return a;
}

/* `? x : y` behind the condition. The two ends are one more node, ":". */
static bool parse_conditional(struct pf_parser *p, struct pf_node *n)
{
	struct pf_node *pair = pf_node_new(p, PF_OP), *yes = pf_node_new(p, PF_NULL),
		       *no = pf_node_new(p, PF_NULL);

	if (!pair || !yes || !no || !parse_push_down(p, n, "?"))
		return false;
	strcpy(pair->op, ":");
	pair->a = yes;
	pair->b = no;
	if (!parse_operand(p, yes))
		return false;
	while (p->tok.kind == PF_TOK_OP && !pf_is(p, PF_TOK_OP, ":"))
		if (!parse_operator(p, yes))
			return false;
	if (!pf_is(p, PF_TOK_OP, ":"))
		return parse_refuse_token(p, ":");
	if (!parse_operand(p, no))
		return false;
	n->b = pair;
	return true;
}

/* `[i]`: i is one operand. */
static bool parse_element(struct pf_parser *p, struct pf_node *n)
{
	struct pf_node *index = pf_node_new(p, PF_NULL);

	if (!index || !parse_push_down(p, n, "["))
		return false;
	if (!parse_operand(p, index) || !parse_expect(p, PF_TOK_OP, "]"))
		return false;
	n->b = index;
	return true;
}

/*
 * A binary operator and its right operand. *ret_right: the node that further tight operators bind
 * to.
 */
static bool parse_binary(struct pf_parser *p, struct pf_node *n, const char *op,
			 struct pf_node **ret_right)
{
	struct pf_node *right, *a = parse_push_down(p, n, op);

	if (!a)
		return false;
	n->prio = a->kind == PF_NULL ? 0 : (uint8_t)parse_priority(op);
	pf_next(p);
	if (!strcmp(op, "*") && pf_is(p, PF_TOK_DELIM, ")")) { /* it was a pointer type: `(u8 *)` */
		char *text;

		if (a->kind != PF_ATOM)
			return pf_refuse(p, "bad pointer type");
		text = pf_join(p, a->text, " ", "*");
		if (!text)
			return false;
		*n = *a;
		n->text = text;
		*ret_right = NULL;
		return true;
	}
	right = pf_node_new(p, PF_NULL);
	if (!right || !parse_operand_here(p, right))
		return false;
	if (right->kind == PF_OP && parse_priority(op) < parse_priority(right->op)) {
		struct pf_node whole;

		n->b = right->a;
		whole = *n;
		*n = *right;
		*right = whole;
		n->a = right;
	} else {
		n->b = right;
	}
	*ret_right = right;
	return true;
}

static bool parse_operator_in_depth(struct pf_parser *p, struct pf_node *n)
{
	struct pf_node *right = NULL;
	char op[4];

	if (!parse_token_op(p, op))
		return parse_refuse_token(p, "operator");
	if (n->kind == PF_OP && !n->a) { /* one with a single operand: its token is n's own */
		if (n->op[1] || !strchr("~!+-", n->op[0]))
			return pf_refuse(p, "bad operator %s", n->op);
		n->a = pf_node_new(p, PF_NULL);
		n->b = right = pf_node_new(p, PF_NULL);
		if (!n->a || !right || !parse_operand(p, right))
			return false;
	} else if (!strcmp(op, "?")) {
		if (!parse_conditional(p, n))
			return false;
	} else if (parse_is_binary(op)) {
		if (!parse_binary(p, n, op, &right))
			return false;
		if (!right)
			return true;
	} else if (!strcmp(op, "[")) {
		if (!parse_element(p, n))
			return false;
	} else {
		return pf_refuse(p, "unknown operator %s", op);
	}

	if (p->tok.kind != PF_TOK_OP || pf_is(p, PF_TOK_OP, ":"))
		return true;
	if (!parse_token_op(p, op))
		return parse_refuse_token(p, "operator");
	if (parse_priority(op) > n->prio)
		return parse_operator(p, n);
	if (!right)
		return pf_refuse(p, "unknown operator %s", op);
	return parse_operator(p, right);
}

static bool parse_operator(struct pf_parser *p, struct pf_node *n)
{
	bool ok;

	if (p->depth >= PF_MAX_DEPTH)
		return pf_refuse(p, "nested too deeply");
	p->depth++;
	ok = parse_operator_in_depth(p, n);
	p->depth--;
	return ok;
}

/* `(expr)`, or a cast when a value follows. The token is "(". */
static bool parse_parenthesis(struct pf_parser *p, struct pf_node *n)
{
	struct pf_node *item;
	const char *type;

	if (!parse_operand(p, n))
		return false;
	if (p->tok.kind == PF_TOK_OP && !parse_operator(p, n))
		return false;
	if (!parse_expect(p, PF_TOK_DELIM, ")"))
		return false;
	if (p->dialect->paren_record && n->kind == PF_ATOM && !strcmp(n->text, "REC") &&
	    pf_is(p, PF_TOK_OP, "->"))
		return parse_record_field(p, n);
	if (!parse_at_value(p) && !pf_is(p, PF_TOK_DELIM, "("))
		return true;
	if (n->kind != PF_ATOM)
		return pf_refuse(p, "a cast must name a type");
	item = pf_node_new(p, PF_NULL);
	if (!item)
		return false;
	type = n->text;
	*n = (struct pf_node){ .kind = PF_CAST, .text = type, .a = item };
	return parse_operand_here(p, item);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static uint64_t parse_truncate(int64_t v, const char *type)
{
	return pf_perf_cast((uint64_t)v, type, false);
}

/* The operators that perf works out while reading a table. */
static bool parse_constant(struct pf_parser *p, const struct pf_node *n, int64_t *ret)
{
	int64_t a = 0, b = 0;

	if (n->kind == PF_ATOM) {
		*ret = strtoll(n->text, NULL, 0);
		return true;
	}
	if (n->kind == PF_CAST) {
		if (!parse_constant(p, n->a, &a))
			return false;
		*ret = (int64_t)parse_truncate(a, n->text);
		return true;
	}
	if (n->kind != PF_OP)
		return pf_refuse(p, "a table's value must be a constant");
	if (n->a && n->a->kind != PF_NULL && n->op[0] != '~' && !parse_constant(p, n->a, &a))
		return false;
	if (n->a && n->a->kind == PF_NULL && !strchr("-+~", n->op[0]))
		return pf_refuse(p, "unknown operator %s in a table", n->op);
	if (!n->b || !parse_constant(p, n->b, &b))
		return false;
	switch (n->op[0]) {
	case '|':
		*ret = n->op[1] ? a || b : a | b;
		return true;
	case '&':
		*ret = n->op[1] ? a && b : a & b;
		return true;
	case '<':
		*ret = !n->op[1]         ? a < b
		       : n->op[1] == '<' ? (int64_t)((uint64_t)a << (b & 63))
					 : a <= b;
		return true;
	case '>':
		*ret = !n->op[1] ? a > b : n->op[1] == '>' ? a >> (b & 63) : a >= b;
		return true;
	case '=':
		*ret = a == b;
		return true;
	case '!':
		if (!n->op[1])
			break;
		*ret = a != b;
		return true;
	case '-':
		*ret = (int64_t)((uint64_t)a - (uint64_t)b);
		return true;
	case '+':
		*ret = (int64_t)((uint64_t)a + (uint64_t)b);
		return true;
	case '~':
		*ret = ~b;
		return true;
	}
	return pf_refuse(p, "unknown operator %s in a table", n->op);
}

static const char *parse_constant_text(struct pf_parser *p, const struct pf_node *n)
{
	char digits[24];
	int64_t v;

	while (n->kind == PF_CAST)
		n = n->a;
	if (n->kind == PF_ATOM)
		return n->text;
	if (n->kind != PF_OP) {
		pf_refuse(p, "a table's value must be a constant");
		return NULL;
	}
	if (!parse_constant(p, n, &v))
		return NULL;
	snprintf(digits, sizeof(digits), "%lld", (long long)v);
	return pf_join(p, digits, "", "");
}

/*
 * `{ value, "name" }, ...`; a comma behind the last is accepted. The token is the one before the
 * first.
 */
static bool table(struct pf_parser *p, struct pf_pair **ret)
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
		if (!parse_operand(p, n) || (p->tok.kind == PF_TOK_OP && !parse_operator(p, n)))
			return false;
		if (!pf_is(p, PF_TOK_DELIM, ","))
			return parse_refuse_token(p, ",");
		pair->value_text = parse_constant_text(p, n);
		if (!pair->value_text)
			return false;
		n = pf_node_new(p, PF_NULL);
		if (!n || !parse_operand(p, n) || !parse_expect(p, PF_TOK_OP, "}"))
			return false;
		pair->name = parse_constant_text(p, n);
		if (!pair->name)
			return false;
		*ret = pair;
		ret = &pair->next;
	} while (pf_is(p, PF_TOK_DELIM, ","));
	return true;
}

/* ---- helpers --------------------------------------------------------------------------------- */

/* In each the token is the "(" behind the name. */

static struct pf_node *parse_full_argument(struct pf_parser *p)
{
	struct pf_node *n = pf_node_new(p, PF_NULL);

	if (!n || !parse_operand(p, n))
		return NULL;
	while (p->tok.kind == PF_TOK_OP)
		if (!parse_operator(p, n))
			return NULL;
	if (!pf_is(p, PF_TOK_DELIM, ",")) {
		parse_refuse_token(p, ",");
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
	if (parse_at_value(p)) {
		n->delim = pf_token_text(p);
		pf_next(p);
	}
	if (!pf_is(p, PF_TOK_DELIM, ","))
		return parse_refuse_token(p, ",");
	return table(p, &n->pairs) && parse_expect(p, PF_TOK_DELIM, ")");
}

static bool parse_print_symbolic(struct pf_parser *p, struct pf_node *n)
{
	n->kind = PF_SYMBOL;
	n->a = parse_full_argument(p);
	return n->a && table(p, &n->pairs) && parse_expect(p, PF_TOK_DELIM, ")");
}

/*
 * One operand (perf 6.1), or a complete expression, that must be followed by `stop`, which stays
 * the token.
 */
static struct pf_node *parse_bare_argument(struct pf_parser *p, const char *stop)
{
	struct pf_node *n = pf_node_new(p, PF_NULL);

	if (!n || !parse_operand(p, n))
		return NULL;
	while (p->dialect->full_arguments && p->tok.kind == PF_TOK_OP)
		if (!parse_operator(p, n))
			return NULL;
	if (!pf_is(p, PF_TOK_DELIM, stop)) {
		parse_refuse_token(p, stop);
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

/* __get_str(name) and its like. */
static bool parse_get_field(struct pf_parser *p, struct pf_node *n, enum pf_kind kind,
			    bool must_exist)
{
	pf_next(p);
	if (p->tok.kind != PF_TOK_ITEM)
		return parse_refuse_token(p, "a field's name");
	n->kind = (uint8_t)kind;
	n->text = pf_token_text(p);
	if (!n->text)
		return false;
	n->field = pf_find_field(p, n->text, must_exist);
	if (must_exist && !n->field)
		return pf_refuse(p, "no field %s", n->text);
	pf_next(p);
	if (!parse_expect(p, PF_TOK_DELIM, ")"))
		return false;
	if (kind == PF_DYNARRAY && pf_is(p, PF_TOK_OP, "["))
		return pf_refuse(p, "an element of __get_dynamic_array needs a cast");
	return true;
}

static bool parse_builtin_expect(struct pf_parser *p, struct pf_node *n)
{
	if (!parse_operand(p, n))
		return false;
	if (!pf_is(p, PF_TOK_DELIM, ","))
		return parse_refuse_token(p, ",");
	pf_next(p);
	if (p->tok.kind != PF_TOK_ITEM)
		return parse_refuse_token(p, "a number");
	pf_next(p);
	return parse_expect(p, PF_TOK_DELIM, ")");
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
		if (!parse_expect(p, PF_TOK_OP, "->"))
			return false;
		name = pf_token_text(p);
		f = name ? pf_find_field(p, name, false) : NULL;
		if (!f || pf_has_brackets(f))
			return pf_refuse(p, "sizeof of that is not known");
		size = f->width;
		pf_next(p);
	}
	if (!size)
		return pf_refuse(p, "sizeof of that is not known");
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)size);
	n->kind = PF_ATOM;
	n->text = pf_join(p, digits, "", "");
	return n->text && parse_expect(p, PF_TOK_DELIM, ")");
}

static bool parse_call(struct pf_parser *p, struct pf_node *n, const char *name)
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

/* ---- operands -------------------------------------------------------------------------------- */

/* The token is the "->" behind the record. */
static bool parse_record_field(struct pf_parser *p, struct pf_node *n)
{
	if (!parse_expect(p, PF_TOK_OP, "->"))
		return false;
	if (p->tok.kind != PF_TOK_ITEM)
		return parse_refuse_token(p, "a field's name");
	n->kind = PF_FIELD;
	n->text = pf_token_text(p);
	if (!n->text)
		return false;
	n->field = pf_find_field(p, n->text, false);
	pf_next(p);
	return true;
}

static bool parse_word(struct pf_parser *p, struct pf_node *n)
{
	char *text;

	text = pf_token_text(p);
	if (!text)
		return false;
	pf_next(p);
	if (!strcmp(text, "REC") && !(p->dialect->paren_record && pf_is(p, PF_TOK_DELIM, ")")))
		return parse_record_field(p, n);
	if (pf_is(p, PF_TOK_DELIM, "("))
		return parse_call(p, n, text);
	while (p->tok.kind == PF_TOK_ITEM) { /* `unsigned long` */
		char *more = pf_token_text(p);

		if (strlen(text) > 256)
			return pf_refuse(p, "name of too many words");
		text = more ? pf_join(p, text, " ", more) : NULL;
		if (!text)
			return false;
		pf_next(p);
	}
	n->kind = PF_ATOM;
	n->text = text;
	return true;
}

static bool parse_operand_in_depth(struct pf_parser *p, struct pf_node *n)
{
	switch (p->tok.kind) {
	case PF_TOK_ITEM:
		return parse_word(p, n);
	case PF_TOK_STRING:
	case PF_TOK_CHAR:
		n->kind = PF_ATOM;
		n->is_string = p->tok.kind == PF_TOK_STRING;
		n->is_char = !n->is_string;
		n->text = pf_token_text(p);
		pf_next(p);
		return n->text != NULL;
	case PF_TOK_DELIM:
		if (pf_is(p, PF_TOK_DELIM, "("))
			return parse_parenthesis(p, n);
		/* perf takes other delimiters for operators and refuses them there */
		__attribute__((fallthrough));
	case PF_TOK_OP:
		n->kind = PF_OP;
		if (!parse_token_op(p, n->op))
			return parse_refuse_token(p, "operator");
		return parse_operator(p, n);
	default:
		return parse_refuse_token(p, "operand");
	}
}

static bool parse_operand_here(struct pf_parser *p, struct pf_node *n)
{
	bool ok;

	if (p->depth >= PF_MAX_DEPTH)
		return pf_refuse(p, "nested too deeply");
	p->depth++;
	ok = parse_operand_in_depth(p, n);
	p->depth--;
	return ok;
}

static bool parse_operand(struct pf_parser *p, struct pf_node *n)
{
	pf_next(p);
	return parse_operand_here(p, n);
}

/* libtraceevent computes operators of two constants; the result replaces them as text. */
static bool parse_fold(struct pf_parser *p, struct pf_node *n, unsigned depth)
{
	uint64_t a, b, v;
	char digits[24];

	if (n->kind != PF_OP || depth >= PF_MAX_DEPTH)
		return true;
	if (!parse_fold(p, n->a, depth + 1) || !parse_fold(p, n->b, depth + 1))
		return false;
	if (n->a->kind != PF_ATOM || n->b->kind != PF_ATOM)
		return true;
	a = strtoull(n->a->text, NULL, 0);
	b = strtoull(n->b->text, NULL, 0);
	if (!pf_perf_binary(n->op, a, b, &v))
		return true;
	snprintf(digits, sizeof(digits), "%lld", (long long)v);
	*n = (struct pf_node){ .kind = PF_ATOM,
			       .text = pf_join(p, digits, "", ""),
			       .next = n->next };
	return n->text != NULL;
}

/* The token is the comma behind the format string. */
bool pf_parse_perf(struct pf_parser *p, struct pf_node **ret)
{
	do {
		struct pf_node *n = pf_node_new(p, PF_NULL);

		if (!n || !parse_operand(p, n))
			return false;
		if (p->tok.kind == PF_TOK_OP) {
			if (!parse_operator(p, n) ||
			    (p->dialect->folds_constants && !parse_fold(p, n, 0)))
				return false;
			/* Whatever follows is taken for the comma. */
		} else if (!pf_is(p, PF_TOK_DELIM, ",")) {
			*ret = n;
			return true;
		}
		*ret = n;
		ret = &n->next;
	} while (p->tok.kind != PF_TOK_END);
	return true;
}
