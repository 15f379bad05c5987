/* SPDX-License-Identifier: MIT */
/*
 * A tree of calls with weights, for pictures: each path of names occurs once.
 *
 *	struct flame *f = flame_new("cycles", "cycles");
 *	uint32_t frame, node = 0;
 *
 *	for each frame, outermost first:
 *		flame_frame(f, "main", 4, "/usr/bin/x", FLAME_USER, &frame);
 *		flame_callee(f, node, frame, &node);
 *	flame_add(f, node, FLAME_NOW, period, 1);
 *	flame_finish(f, 0.01);
 *	for (struct flame_step s = { 0 }; flame_next(f, &s);)
 *		... s.node, s.depth
 *	flame_free(f);
 *
 * Functions that return int return 0 on success, -ENOMEM if there is no memory.
 */
#ifndef SONDE_CLI_FLAME_H
#define SONDE_CLI_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of frames; the letters are those of the pages. */
enum flame_kind {
	FLAME_USER = 'u',
	FLAME_KERNEL = 'k',
	FLAME_INLINED = 'i',
	FLAME_JIT = 'j',
	FLAME_UNKNOWN = 'x', /* without a symbol */
	FLAME_GROUP = 'g',   /* not a function but a task, a cpu or a state */
	FLAME_WAKER = 'w',   /* the task that ended a wait */
	FLAME_REST = 'r'     /* callees that are too small to be shown */
};

/* The recording that a weight belongs to: the shown one, or the one it is compared with. */
enum flame_side { FLAME_NOW, FLAME_BASE, FLAME_SIDES };

struct flame_frame {
	uint32_t name; /* index into names */
	int32_t file;  /* index into files; -1 if none */
	char kind;     /* enum flame_kind */
};

struct flame_sums {
	uint64_t weight, count; /* count: number of samples or of waits */
};
/* There may be millions: one for each frame of each distinct call path. */
struct flame_node {
	uint32_t frame;
	/* first: first callee; next: next sibling; 0 if none */
	uint32_t parent, first, next;
};

struct flame_texts {
	char **text; /* owned, NUL-terminated */
	uint32_t nr;
};

struct flame {
	const char *event;   /* owned */
	const char *unit;    /* "samples", "ns", or the plural of what was counted; borrowed */
	const char *counted; /* plural of what `count` counts: "samples", "waits"; borrowed */
	bool compared;       /* weights of FLAME_BASE were added */
	bool saturated;      /* a sum reached its limit */
	struct flame_texts names, files;
	struct flame_frame *frames;
	struct flame_node *nodes; /* [0]: the root, "all" */
	uint32_t nr_frames, nr_nodes;
	struct flame_index *index; /* private */
};

/* NULL if there is no memory. */
struct flame *flame_new(const char *event, const char *unit);
void flame_free(struct flame *f); /* NULL is allowed */
/* Finds or makes a frame. A name may contain any bytes. file is NULL if there is none. */
int flame_frame(struct flame *f, const char *name, const char *file, enum flame_kind kind,
		uint32_t *ret);
/* The order of siblings: by name, then file, then kind. <0 if a is before b, 0 if a is b. */
int flame_compare_frames(const struct flame *f, uint32_t a, uint32_t b);
/* Finds or makes the callee of a node that has this frame. */
int flame_callee(struct flame *f, uint32_t node, uint32_t frame, uint32_t *ret);
/* Adds to the node's own sums. A sum that would overflow stays at its limit. */
int flame_add(struct flame *f, uint32_t node, enum flame_side side, uint64_t weight,
	      uint64_t count);
/*
 * Computes totals and sorts callees by name. Callees with less than `percent` of the graph's total
 * are merged, per caller, into one frame of kind FLAME_REST. Nothing may be added afterwards.
 */
int flame_finish(struct flame *f, double percent);
/* After flame_finish(): the sums of a node without its callees, and with them. */
struct flame_sums flame_self(const struct flame *f, uint32_t node, enum flame_side side);
struct flame_sums flame_total(const struct flame *f, uint32_t node, enum flame_side side);

struct flame_step {
	uint32_t node, depth;
	bool begun;
};
/* Advances to the next node, callers before callees. Returns false after the last. */
bool flame_next(const struct flame *f, struct flame_step *s);

#endif
