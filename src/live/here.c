/* SPDX-License-Identifier: MIT */
/* The recorder of this process. */
#include "live/live_internal.h"

#include <pthread.h>

#include "base/err.h"

/* A command that cannot be run is an error of opening, as wrong events are. */
static int here_open_recorder(struct sonde_live *l, const struct sonde_record_options *opts,
			      struct sonde_recorder **ret)
{
	struct sonde_recorder *r;
	int e;

	TRY(recorder_open(&r, opts));
	e = r->cannot_run ? recorder_run(r, &l->result) : 0;
	if (e < 0)
		recorder_close(r);
	else
		*ret = r;
	return e;
}

static void here_begun(void *live)
{
	sem_post(&((struct sonde_live *)live)->begun);
}

static void *here_run(void *arg)
{
	struct sonde_live *l = arg;
	struct sonde_record_options opts = l->record;
	struct sonde_recorder *r = NULL;
	sigset_t all;

	opts.say = live_say;
	opts.say_ctx = l;
	/* The command is forked here, and inherits the mask. */
	pthread_sigmask(SIG_SETMASK, &l->mask, NULL);
	live_note(&l->opened, here_open_recorder(l, &opts, &r));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	live_close_pipe(l); /* the recorder has its own */
	if (l->opened.code >= 0)
		atomic_store(&l->recorder, r);
	live_publish(l);
	if (l->opened.code < 0)
		return NULL;
	if (live_wait_for_start(l)) {
		r->begun = here_begun;
		r->begun_ctx = l;
		live_note(&l->ran, recorder_run(r, &l->result));
		here_begun(l); /* if it could not begin */
	}
	atomic_store(&l->recorder, NULL);
	live_wait_for_stoppers(l);
	recorder_close(r);
	return NULL;
}

static void here_stop(struct sonde_live *l)
{
	struct sonde_recorder *r = atomic_load(&l->recorder);

	if (r)
		recorder_stop(r);
}

const struct live_maker live_here = { here_run, here_stop };
