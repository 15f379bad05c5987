/* SPDX-License-Identifier: MIT */
#include "record/drain/losses.h"

/* True if the event produces one sample for each event counted. */
static bool losses_samples_all(const struct perf_event_attr *a)
{
	return capture_is_dummy(a) ||
	       (a->type == PERF_TYPE_TRACEPOINT && !a->freq && a->sample_period == 1);
}

static bool losses_carries_state(const struct perf_event_attr *a)
{
	return a->comm || a->mmap || a->mmap2 || a->task || a->context_switch || a->namespaces ||
	       a->cgroup || a->ksymbol;
}

/* The counters of one ring, together. */
struct ring_sum {
	uint64_t counted, dropped;
	uint64_t by_carriers; /* the part of dropped from counters that carry records of state */
	bool is_exact;
};

static struct ring_sum losses_sum_up(struct counters *c, const struct capture_events *events,
				     const struct ring *ring)
{
	struct ring_sum s = { .is_exact = ring_head(ring) == ring->tail };

	vec_foreach(n, &c->list) {
		const struct perf_event_attr *a = &events->list.v[n->event].attr;

		if (n->buffer != ring->buffer || n->backward || n->fd < 0)
			continue;
		s.counted += n->counted;
		s.dropped += n->lost;
		s.is_exact &= losses_samples_all(a);
		if (losses_carries_state(a))
			s.by_carriers += n->lost;
	}
	return s;
}

/*
 * Subtracts the lost records of state from the counters that carry them. There are several such
 * counters, all of one event, if several tasks are recorded.
 */
static void losses_take_off(struct counters *c, const struct capture_events *events,
			    const struct ring *ring, uint64_t of_state)
{
	vec_foreach(n, &c->list) {
		const uint64_t taken = n->lost < of_state ? n->lost : of_state;

		if (n->buffer != ring->buffer || n->backward ||
		    !losses_carries_state(&events->list.v[n->event].attr))
			continue;
		n->lost -= taken;
		of_state -= taken;
	}
}

void losses_read(struct counters *c, const struct capture_events *events, bool is_over,
		 struct losses *ret)
{
	struct losses l = { 0 };

	vec_foreach(n, &c->list) {
		if (n->fd < 0) /* its owner has set them */
			continue;
		l.is_known |= counter_read(n, &n->counted, &n->lost);
		/* a dummy has no events that could be lost */
		if (capture_is_dummy(&events->list.v[n->event].attr)) {
			l.state += n->lost;
			n->lost = 0;
		}
	}
	*ret = l;
	if (!is_over || !l.is_known)
		return;
	vec_foreach(ring, &c->rings.list) {
		const struct ring_sum s = losses_sum_up(c, events, ring);
		uint64_t of_events, of_state;

		if (!s.is_exact || s.counted < ring->samples)
			continue;
		of_events = s.counted - ring->samples;
		if (of_events > s.dropped || s.dropped - of_events > s.by_carriers)
			continue;
		of_state = s.dropped - of_events;
		ret->state += of_state;
		losses_take_off(c, events, ring, of_state);
	}
}
