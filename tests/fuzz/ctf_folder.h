/* SPDX-License-Identifier: MIT */
/*
 * A CTF trace made of an input: a folder with metadata and two files of packets, which each input
 * overwrites.
 *
 *	u8 first/256 of the packets' bytes are the first file | u16: bytes of the metadata |
 *	metadata | packets
 */
#ifndef FUZZ_CTF_FOLDER_H
#define FUZZ_CTF_FOLDER_H

#include <stddef.h>
#include <stdint.h>

/* The folder; NULL if it could not be written or the input is too short. */
const char *fuzz_ctf_folder(const uint8_t *data, size_t size);

#endif
