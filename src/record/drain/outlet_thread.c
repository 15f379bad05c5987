/* SPDX-License-Identifier: MIT */
/*
 * Writing by a separate thread (--aio): the drain fills blocks and waits for the disk only if all
 * blocks are pending.
 *
 *	drain: o->block --submit--> queue --> thread: write --> spare --> o->block
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/thread.h"
#include "record/drain/outlet.h"

struct outlet_thread {
	pthread_t id;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t work, done;
	struct outlet_block *queue, *last, *spare; /* last: the last one of the queue */
	/* number of blocks that may still be allocated */
	size_t nr_unmade;
	bool ends;
	int error;
	char *error_text; /* owned */
};

static void *outlet_write_blocks(void *arg)
{
	struct outlet *o = arg;
	struct outlet_thread *t = o->thread;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		struct outlet_block *b = t->queue;
		int r;

		if (!b && t->ends)
			break;
		if (!b) {
			pthread_cond_wait(&t->work, &t->lock);
			continue;
		}
		t->queue = b->next;
		if (!t->queue)
			t->last = NULL;
		r = t->error;
		pthread_mutex_unlock(&t->lock);
		if (r < 0)
			outlet_block_drop(o, b);
		else
			r = outlet_block_write(o, b);
		pthread_mutex_lock(&t->lock);
		if (r < 0 && !t->error) {
			t->error = r;
			t->error_text = strdup(err_text());
		}
		b->next = t->spare;
		t->spare = b;
		pthread_cond_signal(&t->done);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

int outlet_thread_start(struct outlet *o, size_t ahead_bytes)
{
	struct outlet_thread *t = calloc(1, sizeof(*t));
	int error;

	if (!t)
		return err_nomem();
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->work, NULL);
	pthread_cond_init(&t->done, NULL);
	t->nr_unmade = (ahead_bytes + OUTLET_BATCH_BYTES - 1) / OUTLET_BATCH_BYTES;
	o->thread = t;
	error = thread_start(&t->id, NULL, outlet_write_blocks, o);
	if (!error)
		return 0;
	free(t);
	o->thread = NULL;
	return err_errno(error, "cannot start a thread that writes (--aio)");
}

void outlet_follow_priority(struct outlet *o)
{
	struct sched_param param;
	int policy;

	if (o->thread && pthread_getschedparam(pthread_self(), &policy, &param) == 0)
		pthread_setschedparam(o->thread->id, policy, &param);
}

int outlet_thread_submit(struct outlet *o)
{
	struct outlet_thread *t = o->thread;
	struct outlet_block *b = o->block;
	int r;

	pthread_mutex_lock(&t->lock);
	/* Small passes must not use up all blocks while one is being written. */
	if (!t->last || !outlet_block_join(t->last, b)) {
		b->next = NULL;
		*(t->last ? &t->last->next : &t->queue) = b;
		t->last = b;
		pthread_cond_signal(&t->work);
		if (!t->spare && t->nr_unmade && (t->spare = outlet_block_new()))
			t->nr_unmade--;
		while (!t->spare)
			pthread_cond_wait(&t->done, &t->lock);
		o->block = t->spare;
		t->spare = o->block->next;
	}
	r = t->error;
	if (r < 0)
		err_set(r, "%s", t->error_text ? t->error_text : strerror(-r));
	pthread_mutex_unlock(&t->lock);
	return r;
}

int outlet_thread_end(struct outlet *o)
{
	struct outlet_thread *t = o->thread;
	int r;

	pthread_mutex_lock(&t->lock);
	t->ends = true;
	pthread_cond_signal(&t->work);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->id, NULL);
	r = t->error;
	if (r < 0)
		err_set(r, "%s", t->error_text ? t->error_text : strerror(-r));
	for (struct outlet_block *b = t->spare, *next; b; b = next) {
		next = b->next;
		outlet_block_free(b);
	}
	pthread_cond_destroy(&t->work);
	pthread_cond_destroy(&t->done);
	pthread_mutex_destroy(&t->lock);
	free(t->error_text);
	free(t);
	o->thread = NULL;
	return r;
}
