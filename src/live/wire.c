/* SPDX-License-Identifier: MIT */
#include "live/wire.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"

enum { MARK = 1, MOST_BYTES = 1 << 20, READ_BYTES = 4096 };
#define HEAD_BYTES (2 + sizeof(uint32_t))

static void wire_make_head(uint8_t *head, char kind, size_t len)
{
	const uint32_t n = (uint32_t)len;

	head[0] = MARK;
	head[1] = (uint8_t)kind;
	memcpy(head + 2, &n, sizeof(n));
}

void wire_put(struct outbuf *to, char kind, const char *text)
{
	const size_t len = strlen(text);
	uint8_t head[HEAD_BYTES];

	wire_make_head(head, kind, len);
	outbuf_put(to, head, sizeof(head));
	outbuf_put(to, text, len);
}

int wire_send_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len) {
		/* to a socket: a recorder that has ended must not end us by SIGPIPE */
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == ENOTSOCK)
			n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int wire_send(int fd, char kind, const char *text)
{
	const size_t len = strlen(text);
	uint8_t head[HEAD_BYTES];

	wire_make_head(head, kind, len);
	TRY(wire_send_all(fd, head, sizeof(head)));
	return wire_send_all(fd, text, len);
}

int wire_read(struct wire *w)
{
	char *room;
	ssize_t n;

	if (w->at) {
		memmove(w->in.data, w->in.data + w->at, w->in.len - w->at);
		w->in.len -= w->at;
		w->at = 0;
	}
	room = outbuf_room(&w->in, READ_BYTES);
	if (!room)
		return err_nomem();
	do
		n = read(w->fd, room, READ_BYTES);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(errno, "cannot read what the recorder says");
	w->has_ended = !n;
	outbuf_advance(&w->in, (size_t)n);
	return n > 0;
}

static int wire_give(struct wire *w, char kind, const char *text, size_t len,
		     struct wire_frame *ret)
{
	w->text.len = 0;
	outbuf_put(&w->text, text, len);
	outbuf_char(&w->text, '\0');
	if (w->text.failed)
		return err_nomem();
	*ret = (struct wire_frame){ kind, w->text.data };
	return 1;
}

static int wire_take_line(struct wire *w, const char *p, size_t left, struct wire_frame *ret)
{
	size_t len = 0;

	while (len < left && p[len] != '\n' && p[len] != MARK)
		len++;
	if (len == left && !w->has_ended && len < MOST_BYTES)
		return 0;
	w->at += len + (len < left && p[len] == '\n');
	while (len && p[len - 1] == '\r') /* sudo may have a terminal of its own */
		len--;
	return wire_give(w, WIRE_FOREIGN, p, len, ret);
}

int wire_take(struct wire *w, struct wire_frame *ret)
{
	const char *p = w->in.data + w->at;
	const size_t left = w->in.len - w->at;
	uint32_t len;

	if (!left)
		return 0;
	if (*p != MARK)
		return wire_take_line(w, p, left, ret);
	if (left < HEAD_BYTES)
		return 0;
	memcpy(&len, p + 2, sizeof(len));
	if (len > MOST_BYTES)
		return err_set(-EPROTO, "a frame of %u bytes is no frame of a recorder", len);
	if (left - HEAD_BYTES < len)
		return 0;
	w->at += HEAD_BYTES + len;
	return wire_give(w, p[1], p + HEAD_BYTES, len, ret);
}

void wire_done(struct wire *w)
{
	outbuf_done(&w->in);
	outbuf_done(&w->text);
}
