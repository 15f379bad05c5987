/* SPDX-License-Identifier: MIT */
/* The table of keys, and the columns of one profile. */
#ifndef SONDE_PROFILE_COLUMNS_H
#define SONDE_PROFILE_COLUMNS_H

#include "profile/types.h"

extern const struct key_def key_defs[];
extern const size_t nr_key_defs;

/* Parses keys=LIST. -EINVAL: unknown key. */
int columns_parse(struct profile *p, const char *text);
void columns_done(struct profile *p);
/* The value of a cell, after ranks_make(). */
const struct profile_value *column_value(const struct profile *p, const struct profile_column *c,
					 uint32_t cell);

#endif
