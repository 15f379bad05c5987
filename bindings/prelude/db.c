/* SPDX-License-Identifier: MIT */
#include "db.h"

int db_row(struct prelude_db *db, enum prelude_table table, const union prelude_cell *cells)
{
	const struct prelude_table_form *form = &prelude_tables[table];

	if (!db_wants(db, table))
		return 0;
	return db->opts.row(db->opts.ctx, table, cells,
			    db->rules->db_samples_without_ids ? form->nr_without_ids
							      : form->nr_columns);
}
