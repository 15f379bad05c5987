/* SPDX-License-Identifier: MIT */
/*
 * The one error mechanism of the library.
 *
 * A call that fails returns a negative code (-Exxx) and leaves a chain of causes in thread storage:
 * the place of failure starts the chain (err_set, bytes_fail), a caller may add one line of context
 * (err_add). Only the command line or a language binding prints the chain (sonde_error_text).
 */
#ifndef SONDE_BASE_ERR_H
#define SONDE_BASE_ERR_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* Start a new chain with this message; returns code, which must be negative. */
int err_set(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int err_setv(int code, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Add a line of context to the chain; returns code. */
int err_add(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_note_nomem(void);
/*
 * Start a chain for -ENOMEM and count it; never allocates. Inline, so that the compiler sees that
 * it is negative. Each failed allocation calls it, also where the caller can do without:
 * err_nomem_count() then shows that an answer may miss something.
 */
static inline int err_nomem(void)
{
	err_note_nomem();
	return -ENOMEM;
}
/* How often err_nomem() was called by this thread; *ret_thread identifies the thread. */
uint64_t err_nomem_count(const void **ret_thread);
/* After a call of libc that failed. */
static inline void err_memory_note(void)
{
	if (errno == ENOMEM)
		err_note_nomem();
}
/*
 * The value of a call into a library that does not say why it failed: a failed malloc leaves ENOMEM
 * in errno.
 */
#define ERR_MEMORY_NOTED(call)                \
	({                                    \
		__typeof__(call) value_;      \
		errno = 0;                    \
		value_ = (call);              \
		err_memory_note();            \
		value_;                       \
	})
/* Start a chain from a system call's errno: "MESSAGE: strerror". Returns -errno_value. */
int err_errno(int errno_value, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True if a call failed for lack of descriptors: the file that it was to open may exist. */
static inline bool errno_no_descriptor(int errno_value)
{
	return errno_value == EMFILE || errno_value == ENFILE;
}

/* Start a chain for a public function that was given NULL; returns -EINVAL. */
int err_null(const char *function, const char *parameter) __attribute__((cold));

/*
 * For the top of a public function: a parameter of sonde.h that is NULL ends it with this result.
 * The second form is for definitions that call a parameter other than sonde.h does.
 */
#define NOT_NULL(arg, result) NOT_NULL_NAMED(arg, #arg, result)
#define NOT_NULL_NAMED(arg, name, result)           \
	do {                                        \
		if (__builtin_expect(!(arg), 0)) {  \
			err_null(__func__, name);   \
			return result;              \
		}                                   \
	} while (0)

/*
 * The lines of the chain, first the place of failure; "" when there is none. Lent until the next
 * err_ call.
 */
const char *err_text(void);
void err_clear(void);

#define TRY(e)                     \
	do {                       \
		int r_ = (e);      \
		if (r_ < 0)        \
			return r_; \
	} while (0)

#endif
