/* SPDX-License-Identifier: MIT */
/*
 * per-event-dump: writes the text of each event type to its own file, RECORDING.EVENT.dump. A file
 * gets this name when it is complete; until then it has a temporary name in the same folder.
 */
#ifndef SONDE_SINKS_TEXT_EVENT_FILES_H
#define SONDE_SINKS_TEXT_EVENT_FILES_H

#include "base/vec.h"
#include "compat/rules.h"
#include "model/event.h"
#include "sinks/fd_writer.h"

struct event_file {
	uint32_t family;        /* schema family: types with one name share a file */
	char *path, *temp_path; /* owned */
	int fd;
	struct fd_writer writer;
	uint64_t nr_samples, bytes; /* bytes: flushed from the writer's buffer */
};

struct event_files {
	const char *input; /* the recording's path, borrowed */
	const struct rules *rules;
	VEC(struct event_file *) files;
	VEC(struct event_file *) by_schema; /* NULL if the file is not made yet */
};

/* Finds the file of a type, or creates it. Negative errno if it cannot be created. */
int event_files_get(struct event_files *f, const struct sonde_schema *sc, struct event_file **ret);
/* Moves the text after `start` to the file. */
int event_file_take(struct event_file *f, struct outbuf *out, size_t start);
/* Gives the files their names and prints a line for each. */
int event_files_finish(struct event_files *f, struct outbuf *out);
/* Also removes unfinished files. */
void event_files_done(struct event_files *f);

#endif
