/* SPDX-License-Identifier: MIT */
/*
 * The data of viewer/heatmap.js: {title, event, mode, origin, column, rows, cells}. origin and
 * column (its width) are in seconds, rows are the bounds of the rows in ns from `row` on, cells are
 * triples: column, row, count.
 */
#include "heat.h"

#include "pages.h"

#include <inttypes.h>
#include <math.h>

/* The layout of SVG in pixels. */
enum { LEFT = 70, WIDTH = 1110, TOP = 40, HEIGHT = 400, FOOT = 40 };

struct heat_bounds {
	uint32_t first_row, end_row, end_column; /* bounds of the cells that have counts */
	uint64_t most;                           /* largest count of a cell */
};

static struct heat_bounds heat_find_bounds(const struct heat *h)
{
	struct heat_bounds b = { .first_row = HEAT_ROWS };

	for (uint32_t c = 0; c < HEAT_COLUMNS; c++) {
		for (uint32_t r = 0; r < HEAT_ROWS; r++) {
			if (!h->cells[c][r])
				continue;
			b.first_row = r < b.first_row ? r : b.first_row;
			b.end_row = r >= b.end_row ? r + 1 : b.end_row;
			b.end_column = c + 1;
			b.most = h->cells[c][r] > b.most ? h->cells[c][r] : b.most;
		}
	}
	if (h->mode == HEAT_OFFSET) { /* the complete second */
		b.first_row = 0;
		b.end_row = 100;
	}
	return b;
}

static double heat_seconds(uint64_t ns)
{
	return (double)(ns / 1000000000) + (double)(ns % 1000000000) / 1e9;
}

static int heat_html_data(FILE *out, const void *ctx)
{
	const struct heat_picture *p = ctx;
	const struct heat *h = p->heat;
	const struct heat_bounds b = heat_find_bounds(h);
	const char *comma = "";
	int r;

	fputs("{\"title\":", out);
	r = page_put_json(out, p->title);
	if (r < 0)
		return r;
	fputs(",\"event\":", out);
	r = page_put_json(out, p->event);
	if (r < 0)
		return r;
	fprintf(out,
		",\"mode\":\"%s\",\"origin\":%.9f,\"column\":%.9f,\"columns\":%" PRIu32
		",\"rows\":[",
		h->mode == HEAT_OFFSET ? "offset" : "latency", heat_seconds(h->origin_ns),
		heat_seconds(h->column_ns), b.end_column);
	for (uint32_t row = b.first_row; row <= b.end_row; row++)
		fprintf(out, "%s%.2f", row > b.first_row ? "," : "", heat_row_ns(h, row));
	fputs("],\"cells\":[", out);
	for (uint32_t c = 0; c < b.end_column; c++) {
		for (uint32_t row = b.first_row; row < b.end_row; row++) {
			if (!h->cells[c][row])
				continue;
			fprintf(out, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu64, comma, c,
				row - b.first_row, h->cells[c][row]);
			comma = ",";
		}
	}
	fputs("]}", out);
	return 0;
}

int heat_put_html(FILE *out, const void *ctx)
{
	const struct heat_picture *p = ctx;

	return page_put(out, page_heatmap,
			(struct page_mark[]){ { "@TITLE@", page_put_title, p->title },
					      { "@DATA@", heat_html_data, p },
					      { 0 } });
}

/* ---- a picture ------------------------------------------------------------------------------- */

static void heat_put_time(FILE *out, double ns)
{
	if (ns < 1e3)
		fprintf(out, "%.3g ns", ns);
	else if (ns < 1e6)
		fprintf(out, "%.3g \xc2\xb5s", ns / 1e3);
	else if (ns < 1e9)
		fprintf(out, "%.3g ms", ns / 1e6);
	else
		fprintf(out, "%.4g s", ns / 1e9);
}

/* From light yellow to dark red, by the logarithm of the count. */
static void heat_svg_cell(FILE *out, const struct heat *h, const struct heat_bounds *b, uint32_t c,
			  uint32_t row)
{
	const uint64_t count = h->cells[c][row];
	const double strength = log1p((double)count) / log1p((double)b->most);
	const double w = (double)WIDTH / b->end_column;
	const double tall = (double)HEIGHT / (b->end_row - b->first_row);

	fprintf(out, "<g><title>%" PRIu64 " at %.6f s, ", count,
		heat_seconds(h->origin_ns + c * h->column_ns));
	heat_put_time(out, heat_row_ns(h, row));
	fputs(" to ", out);
	heat_put_time(out, heat_row_ns(h, row + 1));
	fprintf(out,
		"</title><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
		"fill=\"#%02x%02x%02x\"/></g>\n",
		LEFT + c * w, TOP + HEIGHT - (row - b->first_row + 1) * tall, w + .05, tall + .05,
		(unsigned)(255 - 115 * strength * strength), (unsigned)(235 - 225 * strength),
		(unsigned)(150 - 130 * strength));
}

static int heat_svg_data(FILE *out, const void *ctx)
{
	const struct heat_picture *p = ctx;
	const struct heat *h = p->heat;
	const struct heat_bounds b = heat_find_bounds(h);
	const uint32_t step = (b.end_row - b.first_row + 7) / 8;

	fprintf(out, "<rect class=\"plot\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
		TOP, WIDTH, HEIGHT);
	for (uint32_t c = 0; c < b.end_column; c++) {
		for (uint32_t row = b.first_row; row < b.end_row; row++) {
			if (h->cells[c][row])
				heat_svg_cell(out, h, &b, c, row);
		}
	}
	for (uint32_t row = b.first_row; row <= b.end_row; row += step) {
		fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6,
			TOP + 4 + HEIGHT -
				(double)(row - b.first_row) * HEIGHT / (b.end_row - b.first_row));
		heat_put_time(out, heat_row_ns(h, row));
		fputs("</text>\n", out);
	}
	for (int i = 0; i <= 6; i++) {
		fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%.3f s</text>\n",
			LEFT + i * WIDTH / 6 - (i == 6 ? 20 : 0), TOP + HEIGHT + 18,
			heat_seconds(h->origin_ns) +
				heat_seconds(h->column_ns) * b.end_column * i / 6);
	}
	return 0;
}

static int heat_svg_height(FILE *out, const void *ctx)
{
	(void)ctx;
	fprintf(out, "%d", TOP + HEIGHT + FOOT);
	return 0;
}

int heat_put_svg(FILE *out, const void *ctx)
{
	const struct heat_picture *p = ctx;

	return page_put(out, page_heatmap_svg,
			(struct page_mark[]){ { "@TITLE@", page_put_title, p->title },
					      { "@HEIGHT@", heat_svg_height, NULL },
					      { "@DATA@", heat_svg_data, p },
					      { 0 } });
}
