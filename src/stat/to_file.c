/* SPDX-License-Identifier: MIT */
/* A count as a recording: what perf stat record writes. */

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "formats/perfdata/stat.h"
#include "formats/perfdata/writer.h"
#include "record/describe/features.h"
#include "stat/stat.h"

/* Ids of counts without a counter of the kernel, whose own ids are small. */
#define MADE_ID (UINT64_C(1) << 63)

#define DEFAULT_OUTPUT "perf.data"

/* ---- the header ------------------------------------------------------------------------------ */

/*
 * The ids of the counters. A count that has no counter yet, but may get one later (its cpu is
 * offline), or that is not the kernel's, has a made id: records name counts by ids of the header.
 */
static int to_file_find_ids(struct sonde_stat *s)
{
	struct stat_to_file *f = &s->to_file;
	const size_t cells = stat_cells(&s->subject), each = s->subject.cpus.n * s->subject.tasks.n;

	f->ids.n = f->before.n = 0;
	if (vec_reserve(&f->ids, cells + 1) < 0 || vec_reserve(&f->before, cells + 1) < 0)
		return err_nomem();
	f->ids.n = f->before.n = cells;
	memset(f->ids.v, 0, cells * sizeof(*f->ids.v));
	memset(f->before.v, 0, cells * sizeof(*f->before.v));
	for (size_t i = 0; i < cells; i++) {
		const struct stat_event *e = &s->subject.events.v[i / each];

		if (e->is_supported || (e->tool != TOOL_NONE && i % each == 0))
			f->ids.v[i] = MADE_ID | i;
	}
	vec_foreach(n, &s->opened.list)
		if (ioctl(n->fd, PERF_EVENT_IOC_ID,
			  &f->ids.v[stat_cell(&s->subject, n->event, n->cpu, n->task)]) < 0)
			return err_errno(errno, "%s: the kernel does not give its counter's id",
					 s->subject.events.v[n->event].name);
	return 0;
}

/* The first id of an event; 0 if it has none. */
static uint64_t to_file_id(const struct sonde_stat *s, size_t event)
{
	const size_t each = s->subject.cpus.n * s->subject.tasks.n;

	for (size_t i = 0; i < each; i++)
		if (s->to_file.ids.v[event * each + i])
			return s->to_file.ids.v[event * each + i];
	return 0;
}

/* As perf describes them: the tools' events as dummies. */
static struct perf_event_attr to_file_attr(const struct capture_event *e)
{
	struct perf_event_attr a = e->attr;

	if (e->tool != TOOL_NONE) {
		a.type = PERF_TYPE_SOFTWARE;
		a.config = PERF_COUNT_SW_DUMMY;
	}
	a.size = PERFDATA_WRITER_ATTR_SIZE;
	a.sample_type = PERF_SAMPLE_IDENTIFIER;
	return a;
}

struct header {
	struct perfdata_writer_event *events; /* owned */
	struct perf_event_attr *attrs;        /* owned */
	uint64_t *ids;                        /* owned */
	size_t nr_events;
	struct features features;
};

static void file_header_done(struct header *h)
{
	free(h->events);
	free(h->attrs);
	free(h->ids);
	features_done(&h->features);
}

static int file_header_name_events(struct header *h, const struct sonde_stat *s)
{
	const size_t each = s->subject.cpus.n * s->subject.tasks.n;
	uint64_t *to;

	h->nr_events = s->events.list.n;
	h->events = calloc(h->nr_events + 1, sizeof(*h->events));
	h->attrs = calloc(h->nr_events + 1, sizeof(*h->attrs));
	h->ids = to = calloc(s->to_file.ids.n + 1, sizeof(*h->ids));
	if (!h->events || !h->attrs || !h->ids)
		return err_nomem();
	for (size_t i = 0; i < h->nr_events; i++) {
		h->attrs[i] = to_file_attr(&s->events.list.v[i]);
		h->events[i] = (struct perfdata_writer_event){
			.attr = &h->attrs[i],
			.name = s->subject.events.v[i].name,
			.ids = to,
		};
		for (size_t k = 0; k < each; k++)
			if (s->to_file.ids.v[i * each + k])
				*to++ = s->to_file.ids.v[i * each + k];
		h->events[i].nr_ids = (size_t)(to - h->events[i].ids);
	}
	return 0;
}

