/* SPDX-License-Identifier: MIT */
/* The options of `sonde report`. */
#ifndef SONDE_CLI_REPORT_OPTIONS_H
#define SONDE_CLI_REPORT_OPTIONS_H

#include "recording.h"
#include "report_graph.h"

struct report_args {
	struct reading_options rec; /* must be first: recording_set_key() */

	/* Keys and columns. */
	const char *sort, *fields;      /* -s, -F; NULL if not given */
	const char *default_sort;       /* in place of comm,dso,symbol; NULL if not configured */
	bool show_samples, show_period; /* -n, --show-total-period */
	bool show_cpu_utilization, hierarchy;
	const char *separator; /* -t */
	const char *widths;    /* -w */

	/* Call graphs. */
	struct report_graph graph; /* `total` is set for each event */
	bool graph_given, callers_first, order_given, no_call_graph, graph_branch;
	enum report_graph_key graph_key;
	bool no_children, children_given, show_ref_graph;
	bool counts_branches; /* the branches at each frame are printed */
	bool counts_as_perf;  /* --compat: perf's averages of them, and its titles with -q */
	const char *parent, *ignore_callees;
	bool exclude_other, full_source_path;

	/* Rows. */
	double percent_limit;
	bool percent_limit_given;
	bool is_relative;     /* --percentage relative */
	bool hide_unresolved; /* -U */
	const char *symbol_filter, *socket;
	const char *comms, *dsos, *symbols, *pids, *tids; /* lists of names */

	/* Events. */
	bool group, no_group, group_given, raw_trace, mem_mode, no_skip_empty;
	uint64_t group_sort;
	bool branch_stack, no_branch_stack, branch_history, total_cycles, stitch_lbr;

	/* Output. */
	bool quiet, header, header_only, in_color, ns, no_effect;
	bool stats, dump, tasks, mmaps; /* texts in place of tables: report_records.h */
	bool threads, threads_raw;      /* -T, --pretty raw */
	uint64_t time_quantum_ns;       /* 0 for the profile's default */
	const char *format, *weight;

	/* Accepted without an effect. */
	const char *ignored, *prefix, *prefix_strip;
	uint64_t samples_kept;

	char wrong[160]; /* a message about a wrong value that perf takes; "" if there is none */
};

extern const struct opt report_options[];

/* The setting that a word of -g changes. */
enum report_graph_word { GRAPH_WORD_KIND, GRAPH_WORD_ORDER, GRAPH_WORD_KEY, GRAPH_WORD_VALUE };

/* Applies a word of -g, which may be shortened. Returns false if no word of this sort matches. */
bool report_options_graph_word(struct report_args *a, enum report_graph_word sets,
			       const char *word);
/* Parses the value of -g. Returns false if it has an unknown word. */
bool report_options_parse_graph(struct report_args *a, const char *value);

#endif
