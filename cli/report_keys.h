/* SPDX-License-Identifier: MIT */
/*
 * The columns of a report and the sort order of its rows. They follow from -s, -F and the defaults,
 * by perf's rules.
 *
 *	sort	numeric columns, then keys; rows are merged by the keys and sorted by all
 *	output	the columns from left to right
 *
 * Names may be shortened, and case does not matter.
 */
#ifndef SONDE_CLI_REPORT_KEYS_H
#define SONDE_CLI_REPORT_KEYS_H

#include "report_table.h"

#include <sonde/sonde.h>

enum report_mode { REPORT_NORMAL, REPORT_BRANCH, REPORT_MEMORY };

enum report_key_kind {
	REPORT_KEY,        /* key of the profile, in all modes */
	REPORT_KEY_NUMBER, /* a numeric column */
	REPORT_KEY_BRANCH, /* key of the profile, for branch stacks */
	REPORT_KEY_MEMORY  /* key of the profile, with --mem-mode */
};

struct report_key {
	const char *name;
	const char *profile_name; /* key or column of sonde_profile_sort() */
	const char *title;        /* NULL for the profile's own title */
	enum report_key_kind kind;
	enum report_number number; /* only for REPORT_KEY_NUMBER */
	bool is_right;             /* text is aligned on the right */
	bool pads_last;            /* text is padded in the last column, too */
	bool is_fixed;             /* longer texts do not widen the column */
	bool is_uncut;             /* longer texts are not truncated to a width from -w */
	bool is_sum;               /* the value is multiplied by the row's samples */
	bool has_level;            /* the letter of its place is in front of the text */
};

struct report_item {
	const struct report_key *key; /* NULL if the name is a tracepoint's field */
	char *name;                   /* owned; as given */
	unsigned int level;           /* level of a hierarchy; items of one {} share it */
};

enum { REPORT_ITEMS = 128 };

struct report_items {
	struct report_item v[REPORT_ITEMS];
	size_t n;
};

/* Everything that determines the columns: options, and facts about the recording. */
struct report_keys_want {
	enum report_mode mode;
	const char *sort, *fields; /* -s, -F; NULL if not given */
	const char *default_sort;  /* in place of comm,dso,symbol; NULL for these */
	bool children, show_samples, show_period, show_cpu_utilization, has_guests;
	bool only_tracepoints, raw_trace;
	bool has_parent_regex; /* -p: parent is a key after the others */
	/*
	 * Stages of a pipeline: no processor but POWER measures them. perf of other machines leaves
	 * the keys out, wherever they are named.
	 */
	bool no_default_stages, no_stages;
	bool ignores_all_fields; /* trace_fields makes no column: no event has fields */
	/* perf adds the key ipc_null if the word symbol is in -s. */
	bool no_ipc;
	/*
	 * True if an event has the tracepoint field of this name. NULL if no event has such fields.
	 */
	bool (*is_field)(const void *ctx, const char *word);
	const void *ctx;
};

struct report_layout {
	struct report_items sort, output;
	char *keys;             /* owned; the complete value of -s */
	const char *shown_keys; /* for --mem-mode: the value that is printed */
};

/*
 * Returns 0, -ENOMEM, or -EINVAL for a wrong word. *ret_unknown is then that word, released with
 * free(); *ret_of is "sort" or "fields"; *ret_other_mode is true if the word is a key of another
 * mode.
 */
int report_layout_make(struct report_layout *l, const struct report_keys_want *want,
		       char **ret_unknown, const char **ret_of, bool *ret_other_mode);
/* True if rows are compared by a key of this name. */
bool report_layout_has(const struct report_layout *l, const char *name);
void report_layout_done(struct report_layout *l);

/* Returns the i-th name of a key, NULL after the last. */
const char *report_key_name(size_t i);

#endif