static int file_header_add_cgroups(struct features *f, const struct sonde_stat *s)
{
	struct outbuf o = { 0 };

	if (!s->events.cgroups.n)
		return 0;
	perfdata_put_u32(&o, (uint32_t)s->subject.events.n);
	for (size_t i = 0; i < s->subject.events.n; i++) {
		const char *cgroup = s->subject.events.v[i].cgroup;

		perfdata_put_string(&o, cgroup ? cgroup : "");
	}
	return features_add(f, PERFDATA_PRIVATE_CGROUPS, &o);
}

static int file_header_describe(struct header *h, const struct sonde_stat *s)
{
	struct features *f = &h->features;
	struct outbuf desc = { 0 };

	if (h->nr_events)
		perfdata_put_event_desc(&desc, h->events, h->nr_events);
	TRY(features_add(f, FEAT_EVENT_DESC, &desc));
	TRY(features_add_tracing(f, &s->events, NULL));
	TRY(features_add_groups(f, &s->events));
	TRY(features_add_system(f, s->argv));
	TRY(features_add_topology(f));
	TRY(file_header_add_cgroups(f, s));
	/* In pipe mode STAT_CONFIG says it. */
	if (!s->to_file.output.is_pipe)
		TRY(features_add_mark(f, FEAT_STAT));
	features_sort(f);
	return 0;
}

/* ---- the records before the counts ----------------------------------------------------------- */

static void to_file_put_updates(const struct sonde_stat *s, struct outbuf *o)
{
	const bool has_cpus = s->subject.cpus.v[0] >= 0;

	for (size_t i = 0; i < s->subject.events.n; i++) {
		const struct capture_event *e = &s->events.list.v[i];
		const struct stat_event *shown = &s->subject.events.v[i];
		const uint64_t id = to_file_id(s, i);

		if (id && *shown->unit)
			perfdata_put_unit(o, id, shown->unit);
		if (id && shown->scale != 1)
			perfdata_put_scale(o, id, shown->scale);
		if (id && has_cpus && e->tool != TOOL_NONE)
			perfdata_put_event_cpus(o, id, s->subject.cpus.v, 1);
		else if (id && has_cpus && e->nr_cpus)
			perfdata_put_event_cpus(o, id, e->cpus, e->nr_cpus);
	}
}

/* Names of tasks are of use in rows of threads only, and the command has none yet. */
static void to_file_put_threads(const struct sonde_stat *s, struct outbuf *o)
{
	const size_t nr = s->subject.tasks.n;
	const bool has_names = s->opts.by == SONDE_STAT_BY_THREAD;

	for (size_t i = 0; i < nr; i++) {
		const struct stat_task *t = &s->subject.tasks.v[i];

		if (i % PERFDATA_THREADS_MAX == 0)
			perfdata_put_threads(
				o, nr - i < PERFDATA_THREADS_MAX ? nr - i : PERFDATA_THREADS_MAX);
		perfdata_put_thread(o, t->tid, has_names ? t->comm : "");
	}
}

static int to_file_append(struct sonde_stat *s, struct outbuf *take)
{
	int r = take->failed ? err_nomem() : 0;

	if (r == 0 && take->len)
		r = perfdata_writer_append(s->to_file.writer,
					   &(struct iovec){ take->data, take->len }, 1);
	outbuf_done(take);
	return r;
}

