/* SPDX-License-Identifier: MIT */
/* The trees of calls of a recording. */
#ifndef SONDE_CLI_FLAME_FILL_H
#define SONDE_CLI_FLAME_FILL_H

#include "flame.h"

#include <sonde/sonde.h>

/* One tree for each event type. */
struct flames {
	const char *by;        /* keys of a profile that make groups, "comm,pid"; "" if none */
	struct flame **graphs; /* owned */
	size_t nr;
};

/* Finds or makes the tree of an event. unit is borrowed. Returns 0 or -ENOMEM. */
int flames_find(struct flames *fs, const char *event, const char *unit, struct flame **ret);
/*
 * Adds the samples of a session, weighted by their periods. Returns 0 on success, -EINVAL for an
 * unknown key, or a negative errno of sonde_session_next().
 */
int flames_fill_samples(struct flames *fs, struct sonde_session *s, enum flame_side side);
/*
 * Adds the rows of a finished profile that its marks choose. The profile's last key is sym; the
 * keys before it make groups. Returns 0 or a negative errno.
 */
int flames_fill_profile(struct flames *fs, struct sonde_profile *p, enum flame_side side);
void flames_done(struct flames *fs);

/* The frames of a profile's places and groups in one graph. */
struct flame_fill {
	struct sonde_profile *p;
	struct flame *f;
	enum flame_side side;
	uint32_t nr_by;   /* the profile's first keys make groups */
	uint32_t *frames; /* by place: frame + 1, or 0 */
	uint32_t room;
	/* the group that was found last by its path */
	bool has_last;
	uint32_t last_key, last_id, last_frame;
};

static inline bool flame_fill_knows(const struct flame_fill *fill, uint32_t place)
{
	return place < fill->room && fill->frames[place];
}

/* Finds the frame of a place. Most places are known already. Returns 0 or -ENOMEM. */
int flame_fill_place(struct flame_fill *fill, uint32_t place, uint32_t *ret);
/* Finds the frame of a path's group. Returns 1, 0 if the path has none for this key, or -ENOMEM. */
int flame_fill_group_of_path(struct flame_fill *fill, uint32_t table, uint64_t path, uint32_t key,
			     uint32_t *ret);
/* Forgets the frames: they belong to one graph only. */
void flame_fill_done(struct flame_fill *fill);

/*
 * Finds or makes the frame of a symbol in a file. If sym is NULL, `unknown` is the reason. Returns
 * 0 or -ENOMEM.
 */
int flame_fill_frame(struct flame *f, const char *sym, const char *file, uint32_t unknown,
		     bool is_kernel, bool is_inlined, uint32_t *ret);

#endif
