/* SPDX-License-Identifier: MIT */
/*
 * The lines of trace-cmd report 3.1 with libtraceevent 1.7: a head, the name of the event, and its
 * text. Some events have a text of their own (handlers.c, graph.c); that of others is their print
 * format.
 */
#ifndef SONDE_SINKS_TRACECMD_TRACECMD_H
#define SONDE_SINKS_TRACECMD_TRACECMD_H

#include "base/hash.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "model/schema.h"
#include "model/value.h"
#include "recording/recording.h"
#include "sinks/fd_writer.h"
#include "sinks/sink.h"
#include "sinks/tracecmd/symbols.h"
#include "sources/tracedat/view.h"

enum { TRACECMD_MOST_FIELDS = 8, TRACECMD_WHO = 64, TRACECMD_WHO_BYTES = 40 };

struct tracecmd_sink;
struct tracecmd_type;

/*
 * Writes the text of an event. False if the event's print format is its text; nothing is written
 * then, except what belongs in front of it.
 */
typedef bool tracecmd_text_fn(struct tracecmd_sink *s, const struct tracecmd_type *type,
			      const struct event *ev, struct outbuf *out);

/* An event with a text of its own. */
struct tracecmd_handler {
	const char *system, *event;
	tracecmd_text_fn *text;
	const char *fields[TRACECMD_MOST_FIELDS]; /* a ? in front: may be missing */
};

/* An event type. */
struct tracecmd_type {
	const struct tracecmd_handler *handler;                 /* NULL: the print format is used */
	const struct sonde_field *fields[TRACECMD_MOST_FIELDS]; /* the handler's */
	const struct sonde_field *flags, *preempt, *migrate, *lock_depth;
	char *head; /* owned: "NAME:" with the blanks that follow; NULL if it was not met */
	size_t head_len;
	struct printfmt *print; /* owned; made for the first event */
	bool print_tried;
};

/* The functions that a cpu is in, by their names: function events have no depth. */
struct tracecmd_stack {
	VEC(uint32_t) names; /* ids in the sink's string pool */
};

/* An entry of a function whose line waits for the next event of the same buffer. */
struct tracecmd_entry {
	bool is_waiting;
	const struct recording *recording;
	const char *buffer;
	int32_t pid;
	uint64_t func;
	unsigned depth;
	size_t at;             /* where its text belongs in the output */
	struct sonde_event ev; /* its place and time only */
};

/* "COMM-PID" with its blanks, as lines begin; the index is the lowest bits of the pid. */
struct tracecmd_who {
	int32_t pid;
	uint32_t len; /* 0 if it is not filled */
	char text[TRACECMD_WHO_BYTES];
};

/* A recording, and the names of its tasks. */
struct tracecmd_input {
	struct recording *rec;
	struct tracedat_source *view;            /* NULL for other inputs */
	const struct ftracetext_source *latency; /* NULL if it is no text in the latency format */
	bool has_plain_times;
	const char *name;                      /* of its file; NULL if it is the only input */
	struct tracecmd_who who[TRACECMD_WHO]; /* in front of the tables of names */
	struct hash64 learned;                 /* pid -> id in the sink's string pool */
	VEC(struct tracecmd_stack) stacks;     /* by cpu */
	struct source_kallsyms kallsyms;       /* contains the names of the symbols */
	struct tracecmd_symbols symbols;
	bool symbols_tried;
	/* A line of losses was printed, and the next line has no prefix, as trace-cmd prints it. */
	bool has_no_prefix;
};

struct tracecmd_sink {
	struct sink base;
	struct fd_writer writer;
	struct recordings *recordings;
	struct strpool names;
	VEC(struct tracecmd_type) types;   /* indexed by schema id */
	VEC(struct tracecmd_input) inputs; /* indexed by recording */
	struct tracecmd_entry entry;
	struct recording *printing; /* of the event whose print format runs */
	unsigned prefix_width;
	bool has_ns, has_latency, has_raw_fields;
	bool on_terminal;
};

/* The number of the i-th field of the handler; 0 if the event has none. */
static inline uint64_t tracecmd_number(const struct tracecmd_type *type, unsigned i,
				       const struct event *ev)
{
	const struct sonde_field *f = type->fields[i];

	return f ? field_number(f, ev->pub.bytes, ev->pub.bytes_len,
				ev->pub.flags & SONDE_EVENT_SWAPPED)
		 : 0;
}

static inline int64_t tracecmd_signed(const struct tracecmd_type *type, unsigned i,
				      const struct event *ev)
{
	const struct sonde_field *f = type->fields[i];

	return f ? value_sign_extend(tracecmd_number(type, i, ev), f->width) : 0;
}

/* Writes the text of the i-th field, up to its NUL. */
void tracecmd_put_string(const struct tracecmd_type *type, unsigned i, const struct event *ev,
			 struct outbuf *out);

/*
 * The name of the kernel's function at an address, and the distance from its start. NULL if it is
 * unknown. Borrowed from the sink.
 */
const char *tracecmd_symbol(struct tracecmd_sink *s, const struct recording *rec, uint64_t addr,
			    uint64_t *ret_off);
/* The same as an id in the sink's string pool. False if it is unknown. */
bool tracecmd_symbol_id(struct tracecmd_sink *s, const struct recording *rec, uint64_t addr,
			uint32_t *ret_id, uint64_t *ret_off);

/* line.c */
void tracecmd_put_prefix(struct tracecmd_sink *s, struct tracecmd_input *in, const char *buffer,
			 struct outbuf *out);
/* Writes everything in front of the event's text. */
int tracecmd_put_head(struct tracecmd_sink *s, struct tracecmd_input *in,
		      struct tracecmd_type *type, const struct event *ev, struct outbuf *out);
/* Gives a task a name, unless it has one. */
int tracecmd_learn(struct tracecmd_sink *s, const struct event *ev, int32_t pid,
		   const struct tracecmd_type *type, unsigned comm);
const struct tracecmd_handler *tracecmd_handler_find(const char *system, const char *event);

/* latency.c */
void tracecmd_put_latency_head(struct tracecmd_sink *s, const struct tracecmd_input *in);
void tracecmd_put_latency_end(struct tracecmd_sink *s, const struct tracecmd_input *in);
/* Writes the lines of an event, or of losses, as the file has them. */
int tracecmd_put_latency(struct tracecmd_sink *s, const struct tracecmd_input *in,
			 const struct event *ev);

/* kvm.c */
tracecmd_text_fn tracecmd_kvm_exit_text, tracecmd_kvm_entry_text, tracecmd_kvm_insn_text;

/* graph.c */
tracecmd_text_fn tracecmd_function_text, tracecmd_entry_text, tracecmd_exit_text;
/* Ends the waiting of an entry. ev: the next event, NULL at the end. True if ev has no line. */
bool tracecmd_entry_end(struct tracecmd_sink *s, const struct event *ev);

#endif
