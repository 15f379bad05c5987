/* SPDX-License-Identifier: MIT */
/*
 * Parses a print format's arguments as C expressions, with C's priorities and grouping, and the
 * kernel's helpers. After each function the current token is the one after the parsed text.
 */
#include "model/printfmt/printfmt_internal.h"

#include <string.h>

static struct pf_node *parse_expression(struct pf_parser *p);
static struct pf_node *parse_unary(struct pf_parser *p);

static bool parse_refuse_token(struct pf_parser *p, const char *wanted)
{
	return pf_refuse(p, "%s expected, found \"%.*s\"", wanted,
			 p->tok.len > 40 ? 40 : (int)p->tok.len, p->tok.text);
}

static bool parse_expect(struct pf_parser *p, enum pf_token_kind kind, const char *text)
{
	if (!pf_is(p, kind, text))
		return parse_refuse_token(p, text);
	pf_next(p);
	return true;
}

static struct pf_node *parse_op_node(struct pf_parser *p, const char *op, struct pf_node *a,
				     struct pf_node *b)
{
	struct pf_node *n = b ? pf_node_new(p, PF_OP) : NULL;

	if (!n)
		return NULL;
	strcpy(n->op, op);
	n->a = a;
	n->b = b;
	return n;
}

static struct pf_node *parse_number_node(struct pf_parser *p, uint64_t value)
{
	struct pf_node *n = pf_node_new(p, PF_NUMBER);

	if (n)
		n->value = value;
	return n;
}

static struct pf_node *parse_cast_node(struct pf_parser *p, const char *type, struct pf_node *a)
{
	struct pf_node *n = a ? pf_node_new(p, PF_CAST) : NULL;

	if (n) {
		n->text = type;
		n->a = a;
	}
	return n;
}

/* ---- types ----------------------------------------------------------------------------------- */

static bool parse_is_type_word(const char *s, size_t len)
{
	static const char *const words[] = { "unsigned", "signed", "int",     "long",   "char",
					     "short",    "void",   "const",   "struct", "enum",
					     "union",    "bool",   "volatile" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == len && !memcmp(words[i], s, len))
			return true;
	return len > 2 && !memcmp(s + len - 2, "_t", 2);
}

/*
 * Begins at the token after "(". If a type and ")" follow, moves after the ")" and returns the
 * type's text; else moves nowhere and returns NULL. An unknown name is a type if a value follows,
 * because C allows nothing else in `(name) value`.
 */
static char *parse_type_in_parentheses(struct pf_parser *p)
{
	const char *pos = p->pos;
	struct pf_token tok = p->tok;
	bool known = false, pointer = false;
	char *text = NULL;
	struct pf_ctype ct;

	if (p->tok.kind != PF_TOK_ITEM || (p->tok.text[0] >= '0' && p->tok.text[0] <= '9') ||
	    pf_is(p, PF_TOK_ITEM, "REC"))
		return NULL;
	while (p->tok.kind == PF_TOK_ITEM || pf_is(p, PF_TOK_OP, "*")) {
		char *more;

		if (p->tok.kind == PF_TOK_ITEM && parse_is_type_word(p->tok.text, p->tok.len))
			known = true;
		if (p->tok.kind == PF_TOK_OP)
			pointer = true;
		more = pf_token_text(p);
		text = !more ? NULL : text ? pf_join(p, text, " ", more) : more;
		if (!text || strlen(text) > 256)
			break;
		pf_next(p);
	}
	if (text && pf_is(p, PF_TOK_DELIM, ")")) {
		pf_next(p);
		if (known || pf_c_type(text, p->schema->abi.long_bytes, &ct) ||
		    p->tok.kind == PF_TOK_ITEM ||
		    (p->tok.kind == PF_TOK_DELIM && *p->tok.text == '(') ||
		    (pointer && text[strlen(text) - 1] == '*'))
			return text;
	}
	p->pos = pos;
	p->tok = tok;
	return NULL;
}

/* ---- helpers --------------------------------------------------------------------------------- */

