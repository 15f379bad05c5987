/* SPDX-License-Identifier: MIT */
#include "json_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NUMBER_MAX_BYTES = 64 };

static bool json_fail(struct json_reader *r, const char *expected)
{
	if (!r->mistake)
		r->mistake = expected;
	return false;
}

/* The next byte that is not blank; '\0' at the end. */
static char json_peek(struct json_reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
		r->at++;
	return r->at < r->end && !r->mistake ? *r->at : '\0';
}

static bool json_take(struct json_reader *r, char c)
{
	if (json_peek(r) != c)
		return false;
	r->at++;
	return true;
}

static bool json_take_word(struct json_reader *r, const char *word)
{
	const size_t len = strlen(word);

	json_peek(r);
	if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
		return false;
	r->at += len;
	return true;
}

bool json_enter(struct json_reader *r, char open)
{
	r->is_first = true;
	return json_take(r, open) || json_fail(r, open == '{' ? "an object" : "an array");
}

/* True if there is another value before the bracket that closes. */
static bool json_goes_on(struct json_reader *r, char close)
{
	const bool is_first = r->is_first;

	r->is_first = false;
	if (json_take(r, close))
		return false;
	return (is_first && json_peek(r)) || json_take(r, ',') ||
	       json_fail(r, "a comma, or the end of an object or array");
}

static void json_put_utf8(char *buf, size_t size, size_t *len, unsigned code)
{
	char bytes[4];
	size_t n = 0;

	if (code < 0x80) {
		bytes[n++] = (char)code;
	} else if (code < 0x800) {
		bytes[n++] = (char)(0xc0 | code >> 6);
		bytes[n++] = (char)(0x80 | (code & 0x3f));
	} else {
		bytes[n++] = (char)(0xe0 | code >> 12);
		bytes[n++] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (code & 0x3f));
	}
	for (size_t i = 0; i < n && *len + 1 < size; i++)
		buf[(*len)++] = bytes[i];
}

/* The character after a backslash. */
static bool json_unescape(struct json_reader *r, char *buf, size_t size, size_t *len)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char c = r->at < r->end ? *r->at++ : '\0';
	const char *found = c ? strchr(from, c) : NULL;
	char digits[5] = "";

	if (found) {
		json_put_utf8(buf, size, len, (unsigned char)to[found - from]);
		return true;
	}
	if (c != 'u' || r->end - r->at < 4)
		return json_fail(r, "an escaped character");
	memcpy(digits, r->at, 4);
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return json_fail(r, "four digits after \\u");
	json_put_utf8(buf, size, len, (unsigned)strtoul(digits, NULL, 16));
	r->at += 4;
	return true;
}

bool json_read_string(struct json_reader *r, char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	if (json_take_word(r, "null"))
		return true;
	if (!json_take(r, '"'))
		return json_fail(r, "a string");
	while (r->at < r->end && *r->at != '"') {
		const char c = *r->at++;

		if (c == '\\') {
			if (!json_unescape(r, buf, size, &len))
				return false;
		} else if (len + 1 < size) {
			buf[len++] = c;
		}
	}
	buf[len] = '\0';
	return json_take(r, '"') || json_fail(r, "the end of a string");
}

bool json_next_member(struct json_reader *r, char *key, size_t size)
{
	return json_goes_on(r, '}') && json_read_string(r, key, size) &&
	       (json_take(r, ':') || json_fail(r, "a colon"));
}

bool json_next_element(struct json_reader *r)
{
	return json_goes_on(r, ']');
}

bool json_read_number(struct json_reader *r, double *ret)
{
	char text[NUMBER_MAX_BYTES], *end;
	size_t n = 0;

	if (json_take_word(r, "null")) {
		*ret = NAN;
		return true;
	}
	json_peek(r);
	while (r->at + n < r->end && n + 1 < sizeof(text) && strchr("+-.0123456789eE", r->at[n]) &&
	       r->at[n])
		n++;
	memcpy(text, r->at, n);
	text[n] = '\0';
	*ret = strtod(text, &end);
	if (!n || *end)
		return json_fail(r, "a number");
	r->at += n;
	return true;
}

static bool json_skip_members(struct json_reader *r)
{
	char key[8];

	json_enter(r, '{');
	while (json_next_member(r, key, sizeof(key)))
		if (!json_skip(r))
			return false;
	return !r->mistake;
}

static bool json_skip_elements(struct json_reader *r)
{
	json_enter(r, '[');
	while (json_next_element(r))
		if (!json_skip(r))
			return false;
	return !r->mistake;
}

bool json_skip(struct json_reader *r)
{
	const char c = json_peek(r);
	char text[8];
	double number;
	bool ok;

	if (r->depth >= DEPTH_MAX)
		return json_fail(r, "fewer nested values");
	if (json_take_word(r, "true") || json_take_word(r, "false"))
		return true;
	r->depth++;
	ok = c == '{'   ? json_skip_members(r)
	     : c == '[' ? json_skip_elements(r)
	     : c == '"' ? json_read_string(r, text, sizeof(text))
			: json_read_number(r, &number);
	r->depth--;
	return ok;
}

bool json_end(struct json_reader *r)
{
	json_peek(r);
	return !r->mistake && (r->at == r->end || json_fail(r, "the end of the file"));
}
