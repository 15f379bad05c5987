/* SPDX-License-Identifier: MIT */
/*
 * The widths of columns that show fields of varying length. perf makes such a column as wide as the
 * longest field that it read while it compared two rows: that of the row that was in its tree
 * already when samples and rows are merged, that of the other row when rows are sorted.
 *
 *	if (field_widths_are_measured(p))
 *		TRY(field_widths_of_merging(p, rows, nr));
 *	...
 *	field_widths_note(p, row, column);	for each comparison when rows are sorted
 */
#ifndef SONDE_PROFILE_FIELD_WIDTHS_H
#define SONDE_PROFILE_FIELD_WIDTHS_H

#include "profile/types.h"

bool field_widths_are_measured(const struct profile *p);
/* The row's field of this column was compared. */
void field_widths_note(struct profile *p, uint32_t row, uint32_t column);
/* Repeats perf's comparisons of rows, which are in the order of their first samples. -ENOMEM */
int field_widths_of_merging(struct profile *p, const uint32_t *rows, uint32_t nr);

#endif
