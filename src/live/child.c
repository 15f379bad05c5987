/* SPDX-License-Identifier: MIT */
/*
 * A recorder in another process, which has more rights (serve.h). The command is this process's
 * child and keeps its rights: it waits, the recorder opens events on it, and they count from its
 * execve() on.
 *
 *	this process --request_fd (socket)--> 0
 *	     session <-------pipe------------ 1   sudo sonde record -o - --serve
 *	      lines  <-------pipe------------ 2
 */
#include "live/live_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/workload.h"
#include "live/starter.h"
#include "live/wire.h"

enum { LOOK_MS = 100 };

struct child {
	struct sonde_live *l;
	struct starter how;
	pid_t pid; /* sudo; 0 if a broker has started the recorder */
	int wait_status;
	struct wire wire;      /* its fd is owned */
	struct outbuf foreign; /* lines of sudo */
	struct workload workload;
	bool is_opened, is_running, is_done;
};

/* ---- starting -------------------------------------------------------------------------------- */

/* A descriptor that is none of 0, 1 and 2, which the new process gets. */
static int child_above_std(int fd, int *ret)
{
	*ret = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return *ret < 0 ? err_errno(errno, "cannot copy a descriptor") : 0;
}

/* theirs: ends of the socket and the pipes; -1 or owned by the caller. */
static int child_make_ends(struct child *c, int theirs[3])
{
	int request[2], lines[2], e;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, request) < 0)
		return err_errno(errno, "cannot make a socket");
	atomic_store(&c->l->request_fd, request[0]);
	e = child_above_std(request[1], &theirs[0]);
	close(request[1]);
	TRY(e);
	TRY(child_above_std(c->l->write_fd, &theirs[1]));
	if (pipe2(lines, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot make a pipe");
	c->wire.fd = lines[0];
	e = child_above_std(lines[1], &theirs[2]);
	close(lines[1]);
	return e;
}

static int child_start(struct child *c)
{
	int theirs[3] = { -1, -1, -1 };
	int e = child_make_ends(c, theirs);

	if (e >= 0)
		e = starter_start(&c->how, theirs, &c->pid);
	for (int i = 0; i < 3; i++)
		if (theirs[i] >= 0)
			close(theirs[i]);
	return e;
}

static int child_send_request(struct child *c)
{
	const struct sonde_record_options *o = &c->l->record;
	struct outbuf all = { 0 }, more = { 0 };
	int e;

	outbuf_fmt(&more, "reader=%d\n", (int)getpid());
	if (o->command)
		outbuf_fmt(&more, "started=%d\n", (int)c->workload.pid);
	outbuf_char(&more, '\0');
	wire_put(&all, WIRE_VERSION_IS, WIRE_VERSION);
	wire_put(&all, WIRE_SETTINGS, o->settings);
	wire_put(&all, WIRE_SETTINGS, more.failed ? "" : more.data);
	for (size_t i = 0; i < o->nr_events; i++) {
		wire_put(&all, WIRE_EVENT, "");
		if (o->events[i].events)
			wire_put(&all, WIRE_NAMES, o->events[i].events);
		if (o->events[i].filter)
			wire_put(&all, WIRE_FILTER, o->events[i].filter);
		if (o->events[i].cgroup)
			wire_put(&all, WIRE_CGROUP, o->events[i].cgroup);
	}
	wire_put(&all, WIRE_OPEN, "");
	/* A recorder that could not be started has said why: child_fail(). */
	e = all.failed || more.failed
		    ? err_nomem()
		    : wire_send_all(atomic_load(&c->l->request_fd), all.data, all.len);
	outbuf_done(&all);
	outbuf_done(&more);
	return e == -EPIPE || e == -ECONNRESET ? 0 : e;
}

/* ---- what the recorder says ------------------------------------------------------------------ */

static void child_say_foreign(struct child *c)
{
	char *line = c->foreign.data, *end;

	for (size_t left = c->foreign.len; left; left -= (size_t)(end - line), line = end) {
		end = memchr(line, '\n', left);
		*end++ = '\0';
		live_say(c->l, 0, line);
	}
	c->foreign.len = 0;
}

static void child_take_foreign(struct child *c, const char *text)
{
	enum { MOST = 4000 };

	if (!*text || c->foreign.len + strlen(text) > MOST)
		return;
	outbuf_str(&c->foreign, text);
	outbuf_char(&c->foreign, '\n');
	if (c->foreign.failed)
		c->foreign.len = 0;
	else if (c->is_opened)
		child_say_foreign(c);
}

static int child_raise(const char *text)
{
	char *rest;
	const long code = strtol(text, &rest, 10);

	return code < 0 && code > -4096 ? err_set((int)code, "%s", rest + (*rest == ' ')) : 0;
}

static int child_take_done(struct child *c, const char *text)
{
	char *at;
	const long code = strtol(text, &at, 10);

	c->is_done = true;
	c->l->result.samples = strtoull(at, &at, 10);
	c->l->result.lost = strtoull(at, &at, 10);
	c->l->result.bytes_written = strtoull(at, &at, 10);
	return code < 0 && code > -4096 ? err_set((int)code, "%s", at + (*at == ' ')) : 0;
}

static int child_take(struct child *c, const struct wire_frame *f)
{
	char *rest;
	long level;

	switch (f->kind) {
	case WIRE_FOREIGN:
		child_take_foreign(c, f->text);
		return 0;
	case WIRE_LINE:
		level = strtol(f->text, &rest, 10);
		live_say(c->l, (int)level, rest + (*rest == ' '));
		return 0;
	case WIRE_OPENED:
		c->is_opened = true;
		child_say_foreign(c);
		return child_raise(f->text);
	case WIRE_RUNNING:
		c->is_running = true;
		return 0;
	case WIRE_DONE:
		return child_take_done(c, f->text);
	}
	return err_set(-EPROTO, "the recorder is of another version than the library");
}

static void child_reap(struct child *c)
{
	pid_t p;

	if (!c->pid)
		return;
	do
		p = waitpid(c->pid, &c->wait_status, 0);
	while (p < 0 && errno == EINTR);
	c->pid = 0;
}

/* The recorder has ended without a word, or sudo has not started it. */
static int child_fail(struct child *c)
{
	const char *name = starter_name(&c->how);
	const bool was_started = c->pid;
	size_t len = c->foreign.len;

	if (c->is_opened)
		return err_set(-EIO, "the recorder that %s started has ended early", name);
	child_reap(c);
	outbuf_char(&c->foreign, '\0');
	while (len && c->foreign.data[len - 1] == '\n')
		c->foreign.data[--len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (c->foreign.data[i] == '\n')
			c->foreign.data[i] = ';';
	if (len)
		return err_set(-EACCES, "no right to record: %s", c->foreign.data);
	if (was_started && WIFEXITED(c->wait_status))
		return err_set(-EACCES, "no right to record: %s ended with status %d", name,
			       WEXITSTATUS(c->wait_status));
	return err_set(-EACCES, "no right to record: %s has started no recorder", name);
}

/* Takes what has come. */
static int child_listen(struct child *c)
{
	struct wire_frame f;
	int r;

	TRY(wire_read(&c->wire));
	while ((r = wire_take(&c->wire, &f)) > 0)
		TRY(child_take(c, &f));
	TRY(r);
	return c->wire.has_ended && !c->is_done ? child_fail(c) : 0;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static int child_fork_command(struct child *c)
{
	const char *const *command = c->l->record.command;
	sigset_t all;
	int e;

	c->l->result.exit_status = workload_check(command);
	if (c->l->result.exit_status)
		return c->l->result.exit_status == 127 ? -ENOENT : -EACCES;
	pthread_sigmask(SIG_SETMASK, &c->l->mask, NULL);
	e = workload_fork(&c->workload, command, WORKLOAD_OF_LIBRARY);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return e;
}

static int child_open(struct child *c)
{
	if (c->l->record.command)
		TRY(child_fork_command(c));
	TRY(child_start(c));
	live_close_pipe(c->l);
	TRY(child_send_request(c));
	while (!c->is_opened)
		TRY(child_listen(c));
	return 0;
}

/* True if nothing is left to wait for. */
static bool child_is_over(struct child *c, bool *stopped, bool *asked)
{
	const unsigned stops = atomic_load(&c->l->nr_stops);
	int status = c->l->result.exit_status;
	const bool ended = !c->l->record.command || workload_ended(&c->workload, &status);

	c->l->result.exit_status = status;
	if (ended && c->l->record.command && !*stopped) {
		*stopped = true;
		(void)wire_send(atomic_load(&c->l->request_fd), WIRE_STOP, "");
	}
	if (!c->is_done || ended)
		return c->is_done && ended;
	if (stops && !*asked) {
		workload_terminate(&c->workload);
		*asked = true;
	} else if (stops > 1) {
		/* it ignores SIGTERM, and the user stopped waiting */
		c->l->result.exit_status = 128 + SIGTERM;
		return true;
	}
	return false;
}

/* Keeps the first failure. A command continues, as when a recorder of this process fails. */
static void child_note(struct child *c, int e)
{
	if (e >= 0)
		return;
	if (c->l->ran.code >= 0)
		live_note(&c->l->ran, e);
	c->is_done = true;
}

static void child_record(struct child *c)
{
	const char *const *command = c->l->record.command;
	bool stopped = false, asked = false;
	int status = 0, e;

	child_note(c, wire_send(atomic_load(&c->l->request_fd), WIRE_RUN, ""));
	while (!c->is_running && !c->is_done)
		child_note(c, child_listen(c));
	sem_post(&c->l->begun);
	if (command && c->l->ran.code >= 0) {
		e = workload_start(&c->workload, command[0], &status);
		c->l->result.exit_status = status;
		child_note(c, e);
	}
	while (!child_is_over(c, &stopped, &asked)) {
		struct pollfd fds[] = { { .fd = c->is_done ? -1 : c->wire.fd, .events = POLLIN },
					{ .fd = c->workload.pidfd, .events = POLLIN } };

		/* after its end the command's pidfd stays readable */
		poll(fds, stopped ? 1 : 2, LOOK_MS);
		if (fds[0].revents)
			child_note(c, child_listen(c));
	}
}

static void child_close(struct child *c)
{
	const int fd = atomic_exchange(&c->l->request_fd, -1);

	live_wait_for_stoppers(c->l);
	if (fd >= 0)
		close(fd); /* ends the recorder if it has not ended */
	if (c->wire.fd >= 0)
		close(c->wire.fd);
	workload_close(&c->workload);
	child_reap(c);
	wire_done(&c->wire);
	outbuf_done(&c->foreign);
}

static void *child_run(void *arg)
{
	struct sonde_live *l = arg;
	struct child c = {
		.l = l,
		.how = { l->sudo, l->broker_fd, &l->mask },
		.wire = { .fd = -1 },
		.workload = { .pidfd = -1, .go_fd = -1, .error_fd = -1 },
	};

	live_note(&l->opened, child_open(&c));
	if (l->write_fd >= 0)
		live_close_pipe(l);
	live_publish(l);
	if (l->opened.code >= 0 && live_wait_for_start(l))
		child_record(&c);
	child_close(&c);
	return NULL;
}

static void child_stop(struct sonde_live *l)
{
	const int fd = atomic_load(&l->request_fd);

	atomic_fetch_add(&l->nr_stops, 1);
	if (fd >= 0)
		(void)wire_send(fd, WIRE_STOP, "");
}

const struct live_maker live_child = { child_run, child_stop };
