/* SPDX-License-Identifier: MIT */
/* The event sources of sysfs with the terms that they take. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "capture/list.h"
#include "capture/pmu.h"

struct sources_list {
	void (*source)(void *ctx, const struct sonde_event_source *source);
	void *ctx;
	VEC(struct sonde_source_term) terms; /* of the source that is listed */
	struct arena arena;                  /* contains their texts */
	int failed;                          /* out of memory in a visitor that cannot report it */
};

static void list_sources_add_term(void *ctx, const char *term, const char *text)
{
	struct sources_list *l = ctx;
	struct pmu_format format;
	struct sonde_source_term t = {
		.name = arena_strdup(&l->arena, term),
		.text = arena_strdup(&l->arena, text),
	};

	if (pmu_format_parse(text, &format) == 0)
		t.max = pmu_format_max(&format);
	if (!t.name || !t.text || vec_push(&l->terms, t) < 0)
		l->failed = err_nomem();
}

static int list_sources_visit(void *ctx, const struct pmu *pmu)
{
	struct sources_list *l = ctx;
	struct sonde_event_source s = { .size = sizeof(s), .type = pmu->type, .name = pmu->name };
	char cpus[1024];

	/* events_parse.c refuses these two: their attrs hold addresses in the program */
	if (!strcmp(pmu->name, "uprobe") || !strcmp(pmu->name, "kprobe"))
		return 0;
	pmu_formats_each(pmu, list_sources_add_term, l);
	s.terms = l->terms.v;
	s.nr_terms = l->terms.n;
	if (pmu_cpus_text(pmu, cpus, sizeof(cpus)))
		s.cpus = cpus;
	if (!l->failed && s.nr_terms)
		l->source(l->ctx, &s);
	vec_clear(&l->terms);
	arena_done(&l->arena);
	return l->failed;
}

int capture_list_sources(const char *root,
			 void (*source)(void *ctx, const struct sonde_event_source *source),
			 void *ctx)
{
	struct sources_list l = { .source = source, .ctx = ctx };
	const int r = pmu_each(root, NULL, NULL, list_sources_visit, &l);

	vec_done(&l.terms);
	return r;
}
