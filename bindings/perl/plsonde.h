/* SPDX-License-Identifier: MIT */
/*
 * The Perl extension `Sonde`:
 *
 *	boot.c     functions for Perl code; the moment at which events are delivered
 *	run.c      the loop over a script's events (prelude/loop.h) with Perl's functions
 *	args.c     the arguments of an event's subs
 *	callback.c trace_defect
 *	params.c   recognises subs older than the call chain
 *	values.c   bytes -> scalars; call chains
 *	sample.c   the packed strings of process_event()
 *	object.c   the objects of these classes
 *	session.c  Sonde and Sonde::Event: events for any program
 *	live.c     Sonde::Live: what happens now
 *	program.c  the loop of a program of handlers: events, timers, conditions
 *	needs.c    Sonde::Needs: what such a program needs; names of events
 *	counts.c   Sonde::Counts: events counted in C
 *
 * perl's own state is passed as an argument (pTHX). There are no global variables, so several
 * interpreters in one process are independent.
 */
#ifndef SONDE_PLSONDE_H
#define SONDE_PLSONDE_H

#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>
#include <XSUB.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "prelude/loop.h"
#include "sonde/sonde.h"

struct slot;

/*
 * A text that subs often get, as a scalar with a shared hash key: it is cheap to copy, and perl
 * need not hash it when it is used as a key. A change by the script is detectable, because perl
 * never changes the bytes of a shared key in place.
 */
struct text_arg {
	/* never given to scripts, so that the key stays valid; NULL if not set yet */
	SV *own;
	SV *borrowed;   /* borrowed by subs */
	const char *at; /* the key's bytes */
};

#define COMM_ARGS 256

/* Begins a function that Perl code can call. */
#define SUB(name) \
	XS(name); \
	XS(name)

/* Such a function, by its complete name. ix: for functions with several names (dXSI32). */
struct perl_sub {
	const char *name;
	XSUBADDR_t function;
	I32 ix;
};

/* The run of a perf script over a session, as an object of the class Sonde::Run. */
struct perl_run {
	struct script_run base;
	void *perl; /* the interpreter, for builds with several in a process */
	/* The slot whose process_event is still to be called for the current event. */
	struct slot *due;
	GV *unhandled, *process_event;    /* main::trace_unhandled, main::process_event */
	GV *trace_defect;                 /* main::trace_defect */
	GV *defines[4];                   /* main::define_*, by enum sonde_define_kind */
	struct text_arg comms[COMM_ARGS]; /* both arrays: index is the text id modulo COMM_ARGS */
	uint32_t comm_ids[COMM_ARGS];
	bool warned_of_shift; /* a sub without the call chain parameter was reported */
	bool running;
	SV *live;     /* owned: the object whose session is read; NULL if there is none */
	bool is_live; /* events are handled while they occur: output is flushed before waiting */
};

/* object.c */
enum object_class {
	OBJECT_SESSION,
	OBJECT_EVENT,
	OBJECT_RUN,
	OBJECT_LIVE,
	OBJECT_COUNTS,
	OBJECT_FILTER,
	OBJECT_NEEDS,
	NR_OBJECT_CLASSES
};
const char *object_class_name(enum object_class class);
SV *object_new(pTHX_ void *p, enum object_class class); /* a reference to a blessed scalar */
/* Returns false if sv is not an object of this extension. *ret is NULL if its pointer was taken. */
bool object_find(pTHX_ SV *sv, enum object_class class, void **ret);
/* Gives Perl these functions; the last one has no name. */
void object_add_subs(pTHX_ const struct perl_sub *subs);
/* DESTROY and CLONE_SKIP of all classes. */
void object_boot(pTHX);
/* These free what objects point to. */
void session_destroy(pTHX_ void *p);
void event_destroy(pTHX_ void *p);
void run_destroy(pTHX_ void *p);
void live_destroy(pTHX_ void *p);
void counts_destroy(pTHX_ void *p);
void program_filter_destroy(pTHX_ void *p);
void needs_destroy(pTHX_ void *p);

/*
 * The sub of a glob; NULL if none. A sub that was only declared does not count, unless its package
 * handles calls of undefined subs (AUTOLOAD).
 */
static inline CV *sub_of(pTHX_ GV *gv)
{
	CV *cv = GvCV(gv);

	if (__builtin_expect(!cv || CvROOT(cv) || CvXSUB(cv), 1))
		return cv;
	return gv_autoload_pvn(GvSTASH(gv), GvNAME(gv), GvNAMELEN(gv), 0) ? cv : NULL;
}

/* run.c */
/*
 * live: the Sonde::Live that is read, or NULL for a session with inputs. NULL on failure;
 * sonde_error_text() says why.
 */
struct perl_run *run_new(pTHX_ const char *text, bool is_live, SV *live);
void run_free(pTHX_ struct perl_run *r);
/* true if an event of this schema was delivered */
bool run_has_met(const struct perl_run *r, uint32_t id);
/* Returns 0 or a negative errno; does not return if a sub dies. */
int run_events(pTHX_ struct perl_run *r);

/* callback.c: calls the sub of a callback. */
void callback_call(pTHX_ CV *cv, const struct prelude_callback *cb,
		   const struct prelude_record_value *values);

/*
 * In params.c: the first parameter that gets the value meant for another one; NULL if the sub has a
 * parameter for the call chain.
 */
const char *params_shifted(pTHX_ const CV *cv, const struct sonde_schema *sc);

/* values.c: stores a field's value in a scalar. */
void value_set_field(pTHX_ SV *sv, const struct sonde_event *ev, const struct sonde_field *f,
		     const struct sonde_rules *rules);

static inline void value_set_u64(pTHX_ SV *sv, uint64_t value)
{
	if (value <= IV_MAX)
		sv_setiv(sv, (IV)value);
	else
		sv_setuv(sv, (UV)value);
}

/* A new reference to the array of an event's call chain. */
SV *value_callchain(pTHX_ const struct sonde_event *ev);

/* In sample.c: set the first three arguments of process_event, as strings. */
void sample_set_record(pTHX_ SV *sv, const struct sonde_event *ev);
void sample_set_attr(pTHX_ SV *sv, const struct sonde_schema *sc);
void sample_set_sample(pTHX_ SV *sv, const struct sonde_event *ev);

/* session.c */
void session_boot(pTHX);

/* live.c: of an object of Sonde::Live */
struct sonde_live *live_handle(pTHX_ SV *sv); /* dies if it is closed */
void live_end(pTHX_ SV *sv);                  /* closes it, and its session */
void live_boot(pTHX);

/* program.c, counts.c, needs.c */
void program_boot(pTHX);
void counts_boot(pTHX);
void needs_boot(pTHX);

#endif
