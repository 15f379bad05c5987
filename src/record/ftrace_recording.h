/* SPDX-License-Identifier: MIT */
/* The life of a recording of ftrace's buffers (ftrace/ftrace.h): r->ftrace is not NULL. */
#ifndef SONDE_RECORD_FTRACE_RECORDING_H
#define SONDE_RECORD_FTRACE_RECORDING_H

#include "sonde/sonde.h"

/* Makes the instance, switched off, forks the command and opens the files. */
int ftrace_recording_open(struct sonde_recorder *r, const char *const *command);
/* Fills all members of ret but the size. */
int ftrace_recording_run(struct sonde_recorder *r, struct sonde_record_result *ret);
/* r->ftrace may be NULL. */
void ftrace_recording_close(struct sonde_recorder *r);

#endif
