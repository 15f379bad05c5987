/* SPDX-License-Identifier: MIT */
#include "heat_pairs.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Starts that may be open at a time; a slot for each of them. */
enum { MOST_OPEN = 1 << 20 };

struct heat_pair {
	uint64_t key[HEAT_KEYS];
	uint64_t time_ns;
	uint32_t next; /* index + 1 of the next one in its chain, or in the list of free ones */
};

/* A value of the event itself. */
enum heat_own { OWN_NONE, OWN_TID, OWN_CPU };

/* The role of an event type in the pairs. */
struct heat_side {
	bool is_known, is_start, is_stop;
	/* [0] as START, [1] as STOP. Without a field `own` selects the value. */
	const struct sonde_field *fields[2][HEAT_KEYS];
	enum heat_own own[2][HEAT_KEYS];
};

/* Keys that events of one subsystem have in common. */
static const struct {
	const char *start, *stop, *key;
} heat_known[] = {
	{ "block:block_rq_*", "block:block_rq_*", "dev,sector" },
	{ "block:block_bio_*", "block:block_bio_*", "dev,sector" },
	{ "sched:sched_wak*", "sched:sched_switch", "pid=next_pid" },
	{ "irq:softirq_*", "irq:softirq_*", "cpu,vec" },
	{ "irq:irq_handler_*", "irq:irq_handler_*", "cpu,irq" },
	{ "workqueue:*", "workqueue:*", "work" },
	{ "timer:timer_*", "timer:timer_*", "timer" },
	{ "timer:hrtimer_*", "timer:hrtimer_*", "hrtimer" },
};

static bool heat_pairs_matches(const char *pattern, const char *name)
{
	const char *colon = strchr(name, ':');

	return !fnmatch(pattern, name, 0) || (colon && !fnmatch(pattern, colon + 1, 0));
}

static const char *heat_pairs_key(const struct heat_pairs *p, const char *name, bool as_start)
{
	if (p->key)
		return p->key;
	for (size_t i = 0; i < sizeof(heat_known) / sizeof(*heat_known); i++) {
		const char *own = as_start ? heat_known[i].start : heat_known[i].stop;
		const char *other = as_start ? heat_known[i].stop : heat_known[i].start;
		const char *wanted = as_start ? p->stop : p->start;

		/* The other event's pattern as the user wrote it, with or without its system. */
		if (heat_pairs_matches(own, name) &&
		    (!fnmatch(other, wanted, 0) || !fnmatch(strchr(other, ':') + 1, wanted, 0)))
			return heat_known[i].key;
	}
	return "tid";
}

/* "a=b": a is the field of START, b that of STOP. */
static void heat_pairs_fields(struct heat_pairs *p, const struct sonde_schema *sc, const char *key,
			      bool as_start, struct heat_side *side)
{
	size_t nr = 0;

	for (; *key && nr < HEAT_KEYS; key += strcspn(key, ","), key += *key == ',', nr++) {
		const size_t len = strcspn(key, ",");
		const char *sign = memchr(key, '=', len);
		const char *from = !as_start && sign ? sign + 1 : key;
		const size_t from_len =
			as_start && sign ? (size_t)(sign - key) : (size_t)(key + len - from);
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)from_len, from);
		side->fields[!as_start][nr] = sonde_schema_field(sc, name);
		if (side->fields[!as_start][nr])
			continue;
		if (!strcmp(name, "tid") || !strcmp(name, "cpu")) {
			side->own[!as_start][nr] = *name == 't' ? OWN_TID : OWN_CPU;
		} else {
			p->wrong = sc;
			snprintf(p->wrong_key, sizeof(p->wrong_key), "%s", name);
		}
	}
}

static int heat_pairs_side(struct heat_pairs *p, const struct sonde_event *ev,
			   struct heat_side **ret)
{
	const struct sonde_schema *sc = sonde_event_schema(sonde_event_session(ev), ev);
	const char *name = sonde_schema_name(sc);

