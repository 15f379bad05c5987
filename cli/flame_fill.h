/* SPDX-License-Identifier: MIT */
/* The trees of calls of a recording. */
#ifndef SONDE_CLI_FLAME_FILL_H
#define SONDE_CLI_FLAME_FILL_H

#include "flame_path.h"

/* One tree for each event type. */
struct flames {
	enum flame_key by[FLAME_KEYS]; /* groups at the root, outermost first */
	size_t nr_by;
	struct flame **graphs; /* owned */
	size_t nr;
};

/*
 * Adds the samples of a session by their periods. Returns 0 on success, a negative errno as
 * sonde_session_next() does.
 */
int flames_fill_samples(struct flames *fs, struct sonde_session *s, enum flame_side side);
void flames_done(struct flames *fs);

#endif
