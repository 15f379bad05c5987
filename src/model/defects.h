/* SPDX-License-Identifier: MIT */
/* Counts the defects of an input. defects.def lists their kinds. */
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
	uint64_t changes; /* number of changes of counts */
	/* The place of a kind's first defect, "" if it has none; "..." ends a truncated text. */
	char first[NR_DEFECTS][DEFECT_FIRST_BYTES];
};

/* Adds n to a kind. fmt (may be NULL) is the place; only the place of the first is kept. */
void defects_add(struct defects *d, enum defect kind, uint64_t n, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Changes the count of a kind by to - from, because `from` was counted and `to` is right. */
void defects_correct(struct defects *d, enum defect kind, uint64_t from, uint64_t to);
/* Adds the counts of `from` to those of `to`, and clears `from`. */
void defects_move(struct defects *to, struct defects *from);
void defects_clear(struct defects *d);
/* The i-th kind with a count; false after the last. */
bool defects_get(const struct defects *d, size_t i, struct sonde_defect *ret);
/*
 * Writes one line: for each kind its count, the place of its first defect, and its advice. Writes
 * nothing if there are no defects.
 */
void defects_line(const struct defects *d, struct outbuf *out);

#endif
