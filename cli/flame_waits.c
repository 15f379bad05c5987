/* SPDX-License-Identifier: MIT */
#include "flame_waits.h"

#include "flame_path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The states of a thread:
 *
 *	        switch out, asleep            woken               switch in
 *	ON ------------------------> OFF ------------> RUNNABLE ------------> ON
 *	        switch out, preempted                     ^
 *	ON -----------------------------------------------'
 *
 * The time since the last step is added when the next one is made. Its place in the tree is known
 * when the thread switches out, because that event has the thread's names and its stack.
 */
enum flame_state {
	STATE_UNKNOWN,
	/*
	 * A thread not seen before was woken: it is runnable if it switches in next, on a cpu if it
	 * switches out.
	 */
	STATE_WOKEN,
	STATE_ON,
	STATE_RUNNABLE,
	STATE_OFF
};

enum {
	TID_MAX = 1 << 22,       /* the kernel's limit on pids */
	STATE_PREEMPTED = 0x100, /* bits of prev_state */
	STATE_DEAD = 0x30,
	FLAGS_INTERRUPT = 0x18 /* bits of common_flags: in an interrupt, in a soft interrupt */
};

struct thread {
	enum flame_state state;
	uint64_t since_ns;   /* when the state began */
	uint64_t sampled_ns; /* on a cpu: begin of the time that is not yet added */
	uint64_t early_ns;   /* runnable time before the thread had a place in the tree */
	/* node of its group; 0 if none yet, or if the thread is not wanted */
	uint32_t group;
	uint32_t off, runnable; /* nodes of the stack with which it switched out */
	uint32_t on;            /* node of its last sample since it switched in; 0 if none */
	uint32_t waker;         /* frame + 1; 0 if not woken */
};

enum wait_kind { KIND_UNKNOWN, KIND_OTHER, KIND_SWITCH, KIND_WAKE };

/* The meaning of an event type. */
struct wait_schema {
	enum wait_kind kind;
	const struct sonde_field *prev, *state, *next, *flags;
};

struct flame_waits {
	struct flame_path path;
	enum flame_time time;
	const struct flame_tasks *tasks;
	struct thread *threads;
	uint32_t nr_threads, room_threads;
	uint32_t *by_tid; /* index + 1 */
	uint32_t room_tids;
	struct wait_schema *schemas; /* by id */
	uint32_t nr_schemas;
	uint64_t last_ns;
	struct flame_switches switches;
};

