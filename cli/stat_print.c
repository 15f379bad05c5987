/* SPDX-License-Identifier: MIT */
#include "stat_print.h"

#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADING_AFTER = 25, LEAST_UNIT_WIDTH = 4, METRIC_ONLY_WIDTH = 20, METRIC_NAME_BYTES = 512 };

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
	static const int decimals[] = {
		[SONDE_STAT_NUMBER] = 3,         [SONDE_STAT_RATIO] = 2,
		[SONDE_STAT_PERCENT] = 2,        [SONDE_STAT_PERCENT_FINE] = 3,
		[SONDE_STAT_PERCENT_COARSE] = 1, [SONDE_STAT_WHOLE] = 0,
		[SONDE_STAT_WHOLE_SMALL] = 0,
	};

	snprintf(buf, size, "%.*f", decimals[m->kind], m->value);
	return buf;
}

bool stat_metric_follows(const struct sonde_stat_metric *m)
{
	return m->kind == SONDE_STAT_PERCENT_COARSE || m->kind == SONDE_STAT_WHOLE_SMALL;
}

double stat_share_percent(const struct sonde_stat_row *row)
{
	return row->mean_enabled_ns > 0 ? 100 * row->mean_running_ns / row->mean_enabled_ns : 100;
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

/* Negative, 0 or positive, as the place of a is before, equal to or behind that of b. */
static int print_order_places(const struct sonde_stat_row *a, const struct sonde_stat_row *b)
{
	const int differences[] = { a->node - b->node, a->socket - b->socket, a->die - b->die,
				    a->core - b->core, a->cpu - b->cpu,       a->tid - b->tid };

	for (size_t i = 0; i < sizeof(differences) / sizeof(*differences); i++)
		if (differences[i])
			return differences[i];
	return 0;
}

static bool print_same_place(const struct sonde_stat_row *a, const struct sonde_stat_row *b)
{
	return print_order_places(a, b) == 0;
}

/*
 * The first row of the place behind that of `last`, or of the first place if last is NULL. NULL if
 * there is none. Not each event has rows of each place: sources count on some cpus.
 */
static const struct sonde_stat_row *print_next_place(const struct sonde_stat_round *r,
						     const struct sonde_stat_row *last)
{
	const struct sonde_stat_row *next = NULL;

	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct sonde_stat_row *row = &r->rows[i];

		if ((!last || print_order_places(row, last) > 0) &&
		    (!next || print_order_places(row, next) < 0))
			next = row;
	}
	return next;
}

/* Each place is followed by the rows of all its events. */
static void print_each_place(const struct stat_printer *p, const struct sonde_stat_round *r,
			     void (*print)(const struct stat_printer *p,
					   const struct sonde_stat_round *r,
					   const struct sonde_stat_row *row))
{
	for (const struct sonde_stat_row *first = print_next_place(r, NULL); first;
	     first = print_next_place(r, first))
		for (const struct sonde_stat_row *row = first; row < r->rows + r->nr_rows; row++)
			if (print_same_place(first, row))
				print(p, r, row);
}

/* ---- --metric-only --------------------------------------------------------------------------- */

/* Rates and used cpus are no figures of this layout. */
static bool print_takes_metric(const struct sonde_stat_metric *m)
{
	return !strstr(m->unit, "/sec") && strcmp(m->unit, "CPUs utilized") != 0;
}

/* The name of a figure is its unit; a share of all events names the event, too. */
static void print_name_metric(const struct stat_printer *p, const struct sonde_stat_row *row,
			      const struct sonde_stat_metric *m, char *buf, size_t size)
{
	const bool is_share = !strncmp(m->unit, "of all", 6);

	snprintf(buf, size, "%s%s%s", is_share ? print_event(p, row)->name : "",
		 is_share ? " " : "", m->unit);
}

