/* SPDX-License-Identifier: MIT */
/* What a BPF program gave out (the raw data of bpf-output events): bytes in rows of 8, and as text if they are one. */
#ifndef SONDE_SINKS_TEXT_BPF_OUTPUT_H
#define SONDE_SINKS_TEXT_BPF_OUTPUT_H

#include <stdint.h>

#include "base/outbuf.h"

void text_bpf_output_put(const uint8_t *bytes, size_t len, struct outbuf *out);

#endif
