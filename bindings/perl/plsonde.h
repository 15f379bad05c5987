/* SPDX-License-Identifier: MIT */
/*
 * The Perl extension `Sonde`:
 *
 *	boot.c     what Perl code may call; when the events' turn comes
 *	run.c      the event loop for perf scripts: next event -> its sub in the script -> call
 *	values.c   bytes -> scalars; call chains
 *	sample.c   the packed strings of process_event()
 *	session.c  Sonde and Sonde::Event: events for any program
 *
 * Perl's own state is passed on (pTHX); nothing is kept in global variables, so that several interpreters of one process
 * do not meet.
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

#include "prelude.h"
#include "sonde/sonde.h"

struct slot;

/* A perf script's run over a session; behind an object of the class Sonde::Run. */
struct run {
	struct sonde_session *s;
	enum sonde_compat compat;
	const struct sonde_event *ev;  /* whose sub is being called; NULL outside */
	struct slot **slots;           /* by schema id */
	size_t nr_slots, nr_refused;   /* slots that the session was told nobody wants */
	GV *unhandled, *process_event; /* main::trace_unhandled, main::process_event */
	GV *defines[4];                /* main::define_*, by enum sonde_define_kind */
	bool running;
};

/* run.c */
struct run *run_new(pTHX_ const char *text); /* NULL: sonde_error_text() tells */
void run_free(pTHX_ struct run *r);
int run_events(pTHX_ struct run *r); /* 0 or a negative errno; a sub that dies leaves it for good */
/* common_preempt_count and its like of the event at hand; 0 where there is none. */
IV run_common_field(const struct run *r, const char *name);

/* How one field of one event type becomes a scalar. */
struct conv {
	const struct sonde_field *field;
	enum { CONV_WORD, CONV_LONG, CONV_OTHER } kind; /* of 4, of 8 bytes */
	bool is_signed;
};

/* values.c: a field's value into a scalar. */
void conv_init(struct conv *c, const struct sonde_field *f, enum sonde_compat compat);
void value_set_field(pTHX_ SV *sv, const struct sonde_event *ev, const struct sonde_field *f,
		     enum sonde_compat compat);

/* A number into a scalar that held one before: nearly always. */
static inline void set_iv(pTHX_ SV *sv, IV value)
{
	if ((SvFLAGS(sv) & (SVTYPEMASK | SVf_THINKFIRST | SVf_IVisUV | SVs_RMG | SVs_GMG | SVs_SMG |
			    SVf_POK | SVf_NOK | SVf_ROK | SVf_IOK)) == (SVt_IV | SVf_IOK))
		SvIV_set(sv, value);
	else
		sv_setiv(sv, value);
}

static inline void value_set_u64(pTHX_ SV *sv, uint64_t value)
{
	if (value <= IV_MAX)
		set_iv(aTHX_ sv, (IV)value);
	else
		sv_setuv(sv, (UV)value);
}

/* conv_init()'s field: words of this machine's byte order that lie in the payload are nearly all. */
static inline void value_set(pTHX_ SV *sv, const struct conv *c, const struct sonde_event *ev,
			     enum sonde_compat compat)
{
	const uint32_t width = c->kind == CONV_WORD ? 4 : 8;

	if (c->kind == CONV_OTHER || (ev->flags & SONDE_EVENT_SWAPPED) ||
	    (uint64_t)c->field->offset + width > ev->bytes_len) {
		value_set_field(aTHX_ sv, ev, c->field, compat);
	} else if (c->kind == CONV_WORD) {
		uint32_t n;

		memcpy(&n, ev->bytes + c->field->offset, sizeof(n));
		set_iv(aTHX_ sv, c->is_signed ? (IV)(int32_t)n : (IV)n);
	} else {
		uint64_t n;

		memcpy(&n, ev->bytes + c->field->offset, sizeof(n));
		if (c->is_signed)
			set_iv(aTHX_ sv, (IV)n);
		else
			value_set_u64(aTHX_ sv, n);
	}
}

/* A new reference to the array of an event's call chain. */
SV *value_callchain(pTHX_ const struct sonde_event *ev);

/* sample.c: the strings behind process_event's second to fourth argument. */
void sample_set_attr(pTHX_ SV *sv, const struct sonde_schema *sc);
void sample_set_sample(pTHX_ SV *sv, const struct sonde_event *ev);

/* session.c */
void session_boot(pTHX);

#endif
