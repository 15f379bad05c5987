/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace.dat, uncompressed, in this machine's byte order. Version 7:
 *
 *	magic | version | byte order | size of long | page size | "none" "" | offset of the options
 *	sections: header | data        the sections, then the pages of each buffer, aligned
 *	options                        they refer to the sections
 *
 * The offset of the options is written last: a file without it is incomplete. Version 6:
 *
 *	magic | version | byte order | size of long | page size
 *	sections                       in the order of their ids, without headers
 *	number of cpus | options | table of the top buffer's pages | its clock
 *	pages, aligned
 *
 * So version 6 has only the top buffer, and the options are put before it.
 */
#ifndef SONDE_FORMATS_TRACEDAT_WRITER_H
#define SONDE_FORMATS_TRACEDAT_WRITER_H

#include <stdint.h>

#include "base/outbuf.h"
#include "formats/tracedat/layout.h"

struct tracedat_writer {
	int fd; /* borrowed; at its beginning, of a file that can be sought */
	unsigned version;
	uint64_t off; /* bytes written */
	uint32_t page_bytes, nr_cpus;
	struct outbuf head;    /* not yet written */
	struct outbuf options; /* the data of the section of options */
	uint64_t options_at;   /* where its offset is written at the end */
};

/* The pages of one cpu. fd: a file that has them from its beginning; borrowed. */
struct tracedat_pages {
	uint32_t cpu;
	int fd;
	uint64_t bytes; /* a multiple of the page size */
};

/* long_bytes: the size of the recorded kernel's long, which pages have. */
int tracedat_writer_begin(struct tracedat_writer *w, int fd, unsigned version, uint32_t page_bytes,
			  uint8_t long_bytes);
/* Bytes of a section; its id is the option that refers to it in version 7. */
int tracedat_writer_section(struct tracedat_writer *w, enum tracedat_option_id id, const void *data,
			    size_t len);
void tracedat_writer_option(struct tracedat_writer *w, enum tracedat_option_id id, const void *data,
			    size_t len);
/* The number of the machine's cpus; all cpus with pages have lower numbers. */
void tracedat_writer_cpus(struct tracedat_writer *w, uint32_t nr);
/* Which program wrote the file. */
void tracedat_writer_name_sonde(struct tracedat_writer *w);
/* name: "" for the top buffer. Copies the pages of the cpus that have some. */
int tracedat_writer_buffer(struct tracedat_writer *w, const char *name, const char *clock,
			   const struct tracedat_pages *cpus, size_t nr);
/* Writes the options, and where they are. */
int tracedat_writer_end(struct tracedat_writer *w);
void tracedat_writer_done(struct tracedat_writer *w);

/* Data of sections. */
void tracedat_put_header_info(struct outbuf *o, const char *page, size_t page_len,
			      const char *event, size_t event_len);
void tracedat_put_u32(struct outbuf *o, uint32_t v);
void tracedat_put_u64(struct outbuf *o, uint64_t v);
/* A text with its length in front. */
void tracedat_put_text_u32(struct outbuf *o, const char *text, size_t len);
void tracedat_put_text_u64(struct outbuf *o, const char *text, size_t len);

#endif
