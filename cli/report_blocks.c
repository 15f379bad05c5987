/* SPDX-License-Identifier: MIT */
#include "report_blocks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum block_column {
	BLOCK_SHARE,
	BLOCK_CYCLES,
	BLOCK_AVERAGE_SHARE,
	BLOCK_AVERAGE,
	BLOCK_RANGE,
	BLOCK_DSO,
	NR_BLOCK_COLUMNS
};

static const struct {
	const char *title;
	int width;
} report_block_columns[NR_BLOCK_COLUMNS] = {
	[BLOCK_SHARE] = { "Sampled Cycles%", 15 },       [BLOCK_CYCLES] = { "Sampled Cycles", 14 },
	[BLOCK_AVERAGE_SHARE] = { "Avg Cycles%", 11 },   [BLOCK_AVERAGE] = { "Avg Cycles", 10 },
	[BLOCK_RANGE] = { "[Program Block Range]", 70 }, [BLOCK_DSO] = { "Shared Object", 20 },
};

static void report_blocks_put_titles(FILE *out, const char *separator)
{
	fputs("# ", out);
	for (int i = 0; i < NR_BLOCK_COLUMNS; i++)
		fprintf(out, "%s%*s", i ? separator ? separator : "  " : "",
			report_block_columns[i].width, report_block_columns[i].title);
	fputc('\n', out);
	if (separator)
		return;
	fputs("# ", out);
	for (int i = 0; i < NR_BLOCK_COLUMNS; i++) {
		fputs(i ? "  " : "", out);
		for (int w = report_block_columns[i].width; w; w--)
			fputc('.', out);
	}
	fputs("\n#\n", out);
}

static void report_blocks_cycles_text(char text[24], uint64_t cycles)
{
	if (cycles >= 1000000)
		snprintf(text, 24, "%.1fM", (double)cycles / 1000000);
	else if (cycles >= 1000)
		snprintf(text, 24, "%.1fK", (double)cycles / 1000);
	else
		snprintf(text, 24, "%" PRIu64, cycles);
}

/* One end of a block: its source line, or its offset in the function. */
static char *report_blocks_end_text(const struct report_view *v,
				    const struct sonde_profile_place *p, uint64_t offset)
{
	const char *slash = p->file ? strrchr(p->file, '/') : NULL;
	char *text;
	int r;

	if (p->file)
		r = asprintf(&text, "%s:%u",
			     slash && !v->args->full_source_path ? slash + 1 : p->file, p->line);
	else
		r = asprintf(&text, "%s+%" PRIu64, p->sym ? p->sym : "", offset);
	return r < 0 ? NULL : text;
}

static char *report_blocks_range(const struct report_view *v, const struct sonde_profile_block *b,
				 const struct sonde_profile_place *start,
				 const struct sonde_profile_place *end)
{
	char *from = report_blocks_end_text(v, start, b->start);
	char *to = report_blocks_end_text(v, end, b->end), *text = NULL;

	if (from && to && asprintf(&text, "[%s -> %s]", from, to) < 0)
		text = NULL;
	free(from);
	free(to);
	return text;
}

/* The sum of the averages of a table's blocks. */
static uint64_t report_blocks_sum_averages(const struct report_view *v, uint32_t index)
{
	struct sonde_profile_block b = { .size = sizeof(b) };
	uint64_t sum = 0;

	for (uint64_t i = 0; sonde_profile_block(v->profile, index, i, &b) == 1; i++)
		sum += b.cycles / b.count;
	return sum;
}

static void report_blocks_put_text(FILE *out, const struct report_view *v, enum block_column column,
				   const char *text)
{
	fprintf(out, "%s%*s", v->args->separator ? v->args->separator : "  ",
		report_block_columns[column].width, text);
}

static void report_blocks_put_share(FILE *out, const struct report_view *v,
				    enum block_column column, double percent)
{
	if (column || !v->args->separator)
		fputs(v->args->separator ? v->args->separator : "  ", out);
	report_percent_print(out, v->args->in_color, report_block_columns[column].width - 1,
			     percent);
}

static int report_blocks_put(FILE *out, const struct report_view *v,
			     const struct sonde_profile_block *b, uint64_t averages)
{
	struct sonde_profile_place start = { .size = sizeof(start) }, end = { .size = sizeof(end) };
	const uint64_t average = b->cycles / b->count;
	char cycles[24], *range;

	if (sonde_profile_place(v->profile, b->start_place, &start) != 1 ||
	    sonde_profile_place(v->profile, b->end_place, &end) != 1)
		return 0;
	range = report_blocks_range(v, b, &start, &end);
	if (!range)
		return -ENOMEM;
	report_blocks_put_share(out, v, BLOCK_SHARE,
				100.0 * ((double)b->cycles / (double)b->all_cycles));
	report_blocks_cycles_text(cycles, b->cycles);
	report_blocks_put_text(out, v, BLOCK_CYCLES, cycles);
	report_blocks_put_share(out, v, BLOCK_AVERAGE_SHARE,
				averages ? 100.0 * ((double)average / (double)averages) : 0.0);
	report_blocks_cycles_text(cycles, average);
	report_blocks_put_text(out, v, BLOCK_AVERAGE, cycles);
	report_blocks_put_text(out, v, BLOCK_RANGE, range);
	report_blocks_put_text(out, v, BLOCK_DSO, end.dso ? end.dso : "[unknown]");
	fputc('\n', out);
	free(range);
	return 0;
}

int report_blocks_print(FILE *out, const struct report_view *v, uint32_t index)
{
	const uint64_t averages = report_blocks_sum_averages(v, index);
	struct sonde_profile_block b = { .size = sizeof(b) };
	int r = 0;

	if (!v->args->quiet || v->args->counts_as_perf)
		report_blocks_put_titles(out, v->args->separator);
	for (uint64_t i = 0; r >= 0; i++) {
		r = sonde_profile_block(v->profile, index, i, &b);
		if (r != 1)
			break;
		if (100.0 * (double)b.cycles / (double)b.all_cycles < v->min_percent)
			continue;
		r = report_blocks_put(out, v, &b, averages);
	}
	return r < 0 ? r : 0;
}
