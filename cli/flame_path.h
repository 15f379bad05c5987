/* SPDX-License-Identifier: MIT */
/* The path of an event in a tree of calls: what it is grouped by, then its call chain. */
#ifndef SONDE_CLI_FLAME_PATH_H
#define SONDE_CLI_FLAME_PATH_H

#include "flame.h"

#include <sonde/sonde.h>

/* What groups are made by (--by): bits. */
enum flame_key { FLAME_BY_COMM, FLAME_BY_PID, FLAME_BY_TID, FLAME_BY_CPU, FLAME_KEYS };

struct flame_path {
	struct flame *f;
	enum flame_key by[FLAME_KEYS];
	size_t nr_by;
	uint32_t *frames; /* by sonde_location.answer: frame + 1, or 0 */
	uint64_t room;
};

/* "comm", ...; NULL after the last. */
const char *flame_key_name(size_t key);
/* The groups of an event below a node. Returns 0 or -ENOMEM, as all functions here. */
int flame_path_groups(struct flame_path *p, const struct sonde_event *ev, uint32_t *node);
/* The call chain of an event below a node; without one the function of its ip. */
int flame_path_calls(struct flame_path *p, const struct sonde_event *ev, uint32_t *node);
void flame_path_done(struct flame_path *p);

#endif