static bool parse_pair_table(struct pf_parser *p, struct pf_pair **ret)
{
	bool ended = false;

	while (pf_is(p, PF_TOK_DELIM, ",")) {
		struct pf_pair *pair;

		pf_next(p);
		if (pf_is(p, PF_TOK_DELIM, ")"))
			break;
		if (!parse_expect(p, PF_TOK_OP, "{"))
			return false;
		pair = arena_alloc(p->arena, sizeof(*pair));
		if (!pair) {
			p->no_memory = true;
			return false;
		}
		pair->value = parse_expression(p);
		if (!pair->value || !parse_expect(p, PF_TOK_DELIM, ","))
			return false;
		if (p->tok.kind == PF_TOK_STRING) {
			pair->name = pf_token_text(p);
			if (!pair->name)
				return false;
			pf_next(p);
		} else if (!parse_expression(p)) { /* NULL ends the table */
			return false;
		}
		if (!parse_expect(p, PF_TOK_OP, "}"))
			return false;
		ended |= !pair->name;
		if (!ended) {
			*ret = pair;
			ret = &pair->next;
		}
	}
	return parse_expect(p, PF_TOK_DELIM, ")");
}

static struct pf_node *parse_print_table(struct pf_parser *p, enum pf_kind kind, bool wide)
{
	struct pf_node *n = pf_node_new(p, kind);

	if (!n)
		return NULL;
	n->value = wide; /* 64 bits, even if a long has 32 */
	n->a = parse_expression(p);
	if (!n->a)
		return NULL;
	if (kind == PF_FLAGS) {
		if (!parse_expect(p, PF_TOK_DELIM, ","))
			return NULL;
		if (p->tok.kind == PF_TOK_STRING)
			n->delim = pf_token_text(p);
		else if (p->tok.kind != PF_TOK_ITEM)
			return parse_refuse_token(p, "a delimiter"), NULL;
		pf_next(p);
	}
	return parse_pair_table(p, &n->pairs) ? n : NULL;
}

/* Parses nr expressions and the ")": the first three to a, b, c, the others to the list `more`. */
static bool parse_arguments(struct pf_parser *p, struct pf_node *n, unsigned nr)
{
	struct pf_node **to[3] = { &n->a, &n->b, &n->c }, **more = &n->more;

	for (unsigned i = 0; i < nr; i++) {
		struct pf_node *arg;

		if (i && !parse_expect(p, PF_TOK_DELIM, ","))
			return false;
		arg = parse_expression(p);
		if (!arg)
			return false;
		if (i < 3) {
			*to[i] = arg;
		} else {
			*more = arg;
			more = &arg->next;
		}
	}
	return parse_expect(p, PF_TOK_DELIM, ")");
}

static bool parse_field_name(struct pf_parser *p, struct pf_node *n)
{
	if (p->tok.kind != PF_TOK_ITEM)
		return parse_refuse_token(p, "a field's name");
	n->text = pf_token_text(p);
	if (!n->text)
		return false;
	n->field = pf_find_field(p, n->text, false);
	if (!n->field)
		return pf_refuse(p, "no field %s", n->text);
	pf_next(p);
	return true;
}

static struct pf_node *parse_size_of(struct pf_parser *p)
{
	char *type = parse_type_in_parentheses(p);
	struct pf_ctype ct;
	struct pf_node *n;

	if (type) { /* the ")" was parsed, too */
		if (strchr(type, '*'))
			return parse_number_node(p, p->schema->abi.long_bytes);
		if (pf_c_type(type, p->schema->abi.long_bytes, &ct) && ct.width)
			return parse_number_node(p, ct.width);
		return pf_refuse(p, "size of %s not known", type), NULL;
	}
	/* A type such as u32 needs no operand. */
	if (p->tok.kind == PF_TOK_ITEM && !pf_is(p, PF_TOK_ITEM, "REC")) {
		type = pf_token_text(p);
		if (type && pf_c_type(type, p->schema->abi.long_bytes, &ct) && ct.width) {
			pf_next(p);
			return parse_expect(p, PF_TOK_DELIM, ")") ? parse_number_node(p, ct.width)
								  : NULL;
		}
	}
	n = parse_expression(p);
	if (!n || !parse_expect(p, PF_TOK_DELIM, ")"))
		return NULL;
	if (n->kind == PF_FIELD && n->field && n->field->width)
		return parse_number_node(p, n->field->width);
	if (n->kind == PF_OP && n->op[0] == '[' && n->a->kind == PF_FIELD && n->a->field &&
	    n->a->field->elem_width)
		return parse_number_node(p, n->a->field->elem_width);
	return pf_refuse(p, "the operand of sizeof has no known size"), NULL;
}

