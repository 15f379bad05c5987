/* SPDX-License-Identifier: MIT */
/*
 * What lib/Sonde/Program.pm needs of a session: its next event, or the next moment of a timer;
 * event types, conditions, and values by name.
 */
#include "session.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "prelude/wants.h"

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
XS(program_turn_xs);
XS(program_turn_xs)
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
XS(program_pour_xs);
XS(program_pour_xs)
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
XS(program_add_xs);
XS(program_add_xs)
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
XS(program_span_xs);
XS(program_span_xs)
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

XS(program_stop_xs);
XS(program_stop_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "session");
	sonde_session_stop(session_of(aTHX_ ST(0), "_stop")->s);
	XSRETURN_EMPTY;
}

/* Sonde::_lost(SESSION): (events that were lost so far, true if data were lost or damaged) */
XS(program_lost_xs);
XS(program_lost_xs)
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

XS(program_filters_line_xs);
XS(program_filters_line_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "session");
	ST(0) = sv_2mortal(newSVpv(
		sonde_session_filters_line(session_of(aTHX_ ST(0), "_filters_line")->s), 0));
	XSRETURN(1);
}

/* ---- event types ----------------------------------------------------------------------------- */

/* Values of a sample that handlers may ask for by name. */
static const struct {
	const char *name;
	unsigned bit; /* of sonde_sample.present */
	size_t offset;
} sampled[] = {
	{ "ip", 0, offsetof(struct sonde_sample, ip) },
	{ "addr", 3, offsetof(struct sonde_sample, addr) },
	{ "period", 8, offsetof(struct sonde_sample, period) },
	{ "weight", 14, offsetof(struct sonde_sample, weight) },
	{ "weight", 24, offsetof(struct sonde_sample, weight) },
	{ "data_src", 15, offsetof(struct sonde_sample, data_src) },
	{ "phys_addr", 19, offsetof(struct sonde_sample, phys_addr) },
};

#define NR_SAMPLED (sizeof(sampled) / sizeof(*sampled))

static SV *program_field_names(pTHX_ const struct sonde_schema *sc)
{
	size_t nr;
	const struct sonde_field *f = sonde_schema_fields(sc, &nr);
	AV *av = newAV();

	for (size_t i = 0; i < nr; i++)
		av_push(av, newSVpv(f[i].name, 0));
	return newRV_noinc((SV *)av);
}

/*
 * Sonde::_schemas(SESSION): [NAME, FIELDS, VALUES] of each event type, where FIELDS and VALUES of
 * its samples are arrays of names.
 */
XS(program_schemas_xs);
XS(program_schemas_xs)
{
	dXSARGS;
	struct sonde_session *s;

	if (items != 1)
		croak_xs_usage(cv, "session");
	s = session_of(aTHX_ ST(0), "_schemas")->s;
	SP -= items;
	for (uint32_t i = 0; i < sonde_session_schemas(s); i++) {
		const struct sonde_schema *sc = sonde_session_schema(s, i);
		const int kind = sonde_schema_kind(sc);
		AV *av, *values;

		if (kind != SONDE_TRACEPOINT && kind != SONDE_SAMPLE)
			continue;
		av = newAV();
		values = newAV();
		for (size_t j = 0; j < NR_SAMPLED; j++)
			if (sonde_schema_sampled(sc) >> sampled[j].bit & 1)
				av_push(values, newSVpv(sampled[j].name, 0));
		av_push(av, newSVpv(sonde_schema_name(sc), 0));
		av_push(av, program_field_names(aTHX_ sc));
		av_push(av, newRV_noinc((SV *)values));
		mXPUSHs(newRV_noinc((SV *)av));
	}
	PUTBACK;
}

/*
 * Sonde::_tracepoint(NAME): (0, names of its fields) if this machine has it; otherwise (-errno),
 * and Sonde::_error() says why.
 */
XS(program_tracepoint_xs);
XS(program_tracepoint_xs)
{
	dXSARGS;
	const struct sonde_schema *sc;
	struct sonde_tracepoint *t;
	int code;

	if (items != 1)
		croak_xs_usage(cv, "name");
	code = sonde_tracepoint_open(&t, SvPV_nolen(ST(0)));
	EXTEND(SP, 2);
	ST(0) = sv_2mortal(newSViv(code < 0 ? code : 0));
	if (code < 0)
		XSRETURN(1);
	sc = sonde_tracepoint_schema(t);
	ST(1) = sv_2mortal(program_field_names(aTHX_ sc));
	sonde_tracepoint_close(t);
	XSRETURN(2);
}

