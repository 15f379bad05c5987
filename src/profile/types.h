/* SPDX-License-Identifier: MIT */
/*
 * A profile: samples added up by keys and by call paths.
 *
 *	event ---> combination	table and numbers of all keys but the place (collect.c)
 *	      ---> place	the sampled place (places.c)
 *	      ---> path		the call path (pathset.h)
 *	           cell		(combination, place, path, cpumode): counts
 *
 *	finish:	numbers ---> values (ranks.c) ---> rows (rows.c) ---> order (sort.c)
 *	tree.c:	the paths of a row's cells as a tree
 *
 * Samples are not kept, only their cells. Numbers are assigned by the pass. Equal values may have
 * different numbers (a function has many addresses), so rows are made from values.
 */
#ifndef SONDE_PROFILE_TYPES_H
#define SONDE_PROFILE_TYPES_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/outbuf.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "base/wordset.h"
#include "profile/branch_types.h"
#include "profile/options.h"
#include "profile/pathset.h"
#include "sonde/sonde.h"

struct recordings;
struct profile;
struct rules;

/* The meaning of the number that the pass keeps for a key of a sample. */
enum profile_raw {
	RAW_PLACE, /* kept once for all columns */
	RAW_LINE,  /* a place with its source line */
	RAW_NONE,  /* recorded nowhere; every sample has the same value */
	RAW_COMM,  /* id in the profile's string pool */
	RAW_TASK,  /* number in profile.tasks */
	RAW_CPU,
	RAW_SOCKET,
	RAW_TIME,   /* start of the quantum */
	RAW_PARENT, /* place + 1 of the function that parent= names; 0 if none */
	/* id of the text in the profile's string pool; also the RAW_CGROUP_... */
	RAW_TRACE,
	RAW_CGROUP_NAME,
	RAW_CGROUP_NAMESPACE, /* "DEVICE/0xINODE" */
	RAW_FIELD,            /* index in profile.field_values */
	/* Values of profile.branch. RAW_FROM_LINE, RAW_TO_LINE: the place has its source line. */
	RAW_FROM,
	RAW_TO,
	RAW_FROM_ADDR, /* the place has the mode of the sample; also RAW_TO_ADDR */
	RAW_TO_ADDR,
	RAW_FROM_LINE,
	RAW_TO_LINE,
	RAW_PREDICTION,
	RAW_IN_TX,
	RAW_ABORT,
	RAW_CYCLES,
	/* Values of struct sonde_sample. */
	RAW_WEIGHT,
	RAW_INS_LAT,
	RAW_STAGE,
	RAW_CODE_PAGE,
	RAW_DATA_PAGE,
	RAW_PHYS,
	RAW_TRANSACTION,
	/* Of a memory access: memory.c. */
	RAW_DATA,       /* place of the data */
	RAW_CODE,       /* place of the instruction */
	RAW_CACHE_LINE, /* index in profile.cache_lines */
	RAW_LEVEL,      /* bits of data_src: the parts in the order of enum data_src_part */
	RAW_SNOOP,
	RAW_TLB,
	RAW_LOCK,
	RAW_BLOCKED
};

/* The value of a key. Rows are merged by it, and it is shown. */
struct profile_value {
	uint64_t number;
	const char *text, *long_text; /* in the profile's string pool; long_text may be NULL */
	uint32_t place;
	uint32_t unknown; /* enum sonde_unknown */
	uint32_t kind;    /* enum sonde_profile_value_kind */
	uint32_t id, rank;
	uint32_t merge_rank, bytes_len, width;
	char level; /* letter in front of the text; 0 for that of the place */
};

/* The orders of values: when rows are merged, and when they are shown. */
struct value_order {
	int (*merge)(const struct profile *p, const struct profile_value *a,
		     const struct profile_value *b);
	int (*show)(const struct profile *p, const struct profile_value *a,
		    const struct profile_value *b);
};

