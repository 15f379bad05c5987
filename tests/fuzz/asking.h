/* SPDX-License-Identifier: MIT */
/*
 * For the targets that read recordings: opens a recording, reads it to its end, calls every
 * function about each event, and writes the recording to one of the outputs. Bits of the input
 * choose the keys of the session.
 *
 *	static struct fuzz_file file;
 *	if (fuzz_file_put(&file, data, size) >= 0)
 *		fuzz_recording(file.path, choice);
 *
 * No other file is read: results must not depend on the machine.
 */
#ifndef FUZZ_ASKING_H
#define FUZZ_ASKING_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory, made at the first use and overwritten by each input. */
struct fuzz_file {
	int fd;
	char path[32]; /* "" at first */
};
int fuzz_file_put(struct fuzz_file *f, const void *data, size_t size);

/*
 * Calls every function about an event. Returns a hash of the answers, which is the same in every
 * run of a program.
 */
struct sonde_event;
struct sonde_session;
uint64_t fuzz_ask(struct sonde_session *s, const struct sonde_event *ev);

/*
 * From now on, a copy of tracefs describes the events that a recording does not describe. NULL: the
 * running kernel's does.
 */
void fuzz_use_tracefs(const char *folder);

/* If this bit of the choice is set, two sessions of the recording are merged by time. Not for
 * pipes. */
enum { FUZZ_TWICE = 1 << 20 };
/* Reads all events of the recording at path, and calls fuzz_ask() for each. */
void fuzz_read(const char *path, uint32_t choice);
/* Writes the recording in one of the formats to /dev/null. */
void fuzz_write(const char *path, uint32_t choice);
/* Writes its events as another recording, and reads that. */
void fuzz_cut(const char *path, uint32_t choice);
/* Reads the counts of the recording of perf stat at path. */
void fuzz_counts(const char *path, uint32_t choice);
/* Reads the recording, and its counts, and writes or cuts it. */
void fuzz_recording(const char *path, uint32_t choice);
/*
 * A copy of the bytes with a NUL after, in memory of exactly that size. The caller frees it.
 * Aborts without memory.
 */
char *fuzz_text(const uint8_t *data, size_t size);
/* A number that depends on all of the bytes. */
uint32_t fuzz_choice(const uint8_t *data, size_t size);

#endif
