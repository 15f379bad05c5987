/* SPDX-License-Identifier: MIT */
/*
 * The files that a recording names ("dso" is perf's word): first the files in its list of build
 * ids, then the mapped files. Each file is listed once, with its build id if recorded, and with a
 * flag if a sample hit it. The mappings of a sample's process are taken from the state. No file is
 * opened unless asks_why is set.
 *
 *	struct recorded_dsos d;
 *	TRY(recorded_dsos_init(&d, rec));
 *	TRY(recorded_dsos_event(&d, ev));   // each event in order, records of state too
 *	vec_foreach(dso, &d.list) ...
 *	recorded_dsos_done(&d);
 *
 * As in perf, mappings with one name and two different inodes are two files; a mapping without an
 * inode matches any file of its name. Modules are the same file if their names in brackets are
 * equal.
 */
#ifndef SONDE_SINKS_RECORDED_DSOS_H
#define SONDE_SINKS_RECORDED_DSOS_H

#include "recording/recording.h"

struct recorded_dso {
	const char *name; /* borrowed from the session; as first recorded */
	struct build_id build_id;
	uint64_t inode; /* 0 if unknown */
	/* id in the string pool of its name; for a module, of the name in brackets */
	uint32_t known_as;
	bool is_kernel; /* the kernel or a module */
	bool is_memory; /* not mapped from a file: JIT code, the heap, the vdso */
	bool is_hit;
	uint8_t unknown; /* enum sonde_unknown of the file; set if asks_why and is_hit */
};

struct recorded_dsos {
	struct recording *rec;
	VEC(struct recorded_dso) list;
	struct hash64 by_name;  /* known_as -> index of the first dso of that name */
	struct hash64 by_inode; /* hash of known_as and inode -> index */
	size_t nr_build_ids;    /* entries already taken from the source's list */
	uint32_t kernel;        /* index of the kernel; UINT32_MAX if not known so far */
	/*
	 * The mapping that the last sample hit. Cached because most samples hit the same one again.
	 */
	uint64_t last_stamp, last_start, last_end;
	uint32_t last;
	bool asks_why;     /* open each file that is hit, to see if its symbols are available */
	uint64_t unmapped; /* samples whose address is in no mapping */
};

int recorded_dsos_init(struct recorded_dsos *ret, struct recording *rec);
/* Takes entries that were added to the recording's list of build ids. */
int recorded_dsos_update(struct recorded_dsos *d);
int recorded_dsos_event(struct recorded_dsos *d, const struct event *ev);
void recorded_dsos_done(struct recorded_dsos *d);

#endif
