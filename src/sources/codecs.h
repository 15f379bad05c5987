/* SPDX-License-Identifier: MIT */
/*
 * Unpacks recordings that were packed after they were made, with gzip, xz or zstd. The first bytes
 * identify the codec. Several packed pieces that follow each other are read as one.
 */
#ifndef SONDE_SOURCES_CODECS_H
#define SONDE_SOURCES_CODECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit of memory for unpacking; xz -9 and zstd --ultra need less. */
enum { CODEC_MEMORY = 144 * 1024 * 1024 };

struct codec {
	const uint8_t *in; /* packed bytes not yet taken */
	size_t in_len;
	uint8_t *out; /* room for the unpacked bytes */
	size_t out_len;
	bool is_last; /* no bytes follow those at `in` */
	void *state;  /* private to the codec */
};

struct codec_ops {
	const char *name; /* "gzip" */
	const char *magic;
	size_t magic_len;
	const char *library; /* the library that the build needs for it */
	/* NULL if this build misses the codec. Fails with -ENOMEM only. */
	int (*open)(struct codec *c);
	/*
	 * Unpacks from `in` to `out` until one of them is used up, and advances both. Returns 1; 0
	 * at the end of a packed piece, which another one may follow; -EBADMSG without a message
	 * if the data are damaged.
	 */
	int (*step)(struct codec *c);
	void (*close)(struct codec *c);
};

/* The codec of a packed input that begins with head; NULL if it is not packed. */
const struct codec_ops *codec_find(const uint8_t *head, size_t len);
/*
 * The codec "zlib" or "zstd" of parts of a recording, which begin with no word of their own. NULL
 * if it is unknown.
 */
const struct codec_ops *codec_named(const char *name);
/* Unpacks one piece to exactly out_len bytes. -EBADMSG with a message if it is damaged. */
int codec_unpack(const struct codec_ops *codec, const uint8_t *in, size_t in_len, uint8_t *out,
		 size_t out_len);

#endif
