/* SPDX-License-Identifier: MIT */
/* The tables that say where the pages of a buffer are, and options with numbers. */
#ifndef SONDE_FORMATS_TRACEDAT_BUFFERS_H
#define SONDE_FORMATS_TRACEDAT_BUFFERS_H

#include "base/bytes.h"
#include "base/vec.h"

enum { TRACEDAT_MOST_CPUS = 8192 };

/* The pages of one cpu. */
struct tracedat_cpu {
	uint32_t cpu;
	uint64_t off, size; /* in the file; see tracedat_buffer.section_off */
};

/* The top buffer, or an instance. */
struct tracedat_buffer {
	const char *name;     /* "" for the top buffer. Borrowed from the option. */
	const char *clock;    /* version 7. Borrowed; NULL if not recorded */
	uint32_t page_bytes;  /* version 7; 0 if not recorded */
	uint64_t section_off; /* version 7: offset of its section, which may be compressed */
	uint32_t nr_cpus;     /* version 7: the highest number of a cpu, plus 1 */
	VEC(struct tracedat_cpu) cpus; /* owned; those with pages */
};

/* The word of TRACEDAT_TAG_BYTES that says what follows in version 6. */
enum tracedat_tag { TRACEDAT_TAG_OPTIONS, TRACEDAT_TAG_LATENCY, TRACEDAT_TAG_PAGES };
int tracedat_tag_read(struct bytes *b, enum tracedat_tag *ret);
/* Version 6: the table of all cpus, after its tag. Adds to ret->cpus. */
int tracedat_cpus_read(struct bytes *b, uint32_t nr_cpus, struct tracedat_buffer *ret);
/* Version 7: the data of the option. Adds to ret->cpus. */
int tracedat_buffer_read(struct bytes *b, struct tracedat_buffer *ret);
/* Version 6: the data of the option is the offset of the tag and table of an instance. */
int tracedat_instance_read(struct bytes *b, uint64_t *ret_off, const char **ret_name);

/* Conversion of the counter of a processor: ns = (raw * mult) >> shift. */
struct tracedat_tsc {
	uint32_t mult, shift;
	uint64_t offset;
};
int tracedat_tsc_read(struct bytes *b, struct tracedat_tsc *ret);
/* A number in text: decimal, or hexadecimal with 0x, with or without a sign. */
int64_t tracedat_number_of(const struct bytes *text);

#endif
