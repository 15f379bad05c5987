/* SPDX-License-Identifier: MIT */
#include "live/serve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/outbuf.h"
#include "base/thread.h"
#include "base/vec.h"
#include "live/wire.h"
#include "record/options.h"
#include "record/recorder.h"

enum { MOST_EVENTS = 65536, MOST_SETTINGS = 1 << 20 };

struct server {
	struct wire wire;
	int say_fd;
	pthread_mutex_t lock; /* of say_fd: threads of the recorder have lines, too */
	struct outbuf settings;
	VEC(struct sonde_record_event) events; /* their texts are owned */

	/* Only the first thread opens and closes it. */
	_Atomic(struct sonde_recorder *) recorder;
	atomic_bool quits;
	sem_t may_run; /* posted when the recorder may run, or should not (quits) */
	int ended_fd;  /* eventfd: the second thread ends */
	int asker_fd;  /* pidfd, or -1 */
};

static void serve_send(struct server *s, char kind, const char *text)
{
	pthread_mutex_lock(&s->lock);
	(void)wire_send(s->say_fd, kind, text); /* nobody may be left to read it */
	pthread_mutex_unlock(&s->lock);
}

static void serve_say(void *ctx, int level, const char *text)
{
	struct outbuf o = { 0 };

	outbuf_fmt(&o, "%d %s", level, text);
	outbuf_char(&o, '\0');
	if (!o.failed)
		serve_send(ctx, WIRE_LINE, o.data);
	outbuf_done(&o);
}

/* Sends the numbers, and behind them the causes of a failure. */
static void serve_report(struct server *s, char kind, int code, const char *numbers)
{
	struct outbuf o = { 0 };

	outbuf_fmt(&o, "%d%s %s", code, numbers, code < 0 ? err_text() : "");
	outbuf_char(&o, '\0');
	serve_send(s, kind, o.failed ? "-12 out of memory" : o.data);
	outbuf_done(&o);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static int serve_set_text(const char **to, const char *text)
{
	free((char *)*to);
	*to = strdup(text);
	return *to ? 0 : err_nomem();
}

static int serve_take_event(struct server *s, const struct wire_frame *f)
{
	struct sonde_record_event *e;

	if (f->kind == WIRE_EVENT) {
		if (s->events.n == MOST_EVENTS)
			return err_set(-EBADR, "more than %d events", MOST_EVENTS);
		return vec_push(&s->events, (struct sonde_record_event){ 0 });
	}
	if (!s->events.n)
		return err_set(-EPROTO, "a filter without an event");
	e = &s->events.v[s->events.n - 1];
	return serve_set_text(f->kind == WIRE_NAMES    ? &e->events
			      : f->kind == WIRE_FILTER ? &e->filter
						       : &e->cgroup,
			      f->text);
}

static int serve_take(struct server *s, const struct wire_frame *f)
{
	switch (f->kind) {
	case WIRE_VERSION_IS:
		return strcmp(f->text, WIRE_VERSION)
			       ? err_set(-EPROTO,
					 "the program sonde is of another version than the library")
			       : 0;
	case WIRE_SETTINGS:
		if (s->settings.len + strlen(f->text) > MOST_SETTINGS)
			return err_set(-EBADR, "the settings have more than %d bytes",
				       MOST_SETTINGS);
		outbuf_str(&s->settings, f->text);
		outbuf_char(&s->settings, '\n');
		return s->settings.failed ? err_nomem() : 0;
	case WIRE_EVENT:
	case WIRE_NAMES:
	case WIRE_FILTER:
	case WIRE_CGROUP:
		return serve_take_event(s, f);
	case WIRE_OPEN:
		return 0;
	}
	return err_set(-EPROTO, "the standard input has no request: --serve is for sonde run");
}

/* Returns when all is known. */
static int serve_read_request(struct server *s)
{
	struct wire_frame f = { 0 };

	while (f.kind != WIRE_OPEN) {
		const int r = wire_take(&s->wire, &f);

		TRY(r);
		if (r)
			TRY(serve_take(s, &f));
		else if (s->wire.has_ended)
			return err_set(-EPROTO, "the standard input ended before the request did");
		else
			TRY(wire_read(&s->wire));
	}
	outbuf_char(&s->settings, '\0');
	if (s->settings.failed)
		return err_nomem();
	return record_options_check_foreign(s->settings.data);
}

static int serve_open_recorder(struct server *s, int out_fd, struct sonde_recorder **ret)
{
	struct sonde_record_options opts = {
		.size = sizeof(opts),
		.events = s->events.v,
		.nr_events = s->events.n,
		.say = serve_say,
		.say_ctx = s,
	};

	/* The cache of build ids belongs to the user: nothing of root's is to be in it. */
	s->settings.len--;
	outbuf_fmt(&s->settings, "no-buildid-cache=1\noutput-fd=%d\n", out_fd);
	outbuf_char(&s->settings, '\0');
	if (s->settings.failed)
		return err_nomem();
	opts.settings = s->settings.data;
	return recorder_open(ret, &opts);
}

/* ---- until the end --------------------------------------------------------------------------- */

static void serve_stop(struct server *s)
{
	struct sonde_recorder *r = atomic_load(&s->recorder);

	atomic_store(&s->quits, true);
	if (r)
		recorder_stop(r);
	sem_post(&s->may_run);
}

/*
 * Readable when the process that asks has ended, also if a child of it has the other end of the
 * socket. -1 if that is not known.
 */
static int serve_open_asker(int fd)
{
#ifdef SYS_pidfd_open
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && who.pid > 0)
		return (int)syscall(SYS_pidfd_open, who.pid, 0);
#endif
	(void)fd;
	return -1;
}

