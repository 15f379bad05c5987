/* SPDX-License-Identifier: MIT */
/* The table of keys, and the columns of one profile. */
#ifndef SONDE_PROFILE_COLUMNS_H
#define SONDE_PROFILE_COLUMNS_H

#include "profile/types.h"

extern const struct key_def key_defs[];
extern const size_t nr_key_defs;

/* Makes the columns if all words of keys= are in the table of keys. */
int columns_check(struct profile *p);
/* The first word of a list: up to a comma that is not in brackets, as those of pair(A,B).ns are. */
size_t columns_word_length(const char *text);
/*
 * Makes the columns. A word that is not a key is a field of the tracepoints in `schemas`, which may
 * be NULL. -EINVAL if a word is neither.
 */
struct schema_table;
int columns_bind(struct profile *p, const struct schema_table *schemas);
/* Makes the columns of another profile, whose fields have been looked up. */
int columns_copy(struct profile *p, const struct profile *from);
void columns_done(struct profile *p);
/* The value of a cell, after ranks_make(). */
const struct profile_value *column_value(const struct profile *p, const struct profile_column *c,
					 uint32_t cell);
/* The least width that perf gives the column. */
uint32_t column_width(const struct profile *p, const struct profile_column *c);
/* True if perf merges rows once more before it sorts them. */
bool columns_are_merged_twice(const struct profile *p);
/* True if perf makes the column's texts when it compares them. */
bool column_is_made_late(const struct profile_column *c);
/* True if the row has no text of a branch's line, with perf's rule. */
bool row_column_is_unmade(const struct profile *p, const struct profile_column *c, uint32_t row);
/* struct sonde_profile_value.width of a row. */
uint32_t row_column_width(const struct profile *p, const struct profile_column *c, uint32_t row,
			  const struct profile_value *v);
/* The only table that has the column; UINT32_MAX if all tables have it. */
uint32_t column_table(const struct profile *p, const struct profile_column *c);

#endif
