/* SPDX-License-Identifier: MIT */
/* Which events are counted, and their attrs. */

#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/outbuf.h"
#include "capture/running/cgroups.h"
#include "capture/setup/capture.h"
#include "stat/stat.h"

/* ---- default events -------------------------------------------------------------------------- */

/* The parts of the default list. Each -d adds one. */
static const char *const details[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	"L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
	"iTLB-load-misses",
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

/* The processor has these events if its source names them. */
static bool chosen_counts_stalls(const char *which)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/cpu/events/stalled-cycles-%s",
		 which);
	return access(path, F_OK) == 0;
}

static int chosen_add_default(struct sonde_stat *s)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "%s,context-switches,cpu-migrations,page-faults,cycles,%s%sinstructions,branches,"
		 "branch-misses",
		 s->target.system_wide ? "cpu-clock" : "task-clock",
		 chosen_counts_stalls("frontend") ? "stalled-cycles-frontend," : "",
		 chosen_counts_stalls("backend") ? "stalled-cycles-backend," : "");
	TRY(capture_events_add(&s->events, text));
	for (uint64_t i = 0; i < s->opts.detailed; i++)
		TRY(capture_events_add(&s->events, details[i]));
	return 0;
}

/* ---- an event for each control group --------------------------------------------------------- */

struct group_names {
	struct outbuf list; /* "a,b" */
	const regex_t *pattern;
	size_t nr;
};

static void chosen_add_group(struct group_names *g, const char *name)
{
	outbuf_fmt(&g->list, "%s%s", g->nr ? "," : "", name);
	g->nr++;
}

static void chosen_match_group(void *ctx, uint64_t id, const char *path)
{
	struct group_names *g = ctx;
	const char *name = path[0] == '/' && path[1] ? path + 1 : path;

	if (regexec(g->pattern, name, 0, NULL, 0) == 0)
		chosen_add_group(g, name);
}

/* A name with characters of a pattern is an extended regular expression, as in perf. */
static int chosen_find_groups(struct group_names *g, const char *names)
{
	for (const char *at = names; *at; at += strspn(at, ",")) {
		const size_t len = strcspn(at, ",");
		char name[512];
		regex_t pattern;
		size_t before = g->nr;

		if (snprintf(name, sizeof(name), "%.*s", (int)len, at) >= (int)sizeof(name))
			return err_set(-EBADR, "--for-each-cgroup: a name is too long");
		at += len;
		if (!name[strcspn(name, "{}[]()|*+?^$")]) {
			chosen_add_group(g, name);
			continue;
		}
		if (regcomp(&pattern, name, REG_EXTENDED | REG_NOSUB) != 0)
			return err_set(-EBADR,
				       "--for-each-cgroup: '%s' is not a regular expression", name);
		g->pattern = &pattern;
		cgroups_each(chosen_match_group, g);
		regfree(&pattern);
		if (g->nr == before)
			return err_set(-EBADR, "--for-each-cgroup: no control group matches '%s'",
				       name);
	}
	if (!g->nr)
		return err_set(-EBADR, "--for-each-cgroup needs the name of a control group");
	return g->list.failed ? err_nomem() : 0;
}

/* The first control group for all events, then the second one, and so on. */
static int chosen_expand(struct sonde_stat *s, const char *groups)
{
	struct capture_events *l = &s->events;
	const size_t nr = l->list.n;
	struct outbuf names = { 0 };
	int r = 0;

	for (const char *at = groups; *at && r == 0; at += strspn(at, ",")) {
		const size_t len = strcspn(at, ",");
		const size_t first = at == groups ? 0 : l->list.n;

		for (size_t i = 0; i < nr && r == 0; i++) {
			struct capture_event e = l->list.v[i];

			outbuf_fmt(&names, "%s%.*s", names.len ? "," : "", (int)len, at);
			if (first == 0)
				continue;
			e.leader = l->list.v[i].leader;
			r = capture_events_push(l, &e);
			if (r == 0)
				l->list.v[l->list.n - 1].leader = (uint32_t)(first + e.leader);
		}
		at += len;
	}
	outbuf_put(&names, "", 1);
	if (r == 0)
		r = names.failed ? err_nomem()
				 : capture_events_cgroups(l, "--for-each-cgroup", names.data);
	outbuf_done(&names);
	return r;
}

static int chosen_for_each_group(struct sonde_stat *s)
{
	struct group_names g = { 0 };
	int r;

	if (s->events.nr_cgroups)
		return err_set(-EBADR, "--for-each-cgroup and -G exclude each other");
	r = chosen_find_groups(&g, s->opts.for_each_cgroup);
	outbuf_put(&g.list, "", 1);
	if (r == 0)
		r = g.list.failed ? err_nomem() : chosen_expand(s, g.list.data);
	outbuf_done(&g.list);
	return r;
}

int stat_choose_events(struct sonde_stat *s, const struct sonde_record_event *events, size_t nr)
{
	int any;

	s->events.takes_tools = true;
	if (s->opts.null_run)
		return 0;
	if (s->opts.cputype)
		TRY(capture_events_choose_cores(&s->events, s->opts.cputype));
	any = capture_add_events(&s->events, events, nr);
	TRY(any);
	if (!any)
		TRY(chosen_add_default(s));
	capture_events_leave_out(&s->events, s->target.cpus.list.v, s->target.cpus.list.n);
	if (s->opts.capture.group)
		TRY(capture_events_group_all(&s->events));
	if (s->opts.for_each_cgroup)
		TRY(chosen_for_each_group(s));
	if (s->events.cgroups.n && !s->target.system_wide)
		return err_set(-EBADR,
			       "control groups are counted on whole cpus, not in a process: add -a "
			       "or -C CPUS");
	return 0;
}

/* ---- attrs ----------------------------------------------------------------------------------- */

static void chosen_configure(struct sonde_stat *s, struct capture_event *e, bool is_leader)
{
	struct perf_event_attr *a = &e->attr;
	const bool with_command = s->target.workload && s->delay_ms == 0;

	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a->inherit = s->opts.capture.no_inherit != CAPTURE_YES;
	a->sample_period = 0;
	a->freq = 0;
	/* a leader switches its group */
	a->disabled = is_leader;
	a->enable_on_exec = is_leader && with_command;
	if (s->opts.capture.all_user)
		a->exclude_kernel = a->exclude_hv = 1;
	if (s->opts.capture.all_kernel)
		a->exclude_user = 1;
}

void stat_configure_events(struct sonde_stat *s)
{
	for (size_t i = 0; i < s->events.list.n; i++)
		chosen_configure(s, &s->events.list.v[i], s->events.list.v[i].leader == i);
}

int stat_show_events(struct sonde_stat *s)
{
	vec_clear(&s->shown);
	vec_foreach(e, &s->subject.events) {
		const struct sonde_stat_event shown = {
			.size = sizeof(shown),
			.is_supported = e->is_supported || e->tool != TOOL_NONE,
			.name = e->name,
			.cgroup = e->cgroup,
			.unit = e->unit,
			.scale = e->scale,
			.rows_event = (uint32_t)stat_rows_event(&s->subject, s->shown.n),
		};

		if (vec_push(&s->shown, shown) < 0)
			return err_nomem();
	}
	return 0;
}
