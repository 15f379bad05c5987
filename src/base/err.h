/* SPDX-License-Identifier: MIT */
/*
 * The one error mechanism of the library.
 *
 * A call that fails returns a negative code (-Exxx) and leaves a chain of causes in thread storage:
 * the place of failure starts the chain (err_set, bytes_fail), and a caller may add one line of
 * context (err_add). Only the command line or a language binding prints the chain
 * (sonde_error_text).
 */
#ifndef SONDE_BASE_ERR_H
#define SONDE_BASE_ERR_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts a new chain with this message. code must be negative. Returns code. */
int err_set(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int err_setv(int code, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Adds a line of context to the chain. Returns code. */
int err_add(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_note_nomem(void);
/*
 * Starts a chain for -ENOMEM and counts it. Never allocates. Inline, so that the compiler sees that
 * the result is negative. Every failed allocation calls it, even if the caller can go on without
 * the memory: err_nomem_count() then shows that an answer may be incomplete.
 */
static inline int err_nomem(void)
{
	err_note_nomem();
	return -ENOMEM;
}
/* The number of calls of err_nomem() in this thread. *ret_thread identifies the thread. */
uint64_t err_nomem_count(const void **ret_thread);
/* For use after a libc call that failed. */
static inline void err_memory_note(void)
{
	if (errno == ENOMEM)
		err_note_nomem();
}
/*
 * The value of a call into a library that does not report the cause of a failure. A failed malloc
 * leaves ENOMEM in errno.
 */
#define ERR_MEMORY_NOTED(call)           \
	({                               \
		__typeof__(call) value_; \
		errno = 0;               \
		value_ = (call);         \
		err_memory_note();       \
		value_;                  \
	})
/* Starts a chain from a system call's errno: "MESSAGE: strerror". Returns -errno_value. */
int err_errno(int errno_value, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * True if a call failed because there was no free descriptor. The file to be opened may still
 * exist.
 */
static inline bool errno_no_descriptor(int errno_value)
{
	return errno_value == EMFILE || errno_value == ENFILE;
}

/* Starts a chain for a public function that got NULL. Returns -EINVAL. */
int err_null(const char *function, const char *parameter) __attribute__((cold));

/*
 * For the top of a public function: returns `result` if a parameter is NULL. The second form is for
 * definitions whose parameter has another name than in sonde.h.
 */
#define NOT_NULL(arg, result) NOT_NULL_NAMED(arg, #arg, result)
#define NOT_NULL_NAMED(arg, name, result)          \
	do {                                       \
		if (__builtin_expect(!(arg), 0)) { \
			err_null(__func__, name);  \
			return result;             \
		}                                  \
	} while (0)

/*
 * The lines of the chain, the place of failure first; "" if there is none. Borrowed until the next
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
