/* SPDX-License-Identifier: MIT */
#ifndef SONDE_BASE_RENAME_NEW_H
#define SONDE_BASE_RENAME_NEW_H

/*
 * rename() that replaces nothing. Returns 0 on success, a negative errno without a message on
 * failure; -EEXIST if `to` exists.
 */
int rename_new(const char *from, const char *to);

#endif
