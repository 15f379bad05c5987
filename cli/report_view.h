/* SPDX-License-Identifier: MIT */
/* Makes the tables of a report out of a finished profile. */
#ifndef SONDE_CLI_REPORT_VIEW_H
#define SONDE_CLI_REPORT_VIEW_H

#include "report_keys.h"
#include "report_options.h"

/* Data that all tables of a report share. */
struct report_view {
	const struct report_args *args;
	const struct report_layout *layout;
	struct sonde_session *session;
	struct sonde_profile *profile;
	bool by_branch;  /* a row for each branch of a sample's branch stack */
	bool by_history; /* branches are frames of call chains */
	bool by_block;   /* blocks between branches are printed, not rows */
	bool children, has_graphs;
	size_t nr_events; /* events of the recording, with or without samples */
	uint32_t first_event;
	bool verbose;
	bool as_perf;         /* --compat */
	bool filters_first;   /* symbol_filter is for the first table only */
	bool filters_none;    /* symbol_filter and socket select nothing */
	bool hides_rows;      /* a filter that no level of the hierarchy answers */
	bool is_for_programs; /* texts are plain values: symbols without [k] or [.] */
	/* Prints a call tree; if NULL, report_graph_print() does. */
	int (*put_calls)(FILE *out, const struct report_call *first);
	unsigned int *fixed_widths; /* widths from -w, nr_fixed_widths of them; 0 for automatic */
	size_t nr_fixed_widths;
	double min_percent; /* rows with a smaller percentage are not printed */
};

/* Prints the rows of table `index`, with titles unless -q. Returns 0, or a negative errno. */
int report_view_print(FILE *out, struct report_view *v, uint32_t index);
/* Makes the rows of a table and calls print(), for other forms of output. Texts are not padded. */
int report_view_make(struct report_view *v, uint32_t index,
		     int (*print)(void *ctx, FILE *out, const struct report_table *t), void *ctx,
		     FILE *out);
/* True if the name of the symbol of row `n` has the word of --symbol-filter, or none is given. */
bool report_view_has_word(const struct report_view *v, uint32_t index, uint64_t n,
			  const struct sonde_profile_row *row);
/*
 * Finds the profile's keys of an item: the first of them, and their number. An item for fields of
 * tracepoints may have several keys, up to that of the next item.
 */
uint32_t report_view_find(const struct report_view *v, const struct report_item *it,
			  uint32_t *ret_first);

struct report_name {
	char text[256];
};
/* True if -c, -d or -S gives a single name, *ret, for a key: the key's column is not shown. */
bool report_view_elided(const struct report_args *a, const struct report_key *key,
			struct report_name *ret);
/* True if such columns are left out, which is not so if no column would remain. */
bool report_view_elides(const struct report_view *v);

#endif
