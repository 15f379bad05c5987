/* SPDX-License-Identifier: MIT */
/* The text form of a session (the keys are in sonde.h): parsed into this struct, printed from it. */
#ifndef SONDE_SESSION_OPTIONS_H
#define SONDE_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

struct session_options {
	/* Text: owned, NULL when not given. */
	char *input, *time, *cpu, *pid, *tid, *comm, *symfs, *kallsyms, *buildid_dir, *fields;
	uint32_t compat; /* enum sonde_compat */
	uint32_t events; /* 0 samples, 1 all */
	uint32_t callchain, force, ns;
	uint64_t window_bytes;
};

/* origin: where the text came from, for messages; NULL = "session". ret is filled only on success. */
int session_options_parse(struct session_options *ret, const char *text, const char *origin);
void session_options_print(const struct session_options *o, struct outbuf *out);
void session_options_done(struct session_options *o);

#endif
