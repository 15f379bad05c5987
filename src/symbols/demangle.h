/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust as written in the source. Uses libiberty if the build had it. */
#ifndef SONDE_SYMBOLS_DEMANGLE_H
#define SONDE_SYMBOLS_DEMANGLE_H

#include "base/outbuf.h"

enum demangle_style {
	DEMANGLE_NONE,
	DEMANGLE_SHORT, /* without parameters: perf 6.1 */
	DEMANGLE_LONG   /* with parameters; Rust's new names are not demangled: perf 6.12 */
};

/*
 * Appends the demangled name. False, with nothing appended, if the name is not mangled or too long.
 */
bool demangle(const char *name, enum demangle_style style, struct outbuf *out);

#endif
