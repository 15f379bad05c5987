/* SPDX-License-Identifier: MIT */
/* The options of an aggregation, its title, its beginning and end. */
#include "aggregate/aggregate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"

const char *const aggregate_kind_names[NR_AGGREGATE_KINDS] = { "count", "sum", "stats", "hist",
							       "lhist" };
const char *const aggregate_key_names[NR_OWN_KEYS] = { "name",   "comm",   "pid",   "tid",
						       "cpu",    "cgroup", "index", "kstack",
						       "ustack", "stack" };

/* ---- options --------------------------------------------------------------------------------- */

static int aggregate_copy(char **to, const char *text)
{
	if (!text || !*text)
		return 0;
	*to = strdup(text);
	return *to ? 0 : err_nomem();
}

static int aggregate_parse_kind(struct aggregate *a, const char *kind)
{
	char meant[256];
	struct near near;

	if (!kind)
		return err_set(-EINVAL,
			       "an aggregation needs a kind: count, sum, stats, hist, lhist");
	near_init(&near, kind);
	for (unsigned i = 0; i < NR_AGGREGATE_KINDS; i++) {
		near_offer(&near, aggregate_kind_names[i]);
		if (!strcmp(aggregate_kind_names[i], kind)) {
			a->kind = (enum aggregate_kind)i;
			return 0;
		}
	}
	near_text(&near, meant, sizeof(meant));
	return err_set(-EINVAL, "'%s' is no kind of aggregation: count, sum, stats, hist, lhist%s",
		       kind, meant);
}

static int aggregate_check_range(const struct aggregate *a)
{
	uint64_t span;

	if (a->kind != AGGREGATE_LHIST) {
		if (a->low || a->high || a->step)
			return err_set(-EINVAL, "only lhist has low, high and step");
		return 0;
	}
	if (a->high <= a->low || a->step <= 0)
		return err_set(-EINVAL,
			       "lhist needs low < high and step > 0, not %" PRIi64 ", %" PRIi64
			       ", %" PRIi64,
			       a->low, a->high, a->step);
	span = (uint64_t)a->high - (uint64_t)a->low;
	if ((span - 1) / (uint64_t)a->step >= AGGREGATE_MAX_STEPS)
		return err_set(-EINVAL, "lhist has at most %d buckets; make the step larger",
			       AGGREGATE_MAX_STEPS);
	return 0;
}

static int aggregate_add_key(struct aggregate *a, const char *name, size_t len)
{
	struct aggregate_key *k = &a->keys[a->nr_keys];

	if (!len)
		return err_set(-EINVAL, "by=%s: a name is missing between commas", a->by);
	if (a->nr_keys == AGGREGATE_MAX_KEYS)
		return err_set(-EINVAL, "by=%s: at most %d keys", a->by, AGGREGATE_MAX_KEYS);
	k->name = strndup(name, len);
	if (!k->name)
		return err_nomem();
	a->nr_keys++;
	for (unsigned i = 0; i + 1 < a->nr_keys; i++) {
		if (!strcmp(a->keys[i].name, k->name))
			return err_set(-EINVAL, "by=%s: '%s' is given twice", a->by, k->name);
	}
	k->kind = KEY_FIELD;
	for (unsigned i = 0; i < NR_OWN_KEYS; i++) {
		if (!strcmp(aggregate_key_names[i], k->name))
			k->kind = (enum aggregate_key_kind)i;
	}
	return 0;
}

static int aggregate_parse_by(struct aggregate *a)
{
	for (const char *p = a->by; p;) {
		const size_t len = strcspn(p, ",");

		TRY(aggregate_add_key(a, p, len));
		p = p[len] ? p + len + 1 : NULL;
	}
	return 0;
}

static int aggregate_parse(struct aggregate *a, const struct sonde_aggregate_options *o)
{
	TRY(aggregate_parse_kind(a, o->kind));
	a->limit = o->limit ? o->limit : AGGREGATE_DEFAULT_LIMIT;
	if (a->limit > AGGREGATE_MAX_LIMIT)
		return err_set(-EINVAL, "an aggregation keeps at most %d keys, not %u",
			       AGGREGATE_MAX_LIMIT, a->limit);
	a->low = o->low;
	a->high = o->high;
	a->step = o->step;
	TRY(aggregate_check_range(a));
	TRY(aggregate_copy(&a->events, o->events));
	TRY(aggregate_copy(&a->field, o->field));
	TRY(aggregate_copy(&a->by, o->by));
	TRY(aggregate_copy(&a->where_text, o->where));
	if (!a->events)
		return err_set(-EINVAL, "an aggregation needs events; '*' means all");
	if (a->kind != AGGREGATE_COUNT && !a->field)
		return err_set(-EINVAL, "%s needs a field", aggregate_kind_names[a->kind]);
	if (a->kind == AGGREGATE_COUNT && a->field)
		return err_set(-EINVAL, "count has no field; sum adds up a field");
	TRY(event_names_parse(a->events, &a->names));
	TRY(aggregate_parse_by(a));
	return a->where_text ? where_parse(a->where_text, &a->where) : 0;
}

