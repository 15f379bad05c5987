/* SPDX-License-Identifier: MIT */
/* Counts as JSON: an object for each row. */
#include "json.h"
#include "stat_print.h"

static void stat_json_time(const struct stat_printer *p, uint64_t ns)
{
	fprintf(p->out, "{\"interval\" : %lu.%09lu, ", (unsigned long)(ns / 1000000000),
		(unsigned long)(ns % 1000000000));
}

static void stat_json_place(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	static const char *const keys[] = {
		[SONDE_STAT_BY_CPU] = "cpu",   [SONDE_STAT_BY_CORE] = "core",
		[SONDE_STAT_BY_DIE] = "die",   [SONDE_STAT_BY_SOCKET] = "socket",
		[SONDE_STAT_BY_NODE] = "node", [SONDE_STAT_BY_THREAD] = "thread",
	};
	char name[64];

	if (!p->is_interval)
		fputc('{', p->out);
	if (p->by == SONDE_STAT_BY_ALL)
		return;
	stat_place_text(p, row, name, sizeof(name));
	fprintf(p->out,
		"\"%s\" : ", p->by == SONDE_STAT_BY_CPU && row->cpu < 0 ? "core" : keys[p->by]);
	/* a cpu is its number alone */
	json_write_string(p->out, p->by == SONDE_STAT_BY_CPU && row->cpu >= 0 ? name + 3 : name);
	fputs(", ", p->out);
	if (p->by != SONDE_STAT_BY_CPU && p->by != SONDE_STAT_BY_THREAD)
		fprintf(p->out, "\"aggregate-number\" : %u, ", row->nr_counters);
}

static void stat_json_value(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	const struct sonde_stat_event *e = sonde_stat_event(p->stat, row->event);

	if (row->state == SONDE_STAT_COUNTED)
		fprintf(p->out, "\"counter-value\" : \"%f\", \"unit\" : ", stat_scaled(p, row));
	else
		fprintf(p->out, "\"counter-value\" : \"%s\", \"unit\" : ",
			row->state == SONDE_STAT_NOT_SUPPORTED ? "<not supported>"
							       : "<not counted>");
	json_write_string(p->out, e->unit);
	fputs(", \"event\" : ", p->out);
	json_write_string(p->out, e->name);
	if (e->cgroup) {
		fputs(", \"cgroup\" : ", p->out);
		json_write_string(p->out, e->cgroup);
	}
}

static void stat_json_deviation(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	fprintf(p->out, ", \"variance\" : %.2f",
		row->state == SONDE_STAT_COUNTED ? stat_deviation_percent(row) : 0);
}

static void stat_json_share(const struct stat_printer *p, const struct sonde_stat_row *row)
{
	fprintf(p->out, ", \"event-runtime\" : %llu, \"pcnt-running\" : %.2f",
		(unsigned long long)row->mean_running_ns, stat_share_percent(row));
}

/* A further metric of a row is an object of its own. */
static void stat_json_metric(const struct stat_printer *p, const struct sonde_stat_row *row,
			     const struct sonde_stat_metric *metric, uint64_t time_ns, bool is_more)
{
	const bool has_value = metric && metric->has_value;
	const char *none = p->prints_null && row->state == SONDE_STAT_COUNTED ? "(null)" : "";

	if (is_more) {
		fputs("}\n", p->out);
		if (p->is_interval)
			stat_json_time(p, time_ns);
		stat_json_place(p, row);
	}
	fprintf(p->out, "%s\"metric-value\" : %f, \"metric-unit\" : ", is_more ? "" : ", ",
		has_value ? metric->value : 0);
	json_write_string(p->out, has_value ? metric->unit : none);
}

static void stat_json_end(const struct stat_printer *p)
{
	fputs("}\n", p->out);
}

const struct stat_layout stat_json_layout = {
	.time = stat_json_time,
	.place = stat_json_place,
	.value = stat_json_value,
	.metric = stat_json_metric,
	.deviation = stat_json_deviation,
	.share = stat_json_share,
	.end = stat_json_end,
	.metric_is_last = true,
};
