/* SPDX-License-Identifier: MIT */
/*
 * A tree of calls with weights, as pictures need it: every path of names once.
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
 * Functions that return int return 0 on success and -ENOMEM.
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
	FLAME_GROUP = 'g',   /* no function: a task, a cpu, a state */
	FLAME_WAKER = 'w',   /* of the task that ended a wait */
	FLAME_REST = 'r'     /* callees that are too small to be shown */
};

/* Whose weights: of the recording that is shown, or of the one it is compared with. */
enum flame_side { FLAME_NOW, FLAME_BASE, FLAME_SIDES };

struct flame_frame {
	uint32_t name; /* index into names */
	int32_t file;  /* index into files; -1 none */
	char kind;     /* enum flame_kind */
};

struct flame_sums {
	uint64_t weight, count; /* count: of samples, or of waits */
};
struct flame_node {
	uint32_t frame;
	uint32_t parent, first, next;         /* first callee, next sibling; 0 none */
	struct flame_sums self[FLAME_SIDES];  /* without callees */
	struct flame_sums total[FLAME_SIDES]; /* with callees; set by flame_finish() */
};

struct flame_texts {
	char **text; /* owned, NUL-terminated */
	uint32_t nr;
};

struct flame {
	const char *event;   /* owned */
	const char *unit;    /* "samples", "ns", or the plural of what was counted; borrowed */
	const char *counted; /* plural of what `count` counts: "samples", "waits"; borrowed */
	bool compared;       /* weights of FLAME_BASE are set */
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
/* Any bytes may be a name. file NULL: none. */
int flame_frame(struct flame *f, const char *name, const char *file, enum flame_kind kind,
		uint32_t *ret);
/* The callee with this frame of a node, made if there is none. */
int flame_callee(struct flame *f, uint32_t node, uint32_t frame, uint32_t *ret);
/* Sums that would wrap are saturated. */
void flame_add(struct flame *f, uint32_t node, enum flame_side side, uint64_t weight,
	       uint64_t count);
/*
 * Sums up totals and sorts callees by name. The callees of a caller that have less than `percent`
 * of the graph's total are merged into one frame of kind FLAME_REST. Nothing may be added
 * afterwards.
 */
int flame_finish(struct flame *f, double percent);

struct flame_step {
	uint32_t node, depth;
	bool begun;
};
/* From node to node, callers before callees. false after the last. */
bool flame_next(const struct flame *f, struct flame_step *s);

#endif
