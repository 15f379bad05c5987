/* SPDX-License-Identifier: MIT */
#include "report_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 3 /* columns of one level */

struct node;
/* Rows that have the same values up to a level. */
struct node {
	/* the first row, whose texts are printed; for a leaf the row itself */
	const struct report_row *row;
	struct report_row sum; /* the numbers that are printed */
	size_t first, nr;      /* its rows in tree.rows */
};

struct tree {
	const struct report_table *t;
	FILE *out;
	const struct report_row **rows; /* grouped level by level */
	const struct report_row **room;
	unsigned int nr_levels;
};

/* The context of qsort_r(). */
struct comparing {
	const struct report_table *t;
	unsigned int level;
};

static bool report_hierarchy_is_at(const struct report_column *c, unsigned int level)
{
	return !c->is_number && c->level == level;
}

static int report_hierarchy_by_id(const void *a, const void *b, void *ctx)
{
	const struct report_row *x = *(const struct report_row *const *)a;
	const struct report_row *y = *(const struct report_row *const *)b;
	const struct comparing *with = ctx;

	for (size_t i = 0; i < with->t->nr_columns; i++) {
		const struct report_column *c = &with->t->columns[i];
		const unsigned int k = c->index;

		if (report_hierarchy_is_at(c, with->level) && x->values[k].id != y->values[k].id)
			return x->values[k].id < y->values[k].id ? -1 : 1;
	}
	return x->merged < y->merged ? -1 : x->merged > y->merged;
}

/* Orders nodes by size, the largest first; then by value, then in the order of merging. */
static int report_hierarchy_by_size(const void *a, const void *b, void *ctx)
{
	const struct node *x = a, *y = b;
	const struct comparing *with = ctx;

	for (unsigned int m = 0; m < with->t->nr_members; m++) {
		const size_t at = m * REPORT_NUMBERS + REPORT_OVERHEAD;

		if (x->sum.numbers[at] != y->sum.numbers[at])
			return x->sum.numbers[at] > y->sum.numbers[at] ? -1 : 1;
	}
	for (size_t i = 0; i < with->t->nr_columns; i++) {
		const struct report_column *c = &with->t->columns[i];
		const unsigned int k = c->index;

		if (report_hierarchy_is_at(c, with->level) &&
		    x->row->values[k].rank != y->row->values[k].rank)
			return x->row->values[k].rank < y->row->values[k].rank ? -1 : 1;
	}
	return x->row->merged < y->row->merged ? -1 : 1;
}

static bool report_hierarchy_is_same(const struct report_table *t, unsigned int level,
				     const struct report_row *x, const struct report_row *y)
{
	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct report_column *c = &t->columns[i];

		if (report_hierarchy_is_at(c, level) &&
		    x->values[c->index].id != y->values[c->index].id)
			return false;
	}
	return true;
}

/*
 * Makes the nodes of rows first..first+nr at a level. Returns 0 or -ENOMEM; *ret is freed with
 * free().
 */
static int report_hierarchy_group(struct tree *tree, unsigned int level, size_t first, size_t nr,
				  struct node **ret, size_t *ret_nr)
{
	const size_t numbers = tree->t->nr_members * REPORT_NUMBERS;
	struct comparing with = { tree->t, level };
	struct node *nodes = calloc(nr, sizeof(*nodes) + numbers * sizeof(uint64_t));
	uint64_t *sums = (uint64_t *)(nodes + nr);
	size_t n = 0;

	if (!nodes)
		return -ENOMEM;
	qsort_r(tree->rows + first, nr, sizeof(*tree->rows), report_hierarchy_by_id, &with);
	for (size_t i = first; i < first + nr; i++) {
		const struct report_row *row = tree->rows[i];

		if (!n || !report_hierarchy_is_same(tree->t, level, nodes[n - 1].row, row)) {
			nodes[n] = (struct node){ .row = row, .sum = *row, .first = i };
			nodes[n].sum.numbers = sums + n * numbers;
			n++;
		}
		nodes[n - 1].nr++;
		for (size_t k = 0; k < numbers; k++)
			sums[(n - 1) * numbers + k] += row->numbers[k];
	}
	qsort_r(nodes, n, sizeof(*nodes), report_hierarchy_by_size, &with);
	*ret = nodes;
	*ret_nr = n;
	return 0;
}

/* Writes the indent of `levels` levels. */
static void report_hierarchy_put_indent(const struct tree *tree, unsigned int levels)
{
	if (!tree->t->separator)
		fprintf(tree->out, "%*s", (int)(levels * INDENT), "");
}

static void report_hierarchy_put_texts(const struct tree *tree, const struct node *n,
				       unsigned int level)
{
	const struct report_table *t = tree->t;

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct report_column *c = &t->columns[i];
		const unsigned int width = report_column_width(t, c);
		const char *text;
		size_t len, padded;

		if (!report_hierarchy_is_at(c, level))
			continue;
		text = n->row->texts[c->index];
		padded = report_text_length(t, c, text);
		for (len = padded; len && isspace((unsigned char)*text); len--)
			text++;
		fputs(t->separator ? t->separator : "  ", tree->out);
		report_text_print(tree->out, t, text, len);
		if (c->pads_last && padded < width)
			fprintf(tree->out, "%*s", (int)(width - padded), "");
	}
	fputc('\n', tree->out);
}

