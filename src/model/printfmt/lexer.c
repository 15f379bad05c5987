/* SPDX-License-Identifier: MIT */
/* The tokens of a print format's text. */
#include "model/printfmt/printfmt_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_WORK 10000000u

static bool lexer_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool lexer_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

bool pf_refuse(struct pf_parser *p, const char *fmt, ...)
{
	va_list ap;

	if (!p->why[0]) {
		va_start(ap, fmt);
		vsnprintf(p->why, p->why_size, fmt, ap);
		va_end(ap);
	}
	return false;
}

static void *lexer_or_no_memory(struct pf_parser *p, void *mem)
{
	if (!mem) {
		p->no_memory = true;
		pf_refuse(p, "out of memory");
	}
	return mem;
}

char *pf_token_text(struct pf_parser *p)
{
	return lexer_or_no_memory(p, arena_strndup(p->arena, p->tok.text, p->tok.len));
}

char *pf_join(struct pf_parser *p, const char *s, const char *delim, const char *t)
{
	size_t n = strlen(s), d = strlen(delim), m = strlen(t);
	char *joined = lexer_or_no_memory(p, arena_alloc(p->arena, n + d + m + 1));

	if (joined) {
		memcpy(joined, s, n);
		memcpy(joined + n, delim, d);
		memcpy(joined + n + d, t, m);
	}
	return joined;
}

struct pf_node *pf_node_new(struct pf_parser *p, enum pf_kind kind)
{
	struct pf_node *n = lexer_or_no_memory(p, arena_alloc(p->arena, sizeof(*n)));

	if (n)
		n->kind = (uint8_t)kind;
	return n;
}

const struct sonde_field *pf_find_field(struct pf_parser *p, const char *name, bool event_only)
{
	const struct sonde_schema *sc = p->schema;
	size_t len = strlen(name);

	/* Limits fields times references. Only absurd texts reach the limit. */
	p->work += sc->nr_fields;
	if (p->work > MAX_WORK)
		return NULL;

	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];

		if (!(event_only && f->is_common) && !strncmp(f->name, name, len) && !f->name[len])
			return f;
	}
	return NULL;
}

bool pf_is(const struct pf_parser *p, enum pf_token_kind kind, const char *text)
{
	return p->tok.kind == kind && strlen(text) == p->tok.len &&
	       !memcmp(p->tok.text, text, p->tok.len);
}

/*
 * The end of the quoted text that begins at s: its quote or, if strict, an unprintable character.
 * NULL if it has no end.
 */
static const char *lexer_quote_end(const char *s, const char *end, char quote, bool strict)
{
	for (; s < end; s++) {
		if (*s == quote || (strict && *s != '\n' && (*s < ' ' || *s > '~')))
			return s;
		if (*s == '\\')
			s++;
	}
	return NULL;
}

static void lexer_quoted(struct pf_parser *p)
{
	char quote = *p->pos++;
	const char *start = p->pos, *stop, *piece;
	size_t len;
	bool strict = p->dialect->strict_strings;
	char *to;

	stop = lexer_quote_end(start, p->end, quote, strict);
	if (!stop) {
		p->tok = (struct pf_token){ PF_TOK_BAD, start, (size_t)(p->end - start) };
		p->pos = p->end;
		return;
	}
	p->tok = (struct pf_token){ quote == '"' ? PF_TOK_STRING : PF_TOK_CHAR, start,
				    (size_t)(stop - start) };
	p->pos = stop + 1;
	if (quote != '"' || *stop != '"')
		return;

	/* Joins adjacent strings: adds up their lengths, then copies them. */
	len = p->tok.len;
	piece = p->pos;
	for (;;) {
		while (piece < p->end && lexer_is_space(*piece))
			piece++;
		if (piece >= p->end || *piece != '"')
			break;
		stop = lexer_quote_end(piece + 1, p->end, '"', strict);
		if (!stop)
			break;
		len += (size_t)(stop - piece - 1);
		piece = stop + 1;
	}
	if (len == p->tok.len)
		return;
	to = lexer_or_no_memory(p, arena_alloc(p->arena, len + 1));
	if (!to) {
		p->tok.kind = PF_TOK_BAD;
		return;
	}
	memcpy(to, p->tok.text, p->tok.len);
	for (size_t at = p->tok.len; at < len;) {
		while (*p->pos != '"')
			p->pos++;
		stop = lexer_quote_end(p->pos + 1, p->end, '"', strict);
		memcpy(to + at, p->pos + 1, (size_t)(stop - p->pos - 1));
		at += (size_t)(stop - p->pos - 1);
		p->pos = stop + 1;
	}
	p->tok.text = to;
	p->tok.len = len;
}

/*
 * The length of the operator at s. Like in perf, "->" "++" "--" "&&" "||" "<<=" are one token.
 */
static size_t lexer_operator_len(const char *s, const char *end)
{
	char c = *s, d = s + 1 < end ? s[1] : 0;

	switch (c) {
	case '-':
		if (d == '>')
			return 2;
		return d == '-' || d == '=' ? 2 : 1;
	case '+':
	case '|':
	case '&':
		return d == c || d == '=' ? 2 : 1;
	case '<':
	case '>':
		if (d == c)
			return s + 2 < end && s[2] == '=' ? 3 : 2;
		return d == '=' ? 2 : 1;
	case '!':
	case '=':
		return d == '=' ? 2 : 1;
	}
	return 1;
}

/* Expands a name that old kernels did not expand. The lexer then reads its expansion. */
static bool lexer_expand_macro(struct pf_parser *p)
{
	static const struct {
		const char *name, *text;
	} macros[] = {
		{ "LOCAL_PR_FMT", "%s" },
		{ "STA_PR_FMT", " sta:%pM" },
		{ "VIF_PR_FMT", " vif:%p(%d)" },
	};

	for (size_t i = 0; i < sizeof(macros) / sizeof(*macros); i++) {
		if (pf_is(p, PF_TOK_ITEM, macros[i].name)) {
			p->tok = (struct pf_token){ PF_TOK_STRING, macros[i].text,
						    strlen(macros[i].text) };
			return true;
		}
	}
	return false;
}

void pf_next(struct pf_parser *p)
{
	while (p->pos < p->end && lexer_is_space(*p->pos))
		p->pos++;
	p->tok = (struct pf_token){ PF_TOK_END, p->pos, 0 };
	if (p->pos >= p->end || *p->pos < ' ' || *p->pos > '~')
		return;
	if (*p->pos == '"' || *p->pos == '\'') {
		lexer_quoted(p);
		return;
	}
	if (lexer_is_word(*p->pos)) {
		const char *start = p->pos;

		while (p->pos < p->end && lexer_is_word(*p->pos))
			p->pos++;
		p->tok = (struct pf_token){ PF_TOK_ITEM, start, (size_t)(p->pos - start) };
		lexer_expand_macro(p);
		return;
	}
	p->tok.len = lexer_operator_len(p->pos, p->end);
	p->tok.kind = *p->pos == '(' || *p->pos == ')' || *p->pos == ',' ? PF_TOK_DELIM : PF_TOK_OP;
	p->pos += p->tok.len;
}
