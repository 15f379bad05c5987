/* SPDX-License-Identifier: MIT */
/* sonde.h: the events that the running machine can record. */
#include "capture/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "capture/dynamic_events.h"
#include "capture/names.h"
#include "capture/pfm.h"
#include "capture/pmu.h"
#include "capture/probe.h"
#include "capture/tracefs.h"

struct list {
	VEC(struct sonde_listed_event) found;
	struct arena arena; /* contains all text of found */
	uint32_t kinds;
	const struct pmu *pmu;         /* the source whose events are added */
	const struct tracefs *tracefs; /* the tracepoints' directory */
	struct dynamic_events probes;
	int failed; /* out of memory in a visitor that cannot report it */
};

/* Replaces a borrowed text by one of the arena. */
static bool list_keep(struct list *l, const char **text)
{
	if (*text)
		*text = arena_strdup(&l->arena, *text);
	return *text;
}

/* Adds an event; its texts are copied. */
static int list_add(struct list *l, const struct sonde_listed_event *event)
{
	struct sonde_listed_event e = *event;
	const char **const texts[] = { &e.name,  &e.alias, &e.description, &e.number,
				       &e.terms, &e.unit,  &e.scale,       &e.probe };

	e.size = sizeof(e);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (*texts[i] && !list_keep(l, texts[i]))
			return l->failed = err_nomem();
	if (vec_push(&l->found, e) < 0)
		return l->failed = err_nomem();
	return 0;
}

/* ---- finding the events ---------------------------------------------------------------------- */

static uint32_t list_kind_of(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE   ? SONDE_EVENT_HARDWARE
	       : type == PERF_TYPE_SOFTWARE ? SONDE_EVENT_SOFTWARE
					    : SONDE_EVENT_CACHE;
}

/* The processor's own source: its events need no source in their name, and are listed first. */
static bool list_is_core(const char *name)
{
	return !strncmp(name, "cpu/", 4);
}

static int list_add_numbered(void *ctx, const struct capture_name *n)
{
	const struct perf_event_attr attr = { .type = n->type, .config = n->config };
	char number[48];
	const struct sonde_listed_event e = {
		.kind = list_kind_of(n->type),
		.name = n->name,
		.alias = n->alias,
		.description = n->description,
		.number = number,
	};
	struct list *l = ctx;
	int error;

	if (!(l->kinds & e.kind))
		return 0;
	error = capture_probe(&attr);
	/* the kernel's own events exist even if we have no right to open any */
	if (error && !(e.kind == SONDE_EVENT_SOFTWARE && (error == EACCES || error == EPERM)))
		return 0;
	snprintf(number, sizeof(number), n->config > 9 ? "%u:0x%llx" : "%u:%llu", n->type,
		 (unsigned long long)n->config);
	return list_add(l, &e);
}

static void list_add_pmu_event(void *ctx, const char *event)
{
	struct list *l = ctx;
	char name[512], terms[1024], unit[64], scale[64];
	struct sonde_listed_event e = { .kind = SONDE_EVENT_PMU, .name = name };

	snprintf(name, sizeof(name), "%s/%s/", l->pmu->name, event);
	if (list_is_core(name))
		e.alias = event;
	if (pmu_event_read(l->pmu, event, terms, sizeof(terms)) == 0)
		e.terms = terms;
	if (pmu_event_about(l->pmu, event, "unit", unit, sizeof(unit)))
		e.unit = unit;
	if (pmu_event_about(l->pmu, event, "scale", scale, sizeof(scale)))
		e.scale = scale;
	list_add(l, &e);
}

static int list_add_pmu(void *ctx, const struct pmu *pmu)
{
	struct list *l = ctx;

	l->pmu = pmu;
	pmu_events_each(pmu, list_add_pmu_event, l);
	return l->failed;
}

static int list_add_pfm_event(void *ctx, const struct pfm_event *event)
{
	const struct sonde_listed_event e = {
		.kind = SONDE_EVENT_PFM,
		.name = event->name,
		.description = event->description,
		.terms = event->modifiers,
	};

	return list_add(ctx, &e);
}

static int list_add_tracepoint(void *ctx, const char *system, const char *event)
{
	struct list *l = ctx;
	char path[1024], name[1024];
	struct sonde_listed_event e = { .kind = SONDE_EVENT_TRACEPOINT, .name = name };
	struct stat st;

	/* ftrace:* describe records of the ring buffer; their directories have no id */
	snprintf(path, sizeof(path), "%s/events/%s/%s/id", l->tracefs->root, system, event);
	if (stat(path, &st) < 0)
		return 0;
	snprintf(name, sizeof(name), "%s:%s", system, event);
	e.probe = dynamic_events_find(&l->probes, name);
	return list_add(l, &e);
}

static int list_add_tracepoints(struct list *l)
{
	struct tracefs tracefs;
	int r;

	TRY(tracefs_open(&tracefs));
	l->tracefs = &tracefs;
	TRY(dynamic_events_read(&tracefs, &l->probes));
	r = tracefs_events_match(&tracefs, "*", "*", list_add_tracepoint, l);
	dynamic_events_done(&l->probes);
	return r;
}

/* ---- sorting --------------------------------------------------------------------------------- */

static int list_compare(const void *a, const void *b)
{
	const struct sonde_listed_event *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (list_is_core(x->name) != list_is_core(y->name))
		return list_is_core(x->name) ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int list_collect(struct list *l, const char *sources, const char *processor)
{
	int r;

	TRY(capture_names_each(list_add_numbered, l));
	if (l->kinds & SONDE_EVENT_PMU)
		TRY(pmu_each(sources, NULL, NULL, list_add_pmu, l));
	if (l->kinds & SONDE_EVENT_PFM) {
		r = capture_pfm_each(processor, list_add_pfm_event, l);
		if (r < 0 && (l->kinds == SONDE_EVENT_PFM || (r != -ENOTSUP && r != -ENODEV)))
			return r;
		err_clear();
	}
	return l->kinds & SONDE_EVENT_TRACEPOINT ? list_add_tracepoints(l) : 0;
}

int capture_list(const char *sources, const struct sonde_list_options *opts,
		 void (*event)(void *ctx, const struct sonde_listed_event *event), void *ctx)
{
	struct list l = { .kinds = opts->kinds ? opts->kinds : UINT32_MAX };
	const int r = list_collect(&l, sources, opts->processor);

	if (l.found.n)
		qsort(l.found.v, l.found.n, sizeof(*l.found.v), list_compare);
	vec_foreach(e, &l.found)
		event(ctx, e);
	vec_done(&l.found);
	arena_done(&l.arena);
	return r;
}
