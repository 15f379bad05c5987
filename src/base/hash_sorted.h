/* SPDX-License-Identifier: MIT */
#ifndef SONDE_BASE_HASH_SORTED_H
#define SONDE_BASE_HASH_SORTED_H

#include "base/hash.h"

/* Copies the used slots in ascending order of their keys; free() releases them. -ENOMEM. */
int hash64_sorted(const struct hash64 *h, struct hash64_slot **ret, size_t *ret_nr);

#endif
