/* SPDX-License-Identifier: MIT */
#include "checks.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const check_names[NR_CHECKS] = { "symbols",    "stacks", "build ids", "losses",
					     "throttling", "clock",  "damage" };

void checks_init(struct checks *c)
{
	*c = (struct checks){
		.results = { [CHECK_SYMBOLS] = { .limit = 10, .is_share = true },
			     [CHECK_STACKS] = { .limit = 10, .is_share = true },
			     [CHECK_LOSSES] = { .limit = 1, .is_share = true } },
	};
}

/* ---- files ----------------------------------------------------------------------------------- */

static int checks_by_id(const void *a, const void *b)
{
	const struct check_file *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int checks_by_unknown(const void *a, const void *b)
{
	const struct check_file *x = *(struct check_file *const *)a,
				*y = *(struct check_file *const *)b;

	const uint64_t nx = x->unknown + x->unknown_frames, ny = y->unknown + y->unknown_frames;

	return (nx < ny) - (nx > ny);
}

static struct check_file *checks_add_file(struct checks *c, const struct sonde_location *loc)
{
	const char *name = loc->dso ? loc->dso : "(nothing is mapped there)";
	struct check_file *f = calloc(1, sizeof(*f)), **files;

	files = realloc(c->files, (c->nr_files + 1) * sizeof(*files));
	if (files)
		c->files = files;
	if (!f || !files) {
		free(f);
		return NULL;
	}
	*f = (struct check_file){
		.id = loc->dso ? loc->dso_id : 0,
		.name = strdup(name),
		.build_id = strdup(loc->dso_build_id),
		.is_file = loc->dso && (*name == '/' ? strncmp(name, "//", 2) != 0 &&
							       strncmp(name, "/tmp/perf-", 10) != 0
						     : !strncmp(name, "[kernel", 7)),
	};
	c->files[c->nr_files++] = f;
	return f->name && f->build_id && tsearch(f, &c->by_id, checks_by_id) ? f : NULL;
}

static struct check_file *checks_file_at(struct checks *c, const struct sonde_location *loc)
{
	struct check_file key = { .id = loc->dso ? loc->dso_id : 0 }, **found;

	if (c->last && c->last->id == key.id)
		return c->last;
	found = tfind(&key, &c->by_id, checks_by_id);
	c->last = found ? *found : checks_add_file(c, loc);
	return c->last;
}

/* ---- one sample ------------------------------------------------------------------------------ */

/* True if the chain has as many frames as the kernel records at most: callers may be missing. */
static bool checks_is_truncated(const struct sonde_event *ev, const struct perf_event_attr *attr,
				size_t attr_len, const struct sonde_sample *sample)
{
	uint32_t max = PERF_MAX_STACK_DEPTH;
	const struct sonde_frame *frames;

	/* A copied stack that fills its buffer is incomplete. */
	if (sample->present & PERF_SAMPLE_STACK_USER)
		return sample->user_stack_len && sample->user_stack_len >= attr->sample_stack_user;
	if (attr_len >= offsetof(struct perf_event_attr, sample_max_stack) + 2 &&
	    attr->sample_max_stack)
		max = attr->sample_max_stack;
	return sonde_event_callchain(ev, &frames) >= (int)max;
}

static int check_place(struct checks *c, const struct sonde_event *ev, uint64_t ip)
{
	struct sonde_location loc;
	struct check_file *f;

	if (sonde_event_locate(ev, ip, ev->cpumode, &loc) < 0)
		return 0;
	f = checks_file_at(c, &loc);
	if (!f)
		return -ENOMEM;
	c->places++;
	f->samples++;
	if (!loc.sym) {
		c->unknown++;
		f->unknown++;
		f->why = f->why ? f->why : loc.unknown;
	}
	return 0;
}

/*
 * Checks the frames after the first, which is the sample's own address. An address 0 ends a chain
 * and is no caller.
 */
static int check_frames(struct checks *c, const struct sonde_event *ev)
{
	const struct sonde_frame *frames;
	const int n = sonde_event_callchain(ev, &frames);

	for (int i = 1; i < n; i++) {
		struct sonde_location loc;
		struct check_file *f;

		if (frames[i].sym || !frames[i].ip ||
		    sonde_event_locate(ev, frames[i].ip, frames[i].cpumode, &loc) < 0 || loc.sym)
			continue;
		f = checks_file_at(c, &loc);
		if (!f)
			return -ENOMEM;
		f->unknown_frames++;
		f->why = f->why ? f->why : loc.unknown;
	}
	return 0;
}

static int check_sample(struct checks *c, struct sonde_session *s, const struct sonde_event *ev)
{
	const struct sonde_schema *sc = sonde_event_schema(s, ev);
	struct sonde_sample sample;
	size_t attr_len;
	const struct perf_event_attr *attr = sonde_schema_attr(sc, &attr_len);

	if (ev->flags & SONDE_EVENT_DERIVED)
		return 0; /* another event of the same moment */
	c->samples++;
	c->without_time += ev->time_ns == SONDE_NO_TIME;
	if (!attr || sonde_event_sample(ev, &sample) < 0)
		return 0;
	if (sample.present & PERF_SAMPLE_CALLCHAIN) {
		c->stacks++;
		c->truncated += checks_is_truncated(ev, attr, attr_len, &sample);
		if (check_frames(c, ev) < 0)
			return -ENOMEM;
	}
	/* The place of a tracepoint is fixed; only a call chain shows how it was reached. */
	if (!(sample.present & PERF_SAMPLE_IP) ||
	    (attr->type == PERF_TYPE_TRACEPOINT && !(sample.present & PERF_SAMPLE_CALLCHAIN)))
		return 0;
	return check_place(c, ev, sample.ip);
}

/* ---- results --------------------------------------------------------------------------------- */

__attribute__((format(printf, 5, 6))) static void put(struct checks *c, enum check check,
						      double value, bool is_asked, const char *fmt,
						      ...)
{
	struct check_result *r = &c->results[check];
	va_list ap;

	r->value = value;
	r->is_asked = is_asked;
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
}

static double checks_share(uint64_t nr, uint64_t whole)
{
	return whole ? 100.0 * (double)nr / (double)whole : 0;
}

static void checks_put_files(struct checks *c)
{
	const char *first = NULL;
	size_t missing = 0, files = 0;

	for (size_t i = 0; i < c->nr_files; i++) {
		const struct check_file *f = c->files[i];

		if (!f->is_file || !f->samples)
			continue;
		files++;
		if (*f->build_id)
			continue;
		missing++;
		first = first ? first : f->name;
	}
	put(c, CHECK_BUILD_IDS, (double)missing, files,
	    "%zu of %zu files with samples have none%s%s", missing, files, first ? ", first " : "",
	    first ? first : "");
}

/* Damage that lost events, other than losses while recording. */
static bool checks_is_damage(const struct sonde_defect *d)
{
	return d->severity != SONDE_INFO && strncmp(d->name, "lost-", 5) != 0 &&
	       strcmp(d->name, "no-descriptor") != 0;
}

static void checks_put_results(struct checks *c, struct sonde_session *s)
{
	uint64_t lost = 0, state = 0, throttled = 0, late = 0, damage = 0;
	const struct sonde_defect *d;
	char kinds[120] = "";
	bool lacks_all;
	size_t len = 0;

	for (size_t i = 0; (d = sonde_session_defect(s, i)) != NULL; i++) {
		if (!strcmp(d->name, "lost-events") || !strcmp(d->name, "ended-early"))
			lost += d->count;
		else if (!strcmp(d->name, "lost-state"))
			state = d->count;
		else if (!strcmp(d->name, "throttled"))
			throttled = d->count;
		else if (!strcmp(d->name, "late"))
			late = d->count;
		/* A recorder that was killed may not have written any sample. */
		lacks_all = !c->samples && !strcmp(d->name, "unfinished");
		if (!checks_is_damage(d) && !lacks_all)
			continue;
		damage += d->count;
		if (len < sizeof(kinds))
			len += (size_t)snprintf(kinds + len, sizeof(kinds) - len, "%s%s%s",
						len ? ", " : ": ", d->name,
						lacks_all ? " without a sample" : "");
	}
	if (c->nr_files)
		qsort(c->files, c->nr_files, sizeof(*c->files), checks_by_unknown);
	if (c->places)
		put(c, CHECK_SYMBOLS, checks_share(c->unknown, c->places), true,
		    "%.2f %% of %" PRIu64 " samples have none", checks_share(c->unknown, c->places),
		    c->places);
	else
		put(c, CHECK_SYMBOLS, 0, false, "no sample has an address");
	if (c->stacks)
		put(c, CHECK_STACKS, checks_share(c->truncated, c->stacks), true,
		    "%.2f %% of %" PRIu64 " are truncated", checks_share(c->truncated, c->stacks),
		    c->stacks);
	else
		put(c, CHECK_STACKS, 0, false, "none were recorded");
	checks_put_files(c);
	put(c, CHECK_LOSSES, checks_share(lost, lost + c->samples), true,
	    "%.2f %%: %" PRIu64 " events lost for %" PRIu64 " samples, and %" PRIu64
	    " records of names and mappings",
	    checks_share(lost, lost + c->samples), lost, c->samples, state);
	put(c, CHECK_THROTTLING, (double)throttled, true, "%" PRIu64 " times", throttled);
	put(c, CHECK_CLOCK, (double)(late + c->without_time), true,
	    "%" PRIu64 " events out of order, %" PRIu64 " without a time", late, c->without_time);
	put(c, CHECK_DAMAGE, (double)damage, true, "%" PRIu64 "%s", damage, kinds);
}

int checks_run(struct sonde_session *s, void *ctx)
{
	const struct sonde_event *ev;
	struct checks *c = ctx;
	int r;

	while ((r = sonde_session_next(s, &ev)) > 0) {
		r = check_sample(c, s, ev);
		if (r < 0)
			return r;
	}
	if (r >= 0)
		checks_put_results(c, s);
	return r;
}

static void checks_keep(void *file)
{
}

void checks_done(struct checks *c)
{
	tdestroy(c->by_id, checks_keep);
	for (size_t i = 0; i < c->nr_files; i++) {
		free((char *)c->files[i]->name);
		free((char *)c->files[i]->build_id);
		free(c->files[i]);
	}
	free(c->files);
}
