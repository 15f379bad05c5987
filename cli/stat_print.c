/* SPDX-License-Identifier: MIT */
#include "stat_print.h"

#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADING_AFTER = 25, LEAST_UNIT_WIDTH = 4, METRIC_ONLY_WIDTH = 20 };

static const struct sonde_stat_event *print_event(const struct stat_printer *p,
						  const struct sonde_stat_row *row)
{
	return sonde_stat_event(p->stat, row->event);
}

bool stat_has_decimals(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	const double scale = print_event(p, row)->scale;

	return floor(scale) != scale;
}

double stat_scaled(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	return row->value * print_event(p, row)->scale;
}

double stat_deviation_percent(const struct sonde_stat_row *row)
{
	return row->value > 0 ? 100 * row->deviation / row->value : 0;
}

const char *stat_metric_text(const struct sonde_stat_metric *m, char *buf, size_t size)
{
	snprintf(buf, size,
		 m->kind == SONDE_STAT_RATIO || m->kind == SONDE_STAT_PERCENT ? "%.2f" : "%.3f",
		 m->value);
	return buf;
}

const char *stat_place_text(const struct stat_printer *p, const struct sonde_stat_row *row,
			    char *buf, size_t size)
{
	switch (p->by) {
	case SONDE_STAT_BY_ALL:
		*buf = '\0';
		break;
	case SONDE_STAT_BY_CPU:
		if (row->cpu < 0) /* an event with percore */
			snprintf(buf, size, "S%d-D%d-C%d", row->socket, row->die, row->core);
		else
			snprintf(buf, size, "CPU%d", row->cpu);
		break;
	case SONDE_STAT_BY_CORE:
		snprintf(buf, size, "S%d-D%d-C%d", row->socket, row->die, row->core);
		break;
	case SONDE_STAT_BY_DIE:
		snprintf(buf, size, "S%d-D%d", row->socket, row->die);
		break;
	case SONDE_STAT_BY_SOCKET:
		snprintf(buf, size, "S%d", row->socket);
		break;
	case SONDE_STAT_BY_NODE:
		snprintf(buf, size, "N%d", row->node);
		break;
	case SONDE_STAT_BY_THREAD:
		snprintf(buf, size, "%s-%d", row->comm, row->tid);
		break;
	}
	return buf;
}

void stat_printer_init(struct stat_printer *p)
{
	const struct sonde_stat_event *e;

	p->unit_width = LEAST_UNIT_WIDTH;
	for (size_t i = 0; (e = sonde_stat_event(p->stat, i)); i++) {
		const int len = (int)strlen(e->unit);

		p->unit_width = len > p->unit_width ? len : p->unit_width;
		p->has_cgroups |= e->cgroup != NULL;
	}
}

static void print_prefix(const struct stat_printer *p, const struct sonde_stat_round *r,
			 const struct sonde_stat_row *row)
{
	if (r->kind == SONDE_STAT_INTERVAL)
		p->layout->time(p, r->time_ns);
	else if (p->names_summary)
		fprintf(p->out, "%16s%s", "summary", p->separator);
	p->layout->place(p, row);
}

static void print_metrics(const struct stat_printer *p, const struct sonde_stat_round *r,
			  const struct sonde_stat_row *row)
{
	if (!row->nr_metrics)
		p->layout->metric(p, row, NULL, r->time_ns, false);
	for (uint32_t i = 0; i < row->nr_metrics; i++)
		p->layout->metric(p, row, &row->metrics[i], r->time_ns, i > 0);
}

static void print_row(const struct stat_printer *p, const struct sonde_stat_round *r,
		      const struct sonde_stat_row *row)
{
	const struct stat_layout *l = p->layout;

	print_prefix(p, r, row);
	l->value(p, row);
	if (!l->metric_is_last)
		print_metrics(p, r, row);
	if (p->has_deviation)
		l->deviation(p, row);
	l->share(p, row);
	if (l->metric_is_last)
		print_metrics(p, r, row);
	l->end(p);
}

/* True for places whose rows are printed together: all events of a core, then the next core. */
static bool print_by_place(const struct stat_printer *p)
{
	return p->by == SONDE_STAT_BY_CORE || p->by == SONDE_STAT_BY_DIE ||
	       p->by == SONDE_STAT_BY_SOCKET || p->by == SONDE_STAT_BY_NODE ||
	       (p->metric_only && p->by == SONDE_STAT_BY_CPU);
}

static bool print_same_place(const struct sonde_stat_row *a, const struct sonde_stat_row *b)
{
	return a->cpu == b->cpu && a->core == b->core && a->die == b->die &&
	       a->socket == b->socket && a->node == b->node && a->tid == b->tid;
}

