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

static const char *skip_separators(const char *p)
{
	return p + strspn(p, " ,");
}

static const char *digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* Each returns what follows, or NULL. */
static const char *period(const char *p)
{
	static const char *const units[] = { "ms", "us", "ns", "i", "t" };
	const char *number = skip_separators(p), *end = digits(number);

	if (end == number)
		return p;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strncmp(end, units[i], strlen(units[i])))
			return end + strlen(units[i]);
	return *end ? NULL : end; /* nanoseconds, which only the end of the list may leave out */
}

static const char *size(const char *p)
{
	const char *number = skip_separators(p), *end = digits(number);
	unsigned long n = strtoul(number, NULL, 10);

	if (end == number)
		return p;
	return n && n <= SIZE_MOST ? end : NULL;
}

static const char *flags(const char *p)
{
	for (; *p == '+' || *p == '-'; p += 2)
		if (!((p[1] >= 'a' && p[1] <= 'z') || (p[1] >= 'A' && p[1] <= 'Z')))
			return NULL;
	return p;
}

static const char *item(const char *p, const struct rules *rules)
{
	switch (*p) {
	case 'i':
		return period(p + 1);
	case 'g':
	case 'G':
	case 'l':
	case 'L':
		return size(p + 1);
	case 's':
		return digits(p + 1) > p + 1 ? digits(p + 1) : NULL;
	case 'e':
	case 'd':
		return flags(p + 1);
	default:
		/* The last two came after perf 6.1. */
		return strchr("bxwpocrfmMtaqAZI ,", *p) ||
				       (strchr("yT", *p) && !rules->lacks_newer_itrace)
			       ? p + 1
			       : NULL;
	}
}

bool itrace_valid(const char *text, const struct rules *rules, size_t *ret_at)
{
	for (const char *p = text; *p;) {
		const char *next = item(p, rules);

		if (!next) {
			*ret_at = (size_t)(p - text);
			return false;
		}
		p = next;
	}
	return true;
}
