/* SPDX-License-Identifier: MIT */
#include "stat_baseline_check.h"

#include "stat_options.h"

#include <string.h>

struct check {
	const struct cli *cli;
	const char *path;
	const struct stat_runs *base;
	const struct sonde_stat *stat;
};

static bool check_is_counted(const struct stat_runs *base, const char *event, const char *cgroup)
{
	for (size_t i = 0; i < base->n; i++)
		if (!strcmp(base->list[i].event, event) && !strcmp(base->list[i].cgroup, cgroup))
			return true;
	return false;
}

/*
 * True if a row of the baseline is of an event. The name gets the modifier u, cs:u, when its
 * counters are opened by a user who may not count the kernel: a baseline that has cs:u alone was
 * made by such a user.
 */
static bool check_is_of(const struct check *c, const struct stat_series *row,
			const struct sonde_stat_event *e)
{
	const char *cgroup = e->cgroup ? e->cgroup : "";
	const size_t len = strlen(e->name);
	const char *rest = row->event + len;

	if (strcmp(row->cgroup, cgroup) != 0 || strncmp(row->event, e->name, len) != 0)
		return false;
	if (!*rest)
		return true;
	return !strcmp(rest, strchr(e->name, ':') ? "u" : ":u") &&
	       !check_is_counted(c->base, e->name, cgroup);
}

/* An event whose counts are in the rows of another one has none of its own. */
static bool check_has_rows(const struct sonde_stat_event *e, size_t index)
{
	return e->rows_event == index;
}

/* Every event is in the baseline. */
static int check_events(const struct check *c)
{
	const struct sonde_stat_event *e;

	for (size_t i = 0; (e = sonde_stat_event(c->stat, i)); i++) {
		bool is_there = false;

		for (size_t k = 0; k < c->base->n && !is_there; k++)
			is_there = check_is_of(c, &c->base->list[k], e);
		if (!is_there)
			return cli_usage(c->cli, "stat: --baseline: %s has no counts of %s",
					 c->path, e->name);
	}
	return 0;
}

/* Every row is of an event, and at its place as often as the event is counted now. */
static int check_row(const struct check *c, const struct stat_series *row)
{
	const struct sonde_stat_event *e;
	size_t now = 0, before = 0;

	for (size_t i = 0; (e = sonde_stat_event(c->stat, i)); i++)
		now += check_has_rows(e, i) && check_is_of(c, row, e);
	if (!now)
		return cli_usage(c->cli, "stat: --baseline: %s has counts of other events, too: %s",
				 c->path, row->event);
	for (size_t k = 0; k < c->base->n; k++)
		before += stat_series_same(&c->base->list[k], row);
	if (before == now)
		return 0;
	return cli_usage(c->cli, "stat: --baseline: counts of %s: %zu in %s, %zu in this run",
			 row->event, before, c->path, now);
}

static int check_places(const struct check *c, enum sonde_stat_by by)
{
	const struct stat_series *other = stat_baseline_find_other_place(c->base, by);
	const bool has_places = by != SONDE_STAT_BY_ALL;

	if (!other)
		return 0;
	return cli_usage(
		c->cli,
		"stat: --baseline: %s has counts of %s, and this run has %s%s: give it -A, "
		"--per-core and the like as for %s",
		c->path, *other->place ? other->place : "no places",
		has_places ? "counts by " : "sums of all places",
		has_places ? stat_by_names[by] : "", c->path);
}

int stat_baseline_check(const struct cli *cli, const char *path, const struct stat_runs *base,
			const struct sonde_stat *s, enum sonde_stat_by by)
{
	const struct check c = { .cli = cli, .path = path, .base = base, .stat = s };
	int status = check_events(&c);

	if (!status)
		status = check_places(&c, by);
	for (size_t i = 0; i < base->n && !status; i++)
		status = check_row(&c, &base->list[i]);
	return status;
}
