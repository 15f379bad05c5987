/* SPDX-License-Identifier: MIT */
/*
 * A thread that prepares the next file's beginning while the recording continues: reading /proc
 * takes long enough for buffers to overflow. The thread starts with the recorder and waits for a
 * request.
 *
 *	preparer_ask(p, pids, nr);
 *	...                                // until preparer_fd(p) is readable
 *	preparer_take(p, &beginning);
 */
#ifndef SONDE_RECORD_PREPARER_H
#define SONDE_RECORD_PREPARER_H

#include <stddef.h>
#include <stdint.h>

#include "record/file.h"

struct preparer;

/*
 * The thread reads r between preparer_ask() and its answer. In that time the members that
 * recorder_file_prepare() reads must not change.
 */
int preparer_new(struct preparer **ret, const struct sonde_recorder *r);
/* pids: processes to describe; copied. Must not be called again before the answer was taken. */
int preparer_ask(struct preparer *p, const int32_t *pids, size_t nr_pids);
int preparer_fd(const struct preparer *p);
/*
 * Returns 1 and the beginning in *ret, 0 if there is no answer yet, or a negative errno if the
 * beginning could not be prepared.
 */
int preparer_take(struct preparer *p, struct file_beginning *ret);
/* Accepts NULL. */
void preparer_free(struct preparer *p);

#endif
