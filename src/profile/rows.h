/* SPDX-License-Identifier: MIT */
/* Rows: cells whose values are equal, and the counts that children= adds to them. */
#ifndef SONDE_PROFILE_ROWS_H
#define SONDE_PROFILE_ROWS_H

#include "profile/types.h"

int rows_make(struct profile *p);
/* Makes profile.meetings: which cells are in a row, its own first. */
int rows_find_meetings(struct profile *p);

#endif
