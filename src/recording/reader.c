/* SPDX-License-Identifier: MIT */
#include "recording/reader.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/now.h"
#include "model/defects.h"

enum {
	BATCHES = 64,          /* size of the ring */
	WAKE_AT = 4,           /* finished batches at which the caller is woken */
	AHEAD_BYTES = 8 << 20, /* of records in finished batches, unless there is only one */
	LOOK_MS = 100,         /* how often a waiting caller checks whether it should stop */
	NAP_NS = 100000,       /* a pause of the thread while the caller works; */
	NAPS = 16,             /* after so many naps it sleeps until it is woken */
	STACK_BYTES = 1 << 20
};

#define SLOT_EVENTS_BYTES (ORDER_CUTS * sizeof(struct event))

/* A batch, with its result, errors and defects for the caller's thread. */
struct slot {
	struct reader_batch pub;
	int result;          /* of order_fill() */
	char *cause;         /* owned; text of a failure; NULL if none */
	struct defects *met; /* owned; NULL if none */
	uint64_t nr_nomem;   /* number of allocations that failed */
	uint64_t bytes;      /* of the batch's records */
	struct cut cuts[ORDER_CUTS];
	struct stretch stretches[ORDER_CUTS];
};

/*
 * Batch n is in slots[(n - 1) % BATCHES]. The thread writes slots that are given back. The caller
 * reads slots that are made:
 *
 *	given_back <= taken <= made <= given_back + BATCHES
 */
struct reader {
	struct reader_options opts;
	struct order_ahead ahead;
	pthread_t thread;
	pid_t pid;          /* of the process that has the thread */
	bool is_over;       /* the thread has ended and was joined */
	struct slot *slots; /* owned */
	char *room;         /* owned; the events of the slots, aligned to a cache line */
	_Atomic uint64_t made, given_back;
	uint64_t taken;               /* used by the caller only */
	uint64_t bytes_made;          /* of all batches; used by the thread only */
	_Atomic uint64_t bytes_back;  /* of the batches given back */
	_Atomic uint64_t done, total; /* progress */
	uint64_t shown;               /* the most `done` that the caller got */
	atomic_bool quit;
	/*
	 * Each side sets its flag before it sleeps, and checks its condition once more after that.
	 * The other side posts the semaphore if it finds the flag set. thread_sleeps is 1 plus the
	 * number of batches that may be out when the thread is woken.
	 */
	sem_t for_thread, for_caller;
	_Atomic uint64_t thread_sleeps;
	atomic_bool caller_sleeps;
	/* The thread waits until the caller has taken these header records. */
	atomic_bool has_headers;
	const struct cut *headers;
	int nr_headers, headers_result;
};

/* ---- the thread ------------------------------------------------------------------------------ */

static void reader_wake_caller(struct reader *r)
{
	if (atomic_load(&r->caller_sleeps) && atomic_exchange(&r->caller_sleeps, false))
		sem_post(&r->for_caller);
}

static void reader_sleep_thread(struct reader *r)
{
	while (sem_wait(&r->for_thread) < 0 && errno == EINTR)
		;
}

static bool reader_quits(const struct reader *r)
{
	return atomic_load(&r->quit);
}

/* The number of batches that are not given back. */
static uint64_t reader_count_out(const struct reader *r)
{
	return atomic_load_explicit(&r->made, memory_order_relaxed) - atomic_load(&r->given_back);
}

/* Waits until at most `out` batches are out, or the thread should quit. */
static void reader_wait_for_caller(struct reader *r, uint64_t out)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	/* Waking the thread costs the caller 12 us (measured in a guest): half a batch. */
	for (int i = 0; i < NAPS && reader_count_out(r) > out && !reader_quits(r); i++)
		nanosleep(&nap, NULL);
	while (reader_count_out(r) > out && !reader_quits(r)) {
		atomic_store(&r->thread_sleeps, out + 1);
		if (reader_count_out(r) > out && !reader_quits(r))
			reader_sleep_thread(r);
		atomic_store(&r->thread_sleeps, 0);
	}
}

/* Waits until a slot is free and less than AHEAD_BYTES are out. */
static void reader_wait_for_slot(struct reader *r)
{
	const uint64_t out = reader_count_out(r);

	if (!out || (out < BATCHES && r->bytes_made - atomic_load(&r->bytes_back) < AHEAD_BYTES))
		return;
	reader_wake_caller(r);
	reader_wait_for_caller(r, out / 2);
}

