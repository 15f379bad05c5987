/* SPDX-License-Identifier: MIT */
/* Writes a table as CSV: RFC 4180 with lines that end in a line feed. docs/formats/tables.md */
#ifndef SONDE_CLI_TABLE_CSV_H
#define SONDE_CLI_TABLE_CSV_H

#include <sonde/sonde.h>

#include <stdio.h>

struct table_csv;

/* All return 0 or a negative errno, like those of arrow_ipc.h. */

/* schema is borrowed until table_csv_free(). Writes the line of names. */
int table_csv_new(struct table_csv **ret, const struct ArrowSchema *schema, FILE *out);
/* Writes the rows of a batch. */
int table_csv_batch(struct table_csv *w, const struct ArrowArray *batch, FILE *out);
void table_csv_free(struct table_csv *w); /* NULL is allowed */

#endif
