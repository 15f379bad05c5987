/* SPDX-License-Identifier: MIT */
#include "report_config.h"

#include "report_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* perf's exit status for a wrong value in a file. */
#define WRONG_CONFIG 255

/* ---- values ---------------------------------------------------------------------------------- */

static bool report_config_number(const char *value, double *ret)
{
	char *end;

	*ret = strtod(value, &end);
	return end != value && !*end && isfinite(*ret);
}

static bool report_config_sort_order(struct report_args *a, const char *value)
{
	a->default_sort = value;
	return *value;
}

static bool report_config_percent_limit(struct report_args *a, const char *value)
{
	if (!report_config_number(value, &a->percent_limit))
		return false;
	a->graph.min_percent = a->percent_limit;
	return true;
}

static bool report_config_children(struct report_args *a, const char *value)
{
	a->no_children = !config_bool(value);
	return config_bool(value) >= 0;
}

static bool report_config_group(struct report_args *a, const char *value)
{
	a->no_group = !config_bool(value);
	return config_bool(value) >= 0;
}

static bool report_config_skip_empty(struct report_args *a, const char *value)
{
	a->no_skip_empty = !config_bool(value);
	return config_bool(value) >= 0;
}

static bool report_config_queue_size(struct report_args *a, const char *value)
{
	double number;

	(void)a;
	return report_config_number(value, &number);
}

static bool report_config_percentage(struct report_args *a, const char *value)
{
	a->is_relative = !strcmp(value, "relative");
	return a->is_relative || !strcmp(value, "absolute");
}

static bool report_config_print_type(struct report_args *a, const char *value)
{
	return report_options_graph_word(a, GRAPH_WORD_KIND, value) &&
	       a->graph.kind != REPORT_NO_GRAPH;
}

static bool report_config_order(struct report_args *a, const char *value)
{
	return report_options_graph_word(a, GRAPH_WORD_ORDER, value);
}

static bool report_config_sort_key(struct report_args *a, const char *value)
{
	return report_options_graph_word(a, GRAPH_WORD_KEY, value);
}

static bool report_config_threshold(struct report_args *a, const char *value)
{
	return report_config_number(value, &a->graph.min_percent);
}

static bool report_config_print_limit(struct report_args *a, const char *value)
{
	char *end;
	const unsigned long limit = strtoul(value, &end, 0);

	a->graph.print_limit = (uint32_t)limit;
	return end != value && !*end && limit <= UINT32_MAX;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* report.percent-limit is after call-graph.threshold: it changes both. */
static const struct report_config_key {
	const char *name;
	const char *wanted; /* what a value is */
	/* Returns false for a wrong value. */
	bool (*set)(struct report_args *a, const char *value);
	bool perf_ignores; /* a wrong value; perf reports it and continues */
} report_config_keys[] = {
	{ "call-graph.print-type", "graph, flat, fractal or folded", report_config_print_type,
	  false },
	{ "call-graph.order", "caller or callee", report_config_order, false },
	{ "call-graph.sort-key", "function, address, srcline or branch", report_config_sort_key,
	  false },
	{ "call-graph.threshold", "a number of percents", report_config_threshold, false },
	{ "call-graph.print-limit", "a number", report_config_print_limit, false },
	{ "hist.percentage", "relative or absolute", report_config_percentage, false },
	{ "report.sort_order", "a list of keys", report_config_sort_order, false },
	{ "report.percent-limit", "a number of percents", report_config_percent_limit, true },
	{ "report.children", "true or false", report_config_children, true },
	{ "report.group", "true or false", report_config_group, true },
	{ "report.skip-empty", "true or false", report_config_skip_empty, true },
	{ "report.queue-size", "a number of bytes", report_config_queue_size, false },
};

static int report_config_apply(struct cli *cli, struct report_args *a,
			       const struct report_config_key *k)
{
	const struct config_entry *e = config_find(&cli->config, k->name, true);
	const struct report_args before = *a;

	if (!e)
		e = config_find(&cli->config, k->name, false);
	if (!e || k->set(a, e->value))
		return 0;
	cli_say("%s:%d: %s is %s, not '%s'", e->file, e->line, e->name, k->wanted, e->value);
	if (!cli_compat(cli))
		return cli_status(cli, CLI_USAGE);
	if (!k->perf_ignores)
		return WRONG_CONFIG;
	*a = before;
	return 0;
}

int report_config(struct cli *cli, void *values)
{
	for (size_t i = 0; i < sizeof(report_config_keys) / sizeof(*report_config_keys); i++) {
		const int status = report_config_apply(cli, values, &report_config_keys[i]);

		if (status)
			return status;
	}
	return 0;
}