/* order_ahead.take_headers: lets the caller take them. */
static int reader_ask_to_take(void *ctx, const struct cut *cuts, int nr)
{
	struct reader *r = ctx;

	r->headers = cuts;
	r->nr_headers = nr;
	atomic_store(&r->has_headers, true);
	reader_wake_caller(r);
	while (atomic_load(&r->has_headers)) {
		if (reader_quits(r))
			return -ECANCELED;
		atomic_store(&r->thread_sleeps, BATCHES + 1);
		if (atomic_load(&r->has_headers) && !reader_quits(r))
			reader_sleep_thread(r);
		atomic_store(&r->thread_sleeps, 0);
	}
	return r->headers_result;
}

/* order_ahead.before_read: reading a stream may block, so the caller is woken first. */
static void reader_show_batches(void *ctx)
{
	struct reader *r = ctx;

	if (r->opts.is_stream && reader_count_out(r))
		reader_wake_caller(r);
}

static void reader_note_progress(void *ctx)
{
	struct reader *r = ctx;
	uint64_t done, total;

	order_progress(r->opts.order, &done, &total);
	atomic_store_explicit(&r->done, done, memory_order_relaxed);
	atomic_store_explicit(&r->total, total, memory_order_relaxed);
}

/* Sets the members that all events share. Done at a slot's first use: many are never used. */
static void reader_make_events(const struct reader *r, struct slot *slot)
{
	for (int i = 0; i < ORDER_CUTS; i++)
		slot->pub.events[i] = r->opts.like;
}

/* Decodes a slot in stretches. The caller decodes the record between two stretches. */
static void reader_decode_slot(struct reader *r, struct slot *slot)
{
	struct source *source = r->opts.source;
	const int nr = slot->pub.nr_cuts;
	int nr_events = 0, at = 0;

	slot->pub.wants = atomic_load_explicit(r->opts.wants, memory_order_acquire);
	while (at < nr) {
		const int from = at;
		int n = source->ops->decode_ahead(source, slot->cuts, nr, &at,
						  slot->pub.events + nr_events,
						  ORDER_CUTS - nr_events);

		if (at > from)
			slot->stretches[slot->pub.nr_stretches++] = (struct stretch){
				.cut = (uint16_t)from,
				.end_cut = (uint16_t)at,
				.event = (uint16_t)nr_events,
				.nr_events = (uint16_t)n,
			};
		nr_events += n;
		at++;
	}
}

static uint64_t reader_count_nomem(void)
{
	const void *thread;

	return err_nomem_count(&thread);
}

static void reader_note_failures(struct reader *r, struct slot *slot, uint64_t nomem_before)
{
	slot->nr_nomem = reader_count_nomem() - nomem_before;
	if (slot->result < 0 && slot->result != -ENOMEM)
		slot->cause = strdup(err_text());
	if (!r->opts.read_defects->changes)
		return;
	slot->met = calloc(1, sizeof(*slot->met));
	if (slot->met)
		defects_move(slot->met, r->opts.read_defects);
	/* without memory they are passed on with the next batch */
}

static void reader_fill_slot(struct reader *r, struct slot *slot, uint64_t number)
{
	const uint64_t nomem_before = reader_count_nomem();

	slot->result = order_fill(r->opts.order, slot->cuts, number);
	slot->pub.nr_cuts = slot->result > 0 ? slot->result : 0;
	slot->pub.nr_stretches = 0;
	if (r->opts.decodes && number <= BATCHES)
		reader_make_events(r, slot);
	if (r->opts.decodes)
		reader_decode_slot(r, slot);
	order_stats(r->opts.order, &slot->pub.stats);
	slot->bytes = slot->pub.stats.bytes_delivered - r->bytes_made;
	reader_note_progress(r);
	slot->pub.done = atomic_load_explicit(&r->done, memory_order_relaxed);
	slot->pub.total = atomic_load_explicit(&r->total, memory_order_relaxed);
	reader_note_failures(r, slot, nomem_before);
}

