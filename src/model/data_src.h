/* SPDX-License-Identifier: MIT */
/*
 * The origin of the data of a memory access (perf_mem_data_src), in perf's words:
 * "|OP LOAD|LVL L1 hit|SNP None|..."
 */
#ifndef SONDE_MODEL_DATA_SRC_H
#define SONDE_MODEL_DATA_SRC_H

#include <stdint.h>

#include "base/outbuf.h"
#include "compat/rules.h"
#include "sonde/sonde.h"

/* "Not available" in all parts, for samples without a data_src. */
uint64_t data_src_absent(const struct rules *rules);

/* The parts of the text after the operation. */
enum data_src_part {
	DATA_SRC_LEVEL,
	DATA_SRC_SNOOP,
	DATA_SRC_TLB,
	DATA_SRC_LOCK,
	DATA_SRC_BLOCKED,
	NR_DATA_SRC_PARTS
};
/* The bits that a part's words depend on. */
uint64_t data_src_bits(enum data_src_part part, uint64_t data_src);
/* The bits by which perf compares the part, shifted down. They may be fewer. */
uint64_t data_src_key(enum data_src_part part, uint64_t data_src);
/* Prints the words of one part. */
void data_src_put_part(enum data_src_part part, const struct rules *rules, uint64_t data_src,
		       struct outbuf *out);
/* Prints the words of the operation and of all parts. */
void data_src_words(const struct rules *rules, uint64_t data_src, struct outbuf *out);
/*
 * Prints the number and the words. *width is the width of the longest text so far; shorter texts
 * are padded to it.
 */
void data_src_put(const struct rules *rules, uint64_t data_src, size_t *width, struct outbuf *out);

#endif
