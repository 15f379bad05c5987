/* SPDX-License-Identifier: MIT */
/* Counts as fields, for programs (-x). */
#include "stat_print.h"

static void csv_time(const struct stat_printer *p, uint64_t ns)
{
	fprintf(p->out, "%6lu.%09lu%s", (unsigned long)(ns / 1000000000),
		(unsigned long)(ns % 1000000000), p->separator);
}

static void csv_place(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	char name[64];

	if (p->by == SONDE_STAT_BY_ALL)
		return;
	fprintf(p->out, "%s%s", stat_place_text(p, row, name, sizeof(name)), p->separator);
	if (p->by != SONDE_STAT_BY_CPU && p->by != SONDE_STAT_BY_THREAD)
		fprintf(p->out, "%u%s", row->nr_counters, p->separator);
}

static void csv_value(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	const struct sonde_stat_event *e = sonde_stat_event(p->stat, row->event);

	if (row->state != SONDE_STAT_COUNTED)
		fprintf(p->out, "%s%s",
			row->state == SONDE_STAT_NOT_SUPPORTED ? "<not supported>"
							       : "<not counted>",
			p->separator);
	else
		fprintf(p->out, "%.*f%s", stat_has_decimals(p, row) ? 2 : 0, stat_scaled(p, row),
			p->separator);
	fprintf(p->out, "%s%s%s%s", e->unit, p->separator, e->name, p->separator);
	if (e->cgroup)
		fprintf(p->out, "%s%s", e->cgroup, p->separator);
}

/* The fields before a metric: those of the place are counted twice, as perf prints them. */
static int csv_nr_empty(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	const int of_place = p->by == SONDE_STAT_BY_ALL                                    ? 0
			     : p->by == SONDE_STAT_BY_CPU || p->by == SONDE_STAT_BY_THREAD ? 1
											   : 2;

	return 4 + of_place + (sonde_stat_event(p->stat, row->event)->cgroup != NULL);
}

static void csv_metric(const struct stat_printer *p, const struct sonde_stat_row *row,
		       const struct sonde_stat_metric *metric, uint64_t time_ns, bool is_more)
{
	char value[64];

	if (is_more && stat_metric_follows(metric)) {
		fputs(p->separator, p->out);
	} else if (is_more) {
		fputc('\n', p->out);
		if (p->is_interval)
			csv_time(p, time_ns);
		csv_place(p, row);
		for (int i = 0; i < csv_nr_empty(p, row); i++)
			fputs(p->separator, p->out);
	}
	if (!metric || !metric->has_value)
		fprintf(p->out, "%s", p->separator);
	else
		fprintf(p->out, "%s%s%s", stat_metric_text(metric, value, sizeof(value)),
			p->separator, metric->unit);
}

static void csv_deviation(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	fprintf(p->out, "%.2f%%%s",
		row->state == SONDE_STAT_COUNTED ? stat_deviation_percent(row) : 0, p->separator);
}

static void csv_share(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	fprintf(p->out, "%llu%s%.2f%s", (unsigned long long)row->mean_running_ns, p->separator,
		stat_share_percent(row), p->separator);
}

static void csv_end(const struct stat_printer *p)
{
	fputc('\n', p->out);
}

const struct stat_layout stat_csv_layout = {
	.time = csv_time,
	.place = csv_place,
	.value = csv_value,
	.metric = csv_metric,
	.deviation = csv_deviation,
	.share = csv_share,
	.end = csv_end,
	.metric_is_last = true,
};
