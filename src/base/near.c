/* SPDX-License-Identifier: MIT */
#include "base/near.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

unsigned near_distance(const char *a, const char *b)
{
	/* Three rows of the usual table; swaps need the row before the last one. */
	unsigned rows[3][NEAR_NAME + 1], *before2 = rows[0], *before = rows[1], *now = rows[2];
	size_t la = strlen(a), lb = strlen(b);

	if (la > NEAR_NAME || lb > NEAR_NAME)
		return UINT_MAX;
	for (size_t j = 0; j <= lb; j++)
		before[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *t = before2;

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = before[j - 1] + (a[i - 1] != b[j - 1]);

			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before2[j - 2] + 1 < best)
				best = before2[j - 2] + 1;
			now[j] = best;
		}
		before2 = before;
		before = now;
		now = t;
	}
	return before[lb];
}

unsigned near_apart(const char *wanted, const char *candidate)
{
	const char *colon = strchr(candidate, ':');
	unsigned apart = near_distance(wanted, candidate), tail;

	if (!colon || strchr(wanted, ':'))
		return apart;
	tail = near_distance(wanted, colon + 1);
	return tail < UINT_MAX && tail + 1 < apart ? tail + 1 : apart;
}

bool near_is_meant(const char *wanted, const char *candidate, unsigned apart)
{
	const size_t len = strlen(wanted);

	/*
	 * one edit in three letters, two in five, four in nine; "chk" leaves out two letters of
	 * "check"
	 */
	if (len <= 3 && apart > 1 && strlen(candidate) != len + apart)
		return false;
	return apart <= len / 3 + 1;
}

void near_init(struct near *n, const char *wanted)
{
	*n = (struct near){ .wanted = wanted };
}

void near_init_part(struct near *n, const char *wanted, size_t len)
{
	near_init(n, n->word);
	memcpy(n->word, wanted, len < NEAR_NAME ? len : NEAR_NAME);
}

void near_offer(struct near *n, const char *candidate)
{
	unsigned d = near_apart(n->wanted, candidate);
	size_t at;

	if (!near_is_meant(n->wanted, candidate, d))
		return;
	for (size_t i = 0; i < n->n; i++)
		if (!strcmp(n->name[i], candidate))
			return;
	for (at = n->n; at > 0 && n->distance[at - 1] > d; at--)
		;
	if (at == NEAR_BEST)
		return;
	if (n->n < NEAR_BEST)
		n->n++;
	for (size_t i = n->n - 1; i > at; i--) {
		n->distance[i] = n->distance[i - 1];
		memcpy(n->name[i], n->name[i - 1], sizeof(n->name[i]));
	}
	n->distance[at] = d;
	snprintf(n->name[at], sizeof(n->name[at]), "%s", candidate);
}

void near_text(const struct near *n, char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	for (size_t i = 0; i < n->n && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s",
					i == 0          ? "; did you mean "
					: i + 1 == n->n ? " or "
							: ", ",
					n->name[i]);
	if (n->n && len < size)
		snprintf(buf + len, size - len, "?");
}