/* Follows the standard input while the recorder runs. */
static void *serve_watch(void *arg)
{
	struct server *s = arg;
	struct wire_frame f;
	int r;

	for (;;) {
		struct pollfd fds[] = { { .fd = s->ended_fd, .events = POLLIN },
					{ .fd = s->wire.fd, .events = POLLIN },
					{ .fd = s->asker_fd, .events = POLLIN } };

		r = wire_take(&s->wire, &f);
		if (r > 0 && f.kind == WIRE_RUN) {
			sem_post(&s->may_run);
		} else if (r > 0 && f.kind == WIRE_STOP) {
			serve_stop(s);
		} else if (r || s->wire.has_ended) {
			break;
		} else {
			if (poll(fds, 3, -1) < 0 && errno != EINTR)
				break;
			if (fds[0].revents)
				return NULL;
			if (fds[2].revents)
				break;
			if (fds[1].revents && wire_read(&s->wire) < 0)
				break;
		}
	}
	/* The one who asked has ended: nobody reads the rest. */
	serve_stop(s);
	serve_stop(s);
	return NULL;
}

static void serve_begun(void *ctx)
{
	serve_send(ctx, WIRE_RUNNING, "");
}

static int serve_run(struct server *s, struct sonde_recorder *r)
{
	struct sonde_record_result result = { .size = sizeof(result) };
	char numbers[80];
	int e = 0;

	r->begun = serve_begun;
	r->begun_ctx = s;
	atomic_store(&s->recorder, r);
	serve_report(s, WIRE_OPENED, 0, "");
	while (sem_wait(&s->may_run) < 0 && errno == EINTR)
		;
	if (!atomic_load(&s->quits))
		e = recorder_run(r, &result);
	snprintf(numbers, sizeof(numbers), " %llu %llu %llu", (unsigned long long)result.samples,
		 (unsigned long long)result.lost, (unsigned long long)result.bytes_written);
	serve_report(s, WIRE_DONE, e, numbers);
	return e;
}

static int serve_with_watch(struct server *s, int out_fd)
{
	const uint64_t one = 1;
	struct sonde_recorder *r = NULL;
	pthread_t watch;
	int e = thread_start(&watch, NULL, serve_watch, s);

	if (e)
		return err_errno(e, "cannot start a thread");
	e = serve_open_recorder(s, out_fd, &r);
	if (e < 0)
		serve_report(s, WIRE_OPENED, e, "");
	else
		e = serve_run(s, r);
	/* The watch sees it, or has ended before. */
	if (write(s->ended_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(watch, NULL);
	if (r)
		recorder_close(r);
	return e;
}

int live_serve(int in_fd, int out_fd, int say_fd)
{
	struct server s = { .wire = { .fd = in_fd }, .say_fd = say_fd };
	int e;

	pthread_mutex_init(&s.lock, NULL);
	sem_init(&s.may_run, 0, 0);
	s.asker_fd = serve_open_asker(in_fd);
	s.ended_fd = eventfd(0, EFD_CLOEXEC);
	e = s.ended_fd < 0 ? err_errno(errno, "cannot make an eventfd") : serve_read_request(&s);
	if (e < 0)
		serve_report(&s, WIRE_OPENED, e, "");
	else
		e = serve_with_watch(&s, out_fd);
	if (s.ended_fd >= 0)
		close(s.ended_fd);
	if (s.asker_fd >= 0)
		close(s.asker_fd);
	vec_foreach(ev, &s.events) {
		free((char *)ev->events);
		free((char *)ev->filter);
		free((char *)ev->cgroup);
	}
	vec_done(&s.events);
	outbuf_done(&s.settings);
	wire_done(&s.wire);
	sem_destroy(&s.may_run);
	pthread_mutex_destroy(&s.lock);
	return e;
}
