/* SPDX-License-Identifier: MIT */
/* sonde.h: aggregations. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/aggregate.h"
#include "base/err.h"
#include "base/saturate.h"
#include "session/session.h"
#include "sinks/fd_writer.h"

struct sonde_aggregate {
	struct sonde_session *session; /* a reference */
	struct aggregate *own;
};

/* A caller that was compiled with another version of the header has another struct. */
static int aggregate_take(void *ret, const void *o, size_t size)
{
	uint32_t known;

	memcpy(&known, o, sizeof(known));
	if (known < sizeof(known))
		return err_set(-EINVAL, "the struct's size is not set");
	memcpy(ret, o, known < size ? known : size);
	return 0;
}

static int aggregate_give(void *ret, const void *all, uint32_t size)
{
	uint32_t known;

	memcpy(&known, ret, sizeof(known));
	if (known < sizeof(known))
		return err_set(-EINVAL, "the struct's size is not set");
	if (known > size)
		known = size;
	memcpy(ret, all, known);
	memcpy(ret, &known, sizeof(known));
	return 1;
}

int sonde_aggregate_new(struct sonde_aggregate **ret, struct sonde_session *s,
			const struct sonde_aggregate_options *opts)
{
	struct sonde_aggregate_options own = { 0 };
	struct sonde_aggregate *a;
	int r;

	NOT_NULL(ret, -EINVAL);
	NOT_NULL(s, -EINVAL);
	NOT_NULL(opts, -EINVAL);
	err_clear();
	TRY(aggregate_take(&own, opts, sizeof(own)));
	a = calloc(1, sizeof(*a));
	if (!a)
		return err_nomem();
	r = aggregate_new(&a->own, &s->recordings, !s->is_stream, &own);
	if (r < 0) {
		free(a);
		return r;
	}
	session_ref(s);
	a->session = s;
	*ret = a;
	return 0;
}

void sonde_aggregate_free(struct sonde_aggregate *a)
{
	if (!a)
		return;
	aggregate_free(a->own);
	session_unref(a->session);
	free(a);
}

int sonde_aggregate_wants(struct sonde_aggregate *a, uint32_t schema)
{
	const struct sonde_schema *sc;

	NOT_NULL(a, -EINVAL);
	sc = schema_at(&a->session->recordings.schemas, schema);
	/* A pipe may describe its tracepoints later. */
	if (!sc || (!a->own->is_complete && !sc->nr_fields && sc->kind == SONDE_TRACEPOINT))
		return sc != NULL;
	TRY(choose_plan_schema(a->own, sc));
	return a->own->plans.v[schema].is_chosen;
}

int sonde_aggregate_add(struct sonde_aggregate *a, const struct sonde_event *const *events,
			size_t n)
{
	NOT_NULL(a, -EINVAL);
	NOT_NULL(events, -EINVAL);
	return aggregate_collect(a->own, events, n);
}

int sonde_aggregate_clear(struct sonde_aggregate *a)
{
	NOT_NULL(a, -EINVAL);
	return aggregate_clear(a->own);
}

int sonde_aggregate_facts(struct sonde_aggregate *a, struct sonde_aggregate_facts *ret)
{
	struct sonde_aggregate_facts all = { .size = sizeof(all) };
	int r;

	NOT_NULL(a, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	all.nr_keys = a->own->nr_keys;
	all.kind = aggregate_kind_names[a->own->kind];
	all.title = a->own->title;
	all.count = a->own->count;
	all.unfit = a->own->unfit;
	all.merged = aggregate_merged(a->own);
	all.sum = aggregate_shown_sum(&a->own->store.other);
	vec_foreach(s, &a->own->store.sums)
		all.sum = saturate_add(all.sum, aggregate_shown_sum(s));
	r = aggregate_give(ret, &all, sizeof(all));
	return r < 0 ? r : 0;
}

const char *sonde_aggregate_key(const struct sonde_aggregate *a, size_t i)
{
	NOT_NULL(a, NULL);
	return i < a->own->nr_keys ? a->own->keys[i].name : NULL;
}

int sonde_aggregate_rows(struct sonde_aggregate *a)
{
	NOT_NULL(a, -EINVAL);
	return aggregate_sort(a->own);
}

int sonde_aggregate_row(struct sonde_aggregate *a, size_t i, struct sonde_aggregate_row *ret)
{
	struct sonde_aggregate_row all;
	int r;

	NOT_NULL(a, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	r = aggregate_row_at(a->own, i, &all);
	return r > 0 ? aggregate_give(ret, &all, sizeof(all)) : r;
}

static int aggregate_write(struct aggregate *a, const struct sonde_aggregate_print_options *o,
			   struct fd_writer *w)
{
	const bool is_json = o->format && !strcmp(o->format, "json");

	TRY(is_json ? aggregate_put_json(a, o, &w->out) : aggregate_put_text(a, o, &w->out));
	return fd_writer_flush(w);
}

int sonde_aggregate_print(struct sonde_aggregate *a, int fd,
			  const struct sonde_aggregate_print_options *o)
{
	struct sonde_aggregate_print_options own = { 0 };
	struct fd_writer w;
	int r;

	NOT_NULL(a, -EINVAL);
	err_clear();
	if (o)
		TRY(aggregate_take(&own, o, sizeof(own)));
	if (own.format && strcmp(own.format, "json") != 0 && strcmp(own.format, "text") != 0)
		return err_set(-EINVAL, "aggregations are printed as text or json, not as '%s'",
			       own.format);
	TRY(fd_writer_init(&w, fd));
	r = aggregate_write(a->own, &own, &w);
	fd_writer_done(&w);
	return r;
}
