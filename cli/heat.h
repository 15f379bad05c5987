/* SPDX-License-Identifier: MIT */
/*
 * Counts by time and by a second value, for a heat map: columns of equal width in time,
 * rows of latency (four for each doubling) or of the offset in the second (10 ms each). When
 * time passes the last column, columns become twice as wide: memory is fixed.
 */
#ifndef SONDE_CLI_HEAT_H
#define SONDE_CLI_HEAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum heat_mode { HEAT_OFFSET, HEAT_LATENCY };
enum { HEAT_COLUMNS = 1024, HEAT_ROWS = 256 };

struct heat {
	enum heat_mode mode;
	uint64_t origin_ns; /* beginning of column 0 */
	uint64_t column_ns; /* 0 before the first value */
	uint64_t count;
	uint64_t (*cells)[HEAT_ROWS]; /* owned; HEAT_COLUMNS elements */
};

/* Returns 0 or -ENOMEM. */
int heat_init(struct heat *h, enum heat_mode mode);
void heat_done(struct heat *h);
/* Counts an event. latency_ns is not used for offsets. Times before column 0 are counted there. */
void heat_add(struct heat *h, uint64_t time_ns, uint64_t latency_ns);
/* The smallest value of a row, in ns. For HEAT_ROWS, the end of the last row. */
double heat_row_ns(const struct heat *h, uint32_t row);

struct heat_picture {
	const char *title;
	const char *event;
	const struct heat *heat;
};

/* For page_write(): ctx is a struct heat_picture. */
int heat_put_html(FILE *out, const void *ctx);
int heat_put_svg(FILE *out, const void *ctx);

#endif
