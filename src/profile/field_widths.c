/* SPDX-License-Identifier: MIT */
#include "profile/field_widths.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "compat/rules.h"
#include "profile/columns.h"
#include "profile/treesort.h"

bool field_widths_are_measured(const struct profile *p)
{
	bool has_dynamic = false;

	for (size_t i = 0; i < p->columns.n; i++)
		has_dynamic |= p->columns.v[i].field && p->columns.v[i].field->is_dynamic;
	return p->rules->fields_by_text && has_dynamic && !p->merged;
}

void field_widths_note(struct profile *p, uint32_t row, uint32_t column)
{
	struct profile_column *c = &p->columns.v[column];
	const struct profile_value *v;

	if (!c->field || !c->field->is_dynamic)
		return;
	v = &c->values.v[c->by_id.v[wordset_key(&p->row_values, row)[1 + column]]];
	if (v->bytes_len > c->width)
		c->width = v->bytes_len;
}

/* Compares a row with one that is in the tree. */
static int field_widths_compare(const void *added, const void *there, void *ctx)
{
	struct profile *p = ctx;
	const uint32_t row = *(const uint32_t *)there;
	const uint64_t *x = wordset_key(&p->row_values, *(const uint32_t *)added),
		       *y = wordset_key(&p->row_values, row);

	for (uint32_t i = 0; i < p->columns.n; i++) {
		field_widths_note(p, row, i);
		if (x[1 + i] != y[1 + i])
			return x[1 + i] < y[1 + i] ? -1 : 1;
	}
	return 0;
}

static int field_widths_of_table(struct profile *p, uint32_t *rows, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		for (uint32_t k = 0; p->rows.v[rows[i]].all.samples > 1 && k < p->columns.n; k++)
			field_widths_note(p, rows[i], k);
	}
	TRY(treesort(rows, nr, field_widths_compare, p));
	return columns_are_merged_twice(p) ? treesort(rows, nr, field_widths_compare, p) : 0;
}

int field_widths_of_merging(struct profile *p, const uint32_t *rows, uint32_t nr)
{
	uint32_t *of_table = calloc(nr + 1, sizeof(*of_table));
	int r = of_table ? 0 : err_nomem();

	for (size_t t = 0; r >= 0 && t < p->tables.n; t++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < nr; i++) {
			if (wordset_key(&p->row_values, rows[i])[0] == t)
				of_table[n++] = rows[i];
		}
		r = field_widths_of_table(p, of_table, n);
	}
	free(of_table);
	return r;
}