/* Sonde::_tracepoints(): the names of the kernel's tracepoints, if this user may read them. */
XS(program_tracepoints_xs);
XS(program_tracepoints_xs)
{
	dXSARGS;
	char **names;

	if (items)
		croak_xs_usage(cv, "");
	names = prelude_tracepoints();
	if (!names)
		croak("out of memory");
	SP -= items;
	for (size_t i = 0; names[i]; i++)
		mXPUSHp(names[i], strlen(names[i]));
	prelude_tracepoints_free(names);
	PUTBACK;
}

/* Sonde::Program::is_pair(NAME), is_glob(NAME), is_tracepoint(NAME) */
XS(program_is_xs);
XS(program_is_xs)
{
	static bool (*const is[])(const char *name) = { prelude_is_pair, prelude_is_glob,
							prelude_is_tracepoint };
	dXSARGS;
	dXSI32;

	if (items != 1)
		croak_xs_usage(cv, "name");
	ST(0) = boolSV(is[ix](SvPV_nolen(ST(0))));
	XSRETURN(1);
}

/* Sonde::Program::is_like(PATTERN, NAME) */
XS(program_is_like_xs);
XS(program_is_like_xs)
{
	dXSARGS;

	if (items != 2)
		croak_xs_usage(cv, "pattern, name");
	ST(0) = boolSV(prelude_is_like(SvPV_nolen(ST(0)), SvPV_nolen(ST(1))));
	XSRETURN(1);
}

static int program_add_want(pTHX_ struct prelude_wants *w, SV *sv)
{
	AV *av = SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVAV ? (AV *)SvRV(sv) : NULL;
	SV **name = av ? av_fetch(av, 0, 0) : NULL, **condition = av ? av_fetch(av, 1, 0) : NULL;

	return name ? prelude_wants_add(w, SvPV_nolen(*name),
					condition && SvOK(*condition) ? SvPV_nolen(*condition)
								      : NULL)
		    : -1;
}

/* Sonde::_wants([NAME, CONDITION], ...): the same with each event once. */
XS(program_wants_xs);
XS(program_wants_xs)
{
	dXSARGS;
	struct prelude_wants *w = prelude_wants_new();
	const struct prelude_want *want;
	int r = w ? 0 : -1;

	for (I32 i = 0; !r && i < items; i++)
		r = program_add_want(aTHX_ w, ST(i));
	if (r < 0 || prelude_wants_merge(w) < 0) {
		prelude_wants_free(w);
		croak("out of memory");
	}
	SP -= items;
	for (size_t i = 0; (want = prelude_wants_at(w, i)); i++) {
		AV *av = newAV();

		av_push(av, newSVpv(want->name, 0));
		av_push(av, want->condition ? newSVpv(want->condition, 0) : newSV(0));
		mXPUSHs(newRV_noinc((SV *)av));
	}
	prelude_wants_free(w);
	PUTBACK;
}

static void program_add_listed(void *list, const struct sonde_listed_event *e)
{
	dTHX;

	av_push(list, newSVpv(e->name, 0));
	if (e->alias)
		av_push(list, newSVpv(e->alias, 0));
}

/* Sonde::_listed(IS_HARDWARE): names of the hardware or software events that this machine has. */
XS(program_listed_xs);
XS(program_listed_xs)
{
	dXSARGS;
	struct sonde_list_options o = { .size = sizeof(o) };
	AV *list;

	if (items != 1)
		croak_xs_usage(cv, "is_hardware");
	o.kinds = SvTRUE(ST(0)) ? SONDE_EVENT_HARDWARE : SONDE_EVENT_SOFTWARE;
	list = (AV *)sv_2mortal((SV *)newAV());
	if (sonde_list_events(&o, program_add_listed, list) < 0)
		croak("%s\n", sonde_error_text());
	SP -= items;
	for (SSize_t i = 0; i <= av_len(list); i++)
		XPUSHs(sv_2mortal(newSVsv(*av_fetch(list, i, 0))));
	PUTBACK;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Sonde::_filter(SESSION, TEXT): (filter), or (undef, -errno) */
XS(program_filter_xs);
XS(program_filter_xs)
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
XS(program_matches_xs);
XS(program_matches_xs)
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

XS(program_filter_destroy_xs);
XS(program_filter_destroy_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "filter");
	sonde_filter_free(object_take(aTHX_ ST(0), OBJECT_FILTER));
	XSRETURN_EMPTY;
}

