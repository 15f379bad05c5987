/* SPDX-License-Identifier: MIT */
/* ELF notes as they lie in a PT_NOTE segment or in /sys/kernel/notes. */
#ifndef SONDE_FORMATS_ELF_NOTES_H
#define SONDE_FORMATS_ELF_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_BUILD_ID_MAX_BYTES = 64 };

/*
 * The first GNU build id in the notes, lent, 1 to ELF_BUILD_ID_MAX_BYTES long; NULL: there is none. swap: the notes are in
 * the other byte order than this machine's.
 */
const uint8_t *elf_notes_build_id(const uint8_t *notes, size_t len, bool swap, size_t *ret_len);

#endif
