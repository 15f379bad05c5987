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
	bool checked; /* the parameters of its sub were checked */
	GV *handler;  /* glob "sched::sched_switch"; NULL if the event is no tracepoint */
	/* takes the current event, borrowed; NULL if only process_event does */
	CV *sub;
	struct text_arg name; /* the event's name as a scalar */
	struct conv pid, *fields;
	/* common_pid is the event's thread, because the events have no such field */
	bool pid_is_thread;
	size_t nr_fields, nr_args;
	/* A payload of this size contains all fields that are not CONV_OTHER. */
	uint32_t plain_bytes;
	SV **args;                    /* arguments of the handler and of trace_unhandled */
	SV *process[NR_PROCESS_ARGS]; /* arguments of process_event */
};

/*
 * Prepares the arguments of a tracepoint's handler. Returns 0 or -ENOMEM; the caller calls
 * args_done() in any case.
 */
int args_init(pTHX_ struct perl_run *r, struct slot *slot, const char *name);
void args_done(pTHX_ struct slot *slot);
/* Fill in the arguments for the current event: those of a handler, and those of process_event. */
void args_fill(pTHX_ struct perl_run *r, struct slot *slot);
void args_fill_process(pTHX_ struct perl_run *r, struct slot *slot);
/* Frees the kept names of threads. */
void args_comms_done(pTHX_ struct perl_run *r);

#endif
