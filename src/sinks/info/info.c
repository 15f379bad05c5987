/* SPDX-License-Identifier: MIT */
#include "sinks/info/info.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "formats/perfdata/layout.h"

/* ---- gathering ---------------------------------------------------------------------------------------------------- */

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

/* Entries up to index i, zeroed; the vec's elements are plain. */
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

static int count_sample(struct info_sink *s, const struct sonde_event *ev)
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

/* The event type that a record of state belongs to. */
static int32_t type_of(const struct event *ev)
{
	struct perfdata_view *view = perfdata_view_of(ev->source);
	struct perfdata_view_record rec = { 0 };

	if (view)
		perfdata_view_record(view, ev, &rec);
	if (!rec.schema)
		return INFO_NO_SCHEMA;
	return (int32_t)rec.schema->id;
}

static int count_loss(struct info_sink *s, const struct event *ev, bool by_count)
{
	struct info_loss loss = { .schema = type_of(ev), .cpu = ev->pub.cpu, .by_count = by_count };
	struct bytes b = bytes_init(ev->pub.bytes, ev->pub.bytes_len, ev->pub.file_off, "",
				    ev->pub.flags & SONDE_EVENT_SWAPPED);

	if ((!by_count && bytes_skip(&b, "id", 8) < 0) || bytes_u64(&b, "lost", &loss.lost) < 0) {
		err_clear(); /* told as a bad record */
		return 0;
	}
	if (!loss.lost)
		return 0;
	s->has_counts |= by_count;
	vec_foreach(l, &s->losses) {
		if (l->schema == loss.schema && l->cpu == loss.cpu && l->by_count == by_count) {
			l->lost = l->lost + loss.lost < l->lost ? UINT64_MAX : l->lost + loss.lost;
			return 0;
		}
	}
	/* As many as cpus and events together: a file that says otherwise is damaged. */
	return s->losses.n < INFO_MAX_CPU ? vec_push(&s->losses, loss) : 0;
}

static int count_record(struct info_sink *s, const struct event *ev)
{
	uint32_t type = ev->schema->record_type;
	int32_t schema;

	if (type >= INFO_RECORD_KINDS)
		type = 0;
	s->records[type]++;
	s->record_names[type] = ev->schema->event;
	switch (type) {
	case PERF_RECORD_LOST:
		return count_loss(s, ev, false);
	case PERF_RECORD_LOST_SAMPLES:
		return count_loss(s, ev, true);
	case PERF_RECORD_THROTTLE:
		schema = type_of(ev);
		if (schema == INFO_NO_SCHEMA)
			return 0;
		TRY(GROW(&s->events, (size_t)schema));
		s->events.v[schema].throttled++;
		return 0;
	default:
		return 0;
	}
}

int info_event(struct sink *sink, const struct event *ev)
{
	struct info_sink *s = (struct info_sink *)sink;

	TRY(ev->schema->kind <= SONDE_SAMPLE ? count_sample(s, &ev->pub) : count_record(s, ev));
	return recorded_dsos_event(&s->dsos, ev);
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
	free(s);
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

/* ---- what the header says ----------------------------------------------------------------------------------------- */

struct perfdata_view_header info_head(struct info_sink *s)
{
	struct perfdata_view *view = perfdata_view_of(s->rec->source);
	struct perfdata_view_header head = { 0 };

	if (view)
		perfdata_view_header(view, &head);
	return head;
}

static bool section(struct info_sink *s, unsigned feature, struct bytes *ret)
{
	struct perfdata_view *view = perfdata_view_of(s->rec->source);

	return view && perfdata_view_section(view, feature, ret) > 0;
}

bool info_is_compressed(struct info_sink *s)
{
	struct bytes b;
	uint32_t ratio;

	/* u32 version, type, level, ratio, mmap_len */
	if (!section(s, FEAT_COMPRESSED, &b))
		return false;
	return info_head(s).is_pipe || bytes_skip(&b, "version, type and level", 12) < 0 ||
	       bytes_u32(&b, "ratio", &ratio) < 0 || ratio > 0;
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
	uint64_t bytes = 0;
	unsigned i;

	for (i = 0; source->ops->file(source, i, &file); i++) {
		if (file.end == UINT64_MAX || file.end < file.begin)
			return false;
		bytes += file.end - file.begin;
	}
	*ret_files = i;
	*ret_bytes = bytes;
	return true;
}

uint64_t info_memory_kb(struct info_sink *s)
{
	struct bytes b = { 0 };
	uint64_t kb = 0;

	if (section(s, FEAT_TOTAL_MEM, &b) && bytes_u64(&b, "memory", &kb) < 0) {
		err_clear();
		return 0;
	}
	return kb;
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
