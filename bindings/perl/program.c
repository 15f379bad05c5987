/* SPDX-License-Identifier: MIT */
/*
 * What lib/Sonde/Program.pm needs of a session: its next event, or the next moment of a timer;
 * event types, conditions, and values by name.
 */
#include "session.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "prelude/needs.h"

#define LOOK_NS 10000000 /* a call returns after so long if only unwanted records come */
#define BATCH   256

static uint64_t program_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- reading --------------------------------------------------------------------------------- */

/*
 * Has a batch read, if none is in memory. Returns 1 if there may be events, 0 at the end, -1 if
 * the caller should look at its timers.
 */
static int program_read_on(pTHX_ const struct session *s, uint64_t until_ns, uint64_t began_ns)
{
	const int code = sonde_session_fill_until(s->s, until_ns);

	PERL_ASYNC_CHECK();
	if (code < 0)
		croak("%s\n", sonde_error_text());
	if (!code)
		return 0;
	if (!sonde_session_pending(s->s) || program_clock_ns() - began_ns >= LOOK_NS)
		return -1;
	return 1;
}

/*
 * Sonde::_turn(SESSION, UNTIL_NS): the next event; 0 at the end; undef at the time UNTIL_NS of
 * CLOCK_MONOTONIC (0: never), and now and then.
 */
SUB(program_turn_xs)
{
	dXSARGS;
	const struct sonde_event *ev;
	uint64_t until_ns, began_ns = 0;
	struct session *s;
	int code, more;

	if (items != 2)
		croak_xs_usage(cv, "session, until_ns");
	s = session_of(aTHX_ ST(0), "_turn");
	until_ns = SvUV(ST(1));
	if (until_ns && program_clock_ns() >= until_ns)
		XSRETURN_UNDEF;
	session_keep_lent(aTHX_ s);
	while (!(code = sonde_session_next_pending(s->s, &ev))) {
		began_ns = began_ns ? began_ns : program_clock_ns();
		more = program_read_on(aTHX_ s, until_ns, began_ns);
		if (more < 0)
			XSRETURN_UNDEF;
		if (!more) {
			/* One more defect may still be reported. */
			code = sonde_session_next(s->s, &ev);
			break;
		}
	}
	if (code < 0)
		croak("%s\n", sonde_error_text());
	ST(0) = code ? sv_2mortal(session_lend(aTHX_ ST(0), s, ev)) : sv_2mortal(newSViv(0));
	XSRETURN(1);
}

/* The number of events of the batch before the first one at `until` or later. */
static size_t program_before(const struct session *s, uint64_t until)
{
	size_t n = s->at;

	while (n < s->nr_batch &&
	       (s->batch[n]->time_ns == SONDE_NO_TIME || s->batch[n]->time_ns < until))
		n++;
	return n - s->at;
}

/* Returns as program_read_on(), after a batch was read. */
static int program_next_batch(pTHX_ struct session *s, uint64_t until_ns)
{
	const uint64_t began_ns = program_clock_ns();
	size_t nr = BATCH;
	int code, more = 1;

	s->at = s->nr_batch = 0;
	code = sonde_session_next_batch_pending(s->s, &s->batch, &nr);
	while (!code) {
		more = program_read_on(aTHX_ s, until_ns, began_ns);
		nr = BATCH;
		if (more < 0)
			return -1;
		if (!more) {
			code = sonde_session_next_batch(s->s, &s->batch, &nr);
			break;
		}
		code = sonde_session_next_batch_pending(s->s, &s->batch, &nr);
	}
	if (code < 0)
		croak("%s\n", sonde_error_text());
	s->nr_batch = code ? nr : 0;
	return code;
}

/*
 * Sonde::_pour(SESSION, COUNTS, UNTIL_NS, TIME_NS): adds events to all aggregations, as long as
 * there are some. Returns (0) at the end; () as _turn() returns undef; (1, TIME) before an event at
 * the time TIME, which is TIME_NS or later (undef: no such time).
 */
SUB(program_pour_xs)
{
	enum { MOST_BATCHES = 256 };
	dXSARGS;
	uint64_t until_ns, time_ns;
	struct session *s;
	int more = 1;

	if (items != 4)
		croak_xs_usage(cv, "session, counts, until_ns, time_ns");
	s = session_of(aTHX_ ST(0), "_pour");
	until_ns = SvUV(ST(2));
	time_ns = SvOK(ST(3)) ? SvUV(ST(3)) : SONDE_NO_TIME;
	session_keep_lent(aTHX_ s);
	for (int n = 0; n < MOST_BATCHES; n++) {
		size_t nr;

		if (s->at == s->nr_batch)
			more = program_next_batch(aTHX_ s, until_ns);
		if (more <= 0)
			break;
		nr = program_before(s, time_ns);
		counts_add(aTHX_ ST(1), s, s->batch + s->at, nr);
		s->at += nr;
		if (s->at < s->nr_batch) {
			EXTEND(SP, 2);
			ST(1) = sv_2mortal(newSVuv(s->batch[s->at]->time_ns));
			ST(0) = sv_2mortal(newSViv(1));
			XSRETURN(2);
		}
		if (until_ns && program_clock_ns() >= until_ns)
			break;
	}
	if (more)
		XSRETURN_EMPTY;
	ST(0) = sv_2mortal(newSViv(0));
	XSRETURN(1);
}

/* Sonde::_add(EVENT, COUNTS): the event that was read last. */
SUB(program_add_xs)
{
	dXSARGS;
	const struct event *e;

	if (items != 2)
		croak_xs_usage(cv, "event, counts");
	e = session_event_of(aTHX_ ST(0), "_add");
	counts_add(aTHX_ ST(1), e->of, &e->ev, 1);
	XSRETURN_EMPTY;
}