/* The events; a list that would fill more than a line ends in ",...". */
static void aggregate_put_events(struct outbuf *o, const char *events)
{
	const size_t line = 100;
	size_t end = strlen(events), cut = 0;
	bool in_terms = false;

	for (size_t i = 0; i < line && i < end; i++) {
		in_terms ^= events[i] == '/';
		if (events[i] == ',' && !in_terms && !strchr(events + i, ')'))
			cut = i;
	}
	if (end > line && cut)
		outbuf_fmt(o, " of %.*s,...", (int)cut, events);
	else
		outbuf_fmt(o, " of %s", events);
}

/* "sum of ret of syscalls:sys_exit_read by comm where ret > 0" */
static int aggregate_make_title(struct aggregate *a)
{
	struct outbuf o = { 0 };

	outbuf_str(&o, aggregate_kind_names[a->kind]);
	if (a->kind == AGGREGATE_LHIST)
		outbuf_fmt(&o, "(%" PRIi64 ", %" PRIi64 ", %" PRIi64 ")", a->low, a->high, a->step);
	if (a->field)
		outbuf_fmt(&o, " of %s", a->field);
	aggregate_put_events(&o, a->events);
	for (unsigned i = 0; i < a->nr_keys; i++)
		outbuf_fmt(&o, "%s%s", i ? ", " : " by ", a->keys[i].name);
	if (a->where_text)
		outbuf_fmt(&o, " where %s", a->where_text);
	outbuf_char(&o, '\0');
	if (o.failed) {
		outbuf_done(&o);
		return err_nomem();
	}
	a->title = o.data;
	return 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int aggregate_open(struct aggregate *a, const struct sonde_aggregate_options *o)
{
	TRY(aggregate_parse(a, o));
	TRY(aggregate_make_title(a));
	TRY(store_init(&a->store, a->nr_keys));
	return a->is_complete ? choose_all(a) : 0;
}

int aggregate_new(struct aggregate **ret, struct recordings *all, bool is_complete,
		  const struct sonde_aggregate_options *opts)
{
	struct aggregate *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return err_nomem();
	a->all = all;
	a->is_complete = is_complete;
	a->last_row = AGGREGATE_OTHER;
	r = aggregate_open(a, opts);
	if (r < 0) {
		aggregate_free(a);
		return r;
	}
	*ret = a;
	return 0;
}

static void aggregate_forget_cgroups(struct aggregate *a)
{
	vec_foreach(h, &a->cgroups)
		hash64_done(h);
	vec_clear(&a->cgroups);
}

int aggregate_clear(struct aggregate *a)
{
	struct aggregate_store fresh;

	TRY(store_init(&fresh, a->nr_keys));
	store_done(&a->store);
	a->store = fresh;
	aggregate_forget_cgroups(a);
	a->last_row = AGGREGATE_OTHER;
	a->count = a->unfit = a->merged = 0;
	a->is_sorted = false;
	return 0;
}

uint64_t aggregate_merged(const struct aggregate *a)
{
	const size_t n = a->store.keys.n;

	if (a->is_sorted)
		return a->merged_shown;
	return a->merged + (n > a->limit ? n - a->limit : 0);
}

void aggregate_free(struct aggregate *a)
{
	if (!a)
		return;
	store_done(&a->store);
	choose_done(a);
	aggregate_forget_cgroups(a);
	vec_done(&a->cgroups);
	vec_done(&a->order);
	vec_done(&a->shown_cells);
	vec_done(&a->first_cells);
	vec_done(&a->buckets);
	for (unsigned i = 0; i < a->nr_keys; i++)
		free(a->keys[i].name);
	event_names_done(&a->names);
	where_done(&a->where);
	free(a->events);
	free(a->field);
	free(a->by);
	free(a->where_text);
	free(a->title);
	free(a);
}
