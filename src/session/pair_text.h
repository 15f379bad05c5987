/* SPDX-License-Identifier: MIT */
/* The lines of the key pair=, split into their words. */
#ifndef SONDE_SESSION_PAIR_TEXT_H
#define SONDE_SESSION_PAIR_TEXT_H

#include <stddef.h>

struct pair_text {
	char *text;     /* owned; the value of pair= */
	char *name;     /* owned; pair(...) */
	char *names[4]; /* owned; START, STOP, KEY, STOPKEY; the last two may be NULL */
};

/* A vec. */
struct pair_texts {
	struct pair_text *v; /* owned */
	size_t n, capacity;
};

/* lines: "pair=VALUE\n"..., or NULL. A value that is repeated counts once. -EINVAL, -E2BIG. */
int pair_texts_parse(const char *lines, struct pair_texts *ret);
/* The same, to check the lines only. */
int pair_texts_check(const char *lines);
void pair_text_done(struct pair_text *t);
void pair_texts_done(struct pair_texts *l);

#endif
