/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "formats/ctf/tsdl.h"

int tsdl_fail_at(const struct tsdl *p, unsigned line, unsigned column, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(-EBADMSG, "%s:%u:%u: %s", p->trace->path, line, column, text);
}

const char *tsdl_found(const struct tsdl *p, char room[80])
{
	switch (p->token.kind) {
	case TOKEN_END:
		return "the end of the text";
	case TOKEN_WORD:
		snprintf(room, 80, "'%.60s'", p->token.text);
		return room;
	case TOKEN_TEXT:
		return "a string";
	case TOKEN_NUMBER:
		return "a number";
	case TOKEN_ASSIGN:
		return "':='";
	case TOKEN_DOTS:
		return "'...'";
	case TOKEN_SIGN:
		break;
	}
	snprintf(room, 80, "'%c'", p->token.sign);
	return room;
}

static bool lexer_is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool lexer_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void lexer_newline(struct tsdl *p)
{
	p->line++;
	p->line_start = p->at;
}

static unsigned lexer_column(const struct tsdl *p, const char *at)
{
	return (unsigned)(at - p->line_start) + 1;
}

/* Passes blanks and comments. */
static int lexer_skip(struct tsdl *p)
{
	while (p->at < p->end) {
		const char c = *p->at;

		if (c == '\n') {
			p->at++;
			lexer_newline(p);
		} else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
			p->at++;
		} else if (c == '/' && p->end - p->at > 1 && p->at[1] == '/') {
			while (p->at < p->end && *p->at != '\n')
				p->at++;
		} else if (c == '/' && p->end - p->at > 1 && p->at[1] == '*') {
			const unsigned line = p->line, column = lexer_column(p, p->at);

			for (p->at += 2;; p->at++) {
				if (p->end - p->at < 2)
					return tsdl_fail_at(p, line, column,
							    "the comment has no end");
				if (p->at[0] == '*' && p->at[1] == '/')
					break;
				if (*p->at == '\n') {
					p->line++;
					p->line_start = p->at + 1;
				}
			}
			p->at += 2;
		} else {
			break;
		}
	}
	return 0;
}

