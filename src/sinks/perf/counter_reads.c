/* SPDX-License-Identifier: MIT */
#include "sinks/perf/counter_reads.h"

#include "formats/perfdata/attr.h"

void counter_reads_done(struct counter_reads *r)
{
	hash64_done(&r->by_id);
	vec_done(&r->counts);
	vec_done(&r->events);
}

static int counter_reads_know_event(struct counter_reads *r, size_t event, bool swap,
				    const struct counter_reads_event **ret)
{
	struct counter_reads_event *e;

	while (r->events.n <= event)
		TRY(vec_push(&r->events, (struct counter_reads_event){ 0 }));
	e = &r->events.v[event];
	if (!e->is_known) {
		struct perfdata_view_event recorded;
		struct perf_event_attr attr = { 0 };
		struct perfdata_layout layout;
		uint32_t size;

		e->is_known = true;
		if (perfdata_view_event_at(r->view, event, &recorded)) {
			perfdata_attr_read(recorded.attr, recorded.attr_bytes, swap, &attr, &size);
			perfdata_layout_of(&attr, &layout);
			e->has_reads = attr.sample_type & PERF_SAMPLE_READ;
			e->read_format = attr.read_format;
			e->id = layout.id;
			e->at = layout.first_variable;
		}
	}
	*ret = e;
	return 0;
}

/* Only ids of the recording are added, because a sample may contain any number. */
static int counter_reads_know_ids(struct counter_reads *r)
{
	size_t event;
	uint64_t id;

	for (size_t i = r->counts.n; perfdata_view_id_at(r->view, i, &id, &event); i++) {
		TRY(vec_push(&r->counts, (struct counter_reads_count){ 0 }));
		TRY(hash64_put(&r->by_id, id, i));
	}
	return 0;
}

static void counter_reads_take_value(struct counter_reads *r, uint64_t id, uint8_t *at, bool swap,
				     unsigned part)
{
	uint64_t i = hash64_find(&r->by_id, id), value = get_u64(at, swap);
	struct counter_reads_count *c;

	if (i == HASH64_EMPTY)
		return;
	c = &r->counts.v[i];
	if (!part)
		c->taken_off += value - c->last;
	else if (c->part != part)
		c->taken_off = c->last;
	if (part)
		c->part = part;
	c->last = value;
	if (part && c->taken_off) {
		value -= c->taken_off;
		value = get_u64(&value, swap);
		memcpy(at, &value, sizeof(value));
	}
}

/*
 *	one event: u64 value | enabled | running | id | lost
 *	a group:   u64 nr | enabled | running | nr x { value | id | lost }
 */
static void counter_reads_take_values(struct counter_reads *r, const struct counter_reads_event *e,
				      uint8_t *sample, uint32_t len, bool swap, unsigned part)
{
	const uint64_t format = e->read_format;
	const uint32_t times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8 : 0) +
			       (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8 : 0);
	const bool has_id = format & PERF_FORMAT_ID;
	const uint32_t member = 8 + (has_id ? 8 : 0) + (format & PERF_FORMAT_LOST ? 8 : 0);
	uint8_t *p = sample + e->at, *end = sample + len;
	uint64_t nr;

	if (!(format & PERF_FORMAT_GROUP)) {
		if ((uint32_t)(end - p) < times + member)
			return;
		if (has_id)
			counter_reads_take_value(r, get_u64(p + 8 + times, swap), p, swap, part);
		else if (e->id)
			counter_reads_take_value(r, get_u64(sample + e->id, swap), p, swap, part);
		return;
	}
	if (!has_id || (uint32_t)(end - p) < 8 + times)
		return;
	nr = get_u64(p, swap);
	for (p += 8 + times; nr && end - p >= (ptrdiff_t)member; nr--, p += member)
		counter_reads_take_value(r, get_u64(p + 8, swap), p, swap, part);
}

int counter_reads_take(struct counter_reads *r, size_t event, uint8_t *sample, uint32_t len,
		       bool swap, unsigned part)
{
	const struct counter_reads_event *e;

	TRY(counter_reads_know_event(r, event, swap, &e));
	if (!e->has_reads || len < (uint32_t)e->at)
		return 0;
	TRY(counter_reads_know_ids(r));
	counter_reads_take_values(r, e, sample, len, swap, part);
	return 0;
}
