/* SPDX-License-Identifier: MIT */
/* Counts as a table for people. */
#include "stat_print.h"

enum { NAME_WIDTH = 32, NO_VALUE_NAME_WIDTH = 25, METRIC_WIDTH = 35 };

const char *stat_metric_column(const struct sonde_stat_metric *m, char *buf, size_t size)
{
	static const char *const formats[] = {
		[SONDE_STAT_NUMBER] = "%8.3f",           [SONDE_STAT_RATIO] = "%7.2f ",
		[SONDE_STAT_PERCENT] = "%7.2f%%",        [SONDE_STAT_PERCENT_FINE] = "%8.3f %%",
		[SONDE_STAT_PERCENT_COARSE] = "%8.1f%%", [SONDE_STAT_WHOLE] = "%8.0f",
		[SONDE_STAT_WHOLE_SMALL] = "%4.0f",
	};

	snprintf(buf, size, formats[m->kind], m->value);
	return buf;
}

static void text_heading(const struct stat_printer *p)
{
	static const char *const headings[] = {
		[SONDE_STAT_BY_ALL] = "#           time             counts unit events",
		[SONDE_STAT_BY_CPU] = "#           time CPU                    counts unit events",
		[SONDE_STAT_BY_CORE] =
			"#           time core            cpus             counts unit events",
		[SONDE_STAT_BY_DIE] =
			"#           time die          cpus             counts unit events",
		[SONDE_STAT_BY_SOCKET] =
			"#           time socket cpus             counts unit events",
		[SONDE_STAT_BY_NODE] =
			"#           time node   cpus             counts unit events",
		[SONDE_STAT_BY_THREAD] =
			"#           time             comm-pid                  counts unit events",
	};

	if (p->metric_only)
		fputs("#           time ", p->out);
	else
		fprintf(p->out, "%s\n", headings[p->by]);
}

static void text_time(const struct stat_printer *p, uint64_t ns)
{
	fprintf(p->out, "%6lu.%09lu ", (unsigned long)(ns / 1000000000),
		(unsigned long)(ns % 1000000000));
}

static void text_place(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	/* the width of each place's name; cores and larger places also print their counters */
	static const int widths[] = {
		[SONDE_STAT_BY_CPU] = 10,   [SONDE_STAT_BY_CORE] = 15, [SONDE_STAT_BY_DIE] = 12,
		[SONDE_STAT_BY_SOCKET] = 6, [SONDE_STAT_BY_NODE] = 6,
	};
	char name[64];

	switch (p->by) {
	case SONDE_STAT_BY_ALL:
		break;
	case SONDE_STAT_BY_THREAD:
		fprintf(p->out, "%16s-%-8d ", row->comm, row->tid);
		break;
	default:
		fprintf(p->out, "%-*s ", widths[p->by],
			stat_place_text(p, row, name, sizeof(name)));
		if (p->by != SONDE_STAT_BY_CPU)
			fprintf(p->out, "%4u ", row->nr_counters);
	}
}

static void text_value(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	const struct sonde_stat_event *e = sonde_stat_event(p->stat, row->event);
	const bool counted = row->state == SONDE_STAT_COUNTED;
	const int decimals = stat_has_decimals(p, row) ? 2 : 0;

	if (!counted)
		fprintf(p->out, "%18s ",
			row->state == SONDE_STAT_NOT_SUPPORTED ? "<not supported>"
							       : "<not counted>");
	else if (p->big_num)
		fprintf(p->out, "%'18.*f ", decimals, stat_scaled(p, row));
	else
		fprintf(p->out, "%18.*f ", decimals, stat_scaled(p, row));
	fprintf(p->out, "%-*s %-*s", p->unit_width, e->unit,
		counted ? NAME_WIDTH : NO_VALUE_NAME_WIDTH, e->name);
	if (e->cgroup)
		fprintf(p->out, " %s", e->cgroup);
}

static void text_metric(const struct stat_printer *p, const struct sonde_stat_row *row,
			const struct sonde_stat_metric *metric, uint64_t time_ns, bool is_more)
{
	char value[64];
	int len;

	if (is_more && !stat_metric_follows(metric)) {
		fputc('\n', p->out);
		if (p->is_interval)
			text_time(p, time_ns);
		text_place(p, row);
		fprintf(p->out, "%*s", p->by == SONDE_STAT_BY_CPU ? 57 : 49, "");
	}
	if (!metric || !metric->has_value) {
		fprintf(p->out, "%*s", METRIC_WIDTH, "");
		return;
	}
	len = fprintf(p->out, " # %s", stat_metric_column(metric, value, sizeof(value)));
	fprintf(p->out, " %-*s", METRIC_WIDTH - len - 1, metric->unit);
}

static void text_deviation(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	const double percent = stat_deviation_percent(row);

	if (row->state == SONDE_STAT_COUNTED && percent > 0)
		fprintf(p->out, "  ( +-%6.2f%% )", percent);
}

static void text_share(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	if (row->state == SONDE_STAT_COUNTED && row->mean_running_ns < row->mean_enabled_ns)
		fprintf(p->out, "  (%.2f%%)", stat_share_percent(row));
}

static void text_end(const struct stat_printer *p)
{
	fputc('\n', p->out);
}

const struct stat_layout stat_text_layout = {
	.heading = text_heading,
	.time = text_time,
	.place = text_place,
	.value = text_value,
	.metric = text_metric,
	.deviation = text_deviation,
	.share = text_share,
	.end = text_end,
};
