/* SPDX-License-Identifier: MIT */
/*
 * A list of letters, separated by blanks or commas or not at all. A number or flags follow some of
 * them:
 *
 *	i[NUNIT]             a period; UNIT one of i t ms us ns
 *	g[N] G[N] l[N] L[N]  a size from 1 to 1024
 *	sN                   events to skip
 *	e[FLAGS] d[FLAGS]    each flag is + or - and a letter
 */
#include "session/itrace.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_MOST 1024

static const char *itrace_skip_separators(const char *p)
{
	return p + strspn(p, " ,");
}

static const char *itrace_digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* Each of these functions returns the rest of the text, or NULL on an error. */
static const char *itrace_period(const char *p)
{
	static const char *const units[] = { "ms", "us", "ns", "i", "t" };
	const char *number = itrace_skip_separators(p), *end = itrace_digits(number);

	if (end == number)
		return p;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strncmp(end, units[i], strlen(units[i])))
			return end + strlen(units[i]);
	return *end ? NULL : end; /* the unit is nanoseconds; only the last item may omit it */
}

static const char *itrace_size(const char *p)
{
	const char *number = itrace_skip_separators(p), *end = itrace_digits(number);
	unsigned long n = strtoul(number, NULL, 10);

	if (end == number)
		return p;
	return n && n <= SIZE_MOST ? end : NULL;
}

static const char *itrace_flags(const char *p)
{
	for (; *p == '+' || *p == '-'; p += 2)
		if (!((p[1] >= 'a' && p[1] <= 'z') || (p[1] >= 'A' && p[1] <= 'Z')))
			return NULL;
	return p;
}

static const char *itrace_item(const char *p, const struct rules *rules)
{
	switch (*p) {
	case 'i':
		return itrace_period(p + 1);
	case 'g':
	case 'G':
	case 'l':
	case 'L':
		return itrace_size(p + 1);
	case 's':
		return itrace_digits(p + 1) > p + 1 ? itrace_digits(p + 1) : NULL;
	case 'e':
	case 'd':
		return itrace_flags(p + 1);
	default:
		/* perf 6.1 does not have the last two. */
		return strchr("bxwpocrfmMtaqAZI ,", *p) ||
				       (strchr("yT", *p) && !rules->lacks_newer_itrace)
			       ? p + 1
			       : NULL;
	}
}

bool itrace_valid(const char *text, const struct rules *rules, size_t *ret_at)
{
	for (const char *p = text; *p;) {
		const char *next = itrace_item(p, rules);

		if (!next) {
			*ret_at = (size_t)(p - text);
			return false;
		}
		p = next;
	}
	return true;
}
