/* SPDX-License-Identifier: MIT */
#include "sources/unwrap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"

enum { IN_BYTES = 256 << 10 };

struct unwrap {
	const struct codec_ops *ops;
	struct codec codec;
	struct stream *from; /* owned; NULL if fd is read */
	int fd;              /* owned; -1 if `from` is read */
	const char *path;
	struct defects *defects;
	void (*on_packed)(void *ctx, uint64_t done, uint64_t total);
	void *on_packed_ctx;
	uint64_t read_to; /* packed bytes read so far */
	struct unpacked unpacked;
	uint64_t total; /* packed bytes of the file; 0 for a pipe */
	uint8_t *buf;   /* owned; room for IN_BYTES packed bytes */
	bool at_piece;  /* the last piece has ended and no other has begun */
	bool ended;
};

static int64_t unwrap_read_packed(struct unwrap *u)
{
	ssize_t n;

	if (u->from) {
		n = (ssize_t)stream_read(u->from, u->read_to, u->buf, IN_BYTES);
		if (n > 0)
			stream_let_go(u->from, u->read_to + (uint64_t)n);
		return n;
	}
	do
		n = pread(u->fd, u->buf, IN_BYTES, (off_t)u->read_to);
	while (n < 0 && errno == EINTR);
	return n < 0 ? err_errno(errno, "cannot read %s", u->path) : n;
}

static int unwrap_fill(struct unwrap *u)
{
	int64_t n = unwrap_read_packed(u);

	if (n < 0)
		return (int)n;
	if (u->on_packed)
		u->on_packed(u->on_packed_ctx, u->read_to, u->total);
	u->read_to += (uint64_t)n;
	if (u->from)
		u->unpacked.packed_bytes = u->read_to;
	u->codec.in = u->buf;
	u->codec.in_len = (size_t)n;
	u->codec.is_last = !n;
	return 0;
}

static void unwrap_end_damaged(struct unwrap *u, const char *how)
{
	u->ended = true;
	defects_add(u->defects, DEFECT_BAD_WRAPPING, 1, "%s at 0x%llx of %s, %s", u->ops->name,
		    (unsigned long long)(u->read_to - u->codec.in_len), u->path, how);
}

/*
 * True if another piece follows the last one. Zeros and other bytes are no part of the recording.
 */
static bool unwrap_begins_piece(const struct unwrap *u)
{
	return codec_find(u->codec.in, u->codec.in_len) == u->ops ||
	       u->codec.in_len < u->ops->magic_len; /* cut by the end of the buffer */
}

static int64_t unwrap_make(void *ctx, void *buf, size_t len)
{
	struct unwrap *u = ctx;

	u->codec.out = buf;
	u->codec.out_len = len;
	while (!u->ended && u->codec.out_len == len) {
		int r;

		if (!u->codec.in_len && !u->codec.is_last)
			TRY(unwrap_fill(u));
		if (u->at_piece && (!u->codec.in_len || !unwrap_begins_piece(u))) {
			u->ended = true;
			break;
		}
		u->at_piece = false;
		r = u->ops->step(&u->codec);
		if (r < 0)
			unwrap_end_damaged(u, "damaged");
		else if (!r)
			u->at_piece = true;
		else if (u->codec.is_last && u->codec.out_len == len)
			unwrap_end_damaged(u, "cut off");
	}
	len -= u->codec.out_len;
	TRY(unpacked_add(&u->unpacked, len, u->path));
	return (int64_t)len;
}

static void unwrap_free(void *ctx)
{
	struct unwrap *u = ctx;

	if (u->codec.state)
		u->ops->close(&u->codec);
	stream_free(u->from);
	if (u->fd >= 0)
		close(u->fd);
	free(u->buf);
	free(u);
}

int unwrap_open(struct stream **ret, const struct codec_ops *codec, struct stream *from, int fd,
		const struct unpacked *limit, const struct source_options *opts)
{
	const char *path = opts->path;
	struct unwrap *u = calloc(1, sizeof(*u));
	struct stream *s = malloc(sizeof(*s));
	int r = 0;

	if (!u || !s) {
		free(u);
		free(s);
		stream_free(from);
		if (fd >= 0)
			close(fd);
		return err_nomem();
	}
	*u = (struct unwrap){
		.ops = codec,
		.from = from,
		.fd = fd,
		.path = path,
		.unpacked = *limit,
		.defects = opts->read_defects,
		.on_packed = opts->on_packed,
		.on_packed_ctx = opts->on_packed_ctx,
		.total = limit->packed_bytes,
	};
	u->buf = malloc(IN_BYTES);
	if (!u->buf)
		r = err_nomem();
	else if (!codec->open)
		r = err_set(-ENOTSUP, "%s is packed with %s, which this build cannot unpack (%s)",
			    path, codec->name, codec->library);
	else
		r = codec->open(&u->codec);
	if (r < 0) {
		unwrap_free(u);
		free(s);
		return r;
	}
	stream_init_made(s, unwrap_make, u, path, 0);
	s->stopped = opts->stopped;
	s->done = unwrap_free;
	s->packed_bytes = &u->unpacked.packed_bytes;
	*ret = s;
	return 0;
}
