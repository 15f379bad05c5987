/* SPDX-License-Identifier: MIT */
/* The call tree of a row. */
#ifndef SONDE_PROFILE_TREE_H
#define SONDE_PROFILE_TREE_H

#include "profile/types.h"

/* See sonde_profile_tree_above(). */
int tree_make(struct profile *p, uint32_t table, uint64_t row, uint64_t least, uint32_t *ret_root);
/* The places + 1 of a cell's path, the outermost caller first; borrowed until the next call. */
int tree_path_frames(struct profile *p, uint32_t cell, const uint32_t **ret, uint32_t *ret_nr);

#endif
