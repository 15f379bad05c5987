/* SPDX-License-Identifier: MIT */
/*
 * The origin of the data of a memory access (perf_mem_data_src), in perf's words:
 * "|OP LOAD|LVL L1 hit|SNP None|..."
 */
#ifndef SONDE_SINKS_TEXT_DATA_SRC_H
#define SONDE_SINKS_TEXT_DATA_SRC_H

#include <stdint.h>

#include "base/outbuf.h"
#include "compat/rules.h"
#include "sonde/sonde.h"

/* Prints only the words. */
void text_data_src_words(const struct rules *rules, uint64_t data_src, struct outbuf *out);
/*
 * Prints the number and the words. *width is the width of the longest text so far; shorter texts
 * are padded to it.
 */
void text_data_src_put(const struct rules *rules, uint64_t data_src, size_t *width,
		       struct outbuf *out);

#endif
