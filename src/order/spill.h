/* SPDX-License-Identifier: MIT */
/*
 * Runs that are too many to merge are sorted, piece by piece, into an unlinked temporary file. Each
 * piece becomes one run of index entries, whose records are then read from the input one by one.
 * One piece is in memory.
 */
#ifndef SONDE_ORDER_SPILL_H
#define SONDE_ORDER_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sources/source.h"

struct spill_entry {
	uint64_t time_ns, file_off;
	uint32_t len;
	uint32_t unit; /* number from spill_unit(); 0 if none */
	uint16_t file;
	uint16_t reserved[3];
};

enum { SPILL_UNITS = 512 };

struct spill {
	int fd; /* owned; -1 until the first piece is written */
	uint64_t entries_written;
	struct spill_entry *piece; /* owned */
	size_t nr, capacity;
	size_t piece_entries;
	int units_fd;       /* owned; -1 until units[] was full once */
	uint32_t nr_units;  /* in the file and in units[] */
	struct unit *units; /* owned; the last nr_units % SPILL_UNITS of them; NULL if none */
};

void spill_init(struct spill *s, size_t piece_entries); /* 0 = default */
void spill_done(struct spill *s);
bool spill_full(const struct spill *s);
int spill_add(struct spill *s, const struct spill_entry *e);
/* Keeps a unit of entries. *ret is its number, from 1 on; equal units in a row get the same one. */
int spill_unit(struct spill *s, const struct unit *unit, uint32_t *ret);
int spill_read_unit(const struct spill *s, uint32_t number, struct unit *ret);
/* Sorts and writes the piece, whose entries are then [*ret_begin..*ret_end) of the file. */
int spill_write(struct spill *s, uint64_t *ret_begin, uint64_t *ret_end);
/* Reads nr entries from index `from` on. */
int spill_read(const struct spill *s, uint64_t from, struct spill_entry *ret, size_t nr);

#endif
