/* SPDX-License-Identifier: MIT */
/* Counting what is wrong with an input. The list of kinds is defects.def. */
#ifndef SONDE_MODEL_DEFECTS_H
#define SONDE_MODEL_DEFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "sonde/sonde.h"

enum defect {
#define DEFECT(id, name, severity, advice) DEFECT_##id,
#include "model/defects.def"
#undef DEFECT
	NR_DEFECTS
};

enum { DEFECT_FIRST_BYTES = 1024 };

struct defects {
	uint64_t count[NR_DEFECTS];
	uint64_t changes; /* how often a count was changed */
	/* where it was seen first, "" when that says nothing; what does not fit ends in "..." */
	char first[NR_DEFECTS][DEFECT_FIRST_BYTES];
};

/* Adds n to a kind; fmt (may be NULL) says where, kept for the first one only. */
void defects_add(struct defects *d, enum defect kind, uint64_t n, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* What was counted turned out to be something else: how often a kind was seen, anew. */
void defects_correct(struct defects *d, enum defect kind, uint64_t from, uint64_t to);
/* Adds what `from` counted, and empties it. */
void defects_move(struct defects *to, struct defects *from);
void defects_clear(struct defects *d);
/* The i-th kind that was seen; false behind the last. */
bool defects_get(const struct defects *d, size_t i, struct sonde_defect *ret);
/*
 * One line: for each kind its count, where it was seen first, and its advice; nothing when there
 * was none.
 */
void defects_line(const struct defects *d, struct outbuf *out);

#endif
