/* SPDX-License-Identifier: MIT */
#include "live/live_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/thread.h"

enum { MAX_LINES = 1000, LOOK_MS = 100 };
#define INPUT_NAME "the live events"

/* ---- for the makers -------------------------------------------------------------------------- */

void live_say(void *ctx, int level, const char *text)
{
	struct sonde_live *l = ctx;
	char *copy = strdup(text);

	if (l->record.say)
		l->record.say(l->record.say_ctx, level, text);
	pthread_mutex_lock(&l->lock);
	if (!copy || l->lines.n == MAX_LINES ||
	    vec_push(&l->lines, ((struct live_line){ level, copy })) < 0)
		free(copy);
	pthread_mutex_unlock(&l->lock);
}

void live_note(struct live_outcome *o, int code)
{
	o->code = code;
	o->text = code < 0 ? strdup(err_text()) : NULL;
}

static int live_outcome_raise(const struct live_outcome *o)
{
	return o->code < 0 ? err_set(o->code, "%s", o->text ? o->text : strerror(-o->code)) : 0;
}

void live_publish(struct sonde_live *l)
{
	const uint64_t one = 1;
	const ssize_t n = write(l->opened_fd, &one, sizeof(one));

	(void)n; /* it fails only if the eventfd is readable already */
}

bool live_wait_for_start(struct sonde_live *l)
{
	while (sem_wait(&l->may_start) < 0 && errno == EINTR)
		;
	return !atomic_load(&l->quits);
}

void live_wait_for_stoppers(struct sonde_live *l)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	while (atomic_load(&l->nr_stopping))
		nanosleep(&nap, NULL);
}

