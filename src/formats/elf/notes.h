/* SPDX-License-Identifier: MIT */
/* ELF notes, in the layout of a PT_NOTE segment and of /sys/kernel/notes. */
#ifndef SONDE_FORMATS_ELF_NOTES_H
#define SONDE_FORMATS_ELF_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"

/*
 * The first GNU build id in the notes; unknown if there is none. swap: the notes are not in this
 * machine's byte order.
 */
struct build_id elf_notes_build_id(const uint8_t *notes, size_t len, bool swap);

#endif
