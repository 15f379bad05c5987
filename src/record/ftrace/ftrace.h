/* SPDX-License-Identifier: MIT */
/*
 * A recording of ftrace's ring buffers (ftrace=1): the kernel formats the events, pages of its
 * buffers are moved to files without being read, and the end puts them into one trace.dat.
 *
 *	instance of tracefs -> per_cpu/cpuN/trace_pipe_raw -> FILE.cpuN -> FILE
 *
 * Until the end FILE is empty and the pages are in FILE.cpuN; trace-cmd restore makes a trace.dat
 * of them if the recorder is killed.
 */
#ifndef SONDE_RECORD_FTRACE_FTRACE_H
#define SONDE_RECORD_FTRACE_FTRACE_H

#include <stdint.h>

#include "base/hash.h"
#include "base/outbuf.h"
#include "base/vec.h"
#include "capture/setup/capture.h"
#include "record/ftrace/buffers.h"
#include "record/output/output.h"

/* One cpu: its pages and where they are moved to. */
struct ftrace_cpu {
	int cpu;
	int raw_fd;     /* trace_pipe_raw; -1 once it is closed */
	int file_fd;    /* FILE.cpuN */
	int pipe[2];    /* between the two: splice() needs a pipe */
	char *path;     /* FILE.cpuN; owned */
	uint64_t bytes; /* moved */
	uint64_t events, lost;
	char *stats; /* the text of per_cpu/cpuN/stats at the end; owned */
};

struct ftrace {
	struct ftrace_buffers buffers;
	VEC(struct ftrace_cpu) cpus;
	struct output output;
	int fd;              /* FILE */
	struct hash64 tasks; /* pid -> offset of its name in names */
	struct outbuf names; /* texts that end with a NUL */
	uint64_t looked_ms;  /* when the names were last read */
	uint64_t wakeups, bytes;
	bool is_complete; /* FILE has all pages */
};

/* pages.c: opens the buffers and FILE.cpuN. */
int ftrace_pages_open(struct ftrace *f);
/* Moves the pages that are full; at the end the others, too. */
int ftrace_pages_move(struct ftrace *f, bool is_last);
/* Reads the counts of events and losses, and closes the buffers. */
int ftrace_pages_end(struct ftrace *f);
/* The number of bytes that were moved so far. */
uint64_t ftrace_pages_bytes(const struct ftrace *f);
/* keeps_files: FILE.cpuN have pages that are nowhere else. */
void ftrace_pages_done(struct ftrace *f, bool keeps_files);
/* names.c: notes the names of the tasks that run, and those that the kernel has saved. */
void ftrace_names_note_running(struct ftrace *f);
void ftrace_names_note_saved(struct ftrace *f, const struct tracefs *top);
/* Lines "PID NAME" by pid. */
int ftrace_names_put(const struct ftrace *f, struct outbuf *ret);
/* file.c: writes FILE. */
int ftrace_file_write(struct ftrace *f, const struct capture *c);

#endif