static void print_metric_cell(const struct stat_printer *p, const char *text, const char *name)
{
	const int len = (int)strlen(name);

	if (p->layout == &stat_csv_layout)
		fprintf(p->out, "%s%s", text, p->separator);
	else
		fprintf(p->out, "%*s ", len > METRIC_ONLY_WIDTH ? len : METRIC_ONLY_WIDTH, text);
}

static void print_metric_values(const struct stat_printer *p, const struct sonde_stat_round *r,
				const struct sonde_stat_row *row)
{
	char text[64], name[METRIC_NAME_BYTES];

	for (uint32_t i = 0; i < row->nr_metrics; i++) {
		const struct sonde_stat_metric *m = &row->metrics[i];

		if (!print_takes_metric(m))
			continue;
		if (!m->has_value)
			*text = '\0';
		else if (p->layout == &stat_csv_layout)
			stat_metric_text(m, text, sizeof(text));
		else
			stat_metric_column(m, text, sizeof(text));
		print_name_metric(p, row, m, name, sizeof(name));
		print_metric_cell(p, text, name);
	}
}

/* What is above the time and the place of the rows. */
static void print_metric_place(const struct stat_printer *p, const struct sonde_stat_round *r)
{
	static const struct {
		const char *fields; /* of -x */
		int width;          /* of a table */
	} places[] = {
		[SONDE_STAT_BY_CPU] = { "cpu", 11 },
		[SONDE_STAT_BY_CORE] = { "core,cpus", 21 },
		[SONDE_STAT_BY_DIE] = { "die,cpus", 18 },
		[SONDE_STAT_BY_SOCKET] = { "socket,cpus", 12 },
		[SONDE_STAT_BY_NODE] = { "node,cpus", 12 },
		[SONDE_STAT_BY_THREAD] = { "comm-pid", 26 },
	};

	if (p->layout != &stat_csv_layout) {
		fprintf(p->out, "%*s", places[p->by].width, "");
		return;
	}
	if (r->kind == SONDE_STAT_INTERVAL)
		fprintf(p->out, "time%s", p->separator);
	for (const char *at = places[p->by].fields; at; at = strchr(at, ',')) {
		at += *at == ',';
		fprintf(p->out, "%.*s%s", (int)strcspn(at, ","), at, p->separator);
	}
}

static void print_metric_names(const struct stat_printer *p, const struct sonde_stat_round *r)
{
	char name[METRIC_NAME_BYTES];

	print_metric_place(p, r);
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct sonde_stat_row *row = &r->rows[i];

		for (uint32_t k = 0; print_same_place(row, &r->rows[0]) && k < row->nr_metrics;
		     k++) {
			if (!print_takes_metric(&row->metrics[k]))
				continue;
			print_name_metric(p, row, &row->metrics[k], name, sizeof(name));
			print_metric_cell(p, name, name);
		}
	}
	fputc('\n', p->out);
}

/* Rows of one place as one object. */
static void print_metrics_json(const struct stat_printer *p, const struct sonde_stat_round *r,
			       const struct sonde_stat_row *first)
{
	bool is_first = true;
	char name[METRIC_NAME_BYTES];

	print_prefix(p, r, first);
	fputs("\"metrics\" : {", p->out);
	for (const struct sonde_stat_row *row = first; row < r->rows + r->nr_rows; row++)
		for (uint32_t i = 0; print_same_place(first, row) && i < row->nr_metrics; i++) {
			if (!row->metrics[i].has_value || !print_takes_metric(&row->metrics[i]))
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
	/* in intervals only below a heading */
	if (p->layout != &stat_json_layout &&
	    (r->kind != SONDE_STAT_INTERVAL || p->nr_printed == 1 || p->clears))
		print_metric_names(p, r);
	for (const struct sonde_stat_row *first = print_next_place(r, NULL); first;
	     first = print_next_place(r, first)) {
		if (p->layout == &stat_json_layout) {
			print_metrics_json(p, r, first);
			continue;
		}
		print_prefix(p, r, first);
		for (const struct sonde_stat_row *row = first; row < r->rows + r->nr_rows; row++)
			if (print_same_place(first, row))
				print_metric_values(p, r, row);
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
