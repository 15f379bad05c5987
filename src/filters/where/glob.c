/* SPDX-License-Identifier: MIT */
#include "filters/where/where.h"

/* The pattern's next element, and whether it matches a character. */
struct glob_step {
	const char *next;
	bool is_match;
};

/* p is behind a '['. next is NULL if the ']' is missing. A first ']' is a member. */
static struct glob_step glob_class(const char *p, const char *end, unsigned char c)
{
	const bool is_inverted = p < end && *p == '!';
	bool has_member = false;
	const char *first;

	p += is_inverted;
	for (first = p; p < end && (*p != ']' || p == first);) {
		unsigned char from = (unsigned char)*p++, to = from;

		if (end - p >= 2 && *p == '-' && p[1] != ']') {
			to = (unsigned char)p[1];
			p += 2;
		}
		has_member |= from <= c && c <= to;
	}
	if (p >= end)
		return (struct glob_step){ NULL, false };
	return (struct glob_step){ p + 1, has_member != is_inverted };
}

/* One element of a pattern that is not a '*'. */
static struct glob_step glob_step(const char *p, const char *end, unsigned char c)
{
	if (*p == '?')
		return (struct glob_step){ p + 1, true };
	if (*p == '[') {
		const struct glob_step s = glob_class(p + 1, end, c);

		if (s.next)
			return s;
	}
	if (*p == '\\' && end - p >= 2)
		p++;
	return (struct glob_step){ p + 1, (unsigned char)*p == c };
}

/* After a mismatch only the last '*' is extended: at most pattern_len * len steps. */
bool where_glob(const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	const char *p = pattern, *const p_end = pattern + pattern_len;
	const char *t = text, *const t_end = text + len;
	const char *p_again = NULL, *t_again = NULL;

	for (;;) {
		struct glob_step s;

		if (p < p_end && *p == '*') {
			p_again = ++p;
			t_again = t;
			continue;
		}
		if (t == t_end)
			return p == p_end;
		s.is_match = false;
		if (p < p_end)
			s = glob_step(p, p_end, (unsigned char)*t);
		if (s.is_match) {
			p = s.next;
			t++;
		} else if (p_again) {
			p = p_again;
			t = ++t_again;
		} else {
			return false;
		}
	}
}
