/* SPDX-License-Identifier: MIT */
/*
 * What the files of database export share: dbexport.c events, db_objects.c what they refer to,
 * db_calls.c call paths.
 */
#ifndef SONDE_PRELUDE_DB_H
#define SONDE_PRELUDE_DB_H

#include "db_tables.h"
#include "ids.h"
#include "sonde/sonde.h"

enum { DB_HOST = 1 }; /* id of the one machine there is */

/* What an address is to the tables; ids are 0 where nothing is known. */
struct db_place {
	uint64_t dso, symbol;
	uint64_t sym_off;
	uint64_t made; /* id of the symbol, if this made it for an address that has none; else 0 */
	bool lasts;    /* the same is found as long as the mappings hold */
};

/*
 * A frame reached through others; the first one is the root, which has none. There may be millions
 * of them: a path's children are a list, for most have one or none, and those that were made last
 * are still at hand.
 */
struct db_path {
	uint32_t where; /* id of the symbol, or DB_NO_SYMBOL and the place in ips of the address */
	uint32_t parent;
	uint32_t child, sibling; /* its first child, the next one of its parent's; 0: none */
};
#define DB_NO_SYMBOL (1u << 31)
enum {
	DB_PATH_BLOCK = 2 << 20, /* bytes: what the kernel may give as one large page */
	DB_PATHS_PER_BLOCK = DB_PATH_BLOCK / sizeof(struct db_path)
};

/* The outermost frames of the chain told last, as far as their paths hold while mappings do. */
struct db_step {
	uint64_t ip;
	uint32_t cpumode;
	uint32_t path;
};
struct db_chain {
	struct db_step *steps; /* the first one is the outermost */
	size_t nr, room;
	int32_t pid, tid;
	uint64_t map_epoch;
};

/* What was found out of an address, by the number of the session's answer. */
struct db_known_place {
	uint64_t answer; /* sonde_location.answer; 0: free */
	struct db_place place;
};
enum { DB_KNOWN_PLACES = 8192 };

/* What a thread was found to execute, as far as single samples tell. */
struct db_stack {
	uint64_t thread, comm;
	int32_t tid, cpu; /* cpu: of the idle task, else 0 */
	bool is_leader;
	uint64_t last_ns, nr_samples;
	uint32_t path; /* of what it was in first; 0: the stack is empty */
	uint64_t since_ns, first_sample, samples_before;
};

/* Of an event type: what is asked of each event. */
struct db_type {
	enum { DB_NEW, DB_SAMPLE, DB_SWITCH, DB_OTHER } kind;
	bool has_place_of_addr; /* its data address is looked up like its ip */
	bool has_chain;
	bool is_synth;
	uint64_t config;
	uint64_t evsel;                                  /* id; 0: not told yet */
	const struct sonde_field *other_pid, *other_tid; /* of switches; NULL: not recorded */
};

struct prelude_db {
	struct sonde_session *s;
	struct prelude_db_options opts;
	const struct sonde_rules *rules;
	uint64_t last_id[PRELUDE_NR_TABLES];
	struct db_type *types; /* by schema id */
	size_t nr_types;
	struct id_list tasks, names;  /* ids of threads and comms, by those of the session */
	struct ids dsos, symbols;     /* by dso_id; by id of the dso and place in it */
	struct db_known_place *known; /* by answer; NULL: nothing yet */
	struct ids path_of; /* the path, by parent and where: of those beyond a list of children */
	struct db_path **path_blocks; /* see db_path_at(); path 0 is not used, path 1 the root */
	size_t nr_paths, nr_path_blocks, room_path_blocks;
	/* paths before this one were told; of opts.calls only where path_ids says so */
	size_t nr_with_row;
	uint32_t *
		path_ids; /* by path, 0: not told yet; of opts.calls alone. Else a path is its id */
	size_t room_path_ids;
	struct db_chain chain;
	struct ids place_of_ip;
	uint64_t *ips; /* addresses that have no symbol */
	size_t nr_ips, room_ips;
	uint32_t *missing_rows; /* scratch: paths that are not told yet */
	size_t room_missing_rows;
	struct ids stack_of; /* place in stacks + 1, by task and cpu */
	struct db_stack *stacks;
	size_t nr_stacks, room_stacks;
};

static inline struct db_path *db_path_at(const struct prelude_db *db, uint32_t path)
{
	return &db->path_blocks[path / DB_PATHS_PER_BLOCK][path % DB_PATHS_PER_BLOCK];
}

static inline bool db_wants(const struct prelude_db *db, enum prelude_table table)
{
	return db->opts.tables >> table & 1;
}
/* Passes a row on if somebody takes those of the table. The first cell is its id. */
int db_row(struct prelude_db *db, enum prelude_table table, const union prelude_cell *cells);

#endif