enum helper {
	H_FLAGS,
	H_SYMBOLIC,
	H_TWO,
	H_THREE,
	H_FIELD,
	H_DYN_PRINT,
	H_HEX_DUMP,
	H_SECS,
	H_NO_SECS,
	H_EXPECT,
	H_SIZEOF
};

static const struct {
	const char *name;
	enum helper helper;
	enum pf_kind kind;
} helpers[] = {
	{ "__print_flags", H_FLAGS, PF_FLAGS },
	{ "__print_flags_u64", H_FLAGS, PF_FLAGS },
	{ "__print_symbolic", H_SYMBOLIC, PF_SYMBOL },
	{ "__print_symbolic_u64", H_SYMBOLIC, PF_SYMBOL },
	{ "__print_hex", H_TWO, PF_HEX },
	{ "__print_hex_str", H_TWO, PF_HEX_STR },
	{ "__print_array", H_THREE, PF_ARRAY },
	{ "__print_dynamic_array", H_DYN_PRINT, PF_ARRAY },
	{ "__print_hex_dump", H_HEX_DUMP, PF_HEX_DUMP },
	{ "__print_ns_to_secs", H_SECS, PF_OP },
	{ "__print_ns_without_secs", H_NO_SECS, PF_OP },
	{ "__builtin_expect", H_EXPECT, PF_NULL },
	{ "likely", H_EXPECT, PF_NULL },
	{ "unlikely", H_EXPECT, PF_NULL },
	{ "sizeof", H_SIZEOF, PF_NUMBER },
	{ "__get_str", H_FIELD, PF_STR },
	{ "__get_rel_str", H_FIELD, PF_STR },
	{ "__get_bitmask", H_FIELD, PF_BITMASK },
	{ "__get_rel_bitmask", H_FIELD, PF_BITMASK },
	{ "__get_cpumask", H_FIELD, PF_CPUMASK },
	{ "__get_rel_cpumask", H_FIELD, PF_CPUMASK },
	{ "__get_sockaddr", H_FIELD, PF_SOCKADDR },
	{ "__get_rel_sockaddr", H_FIELD, PF_SOCKADDR },
	{ "__get_dynamic_array", H_FIELD, PF_DYNARRAY },
	{ "__get_rel_dynamic_array", H_FIELD, PF_DYNARRAY },
	{ "__get_dynamic_array_len", H_FIELD, PF_DYNLEN },
	{ "__get_rel_dynamic_array_len", H_FIELD, PF_DYNLEN },
};

/* __print_dynamic_array(name, elsize): like __print_array for the complete field. */
static struct pf_node *parse_print_dynamic_array(struct pf_parser *p, struct pf_node *n)
{
	struct pf_node *array = pf_node_new(p, PF_DYNARRAY), *len = pf_node_new(p, PF_DYNLEN);

	if (!array || !len || !parse_field_name(p, array) || !parse_expect(p, PF_TOK_DELIM, ","))
		return NULL;
	len->text = array->text;
	len->field = array->field;
	n->a = array;
	n->c = parse_expression(p);
	n->b = n->c ? parse_op_node(p, "/", len, n->c) : NULL;
	return n->b && parse_expect(p, PF_TOK_DELIM, ")") ? n : NULL;
}

/* The token is the "(" after the name. */
static struct pf_node *parse_call(struct pf_parser *p, const char *name)
{
	struct pf_node *n;
	size_t i = 0, nr = sizeof(helpers) / sizeof(*helpers);