/* Sonde::_where_fields(TEXT): what the comparisons are about, after an undef for a wrong text. */
XS(program_where_fields_xs);
XS(program_where_fields_xs)
{
	dXSARGS;
	struct sonde_filter *f;
	const char *name;

	if (items != 1)
		croak_xs_usage(cv, "text");
	if (sonde_filter_new(&f, NULL, SvPV_nolen(ST(0))) < 0)
		XSRETURN_UNDEF;
	SP -= items;
	for (size_t i = 0; (name = sonde_filter_field(f, i)); i++)
		mXPUSHp(name, strlen(name));
	sonde_filter_free(f);
	PUTBACK;
}

/* ---- events ---------------------------------------------------------------------------------- */

static SV *program_sampled(pTHX_ const struct event *e, const char *name)
{
	struct sonde_sample sample = { .size = sizeof(sample) };
	SV *sv = newSV(0);

	if (sonde_event_sample(e->ev, &sample) < 0)
		return sv;
	for (size_t i = 0; i < NR_SAMPLED; i++)
		if (!strcmp(sampled[i].name, name) && sample.present >> sampled[i].bit & 1)
			value_set_u64(aTHX_ sv, *(const uint64_t *)((const char *)&sample +
								    sampled[i].offset));
	return sv;
}

/* $event->sampled(NAME): a value of the sample; undef if it was not recorded. */
XS(program_sampled_xs);
XS(program_sampled_xs)
{
	dXSARGS;

	if (items != 2)
		croak_xs_usage(cv, "event, name");
	ST(0) = sv_2mortal(
		program_sampled(aTHX_ session_event_of(aTHX_ ST(0), "sampled"), SvPV_nolen(ST(1))));
	XSRETURN(1);
}

/* Sonde::Event::_describe(EVENT): a line for messages */
XS(program_describe_xs);
XS(program_describe_xs)
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
	CvXSUBANY(newXS("Sonde::Program::is_pair", program_is_xs, __FILE__)).any_i32 = 0;
	CvXSUBANY(newXS("Sonde::Program::is_glob", program_is_xs, __FILE__)).any_i32 = 1;
	CvXSUBANY(newXS("Sonde::Program::is_tracepoint", program_is_xs, __FILE__)).any_i32 = 2;
	newXS("Sonde::Program::is_like", program_is_like_xs, __FILE__);
	newXS("Sonde::_tracepoints", program_tracepoints_xs, __FILE__);
	newXS("Sonde::_wants", program_wants_xs, __FILE__);
	newXS("Sonde::_turn", program_turn_xs, __FILE__);
	newXS("Sonde::_pour", program_pour_xs, __FILE__);
	newXS("Sonde::_add", program_add_xs, __FILE__);
	newXS("Sonde::_span", program_span_xs, __FILE__);
	newXS("Sonde::_stop", program_stop_xs, __FILE__);
	newXS("Sonde::_lost", program_lost_xs, __FILE__);
	newXS("Sonde::_filters_line", program_filters_line_xs, __FILE__);
	newXS("Sonde::_schemas", program_schemas_xs, __FILE__);
	newXS("Sonde::_tracepoint", program_tracepoint_xs, __FILE__);
	newXS("Sonde::_listed", program_listed_xs, __FILE__);
	newXS("Sonde::_filter", program_filter_xs, __FILE__);
	newXS("Sonde::_where_fields", program_where_fields_xs, __FILE__);
	newXS("Sonde::Filter::matches", program_matches_xs, __FILE__);
	newXS("Sonde::Filter::DESTROY", program_filter_destroy_xs, __FILE__);
	newXS("Sonde::Event::sampled", program_sampled_xs, __FILE__);
	newXS("Sonde::Event::_describe", program_describe_xs, __FILE__);
}