/* Sonde::_span(SESSION): (first, last) times of the counted events; undef if there are none. */
SUB(program_span_xs)
{
	dXSARGS;
	const struct session *s;

	if (items != 1)
		croak_xs_usage(cv, "session");
	s = session_of(aTHX_ ST(0), "_span");
	EXTEND(SP, 2);
	ST(0) = s->first_ns == SONDE_NO_TIME ? &PL_sv_undef : sv_2mortal(newSVuv(s->first_ns));
	ST(1) = s->last_ns == SONDE_NO_TIME ? &PL_sv_undef : sv_2mortal(newSVuv(s->last_ns));
	XSRETURN(2);
}

SUB(program_stop_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "session");
	sonde_session_stop(session_of(aTHX_ ST(0), "_stop")->s);
	XSRETURN_EMPTY;
}

/* Sonde::_lost(SESSION): (events that were lost so far, true if data were lost or damaged) */
SUB(program_lost_xs)
{
	dXSARGS;
	const struct sonde_defect *d;
	const struct session *s;
	bool is_loss = false;
	uint64_t lost = 0;

	if (items != 1)
		croak_xs_usage(cv, "session");
	s = session_of(aTHX_ ST(0), "_lost");
	for (size_t i = 0; (d = sonde_session_defect(s->s, i)); i++) {
		lost += strcmp(d->name, "lost-events") ? 0 : d->count;
		is_loss |= d->severity != SONDE_INFO;
	}
	EXTEND(SP, 2);
	ST(0) = sv_2mortal(newSVuv(lost));
	ST(1) = boolSV(is_loss);
	XSRETURN(2);
}

SUB(program_filters_line_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "session");
	ST(0) = sv_2mortal(newSVpv(
		sonde_session_filters_line(session_of(aTHX_ ST(0), "_filters_line")->s), 0));
	XSRETURN(1);
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Sonde::_filter(SESSION, TEXT): (filter), or (undef, -errno) */
SUB(program_filter_xs)
{
	dXSARGS;
	struct sonde_filter *f;
	int code;

	if (items != 2)
		croak_xs_usage(cv, "session, text");
	code = sonde_filter_new(&f, session_of(aTHX_ ST(0), "_filter")->s, SvPV_nolen(ST(1)));
	if (code < 0) {
		ST(0) = &PL_sv_undef;
		ST(1) = sv_2mortal(newSViv(code));
		XSRETURN(2);
	}
	ST(0) = sv_2mortal(object_new(aTHX_ f, OBJECT_FILTER));
	XSRETURN(1);
}

/* Sonde::Filter::matches(FILTER, EVENT, IS_NAMED) */
SUB(program_matches_xs)
{
	dXSARGS;
	void *f;
	int code;

	if (items != 3)
		croak_xs_usage(cv, "filter, event, is_named");
	if (!object_find(aTHX_ ST(0), OBJECT_FILTER, &f) || !f)
		croak("this is not a Sonde::Filter");
	code = sonde_filter_matches(f, session_event_of(aTHX_ ST(1), "matches")->ev, SvTRUE(ST(2)));
	if (code < 0)
		croak("%s\n", sonde_error_text());
	ST(0) = boolSV(code);
	XSRETURN(1);
}

void program_filter_destroy(pTHX_ void *p)
{
	sonde_filter_free(p);
}

/* ---- events ---------------------------------------------------------------------------------- */

static SV *program_sampled(pTHX_ const struct event *e, const char *name)
{
	struct sonde_sample sample = { .size = sizeof(sample) };
	SV *sv = newSV(0);

	if (sonde_event_sample(e->ev, &sample) < 0)
		return sv;
	for (const struct prelude_sampled *v = prelude_sampled; v->name; v++)
		if (!strcmp(v->name, name) && sample.present >> v->bit & 1)
			value_set_u64(aTHX_ sv,
				      *(const uint64_t *)((const char *)&sample + v->offset));
	return sv;
}

/* $event->sampled(NAME): a value of the sample; undef if it was not recorded. */
SUB(program_sampled_xs)
{
	dXSARGS;

	if (items != 2)
		croak_xs_usage(cv, "event, name");
	ST(0) = sv_2mortal(
		program_sampled(aTHX_ session_event_of(aTHX_ ST(0), "sampled"), SvPV_nolen(ST(1))));
	XSRETURN(1);
}

/* Sonde::Event::_describe(EVENT): a line for messages */
SUB(program_describe_xs)
{
	dXSARGS;
	const struct event *e;
	char line[4096];
	int len;

	if (items != 1)
		croak_xs_usage(cv, "event");
	e = session_event_of(aTHX_ ST(0), "_describe");
	len = prelude_describe(sonde_event_session(e->ev), e->ev, line, sizeof(line));
	ST(0) = sv_2mortal(newSVpvn(line, len < 0 ? 0 : (STRLEN)len));
	XSRETURN(1);
}

void program_boot(pTHX)
{
	static const struct perl_sub subs[] = {
		{ "Sonde::_turn", program_turn_xs, 0 },
		{ "Sonde::_pour", program_pour_xs, 0 },
		{ "Sonde::_add", program_add_xs, 0 },
		{ "Sonde::_span", program_span_xs, 0 },
		{ "Sonde::_stop", program_stop_xs, 0 },
		{ "Sonde::_lost", program_lost_xs, 0 },
		{ "Sonde::_filters_line", program_filters_line_xs, 0 },
		{ "Sonde::_filter", program_filter_xs, 0 },
		{ "Sonde::Filter::matches", program_matches_xs, 0 },
		{ "Sonde::Event::sampled", program_sampled_xs, 0 },
		{ "Sonde::Event::_describe", program_describe_xs, 0 },
		{ 0 },
	};

	object_add_subs(aTHX_ subs);
}
