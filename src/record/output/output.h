/* SPDX-License-Identifier: MIT */
/* The output file. A previous file is kept as FILE.old; only its owner may read the new one. */
#ifndef SONDE_RECORD_OUTPUT_OUTPUT_H
#define SONDE_RECORD_OUTPUT_OUTPUT_H

#include <stdbool.h>

struct output {
	char *path;
	bool kept_old; /* FILE was renamed to FILE.old */
	bool is_regular;
	bool is_directory; /* output_dir.h */
	bool is_pipe;      /* the output is a pipe, in pipe mode */
};

/* True for "-", and for no name if the standard output is a pipe. */
bool output_is_pipe(const char *path);
/* fd: the pipe, which stays the caller's. The caller owns *ret_fd. */
int output_pipe(struct output *o, int fd, int *ret_fd);
/* The caller owns *ret_fd. Under sudo the file belongs to the user who ran sudo. */
int output_open(struct output *o, const char *path, int *ret_fd);
/* Called if the recording failed: removes the file and renames FILE.old to FILE. */
void output_discard(struct output *o);
/*
 * Renames FILE to FILE.YYYYMMDDhhmmssNN (local time, hundredths of a second) and returns the name
 * in *ret_name. Never replaces a file.
 */
int output_set_aside(struct output *o, char **ret_name);
/* Renames the file back to FILE. */
void output_take_back(struct output *o, const char *name);
void output_done(struct output *o);

/*
 * For output_dir.c: output_prepare() initialises o and keeps the existing file at path;
 * output_put_back() restores that file.
 */
int output_prepare(struct output *o, const char *path);
void output_put_back(struct output *o);
void output_give_to_sudo_user(int fd);

#endif
