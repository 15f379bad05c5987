/* SPDX-License-Identifier: MIT */
/* trace.dat in numbers. docs/formats/tracedat.md has the facts and their origin. */
#ifndef SONDE_FORMATS_TRACEDAT_LAYOUT_H
#define SONDE_FORMATS_TRACEDAT_LAYOUT_H

/* The first bytes of a file; the version follows as text that ends with a NUL. */
#define TRACEDAT_MAGIC "\x17\x08\x44tracing"

/* Version 6: a word of TRACEDAT_TAG_BYTES, with its NUL, says what follows. */
#define TRACEDAT_OPTIONS_TAG "options  "
#define TRACEDAT_LATENCY_TAG "latency  "
#define TRACEDAT_PAGES_TAG   "flyrecord"

enum {
	TRACEDAT_MAGIC_BYTES = 10,
	TRACEDAT_VERSION_6 = 6, /* sections in a fixed order */
	TRACEDAT_VERSION_7 = 7, /* sections, which options refer to */
	TRACEDAT_TAG_BYTES = 10,
	TRACEDAT_SECTION_HEADER_BYTES = 16,
	/* A flag of a section: its data are compressed. */
	TRACEDAT_SECTION_COMPRESSED = 1
};

/* Ids of options. From 16 on, the option of version 7 has the offset of a section of that id. */
enum tracedat_option_id {
	TRACEDAT_DONE = 0, /* version 7: the offset of the next section of options, or 0 */
	TRACEDAT_DATE = 1, /* text: a number of microseconds to be added to times */
	TRACEDAT_CPUSTAT = 2,
	TRACEDAT_BUFFER = 3,
	TRACEDAT_TRACECLOCK = 4, /* text: the selected clock is in brackets */
	TRACEDAT_UNAME = 5,
	TRACEDAT_HOOK = 6,
	TRACEDAT_OFFSET = 7, /* text: a number of nanoseconds to be added to times */
	TRACEDAT_CPUCOUNT = 8,
	TRACEDAT_RECORDER = 9, /* text: trace-cmd's version */
	TRACEDAT_PROCMAPS = 10,
	TRACEDAT_TRACEID = 11,
	TRACEDAT_TIME_SHIFT = 12,
	TRACEDAT_GUEST = 13,
	TRACEDAT_TSC2NSEC = 14,
	TRACEDAT_STRINGS = 15,
	TRACEDAT_HEADER_INFO = 16,
	TRACEDAT_FTRACE_EVENTS = 17,
	TRACEDAT_EVENT_FORMATS = 18,
	TRACEDAT_KALLSYMS = 19,
	TRACEDAT_PRINTK = 20,
	TRACEDAT_CMDLINES = 21,
	TRACEDAT_BUFFER_TEXT = 22
};

#endif
