/* SPDX-License-Identifier: MIT */
#include "symbols/demangle.h"

#ifdef HAVE_LIBIBERTY
#include <setjmp.h>
#include <stddef.h>
#include <string.h>

/* Of libiberty's demangle.h, which is installed at different places. */
#define DMGL_PARAMS 1
#define DMGL_ANSI   2
typedef void (*demangle_callbackref)(const char *, size_t, void *);
int cplus_demangle_v3_callback(const char *mangled, int options, demangle_callbackref callback,
			       void *opaque);
int rust_demangle_callback(const char *mangled, int options, demangle_callbackref callback,
			   void *opaque);

/* A name of a few bytes can stand for one of any length. */
#define MAX_MANGLED_BYTES   (32u << 10)
#define MAX_DEMANGLED_BYTES (64u << 10)

struct output {
	struct outbuf *out;
	size_t start;
	jmp_buf too_long; /* the libraries' functions hold nothing that would be lost */
};

static void put(const char *text, size_t len, void *opaque)
{
	struct output *o = opaque;

	if (o->out->len - o->start + len > MAX_DEMANGLED_BYTES)
		longjmp(o->too_long, 1);
	outbuf_put(o->out, text, len);
}

static bool run(int (*function)(const char *, int, demangle_callbackref, void *), const char *name,
		int options, struct outbuf *out)
{
	struct output o = { .out = out, .start = out->len };

	if (!setjmp(o.too_long) && function(name, options, put, &o) && out->len > o.start)
		return true;
	o.out->len = o.start;
	return false;
}

bool demangle(const char *name, enum demangle_style style, struct outbuf *out)
{
	int options = style == DEMANGLE_LONG ? DMGL_PARAMS | DMGL_ANSI : 0;

	if (style == DEMANGLE_NONE || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strnlen(name, MAX_MANGLED_BYTES) == MAX_MANGLED_BYTES)
		return false;
	if (name[1] == 'R')
		return style == DEMANGLE_SHORT && run(rust_demangle_callback, name, options, out);
	/* Rust's old names are names of C++, too. */
	return run(rust_demangle_callback, name, options, out) ||
	       run(cplus_demangle_v3_callback, name, options, out);
}

#else

bool demangle(const char *name, enum demangle_style style, struct outbuf *out)
{
	return false;
}

#endif