struct key_def {
	const char *name, *title;
	uint32_t width;
	enum profile_raw raw;
	/* is_frame: the place is that of a frame, not the sampled place */
	int (*value)(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
	const struct value_order *order;
};
/* A distinct value of a tracepoint's field. */
struct profile_field_value {
	const char *bytes, *text;  /* in the profile's string pool */
	uint32_t bytes_len, width; /* width: of the text, as far as it counts for the column's */
};

struct profile_column {
	const struct key_def *def;
	const char *name;  /* in the profile's string pool */
	const char *title; /* in the profile's string pool */
	/* The field of a column that shows a field of one schema's events. */
	const struct sonde_field *field; /* NULL if the column shows no field, or after a merge */
	const char *event;               /* the schema's name; NULL if the column shows no field */
	uint32_t schema;
	uint32_t width; /* least width that perf gives the column */
	bool is_raw;
	struct hash64 fields; /* id of bytes -> index in profile.field_values */
	/* index of its number in a combination; -1 if the number is a place */
	int raw_at;
	/*
	 * Number -> index in values. If the number is a place n, the hash key is 2n for the sampled
	 * place and 2n + 1 for the place of a frame.
	 */
	struct hash64 by_raw;
	VEC(struct profile_value) values; /* one per distinct number */
	VEC(uint32_t) by_id;              /* index of a value with this id */
};

enum {
	PROFILE_MODES = 6, /* indexed by sonde_event.cpumode */
	/* all fields of the events of a subsystem are keys if none are asked for */
	PROFILE_MAX_COLUMNS = 512,
	PROFILE_MAX_LATE_COLUMN = 64 /* for profile_row.compared_keys */
};
#define PROFILE_DEFAULT_KEYS "comm,dso,sym"
#define PROFILE_ROOT         UINT32_MAX /* no place, or no path */

struct profile_counts {
	uint64_t weights[PROFILE_WEIGHTS]; /* sums for weight= */
	uint64_t samples;
	uint64_t period[PROFILE_MODES];
	uint64_t first_ns, last_ns; /* SONDE_NO_TIME if no sample has a time */
	uint64_t first;             /* number of its first sample among all samples */
	uint64_t task;              /* task of the first sample */
	bool is_filtered;           /* the first sample is filtered */
	/* sums are int64_t: the profile is a difference; see counts_any() */
	bool is_signed;
};

/* The counts of a cell, of which there may be as many as samples. counts_of_cell() expands them. */
struct cell_counts {
	uint64_t samples, period;
	uint64_t first_ns, last_ns;
	uint64_t task;
	uint64_t first : 62;
	uint64_t is_filtered : 1;
	uint64_t is_signed : 1;
};

/* A file, or the kernel. */
struct profile_dso {
	const char *short_name, *long_name;
	uint64_t order; /* see places_dso_order() */
};

/* An address. Names are in the profile's string pool. */
struct profile_place {
	uint64_t ip, dso_addr, sym_start, sym_end, sym_off, map_bytes;
	const char *sym, *file;
	uint32_t dso; /* number + 1; 0 if none */
	uint32_t line, unknown;
	uint8_t cpumode, binding;
	bool is_inlined;
	bool is_parent, is_ignored; /* parent= or ignore-callees= matches sym */
	bool is_object;             /* the symbol is a variable */
	bool is_unwound_line;       /* `line` is that of a frame of a copied stack */
};

/* A cache line of data. */
struct profile_cache_line {
	uint64_t address; /* its start, like profile_place.dso_addr */
	uint64_t inode;   /* file of the mapping, with its device; 0 if there is none */
	uint32_t major, minor;
	int32_t pid;    /* process of memory without a file; else 0 */
	uint32_t place; /* the first one in it */
	bool has_map;
	bool is_data; /* shared and not executable, with a file */
};

struct profile_task {
	uint64_t id;
	int32_t pid, tid;
	uint32_t comm; /* last one seen */
};

struct profile_row {
	struct profile_counts self, all; /* `all` includes children */
	uint32_t max_depth;
	uint32_t place;
	uint32_t combination; /* of its first sample; of the leader's first, if it has one */
	uint64_t merged;
	size_t members_at; /* index in member_counts */
	bool has_tree, is_filtered;
	bool is_of_leader; /* place and combination are of a sample of the group's leader */
	/* bit per key of which perf makes the text when it compares rows: compared with another */
	uint64_t compared_keys;
};

struct profile_member {
	const char *name;
	uint32_t schema;
	bool is_tracepoint;
	struct profile_counts sum, shown;
};

/* A cell whose path is in a row. */
struct profile_meeting {
	uint32_t cell;
	uint32_t from; /* index of the frame in the path at which the row's part begins */
};

/* A group of event types, from the recording or from groups=all. */
struct profile_group {
	const char *name;
	uint32_t first_member, nr_members; /* in profile.group_members */
};

struct profile_table {
	/* for a group: the leader's name and the sums of all members */
	struct profile_member own;
	const char *group;                 /* NULL if the table is not of a group */
	uint32_t first_member, nr_members; /* in profile.members */
	uint32_t first_row;                /* in profile.rows, in merge order */
	uint32_t nr_rows;
	uint32_t *order;               /* nr_rows entries, in the order of the last sort */
	uint32_t first_path, nr_paths; /* in profile.paths */
};

/* An entry of a branch stack. */
struct profile_branch {
	uint32_t from, to; /* places */
	uint64_t prediction, in_tx, aborts, cycles;
};

/* A node of the row's call tree that is being shown. */
struct profile_tree_node {
	uint32_t frames_at, nr_frames; /* in call_paths.frames */
	uint32_t parent, child, next;
	uint32_t items_at, nr_items; /* while the tree is made: its paths that continue */
	uint64_t hit_period, hit_samples, period, samples;
	uint32_t sums_at; /* in history.tree: the branches of its frames */
};

/* The chain of the last sample that has one. */
struct borrowed_chain {
	uint32_t path; /* PROFILE_ROOT if none */
	int32_t pid, tid;
	uint32_t mode; /* of the sample that borrowed last */
	uint32_t made; /* the path for this mode; PROFILE_ROOT if not made yet */
};

struct profile {
	struct profile_options opts;
	const struct rules *rules; /* of the session that was added last */
	struct strpool strings;
	VEC(struct profile_column) columns;
	unsigned nr_raws;                /* numbers in a combination, not counting the table */
	struct profile_filters *filters; /* owned; marks.c */
	bool has_dso;                    /* `dso` is one of the keys */
	bool has_inlined;                /* there are inlined functions */
	bool has_parent;                 /* `parent` is one of the keys */
	bool needs_sample;               /* a key is a value of struct sonde_sample */
	bool is_simple; /* the keys are about comm and place only: recent_cells is used */
	bool is_bound;  /* the columns that are fields have been looked up */
	bool needs_place, needs_paths, needs_lines;
	bool is_finished;
	bool ipc_is_zero;  /* of functions; with perf's rule */
	bool chain_is_cut; /* the chain of the current sample is incomplete */
	/* place + 1 of the function that parent= names in the current sample's chain; 0 if none */
	uint64_t chain_parent;
	struct profile_branch branch; /* the entry that is being added; for branches=1 */

