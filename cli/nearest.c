/* SPDX-License-Identifier: MIT */
#include "nearest.h"

#include <string.h>

#define WORD_MAX 48 /* longer words are compared by their beginning */

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edits that turn a into b: insert, delete, replace, swap of neighbours. */
static size_t word_distance(const char *a, const char *b)
{
	size_t la = strnlen(a, WORD_MAX), lb = strnlen(b, WORD_MAX);
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= lb; j++)
		last[j] = j;
	for (size_t i = 1; i <= la; i++) {
		now[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			now[j] = min3(last[j] + 1, now[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
		size_t *free_row = before;

		before = last;
		last = now;
		now = free_row;
	}
	return last[lb];
}

void nearest_init(struct nearest *n, const char *typed)
{
	*n = (struct nearest){ .typed = typed };
	/* A word with more than a third of its letters wrong is another word. */
	n->distance = strlen(typed) / 3 + 2;
}

void nearest_offer(struct nearest *n, const char *word)
{
	size_t d = word_distance(n->typed, word);

	if (d < n->distance) {
		n->distance = d;
		n->found = word;
	}
}
