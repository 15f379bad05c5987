/* SPDX-License-Identifier: MIT */
/*
 * The table of `sonde report`: titles, rows and their widths. It prints texts and numbers without
 * knowing their meaning.
 */
#ifndef SONDE_CLI_REPORT_TABLE_H
#define SONDE_CLI_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The numbers of a row, for each event of its table. */
enum report_number {
	REPORT_OVERHEAD, /* period of the row's own samples */
	REPORT_CHILDREN, /* that period and the period of the samples below the row */
	REPORT_SYS,      /* periods by mode: kernel, user, guest kernel, guest user */
	REPORT_USER,
	REPORT_GUEST_SYS,
	REPORT_GUEST_USER,
	REPORT_SAMPLES,
	REPORT_PERIOD_SUM,
	REPORT_NUMBERS
};

struct report_column {
	const char *title;
	const char *name; /* name of the column's key, for programs */
	bool is_number;
	bool is_percent;    /* the number is printed as a percentage */
	bool is_missing;    /* the number is not known: N/A */
	bool is_right;      /* text and title are aligned on the right */
	bool pads_last;     /* text is padded to the width in the last column, too */
	bool is_cut;        /* text is truncated to the width */
	bool is_address;    /* text is a function's name, which is truncated, and an offset */
	unsigned int index; /* enum report_number, or of struct report_row.texts */
	unsigned int level; /* level of a hierarchy, from 0 on */
	unsigned int width;
	unsigned int fixed_width; /* given by the user; 0 if none */
};

/* The value of a key: ids are equal exactly for equal values; ranks are their order. */
struct report_value {
	uint32_t id, rank;
};

struct report_row {
	const uint64_t *numbers;  /* number n of member m is numbers[m * REPORT_NUMBERS + n] */
	const char *const *texts; /* by report_column.index */
	uint64_t id;              /* id of the profile's row */
	/*
	 * Only for a hierarchy: values by report_column.index, and the position in the order of
	 * merging.
	 */
	const struct report_value *values;
	uint64_t merged;
	uint32_t unknown; /* enum sonde_unknown: why the row's address has no symbol */
};

struct report_table {
	struct report_column *columns;
	size_t nr_columns;
	unsigned int nr_members; /* events of the table: 1, or more for a group */
	const uint64_t *totals;  /* by member: the number that is 100 % */
	const char *separator;   /* text between columns; NULL for two blanks and padding */
	bool no_titles;
	bool in_color;
	struct report_row *rows;
	size_t nr_rows;
	double min_percent; /* rows with a smaller percentage are not printed */
	/*
	 * Draws the call tree of a row; NULL if no trees are drawn. Returns 0, or a negative errno.
	 */
	int (*draw)(void *ctx, FILE *out, const struct report_row *row);
	void *draw_ctx;
};

/* Returns 0, or a negative errno of draw(). */
int report_table_print(FILE *out, const struct report_table *t);
/*
 * In report_hierarchy.c: prints the table as a tree, whose levels are the keys from left to right.
 * Rows need values.
 */
int report_hierarchy_print(FILE *out, const struct report_table *t);

/* The width of a column in the line of titles. */
unsigned int report_column_width(const struct report_table *t, const struct report_column *c);
/* Prints a cell and pads it, unless it is the last one of its line. */
void report_cell_print(FILE *out, const struct report_table *t, const struct report_column *c,
		       const struct report_row *row, bool is_last);
/* perf puts this after the names of inlined functions, and does not count it for widths. */
#define REPORT_INLINED " (inlined)"
size_t report_text_width(const char *text);
/* The bytes of a text that are printed: as many as its column is wide, if it is truncated. */
size_t report_text_length(const struct report_table *t, const struct report_column *c,
			  const char *text);
/* Prints the text of a key's cell without padding on the right. */
void report_text_print(FILE *out, const struct report_table *t, const char *text, size_t len);
/* True if the row is not printed because of min_percent. */
bool report_row_is_small(const struct report_table *t, const struct report_row *row);

#endif
