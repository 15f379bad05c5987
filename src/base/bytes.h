/* SPDX-License-Identifier: MIT */
/*
 * struct bytes: the bounded cursor of every reader of foreign bytes.
 *
 * It knows the file's name, the offset of its first byte in that file, the object read ("record
 * #312 MMAP2") and the byte order of the recording, so that every message can name the place. A
 * read that does not fit fails with -EBADMSG and names the field; no read leaves [start, end).
 *
 *	struct bytes b = bytes_init(window, len, file_off, "perf.data", swap);
 *	b.what = "feature HOSTNAME";
 *	TRY(bytes_u32(&b, "len", &len));
 */
#ifndef SONDE_BASE_BYTES_H
#define SONDE_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

struct bytes {
	const uint8_t *start, *pos, *end;
	uint64_t file_off; /* offset of start in the file */
	const char *file;  /* borrowed; for messages */
	const char *what;  /* borrowed; for messages */
	bool swap;         /* the recording has the other byte order */
};

static inline struct bytes bytes_init(const void *p, size_t len, uint64_t file_off,
				      const char *file, bool swap)
{
	return (struct bytes){
		.start = p,
		.pos = p,
		.end = (const uint8_t *)p + len,
		.file_off = file_off,
		.file = file,
		.swap = swap,
	};
}

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->pos);
}

static inline uint64_t bytes_file_off(const struct bytes *b)
{
	return b->file_off + (uint64_t)(b->pos - b->start);
}

/* Unaligned loads. get_* swaps the bytes if `swap` is set. */
static inline uint16_t load_u16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t load_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint16_t get_u16(const void *p, bool swap)
{
	return swap ? __builtin_bswap16(load_u16(p)) : load_u16(p);
}

static inline uint32_t get_u32(const void *p, bool swap)
{
	return swap ? __builtin_bswap32(load_u32(p)) : load_u32(p);
}

static inline uint64_t get_u64(const void *p, bool swap)
{
	return swap ? __builtin_bswap64(load_u64(p)) : load_u64(p);
}

/*
 * Starts a chain of causes (err.h) with this message and "at 0xOFFSET of FILE (LABEL)". Returns
 * code.
 */
int bytes_fail(const struct bytes *b, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

int bytes_u8(struct bytes *b, const char *field, uint8_t *ret);
int bytes_u32(struct bytes *b, const char *field, uint32_t *ret);
int bytes_u64(struct bytes *b, const char *field, uint64_t *ret);
/* n bytes, borrowed from the input. */
int bytes_take(struct bytes *b, const char *field, uint64_t n, const uint8_t **ret);
int bytes_skip(struct bytes *b, const char *field, uint64_t n);
/* A NUL-terminated string, borrowed. The cursor moves past the NUL. */
int bytes_cstr(struct bytes *b, const char *field, const char **ret);
/* A cursor over the next n bytes. b moves past them. */
int bytes_sub(struct bytes *b, const char *field, uint64_t n, struct bytes *ret);

#endif