static void *reader_run(void *ctx)
{
	struct reader *r = ctx;

	for (uint64_t number = 1;; number++) {
		struct slot *slot = &r->slots[(number - 1) % BATCHES];
		bool is_last;

		reader_wait_for_slot(r);
		if (reader_quits(r))
			break;
		reader_fill_slot(r, slot, number);
		is_last = slot->result <= 0 && slot->result != -EINTR;
		r->bytes_made = slot->pub.stats.bytes_delivered;
		atomic_store(&r->made, number);
		if (slot->result <= 0 || number - atomic_load(&r->given_back) >= WAKE_AT)
			reader_wake_caller(r);
		if (is_last)
			break;
	}
	return NULL;
}

/* ---- the caller ------------------------------------------------------------------------------ */

bool reader_is_lost(const struct reader *r)
{
	return r && !r->is_over && r->pid != getpid();
}

bool reader_runs(const struct reader *r)
{
	return !r->is_over;
}

/*
 * `done` is read before `made`: the thread may finish many batches between the two. Once the caller
 * got the thread's progress, it never gets the smaller one of a batch that was made meanwhile.
 */
void reader_progress(struct reader *r, uint64_t *done, uint64_t *total)
{
	const struct reader_batch *last = r->taken ? &r->slots[(r->taken - 1) % BATCHES].pub : NULL;

	*done = atomic_load(&r->done);
	*total = atomic_load(&r->total);
	if (last && atomic_load(&r->made) != r->taken) {
		*done = last->done;
		*total = last->total;
	}
	if (*done < r->shown)
		*done = r->shown;
	r->shown = *done;
}

static void reader_wake_thread(struct reader *r)
{
	if (atomic_exchange(&r->thread_sleeps, 0))
		sem_post(&r->for_thread);
}

/* Gives back all batches that the caller has taken. */
static void reader_give_back(struct reader *r)
{
	uint64_t wake_at;

	if (!r->taken || r->taken == atomic_load_explicit(&r->given_back, memory_order_relaxed))
		return;
	atomic_store(&r->bytes_back, atomic_load_explicit(&r->bytes_back, memory_order_relaxed) +
					     r->slots[(r->taken - 1) % BATCHES].bytes);
	atomic_store(&r->given_back, r->taken);
	wake_at = atomic_load(&r->thread_sleeps);
	if (wake_at && atomic_load(&r->made) - r->taken < wake_at)
		reader_wake_thread(r);
}

static void reader_take_headers(struct reader *r)
{
	r->headers_result =
		r->opts.source->ops->take_header(r->opts.source, r->headers, r->nr_headers);
	atomic_store(&r->has_headers, false);
	reader_wake_thread(r);
}

/*
 * Sleeps until the thread wakes the caller. -EINTR after a signal, after LOOK_MS or at *wake_ns: a
 * signal that arrived before the sleep does not end it, so the caller has to check its signals now
 * and then.
 */
static int reader_sleep_caller(struct reader *r)
{
	const uint64_t wake_ns =
		r->opts.wake_ns ? atomic_load_explicit(r->opts.wake_ns, memory_order_relaxed) : 0;
	const uint64_t at_ns = wake_ns ? now_ns(CLOCK_MONOTONIC) : 0;
	struct timespec until;
	long ns = LOOK_MS * 1000000;

	if (wake_ns && wake_ns < at_ns + (uint64_t)ns)
		ns = wake_ns > at_ns ? (long)(wake_ns - at_ns) : 0;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ns;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return sem_timedwait(&r->for_caller, &until) < 0 ? -EINTR : 0;
}

/* Waits for a batch. -EINTR if the caller should check its signals, or stop. */
static int reader_wait_for_batch(struct reader *r)
{
	for (;;) {
		/* Read before `made`: batches before the header records are decoded first. */
		const bool has_headers = atomic_load(&r->has_headers);
		int e = 0;

		if (atomic_load(&r->made) != r->taken)
			return 0;
		if (has_headers) {
			reader_take_headers(r);
			if (r->headers_result < 0)
				return r->headers_result;
			continue;
		}
		if (r->opts.stopped && atomic_load_explicit(r->opts.stopped, memory_order_relaxed))
			return -EINTR;
		if (r->opts.progress)
			r->opts.progress(r->opts.progress_ctx);
		atomic_store(&r->caller_sleeps, true);
		if (atomic_load(&r->made) == r->taken && !atomic_load(&r->has_headers))
			e = reader_sleep_caller(r);
		atomic_store(&r->caller_sleeps, false);
		if (e < 0)
			return e;
	}
}

