/* SPDX-License-Identifier: MIT */
/* One chain of causes per thread, in a fixed buffer: reporting a failure cannot fail. */

#include "base/err.h"

#include <stdio.h>
#include <string.h>

enum { CHAIN_BYTES = 4096 };

static _Thread_local char chain[CHAIN_BYTES];
static _Thread_local size_t chain_len;
static _Thread_local uint64_t nomem_count;

static void err_append(const char *fmt, va_list ap)
{
	int n;

	if (chain_len >= CHAIN_BYTES - 2)
		return;
	if (chain_len)
		chain[chain_len++] = '\n';
	n = vsnprintf(chain + chain_len, CHAIN_BYTES - chain_len, fmt, ap);
	if (n > 0)
		chain_len += (size_t)n < CHAIN_BYTES - chain_len ? (size_t)n
								 : CHAIN_BYTES - chain_len - 1;
	chain[chain_len] = '\0';
}

int err_setv(int code, const char *fmt, va_list ap)
{
	err_clear();
	err_append(fmt, ap);
	return code;
}

int err_set(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_setv(code, fmt, ap);
	va_end(ap);
	return code;
}

int err_null(const char *function, const char *parameter)
{
	return err_set(-EINVAL, "%s: %s is NULL", function, parameter);
}

int err_add(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_append(fmt, ap);
	va_end(ap);
	return code;
}

void err_note_nomem(void)
{
	nomem_count++;
	err_set(-ENOMEM, "out of memory");
}

uint64_t err_nomem_count(const void **ret_thread)
{
	*ret_thread = &nomem_count;
	return nomem_count;
}

int err_errno(int errno_value, const char *fmt, ...)
{
	char message[512];
	va_list ap;

	nomem_count += errno_value == ENOMEM;
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return err_set(-errno_value, "%s: %s%s", message, strerror(errno_value),
		       errno_value == EMFILE ? " (raise ulimit -n)" : "");
}

const char *err_text(void)
{
	return chain_len ? chain : "";
}

void err_clear(void)
{
	chain_len = 0;
	chain[0] = '\0';
}
