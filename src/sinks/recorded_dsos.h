/* SPDX-License-Identifier: MIT */
/*
 * The files that a recording tells of ("dso": perf's word): first those of its list of build ids, then what was mapped, each
 * once, with its build id as far as it is recorded and whether a sample's address lies in it. No file is opened unless
 * asks_why is set.
 *
 *	struct recorded_dsos d;
 *	TRY(recorded_dsos_init(&d, session));
 *	TRY(recorded_dsos_event(&d, ev));   // each event in order, records of state too
 *	vec_foreach(dso, &d.list) ...
 *	recorded_dsos_done(&d);
 *
 * Two names are one file as perf has it: a mapping that tells an inode is of another file than one that tells another inode,
 * and of the same as one that tells none; modules are the same by their names in brackets.
 */
#ifndef SONDE_SINKS_RECORDED_DSOS_H
#define SONDE_SINKS_RECORDED_DSOS_H

#include "session.h"

struct recorded_dso {
	const char *name;     /* lent by the session; as first told */
	const char *build_id; /* hex, "" unknown; the same */
	uint64_t inode;       /* 0 unknown */
	uint32_t known_as;    /* id in the string pool: its name, of a module that in brackets */
	bool is_kernel;       /* the kernel or a module */
	bool is_memory;       /* not mapped from a file: a JIT's code, the heap, the vdso */
	bool is_hit;
	uint8_t unknown; /* enum sonde_unknown of the file as a whole, if asks_why; SONDE_KNOWN until it is hit */
};

struct recorded_dsos {
	struct sonde_session *session;
	VEC(struct recorded_dso) list;
	struct hash64 by_name;  /* known_as -> index of the first */
	struct hash64 by_inode; /* hash of both -> index of that with this inode */
	size_t nr_build_ids;    /* taken of the source's list */
	uint32_t kernel;        /* index, UINT32_MAX: not known so far */
	/* Which one the last sample lay in: most lie where the one before did. */
	uint64_t last_stamp, last_start, last_end;
	uint32_t last;
	bool asks_why; /* files that are hit are opened, to see whether their symbols are here */
	uint64_t unmapped; /* samples whose address lies in no mapping */
};

int recorded_dsos_init(struct recorded_dsos *ret, struct sonde_session *s);
/* What the recording's list of build ids says beyond what was taken of it. */
int recorded_dsos_update(struct recorded_dsos *d);
int recorded_dsos_event(struct recorded_dsos *d, const struct event *ev);
void recorded_dsos_done(struct recorded_dsos *d);

#endif
