/* SPDX-License-Identifier: MIT */
/*
 * The TRACING_DATA payload: format files of the tracepoints used, printk texts.
 *
 *	17 08 44 "tracing" | version NUL | u8 big endian | u8 long bytes (user) | u32 page bytes
 *	"header_page" NUL u64 n, n bytes | "header_event" NUL u64 n, n bytes
 *	u32 count, count x { u64 n, n bytes }                       formats of system ftrace
 *	u32 systems, each: name NUL, u32 count, count x { u64 n, n bytes }
 *	u32 n, n bytes kallsyms | u32 n, n bytes printk_formats
 *	u64 n, n bytes saved cmdlines (0.6 and later)
 */
#ifndef SONDE_FORMATS_PERFDATA_TRACING_DATA_H
#define SONDE_FORMATS_PERFDATA_TRACING_DATA_H

#include "base/bytes.h"

struct tracing_data {
	bool big_endian;
	/* Size of the recorded kernel's long: of `commit` in header_page, else user space's. */
	uint8_t long_bytes;
	uint32_t page_bytes;
	struct bytes kallsyms, printk; /* text, empty when absent */
	void *ctx;
	/* Called with the text of one format file. A negative result ends reading. */
	int (*format)(void *ctx, const char *system, struct bytes text);
};

/* Reads only the facts that formats need to be parsed. */
int tracing_data_abi(struct bytes b, bool *ret_big_endian, uint8_t *ret_long_bytes);
/* Fills td and calls format() for each format file. The caller sets ctx and format. */
int tracing_data_read(struct bytes b, struct tracing_data *td);

#endif
