/* SPDX-License-Identifier: MIT */
/*
 * The output of a BPF program (the raw data of bpf-output events), printed as bytes in rows of 8,
 * and also as a string if it is text.
 */
#ifndef SONDE_SINKS_TEXT_BPF_OUTPUT_H
#define SONDE_SINKS_TEXT_BPF_OUTPUT_H

#include <stdint.h>

#include "base/outbuf.h"

void text_bpf_output_put(const uint8_t *bytes, size_t len, struct outbuf *out);

#endif
