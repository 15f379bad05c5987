/* SPDX-License-Identifier: MIT */
/*
 * The text of an expression becomes tests.
 *
 *	or    = and { "||" and }
 *	and   = unary { "&&" unary }
 *	unary = "!" unary | "(" or ")" | test
 *	test  = NAME operator value
 *	value = NUMBER | "STRING" | 'STRING' | CPUS{LIST}
 *
 * Negation is handed down (not (a and b) = not a or not b), so the nodes are only and, or, test.
 * The tests are in the order of the text, and a node begins with its first test.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "filters/where/where.h"

enum parse_kind { PARSE_TEST, PARSE_AND, PARSE_OR };

struct parse_node {
	enum parse_kind kind;
	uint16_t left, right; /* nodes */
	uint16_t first;       /* the first test below this node */
};

struct parser {
	const char *text;
	size_t at;
	unsigned depth;
	struct where w; /* being made */
	struct parse_node nodes[2 * WHERE_MAX_TESTS];
	unsigned nr_nodes;
};

/* ---- errors ---------------------------------------------------------------------------------- */

enum { SHOWN_AT_MOST = 40 };

int where_fail(const char *text, size_t at, const char *fmt, ...)
{
	const size_t len = strlen(text);
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	if (at >= len)
		return err_set(-EINVAL, "where: %s, at the end of '%s%s'", message,
			       len > SHOWN_AT_MOST ? "..." : "",
			       text + (len > SHOWN_AT_MOST ? len - SHOWN_AT_MOST : 0));
	return err_set(-EINVAL, "where: %s, at character %zu: '%.*s%s'", message, at + 1,
		       SHOWN_AT_MOST, text + at, len - at > SHOWN_AT_MOST ? "..." : "");
}

/* ---- characters ------------------------------------------------------------------------------ */

/* isspace() and isalnum() of the C locale: the library must not depend on the user's. */
static bool parse_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool parse_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool parse_is_word(char c)
{
	return parse_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void parse_skip_blanks(struct parser *p)
{
	while (parse_is_blank(p->text[p->at]))
		p->at++;
}

static bool parse_take(struct parser *p, const char *token)
{
	const size_t len = strlen(token);

	parse_skip_blanks(p);
	if (strncmp(p->text + p->at, token, len) != 0)
		return false;
	p->at += len;
	return true;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static int parse_fail(const struct parser *p, const char *message)
{
	return where_fail(p->text, p->at, "%s", message);
}

/* A name, with the members of nested structs: outer.inner. */
static int parse_name(struct parser *p, struct where_test *t)
{
	static const char *const suffixes[] = { ".ustring", ".function" };
	const char *const name = p->text + p->at;
	size_t len = 0;

	while (parse_is_word(name[len]) ||
	       (len && name[len] == '.' && parse_is_word(name[len + 1])))
		len++;
	if (!len)
		return parse_fail(p, "the name of a field is expected");
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const size_t n = strlen(suffixes[i]);

		if (len > n && !memcmp(name + len - n, suffixes[i], n))
			return where_fail(p->text, p->at + len - n,
					  "%s is possible only while recording (--filter)",
					  suffixes[i]);
	}
	t->name_at = p->at;
	t->name = arena_strndup(&p->w.arena, name, len);
	p->at += len;
	return t->name ? 0 : err_nomem();
}

static int parse_op(struct parser *p, struct where_test *t)
{
	static const struct {
		const char *text;
		enum where_op op;
	} ops[] = {
		/* the longer ones first */
		{ "==", WHERE_EQ }, { "!=", WHERE_NE }, { "<=", WHERE_LE }, { ">=", WHERE_GE },
		{ "<", WHERE_LT },  { ">", WHERE_GT },  { "&", WHERE_AND }, { "~", WHERE_GLOB },
	};

	parse_skip_blanks(p);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		const char *const rest = p->text + p->at;

		if (ops[i].op == WHERE_AND && rest[0] == '&' && rest[1] == '&')
			continue;
		if (parse_take(p, ops[i].text)) {
			t->op = ops[i].op;
			return 0;
		}
	}
	return parse_fail(p, "an operator is expected (== != < <= > >= & ~)");
}

