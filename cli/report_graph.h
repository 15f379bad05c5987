/* SPDX-License-Identifier: MIT */
/*
 * Draws the call tree of one row of `sonde report`.
 *
 *	            |
 *	            ---leaf
 *	               |
 *	               |--51.11%--c
 *	               |          main
 *	               |
 *	                --26.11%--main
 *
 * A tree has one node per frame. Frames without a branch and without a chain that ends in between
 * are drawn as one run.
 */
#ifndef SONDE_CLI_REPORT_GRAPH_H
#define SONDE_CLI_REPORT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum report_graph_kind {
	REPORT_GRAPH,   /* percents of the event's total */
	REPORT_FLAT,    /* a block of lines per chain */
	REPORT_FRACTAL, /* percents of the parent */
	REPORT_FOLDED,  /* a line per chain */
	REPORT_NO_GRAPH
};

/* The value that is printed for a node. */
enum report_graph_value { REPORT_PERCENT, REPORT_PERIOD, REPORT_COUNT };

/* The key that decides whether two frames are equal. */
enum report_graph_key { REPORT_BY_FUNCTION, REPORT_BY_ADDRESS, REPORT_BY_SRCLINE };

struct report_call;
/* A frame of a call tree. */
struct report_call {
	const char *name;                    /* borrowed; complete text of the frame */
	const char *note;                    /* borrowed; text after it in trees; NULL for none */
	uint64_t hit, hit_count;             /* period and samples whose chain ends here */
	uint64_t cumul, cumul_count;         /* the same with all frames below */
	struct report_call *children, *next; /* in the order of ties, largest dso id first */
	const struct report_call *parent;    /* NULL for a root */
	bool is_marker;                      /* a context marker, which REPORT_FLAT skips */
};

struct report_graph {
	enum report_graph_kind kind;
	enum report_graph_value value;
	double min_percent;
	uint32_t print_limit;  /* most entries of each list of siblings; 0 if unlimited */
	const char *separator; /* separator of folded chains; NULL for ';' */
	bool in_color;
	uint64_t total;         /* period of the event; smaller branches are left out */
	uint64_t percent_total; /* percents are of this period; 0: of total */
};

/* The row that the tree belongs to. */
struct report_graph_row {
	struct report_call *roots; /* linked by next */
	uint64_t value;            /* period of the row, with children if they are shown */
	bool omits_first;          /* the first frame is the row's own symbol */
	unsigned int margin;       /* blanks before each line, in addition to the usual 12 */
};

/* The smallest period for which a node's callees are shown; 0 if that depends on the node. */
uint64_t report_graph_least(const struct report_graph *g);
/* Prints nothing for an empty tree. Returns 0 on success, -ENOMEM if there is no memory. */
int report_graph_print(FILE *out, const struct report_graph *g, const struct report_graph_row *row);

/*
 * Prints a percentage as `fmt` ("%.2f%%", "%*.2f%%" with width >= 0) with perf's colours: red from
 * 5 %, green from 0.5 %.
 */
void report_percent_print(FILE *out, bool in_color, int width, double percent);

#endif
