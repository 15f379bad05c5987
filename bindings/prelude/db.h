/* SPDX-License-Identifier: MIT */
/*
 * Data shared by the files of database export: dbexport.c handles events, db_objects.c the objects
 * that events refer to, db_calls.c call paths.
 */
#ifndef SONDE_PRELUDE_DB_H
#define SONDE_PRELUDE_DB_H

#include "db_tables.h"
#include "ids.h"
#include "near.h"
#include "sonde/sonde.h"

enum { DB_HOST = 1 }; /* id of the only machine */

/* The table rows of an address; an id is 0 if its object is unknown. */
struct db_place {
	uint64_t dso, symbol;
	uint64_t sym_off;
	/* Id of the symbol if this lookup made one for an address without symbol; else 0. */
	uint64_t made;
	bool lasts; /* the answer stays valid as long as the mappings hold */
};

/*
 * A frame with all its callers. Path 1 is the root, which has no frame. There may be millions of
 * paths. The children of a path are a linked list, newest first, because most paths have at most
 * one child.
 */
struct db_path {
	/* Id of the symbol; without symbol DB_NO_SYMBOL and the address's index in ips. */
	uint32_t where;
	uint32_t parent;
	uint32_t child, sibling; /* first child; next child of the same parent; 0 if none */
};
#define DB_NO_SYMBOL (1u << 31)
enum {
	DB_PATH_BLOCK = 2 << 20, /* bytes: the size of a huge page */
	DB_PATHS_PER_BLOCK = DB_PATH_BLOCK / sizeof(struct db_path)
};

/* An outermost frame of the previous chain. Its path stays valid as long as the mappings hold. */
struct db_step {
	uint64_t ip;
	uint32_t cpumode;
	uint32_t path;
};
struct db_chain {
	struct db_step *steps; /* outermost first */
	size_t nr, room;
	int32_t pid, tid;
	uint64_t map_epoch;
};

/* The id of the symbol at a frame's address. */
struct db_near_symbol {
	uint64_t ip;
	uint64_t turn; /* prelude_near_turn(); 0 if the entry is free */
	uint64_t symbol;
};

/* The cached place for one answer of the session. */
struct db_known_place {
	uint64_t answer; /* sonde_location.answer; 0 if the entry is free */
	struct db_place place;
};
enum { DB_KNOWN_PLACES = 8192 };

/* The call stack of a thread, as far as single samples show it. */
struct db_stack {
	uint64_t thread, comm;
	int32_t tid, cpu; /* cpu: only for the idle task, else 0 */
	bool is_leader;
	uint64_t last_ns, nr_samples;
	uint32_t path; /* path of the stack's first function; 0 if the stack is empty */
	uint64_t since_ns, first_sample, samples_before;
};

/* What the export needs for each event of a type. */
struct db_type {
	enum { DB_NEW, DB_SAMPLE, DB_SWITCH, DB_OTHER } kind;
	bool has_place_of_addr; /* the data address is looked up like the ip */
	bool has_chain;
	bool is_synth;
	uint64_t config;
	uint64_t evsel; /* id; 0 if it has no row yet */
	/* fields of switches; NULL if not recorded */
	const struct sonde_field *other_pid, *other_tid;
};

struct prelude_db {
	struct sonde_session *s;
	struct prelude_db_options opts;
	const struct sonde_rules *rules;
	uint64_t last_id[PRELUDE_NR_TABLES];
	struct db_type *types; /* by schema id */
	size_t nr_types;
	struct id_list tasks, names;  /* ids of threads and comms, by their ids in the session */
	struct ids dsos, symbols;     /* by dso_id; by dso id and offset in the dso */
	struct db_known_place *known; /* by sonde_location.answer; NULL if empty */
	struct ids path_of; /* the path by parent and where, for children beyond the list */
	struct db_path **path_blocks; /* see db_path_at(); path 0 is unused, path 1 is the root */
	size_t nr_paths, nr_path_blocks, room_path_blocks;
	/* Paths before this one have rows. With opts.calls, path_ids decides instead. */
	size_t nr_with_row;
	/*
	 * Row ids by path; 0 if the path has no row yet. Only with opts.calls; otherwise a path's
	 * number is its id.
	 */
	uint32_t *path_ids;
	size_t room_path_ids;
	struct db_chain chain;
	struct prelude_near near;
	struct db_near_symbol *near_symbols; /* PRELUDE_NEAR_PLACES; NULL if empty */
	struct ids place_of_ip;
	uint64_t *ips; /* addresses without symbol */
	size_t nr_ips, room_ips;
	uint32_t *missing_rows; /* scratch: paths without a row */
	size_t room_missing_rows;
	struct ids stack_of; /* index in stacks + 1, by task and cpu */
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
/* Passes a row to the caller if it takes rows of this table. The first cell is the row's id. */
int db_row(struct prelude_db *db, enum prelude_table table, const union prelude_cell *cells);

#endif
