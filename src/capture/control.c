/* SPDX-License-Identifier: MIT */
#include "capture/control.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

static int control_bad(const char *text)
{
	return err_set(-EBADR,
		       "--control needs fd:N or fifo:PATH, with the channel for answers after a "
		       "comma if there is one, not '%s'",
		       text);
}

static const char *control_parse_fd(const char *text, int *ret)
{
	char *end;
	long fd = strtol(text, &end, 10);

	if (!isdigit((unsigned char)*text) || fd > INT32_MAX)
		return NULL;
	*ret = (int)fd;
	return end;
}

static int control_parse_fds(struct control *c, const char *text)
{
	const char *at = control_parse_fd(text + strlen("fd:"), &c->fd);

	if (at && *at == ',')
		at = control_parse_fd(at + 1, &c->ack_fd);
	return at && !*at ? 0 : control_bad(text);
}

static int control_parse_fifos(struct control *c, const char *text)
{
	const char *path = text + strlen("fifo:");
	const size_t len = strcspn(path, ",");

	if (!len || (path[len] && !path[len + 1]))
		return control_bad(text);
	c->fifo = strndup(path, len);
	if (path[len])
		c->ack_fifo = strdup(path + len + 1);
	return c->fifo && (c->ack_fifo || !path[len]) ? 0 : err_nomem();
}

int control_parse(struct control *ret, const char *text)
{
	struct control c = { .fd = -1, .ack_fd = -1, .is_given = text != NULL };
	int r = !text                        ? 0
		: !strncmp(text, "fd:", 3)   ? control_parse_fds(&c, text)
		: !strncmp(text, "fifo:", 5) ? control_parse_fifos(&c, text)
					     : control_bad(text);

	if (r < 0) {
		free(c.fifo);
		free(c.ack_fifo);
		return r;
	}
	*ret = c;
	return 0;
}

/*
 * Opens a FIFO for both directions: so it does not wait for the other end, and does not hang up
 * with it.
 */
static int control_open_fifo(const char *path, int *ret)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT
			       ? err_set(-ENOENT,
					 "--control: there is no %s; make it first: mkfifo %s",
					 path, path)
			       : err_errno(errno, "--control: cannot open %s", path);
	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode)) {
		close(fd);
		return err_set(-EINVAL, "--control: %s is not a fifo; mkfifo makes one", path);
	}
	*ret = fd;
	return 0;
}

static int control_check_fd(int fd)
{
	if (fd >= 0 && fcntl(fd, F_GETFD) < 0)
		return err_errno(errno, "--control: descriptor %d is not open", fd);
	return 0;
}

int control_open(struct control *c)
{
	if (!c->fifo) {
		TRY(control_check_fd(c->fd));
		return control_check_fd(c->ack_fd);
	}
	TRY(control_open_fifo(c->fifo, &c->fd));
	return c->ack_fifo ? control_open_fifo(c->ack_fifo, &c->ack_fd) : 0;
}

void control_close(struct control *c)
{
	if (c->fifo && c->fd >= 0)
		close(c->fd);
	if (c->fifo && c->ack_fd >= 0)
		close(c->ack_fd);
	free(c->fifo);
	free(c->ack_fifo);
	*c = (struct control){ .fd = -1, .ack_fd = -1 };
}

/* ---- commands and answers -------------------------------------------------------------------- */

static bool control_is_ready(int fd, short what)
{
	struct pollfd p = { .fd = fd, .events = what };

	return poll(&p, 1, 0) > 0 && p.revents & what;
}

/* Writes "ack" or the failure. The caller does not wait for a slow reader. */
static void control_answer(struct control *c, const struct say *to, const char *failure)
{
	char line[512];
	int len;

	if (failure)
		say(to, SAY_WARNING, "--control: %s", failure);
	if (c->ack_fd < 0)
		return;
	len = failure ? snprintf(line, sizeof(line), "failed: %s\n", failure)
		      : snprintf(line, sizeof(line), "ack\n");
	if (len >= (int)sizeof(line)) {
		len = sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	if (!control_is_ready(c->ack_fd, POLLOUT) || write(c->ack_fd, line, (size_t)len) != len)
		say(to, SAY_WARNING,
		    "--control: an answer could not be written, because nobody reads the answers");
}

static void control_run_line(struct control *c, const struct control_obeys *o, char *line)
{
	size_t len = strlen(line);
	char *argument;

	if (c->is_too_long) {
		c->is_too_long = false;
		control_answer(c, o->say, "the line is too long for a command");
		return;
	}
	while (len && isspace((unsigned char)line[len - 1]))
		line[--len] = '\0';
	if (!len)
		return;
	argument = line + strcspn(line, " ");
	if (*argument)
		*argument++ = '\0';
	say(o->say, SAY_VERBOSE, "--control: %s%s%s", line, *argument ? " " : "", argument);
	control_answer(c, o->say, o->obey(o->ctx, line, argument));
}

static void control_run_lines(struct control *c, const struct control_obeys *o, bool is_all)
{
	char *at = c->text, *const end = c->text + c->len;

	for (;;) {
		size_t len = 0;

		while (at + len < end && at[len] != '\n' && at[len] != '\0')
			len++;
		if (at + len == end && !is_all)
			break;
		at[len] = '\0'; /* there is room for one more byte after the text */
		control_run_line(c, o, at);
		if (at + len >= end) {
			at = end;
			break;
		}
		at += len + 1;
	}
	c->len = (size_t)(end - at);
	memmove(c->text, at, c->len);
}

int control_serve(struct control *c, const struct control_obeys *o)
{
	ssize_t n = 0;

	if (c->fd < 0)
		return 0;
	if (control_is_ready(c->fd, POLLIN | POLLHUP)) {
		n = read(c->fd, c->text + c->len, sizeof(c->text) - 1 - c->len);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		c->len += n > 0 ? (size_t)n : 0;
		control_run_lines(c, o, n <= 0 || !control_is_ready(c->fd, POLLIN));
		if (c->len == sizeof(c->text) - 1) {
			c->len = 0;
			c->is_too_long = true;
		}
		if (n > 0)
			return 0;
	}
	say(o->say, SAY_VERBOSE, "--control: the other end is closed");
	c->fd = c->fifo ? (close(c->fd), -1) : -1;
	return 0;
}
