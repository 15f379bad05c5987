/* SPDX-License-Identifier: MIT */
#include "symbols/demangle.h"

#ifdef HAVE_LIBIBERTY
#include <setjmp.h>
#include <stddef.h>
#include <string.h>

/* From libiberty's demangle.h, whose place depends on the distribution. */
#define DMGL_PARAMS 1
#define DMGL_TYPES  16
typedef void (*demangle_callbackref)(const char *, size_t, void *);
int cplus_demangle_v3_callback(const char *mangled, int options, demangle_callbackref callback,
			       void *opaque);
int rust_demangle_callback(const char *mangled, int options, demangle_callbackref callback,
			   void *opaque);

/* A short mangled name can expand to a name of any length. */
#define MAX_MANGLED_BYTES   (32u << 10)
#define MAX_DEMANGLED_BYTES (64u << 10)

struct demangle_output {
	struct outbuf *out;
	size_t start;
	jmp_buf too_long; /* The libraries' functions own nothing that a longjmp would leak. */
};

static void demangle_put(const char *text, size_t len, void *opaque)
{
	struct demangle_output *o = opaque;

	if (o->out->len - o->start + len > MAX_DEMANGLED_BYTES)
		longjmp(o->too_long, 1);
	if (len)
		outbuf_put(o->out, text, len);
}

static bool demangle_run(int (*function)(const char *, int, demangle_callbackref, void *),
			 const char *name, int options, struct outbuf *out)
{
	struct demangle_output o = { .out = out, .start = out->len };

	if (!setjmp(o.too_long) && function(name, options, demangle_put, &o) && out->len > o.start)
		return true;
	o.out->len = o.start;
	return false;
}

/* ---- Rust's old names, as demangled from C++ ------------------------------------------------- */

static const struct {
	const char *code;
	char c;
} rust_escapes[] = { { "$SP$", '@' },  { "$BP$", '*' },   { "$RF$", '&' },  { "$LT$", '<' },
		     { "$GT$", '>' },  { "$LP$", '(' },   { "$RP$", ')' },  { "$C$", ',' },
		     { "$u20$", ' ' }, { "$u27$", '\'' }, { "$u5b$", '[' }, { "$u5d$", ']' },
		     { "$u7e$", '~' } };

#define HASH_BYTES 19u /* "::h" and 16 digits */

static bool demangle_has_hash(const char *name, size_t len)
{
	const char *digits = "0123456789abcdef", *hash = name + len - HASH_BYTES;
	unsigned met = 0;

	if (len <= HASH_BYTES || memcmp(hash, "::h", 3) != 0)
		return false;
	for (size_t i = 3; i < HASH_BYTES; i++) {
		const char *digit = strchr(digits, hash[i]);

		if (!digit)
			return false;
		met |= 1u << (digit - digits);
	}
	/* A random hash has neither few nor all of the digits. */
	return __builtin_popcount(met) >= 5 && __builtin_popcount(met) <= 15;
}

static const char *demangle_escape_at(const char *p, size_t len, char *ret)
{
	for (size_t i = 0; i < sizeof(rust_escapes) / sizeof(*rust_escapes); i++) {
		size_t n = strlen(rust_escapes[i].code);

		if (n <= len && !memcmp(p, rust_escapes[i].code, n)) {
			*ret = rust_escapes[i].c;
			return p + n;
		}
	}
	return NULL;
}

/* Rewrites name[0..len) in place. False, with nothing changed, if it is not a name of Rust. */
static bool demangle_rewrite_rust(char *name, size_t len, size_t *ret_len)
{
	const char *in = name, *end = name + len - HASH_BYTES;
	char *out = name, c;

	if (!demangle_has_hash(name, len))
		return false;
	while (in < end) {
		const char *next =
			*in == '$' ? demangle_escape_at(in, (size_t)(end - in), &c) : in + 1;

		if (!next ||
		    (*in != '$' && !strchr(".:_", *in) &&
		     !((*in | 0x20) >= 'a' && (*in | 0x20) <= 'z') && !(*in >= '0' && *in <= '9')))
			return false;
		in = next;
	}
	for (in = name; in < end;) {
		if (*in == '$') {
			in = demangle_escape_at(in, (size_t)(end - in), out++);
		} else if (*in == '_' && in[1] == '$' && (in == name || in[-1] == ':')) {
			in++;
		} else if (*in == '.' && in[1] == '.') {
			*out++ = ':';
			*out++ = ':';
			in += 2;
		} else {
			*out++ = *in == '.' ? '-' : *in;
			in++;
		}
	}
	*ret_len = (size_t)(out - name);
	return true;
}

/* ---- both languages -------------------------------------------------------------------------- */

bool demangle(const char *name, enum demangle_style style, struct outbuf *out)
{
	size_t start = out->len, len;
	bool is_cpp = name[0] == '_' && (name[1] == 'Z' || name[1] == 'G'); /* "_GLOBAL__I_..." */

	if (style == DEMANGLE_NONE || strnlen(name, MAX_MANGLED_BYTES) == MAX_MANGLED_BYTES)
		return false;
	if (style == DEMANGLE_SHORT)
		/* Rust's old names are also names of C++. */
		return (name[0] == '_' && demangle_run(rust_demangle_callback, name, 0, out)) ||
		       (is_cpp && demangle_run(cplus_demangle_v3_callback, name, 0, out));
	/* perf 6.12 treats "Py" as a type. */
	if (!demangle_run(cplus_demangle_v3_callback, name, DMGL_PARAMS | DMGL_TYPES, out))
		return false;
	if (!out->failed && demangle_rewrite_rust(out->data + start, out->len - start, &len))
		out->len = start + len;
	return true;
}

#else

bool demangle(const char *name, enum demangle_style style, struct outbuf *out)
{
	return false;
}

#endif