/* Numbers as in C: decimal, 0x hexadecimal, 0 octal. */
static bool parse_digits(const char *text, size_t len, uint64_t *ret)
{
	unsigned base = 10;
	uint64_t v = 0;

	if (len > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		base = 16;
		text += 2;
		len -= 2;
	} else if (len > 1 && text[0] == '0') {
		base = 8;
		text++;
		len--;
	}
	for (size_t i = 0; i < len; i++) {
		const char c = text[i];
		unsigned digit =
			parse_is_digit(c) ? (unsigned)(c - '0') : ((unsigned)c | 0x20) - 'a' + 10;

		if (digit >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*ret = v;
	return len > 0;
}

static int parse_number(struct parser *p, struct where_test *t)
{
	const char *const text = p->text + p->at;
	const bool is_negative = *text == '-';
	size_t len = is_negative;
	uint64_t v;

	while (parse_is_word(text[len]))
		len++;
	if (len > WHERE_MAX_DIGITS || !parse_digits(text + is_negative, len - is_negative, &v) ||
	    (is_negative && v > (uint64_t)INT64_MAX + 1))
		return parse_fail(p, "this is not a number of 64 bits (10, -10, 0x1f, 017)");
	if (t->op == WHERE_GLOB)
		return where_fail(p->text, p->at,
				  "~ compares strings; numbers have == != < <= > >= &");
	t->value = WHERE_NUMBER;
	t->is_negative = is_negative;
	t->number = is_negative ? -v : v;
	p->at += len;
	return 0;
}

static int parse_string(struct parser *p, struct where_test *t)
{
	const char *text = p->text + p->at + 1;
	const char *const end = strchr(text, text[-1]);
	size_t len;

	if (!end)
		return parse_fail(p, "the closing quote of this string is missing");
	len = (size_t)(end - text);
	if (t->op != WHERE_EQ && t->op != WHERE_NE && t->op != WHERE_GLOB)
		return parse_fail(p, "strings have only the operators == != ~");
	if (len > WHERE_MAX_STRING)
		return where_fail(p->text, p->at, "a string has at most %d characters",
				  WHERE_MAX_STRING);
	t->value = WHERE_STRING;
	p->at += len + 2;
	if (t->op == WHERE_GLOB && len && *text == '!') {
		t->is_inverted ^= true;
		text++;
		len--;
	}
	t->string = arena_strndup(&p->w.arena, text, len);
	t->len = len;
	return t->string ? 0 : err_nomem();
}

static int parse_cpus(struct parser *p, struct where_test *t)
{
	const size_t begin = p->at;
	const char *text = p->text + begin + strlen("CPUS{");
	const char *const end = strchr(text, '}');
	const char *last = end;
	char *list;
	int r;

	if (!end)
		return parse_fail(p, "the closing brace of CPUS{ is missing");
	if (t->op != WHERE_EQ && t->op != WHERE_NE && t->op != WHERE_AND)
		return parse_fail(p, "CPUS{} has only the operators == != &");
	while (parse_is_blank(*text))
		text++;
	while (last > text && parse_is_blank(last[-1]))
		last--;
	list = arena_strndup(&p->w.arena, text, (size_t)(last - text));
	if (!list)
		return err_nomem();
	r = cpu_list_parse(list, &t->cpus);
	if (r == -EINVAL)
		return where_fail(p->text, begin,
				  "CPUS{} takes numbers up to %d and ranges, as CPUS{0,2-3}",
				  CPU_LIST_MAX - 1);
	if (r < 0)
		return r;
	t->value = WHERE_CPUS;
	p->at = (size_t)(end - p->text) + 1;
	return 0;
}

static int parse_value(struct parser *p, struct where_test *t)
{
	const char *text;

	parse_skip_blanks(p);
	text = p->text + p->at;
	t->value_at = p->at;
	if (*text == '"' || *text == '\'')
		return parse_string(p, t);
	if (parse_is_digit(*text) || *text == '-')
		return parse_number(p, t);
	if (!strncmp(text, "CPUS{", strlen("CPUS{")))
		return parse_cpus(p, t);
	return parse_fail(p, parse_is_word(*text) ? "a number, or a string in quotes, is expected"
						  : "a value is expected");
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint16_t parse_add_node(struct parser *p, struct parse_node n)
{
	/* A test has a node, and so has each pair: fewer than two for each test. */
	p->nodes[p->nr_nodes] = n;
	return (uint16_t)p->nr_nodes++;
}

static int parse_test(struct parser *p, bool is_inverted, uint16_t *ret)
{
	struct where_test t = { .is_inverted = is_inverted };
	const uint16_t nr = (uint16_t)p->w.tests.n;

	if (nr == WHERE_MAX_TESTS)
		return where_fail(p->text, p->at, "an expression has at most %d comparisons",
				  WHERE_MAX_TESTS);
	TRY(parse_name(p, &t));
	TRY(parse_op(p, &t));
	TRY(parse_value(p, &t));
	if (vec_push(&p->w.tests, t) < 0) {
		cpu_list_done(&t.cpus);
		return -ENOMEM;
	}
	*ret = parse_add_node(p, (struct parse_node){ .kind = PARSE_TEST, .first = nr });
	return 0;
}

static int parse_or(struct parser *p, bool is_inverted, uint16_t *ret);

static int parse_unary(struct parser *p, bool is_inverted, uint16_t *ret)
{
	const char *rest;
	int r;

	parse_skip_blanks(p);
	rest = p->text + p->at;
	if (*rest != '(' && *rest != '!')
		return parse_test(p, is_inverted, ret);
	if (p->depth == WHERE_MAX_DEPTH)
		return where_fail(p->text, p->at, "brackets and ! are possible up to a depth of %d",
				  WHERE_MAX_DEPTH);
	p->depth++;
	if (*rest == '!') {
		p->at++;
		r = parse_unary(p, !is_inverted, ret);
	} else {
		const size_t open_at = p->at++;

		r = parse_or(p, is_inverted, ret);
		if (r >= 0 && !parse_take(p, ")")) {
			r = p->text[p->at] ? parse_fail(p, "&&, || or ) is expected")
					   : where_fail(p->text, open_at,
							"the closing bracket is missing");
		}
	}
	p->depth--;
	return r;
}

static int parse_and(struct parser *p, bool is_inverted, uint16_t *ret)
{
	uint16_t right;

	TRY(parse_unary(p, is_inverted, ret));
	while (parse_take(p, "&&")) {
		TRY(parse_unary(p, is_inverted, &right));
		*ret = parse_add_node(p, (struct parse_node){
						 .kind = is_inverted ? PARSE_OR : PARSE_AND,
						 .left = *ret,
						 .right = right,
						 .first = p->nodes[*ret].first,
					 });
	}
	return 0;
}

static int parse_or(struct parser *p, bool is_inverted, uint16_t *ret)
{
	uint16_t right;

	TRY(parse_and(p, is_inverted, ret));
	while (parse_take(p, "||")) {
		TRY(parse_and(p, is_inverted, &right));
		*ret = parse_add_node(p, (struct parse_node){
						 .kind = is_inverted ? PARSE_AND : PARSE_OR,
						 .left = *ret,
						 .right = right,
						 .first = p->nodes[*ret].first,
					 });
	}
	return 0;
}

/*
 * Sets the jumps of the tests below a node. The depth of nodes is bounded by the number of tests.
 */
static void parse_link(struct parser *p, uint16_t node, uint16_t on_true, uint16_t on_false)
{
	const struct parse_node *n = &p->nodes[node];

	if (n->kind == PARSE_TEST) {
		p->w.tests.v[n->first].on_true = on_true;
		p->w.tests.v[n->first].on_false = on_false;
		return;
	}
	if (n->kind == PARSE_AND)
		parse_link(p, n->left, p->nodes[n->right].first, on_false);
	else
		parse_link(p, n->left, on_true, p->nodes[n->right].first);
	parse_link(p, n->right, on_true, on_false);
}

/* ---- an expression --------------------------------------------------------------------------- */

/* True if the value may come from the state of the machine: where_bind() has these names. */
static bool parse_needs_state(const struct where_test *t)
{
	static const char *const names[] = { "comm", "COMM", "pid", "tid" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(t->name, names[i]))
			return true;
	return false;
}

static int parse_all(struct parser *p)
{
	uint16_t root = 0;

	if (strlen(p->text) > WHERE_MAX_TEXT)
		return where_fail(p->text, WHERE_MAX_TEXT,
				  "an expression has at most %d characters", WHERE_MAX_TEXT);
	p->w.text = arena_strdup(&p->w.arena, p->text);
	if (!p->w.text)
		return err_nomem();
	TRY(parse_or(p, false, &root));
	parse_skip_blanks(p);
	if (p->text[p->at] == ')')
		return parse_fail(p, "this bracket was not opened");
	if (p->text[p->at])
		return parse_fail(p, "&& or || is expected");
	parse_link(p, root, WHERE_PASS, WHERE_REFUSE);
	vec_foreach(t, &p->w.tests)
		p->w.needs_state |= parse_needs_state(t);
	return 0;
}

int where_parse(const char *text, struct where *ret)
{
	struct parser *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return err_nomem();
	p->text = text;
	r = parse_all(p);
	if (r < 0)
		where_done(&p->w);
	else
		*ret = p->w;
	free(p);
	return r;
}

void where_done(struct where *w)
{
	vec_foreach(t, &w->tests)
		cpu_list_done(&t->cpus);
	vec_done(&w->tests);
	arena_done(&w->arena);
	*w = (struct where){ 0 };
}