/* Ends the thread, if it has not ended by itself. */
static void reader_join(struct reader *r)
{
	if (r->is_over)
		return;
	atomic_store(&r->quit, true);
	reader_wake_thread(r);
	pthread_join(r->thread, NULL);
	r->is_over = true;
	order_read_ahead(r->opts.order, NULL);
}

/* Passes the defects and errors of this batch to the caller. */
static int reader_take_failures(struct reader *r, struct slot *slot)
{
	const int result = slot->result;

	if (slot->met) {
		defects_move(r->opts.defects, slot->met);
		free(slot->met);
		slot->met = NULL;
	}
	for (uint64_t i = result == -ENOMEM; i < slot->nr_nomem; i++)
		err_note_nomem();
	if (result >= 0 || result == -EINTR)
		return result;
	if (result == -ENOMEM || !slot->cause)
		err_nomem();
	else
		err_set(result, "%s", slot->cause);
	free(slot->cause);
	slot->cause = NULL;
	return result;
}

int reader_next(struct reader *r, const struct reader_batch **ret)
{
	struct slot *slot;
	int n;

	reader_give_back(r);
	if (atomic_load(&r->made) == r->taken && reader_is_lost(r))
		return err_set(-ECHILD, "this process was forked while a thread of its parent read "
					"the recording: open it again here, or open it with "
					"threads=1 before the fork");
	n = reader_wait_for_batch(r);
	if (n < 0) {
		if (n != -EINTR)
			reader_join(r);
		return n;
	}
	slot = &r->slots[r->taken++ % BATCHES];
	n = reader_take_failures(r, slot);
	*ret = &slot->pub;
	if (n <= 0 && n != -EINTR) {
		reader_join(r);
		defects_move(r->opts.defects, r->opts.read_defects);
	}
	return n;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static int reader_start_thread(struct reader *r)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int e = pthread_attr_init(&attr);

	if (e)
		return -e;
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(&r->thread, &attr, reader_run, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (!e)
		pthread_setname_np(r->thread, "sonde-read");
	return -e;
}

static void reader_make_slots(struct reader *r)
{
	char *room = r->room + CACHE_LINE - (uintptr_t)r->room % CACHE_LINE;

	for (int i = 0; i < BATCHES; i++) {
		struct slot *slot = &r->slots[i];

		slot->pub.cuts = slot->cuts;
		slot->pub.events = (struct event *)(room + i * SLOT_EVENTS_BYTES);
		slot->pub.stretches = slot->stretches;
	}
}

int reader_start(struct reader **ret, const struct reader_options *opts)
{
	struct reader *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return -ENOMEM;
	r->slots = calloc(BATCHES, sizeof(*r->slots));
	r->room = malloc(BATCHES * SLOT_EVENTS_BYTES + CACHE_LINE);
	if (!r->slots || !r->room) {
		free(r->slots);
		free(r->room);
		free(r);
		return -ENOMEM;
	}
	r->opts = *opts;
	r->opts.decodes = opts->decodes && opts->source->ops->decode_ahead;
	r->pid = getpid();
	sem_init(&r->for_thread, 0, 0);
	sem_init(&r->for_caller, 0, 0);
	reader_make_slots(r);
	r->ahead = (struct order_ahead){
		.given_back = &r->given_back,
		.quit = &r->quit,
		.take_headers = reader_ask_to_take,
		.before_read = reader_show_batches,
		.progress = reader_note_progress,
		.ctx = r,
	};
	reader_note_progress(r);
	order_read_ahead(opts->order, &r->ahead);
	e = reader_start_thread(r);
	if (e < 0) {
		r->is_over = true;
		order_read_ahead(opts->order, NULL);
		reader_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

void reader_close(struct reader *r)
{
	if (!r || reader_is_lost(r))
		return;
	if (!r->is_over && r->opts.is_stream && r->opts.stopped)
		atomic_store(r->opts.stopped, 1);
	reader_join(r);
	for (int i = 0; i < BATCHES; i++) {
		free(r->slots[i].cause);
		free(r->slots[i].met);
	}
	free(r->slots);
	free(r->room);
	sem_destroy(&r->for_thread);
	sem_destroy(&r->for_caller);
	free(r);
}
