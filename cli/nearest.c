/* SPDX-License-Identifier: MIT */
#include "nearest.h"

#include <string.h>

#include "sonde/sonde.h"

void nearest_init(struct nearest *n, const char *typed)
{
	*n = (struct nearest){ .typed = typed };
	/* A word with more than a third of its letters wrong is another word. */
	n->distance = strlen(typed) / 3 + 2;
}

void nearest_offer(struct nearest *n, const char *word)
{
	size_t d = sonde_name_distance(n->typed, word);

	if (d < n->distance) {
		n->distance = d;
		n->found = word;
	}
}
