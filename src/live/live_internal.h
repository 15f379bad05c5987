/* SPDX-License-Identifier: MIT */
/*
 * A live session, for the files of this folder: live.c has the session, a maker the recorder.
 */
#ifndef SONDE_LIVE_LIVE_INTERNAL_H
#define SONDE_LIVE_LIVE_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/outbuf.h"
#include "base/vec.h"
#include "live/live.h"
#include "record/output/output.h"
#include "record/recorder.h"
#include "session/session.h"

/* A code with the text of its causes, which passes from the thread to the caller. */
struct live_outcome {
	int code;
	char *text; /* owned; NULL if code is not negative */
};

struct live_line {
	int level;
	char *text; /* owned */
};

struct child;

/* Where the events come from: a recorder of this process (here.c), or of another one (child.c). */
struct live_maker {
	/*
	 * The thread: opens, sets `opened` and calls live_publish(), waits for may_start, records
	 * unless `quits` is set, posts `begun`, and sets `ran`.
	 */
	void *(*run)(void *live);
	/* Ends the recording; at the second call nobody reads. Signal handlers call it. */
	void (*stop)(struct sonde_live *l);
};
extern const struct live_maker live_here, live_child;

struct sonde_live {
	const struct live_maker *maker;
	struct sonde_record_options record; /* borrowed texts, but for settings */
	struct outbuf settings;
	const char *sudo; /* borrowed until the recorder is open, as those of sonde_live_options */
	int broker_fd;
	struct output copy;            /* output= */
	int copy_fd;                   /* -1 if there is no output= */
	struct stream *stream;         /* reads the pipe; NULL once the session has it */
	struct sonde_session *session; /* NULL until live_session() */
	/*
	 * Used by live_here. Only the thread opens, runs and closes it. NULL before and after.
	 * nr_stopping: callers that are stopping it; it is not closed before they have returned.
	 */
	_Atomic(struct sonde_recorder *) recorder;
	atomic_uint nr_stopping;
	/* Used by live_child: the socket to the recorder, closed as `recorder` is; -1. */
	atomic_int request_fd;
	atomic_uint nr_stops;
	int read_fd, write_fd; /* of the pipe; -1 once somebody else owns them */
	sigset_t mask;         /* of the caller, for the command */

	pthread_t thread;
	bool has_thread;
	int opened_fd;   /* eventfd: `opened` is set */
	sem_t may_start; /* posted when the recorder may run, or should not (quits) */
	sem_t begun;     /* posted when events are recorded, or cannot be */
	bool has_started;
	atomic_bool quits;
	struct live_outcome opened, ran;
	struct sonde_record_result result;

	pthread_mutex_t lock; /* of lines */
	VEC(struct live_line) lines;
	size_t next_line;
};

/* The say of struct sonde_record_options: ctx is the live session. */
void live_say(void *ctx, int level, const char *text);
/* Keeps the causes of a failure. Call after a call of the library, in the same thread. */
void live_note(struct live_outcome *o, int code);
/* In the thread: announces that `opened` is set. */
void live_publish(struct sonde_live *l);
/* In the thread: waits for the start. False if nothing is to be recorded. */
bool live_wait_for_start(struct sonde_live *l);
/* In the thread: waits until no caller is stopping the recorder any more. */
void live_wait_for_stoppers(struct sonde_live *l);
/* In the thread: closes its end of the pipe. */
void live_close_pipe(struct sonde_live *l);

#endif
