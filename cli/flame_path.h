/* SPDX-License-Identifier: MIT */
/* The path of one event in a tree of calls: its groups, then its call chain. */
#ifndef SONDE_CLI_FLAME_PATH_H
#define SONDE_CLI_FLAME_PATH_H

#include "flame.h"

#include <sonde/sonde.h>

struct flame_path {
	struct flame *f;
	const char *by;   /* "comm,pid"; "" if none */
	uint32_t *frames; /* by sonde_location.answer: frame + 1, or 0 */
	uint64_t room;
};

/* True if `by` lists comm, pid and cpu only. */
bool flame_path_can_group(const char *by);
/* Adds the groups of an event below *node. Returns 0 or -ENOMEM, like all functions here. */
int flame_path_groups(struct flame_path *p, const struct sonde_event *ev, uint32_t *node);
/*
 * Adds the call chain of an event below *node, or the function of its ip if it has no call chain.
 */
int flame_path_calls(struct flame_path *p, const struct sonde_event *ev, uint32_t *node);
void flame_path_done(struct flame_path *p);

#endif
