/* SPDX-License-Identifier: MIT */
#include "sinks/perf/record_counts.h"

#include <inttypes.h>
#include <linux/perf_event.h>

#include "base/bytes.h"
#include "base/err.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/layout.h"
#include "recording/recording.h"
#include "sinks/perf/records.h"
#include "sources/perfdata/view.h"

enum { RECORD_HEADER_BYTES = 8 };

static int record_counts_event(struct record_counts *c, const struct sonde_schema *sc,
			       struct record_event_counts **ret)
{
	while (c->events.n <= sc->id)
		if (vec_push(&c->events, (struct record_event_counts){ 0 }) < 0)
			return err_nomem();
	*ret = &c->events.v[sc->id];
	(*ret)->schema = sc;
	return 0;
}

/* Adds the count of LOST_SAMPLES: samples of an event that did not fit into its ring. */
static int record_counts_add_lost(struct record_counts *c, const struct event *raw,
				  const struct perfdata_view_record *rec)
{
	struct bytes b =
		bytes_init(raw->pub.record, raw->pub.record_len, raw->pub.file_off, "", rec->swap);
	struct record_event_counts *event;
	uint64_t lost = 0;

	if (rec->type != PERF_RECORD_LOST_SAMPLES || !rec->schema)
		return 0;
	b.pos += RECORD_HEADER_BYTES;
	if (bytes_u64(&b, "lost", &lost) < 0) {
		err_clear();
		return 0;
	}
	TRY(record_counts_event(c, rec->schema, &event));
	event->lost += lost;
	return 0;
}

int record_counts_add(struct record_counts *c, const struct event *raw,
		      const struct perfdata_view_record *rec)
{
	if (rec->type >= RECORD_COUNT_TYPES)
		return 0;
	c->by_type[rec->type]++;
	c->total++;
	return rec->is_damaged || !raw ? 0 : record_counts_add_lost(c, raw, rec);
}

int record_counts_add_samples(struct record_counts *c, const struct sonde_schema *sc, uint64_t nr)
{
	struct record_event_counts *event;

	TRY(record_counts_event(c, sc, &event));
	event->samples += nr;
	return 0;
}

void record_counts_finish(struct record_counts *c, const struct recording *rec)
{
	static const uint32_t types[] = { RECORD_COMPRESSED, RECORD_COMPRESSED2 };
	struct perfdata_view *view = perfdata_view_of(rec->source);
	struct perfdata_view_header head;

	if (!view)
		return;
	perfdata_view_header(view, &head);
	for (size_t i = 0; i < 2; i++) {
		c->by_type[types[i]] += head.compressed[i];
		c->total += head.compressed[i];
	}
}

static void record_counts_put_line(const char *name, uint64_t n, struct outbuf *out)
{
	outbuf_fmt(out, "%16s events: %10" PRIu64, name, n);
}

static const char *record_counts_name(const struct record_counts *c, const struct sonde_schema *sc,
				      char *room, size_t size)
{
	const struct perf_event_attr *attr = sc->attr;

	if (!c->forgets_names || !attr || attr->type == PERF_TYPE_TRACEPOINT)
		return sc->name;
	perfdata_attr_name(attr, room, size);
	return *room ? room : sc->name;
}

void record_counts_put(struct record_counts *c, const struct recording *rec, bool with_empty,
		       struct outbuf *out)
{
	struct perfdata_view_header head = { 0 };

	if (perfdata_view_of(rec->source))
		perfdata_view_header(perfdata_view_of(rec->source), &head);
	outbuf_fmt(out, "\nAggregated stats:%s\n",
		   head.features[0] >> FEAT_AUXTRACE & 1 ? " (excludes AUX area (e.g. instruction "
							   "trace) decoded / synthesized events)"
							 : "");
	record_counts_put_line("TOTAL", c->total, out);
	outbuf_char(out, '\n');
	for (uint32_t type = 1; type < RECORD_COUNT_TYPES; type++) {
		const char *name = perf_record_name(type);

		if (!c->by_type[type] && (!with_empty || !strcmp(name, "UNKNOWN")))
			continue;
		record_counts_put_line(name, c->by_type[type], out);
		outbuf_fmt(out, "  (%4.1f%%)\n",
			   c->total ? 100.0 * (double)c->by_type[type] / (double)c->total : 0);
	}
	vec_foreach(event, &c->events) {
		char room[128];

		if (!event->schema || (!with_empty && !event->samples && !event->lost))
			continue;
		outbuf_fmt(out, "%s stats:\n",
			   record_counts_name(c, event->schema, room, sizeof(room)));
		if (event->samples) {
			record_counts_put_line("SAMPLE", event->samples, out);
			outbuf_char(out, '\n');
		}
		if (event->lost) {
			record_counts_put_line("LOST_SAMPLES", event->lost, out);
			outbuf_char(out, '\n');
		}
	}
}

void record_counts_done(struct record_counts *c)
{
	vec_done(&c->events);
}
