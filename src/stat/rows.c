/* SPDX-License-Identifier: MIT */
#include "stat/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/hybrid.h"

/* ---- places ---------------------------------------------------------------------------------- */

/* True if two cpus are in the same core, die, socket or node. */
static bool rows_same_place(enum sonde_stat_by by, const struct cpu_place *a,
			    const struct cpu_place *b)
{
	switch (by) {
	case SONDE_STAT_BY_CORE:
		return a->socket == b->socket && a->die == b->die && a->core == b->core;
	case SONDE_STAT_BY_DIE:
		return a->socket == b->socket && a->die == b->die;
	case SONDE_STAT_BY_SOCKET:
		return a->socket == b->socket;
	case SONDE_STAT_BY_NODE:
		return a->node == b->node;
	default:
		return false;
	}
}

static int rows_order_places(const struct cpu_place *a, const struct cpu_place *b)
{
	const int differences[] = { a->node - b->node, a->socket - b->socket, a->die - b->die,
				    a->core - b->core };

	for (size_t i = 0; i < sizeof(differences) / sizeof(*differences); i++)
		if (differences[i])
			return differences[i];
	return 0;
}

static struct sonde_stat_row row_new(size_t event)
{
	return (struct sonde_stat_row){
		.size = sizeof(struct sonde_stat_row),
		.event = (uint32_t)event,
		.cpu = -1,
		.core = -1,
		.die = -1,
		.socket = -1,
		.node = -1,
		.tid = -1,
		.comm = "",
	};
}

