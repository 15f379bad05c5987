/* SPDX-License-Identifier: MIT */
/* Turns settings into a count that is ready to start. */

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/setup/values.h"
#include "stat/stat.h"

#define CPUS_PRESENT "/sys/devices/system/cpu/present"

enum { DELAY_MAX_MS = 1 << 30 };

static int open_parse_delay(struct sonde_stat *s)
{
	const char *text = s->opts.delay_ms;
	uint64_t ms = 0;

	if (!text)
		return 0;
	if (!strcmp(text, "-1")) {
		s->delay_ms = -1;
		return 0;
	}
	if (*text == '-')
		return err_set(-EBADR,
			       "-D needs milliseconds, or -1 to count nothing until --control "
			       "enables it, not '%s'",
			       text);
	TRY(capture_value_number("-D", text, 0, DELAY_MAX_MS, &ms));
	s->delay_ms = (int64_t)ms;
	return 0;
}

/* Tasks are counted on any cpu by one counter each, so the target has one cpu, -1. */
static int open_find_target(struct sonde_stat *s, bool has_command)
{
	struct capture_options *o = &s->opts.capture;
	const bool by_task = o->pid || o->tid;
	const bool each_thread = s->opts.by == SONDE_STAT_BY_THREAD;
	const bool has_places = s->opts.by != SONDE_STAT_BY_ALL && !each_thread;

	if (each_thread && has_command && !by_task && !o->all_cpus)
		return err_set(-EBADR, "--per-thread needs -p, -t or -a, or no command");
	if (has_places && (by_task || (has_command && !o->all_cpus && !o->cpu)))
		return err_set(-EBADR,
			       "counts for each cpu, core, die, socket or node need whole cpus: "
			       "add -a or -C CPUS");
	o->per_thread = by_task || (has_command && !o->all_cpus && !o->cpu);
	return target_find(&s->target, o, has_command, &s->say);
}

/* ---- the subject ----------------------------------------------------------------------------- */

static int open_add_task(void *ctx, int32_t pid, int32_t tid)
{
	return stat_subject_add_task(ctx, pid, tid);
}

static int open_fill_tasks(struct sonde_stat *s)
{
	if (s->opts.by == SONDE_STAT_BY_THREAD && s->target.system_wide) {
		vec_clear(&s->target.cpus.list);
		TRY(vec_push(&s->target.cpus.list, -1));
		return target_each_thread(open_add_task, &s->subject);
	}
	vec_foreach(tid, &s->target.tids)
		TRY(stat_subject_add_task(&s->subject, *tid, *tid));
	/* the command's task, which each run has anew */
	return s->target.workload ? stat_subject_add_task(&s->subject, -1, -1) : 0;
}

/* A cpu that is offline may come online while it is counted, so it has a place. */
static int open_fill_cpus(struct sonde_stat *s)
{
	struct capture_cpus present = { 0 }, *from = &s->target.cpus;
	struct cpu_place *places;

	if (s->target.system_wide && !s->target.chosen_cpus && from->list.v[0] >= 0 &&
	    capture_cpus_read(CPUS_PRESENT, &present) == 0)
		from = &present;
	vec_foreach(cpu, &from->list)
		if (vec_push(&s->subject.cpus, *cpu) < 0 ||
		    vec_push(&s->subject.places, (struct cpu_place){ 0 }) < 0) {
			vec_done(&present.list);
			return err_nomem();
		}
	vec_done(&present.list);
	places = s->subject.places.v;
	cpu_places_read(NULL, s->subject.cpus.v, s->subject.cpus.n, places);
	return 0;
}

/* x/ev/ becomes x_0/ev/, ev becomes "ev [x_0]". */
static int open_name_source(struct sonde_stat *s, struct capture_event *e)
{
	const char *terms = strchr(e->name, '/');
	const size_t len = terms ? (size_t)(terms - e->name) : 0;
	char *name;
	int n;

	if (terms && !strncmp(e->name, e->source, len) && !e->source[len])
		return 0;
	n = terms ? asprintf(&name, "%s%s", e->source, terms)
		  : asprintf(&name, "%s [%s]", e->name, e->source);
	if (n < 0)
		return err_nomem();
	e->name = arena_strdup(&s->subject.arena, name);
	free(name);
	return e->name ? 0 : err_nomem();
}