	if (ev->schema >= p->nr_sides) {
		const uint32_t nr = ev->schema + 16;
		struct heat_side *more = reallocarray(p->sides, nr, sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + p->nr_sides, 0, (nr - p->nr_sides) * sizeof(*more));
		p->sides = more;
		p->nr_sides = nr;
	}
	*ret = &p->sides[ev->schema];
	if ((*ret)->is_known)
		return 0;
	(*ret)->is_known = true;
	(*ret)->is_start = heat_pairs_matches(p->start, name);
	(*ret)->is_stop = heat_pairs_matches(p->stop, name);
	if ((*ret)->is_start)
		heat_pairs_fields(p, sc, heat_pairs_key(p, name, true), true, *ret);
	if ((*ret)->is_stop)
		heat_pairs_fields(p, sc, heat_pairs_key(p, name, false), false, *ret);
	return 0;
}

static uint32_t heat_pairs_values(const struct heat_side *side, const struct sonde_event *ev,
				  bool as_start, uint64_t key[HEAT_KEYS])
{
	uint64_t hash = 0;

	memset(key, 0, HEAT_KEYS * sizeof(*key));
	for (size_t i = 0; i < HEAT_KEYS; i++) {
		const struct sonde_field *f = side->fields[!as_start][i];

		if (f)
			key[i] = sonde_event_u64(ev, f);
		else if (side->own[!as_start][i] == OWN_TID)
			key[i] = (uint32_t)ev->tid;
		else if (side->own[!as_start][i] == OWN_CPU)
			key[i] = (uint32_t)ev->cpu;
		hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash & (MOST_OPEN - 1);
}

/* Returns the link to the open start of a key; the link is 0 if there is none. */
static uint32_t *heat_pairs_find(struct heat_pairs *p, uint32_t slot, const uint64_t key[HEAT_KEYS])
{
	uint32_t *link = &p->slots[slot];

	while (*link && memcmp(p->open[*link - 1].key, key, sizeof(p->open->key)) != 0)
		link = &p->open[*link - 1].next;
	return link;
}

static void heat_pairs_stop(struct heat_pairs *p, const struct heat_side *side,
			    const struct sonde_event *ev)
{
	uint64_t key[HEAT_KEYS];
	const uint32_t slot = heat_pairs_values(side, ev, false, key);
	uint32_t *link = heat_pairs_find(p, slot, key), pair = *link;
	struct heat_pair *found;

	p->stops++;
	if (!pair) {
		p->without_start++;
		return;
	}
	found = &p->open[pair - 1];
	heat_add(p->heat, ev->time_ns,
		 ev->time_ns > found->time_ns ? ev->time_ns - found->time_ns : 0);
	*link = found->next;
	found->next = p->free;
	p->free = pair;
	p->nr_open--;
}

static int heat_pairs_start(struct heat_pairs *p, const struct heat_side *side,
			    const struct sonde_event *ev)
{
	struct heat_pair made = { .time_ns = ev->time_ns };
	const uint32_t slot = heat_pairs_values(side, ev, true, made.key);
	uint32_t *link = heat_pairs_find(p, slot, made.key), at = *link;

	p->starts++;
	if (at) { /* the last start counts */
		p->open[at - 1].time_ns = ev->time_ns;
		return 0;
	}
	if (p->free) {
		at = p->free;
		p->free = p->open[at - 1].next;
	} else if (p->nr_open == MOST_OPEN) {
		p->dropped++;
		return 0;
	} else {
		if (p->nr_open == p->room) {
			const uint32_t room = p->room ? p->room * 2 : 256;
			struct heat_pair *more = reallocarray(p->open, room, sizeof(*more));

			if (!more)
				return -ENOMEM;
			p->open = more;
			p->room = room;
		}
		at = p->nr_open + 1; /* no element is free, so the first nr_open ones are in use */
	}
	made.next = p->slots[slot];
	p->open[at - 1] = made;
	p->slots[slot] = at;
	p->nr_open++;
	return 0;
}

int heat_pairs_add(struct heat_pairs *p, const struct sonde_event *ev)
{
	struct heat_side *side;

	if (!p->slots)
		p->slots = calloc(MOST_OPEN, sizeof(*p->slots));
	if (!p->slots || heat_pairs_side(p, ev, &side) < 0)
		return -ENOMEM;
	if (ev->time_ns == SONDE_NO_TIME)
		return 0;
	if (side->is_stop)
		heat_pairs_stop(p, side, ev);
	return side->is_start ? heat_pairs_start(p, side, ev) : 0;
}

uint64_t heat_pairs_unended(const struct heat_pairs *p)
{
	return p->nr_open;
}

void heat_pairs_done(struct heat_pairs *p)
{
	free(p->open);
	free(p->slots);
	free(p->sides);
}
