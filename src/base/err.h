/* SPDX-License-Identifier: MIT */
/*
 * The one error mechanism of the library.
 *
 * A call that fails returns a negative code (-Exxx) and leaves a chain of causes in thread storage: the place of
 * failure starts the chain (err_set, err_at), a caller may add one line of context (err_add). Only the command line
 * or a language binding prints the chain (sonde_error_text).
 */
#ifndef SONDE_BASE_ERR_H
#define SONDE_BASE_ERR_H

#include <errno.h>

struct bytes;

/* Start a new chain with this message; returns code, which must be negative. */
int err_set(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same; adds "FILE: at 0xOFFSET (LABEL)" taken from the cursor. */
int err_at(const struct bytes *b, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Add a line of context to the chain; returns code. */
int err_add(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Start a chain for -ENOMEM; never allocates. Inline, so that the compiler sees that it is negative. */
static inline int err_nomem(void)
{
	err_set(-ENOMEM, "out of memory");
	return -ENOMEM;
}
/* Start a chain from a system call's errno: "MESSAGE: strerror". Returns -errno_value. */
int err_errno(int errno_value, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The lines of the chain, first the place of failure; "" when there is none. Lent until the next err_ call. */
const char *err_text(void);
void err_clear(void);

#define TRY(e)                     \
	do {                       \
		int r_ = (e);      \
		if (r_ < 0)        \
			return r_; \
	} while (0)

#endif
