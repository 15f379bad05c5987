/* SPDX-License-Identifier: MIT */
/*
 * What is in front of the pages of a trace.dat. Version 6 has all sections in a fixed
 * order, without headers; the same functions read those of version 7, each behind its header.
 *
 *	struct tracedat_start start;
 *	TRY(tracedat_start_read(&b, &start));   // sets the cursor's byte order
 *	if (start.version == TRACEDAT_VERSION_6)
 *		TRY(tracedat_sections_read(&b, &sections));
 */
#ifndef SONDE_FORMATS_TRACEDAT_HEAD_H
#define SONDE_FORMATS_TRACEDAT_HEAD_H

#include "base/bytes.h"

struct tracedat_start {
	unsigned version;
	bool is_big;         /* the file's byte order */
	uint8_t long_bytes;  /* of the recorder, not of the recorded kernel */
	uint32_t page_bytes; /* of the recorded machine's memory */
	/* Version 7 only. Borrowed. */
	const char *compression, *compression_version; /* "none", "zstd", "zlib" */
	uint64_t options_off;                          /* the first section of options */
};

/* Borrowed from the input; empty if the file has none. */
struct tracedat_sections {
	struct bytes header_page;   /* text */
	struct bytes ftrace_events; /* for tracedat_ftrace_events_read() */
	struct bytes event_formats; /* for tracedat_event_formats_read() */
	struct bytes kallsyms, printk, cmdlines;
	uint32_t nr_cpus; /* version 6 */
};

struct tracedat_section {
	unsigned id;
	bool is_compressed;
	uint64_t size; /* bytes after the section's header */
};

struct tracedat_option {
	unsigned id; /* enum tracedat_option_id */
	struct bytes data;
};

/* True if the input begins as a trace.dat does. */
bool tracedat_head_find(const uint8_t *p, size_t len);
int tracedat_start_read(struct bytes *b, struct tracedat_start *ret);
/* Reads the sections of version 6, up to the number of cpus. */
int tracedat_sections_read(struct bytes *b, struct tracedat_sections *ret);
int tracedat_section_read(struct bytes *b, struct tracedat_section *ret);

/* Single sections: header_page and header_event; a text with its length. */
int tracedat_header_info_read(struct bytes *b, struct bytes *ret_page);
int tracedat_text_u32(struct bytes *b, const char *what, struct bytes *ret);
int tracedat_text_u64(struct bytes *b, const char *what, struct bytes *ret);

/* Takes the text of a format file. A negative result ends the reading. NULL: all are passed over.
 */
typedef int tracedat_format_fn(void *ctx, const char *system, struct bytes text);
int tracedat_ftrace_events_read(struct bytes *b, tracedat_format_fn *format, void *ctx);
int tracedat_event_formats_read(struct bytes *b, tracedat_format_fn *format, void *ctx);

/*
 * The next option. Returns 1; 0 at the end. Version 7: the last option has the offset of the next
 * section of options in *ret_next, 0 if there is none.
 */
int tracedat_option_next(struct bytes *b, unsigned version, struct tracedat_option *ret,
			 uint64_t *ret_next);

#endif
