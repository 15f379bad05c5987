/* SPDX-License-Identifier: MIT */
/* Text that is always valid UTF-8, as Arrow requires it. */
#ifndef SONDE_COLUMNS_UTF8_H
#define SONDE_COLUMNS_UTF8_H

#include "base/outbuf.h"

/* Neither overlong forms nor surrogates are valid. */
bool utf8_is_valid(const uint8_t *p, size_t len);
/*
 * Adds the text to out, with each byte that is not part of a valid character as \xNN. Returns 0 on
 * success, -ENOMEM.
 */
int utf8_append(const uint8_t *p, size_t len, struct outbuf *out);
/* The same, in place of out's content. */
int utf8_replace(const uint8_t *p, size_t len, struct outbuf *out);

#endif