	/* ---- the pass ---- */
	const struct recordings *session; /* the session of the last event */
	uint64_t session_nr;
	/* Indexed by id in the session's string pool: own id + 1; 0 if unknown. */
	VEC(uint32_t) own_strings;
	VEC(uint32_t) own_dsos;   /* indexed by the session's dso_id: number + 1 */
	VEC(uint32_t) own_tables; /* indexed by schema id: number + 1 */
	VEC(struct profile_dso) dsos;
	VEC(struct profile_task) tasks;
	VEC(struct profile_field_value) field_values;
	VEC(struct profile_cache_line) cache_lines; /* memory.c */
	struct wordset line_keys;
	struct outbuf text; /* a text that is being made */
	struct hash64 tasks_by_id;
	struct hash64 last_comm_widths; /* task id -> length of its last name; last_comms.c */
	struct hash64 first_names;      /* ":TID" -> the task's name, ids of texts; last_comms.c */
	struct wordset combinations;    /* table, numbers */
	struct wordset places;          /* see places.c */
	VEC(struct profile_place) place_list;
	struct recent_cell *recent_cells; /* owned; collect.c */
	struct recent_place *recent;      /* owned; places.c */
	struct borrowed_chain borrowed;   /* the last chain, for samples without one; chains.c */
	/* In the order of call trees: the outermost caller first if callgraph=caller. */
	struct pathset call_paths;
	struct wordset cells;             /* combination << 32 | place + 1; see cell_word() */
	VEC(struct cell_counts) counts;   /* of each cell */
	VEC(uint64_t) cell_weights;       /* PROFILE_WEIGHTS of each cell; empty without weight= */
	VEC(uint32_t) frames;             /* places of the current path */
	struct weights *weights;          /* owned; weights.c; NULL if there are none */
	struct reads *read_counters;      /* owned; reads.c; NULL if there are none */
	struct blocks *blocks;            /* owned; blocks.c; NULL without blocks=1 */
	struct branch_types branch_types; /* of all branches; for branches=1 */
	VEC(struct sonde_branch) first_branches; /* of each cell, with perf's rule */
	struct history *history; /* owned; history.c; NULL without branch-history=1 */
	struct merged *merged; /* owned; merge.c; NULL unless profiles were merged into this one */
	VEC(struct profile_member) events; /* indexed by table number while samples are added */
	VEC(struct profile_group) groups;
	VEC(struct profile_member) group_members;
	struct sonde_profile_facts facts;

