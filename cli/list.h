/* SPDX-License-Identifier: MIT */
/*
 * The files of `sonde list`:
 *
 *	cmd_list.c		the options, and the loop over the classes of events
 *	list_words.c		decides which events a word selects
 *	list_put.c		prints one event
 *	list_markers.c		prints the markers in programs
 *	list_sources.c		prints the event sources and their terms
 *	list_tracepoint.c	prints all about one tracepoint
 *	list_rate.c		counts how often events happen
 */
#ifndef SONDE_CLI_LIST_H
#define SONDE_CLI_LIST_H

#include "json.h"
#include "output_format.h"

#include <sonde/sonde.h>

/* Before what is known of an event. */
#define LIST_INDENT "        "

struct list_args {
	bool raw_dump, desc, long_desc, details, passed_over;
	const char *cpu_type; /* of a hybrid processor: "core" */
	const char *cpu;      /* libpfm's name of a processor */
	const char *rate;     /* seconds, NULL if not given */
	struct output_format format;
};

/* The events under one heading, in the order of printing. */
struct list_class {
	/* kind of sonde_list_events(); 0 if the words below describe the class */
	uint32_t kind;
	const char *words[3]; /* words that select it */
	const char *title, *perf_title;
	const char *fixed[4]; /* sonde's events; NULL-terminated */
	const char *perf_fixed[4];
	const char *descriptions[4]; /* of the events in fixed */
	bool is_form;                /* describes how to write an event; not listed for programs */
	bool has_sources;            /* the event sources follow its events */
	bool probes_only;            /* only those tracepoints that are probes */
	bool ours;                   /* perf does not have these words */
};

extern const struct list_class list_classes[];
extern const size_t list_nr_classes;

struct event_listing {
	const struct list_args *args;
	const struct list_class *class;
	char **words; /* none if everything is wanted */
	int nr_words;
	bool *found; /* for each word */
	bool unread; /* some events could not be listed; this was reported */
	const struct sonde_rules *rules;
	bool is_json;
	bool is_long;  /* prints all that is known of an event */
	size_t nr_put; /* events in the JSON array so far */
};

/* ---- list_words.c ---- */

/* True if the word is the name of a class, of this class. */
bool list_is_class_word(const struct event_listing *l, const char *word);
bool list_is_asked_by_name(const struct event_listing *l, const struct list_class *c,
			   const char *word);
/* True if an event of l->class is wanted. Notes the words that name it. */
bool list_is_asked_for(const struct event_listing *l, const char *name, const char *alias);
/* True if class c cannot have a match. */
bool list_is_left_out(const struct event_listing *l, const struct list_class *c);
/* True if a word names class c, or begins with a prefix that only its events have. */
bool list_is_wanted_alone(const struct event_listing *l, const struct list_class *c);

/* ---- list_put.c ---- */

/* Prints an event if it is asked for. */
void list_put(struct event_listing *l, const struct sonde_listed_event *e);
/* Prints an event; shown is the name in text. */
void list_put_as(struct event_listing *l, const struct sonde_listed_event *e, const char *shown);
/* Prints text behind an indent, wrapped at 80 columns; control characters are escaped. */
void list_put_wrapped(const char *indent, const char *text);

/* ---- list_rate.c ---- */

/* --rate: counts all events that the words select, and lists the busiest. Returns the status. */
int list_rates(struct cli *cli, struct event_listing *l);

/* ---- list_markers.c ---- */

/*
 * Prints the markers one behind the other: the text of a name that several files have includes the
 * file, so an event is printed when the next one is known.
 */
struct list_markers {
	struct event_listing *l;
	char *name, *file, *build_id, *description; /* owned; name is NULL if none is pending */
	bool is_ambiguous;                          /* the event before had the same name */
};

void list_markers_add(void *markers, const struct sonde_listed_event *e);
void list_markers_end(struct list_markers *m);

/* ---- list_sources.c ---- */

/*
 * Prints the sources that a word names, or all: lines, or elements of a JSON array. A negative
 * result is an error of the library.
 */
int list_put_sources(struct event_listing *l);

/* ---- list_tracepoint.c ---- */

#define LIST_TRACEPOINT_RANKS 6
/*
 * How much a field says about an event: LIST_TRACEPOINT_RANKS is a task's name, 1 an address, 0
 * nothing.
 */
int list_tracepoint_rank(const struct sonde_schema *sc, const struct sonde_field *f);
/* True if a word is the complete name of the event. */
bool list_tracepoint_is_named(const struct event_listing *l, const char *name);
/* Print what is known of a tracepoint: fields, flags, a filter, handlers, the line to record it. */
void list_put_tracepoint(struct event_listing *l, const char *name);
void list_put_tracepoint_json(struct event_listing *l, const char *name);

#endif
