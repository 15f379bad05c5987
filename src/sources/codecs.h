/* SPDX-License-Identifier: MIT */
/*
 * What whole recordings are packed with, after they were made: gzip, xz, zstd. A codec is told by its first bytes; several
 * packed pieces one behind the other are one.
 */
#ifndef SONDE_SOURCES_CODECS_H
#define SONDE_SOURCES_CODECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most that unpacking may take of memory: what xz -9 and zstd --ultra ask for is less. */
enum { CODEC_MEMORY = 144 * 1024 * 1024 };

struct codec {
	const uint8_t *in; /* packed bytes not yet taken */
	size_t in_len;
	uint8_t *out; /* room for what becomes of them */
	size_t out_len;
	bool is_last; /* no bytes come behind in */
	void *state;  /* the codec's own */
};

struct codec_ops {
	const char *name; /* "gzip" */
	const char *magic;
	size_t magic_len;
	const char *library; /* that the build needs for it */
	/* NULL: this build has no such codec. -ENOMEM */
	int (*open)(struct codec *c);
	/*
	 * Takes of in and fills out as far as either goes; both are moved on. 1; 0: a packed piece ended, what follows may be
	 * another; -EBADMSG: damaged, with no message.
	 */
	int (*step)(struct codec *c);
	void (*close)(struct codec *c);
};

/* NULL: not packed. */
const struct codec_ops *codec_find(const uint8_t *head, size_t len);

#endif