static void row_set_place(struct sonde_stat_row *row, enum sonde_stat_by by,
			  const struct cpu_place *p)
{
	if (by == SONDE_STAT_BY_NODE) {
		row->node = p->node;
		return;
	}
	row->socket = p->socket;
	if (by != SONDE_STAT_BY_SOCKET)
		row->die = p->die;
	if (by == SONDE_STAT_BY_CORE)
		row->core = p->core;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static uint64_t rows_scaled(const struct stat_rows *r, const struct stat_count *c)
{
	if (r->no_scale || !c->running_ns || c->running_ns >= c->enabled_ns)
		return c->value;
	return (uint64_t)((double)c->value * (double)c->enabled_ns / (double)c->running_ns);
}

/*
 * Adds a count to a row. A counter that never ran is ignored. As in perf, a row whose counters
 * never ran has one counter.
 */
static void row_add(const struct stat_rows *r, struct sonde_stat_row *row,
		    const struct stat_count *c)
{
	if (!c->is_there || !c->running_ns)
		return;
	row->nr_counters++;
	row->count += rows_scaled(r, c);
	row->enabled_ns += c->enabled_ns;
	row->running_ns += c->running_ns;
}

static void row_end(struct sonde_stat_row *row, const struct stat_event *e)
{
	const bool is_tool = e->tool != TOOL_NONE;

	row->state = !is_tool && !e->is_supported ? SONDE_STAT_NOT_SUPPORTED
		     : !row->running_ns           ? SONDE_STAT_NOT_COUNTED
						  : SONDE_STAT_COUNTED;
	row->nr_counters += row->nr_counters == 0;
}

/* The times that the tools' events count are those of the command; they are in the first row. */
static void row_add_tool(struct sonde_stat_row *row, const struct stat_event *e,
			 const struct stat_reading *reading)
{
	row->count = row->enabled_ns = row->running_ns = stat_tool_ns(e->tool, reading);
}

static int rows_push(struct stat_rows *r, const struct sonde_stat_row *row)
{
	return vec_push(&r->list, *row) < 0 ? err_nomem() : 0;
}

/* ---- one event ------------------------------------------------------------------------------- */

/* The counts of all cpus and tasks are added before they are extrapolated. */
static int rows_add_total(struct stat_rows *r, const struct stat_subject *s,
			  const struct stat_reading *reading, size_t event)
{
	struct sonde_stat_row row = row_new(event);
	struct stat_count sum = { 0 };

	for (size_t i = 0; i < s->cpus.n * s->tasks.n; i++) {
		const struct stat_count *c = &reading->v[stat_cell(s, event, 0, 0) + i];

		sum.value += c->value;
		sum.enabled_ns += c->enabled_ns;
		sum.running_ns += c->running_ns;
		sum.is_there |= c->is_there;
		row.nr_counters += c->is_there;
	}
	row.count = rows_scaled(r, &sum);
	row.enabled_ns = sum.enabled_ns;
	row.running_ns = sum.running_ns;
	if (s->events.v[event].tool != TOOL_NONE)
		row_add_tool(&row, &s->events.v[event], reading);
	row_end(&row, &s->events.v[event]);
	return rows_push(r, &row);
}

/* True if some event was counted on the cpu. */
static bool rows_has_cpu(const struct stat_subject *s, const struct stat_reading *reading,
			 size_t cpu)
{
	for (size_t event = 0; event < s->events.n; event++)
		for (size_t task = 0; task < s->tasks.n; task++)
			if (reading->v[stat_cell(s, event, cpu, task)].is_there)
				return true;
	return false;
}

/*
 * A cpu that was never online has no rows: no event was counted there, but on another cpu. If no
 * event is supported, each cpu has rows that say so.
 */
static bool rows_is_offline(const struct stat_subject *s, const struct stat_reading *reading,
			    size_t cpu)
{
	bool any = false;

	if (rows_has_cpu(s, reading, cpu))
		return false;
	for (size_t other = 0; other < s->cpus.n && !any; other++)
		any = rows_has_cpu(s, reading, other);
	return any;
}

static void row_add_cpu(const struct stat_rows *r, struct sonde_stat_row *row,
			const struct stat_subject *s, const struct stat_reading *reading,
			size_t cpu)
{
	for (size_t task = 0; task < s->tasks.n; task++)
		row_add(r, row, &reading->v[stat_cell(s, row->event, cpu, task)]);
}

static bool rows_has_event(const struct stat_event *e, int cpu)
{
	for (size_t i = 0; i < e->nr_cpus; i++)
		if (e->cpus[i] == cpu)
			return true;
	return !e->nr_cpus;
}

/* The place that the rows of an event are of; with percore its core, if rows are by cpu. */
static enum sonde_stat_by rows_place_of(const struct stat_rows *r, const struct stat_event *e)
{
	return r->by == SONDE_STAT_BY_CPU && e->per_core ? SONDE_STAT_BY_CORE : r->by;
}

/* True if an earlier cpu, on which the event is counted, is of the same place. */
static bool rows_is_repeated(const struct stat_subject *s, const struct stat_event *e,
			     enum sonde_stat_by by, size_t cpu)
{
	for (size_t before = 0; before < cpu; before++)
		if (rows_has_event(e, s->cpus.v[before]) &&
		    rows_same_place(by, &s->places.v[before], &s->places.v[cpu]))
			return true;
	return false;
}

/* Adds the counts of a cpu and of all others of its place. */
static void row_add_place(const struct stat_rows *r, struct sonde_stat_row *row,
			  const struct stat_subject *s, const struct stat_reading *reading,
			  enum sonde_stat_by by, size_t cpu)
{
	const struct stat_event *e = &s->events.v[row->event];

	for (size_t other = 0; other < s->cpus.n; other++)
		if (other == cpu ||
		    (by != SONDE_STAT_BY_CPU && rows_has_event(e, s->cpus.v[other]) &&
		     rows_same_place(by, &s->places.v[cpu], &s->places.v[other])))
			row_add_cpu(r, row, s, reading, other);
}

/* One row for each cpu, or for each core, die, socket or node, at its first cpu. */
static int rows_add_places(struct stat_rows *r, const struct stat_subject *s,
			   const struct stat_reading *reading, size_t event)
{
	const struct stat_event *e = &s->events.v[event];
	const enum sonde_stat_by by = rows_place_of(r, e);
	const bool is_by_cpu = r->by == SONDE_STAT_BY_CPU;
	const bool has_row_of_cpu = is_by_cpu && (!e->per_core || r->shows_threads_of_core);
	const size_t first = r->list.n;

	for (size_t cpu = 0; cpu < s->cpus.n; cpu++) {
		struct sonde_stat_row row = row_new(event);

		if (!rows_has_event(e, s->cpus.v[cpu]) ||
		    (!has_row_of_cpu && rows_is_repeated(s, e, by, cpu)))
			continue;
		if (has_row_of_cpu)
			row.cpu = s->cpus.v[cpu];
		else
			row_set_place(&row, by, &s->places.v[cpu]);
		if (e->tool != TOOL_NONE && r->list.n == first)
			row_add_tool(&row, e, reading);
		row_add_place(r, &row, s, reading, by, cpu);
		row_end(&row, e);
		if (is_by_cpu && rows_is_offline(s, reading, cpu))
			continue;
		TRY(rows_push(r, &row));
		/* the time of a run is not one of each cpu */
		if (is_by_cpu && e->tool != TOOL_NONE)
			break;
	}
	return 0;
}

/* ctx: rows in the order of their tasks, which decides if counts are equal. a, b: indexes. */
static int rows_busiest_first(const void *a, const void *b, void *ctx)
{
	const struct sonde_stat_row *rows = ctx;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (rows[x].count != rows[y].count)
		return rows[x].count > rows[y].count ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int rows_sort_threads(struct sonde_stat_row *rows, size_t nr)
{
	struct sonde_stat_row *copy = calloc(nr + 1, sizeof(*copy));
	size_t *order = calloc(nr + 1, sizeof(*order));
	const bool ok = copy && order;

	for (size_t i = 0; ok && i < nr; i++) {
		copy[i] = rows[i];
		order[i] = i;
	}
	if (ok)
		qsort_r(order, nr, sizeof(*order), rows_busiest_first, copy);
	for (size_t i = 0; ok && i < nr; i++)
		rows[i] = copy[order[i]];
	free(copy);
	free(order);
	return ok ? 0 : err_nomem();
}

static int rows_add_threads(struct stat_rows *r, const struct stat_subject *s,
			    const struct stat_reading *reading, size_t event)
{
	const size_t first = r->list.n;

	for (size_t task = 0; task < s->tasks.n; task++) {
		struct sonde_stat_row row = row_new(event);

		row.tid = s->tasks.v[task].tid;
		row.comm = s->tasks.v[task].comm;
		for (size_t cpu = 0; cpu < s->cpus.n; cpu++)
			row_add(r, &row, &reading->v[stat_cell(s, event, cpu, task)]);
		if (s->events.v[event].tool != TOOL_NONE && task == 0)
			row_add_tool(&row, &s->events.v[event], reading);
		row_end(&row, &s->events.v[event]);
		if (r->leaves_out_idle && row.state == SONDE_STAT_COUNTED && !row.count)
			continue;
		if (r->leaves_out_idle && row.state == SONDE_STAT_NOT_COUNTED)
			continue;
		TRY(rows_push(r, &row));
	}
	return r->list.n > first ? rows_sort_threads(&r->list.v[first], r->list.n - first) : 0;
}

static int rows_place_order(const void *a, const void *b)
{
	const struct sonde_stat_row *x = a, *y = b;
	const struct cpu_place p = { x->core, x->die, x->socket, x->node };
	const struct cpu_place q = { y->core, y->die, y->socket, y->node };

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return rows_order_places(&p, &q);
}

/* ---- events of several sources --------------------------------------------------------------- */

static bool rows_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

size_t stat_rows_event(const struct stat_subject *s, size_t event)
{
	const struct stat_event *e = &s->events.v[event];
	const uint32_t source = hybrid_source_of(e->type, e->config);

	for (size_t i = 0; i < event && source; i++) {
		const struct stat_event *other = &s->events.v[i];
		const uint32_t its = hybrid_source_of(other->type, other->config);

		if (its && its != source && !strcmp(other->name, e->name) &&
		    other->scale == e->scale && rows_same_text(other->unit, e->unit) &&
		    rows_same_text(other->cgroup, e->cgroup))
			return i;
	}
	return event;
}

static struct sonde_stat_row *rows_find(struct stat_rows *r, const struct sonde_stat_row *like,
					size_t event)
{
	vec_foreach(row, &r->list)
		if (row->event == event && row->cpu == like->cpu && row->core == like->core &&
		    row->die == like->die && row->socket == like->socket &&
		    row->node == like->node && row->tid == like->tid)
			return row;
	return NULL;
}

/* The rows from `first` on become part of those of the event's first source. */
static void rows_merge(struct stat_rows *r, size_t first, size_t event)
{
	size_t kept = first;

	for (size_t i = first; i < r->list.n; i++) {
		const struct sonde_stat_row *row = &r->list.v[i];
		struct sonde_stat_row *to = rows_find(r, row, event);

		if (!to) {
			r->list.v[kept] = *row;
			r->list.v[kept++].event = (uint32_t)event;
			continue;
		}
		to->count += row->count;
		to->enabled_ns += row->enabled_ns;
		to->running_ns += row->running_ns;
		to->state = row->state < to->state ? row->state : to->state;
	}
	r->list.n = kept;
}

static int rows_add_event(struct stat_rows *r, const struct stat_subject *s,
			  const struct stat_reading *reading, size_t event)
{
	const size_t source = stat_rows_event(s, event), first = r->list.n;
	const int e = r->by == SONDE_STAT_BY_ALL      ? rows_add_total(r, s, reading, event)
		      : r->by == SONDE_STAT_BY_THREAD ? rows_add_threads(r, s, reading, event)
						      : rows_add_places(r, s, reading, event);

	if (e == 0 && source != event)
		rows_merge(r, first, source);
	return e;
}

/* ---- mean and deviation over the runs -------------------------------------------------------- */

static bool rows_is_spread_of(const struct row_spread *s, const struct sonde_stat_row *row)
{
	return s->event == row->event && s->cpu == row->cpu && s->core == row->core &&
	       s->die == row->die && s->socket == row->socket && s->node == row->node &&
	       s->tid == row->tid;
}

/* In most runs a row is where it was in the run before. NULL if out of memory. */
static struct row_spread *rows_find_spread(struct stat_rows *r, const struct sonde_stat_row *row,
					   size_t index)
{
	const struct row_spread new = {
		.event = row->event,
		.cpu = row->cpu,
		.core = row->core,
		.die = row->die,
		.socket = row->socket,
		.node = row->node,
		.tid = row->tid,
	};

	if (index < r->spreads.n && rows_is_spread_of(&r->spreads.v[index], row))
		return &r->spreads.v[index];
	vec_foreach(s, &r->spreads)
		if (rows_is_spread_of(s, row))
			return s;
	return vec_push(&r->spreads, new) < 0 ? NULL : &r->spreads.v[r->spreads.n - 1];
}

/* Only the busy ones of all threads of a machine have rows, so these have no mean. */
static int rows_count_run(struct stat_rows *r)
{
	const bool has_mean = r->by != SONDE_STAT_BY_THREAD || !r->leaves_out_idle;

	for (size_t i = 0; has_mean && i < r->list.n; i++) {
		struct sonde_stat_row *row = &r->list.v[i];
		struct row_spread *s = rows_find_spread(r, row, i);

		if (!s)
			return err_nomem();
		spread_add(&s->spread, (double)row->count);
		spread_add(&s->enabled, (double)row->enabled_ns);
		spread_add(&s->running, (double)row->running_ns);
		row->value = s->spread.mean;
		row->deviation = spread_of_mean(&s->spread);
		row->mean_enabled_ns = s->enabled.mean;
		row->mean_running_ns = s->running.mean;
	}
	return 0;
}

int stat_rows_fill(struct stat_rows *r, const struct stat_subject *s,
		   const struct stat_reading *reading, bool is_run)
{
	int e = 0;

	vec_clear(&r->list);
	for (size_t event = 0; event < s->events.n && e == 0; event++)
		e = rows_add_event(r, s, reading, event);
	if (e < 0)
		return e;
	if (r->by != SONDE_STAT_BY_ALL && r->by != SONDE_STAT_BY_THREAD && r->list.n &&
	    r->by != SONDE_STAT_BY_CPU)
		qsort(r->list.v, r->list.n, sizeof(*r->list.v), rows_place_order);
	vec_foreach(row, &r->list) {
		row->value = (double)row->count;
		row->mean_enabled_ns = (double)row->enabled_ns;
		row->mean_running_ns = (double)row->running_ns;
	}
	return is_run ? rows_count_run(r) : 0;
}

void stat_rows_done(struct stat_rows *r)
{
	vec_done(&r->list);
	vec_done(&r->spreads);
}