bool flame_waits_can_group(const char *by)
{
	return flame_path_can_group(by);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Makes room for element `at`; new elements are zero. */
static int flame_waits_room(void *array, uint32_t at, uint32_t *room, size_t size)
{
	void **old = array, *more;
	const uint32_t wanted = at + at / 2 + 64;

	if (at < *room)
		return 0;
	more = reallocarray(*old, wanted, size);
	if (!more)
		return -ENOMEM;
	memset((char *)more + *room * size, 0, (wanted - *room) * size);
	*old = more;
	*room = wanted;
	return 0;
}

/* *ret is NULL for the idle task and for numbers that no thread can have. */
static int flame_waits_thread(struct flame_waits *w, int64_t tid, struct thread **ret)
{
	*ret = NULL;
	if (tid <= 0 || tid > TID_MAX)
		return 0;
	if (flame_waits_room(&w->by_tid, (uint32_t)tid, &w->room_tids, sizeof(*w->by_tid)) < 0)
		return -ENOMEM;
	if (!w->by_tid[tid]) {
		if (flame_waits_room(&w->threads, w->nr_threads, &w->room_threads,
				     sizeof(*w->threads)) < 0)
			return -ENOMEM;
		w->by_tid[tid] = ++w->nr_threads;
	}
	*ret = &w->threads[w->by_tid[tid] - 1];
	return 0;
}

static void flame_waits_learn(const struct sonde_schema *sc, struct wait_schema *ret)
{
	static const char *const wakes[] = { "sched_waking", "sched_wakeup", "sched_wakeup_new" };
	const char *name = sonde_schema_name(sc);

	ret->kind = KIND_OTHER;
	if (sonde_schema_kind(sc) != SONDE_TRACEPOINT || strncmp(name, "sched:", 6) != 0)
		return;
	name += 6;
	ret->flags = sonde_schema_field(sc, "common_flags");
	ret->prev = sonde_schema_field(sc, "prev_pid");
	ret->state = sonde_schema_field(sc, "prev_state");
	ret->next = sonde_schema_field(sc, "next_pid");
	if (!strcmp(name, "sched_switch") && ret->prev && ret->state && ret->next)
		ret->kind = KIND_SWITCH;
	for (size_t i = 0; i < sizeof(wakes) / sizeof(*wakes); i++) {
		if (strcmp(name, wakes[i]) != 0)
			continue;
		ret->next = sonde_schema_field(sc, "pid");
		ret->kind = ret->next ? KIND_WAKE : KIND_OTHER;
	}
}

static int flame_waits_schema(struct flame_waits *w, const struct sonde_event *ev,
			      struct wait_schema **ret)
{
	if (flame_waits_room(&w->schemas, ev->schema, &w->nr_schemas, sizeof(*w->schemas)) < 0)
		return -ENOMEM;
	*ret = &w->schemas[ev->schema];
	if ((*ret)->kind == KIND_UNKNOWN)
		flame_waits_learn(sonde_event_schema(sonde_event_session(ev), ev), *ret);
	return 0;
}

/* ---- who is wanted --------------------------------------------------------------------------- */

static bool flame_waits_lists(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL) {
		if (!strncmp(list, word, len) && (!list[len] || list[len] == ','))
			return true;
	}
	return false;
}

