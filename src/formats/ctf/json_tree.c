/* SPDX-License-Identifier: MIT */
#include "formats/ctf/json_tree.h"

#include <string.h>

#include "base/err.h"

static void *tree_mistake(struct json_tree *t, const char *expected)
{
	if (!t->mistake)
		t->mistake = expected;
	return NULL;
}

static void tree_skip(struct json_tree *t)
{
	while (t->at < t->end &&
	       (*t->at == ' ' || *t->at == '\n' || *t->at == '\r' || *t->at == '\t'))
		t->at++;
}

static bool tree_take(struct json_tree *t, char c)
{
	tree_skip(t);
	if (t->at >= t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

/* Four hexadecimal digits; -1 if they are none. */
static int32_t tree_hex(struct json_tree *t)
{
	int32_t v = 0;

	if (t->end - t->at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		const char c = *t->at++;

		v = v << 4 | (c >= '0' && c <= '9'   ? c - '0'
			      : c >= 'a' && c <= 'f' ? c - 'a' + 10
			      : c >= 'A' && c <= 'F' ? c - 'A' + 10
						     : 0x10000);
	}
	return v > 0xffff ? -1 : v;
}

static char *tree_put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* After a backslash. NULL if it is no escape. */
static char *tree_escape(struct json_tree *t, char *to)
{
	static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
	const char c = t->at < t->end ? *t->at++ : '\0';
	const char *found = c ? memchr(from, c, sizeof(from) - 1) : NULL;
	int32_t unit, low;

	if (found) {
		*to++ = is[found - from];
		return to;
	}
	unit = c == 'u' ? tree_hex(t) : -1;
	if (unit <= 0) /* a NUL would end the name */
		return NULL;
	if (unit >= 0xd800 && unit < 0xdc00 && t->end - t->at >= 6 && t->at[0] == '\\' &&
	    t->at[1] == 'u') {
		t->at += 2;
		low = tree_hex(t);
		if (low < 0xdc00 || low > 0xdfff)
			return NULL;
		return tree_put_utf8(to, 0x10000u + (((uint32_t)unit - 0xd800) << 10) +
						 ((uint32_t)low - 0xdc00));
	}
	return tree_put_utf8(to, (uint32_t)unit);
}

static const char *tree_text(struct json_tree *t)
{
	const char *close = t->at;
	char *text, *to;

	while (close < t->end && *close != '"')
		close += *close == '\\' && t->end - close > 1 ? 2 : 1;
	if (close >= t->end)
		return tree_mistake(t, "the end of a string");
	text = to = arena_alloc(t->arena, (size_t)(close - t->at) + 1);
	if (!text) {
		err_nomem();
		return NULL;
	}
	while (t->at < close) {
		if (!*t->at)
			return tree_mistake(t, "a character");
		if (*t->at != '\\') {
			*to++ = *t->at++;
			continue;
		}
		t->at++;
		to = tree_escape(t, to);
		if (!to)
			return tree_mistake(t, "an escape");
	}
	*to = '\0';
	t->at = close + 1;
	return text;
}

static bool tree_number(struct json_tree *t, struct json_value *v)
{
	const char *start = t->at;
	uint64_t n = 0;
	bool is_large = false;

	v->kind = JSON_INTEGER;
	v->is_negative = *t->at == '-';
	t->at += v->is_negative;
	for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
		const uint64_t digit = (uint64_t)(*t->at - '0');

		is_large |= n > (UINT64_MAX - digit) / 10;
		n = n * 10 + digit;
	}
	if (t->at == start + v->is_negative)
		return false;
	if (t->at < t->end && (*t->at == '.' || *t->at == 'e' || *t->at == 'E')) {
		is_large = true;
		while (t->at < t->end && strchr("0123456789.eE+-", *t->at) && *t->at)
			t->at++;
	}
	if (is_large || (v->is_negative && n > (UINT64_C(1) << 63)))
		v->kind = JSON_REAL;
	v->number = v->is_negative ? -n : n;
	return true;
}

static bool tree_word(struct json_tree *t, const char *word)
{
	const size_t n = strlen(word);

	if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
		return false;
	t->at += n;
	return true;
}

static struct json_value *tree_children(struct json_tree *t, struct json_value *v, char close)
{
	struct json_value **to = &v->first;

	if (tree_take(t, close))
		return v;
	if (t->depth >= JSON_MOST_DEPTH)
		return tree_mistake(t, "at most 256 levels");
	t->depth++;
	do {
		const char *name = NULL;
		struct json_value *child;

		if (v->kind == JSON_OBJECT) {
			if (!tree_take(t, '"'))
				return tree_mistake(t, "the name of a member");
			name = tree_text(t);
			if (!name)
				return NULL;
			if (!tree_take(t, ':'))
				return tree_mistake(t, "':'");
		}
		child = json_tree_read(t);
		if (!child)
			return NULL;
		child->name = name;
		*to = child;
		to = &child->next;
		v->nr++;
	} while (tree_take(t, ','));
	t->depth--;
	return tree_take(t, close)
		       ? v
		       : tree_mistake(t, v->kind == JSON_OBJECT ? "',' or '}'" : "',' or ']'");
}

struct json_value *json_tree_read(struct json_tree *t)
{
	struct json_value *v;

	tree_skip(t);
	if (t->at >= t->end)
		return tree_mistake(t, "a value");
	if (t->nr_values++ >= JSON_MOST_VALUES)
		return tree_mistake(t, "at most 4194304 values");
	v = arena_alloc(t->arena, sizeof(*v));
	if (!v) {
		err_nomem();
		return NULL;
	}
	v->at = t->at;
	switch (*t->at) {
	case '{':
	case '[':
		v->kind = *t->at == '{' ? JSON_OBJECT : JSON_ARRAY;
		t->at++;
		return tree_children(t, v, v->kind == JSON_OBJECT ? '}' : ']');
	case '"':
		t->at++;
		v->kind = JSON_TEXT;
		v->text = tree_text(t);
		return v->text ? v : NULL;
	case 't':
	case 'f':
		v->kind = JSON_BOOL;
		v->is_true = *t->at == 't';
		return tree_word(t, v->is_true ? "true" : "false") ? v : tree_mistake(t, "a value");
	case 'n':
		return tree_word(t, "null") ? v : tree_mistake(t, "a value");
	}
	return tree_number(t, v) ? v : tree_mistake(t, "a value");
}

const struct json_value *json_member(const struct json_value *v, const char *name)
{
	if (!v || v->kind != JSON_OBJECT)
		return NULL;
	for (const struct json_value *m = v->first; m; m = m->next)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}
