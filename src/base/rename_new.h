/* SPDX-License-Identifier: MIT */
#ifndef SONDE_BASE_RENAME_NEW_H
#define SONDE_BASE_RENAME_NEW_H

/* rename() that replaces nothing: 0, or a negative errno without a message, -EEXIST when there is something called `to`. */
int rename_new(const char *from, const char *to);

#endif