void live_close_pipe(struct sonde_live *l)
{
	close(l->write_fd);
	l->write_fd = -1;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int live_check(const struct sonde_live_options *o)
{
	if (!o->record)
		return err_set(-EINVAL, "sonde_live_options.record is not set");
	return o->record->size ? 0 : err_set(-EINVAL, "sonde_record_options.size is not set");
}

/* The settings of the caller, and those of a recorder that writes to the pipe. */
static int live_make_settings(struct sonde_live *l, unsigned latency_ms)
{
	struct outbuf *to = &l->settings;

	outbuf_str(to, "ftrace=auto\n");
	outbuf_str(to, l->record.settings ? l->record.settings : "");
	if (l->maker == &live_here) {
		outbuf_str(to, "\noutput-fd=");
		outbuf_u64(to, (uint64_t)l->write_fd);
	}
	if (latency_ms) {
		outbuf_str(to, "\nlatency=");
		outbuf_u64(to, latency_ms);
	}
	outbuf_put(to, "\n", sizeof("\n"));
	l->record.settings = to->data;
	return to->failed ? err_nomem() : 0;
}

static int live_init(struct sonde_live *l, const struct sonde_live_options *o)
{
	int fds[2];

	memcpy(&l->record, o->record,
	       o->record->size < sizeof(l->record) ? o->record->size : sizeof(l->record));
	l->record.size = sizeof(l->record);
	l->sudo = o->sudo;
	l->broker_fd = o->broker_fd;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot make a pipe");
	l->read_fd = fds[0];
	l->write_fd = fds[1];
	l->opened_fd = eventfd(0, EFD_CLOEXEC);
	if (l->opened_fd < 0)
		return err_errno(errno, "cannot make an eventfd");
	return live_make_settings(l, o->latency_ms);
}

/*
 * Waits until the recorder is open. It writes its header meanwhile, of which the pipe can hold only
 * a part: the stream keeps it.
 */
static int live_wait_until_open(struct sonde_live *l)
{
	struct pollfd fds[] = { { .fd = l->opened_fd, .events = POLLIN },
				{ .fd = l->stream->fd, .events = POLLIN } };

	for (;;) {
		if (poll(fds, 2, LOOK_MS) < 0 && errno != EINTR)
			return err_errno(errno, "cannot wait for the recorder");
		TRY(stream_keep_arrived(l->stream));
		if (fds[0].revents)
			return live_outcome_raise(&l->opened);
	}
}

static int live_start_thread(struct sonde_live *l)
{
	int error;

	TRY(stream_open(&l->stream, l->read_fd, INPUT_NAME, NULL));
	l->read_fd = -1;
	error = thread_start(&l->thread, NULL, l->maker->run, l);
	if (error)
		return err_errno(error, "cannot start a thread");
	l->has_thread = true;
	return live_wait_until_open(l);
}

/* -EINVAL if the text form names an input of its own. */
static int live_check_text(const char *text)
{
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (!strncmp(at, "input=", strlen("input=")))
			return err_set(-EINVAL,
				       "a live session has no input=: its input are the events");
	return 0;
}

int live_session(struct sonde_live *l, const char *text, struct sonde_session **ret)
{
	struct outbuf all = { 0 };
	struct stream *stream = l->stream;
	int e;

	if (!stream)
		return err_set(-EALREADY, "live events can be read only once");
	TRY(live_check_text(text));
	outbuf_str(&all, "input=" INPUT_NAME "\n");
	outbuf_str(&all, text);
	outbuf_char(&all, '\0');
	if (all.failed)
		return err_nomem();
	l->stream = NULL;
	stream->is_impatient = true;
	e = session_open(&l->session, all.data, "the live session", stream);
	outbuf_done(&all);
	if (e >= 0)
		*ret = l->session;
	return e;
}

/* Not before events are open: a program that ends while they are opened leaves no file. */
static int live_begin_copy(struct sonde_live *l, const char *path)
{
	TRY(output_open(&l->copy, path, &l->copy_fd));
	return stream_copy_to(l->stream, l->copy_fd);
}

int live_open(struct sonde_live **ret, const struct sonde_live_options *opts)
{
	struct sonde_live *l;
	int e;

	TRY(live_check(opts));
	l = calloc(1, sizeof(*l));
	if (!l)
		return err_nomem();
	l->maker = geteuid() && (opts->sudo || opts->broker_fd) ? &live_child : &live_here;
	l->read_fd = l->write_fd = l->opened_fd = l->copy_fd = -1;
	atomic_store(&l->request_fd, -1);
	pthread_mutex_init(&l->lock, NULL);
	sem_init(&l->may_start, 0, 0);
	sem_init(&l->begun, 0, 0);
	pthread_sigmask(SIG_SETMASK, NULL, &l->mask);
	e = live_init(l, opts);
	if (e >= 0)
		e = live_start_thread(l);
	if (e >= 0 && opts->output)
		e = live_begin_copy(l, opts->output);
	if (e < 0) {
		output_discard(&l->copy);
		live_close(l);
		return e;
	}
	*ret = l;
	return 0;
}

/* ---- running --------------------------------------------------------------------------------- */

int live_start(struct sonde_live *l)
{
	if (l->has_started)
		return err_set(-EALREADY, "the live session has been started");
	l->has_started = true;
	sem_post(&l->may_start);
	while (sem_wait(&l->begun) < 0 && errno == EINTR)
		;
	return 0;
}

void live_stop(struct sonde_live *l)
{
	atomic_fetch_add(&l->nr_stopping, 1);
	l->maker->stop(l);
	atomic_fetch_sub(&l->nr_stopping, 1);
}

const char *live_next_line(struct sonde_live *l, int *ret_level)
{
	const char *text = NULL;

	pthread_mutex_lock(&l->lock);
	if (l->next_line < l->lines.n) {
		const struct live_line *line = &l->lines.v[l->next_line++];

		*ret_level = line->level;
		text = line->text;
	}
	pthread_mutex_unlock(&l->lock);
	return text;
}

static void live_join(struct sonde_live *l)
{
	if (l->has_thread)
		pthread_join(l->thread, NULL);
	l->has_thread = false;
}

int live_result(struct sonde_live *l, struct sonde_record_result *ret)
{
	*ret = (struct sonde_record_result){ .size = sizeof(*ret) };
	if (!l->has_started)
		return err_set(-EINVAL, "the live session has not been started");
	live_join(l);
	*ret = l->result;
	return live_outcome_raise(&l->ran);
}

/* A recorder that writes gives up after the second stop: nobody reads the rest. */
void live_close(struct sonde_live *l)
{
	atomic_store(&l->quits, true);
	sem_post(&l->may_start);
	live_stop(l);
	live_stop(l);
	if (l->session)
		session_unref(l->session); /* closes the pipe */
	stream_free(l->stream);
	if (l->read_fd >= 0)
		close(l->read_fd);
	live_join(l);
	if (l->write_fd >= 0)
		close(l->write_fd);
	if (l->opened_fd >= 0)
		close(l->opened_fd);
	if (l->copy_fd >= 0)
		close(l->copy_fd);
	output_done(&l->copy);
	outbuf_done(&l->settings);
	vec_foreach(line, &l->lines)
		free(line->text);
	vec_done(&l->lines);
	free(l->opened.text);
	free(l->ran.text);
	sem_destroy(&l->may_start);
	sem_destroy(&l->begun);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