static bool flame_waits_wants(const struct flame_waits *w, const struct sonde_event *ev)
{
	const struct flame_tasks *t = w->tasks;
	char pid[16], tid[16];

	snprintf(pid, sizeof(pid), "%" PRId32, ev->pid);
	snprintf(tid, sizeof(tid), "%" PRId32, ev->tid);
	return (!t->pids || flame_waits_lists(t->pids, pid)) &&
	       (!t->tids || flame_waits_lists(t->tids, tid)) &&
	       (!t->comms ||
		flame_waits_lists(t->comms,
				  sonde_session_string(sonde_event_session(ev), ev->comm)));
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int flame_waits_named(struct flame_waits *w, uint32_t node, const char *name, uint32_t *ret)
{
	uint32_t frame;

	if (flame_frame(w->path.f, name, NULL, FLAME_GROUP, &frame) < 0)
		return -ENOMEM;
	return flame_callee(w->path.f, node, frame, ret);
}

static int flame_waits_add(struct flame_waits *w, enum flame_side side, uint32_t node,
			   uint64_t from_ns, uint64_t to_ns, uint64_t count)
{
	return to_ns > from_ns ? flame_add(w->path.f, node, side, to_ns - from_ns, count) : 0;
}

/* Finds the thread's group by one of its events. *ret is 0 if the thread is not wanted. */
static int flame_waits_group(struct flame_waits *w, const struct sonde_event *ev, uint32_t *ret)
{
	*ret = 0;
	if (!flame_waits_wants(w, ev))
		return 0;
	if (flame_path_groups(&w->path, ev, ret) < 0)
		return -ENOMEM;
	return *ret ? 0 : flame_waits_named(w, 0, "[threads]", ret); /* --by none */
}

/*
 * Adds the stack of an event below a named child of the thread's group, or below the group itself
 * if name is NULL.
 */
static int flame_waits_stack(struct flame_waits *w, const struct sonde_event *ev, uint32_t group,
			     const char *name, uint32_t *ret)
{
	*ret = group;
	if (name && flame_waits_named(w, group, name, ret) < 0)
		return -ENOMEM;
	return flame_path_calls(&w->path, ev, ret);
}

/* Adds the time since the last sample, or since the thread switched in. */
static int flame_waits_on_cpu(struct flame_waits *w, enum flame_side side, struct thread *t,
			      uint64_t now_ns)
{
	uint32_t node = t->on;

	if (w->time != FLAME_WALL || t->state != STATE_ON || !t->group)
		return 0;
	if (!node && (flame_waits_named(w, t->group, "[on cpu]", &node) < 0 ||
		      flame_waits_named(w, node, "[no sample]", &node) < 0))
		return -ENOMEM;
	if (flame_waits_add(w, side, node, t->sampled_ns, now_ns, 1) < 0)
		return -ENOMEM;
	t->sampled_ns = now_ns;
	return 0;
}

/* Adds the time of a wait that ended, or the part of it up to the waking. */
static int flame_waits_wait(struct flame_waits *w, enum flame_side side, struct thread *t,
			    uint64_t now_ns)
{
	uint32_t node = t->state == STATE_OFF ? t->off : t->runnable;

	if (t->state == STATE_WOKEN && now_ns > t->since_ns)
		t->early_ns += now_ns - t->since_ns;
	if ((t->state != STATE_OFF && t->state != STATE_RUNNABLE) || !t->group)
		return 0;
	if (t->state == STATE_OFF && t->waker &&
	    flame_callee(w->path.f, node, t->waker - 1, &node) < 0)
		return -ENOMEM;
	return flame_waits_add(w, side, node, t->since_ns, now_ns, 1);
}

static int flame_waits_out(struct flame_waits *w, enum flame_side side, struct thread *t,
			   const struct sonde_event *ev, int64_t state)
{
	const bool is_wall = w->time == FLAME_WALL;
	const bool is_ready = !(state & (STATE_PREEMPTED - 1)) || state & STATE_PREEMPTED;
	uint32_t node;
	int r;

	w->switches.missing += t->group && (t->state == STATE_OFF || t->state == STATE_RUNNABLE);
	r = flame_waits_group(w, ev, &t->group);
	if (r >= 0)
		r = flame_waits_on_cpu(w, side, t, ev->time_ns);
	if (r >= 0 && is_wall && t->group && t->early_ns) {
		r = flame_waits_named(w, t->group, "[runnable]", &node);
		if (r >= 0)
			r = flame_waits_add(w, side, node, 0, t->early_ns, 1);
	}
	t->early_ns = 0;
	t->on = t->waker = 0;
	t->since_ns = ev->time_ns;
	t->state = is_ready ? STATE_RUNNABLE : STATE_OFF;
	if (state & STATE_DEAD) /* the next thread with this number is another one */
		*t = (struct thread){ 0 };
	if (r < 0 || !t->group)
		return r;
	r = flame_waits_stack(w, ev, t->group, is_wall ? "[off cpu]" : NULL, &t->off);
	if (r >= 0 && is_wall)
		return flame_waits_stack(w, ev, t->group, "[runnable]", &t->runnable);
	return r < 0 ? r : flame_waits_named(w, t->off, "[preempted]", &t->runnable);
}

static int flame_waits_in(struct flame_waits *w, enum flame_side side, struct thread *t,
			  uint64_t now_ns)
{
	int r = flame_waits_wait(w, side, t, now_ns);

	w->switches.missing += t->group && t->state == STATE_ON;

	t->state = STATE_ON;
	t->since_ns = t->sampled_ns = now_ns;
	t->on = 0;
	return r;
}

static int flame_waits_woken(struct flame_waits *w, enum flame_side side, struct thread *t,
			     const struct sonde_event *ev, bool by_interrupt)
{
	char name[64];
	uint32_t frame;
	int r = 0;

	if (t->state == STATE_ON || t->state == STATE_RUNNABLE || t->waker)
		return 0;
	if (t->state == STATE_WOKEN) /* sched_waking and sched_wakeup report the same */
		return 0;
	if (t->state == STATE_OFF) {
		snprintf(name, sizeof(name), "woken by %s",
			 by_interrupt ? "an interrupt"
				      : sonde_session_string(sonde_event_session(ev), ev->comm));
		r = flame_frame(w->path.f, name, NULL, FLAME_WAKER, &frame);
		t->waker = frame + 1;
		if (r < 0 || w->time == FLAME_OFF_CPU)
			return r;
		r = flame_waits_wait(w, side, t, ev->time_ns);
	}
	t->state = t->state == STATE_OFF ? STATE_RUNNABLE : STATE_WOKEN;
	t->since_ns = ev->time_ns;
	return r;
}

/* Handles a sample: its stack ran since the last sample. */
static int flame_waits_sample(struct flame_waits *w, enum flame_side side, struct thread *t,
			      const struct sonde_event *ev)
{
	if (w->time != FLAME_WALL || t->state != STATE_ON)
		return 0;
	if (!t->group && flame_waits_group(w, ev, &t->group) < 0)
		return -ENOMEM;
	if (!t->group)
		return 0;
	if (flame_waits_stack(w, ev, t->group, "[on cpu]", &t->on) < 0)
		return -ENOMEM;
	return flame_waits_on_cpu(w, side, t, ev->time_ns);
}

static int flame_waits_event(struct flame_waits *w, enum flame_side side,
			     const struct sonde_event *ev)
{
	struct wait_schema *sc;
	struct thread *t;
	int r = flame_waits_schema(w, ev, &sc);

	if (r < 0 || ev->time_ns == SONDE_NO_TIME)
		return r;
	w->last_ns = ev->time_ns > w->last_ns ? ev->time_ns : w->last_ns;
	if (sc->kind == KIND_WAKE) {
		const bool by_interrupt =
			sc->flags && sonde_event_u64(ev, sc->flags) & FLAGS_INTERRUPT;

		r = flame_waits_thread(w, sonde_event_i64(ev, sc->next), &t);
		return r >= 0 && t ? flame_waits_woken(w, side, t, ev, by_interrupt) : r;
	}
	if (sc->kind == KIND_OTHER) {
		r = flame_waits_thread(w, ev->tid, &t);
		return r >= 0 && t ? flame_waits_sample(w, side, t, ev) : r;
	}
	w->switches.seen++;
	r = flame_waits_thread(w, sonde_event_i64(ev, sc->prev), &t);
	if (r >= 0 && t)
		r = flame_waits_out(w, side, t, ev, sonde_event_i64(ev, sc->state));
	if (r >= 0)
		r = flame_waits_thread(w, sonde_event_i64(ev, sc->next), &t);
	return r >= 0 && t ? flame_waits_in(w, side, t, ev->time_ns) : r;
}

/*
 * Adds the wall time up to the last event. Waits that have not ended are not added to off-cpu time.
 */
static int flame_waits_end(struct flame_waits *w, enum flame_side side)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && w->time == FLAME_WALL && i < w->nr_threads; i++) {
		r = flame_waits_on_cpu(w, side, &w->threads[i], w->last_ns);
		if (r >= 0)
			r = flame_waits_wait(w, side, &w->threads[i], w->last_ns);
	}
	return r;
}

int flames_fill_waits(struct flames *fs, struct sonde_session *s, enum flame_side side,
		      enum flame_time time, const struct flame_tasks *tasks,
		      struct flame_switches *ret)
{
	struct flame_waits w = { .time = time, .tasks = tasks, .path = { .by = fs->by } };
	const struct sonde_event *ev;
	int r = flames_find(fs, time == FLAME_WALL ? "wall" : "off-cpu", "ns", &w.path.f);

	if (r >= 0)
		w.path.f->counted = time == FLAME_WALL ? "intervals" : "waits";
	while (r >= 0 && (r = sonde_session_next(s, &ev)) > 0)
		r = flame_waits_event(&w, side, ev);
	if (r >= 0)
		r = flame_waits_end(&w, side);
	*ret = w.switches;
	flame_path_done(&w.path);
	free(w.threads);
	free(w.by_tid);
	free(w.schemas);
	return r;
}
