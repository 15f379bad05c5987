/* SPDX-License-Identifier: MIT */
/*
 * A thread that makes the next file's beginning while the recording continues: reading /proc takes
 * long enough for buffers to run over. It starts with the recorder and waits until it is asked.
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
 * r is read by the thread whenever it was asked: what recorder_file_prepare() looks at must not
 * change then.
 */
int preparer_new(struct preparer **ret, const struct sonde_recorder *r);
/* pids: processes to describe; copied. Not again before the answer was taken. */
int preparer_ask(struct preparer *p, const int32_t *pids, size_t nr_pids);
int preparer_fd(const struct preparer *p);
/* 1: *ret is the beginning, 0: there is no answer yet, <0: it could not be made. */
int preparer_take(struct preparer *p, struct file_beginning *ret);
/* NULL is fine. */
void preparer_free(struct preparer *p);

#endif