	while (i < nr && strcmp(helpers[i].name, name))
		i++;
	if (i == nr)
		return pf_refuse(p, "function %s not defined", name), NULL;
	pf_next(p);
	if (helpers[i].helper == H_SIZEOF)
		return parse_size_of(p);
	if (helpers[i].helper == H_FLAGS || helpers[i].helper == H_SYMBOLIC)
		return parse_print_table(p, helpers[i].kind, strstr(name, "_u64") != NULL);
	n = pf_node_new(p, helpers[i].kind);
	if (!n)
		return NULL;
	switch (helpers[i].helper) {
	case H_TWO:
		return parse_arguments(p, n, 2) ? n : NULL;
	case H_THREE:
		return parse_arguments(p, n, 3) ? n : NULL;
	case H_HEX_DUMP:
		return parse_arguments(p, n, 7) ? n : NULL;
	case H_FIELD:
		return parse_field_name(p, n) && parse_expect(p, PF_TOK_DELIM, ")") ? n : NULL;
	case H_DYN_PRINT:
		return parse_print_dynamic_array(p, n);
	case H_SECS:
	case H_NO_SECS:
		if (!parse_arguments(p, n, 1))
			return NULL;
		n = parse_op_node(p, helpers[i].helper == H_SECS ? "/" : "%",
				  parse_cast_node(p, "u64", n->a),
				  parse_number_node(p, 1000000000));
		return helpers[i].helper == H_SECS ? n : parse_cast_node(p, "u32", n);
	case H_EXPECT:
		n->a = parse_expression(p);
		if (!n->a)
			return NULL;
		if (pf_is(p, PF_TOK_DELIM, ",")) {
			pf_next(p);
			if (!parse_expression(p))
				return NULL;
		}
		return parse_expect(p, PF_TOK_DELIM, ")") ? n->a : NULL;
	default:
		return NULL;
	}
}

/* ---- expressions ----------------------------------------------------------------------------- */

static struct pf_node *parse_primary(struct pf_parser *p)
{
	struct pf_node *n;
	char *text;

	if (pf_is(p, PF_TOK_DELIM, "(")) {
		pf_next(p);
		n = parse_expression(p);
		return n && parse_expect(p, PF_TOK_DELIM, ")") ? n : NULL;
	}
	if (p->tok.kind == PF_TOK_STRING || p->tok.kind == PF_TOK_CHAR) {
		n = pf_node_new(p, PF_ATOM);
		if (!n)
			return NULL;
		n->is_string = p->tok.kind == PF_TOK_STRING;
		n->is_char = !n->is_string;
		n->text = pf_token_text(p);
		pf_next(p);
		return n->text ? n : NULL;
	}
	if (p->tok.kind != PF_TOK_ITEM)
		return parse_refuse_token(p, "operand"), NULL;
	text = pf_token_text(p);
	if (!text)
		return NULL;
	pf_next(p);
	if (pf_is(p, PF_TOK_DELIM, "("))
		return parse_call(p, text);
	n = pf_node_new(p, PF_ATOM);
	if (n)
		n->text = text;
	return n;
}

static bool parse_is_record(const struct pf_node *n)
{
	return n->kind == PF_ATOM && !n->is_string &&
	       (!strcmp(n->text, "REC") || !strcmp(n->text, "__entry"));
}

/* The token is the "->" after the record. */
static struct pf_node *parse_record_field(struct pf_parser *p)
{
	struct pf_node *n;

	pf_next(p);
	if (p->tok.kind != PF_TOK_ITEM)
		return parse_refuse_token(p, "a field's name"), NULL;
	n = pf_node_new(p, PF_FIELD);
	if (!n)
		return NULL;
	n->text = pf_token_text(p);
	if (!n->text)
		return NULL;
	n->field = pf_find_field(p, n->text, false);
	pf_next(p);
	return n;
}

static struct pf_node *parse_postfix(struct pf_parser *p)
{
	struct pf_node *n = parse_primary(p);

	while (n && (pf_is(p, PF_TOK_OP, "[") || pf_is(p, PF_TOK_OP, "->"))) {
		struct pf_node *index;

		if (*p->tok.text == '-') {
			if (!parse_is_record(n))
				return pf_refuse(p, "a member of something that is not the record"),
				       NULL;
			n = parse_record_field(p);
			continue;
		}
		pf_next(p);
		index = parse_expression(p);
		if (!index || !parse_expect(p, PF_TOK_OP, "]"))
			return NULL;
		n = parse_op_node(p, "[", n, index);
	}
	return n;
}

static struct pf_node *parse_unary_in_depth(struct pf_parser *p)
{
	struct pf_node *n;
	char op[4] = "";