static int lexer_digit_of(char c)
{
	if (lexer_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static int lexer_number(struct tsdl *p)
{
	unsigned base = 10;
	uint64_t v = 0;
	const char *start = p->at;

	if (*p->at == '0' && p->end - p->at > 1 && (p->at[1] == 'x' || p->at[1] == 'X')) {
		base = 16;
		p->at += 2;
	} else if (*p->at == '0' && p->end - p->at > 1 && (p->at[1] == 'b' || p->at[1] == 'B')) {
		base = 2;
		p->at += 2;
	} else if (*p->at == '0') {
		base = 8;
	}
	for (; p->at < p->end && lexer_digit_of(*p->at) < (int)base; p->at++) {
		const uint64_t digit = (uint64_t)lexer_digit_of(*p->at);

		if (v > (UINT64_MAX - digit) / base)
			return tsdl_fail(p, "the number has more than 64 bits");
		v = v * base + digit;
	}
	if (p->at == start || (base == 16 && p->at == start + 2))
		return tsdl_fail(p, "the number has no digits");
	while (p->at < p->end && memchr("uUlL", *p->at, 4))
		p->at++;
	if (p->at < p->end && (lexer_is_word_start(*p->at) || lexer_is_digit(*p->at)))
		return tsdl_fail(p, "'%c' is no digit of a number of base %u", *p->at, base);
	p->token.kind = TOKEN_NUMBER;
	p->token.number = v;
	return 0;
}

/* One escape after its backslash. */
static char lexer_escape(struct tsdl *p)
{
	static const char from[] = "abefnrtv", to[] = "\a\b\033\f\n\r\t\v";
	const char c = *p->at++;
	const char *found = memchr(from, c, sizeof(from) - 1);
	unsigned v = 0;

	if (c == 'x') {
		for (int i = 0; i < 2 && p->at < p->end && lexer_digit_of(*p->at) < 16; i++)
			v = v * 16 + (unsigned)lexer_digit_of(*p->at++);
		return (char)v;
	}
	if (c >= '0' && c <= '7') {
		v = (unsigned)(c - '0');
		for (int i = 0; i < 2 && p->at < p->end && lexer_digit_of(*p->at) < 8; i++)
			v = v * 8 + (unsigned)lexer_digit_of(*p->at++);
		return (char)v;
	}
	return found ? to[found - from] : c;
}

static int lexer_text(struct tsdl *p)
{
	const char *end = p->at + 1;
	char *to;

	while (end < p->end && *end != '"' && *end != '\n')
		end += *end == '\\' && p->end - end > 1 ? 2 : 1;
	if (end >= p->end || *end != '"')
		return tsdl_fail(p, "the string has no end in this line");
	to = arena_alloc(&p->trace->arena, (size_t)(end - p->at));
	if (!to)
		return err_nomem();
	p->token.kind = TOKEN_TEXT;
	p->token.text = to;
	for (p->at++; p->at < end;) {
		if (*p->at == '\\') {
			p->at++;
			*to++ = lexer_escape(p);
		} else {
			*to++ = *p->at++;
		}
	}
	*to = '\0';
	p->token.len = (size_t)(to - p->token.text);
	p->at = end + 1;
	return 0;
}

static int lexer_word(struct tsdl *p)
{
	const char *start = p->at;

	while (p->at < p->end && (lexer_is_word_start(*p->at) || lexer_is_digit(*p->at)))
		p->at++;
	p->token.kind = TOKEN_WORD;
	p->token.len = (size_t)(p->at - start);
	p->token.text = arena_strndup(&p->trace->arena, start, p->token.len);
	return p->token.text ? 0 : err_nomem();
}

int tsdl_advance(struct tsdl *p)
{
	size_t left;

	TRY(lexer_skip(p));
	p->token = (struct tsdl_token){ .line = p->line, .column = lexer_column(p, p->at) };
	if (p->at >= p->end)
		return 0;
	left = (size_t)(p->end - p->at);
	if (lexer_is_digit(*p->at))
		return lexer_number(p);
	if (*p->at == '"')
		return lexer_text(p);
	if (*p->at == 'L' && left > 1 && p->at[1] == '"') {
		p->at++;
		return lexer_text(p);
	}
	if (lexer_is_word_start(*p->at))
		return lexer_word(p);
	if (left >= 3 && !memcmp(p->at, "...", 3)) {
		p->token.kind = TOKEN_DOTS;
		p->at += 3;
		return 0;
	}
	if (left >= 2 && !memcmp(p->at, ":=", 2)) {
		p->token.kind = TOKEN_ASSIGN;
		p->at += 2;
		return 0;
	}
	if (!memchr("{}[]()<>;,.:=*+-", *p->at, 16))
		return *p->at >= ' ' && *p->at <= '~'
			       ? tsdl_fail(p, "'%c' has no meaning here", *p->at)
			       : tsdl_fail(p, "the byte 0x%02x is not allowed here",
					   (unsigned char)*p->at);
	p->token.kind = TOKEN_SIGN;
	p->token.sign = *p->at++;
	return 0;
}

bool tsdl_is_word(const struct tsdl *p, const char *word)
{
	return p->token.kind == TOKEN_WORD && !strcmp(p->token.text, word);
}

int tsdl_expect(struct tsdl *p, char sign)
{
	char room[80];

	if (!tsdl_is_sign(p, sign))
		return tsdl_fail(p, "expected '%c', found %s", sign, tsdl_found(p, room));
	return tsdl_advance(p);
}

int tsdl_take(struct tsdl *p, char sign)
{
	if (!tsdl_is_sign(p, sign))
		return 0;
	TRY(tsdl_advance(p));
	return 1;
}

int tsdl_take_word(struct tsdl *p, const char *word)
{
	if (!tsdl_is_word(p, word))
		return 0;
	TRY(tsdl_advance(p));
	return 1;
}
