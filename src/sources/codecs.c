/* SPDX-License-Identifier: MIT */
#include "sources/codecs.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/err.h"
#include "base/packers.h"

enum { ZSTD_WINDOW_LOG_MAX = 27 }; /* 128 MiB: the default limit of the zstd program */

/* ---- zstd ------------------------------------------------------------------------------------ */

static int codecs_zstd_open(struct codec *c)
{
	ZSTD_DStream *d = ZSTD_createDStream();

	if (!d)
		return err_nomem();
	ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	c->state = d;
	return 0;
}

static int codecs_zstd_step(struct codec *c)
{
	ZSTD_inBuffer in = { c->in, c->in_len, 0 };
	ZSTD_outBuffer out = { c->out, c->out_len, 0 };
	size_t left = ZSTD_decompressStream(c->state, &out, &in);

	c->in += in.pos;
	c->in_len -= in.pos;
	c->out += out.pos;
	c->out_len -= out.pos;
	if (ZSTD_isError(left))
		return -EBADMSG;
	return left != 0;
}

static void codecs_zstd_close(struct codec *c)
{
	ZSTD_freeDStream(c->state);
}

/* ---- gzip ------------------------------------------------------------------------------------ */

#ifdef HAVE_ZLIB
enum { GZIP_ONLY = 16 + MAX_WBITS }; /* accepts only data with a gzip header */

static int codecs_inflate_open(struct codec *c, int window_bits)
{
	z_stream *z;

	TRY(packers_need_zlib());
	z = calloc(1, sizeof(*z));
	if (!z)
		return err_nomem();
	if (inflateInit2(z, window_bits) != Z_OK) {
		free(z);
		return err_nomem();
	}
	c->state = z;
	return 0;
}

static int codecs_gzip_open(struct codec *c)
{
	return codecs_inflate_open(c, GZIP_ONLY);
}

static int codecs_zlib_open(struct codec *c)
{
	return codecs_inflate_open(c, MAX_WBITS);
}

static int codecs_gzip_step(struct codec *c)
{
	z_stream *z = c->state;
	uInt in = (uInt)c->in_len, out = (uInt)c->out_len; /* buffers are small */
	int r;

	z->next_in = (Bytef *)c->in;
	z->avail_in = in;
	z->next_out = c->out;
	z->avail_out = out;
	r = inflate(z, Z_NO_FLUSH);
	c->in += in - z->avail_in;
	c->in_len = z->avail_in;
	c->out += out - z->avail_out;
	c->out_len = z->avail_out;
	if (r == Z_STREAM_END)
		return inflateReset(z) == Z_OK ? 0 : -EBADMSG;
	return r == Z_OK || r == Z_BUF_ERROR ? 1 : -EBADMSG;
}

static void codecs_gzip_close(struct codec *c)
{
	if (c->state)
		inflateEnd(c->state);
	free(c->state);
}
#else
#define codecs_gzip_open  NULL
#define codecs_zlib_open  NULL
#define codecs_gzip_step  NULL
#define codecs_gzip_close NULL
#endif

/* ---- xz -------------------------------------------------------------------------------------- */

#ifdef HAVE_LZMA
static int codecs_xz_open(struct codec *c)
{
	static const lzma_stream fresh = LZMA_STREAM_INIT;
	lzma_stream *x;

	TRY(packers_need_lzma());
	x = malloc(sizeof(*x));
	if (!x)
		return err_nomem();
	*x = fresh;
	if (lzma_stream_decoder(x, CODEC_MEMORY, 0) != LZMA_OK) {
		free(x);
		return err_nomem();
	}
	c->state = x;
	return 0;
}

static int codecs_xz_step(struct codec *c)
{
	lzma_stream *x = c->state;
	lzma_ret r;

	x->next_in = c->in;
	x->avail_in = c->in_len;
	x->next_out = c->out;
	x->avail_out = c->out_len;
	r = lzma_code(x, LZMA_RUN);
	c->in = x->next_in;
	c->in_len = x->avail_in;
	c->out = x->next_out;
	c->out_len = x->avail_out;
	if (r == LZMA_STREAM_END)
		return lzma_stream_decoder(x, CODEC_MEMORY, 0) == LZMA_OK ? 0 : -EBADMSG;
	return r == LZMA_OK || r == LZMA_BUF_ERROR ? 1 : -EBADMSG;
}

static void codecs_xz_close(struct codec *c)
{
	if (c->state)
		lzma_end(c->state);
	free(c->state);
}
#else
#define codecs_xz_open  NULL
#define codecs_xz_step  NULL
#define codecs_xz_close NULL
#endif

/* ---- all ------------------------------------------------------------------------------------- */

static const struct codec_ops codecs[] = {
	{ "gzip", "\x1f\x8b\x08", 3, "zlib", codecs_gzip_open, codecs_gzip_step,
	  codecs_gzip_close },
	{ "xz", "\xfd\x37zXZ\0", 6, "liblzma", codecs_xz_open, codecs_xz_step, codecs_xz_close },
	{ "zstd", "\x28\xb5\x2f\xfd", 4, "libzstd", codecs_zstd_open, codecs_zstd_step,
	  codecs_zstd_close },
};

const struct codec_ops *codec_find(const uint8_t *head, size_t len)
{
	for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
		if (len >= codecs[i].magic_len &&
		    !memcmp(head, codecs[i].magic, codecs[i].magic_len))
			return &codecs[i];
	}
	return NULL;
}

const struct codec_ops *codec_named(const char *name)
{
	static const struct codec_ops zlib = {
		.name = "zlib",
		.library = "zlib",
		.open = codecs_zlib_open,
		.step = codecs_gzip_step,
		.close = codecs_gzip_close,
	};

	if (!strcmp(name, zlib.name))
		return &zlib;
	for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
		if (!strcmp(name, codecs[i].name))
			return &codecs[i];
	}
	return NULL;
}

int codec_unpack(const struct codec_ops *codec, const uint8_t *in, size_t in_len, uint8_t *out,
		 size_t out_len)
{
	struct codec c = {
		.in = in,
		.in_len = in_len,
		.out = out,
		.out_len = out_len,
		.is_last = true,
	};
	size_t left;
	int r = codec->open(&c);

	if (r < 0)
		return r;
	do {
		left = c.in_len + c.out_len;
		r = codec->step(&c);
	} while (r > 0 && c.in_len + c.out_len < left);
	codec->close(&c);
	if (r < 0 || c.out_len)
		return err_set(-EBADMSG,
			       "%zu bytes packed with %s are damaged: %zu of %zu bytes "
			       "could be unpacked",
			       in_len, codec->name, out_len - c.out_len, out_len);
	return 0;
}
