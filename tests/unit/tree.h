/* SPDX-License-Identifier: MIT */
/* A tree of files made for a test, below a folder of mkdtemp(). */
#ifndef UNIT_TREE_H
#define UNIT_TREE_H

#include <stddef.h>

/* Writes a file. path begins with '/' and is relative to root; its folders are made, too. */
void tree_put(const char *root, const char *path, const void *bytes, size_t len);
/* Removes everything below root, and root. */
void tree_remove(const char *root);

#endif
