/* SPDX-License-Identifier: MIT */
/*
 * The files that a recording names ("dso" is perf's word): first those of its list of build ids,
 * then those that were mapped, each once, with its build id if that is recorded, and whether a
 * sample hit it. What is mapped in the process of a sample comes from the state. No file is opened
 * unless asks_why is set.
 *
 *	struct recorded_dsos d;
 *	TRY(recorded_dsos_init(&d, rec));
 *	TRY(recorded_dsos_event(&d, ev));   // each event in order, records of state too
 *	vec_foreach(dso, &d.list) ...
 *	recorded_dsos_done(&d);
 *
 * As in perf, mappings of one name with two different inodes are two files; one without an inode is
 * of the same file as any. Modules are the same file if their names in brackets are equal.
 */
#ifndef SONDE_SINKS_RECORDED_DSOS_H
#define SONDE_SINKS_RECORDED_DSOS_H

#include "recording/recording.h"

struct recorded_dso {
	const char *name; /* borrowed from the session; as first recorded */
	struct build_id build_id;
	uint64_t inode;    /* 0 unknown */
	uint32_t known_as; /* id in the string pool: its name, of a module that in brackets */
	bool is_kernel;    /* the kernel or a module */
	bool is_memory;    /* not mapped from a file: a JIT's code, the heap, the vdso */
	bool is_hit;
	uint8_t unknown; /* if asks_why and is_hit: enum sonde_unknown of the file */
};

struct recorded_dsos {
	struct recording *rec;
	VEC(struct recorded_dso) list;
	struct hash64 by_name;  /* known_as -> index of the first */
	struct hash64 by_inode; /* hash of both -> index of that with this inode */
	size_t nr_build_ids;    /* taken of the source's list */
	uint32_t kernel;        /* index; UINT32_MAX if not known so far */
	/* The one that the last sample hit: most samples hit the same as the one before. */
	uint64_t last_stamp, last_start, last_end;
	uint32_t last;
	bool asks_why;     /* open each file that is hit, to see whether its symbols are here */
	uint64_t unmapped; /* samples whose address is in no mapping */
};

int recorded_dsos_init(struct recorded_dsos *ret, struct recording *rec);
/* Takes entries that were added to the recording's list of build ids. */
int recorded_dsos_update(struct recorded_dsos *d);
int recorded_dsos_event(struct recorded_dsos *d, const struct event *ev);
void recorded_dsos_done(struct recorded_dsos *d);

#endif
