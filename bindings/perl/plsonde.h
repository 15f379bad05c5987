/* SPDX-License-Identifier: MIT */
/*
 * The Perl extension `Sonde`:
 *
 *	boot.c     what Perl code may call; when the events' turn comes
 *	run.c      the loop over a script's events (prelude/loop.h) with Perl's functions
 *	args.c     the arguments of an event's subs
 *	callback.c trace_defect
 *	params.c   which subs are older than the call chain
 *	values.c   bytes -> scalars; call chains
 *	sample.c   the packed strings of process_event()
 *	object.c   what objects of these classes are
 *	session.c  Sonde and Sonde::Event: events for any program
 *
 * Perl's own state is passed on (pTHX); nothing is kept in global variables, so that several
 * interpreters of one process do not meet.
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
 * A text that subs are often called with, as a scalar of a shared hash key: copies of it are cheap,
 * and as a key it need not be hashed. What a script does to it shows, because bytes of a shared key
 * are not changed where they lie.
 */
struct text_arg {
	SV *own;        /* never handed out, so that the key stays where it is; NULL: not set yet */
	SV *lent;       /* to subs */
	const char *at; /* the key's bytes */
};

#define COMM_ARGS 256

/* A perf script's run over a session; behind an object of the class Sonde::Run. */
struct run {
	struct script_run base;
	void *perl;                    /* the interpreter, of builds with several in a process */
	struct slot *due;              /* whose process_event is still due, for the event at hand */
	GV *unhandled, *process_event; /* main::trace_unhandled, main::process_event */
	GV *trace_defect;              /* main::trace_defect */
	GV *defines[4];                /* main::define_*, by enum sonde_define_kind */
	struct text_arg comms[COMM_ARGS]; /* of this text id modulo their number, kept in: */
	uint32_t comm_ids[COMM_ARGS];
	bool warned_of_shift; /* a sub older than the call chain was pointed out */
	bool running;
	bool is_live; /* events come while they are handled: output is shown before waiting */
};

/* object.c */
enum object_class { OBJECT_SESSION, OBJECT_EVENT, OBJECT_RUN };
const char *object_class_name(enum object_class class);
SV *object_new(pTHX_ void *p, enum object_class class); /* a reference to a blessed scalar */
/* false: sv is none of ours; *ret NULL: what it stood for was taken. */
bool object_find(pTHX_ SV *sv, enum object_class class, void **ret);
void *object_take(pTHX_ SV *sv,
		  enum object_class class); /* for DESTROY; NULL: none of ours, or taken before */

/*
 * What a glob holds; NULL: nothing. A sub that was only declared is none, unless its package makes
 * up for those (AUTOLOAD).
 */
static inline CV *sub_of(pTHX_ GV *gv)
{
	CV *cv = GvCV(gv);

	if (__builtin_expect(!cv || CvROOT(cv) || CvXSUB(cv), 1))
		return cv;
	return gv_autoload_pvn(GvSTASH(gv), GvNAME(gv), GvNAMELEN(gv), 0) ? cv : NULL;
}

/* run.c */
struct run *run_new(pTHX_ const char *text, bool is_live); /* NULL: sonde_error_text() tells */
void run_free(pTHX_ struct run *r);
bool run_has_met(const struct run *r, uint32_t id); /* an event of this schema came */
int run_events(pTHX_ struct run *r); /* 0 or a negative errno; a sub that dies leaves it for good */

/* callback.c: calls the sub of a callback. */
void callback_call(pTHX_ CV *cv, const struct prelude_callback *cb,
		   const struct prelude_record_value *values);

/*
 * params.c: the first parameter that gets another one's value; NULL if the sub knows of the call
 * chain.
 */
const char *params_shifted(pTHX_ const CV *cv, const struct sonde_schema *sc);

/* values.c: a field's value into a scalar. */
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

/* sample.c: the strings that are process_event's first to third argument. */
void sample_set_record(pTHX_ SV *sv, const struct sonde_event *ev);
void sample_set_attr(pTHX_ SV *sv, const struct sonde_schema *sc);
void sample_set_sample(pTHX_ SV *sv, const struct sonde_event *ev);

/* session.c */
void session_boot(pTHX);

#endif