/* The rows of the first event name the places; each is followed by its rows of other events. */
static void print_each_place(const struct stat_printer *p, const struct sonde_stat_round *r,
			     void (*print)(const struct stat_printer *p,
					   const struct sonde_stat_round *r,
					   const struct sonde_stat_row *row))
{
	for (size_t i = 0; i < r->nr_rows && r->rows[i].event == r->rows[0].event; i++)
		for (size_t k = i; k < r->nr_rows; k++)
			if (print_same_place(&r->rows[i], &r->rows[k]))
				print(p, r, &r->rows[k]);
}

/* ---- --metric-only --------------------------------------------------------------------------- */

static void print_metric_values(const struct stat_printer *p, const struct sonde_stat_round *r,
				const struct sonde_stat_row *row)
{
	char text[64];

	for (uint32_t i = 0; i < row->nr_metrics; i++) {
		const struct sonde_stat_metric *m = &row->metrics[i];
		const char *value = m->has_value ? stat_metric_text(m, text, sizeof(text)) : "";

		if (p->layout == &stat_csv_layout)
			fprintf(p->out, "%s%s", value, p->separator);
		else
			fprintf(p->out, "%*s ", METRIC_ONLY_WIDTH, value);
	}
}

static void print_metric_names(const struct stat_printer *p, const struct sonde_stat_round *r)
{
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct sonde_stat_row *row = &r->rows[i];
		char name[128];

		if (i && !print_same_place(row, &r->rows[0]))
			continue;
		for (uint32_t k = 0; k < row->nr_metrics; k++) {
			const char *unit = row->metrics[k].unit;

			snprintf(name, sizeof(name), "%s%s%s",
				 strncmp(unit, "of all", 6) ? "" : print_event(p, row)->name,
				 strncmp(unit, "of all", 6) ? "" : " ", unit);
			if (p->layout == &stat_csv_layout)
				fprintf(p->out, "%s%s", name, p->separator);
			else
				fprintf(p->out, "%*s ", METRIC_ONLY_WIDTH, name);
		}
	}
	fputc('\n', p->out);
}

/* Rows of one place as one object. */
static void print_metrics_json(const struct stat_printer *p, const struct sonde_stat_round *r,
			       const struct sonde_stat_row *first)
{
	bool is_first = true;
	char name[512];

	print_prefix(p, r, first);
	fputs("\"metrics\" : {", p->out);
	for (const struct sonde_stat_row *row = first; row < r->rows + r->nr_rows; row++)
		for (uint32_t i = 0; print_same_place(first, row) && i < row->nr_metrics; i++) {
			if (!row->metrics[i].has_value)
				continue;
			snprintf(name, sizeof(name), "%s %s", print_event(p, row)->name,
				 row->metrics[i].unit);
			fputs(is_first ? "" : ", ", p->out);
			json_write_string(p->out, name);
			fprintf(p->out, " : \"%f\"", row->metrics[i].value);
			is_first = false;
		}
	fputs("}}\n", p->out);
}

static void print_metric_only(const struct stat_printer *p, const struct sonde_stat_round *r)
{
	if (!r->nr_rows)
		return;
	if (p->layout != &stat_json_layout)
		print_metric_names(p, r);
	for (size_t i = 0; i < r->nr_rows && r->rows[i].event == r->rows[0].event; i++) {
		if (p->layout == &stat_json_layout) {
			print_metrics_json(p, r, &r->rows[i]);
			continue;
		}
		print_prefix(p, r, &r->rows[i]);
		for (size_t k = i; k < r->nr_rows; k++)
			if (print_same_place(&r->rows[i], &r->rows[k]))
				print_metric_values(p, r, &r->rows[k]);
		fputc('\n', p->out);
	}
}

/* ---- a round --------------------------------------------------------------------------------- */

static void print_heading(struct stat_printer *p, const struct sonde_stat_round *r)
{
	if (r->kind != SONDE_STAT_INTERVAL)
		return;
	if (p->clears)
		fputs("\033[H\033[2J", stdout);
	if (p->layout->heading && (p->nr_printed == 0 || p->clears))
		p->layout->heading(p);
	if (++p->nr_printed == HEADING_AFTER)
		p->nr_printed = 0;
}

void stat_print_round(struct stat_printer *p, const struct sonde_stat_round *r)
{
	print_heading(p, r);
	if (p->metric_only)
		print_metric_only(p, r);
	else if (print_by_place(p))
		print_each_place(p, r, print_row);
	else
		for (size_t i = 0; i < r->nr_rows; i++)
			print_row(p, r, &r->rows[i]);
	fflush(p->out);
}
