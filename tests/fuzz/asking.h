/* SPDX-License-Identifier: MIT */
/*
 * What the targets that read recordings share: a recording is opened, read to its end, each event
 * asked everything that can be asked, and the recording is written to one of the outputs. Which
 * keys a session has is chosen by bits of the input.
 *
 *	static struct fuzz_file file;
 *	if (fuzz_file_put(&file, data, size) >= 0)
 *		fuzz_recording(file.path, choice);
 *
 * No file of this machine is read: results would depend on it.
 */
#ifndef FUZZ_ASKING_H
#define FUZZ_ASKING_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory, made at first use and written over by each input. */
struct fuzz_file {
	int fd;
	char path[32]; /* "" at first */
};
int fuzz_file_put(struct fuzz_file *f, const void *data, size_t size);

/*
 * Asks an event of a session everything. The answers as a number: equal where all are, in this run
 * of a program and another.
 */
struct sonde_event;
struct sonde_session;
uint64_t fuzz_ask(struct sonde_session *s, const struct sonde_event *ev);

/*
 * A bit of a choice: the recording is read together with itself, in the order of time. Not of a
 * pipe.
 */
enum { FUZZ_TWICE = 1 << 20 };
/* Reads all events of the recording at path, and asks. */
void fuzz_read(const char *path, uint32_t choice);
/* Writes it in one of the formats, to nowhere. */
void fuzz_write(const char *path, uint32_t choice);
/* Writes its events as another recording, which is then read. */
void fuzz_cut(const char *path, uint32_t choice);
/* It is read, and written in one way. */
void fuzz_recording(const char *path, uint32_t choice);
/*
 * A copy of exactly their size that ends in NUL, to be released with free(). Ends the program when
 * there is no memory.
 */
char *fuzz_text(const uint8_t *data, size_t size);
/* A number out of the bytes. */
uint32_t fuzz_choice(const uint8_t *data, size_t size);

#endif