static int to_file_put_subject(struct sonde_stat *s)
{
	/* in the order of enum sonde_stat_by */
	static const uint64_t aggregations[] = { PERFDATA_AGGR_ALL,    PERFDATA_AGGR_CPU,
						 PERFDATA_AGGR_CORE,   PERFDATA_AGGR_DIE,
						 PERFDATA_AGGR_SOCKET, PERFDATA_AGGR_NODE,
						 PERFDATA_AGGR_THREAD };
	const struct perfdata_stat_config config = {
		.aggregation = aggregations[s->opts.by],
		.interval_ms = s->opts.interval_ms,
		.is_unscaled = s->opts.no_scale,
	};
	struct outbuf o = { 0 };

	to_file_put_updates(s, &o);
	to_file_put_threads(s, &o);
	perfdata_put_cpu_map(&o, s->subject.cpus.v, s->subject.cpus.n);
	perfdata_put_stat_config(&o, &config);
	return to_file_append(s, &o);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int to_file_open(struct stat_to_file *f, const char *path)
{
	const bool is_pipe = output_is_pipe(path);
	int fd, e;

	e = is_pipe ? output_pipe(&f->output, STDOUT_FILENO, &fd)
		    : output_open(&f->output, path, &fd);
	if (e < 0) {
		output_done(&f->output);
		return e;
	}
	return perfdata_writer_open(&f->writer, fd, f->output.path, is_pipe);
}

static int to_file_begin(struct sonde_stat *s)
{
	struct header h = { 0 };
	int e;

	TRY(to_file_find_ids(s));
	TRY(to_file_open(&s->to_file, *s->opts.output ? s->opts.output : DEFAULT_OUTPUT));
	e = file_header_name_events(&h, s);
	if (e == 0)
		e = file_header_describe(&h, s);
	if (e == 0)
		e = perfdata_writer_begin(s->to_file.writer, h.events, h.nr_events,
					  h.features.list.v, h.features.list.n);
	file_header_done(&h);
	TRY(e);
	return to_file_put_subject(s);
}

int stat_to_file_begin(struct sonde_stat *s)
{
	if (!s->opts.output)
		return 0;
	if (!s->to_file.writer)
		return to_file_begin(s);
	if (s->opts.interval_ms)
		return err_set(-EINVAL, "a recording of intervals has one run");
	return s->to_file.output.is_pipe ? 0 : perfdata_writer_resume(s->to_file.writer);
}

/* perf reads sums since the start of the file, so a run's counts are added to those before it. */
static void to_file_put_count(const struct sonde_stat *s, size_t cpu, size_t task, size_t cell,
			      const struct stat_count *c, struct outbuf *o)
{
	const struct stat_count *before = &s->to_file.before.v[cell];

	perfdata_put_count(o, &(struct perfdata_count){
				      .id = s->to_file.ids.v[cell],
				      .cpu = (uint32_t)s->subject.cpus.v[cpu],
				      .thread = (uint32_t)task,
				      .value = before->value + c->value,
				      .enabled_ns = before->enabled_ns + c->enabled_ns,
				      .running_ns = before->running_ns + c->running_ns,
			      });
}

/* A tool's event counts the time of the command. */
static struct stat_count to_file_count(const struct sonde_stat *s, size_t event, size_t cell)
{
	const enum capture_tool tool = s->subject.events.v[event].tool;
	const uint64_t ns = stat_tool_ns(tool, &s->now);

	if (tool == TOOL_NONE)
		return s->now.v[cell];
	return (struct stat_count){ ns, ns, ns, s->to_file.ids.v[cell] != 0 };
}

static void to_file_put_event(const struct sonde_stat *s, size_t event, struct outbuf *o)
{
	for (size_t cpu = 0; cpu < s->subject.cpus.n; cpu++)
		for (size_t task = 0; task < s->subject.tasks.n; task++) {
			const size_t cell = stat_cell(&s->subject, event, cpu, task);
			const struct stat_count c = to_file_count(s, event, cell);

			if (c.is_there && s->to_file.ids.v[cell])
				to_file_put_count(s, cpu, task, cell, &c, o);
		}
}

int stat_to_file_round(struct sonde_stat *s, uint64_t kind)
{
	struct outbuf o = { 0 };

	if (!s->to_file.writer)
		return 0;
	for (size_t event = 0; event < s->subject.events.n; event++)
		to_file_put_event(s, event, &o);
	perfdata_put_round(&o, &(struct perfdata_round){ kind, s->now.time_ns });
	return to_file_append(s, &o);
}

static void to_file_keep_sums(struct sonde_stat *s)
{
	const size_t each = s->subject.cpus.n * s->subject.tasks.n;

	for (size_t i = 0; i < s->to_file.before.n; i++) {
		const struct stat_count c = to_file_count(s, i / each, i);
		struct stat_count *sum = &s->to_file.before.v[i];

		sum->value += c.value;
		sum->enabled_ns += c.enabled_ns;
		sum->running_ns += c.running_ns;
	}
}

int stat_to_file_end(struct sonde_stat *s)
{
	int r;

	to_file_keep_sums(s);
	r = s->to_file.writer ? perfdata_writer_finish(s->to_file.writer, NULL, 0, NULL) : 0;

	return r > 0 ? err_set(-ENOSPC, "%s: the disk is full: the last counts are missing",
			       s->to_file.output.path)
		     : r;
}

void stat_to_file_close(struct sonde_stat *s)
{
	perfdata_writer_close(s->to_file.writer);
	s->to_file.writer = NULL;
	output_done(&s->to_file.output);
	vec_done(&s->to_file.ids);
	vec_done(&s->to_file.before);
}

void stat_to_file_discard(struct sonde_stat *s)
{
	if (s->to_file.writer)
		output_discard(&s->to_file.output);
	stat_to_file_close(s);
}
