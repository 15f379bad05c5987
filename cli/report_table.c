/* SPDX-License-Identifier: MIT */
#include "report_table.h"

#include "report_graph.h"

#include <string.h>

#define NUMBER_WIDTH 8 /* the least width of a number's title */

static uint64_t report_table_number(const struct report_row *row, unsigned int member,
				    unsigned int number)
{
	return row->numbers[member * REPORT_NUMBERS + number];
}

static double report_table_percent(const struct report_table *t, const struct report_row *row,
				   unsigned int member, unsigned int number)
{
	const uint64_t total = t->totals[member];

	if (!total)
		return 0.0;
	return 100.0 * (double)report_table_number(row, member, number) / (double)total;
}

unsigned int report_column_width(const struct report_table *t, const struct report_column *c)
{
	unsigned int width = c->fixed_width ? c->fixed_width : c->width;
	const unsigned int title = (unsigned int)strlen(c->title);

	if (!c->is_number)
		return width;
	if (t->nr_members > 1 && width < t->nr_members * c->width)
		width = t->nr_members * c->width;
	return width < title ? title : width;
}

static void report_table_put_title(FILE *out, const struct report_table *t,
				   const struct report_column *c)
{
	const int width = (int)report_column_width(t, c);

	if (c->is_number || c->is_right)
		fprintf(out, "%*s", width, c->title);
	else
		fprintf(out, "%-*.*s", width, width, c->title);
}

static void report_table_put_titles(FILE *out, const struct report_table *t)
{
	fputs("# ", out);
	for (size_t i = 0; i < t->nr_columns; i++) {
		if (i)
			fputs(t->separator ? t->separator : "  ", out);
		report_table_put_title(out, t, &t->columns[i]);
	}
	fputc('\n', out);
	if (t->separator)
		return;
	fputs("# ", out);
	for (size_t i = 0; i < t->nr_columns; i++) {
		if (i)
			fputs("  ", out);
		for (unsigned int w = report_column_width(t, &t->columns[i]); w; w--)
			fputc('.', out);
	}
	fputs("\n#\n", out);
}

/* Returns the width printed. */
static unsigned int report_table_put_number(FILE *out, const struct report_table *t,
					    const struct report_column *c,
					    const struct report_row *row, unsigned int member)
{
	int width = (int)(c->fixed_width ? c->fixed_width : c->width);
	char text[64];
	int n;

	if (c->is_missing)
		return (unsigned int)fprintf(out, "%*s", width, "N/A");
	if (!c->is_percent) {
		width = t->separator ? 1 : width - 1;
		return (unsigned int)fprintf(
			out, " %*llu", width < 0 ? 0 : width,
			(unsigned long long)report_table_number(row, member, c->index));
	}
	width = t->separator ? 1 : width - 2;
	if (width < 0)
		width = 0;
	n = snprintf(text, sizeof(text), " %*.2f%%", width,
		     report_table_percent(t, row, member, c->index));
	if (t->in_color)
		report_percent_print(out, true, width + 1,
				     report_table_percent(t, row, member, c->index));
	else
		fputs(text, out);
	return (unsigned int)n;
}

/* Prints text with each character that separates columns replaced. */
void report_text_print(FILE *out, const struct report_table *t, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fputc(t->separator && text[i] == t->separator[0] ? '.' : text[i], out);
}

size_t report_text_length(const struct report_table *t, const struct report_column *c,
			  const char *text)
{
	const size_t len = strlen(text);
	const unsigned int width = report_column_width(t, c);

	return c->is_cut && report_text_width(text) > width ? width : len;
}

size_t report_text_width(const char *text)
{
	const size_t len = strlen(text), end = strlen(REPORT_INLINED);

	return len > end && !strcmp(text + len - end, REPORT_INLINED) ? len - end : len;
}

/* Prints an address: the function's name is truncated to the column's width, not its offset. */
static unsigned int report_table_put_address(FILE *out, const struct report_table *t,
					     const struct report_column *c, const char *text)
{
	const char *last = strrchr(text, '+');
	const char *plus = last && !strncmp(last, "+0x", 3) ? last : NULL;
	const size_t name = plus ? (size_t)(plus - text) : strlen(text);
	const unsigned int width = report_column_width(t, c);
	const size_t shown = name < width ? name : width;

	report_text_print(out, t, text, shown);
	report_text_print(out, t, text + name, strlen(text + name));
	return (unsigned int)(shown + strlen(text + name));
}

void report_cell_print(FILE *out, const struct report_table *t, const struct report_column *c,
		       const struct report_row *row, bool is_last)
{
	const unsigned int width = report_column_width(t, c);
	unsigned int printed = 0;

	if (c->is_number) {
		for (unsigned int m = 0; m < t->nr_members; m++)
			printed += report_table_put_number(out, t, c, row, m);
	} else if (c->is_address) {
		printed = report_table_put_address(out, t, c, row->texts[c->index]);
	} else {
		const char *text = row->texts[c->index];
		const size_t len = report_text_length(t, c, text);

		if (c->is_right)
			printed = (unsigned int)fprintf(out, "%*s",
							len < width ? (int)(width - len) : 0, "");
		report_text_print(out, t, text, len);
		printed += (unsigned int)len;
	}
	if ((!is_last || c->pads_last) && printed < width)
		fprintf(out, "%*s", (int)(width - printed), "");
}

bool report_row_is_small(const struct report_table *t, const struct report_row *row)
{
	unsigned int number = REPORT_OVERHEAD;

	for (size_t i = 0; i < t->nr_columns; i++)
		if (t->columns[i].is_number && t->columns[i].index == REPORT_CHILDREN)
			number = REPORT_CHILDREN;
	return report_table_percent(t, row, 0, number) < t->min_percent;
}

int report_table_print(FILE *out, const struct report_table *t)
{
	int r = 0;

	if (!t->no_titles)
		report_table_put_titles(out, t);
	for (size_t i = 0; i < t->nr_rows && !r; i++) {
		const struct report_row *row = &t->rows[i];

		if (report_row_is_small(t, row))
			continue;
		for (size_t c = 0; c < t->nr_columns; c++) {
			if (c || !t->separator)
				fputs(t->separator ? t->separator : "  ", out);
			report_cell_print(out, t, &t->columns[c], row, c + 1 == t->nr_columns);
		}
		fputc('\n', out);
		if (t->draw)
			r = t->draw(t->draw_ctx, out, row);
	}
	return r;
}
