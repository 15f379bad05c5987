/* SPDX-License-Identifier: MIT */
/* ELF notes as they lie in a PT_NOTE segment or in /sys/kernel/notes. */
#ifndef SONDE_FORMATS_ELF_NOTES_H
#define SONDE_FORMATS_ELF_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"

/*
 * The first GNU build id in the notes, unknown if there is none. swap: the notes are in the other
 * byte order than this machine's.
 */
struct build_id elf_notes_build_id(const uint8_t *notes, size_t len, bool swap);

#endif