static void report_hierarchy_put_numbers(const struct tree *tree, const struct node *n)
{
	const struct report_table *t = tree->t;
	bool is_first = true;

	for (size_t i = 0; i < t->nr_columns; i++) {
		if (!t->columns[i].is_number)
			continue;
		if (!is_first || !t->separator)
			fputs(t->separator ? t->separator : "  ", tree->out);
		report_cell_print(tree->out, t, &t->columns[i], &n->sum, false);
		is_first = false;
	}
}

/* Prints the rows first..first+nr below a node. */
static int report_hierarchy_put_level(struct tree *tree, unsigned int level, size_t first,
				      size_t nr)
{
	const struct report_table *t = tree->t;
	struct node *nodes;
	size_t n, shown = 0;
	int r = report_hierarchy_group(tree, level, first, nr, &nodes, &n);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n && !r; i++) {
		if (report_row_is_small(t, &nodes[i].sum))
			continue;
		shown++;
		fprintf(tree->out, "%*s", (int)(level * INDENT), "");
		report_hierarchy_put_numbers(tree, &nodes[i]);
		report_hierarchy_put_indent(tree, tree->nr_levels - 1);
		report_hierarchy_put_texts(tree, &nodes[i], level);
		if (level + 1 < tree->nr_levels)
			r = report_hierarchy_put_level(tree, level + 1, nodes[i].first,
						       nodes[i].nr);
		else if (t->draw)
			r = t->draw(t->draw_ctx, tree->out, nodes[i].row);
	}
	if (!shown && level && !t->separator)
		fprintf(tree->out, "%*sno entry >= %.2f%%\n",
			(int)(INDENT * (tree->nr_levels + level - 1) + 12), "", t->min_percent);
	free(nodes);
	return r;
}

/* ---- titles ---------------------------------------------------------------------------------- */

/* Writes the titles of all levels, or only returns their length if out is NULL. */
static unsigned int report_hierarchy_put_titles(FILE *out, const struct report_table *t)
{
	const struct report_column *before = NULL;
	unsigned int length = 0;

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct report_column *c = &t->columns[i];
		const char *title = c->title, *join;

		if (c->is_number)
			continue;
		while (isspace((unsigned char)*title))
			title++;
		join = !before ? "" : before->level == c->level ? "+" : " / ";
		length += (unsigned int)(strlen(join) + strlen(title));
		if (out)
			fprintf(out, "%s%s", join, title);
		before = c;
	}
	return length;
}

/* The widest level, with its indent. */
static unsigned int report_hierarchy_width(const struct tree *tree)
{
	const struct report_table *t = tree->t;
	unsigned int widest = report_hierarchy_put_titles(NULL, t);

	for (unsigned int level = 0; level < tree->nr_levels; level++) {
		unsigned int width = level * INDENT;
		bool is_first = true;

		for (size_t i = 0; i < t->nr_columns; i++) {
			if (!report_hierarchy_is_at(&t->columns[i], level))
				continue;
			width += report_column_width(t, &t->columns[i]) + (is_first ? 0 : 1);
			is_first = false;
		}
		if (width > widest)
			widest = width;
	}
	return widest;
}

static void report_hierarchy_put_dots(FILE *out, unsigned int n)
{
	while (n--)
		fputc('.', out);
}

static void report_hierarchy_put_head(const struct tree *tree)
{
	const struct report_table *t = tree->t;
	const char *between = t->separator ? t->separator : "  ";
	bool is_first = true;

	fputs("# ", tree->out);
	report_hierarchy_put_indent(tree, tree->nr_levels - 1);
	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct report_column *c = &t->columns[i];

		if (!c->is_number)
			continue;
		fprintf(tree->out, "%s%*s", is_first ? "" : between, (int)report_column_width(t, c),
			c->title);
		is_first = false;
	}
	fputs(between, tree->out);
	report_hierarchy_put_titles(tree->out, t);
	fputs("\n# ", tree->out);
	report_hierarchy_put_dots(tree->out, t->separator ? 0 : INDENT * (tree->nr_levels - 1));
	is_first = true;
	for (size_t i = 0; i < t->nr_columns; i++) {
		if (!t->columns[i].is_number)
			continue;
		report_hierarchy_put_dots(
			tree->out, (is_first ? 0 : 2) + report_column_width(t, &t->columns[i]));
		is_first = false;
	}
	fputs(between, tree->out);
	report_hierarchy_put_dots(tree->out, report_hierarchy_width(tree));
	fputs("\n#\n", tree->out);
}

int report_hierarchy_print(FILE *out, const struct report_table *t)
{
	struct tree tree = { .t = t, .out = out };
	int r = 0;

	for (size_t i = 0; i < t->nr_columns; i++)
		if (!t->columns[i].is_number && t->columns[i].level >= tree.nr_levels)
			tree.nr_levels = t->columns[i].level + 1;
	if (!tree.nr_levels)
		return 0;
	if (!t->no_titles)
		report_hierarchy_put_head(&tree);
	tree.rows = calloc(t->nr_rows + 1, sizeof(*tree.rows));
	if (!tree.rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++)
		tree.rows[i] = &t->rows[i];
	if (t->nr_rows)
		r = report_hierarchy_put_level(&tree, 0, 0, t->nr_rows);
	free(tree.rows);
	return r;
}