/* The names are compared before any of them changes. */
static int open_name_sources(struct sonde_stat *s)
{
	const size_t nr = s->events.list.n;
	bool *is_repeated = s->opts.no_merge ? calloc(nr + 1, sizeof(*is_repeated)) : NULL;
	int e = s->opts.no_merge && !is_repeated ? err_nomem() : 0;

	for (size_t i = 0; is_repeated && i < nr; i++)
		for (size_t k = 0; k < nr && !is_repeated[i]; k++) {
			const struct capture_event *a = &s->events.list.v[i];
			const struct capture_event *b = &s->events.list.v[k];

			is_repeated[i] = a->source && b->source && !strcmp(a->name, b->name) &&
					 strcmp(a->source, b->source) != 0;
		}
	for (size_t i = 0; is_repeated && i < nr && e == 0; i++)
		if (is_repeated[i])
			e = open_name_source(s, &s->events.list.v[i]);
	free(is_repeated);
	return e;
}

/* The rows of a name become one: rows.c. */
static void open_name_hybrid(struct sonde_stat *s)
{
	vec_foreach(e, &s->events.list)
		if (e->name_of_all && s->opts.hybrid_merge && !s->opts.no_merge)
			e->name = e->name_of_all;
}

static int open_fill_events(struct sonde_stat *s)
{
	TRY(open_name_sources(s));
	open_name_hybrid(s);
	vec_foreach(e, &s->events.list) {
		struct stat_event event = {
			.name = e->name,
			.cgroup = e->cgroup,
			.unit = e->unit,
			.scale = e->scale,
			.type = e->attr.type,
			.config = e->attr.config,
			.levels = stat_levels(&e->attr),
			.tool = e->tool,
			.cpus = e->cpus,
			.nr_cpus = e->nr_cpus,
			/* as in perf, only events of a source have this term */
			.per_core = e->terms.per_core && e->source,
		};

		stat_event_describe(&event);
		if (vec_push(&s->subject.events, event) < 0)
			return err_nomem();
	}
	return stat_show_events(s);
}

int stat_make_readings(struct sonde_stat *s)
{
	const size_t cells = stat_cells(&s->subject) + 1;

	s->now.v = calloc(cells, sizeof(*s->now.v));
	s->before.v = calloc(cells, sizeof(*s->before.v));
	s->interval.v = calloc(cells, sizeof(*s->interval.v));
	return s->now.v && s->before.v && s->interval.v ? 0 : err_nomem();
}

static int open_stat(struct sonde_stat *s, const struct sonde_stat_options *o)
{
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0)
		return err_errno(errno, "cannot make an eventfd");
	TRY(stat_options_parse(&s->opts, o->settings));
	TRY(open_parse_delay(s));
	TRY(control_parse(&s->control, s->opts.control));
	if (s->delay_ms < 0 && !s->control.is_given)
		say(&s->say, SAY_WARNING,
		    "-D -1 without --control: nothing can enable the events, so none will be "
		    "counted");
	s->command = o->command;
	TRY(open_find_target(s, o->command != NULL));
	TRY(stat_choose_events(s, o->events, o->nr_events));
	stat_configure_events(s);
	TRY(open_fill_tasks(s));
	TRY(open_fill_cpus(s));
	TRY(open_fill_events(s));
	s->rows.by = (enum sonde_stat_by)s->opts.by;
	s->rows.no_scale = s->opts.no_scale;
	s->rows.shows_threads_of_core = s->opts.percore_show_thread;
	s->rows.leaves_out_idle = s->target.system_wide;
	return stat_make_readings(s);
}

struct sonde_stat *stat_new(void)
{
	struct sonde_stat *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->workload.pidfd = s->workload.go_fd = s->workload.error_fd = -1;
	s->control.fd = s->control.ack_fd = s->wake_fd = -1;
	return s;
}

int stat_open(struct sonde_stat **ret, const struct sonde_stat_options *opts)
{
	struct sonde_stat *s = stat_new();
	int e;

	if (!s)
		return err_nomem();
	s->say = (struct say){ opts->say, opts->say_ctx };
	s->argv = opts->argv;
	e = open_stat(s, opts);
	if (e < 0) {
		stat_close(s);
		return e;
	}
	*ret = s;
	return 0;
}

void stat_close(struct sonde_stat *s)
{
	workload_close(&s->workload);
	control_close(&s->control);
	stat_opened_close(&s->opened);
	stat_to_file_close(s);
	if (s->is_from_file)
		stat_from_file_close(s);
	capture_events_done(&s->events);
	target_done(&s->target);
	stat_subject_done(&s->subject);
	stat_rows_done(&s->rows);
	stat_options_done(&s->opts);
	vec_done(&s->shown);
	free(s->now.v);
	free(s->before.v);
	free(s->interval.v);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	free(s);
}
