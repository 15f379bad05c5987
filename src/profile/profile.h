/* SPDX-License-Identifier: MIT */
/*
 * The life of a profile:
 *
 *	profile_new(&p, text, origin)	then collect_add() for each event (collect.h),
 *	profile_finish(p)		then rows (rows.h), orders (sort.h), trees (tree.h)
 */
#ifndef SONDE_PROFILE_PROFILE_H
#define SONDE_PROFILE_PROFILE_H

#include "profile/types.h"

int profile_new(struct profile **ret, const char *text, const char *origin);
void profile_free(struct profile *p); /* NULL is fine */
/* See sonde_profile_finish(). */
int profile_finish(struct profile *p);

#endif
