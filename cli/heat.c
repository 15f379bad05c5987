/* SPDX-License-Identifier: MIT */
#include "heat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
enum { OFFSET_ROWS = 100, FIRST_COLUMN_NS = 1000000 };

int heat_init(struct heat *h, enum heat_mode mode)
{
	*h = (struct heat){ .mode = mode, .cells = calloc(HEAT_COLUMNS, sizeof(*h->cells)) };
	return h->cells ? 0 : -ENOMEM;
}

void heat_done(struct heat *h)
{
	free(h->cells);
}

/* Merges each two columns into one. */
static void heat_widen(struct heat *h)
{
	for (uint32_t c = 0; c < HEAT_COLUMNS; c++) {
		uint64_t *to = h->cells[c / 2], *from = h->cells[c];

		for (uint32_t row = 0; row < HEAT_ROWS; row++)
			to[row] = c % 2 ? to[row] + from[row] : from[row];
	}
	memset(h->cells[HEAT_COLUMNS / 2], 0, HEAT_COLUMNS / 2 * sizeof(*h->cells));
	h->column_ns *= 2;
}

static uint32_t heat_latency_row(uint64_t ns)
{
	const unsigned octave = ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
	const uint64_t quarter = octave >= 2 ? ns >> (octave - 2) : ns << (2 - octave);

	return octave * 4 + (uint32_t)(quarter & 3);
}

double heat_row_ns(const struct heat *h, uint32_t row)
{
	if (h->mode == HEAT_OFFSET)
		return (double)row * ((double)SECOND_NS / OFFSET_ROWS);
	return ldexp(4 + row % 4, (int)(row / 4) - 2);
}

void heat_add(struct heat *h, uint64_t time_ns, uint64_t latency_ns)
{
	const uint64_t first_ns = h->mode == HEAT_OFFSET ? SECOND_NS : FIRST_COLUMN_NS;
	uint64_t after;
	uint32_t row;

	if (!h->column_ns) {
		h->column_ns = first_ns;
		h->origin_ns = time_ns - time_ns % first_ns;
	}
	after = time_ns > h->origin_ns ? time_ns - h->origin_ns : 0;
	while (after / h->column_ns >= HEAT_COLUMNS)
		heat_widen(h);
	row = h->mode == HEAT_OFFSET ? (uint32_t)(time_ns % SECOND_NS / (SECOND_NS / OFFSET_ROWS))
				     : heat_latency_row(latency_ns);
	h->cells[after / h->column_ns][row]++;
	h->count++;
}
