/* SPDX-License-Identifier: MIT */
/* sonde.h: the events that the running machine can record. */
#include "capture/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/names.h"
#include "capture/pmu.h"
#include "capture/probe.h"
#include "capture/tracefs.h"

struct found_event {
	uint32_t kind;
	char *name, *alias; /* owned; alias is NULL if none */
};

struct list {
	VEC(struct found_event) found;
	uint32_t kinds;
	const struct pmu *pmu;         /* the source whose events are added */
	const struct tracefs *tracefs; /* the tracepoints' directory */
	int failed;                    /* out of memory in a visitor that cannot report it */
};

static int list_add(struct list *l, uint32_t kind, const char *name, const char *alias)
{
	struct found_event f = { kind, strdup(name), alias ? strdup(alias) : NULL };

	if (f.name && (f.alias || !alias) && vec_push(&l->found, f) == 0)
		return 0;
	free(f.name);
	free(f.alias);
	return l->failed = err_nomem();
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

static int list_add_numbered(void *ctx, uint32_t type, uint64_t config, const char *name,
			     const char *alias)
{
	const struct perf_event_attr attr = { .type = type, .config = config };
	const uint32_t kind = list_kind_of(type);
	struct list *l = ctx;
	int error;

	if (!(l->kinds & kind))
		return 0;
	error = capture_probe(&attr);
	/* the kernel's own events exist even if we have no right to open any */
	if (error && !(kind == SONDE_EVENT_SOFTWARE && (error == EACCES || error == EPERM)))
		return 0;
	return list_add(l, kind, name, alias);
}

static void list_add_pmu_event(void *ctx, const char *event)
{
	struct list *l = ctx;
	char name[512];

	snprintf(name, sizeof(name), "%s/%s/", l->pmu->name, event);
	list_add(l, SONDE_EVENT_PMU, name, list_is_core(name) ? event : NULL);
}

static int list_add_pmu(void *ctx, const struct pmu *pmu)
{
	struct list *l = ctx;

	l->pmu = pmu;
	pmu_events_each(pmu, list_add_pmu_event, l);
	return l->failed;
}

static int list_add_tracepoint(void *ctx, const char *system, const char *event)
{
	struct list *l = ctx;
	char path[1024], name[1024];
	struct stat st;

	/* ftrace:* describe records of the ring buffer; their directories have no id */
	snprintf(path, sizeof(path), "%s/events/%s/%s/id", l->tracefs->root, system, event);
	if (stat(path, &st) < 0)
		return 0;
	snprintf(name, sizeof(name), "%s:%s", system, event);
	return list_add(l, SONDE_EVENT_TRACEPOINT, name, NULL);
}

static int list_add_tracepoints(struct list *l)
{
	struct tracefs tracefs;

	TRY(tracefs_open(&tracefs));
	l->tracefs = &tracefs;
	return tracefs_events_match(&tracefs, "*", "*", list_add_tracepoint, l);
}

/* ---- sorting --------------------------------------------------------------------------------- */

static int list_compare(const void *a, const void *b)
{
	const struct found_event *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (list_is_core(x->name) != list_is_core(y->name))
		return list_is_core(x->name) ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int list_collect(struct list *l, const char *sources)
{
	TRY(capture_names_each(list_add_numbered, l));
	if (l->kinds & SONDE_EVENT_PMU)
		TRY(pmu_each(sources, NULL, NULL, list_add_pmu, l));
	return l->kinds & SONDE_EVENT_TRACEPOINT ? list_add_tracepoints(l) : 0;
}

int capture_list(const char *sources, uint32_t kinds,
		 void (*event)(void *ctx, const struct sonde_listed_event *event), void *ctx)
{
	struct list l = { .kinds = kinds ? kinds : UINT32_MAX };
	int r = list_collect(&l, sources);

	if (l.found.n)
		qsort(l.found.v, l.found.n, sizeof(*l.found.v), list_compare);
	vec_foreach(f, &l.found) {
		const struct sonde_listed_event e = { sizeof(e), f->kind, f->name, f->alias };

		event(ctx, &e);
		free(f->name);
		free(f->alias);
	}
	vec_done(&l.found);
	return r;
}
