/* SPDX-License-Identifier: MIT */
/* Numbers of the Common Trace Format. */
#ifndef SONDE_FORMATS_CTF_LAYOUT_H
#define SONDE_FORMATS_CTF_LAYOUT_H

#include <stdint.h>

#define CTF_PACKET_MAGIC   UINT32_C(0xc1fc1fc1)
#define CTF_METADATA_MAGIC UINT32_C(0x75d11d57)

/* The header of a packet of metadata, in the byte order of its magic. Sizes are in bits. */
struct ctf_metadata_header {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum, content_size, packet_size;
	uint8_t compression, encryption, checksum_scheme, major, minor;
} __attribute__((packed));

enum { CTF_JSON_RECORD = 0x1e }; /* begins each JSON text of CTF 2's metadata (RFC 7464) */

#endif
