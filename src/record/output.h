/* SPDX-License-Identifier: MIT */
/* The output file: the one before is kept as FILE.old, the new one is for its owner's eyes only. */
#ifndef SONDE_RECORD_OUTPUT_H
#define SONDE_RECORD_OUTPUT_H

#include <stdbool.h>

struct output {
	char *path;
	bool kept_old; /* FILE was renamed to FILE.old */
	bool is_regular;
	bool is_directory; /* output_dir.h */
	bool is_pipe;      /* the standard output, in pipe mode */
};

/* "-", or no name at all and a pipe as standard output. */
bool output_is_pipe(const char *path);
int output_pipe(struct output *o, int *ret_fd);
/* *ret_fd is the caller's. Under sudo the file belongs to the user who called it. */
int output_open(struct output *o, const char *path, int *ret_fd);
/* The recording failed: the file is removed, FILE.old becomes FILE again. */
void output_discard(struct output *o);
/*
 * FILE becomes FILE.YYYYMMDDhhmmssNN (local time, hundredths of a second), *ret_name; no file is
 * ever replaced.
 */
int output_set_aside(struct output *o, char **ret_name);
/* And FILE again. */
void output_take_back(struct output *o, const char *name);
void output_done(struct output *o);

/* For output_dir.c: sets o up and keeps what is at path; or puts it back. */
int output_prepare(struct output *o, const char *path);
void output_put_back(struct output *o);
void output_give_to_sudo_user(int fd);

#endif
