/* SPDX-License-Identifier: MIT */
/*
 * Parses operators and operands of a print format like perf, including its faults. It parses an
 * operand, then the rest after it. It compares priorities only between an operator and its right
 * neighbour, so chains of equal priority group to the right. docs/formats/tracefs.md lists the
 * texts that perf was measured to accept and to refuse.
 *
 * After each function the current token is the one after the parsed text.
 */
#include "model/printfmt/parse_perf.h"

#include <string.h>

static bool parse_operand_here(struct pf_parser *p, struct pf_node *n);
static bool parse_record_field(struct pf_parser *p, struct pf_node *n);

bool pf_perf_refuse_token(struct pf_parser *p, const char *wanted)
{
	return pf_refuse(p, "%s expected, found \"%.*s\"", wanted,
			 p->tok.len > 40 ? 40 : (int)p->tok.len, p->tok.text);
}

bool pf_perf_expect(struct pf_parser *p, enum pf_token_kind kind, const char *text)
{
	if (!pf_is(p, kind, text))
		return pf_perf_refuse_token(p, text);
	pf_next(p);
	return true;
}

bool pf_perf_at_value(const struct pf_parser *p)
{
	return p->tok.kind == PF_TOK_ITEM || p->tok.kind == PF_TOK_STRING ||
	       p->tok.kind == PF_TOK_CHAR;
}

/* The priority of an operator; smaller binds tighter. -1 if op is no operator. */
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

/* Turns n into an operator whose first operand is a copy of the old n. */
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

/* Parses `? x : y` after the condition n. x and y become operands of a further node ":". */
static bool parse_conditional(struct pf_parser *p, struct pf_node *n)
{
	struct pf_node *pair = pf_node_new(p, PF_OP), *yes = pf_node_new(p, PF_NULL),
		       *no = pf_node_new(p, PF_NULL);

	if (!pair || !yes || !no || !parse_push_down(p, n, "?"))
		return false;
	strcpy(pair->op, ":");
	pair->a = yes;
	pair->b = no;
	if (!pf_perf_operand(p, yes))
		return false;
	while (p->tok.kind == PF_TOK_OP && !pf_is(p, PF_TOK_OP, ":"))
		if (!pf_perf_operator(p, yes))
			return false;
	if (!pf_is(p, PF_TOK_OP, ":"))
		return pf_perf_refuse_token(p, ":");
	if (!pf_perf_operand(p, no))
		return false;
	n->b = pair;
	return true;
}

/* Parses `[i]`; i is a single operand. */
static bool parse_element(struct pf_parser *p, struct pf_node *n)
{
	struct pf_node *index = pf_node_new(p, PF_NULL);

	if (!index || !parse_push_down(p, n, "["))
		return false;
	if (!pf_perf_operand(p, index) || !pf_perf_expect(p, PF_TOK_OP, "]"))
		return false;
	n->b = index;
	return true;
}

/*
 * Parses a binary operator and its right operand. *ret_right is the left operand of a following
 * operator that binds more tightly.
 */
static bool parse_binary(struct pf_parser *p, struct pf_node *n, const char *op,
			 struct pf_node **ret_right)
{
	struct pf_node *right, *a = parse_push_down(p, n, op);

	if (!a)
		return false;
	n->prio = a->kind == PF_NULL ? 0 : (uint8_t)parse_priority(op);
	pf_next(p);
	if (!strcmp(op, "*") && pf_is(p, PF_TOK_DELIM, ")")) { /* a pointer type: `(u8 *)` */
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
		return pf_perf_refuse_token(p, "operator");
	if (n->kind == PF_OP && !n->a) { /* n is a unary operator without its operand */
		if (n->op[1] || !strchr("~!+-", n->op[0]))
			return pf_refuse(p, "bad operator %s", n->op);
		n->a = pf_node_new(p, PF_NULL);
		n->b = right = pf_node_new(p, PF_NULL);
		if (!n->a || !right || !pf_perf_operand(p, right))
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
		return pf_perf_refuse_token(p, "operator");
	if (parse_priority(op) > n->prio)
		return pf_perf_operator(p, n);
	if (!right)
		return pf_refuse(p, "unknown operator %s", op);
	return pf_perf_operator(p, right);
}

bool pf_perf_operator(struct pf_parser *p, struct pf_node *n)
{
	bool ok;

	if (p->depth >= PF_MAX_DEPTH)
		return pf_refuse(p, "nested too deeply");
	p->depth++;
	ok = parse_operator_in_depth(p, n);
	p->depth--;
	return ok;
}

/* Parses `(expr)`, or a cast if a value follows. The token is "(". */
static bool parse_parenthesis(struct pf_parser *p, struct pf_node *n)
{
	struct pf_node *item;
	const char *type;

	if (!pf_perf_operand(p, n))
		return false;
	if (p->tok.kind == PF_TOK_OP && !pf_perf_operator(p, n))
		return false;
	if (!pf_perf_expect(p, PF_TOK_DELIM, ")"))
		return false;
	if (p->dialect->paren_record && n->kind == PF_ATOM && !strcmp(n->text, "REC") &&
	    pf_is(p, PF_TOK_OP, "->"))
		return parse_record_field(p, n);
	if (!pf_perf_at_value(p) && !pf_is(p, PF_TOK_DELIM, "("))
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

/* ---- operands -------------------------------------------------------------------------------- */

/* The token is the "->" after the record. */
static bool parse_record_field(struct pf_parser *p, struct pf_node *n)
{
	if (!pf_perf_expect(p, PF_TOK_OP, "->"))
		return false;
	if (p->tok.kind != PF_TOK_ITEM)
		return pf_perf_refuse_token(p, "a field's name");
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
		return pf_perf_call(p, n, text);
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
		/* perf treats other delimiters as operators, and refuses them later */
		__attribute__((fallthrough));
	case PF_TOK_OP:
		n->kind = PF_OP;
		if (!parse_token_op(p, n->op))
			return pf_perf_refuse_token(p, "operator");
		return pf_perf_operator(p, n);
	default:
		return pf_perf_refuse_token(p, "operand");
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

bool pf_perf_operand(struct pf_parser *p, struct pf_node *n)
{
	pf_next(p);
	return parse_operand_here(p, n);
}

/* The token is the comma after the format string. */
bool pf_parse_perf(struct pf_parser *p, struct pf_node **ret)
{
	do {
		struct pf_node *n = pf_node_new(p, PF_NULL);

		if (!n || !pf_perf_operand(p, n))
			return false;
		if (p->tok.kind == PF_TOK_OP) {
			if (!pf_perf_operator(p, n) ||
			    (p->dialect->folds_constants && !pf_perf_fold(p, n, 0)))
				return false;
			/* perf treats any token that follows as the comma. */
		} else if (!pf_is(p, PF_TOK_DELIM, ",")) {
			*ret = n;
			return true;
		}
		*ret = n;
		ret = &n->next;
	} while (p->tok.kind != PF_TOK_END);
	return true;
}
