/* SPDX-License-Identifier: MIT */
/*
 * zlib and liblzma, loaded when the first packed data is met, which most processes never do. This
 * header is included instead of theirs; their functions have their own names.
 */
#ifndef SONDE_BASE_PACKERS_H
#define SONDE_BASE_PACKERS_H

#ifdef HAVE_ZLIB
#include <zlib.h>

#define PACKERS_ZLIB(F) F(inflate) F(inflateEnd) F(inflateInit2_) F(inflateReset)
#else
#define PACKERS_ZLIB(F)
#endif
#ifdef HAVE_LZMA
#include <lzma.h>

#define PACKERS_LZMA(F) F(lzma_code) F(lzma_end) F(lzma_stream_buffer_decode) F(lzma_stream_decoder)
#else
#define PACKERS_LZMA(F)
#endif

/* Set by the functions below, once for the process; like the libraries, never unset. */
struct packers {
#define PACKERS_MEMBER(function) __typeof__(function) *function;
	PACKERS_ZLIB(PACKERS_MEMBER)
	PACKERS_LZMA(PACKERS_MEMBER)
#undef PACKERS_MEMBER
	int unused; /* a build without both */
};
extern struct packers packers;

/* Before any other function of the library. -ENOTSUP if it is not there. Threads may call both. */
int packers_need_zlib(void);
int packers_need_lzma(void);

#ifndef PACKERS_LOADER /* the one file that needs the names themselves */
#ifdef HAVE_ZLIB
#define inflate       packers.inflate
#define inflateEnd    packers.inflateEnd
#define inflateInit2_ packers.inflateInit2_
#define inflateReset  packers.inflateReset
#endif
#ifdef HAVE_LZMA
#define lzma_code                 packers.lzma_code
#define lzma_end                  packers.lzma_end
#define lzma_stream_buffer_decode packers.lzma_stream_buffer_decode
#define lzma_stream_decoder       packers.lzma_stream_decoder
#endif
#endif

#endif
