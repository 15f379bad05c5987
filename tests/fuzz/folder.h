/* SPDX-License-Identifier: MIT */
/*
 * For the targets whose input is a folder: one temporary folder of the process, whose files each
 * input overwrites. It is removed with all its files when the process exits.
 */
#ifndef FUZZ_FOLDER_H
#define FUZZ_FOLDER_H

#include <stddef.h>
#include <stdint.h>

/* Its path, made at the first call; NULL if it cannot be made. */
const char *fuzz_folder(void);
/* Returns 0 on success, -1 if the file cannot be written. */
int fuzz_folder_write(const char *name, const uint8_t *p, size_t size);

#endif
