/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust as their authors wrote them. Done by libiberty where the build had it. */
#ifndef SONDE_SYMBOLS_DEMANGLE_H
#define SONDE_SYMBOLS_DEMANGLE_H

#include "base/outbuf.h"

enum demangle_style {
	DEMANGLE_NONE,
	DEMANGLE_SHORT, /* without parameters: perf 6.1 */
	DEMANGLE_LONG   /* with parameters; Rust's new names stay as they are: perf 6.12 */
};

/* Appends the demangled name; false and nothing appended when it is no mangled one, or too long. */
bool demangle(const char *name, enum demangle_style style, struct outbuf *out);

#endif
