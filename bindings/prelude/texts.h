/* SPDX-License-Identifier: MIT */
/* A list of texts, which it owns. */
#ifndef SONDE_PRELUDE_TEXTS_H
#define SONDE_PRELUDE_TEXTS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct texts {
	char **v;
	size_t n;
};

/* Adds a copy. Returns 0 or -ENOMEM. */
static inline int texts_add(struct texts *t, const char *text)
{
	char **bigger = realloc(t->v, (t->n + 1) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	t->v = bigger;
	bigger[t->n] = strdup(text);
	if (!bigger[t->n])
		return -ENOMEM;
	t->n++;
	return 0;
}

static inline bool texts_has(const struct texts *t, const char *text)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->v[i], text))
			return true;
	return false;
}

static inline void texts_done(struct texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i]);
	free(t->v);
	*t = (struct texts){ 0 };
}

#endif
