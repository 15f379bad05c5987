/* SPDX-License-Identifier: MIT */
/* The slot of an event type, and the scalars that its subs are called with. */
#ifndef SONDE_PL_ARGS_H
#define SONDE_PL_ARGS_H

#include "plsonde.h"

/* The arguments of process_event(). */
enum { ARG_RECORD, ARG_ATTR, ARG_SAMPLE, ARG_RAW, NR_PROCESS_ARGS };

/* How one field of one event type becomes a scalar. Members that the loop reads are adjacent. */
struct conv {
	const struct sonde_field *field;
	const struct sonde_rules *rules;
	uint32_t offset;
	enum { CONV_I32, CONV_U32, CONV_I64, CONV_U64, CONV_OTHER } kind;
};

struct slot {
	struct script_slot base;
	bool checked;         /* the parameters of its sub were checked */
	GV *handler;          /* "sched::sched_switch"; NULL if it is no tracepoint */
	CV *sub;              /* takes the current event, borrowed; NULL: only process_event does */
	struct text_arg name; /* the same as a scalar */
	struct conv pid, *fields;
	bool pid_is_thread; /* the events have no field for it */
	size_t nr_fields, nr_args;
	/* a payload of this size contains all fields that are not CONV_OTHER */
	uint32_t plain_bytes;
	SV **args;                    /* of the handler and of trace_unhandled */
	SV *process[NR_PROCESS_ARGS]; /* of process_event */
};

/*
 * Prepares the arguments of a tracepoint's handler. Returns 0 or -ENOMEM; the caller calls
 * args_done() in any case.
 */
int args_init(pTHX_ struct perl_run *r, struct slot *slot, const char *name);
void args_done(pTHX_ struct slot *slot);
/* Fills in the arguments for the current event: of a handler; of process_event. */
void args_fill(pTHX_ struct perl_run *r, struct slot *slot);
void args_fill_process(pTHX_ struct perl_run *r, struct slot *slot);
/* Frees the kept names of threads. */
void args_comms_done(pTHX_ struct perl_run *r);

#endif
