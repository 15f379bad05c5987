/* SPDX-License-Identifier: MIT */
/* The event type's part of a run, and the scalars that its subs are called with. */
#ifndef SONDE_PL_ARGS_H
#define SONDE_PL_ARGS_H

#include "plsonde.h"

/* The arguments of process_event(). */
enum { ARG_RECORD, ARG_ATTR, ARG_SAMPLE, ARG_RAW, NR_PROCESS_ARGS };

/* How one field of one event type becomes a scalar; what the loop looks at lies side by side. */
struct conv {
	const struct sonde_field *field;
	const struct sonde_rules *rules;
	uint32_t offset;
	enum { CONV_I32, CONV_U32, CONV_I64, CONV_U64, CONV_OTHER } kind;
};

struct slot {
	struct script_slot base;
	bool checked; /* its sub's parameters were looked at */
	GV *handler; /* "sched::sched_switch"; NULL unless a tracepoint whose name a sub can have */
	CV *sub;     /* that takes the event at hand, borrowed; NULL: process_event alone does */
	struct text_arg name; /* the same as a value */
	struct conv pid, *fields;
	bool pid_is_thread; /* the events have no field for it */
	size_t nr_fields, nr_args;
	uint32_t plain_bytes; /* a payload of so many holds all fields that are no CONV_OTHER */
	SV **args;            /* of the handler and of trace_unhandled */
	SV *process[NR_PROCESS_ARGS]; /* of process_event */
};

/*
 * Prepares the arguments of a tracepoint's handler. 0 or -ENOMEM; args_done() follows in any case.
 */
int args_init(pTHX_ struct run *r, struct slot *slot, const char *name);
void args_done(pTHX_ struct slot *slot);
/* For the event at hand: the arguments of a handler; of process_event. */
void args_fill(pTHX_ struct run *r, struct slot *slot);
void args_fill_process(pTHX_ struct run *r, struct slot *slot);
/* Frees the names of threads. */
void args_comms_done(pTHX_ struct run *r);

#endif