	if (p->tok.kind == PF_TOK_OP && p->tok.len == 1 && strchr("-+!~*&", *p->tok.text)) {
		op[0] = *p->tok.text;
		pf_next(p);
		n = parse_unary(p);
		if (!n || op[0] == '+')
			return n;
		if (op[0] == '*' || op[0] == '&') {
			struct pf_node *addr = pf_node_new(p, op[0] == '*' ? PF_DEREF : PF_ADDR);

			if (addr)
				addr->a = n;
			return addr;
		}
		return parse_op_node(p, op, NULL, n);
	}
	if (pf_is(p, PF_TOK_DELIM, "(")) {
		const char *pos = p->pos;
		struct pf_token tok = p->tok;
		char *type;

		pf_next(p);
		type = parse_type_in_parentheses(p);
		if (type) {
			n = parse_unary(p);
			return parse_cast_node(p, type, n);
		}
		p->pos = pos;
		p->tok = tok;
	}
	return parse_postfix(p);
}

static struct pf_node *parse_unary(struct pf_parser *p)
{
	struct pf_node *n;

	if (p->depth >= PF_MAX_DEPTH)
		return pf_refuse(p, "nested too deeply"), NULL;
	p->depth++;
	n = parse_unary_in_depth(p);
	p->depth--;
	return n;
}

static unsigned parse_binding(const struct pf_parser *p, char op[4])
{
	static const struct {
		char op[4];
		unsigned binding;
	} table[] = {
		{ "||", 1 }, { "&&", 2 }, { "|", 3 },  { "^", 4 },  { "&", 5 },  { "==", 6 },
		{ "!=", 6 }, { "<", 7 },  { "<=", 7 }, { ">", 7 },  { ">=", 7 }, { "<<", 8 },
		{ ">>", 8 }, { "+", 9 },  { "-", 9 },  { "*", 10 }, { "/", 10 }, { "%", 10 },
	};

	if (p->tok.kind != PF_TOK_OP || p->tok.len > 3)
		return 0;
	memcpy(op, p->tok.text, p->tok.len);
	op[p->tok.len] = 0;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(table[i].op, op))
			return table[i].binding;
	return 0;
}

/* Parses operators that bind at least as tightly as `least`. */
static struct pf_node *parse_binary(struct pf_parser *p, unsigned least)
{
	struct pf_node *n = parse_unary(p);
	unsigned tight, chain = 0;
	char op[4];

	while (n && (tight = parse_binding(p, op)) >= least && tight) {
		struct pf_node *right;
		char kept[4];

		if (++chain > PF_MAX_DEPTH)
			return pf_refuse(p, "too many operators in a row"), NULL;
		memcpy(kept, op, sizeof(kept));
		pf_next(p);
		right = parse_binary(p, tight + 1);
		n = parse_op_node(p, kept, n, right);
	}
	return n;
}

static struct pf_node *parse_conditional(struct pf_parser *p)
{
	struct pf_node *n = parse_binary(p, 1), *yes, *no, *pair;

	if (!n || !pf_is(p, PF_TOK_OP, "?"))
		return n;
	pf_next(p);
	if (pf_is(p, PF_TOK_OP, ":")) /* `a ?: b` */
		yes = n;
	else
		yes = parse_expression(p);
	if (!yes || !parse_expect(p, PF_TOK_OP, ":"))
		return NULL;
	no = parse_expression(p);
	pair = parse_op_node(p, ":", yes, no);
	return parse_op_node(p, "?", n, pair);
}

static struct pf_node *parse_expression(struct pf_parser *p)
{
	struct pf_node *n;

	if (p->depth >= PF_MAX_DEPTH)
		return pf_refuse(p, "nested too deeply"), NULL;
	p->depth++;
	n = parse_conditional(p);
	p->depth--;
	return n;
}

/* The token is the comma after the format string. */
bool pf_parse_c(struct pf_parser *p, struct pf_node **ret)
{
	while (pf_is(p, PF_TOK_DELIM, ",")) {
		struct pf_node *n;

		pf_next(p);
		if (p->tok.kind == PF_TOK_END)
			return true;
		n = parse_expression(p);
		if (!n)
			return false;
		if (n->next || *ret == n) /* arguments must not share a node */
			return pf_refuse(p, "bad argument");
		*ret = n;
		ret = &n->next;
	}
	if (p->tok.kind != PF_TOK_END)
		return parse_refuse_token(p, ",");
	return true;
}
