/* SPDX-License-Identifier: MIT */
#include "sinks/info/info.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

/* ---- gathering ------------------------------------------------------------------------------- */

const struct key info_keys[NR_INFO_KEYS] = {
	KEY_FLAG("no-events", struct info_options, no_events),
};

struct sink_wants info_wants(const struct sink_options *opts)
{
	const struct info_options *o = opts->own;

	return (struct sink_wants){ .samples = !o->no_events, .records = true };
}

int info_open(struct sink **ret, const struct sink_options *opts, const struct sink_ops *ops)
{
	struct info_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem();
	s->base.ops = ops;
	s->rec = opts->recordings->v;
	s->input = opts->input;
	s->no_events = ((const struct info_options *)opts->own)->no_events;
	s->on_terminal = opts->on_terminal || isatty(opts->fd);
	r = recorded_dsos_init(&s->dsos, s->rec);
	s->dsos.asks_why = true;
	if (r >= 0)
		r = fd_writer_init(&s->writer, opts->fd);
	if (r < 0) {
		info_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}

/* Adds zeroed entries up to index i. */
#define GROW(vec, i)                                                                 \
	({                                                                           \
		int grown_ = 0;                                                      \
		while ((vec)->n <= (i) && grown_ >= 0) {                             \
			grown_ = vec_reserve(vec, 1);                                \
			if (grown_ >= 0)                                             \
				memset(&(vec)->v[(vec)->n++], 0, sizeof(*(vec)->v)); \
		}                                                                    \
		grown_;                                                              \
	})

static int info_count_sample(struct info_sink *s, const struct sonde_event *ev)
{
	TRY(GROW(&s->events, ev->schema));
	s->events.v[ev->schema].samples++;
	s->samples++;
	if (ev->cpu >= 0 && ev->cpu <= INFO_MAX_CPU) {
		TRY(GROW(&s->cpus, (size_t)ev->cpu));
		s->cpus.v[ev->cpu]++;
	}
	if (ev->time_ns == SONDE_NO_TIME) {
		s->without_time++;
		return 0;
	}
	if (s->samples - s->without_time == 1 || ev->time_ns < s->first_ns)
		s->first_ns = ev->time_ns;
	if (ev->time_ns > s->last_ns)
		s->last_ns = ev->time_ns;
	return 0;
}

static int info_count_loss(struct info_sink *s, const struct event *ev,
			   const struct source_report *r)
{
	struct info_loss loss = {
		.schema = r->schema ? (int32_t)r->schema->id : INFO_NO_SCHEMA,
		.cpu = ev->pub.cpu,
		.by_count = r->kind == REPORT_LOST_EXACT,
		.lost = r->lost,
	};

	if (!loss.lost)
		return 0;
	s->has_counts |= loss.by_count;
	vec_foreach(l, &s->losses) {
		if (l->schema == loss.schema && l->cpu == loss.cpu &&
		    l->by_count == loss.by_count) {
			l->lost = l->lost + loss.lost < l->lost ? UINT64_MAX : l->lost + loss.lost;
			return 0;
		}
	}
	/*
	 * There is one entry per event and cpu. A file that needs more than INFO_MAX_CPU entries is
	 * damaged.
	 */
	return s->losses.n < INFO_MAX_CPU ? vec_push(&s->losses, loss) : 0;
}

static int info_count_record(struct info_sink *s, const struct event *ev)
{
	struct source_report r = source_read_report(ev->source, ev);

	TRY(GROW(&s->records, ev->pub.schema));
	s->records.v[ev->pub.schema]++;
	switch (r.kind) {
	case REPORT_NONE:
	case REPORT_READ:
		break;
	case REPORT_LOST:
	case REPORT_LOST_EXACT:
		return info_count_loss(s, ev, &r);
	case REPORT_THROTTLED:
		if (!r.schema)
			break;
		TRY(GROW(&s->events, r.schema->id));
		s->events.v[r.schema->id].throttled++;
		break;
	}
	return 0;
}

static int info_event(struct sink *sink, const struct event *ev)
{
	struct info_sink *s = (struct info_sink *)sink;

	TRY(ev->schema->kind <= SONDE_SAMPLE ? info_count_sample(s, &ev->pub)
					     : info_count_record(s, ev));
	return recorded_dsos_event(&s->dsos, ev);
}

int info_events(struct sink *sink, const struct event *const *events, size_t nr)
{
	return sink_each(sink, events, nr, info_event);
}

int info_flush(struct sink *sink)
{
	return 0;
}

void info_close(struct sink *sink)
{
	struct info_sink *s = (struct info_sink *)sink;

	if (!s)
		return;
	fd_writer_done(&s->writer);
	recorded_dsos_done(&s->dsos);
	vec_done(&s->events);
	vec_done(&s->cpus);
	vec_done(&s->losses);
	vec_done(&s->records);
	vec_done(&s->kinds);
	free(s);
}

static int info_by_type(const void *a, const void *b)
{
	const struct sonde_schema *x = ((const struct info_kind *)a)->schema,
				  *y = ((const struct info_kind *)b)->schema;

	if (x->record_type != y->record_type)
		return x->record_type < y->record_type ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

int info_sort_kinds(struct info_sink *s)
{
	s->traits = source_read_traits(s->rec->source);
	for (size_t id = 0; id < s->records.n; id++) {
		struct info_kind kind = { schema_at(&s->rec->all->schemas, (uint32_t)id),
					  s->records.v[id] };

		if (kind.records)
			TRY(vec_push(&s->kinds, kind));
	}
	if (s->kinds.n)
		qsort(s->kinds.v, s->kinds.n, sizeof(*s->kinds.v), info_by_type);
	return 0;
}

struct info_event info_counts_of(const struct info_sink *s, const struct sonde_schema *sc)
{
	struct info_event sum = { 0 };

	for (; sc; sc = sc->newer) {
		if (sc->id >= s->events.n)
			continue;
		sum.samples += s->events.v[sc->id].samples;
		sum.throttled += s->events.v[sc->id].throttled;
	}
	return sum;
}

bool info_shows_event(const struct info_sink *s, const struct sonde_schema *sc)
{
	return sc->kind <= SONDE_SAMPLE && !sc->is_newer &&
	       (!s->traits.has_fixed_types || info_counts_of(s, sc).samples);
}

/* ---- what the header says -------------------------------------------------------------------- */

const char *info_kind(const struct info_sink *s, unsigned nr_files)
{
	const char *kind = source_fact(s->rec->source, "kind");

	return kind ? kind : nr_files > 1 ? "directory" : "file";
}

const char *info_clock_name(int32_t id)
{
	static const char *const names[] = { [CLOCK_REALTIME] = "realtime",
					     [CLOCK_MONOTONIC] = "monotonic",
					     [CLOCK_MONOTONIC_RAW] = "monotonic_raw",
					     [CLOCK_BOOTTIME] = "boottime",
					     [CLOCK_TAI] = "tai" };

	return id >= 0 && (size_t)id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
}

bool info_data(struct info_sink *s, unsigned *ret_files, uint64_t *ret_bytes)
{
	struct source *source = s->rec->source;
	struct source_file file;
	const char *before = NULL;
	uint64_t bytes = 0;
	unsigned files = 0;

	/* Ranges of one file follow each other. */
	for (unsigned i = 0; source->ops->file(source, i, &file); i++) {
		if (file.end == UINT64_MAX || file.end < file.begin)
			return false;
		bytes += file.end - file.begin;
		files += !before || strcmp(before, file.path) != 0;
		before = file.path;
	}
	*ret_files = files;
	*ret_bytes = bytes;
	return true;
}

bool info_span(struct info_sink *s, uint64_t *ret_first_ns, uint64_t *ret_last_ns)
{
	if (s->samples > s->without_time) {
		*ret_first_ns = s->first_ns;
		*ret_last_ns = s->last_ns;
		return true;
	}
	return !s->samples && source_span(s->rec->source, ret_first_ns, ret_last_ns);
}