	/* ---- the result ---- */
	VEC(struct profile_table) tables;
	VEC(struct profile_member) members; /* members of all tables */
	/* indexed by number in `events`: index in tables, ... */
	VEC(uint32_t) table_of;
	VEC(uint32_t) member_of; /* ... and among its members */
	/* Counts of rows of groups: self and all of each member except the leader. */
	VEC(struct profile_counts) member_counts;
	VEC(struct profile_row) rows;
	struct wordset row_values; /* key: table, ids of values; its number is the row's number */
	VEC(uint32_t) cell_rows;   /* the row of each cell */
	/*
	 * The cells of each row, and the frames at which their paths meet the row; made for the
	 * first tree.
	 */
	struct profile_meeting *meetings; /* owned */
	/* owned; indexed by row, with an entry after the last row */
	uint64_t *first_meeting;
	/* cells of each table, in the order of their first samples */
	VEC(uint32_t) paths;
	VEC(uint32_t) place_class; /* indexed by place: equal numbers for equal frames */

	/* ---- the tree borrowed last ---- */
	VEC(struct profile_tree_node) tree; /* [0] is above the roots */
};

static inline uint32_t high_half(uint64_t v)
{
	return (uint32_t)(v >> 32);
}

static inline uint64_t two_halves(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static inline uint32_t cell_event(const struct profile *p, uint32_t cell)
{
	const uint32_t combination = high_half(wordset_key(&p->cells, cell)[0]);

	return (uint32_t)wordset_key(&p->combinations, combination)[0];
}

/* The counts of a group's member in a row. */
static inline struct profile_counts *row_counts(struct profile *p, struct profile_row *row,
						uint32_t member, bool all)
{
	if (!member)
		return all ? &row->all : &row->self;
	return &p->member_counts.v[row->members_at + 2 * (member - 1ul) + all];
}

static inline uint32_t cell_combination(const struct profile *p, uint32_t cell)
{
	return high_half(wordset_key(&p->cells, cell)[0]);
}

/* PROFILE_ROOT if the profile needs no places. */
static inline uint32_t cell_place(const struct profile *p, uint32_t cell)
{
	return (uint32_t)wordset_key(&p->cells, cell)[0] - 1;
}

/* The second word of a key of cells: path, cpumode, and whether another sample had the path. */
static inline uint64_t cell_word(uint32_t path, uint32_t mode, bool is_borrowed)
{
	return (uint64_t)is_borrowed << 40 | (uint64_t)mode << 32 | path;
}

/* True if the path is that of another sample: it is not a path of the cell's own row. */
static inline bool cell_is_borrowed(const struct profile *p, uint32_t cell)
{
	return wordset_key(&p->cells, cell)[1] >> 40;
}

/* PROFILE_ROOT if the cell's samples have no path. */
static inline uint32_t cell_path(const struct profile *p, uint32_t cell)
{
	return (uint32_t)wordset_key(&p->cells, cell)[1];
}

static inline uint32_t cell_mode(const struct profile *p, uint32_t cell)
{
	return (uint8_t)(wordset_key(&p->cells, cell)[1] >> 32);
}

/* The frames of a cell's path, places + 1. Returns their number. */
static inline uint32_t cell_frames(const struct profile *p, uint32_t cell, const uint32_t **ret)
{
	const uint32_t path = cell_path(p, cell);

	if (path == PROFILE_ROOT)
		return 0;
	*ret = p->call_paths.frames.v + pathset_begin(&p->call_paths, path);
	return pathset_end(&p->call_paths, path) - pathset_begin(&p->call_paths, path);
}

static inline const struct profile_place *place_at(const struct profile *p, uint32_t place)
{
	return &p->place_list.v[place];
}

#endif
