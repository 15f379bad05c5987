/* SPDX-License-Identifier: MIT */
/*
 * Sonde and Sonde::Event: events for any Perl program.
 *
 * The bytes of an event are borrowed until the session advances. If the object still exists then,
 * it gets its own copy, and later questions are answered as of the event's time.
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

static void *session_object(pTHX_ SV *sv, enum object_class class, const char *method)
{
	void *p;

	if (!object_find(aTHX_ sv, class, &p))
		croak("%s: this is no %s", method, object_class_name(class));
	return p;
}

/* Opens a session, with lines behind its text form. Returns 0 or a negative errno. */
static int session_open(pTHX_ const struct session *s, const char *lines,
			struct sonde_session **ret)
{
	SV *text = sv_2mortal(Perl_newSVpvf(aTHX_ "%s%s", s->text, lines));

	return s->live ? sonde_live_session(live_handle(aTHX_ s->live), SvPVX(text), ret)
		       : sonde_session_open(ret, SvPVX(text), NULL);
}

static struct session *session_not_closed(pTHX_ SV *sv, const char *method)
{
	struct session *s = session_object(aTHX_ sv, OBJECT_SESSION, method);

	if (!s->text)
		croak("%s: the session is closed", method);
	return s;
}

struct session *session_of(pTHX_ SV *sv, const char *method)
{
	struct session *s = session_not_closed(aTHX_ sv, method);

	if (!s->s && session_open(aTHX_ s, "", &s->s) < 0) {
		s->s = NULL;
		croak("%s\n", sonde_error_text());
	}
	return s;
}

struct event *session_event_of(pTHX_ SV *sv, const char *method)
{
	struct event *e = session_object(aTHX_ sv, OBJECT_EVENT, method);

	if (!e || (!e->own && !e->of->s))
		croak("%s: the event's session is closed", method);
	return e;
}

void session_keep_lent(pTHX_ struct session *s)
{
	struct event *e = s->borrowed;

	if (!e)
		return;
	e->own = sonde_event_dup(e->ev);
	if (!e->own)
		croak("out of memory");
	e->ev = e->own;
	s->borrowed = NULL;
}

SV *session_lend(pTHX_ SV *session, struct session *s, const struct sonde_event *ev)
{
	struct event *e = calloc(1, sizeof(*e));

	if (!e)
		croak("out of memory");
	*e = (struct event){ .session = SvREFCNT_inc(SvRV(session)), .of = s, .ev = ev };
	s->borrowed = e;
	return object_new(aTHX_ e, OBJECT_EVENT);
}

/* Sonde->_open(TEXT[, LIVE[, IS_LATER]]): IS_LATER opens the session when it is first needed. */
SUB(session_open_xs)
{
	dXSARGS;
	const char *text;
	struct session *s;
	SV *live;

	if (items < 2 || items > 4)
		croak_xs_usage(cv, "class, text, live, is_later");
	text = SvPVbyte_nolen(ST(1));
	live = items > 2 && SvOK(ST(2)) ? ST(2) : NULL;
	if (live)
		live_handle(aTHX_ live);
	s = calloc(1, sizeof(*s));
	if (!s || !(s->text = strdup(text))) {
		free(s);
		croak("out of memory");
	}
	s->live = live ? newSVsv(live) : NULL;
	s->first_ns = s->last_ns = SONDE_NO_TIME;
	s->is_read_once = live || (items == 4 && SvTRUE(ST(3)));
	ST(0) = sv_2mortal(object_new(aTHX_ s, OBJECT_SESSION));
	if (items < 4 || !SvTRUE(ST(3)))
		session_of(aTHX_ ST(0), "open");
	XSRETURN(1);
}

/*
 * Sonde::_begin(SESSION, LINES): reads from the beginning, with these lines behind the text form.
 */
SUB(session_begin_xs)
{
	dXSARGS;
	struct sonde_session *opened;
	struct session *s;

	if (items != 2)
		croak_xs_usage(cv, "session, lines");
	s = session_not_closed(aTHX_ ST(0), "run");
	if (s->s && s->is_read_once)
		croak("%s\n", s->live ? "a live recording can be read only once: handle all "
					"events in one loop, or open the copy that "
					"record(output => FILE) makes"
				      : "a pipe can be read only once");
	session_keep_lent(aTHX_ s);
	if (session_open(aTHX_ s, SvPVbyte_nolen(ST(1)), &opened) < 0)
		croak("%s\n", sonde_error_text());
	sonde_session_close(s->s);
	s->s = opened;
	s->at = s->nr_batch = 0;
	s->first_ns = s->last_ns = SONDE_NO_TIME;
	XSRETURN_EMPTY;
}

SUB(session_next_xs)
{
	dXSARGS;
	const struct sonde_event *ev;
	struct session *s;
	int code;

	if (items != 1)
		croak_xs_usage(cv, "session");
	s = session_of(aTHX_ ST(0), "next");
	session_keep_lent(aTHX_ s);
	while (!(code = sonde_session_next_pending(s->s, &ev))) {
		code = sonde_session_fill(s->s);
		PERL_ASYNC_CHECK();
		if (code < 0)
			croak("%s\n", sonde_error_text());
		if (!code)
			XSRETURN_UNDEF;
	}
	if (code < 0)
		croak("%s\n", sonde_error_text());
	ST(0) = sv_2mortal(session_lend(aTHX_ ST(0), s, ev));
	XSRETURN(1);
}

static void session_close(pTHX_ struct session *s)
{
	if (!s->text)
		return;
	session_keep_lent(aTHX_ s);
	if (s->live)
		live_end(aTHX_ s->live);
	else
		sonde_session_close(s->s);
	SvREFCNT_dec(s->live);
	free(s->text);
	s->live = NULL;
	s->text = NULL;
	s->s = NULL;
}

SUB(session_close_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "session");
	session_close(aTHX_ session_object(aTHX_ ST(0), OBJECT_SESSION, "close"));
	XSRETURN_EMPTY;
}

void session_destroy(pTHX_ void *p)
{
	session_close(aTHX_ p);
}

/* The Sonde::Live of a live recording; undef if it is none, or closed. */
SUB(session_live_xs)
{
	dXSARGS;
	const struct session *s;

	if (items != 1)
		croak_xs_usage(cv, "session");
	s = session_object(aTHX_ ST(0), OBJECT_SESSION, "live");
	ST(0) = s->live ? sv_2mortal(newSVsv(s->live)) : &PL_sv_undef;
	XSRETURN(1);
}

SUB(session_info_xs)
{
	dXSARGS;
	const char *text;

	if (items != 2)
		croak_xs_usage(cv, "session, key");
	text = sonde_session_info(session_of(aTHX_ ST(0), "info")->s, SvPVbyte_nolen(ST(1)));
	ST(0) = text ? sv_2mortal(newSVpv(text, 0)) : &PL_sv_undef;
	XSRETURN(1);
}

SUB(session_defects_line_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "session");
	ST(0) = sv_2mortal(
		newSVpv(sonde_session_defects_line(session_of(aTHX_ ST(0), "defects_line")->s), 0));
	XSRETURN(1);
}

void event_destroy(pTHX_ void *p)
{
	struct event *e = p;

	if (e->of->borrowed == e)
		e->of->borrowed = NULL;
	sonde_event_free(e->own);
	SvREFCNT_dec(e->session);
	free(e);
}

enum event_member { NAME, SYSTEM, EVENT, KIND, TIME, CPU, PID, TID, COMM, TEXT, CALLCHAIN, FIELDS };

SV *session_field_value(pTHX_ const struct event *e, const struct sonde_field *f)
{
	SV *sv = newSV(0);

	value_set_field(aTHX_ sv, e->ev, f, sonde_rules_get(0));
	return sv;
}

static SV *session_all_fields(pTHX_ const struct event *e, const struct sonde_schema *sc)
{
	size_t nr;
	const struct sonde_field *f = sonde_schema_fields(sc, &nr);
	HV *hv = newHV();

	for (size_t i = 0; i < nr; i++)
		(void)hv_store(hv, f[i].name, (I32)strlen(f[i].name),
			       session_field_value(aTHX_ e, &f[i]), 0);
	return newRV_noinc((SV *)hv);
}

static SV *session_member(pTHX_ const struct event *e, enum event_member which)
{
	static const char *const kinds[] = { "tracepoint", "sample", "record", "defect" };
	struct sonde_session *s = sonde_event_session(e->ev);
	const struct sonde_schema *sc = sonde_event_schema(s, e->ev);
	const char *text;
	size_t len;
	SV *sv;

	switch (which) {
	case NAME:
		return newSVpv(sonde_schema_name(sc), 0);
	case SYSTEM:
		return newSVpv(sonde_schema_system(sc), 0);
	case EVENT:
		return newSVpv(sonde_schema_event(sc), 0);
	case KIND:
		return newSVpv(kinds[sonde_schema_kind(sc)], 0);
	case TIME:
		sv = newSV(0);
		if (e->ev->time_ns != SONDE_NO_TIME)
			value_set_u64(aTHX_ sv, e->ev->time_ns);
		return sv;
	case CPU:
		return newSViv(e->ev->cpu);
	case PID:
		return newSViv(e->ev->pid);
	case TID:
		return newSViv(e->ev->tid);
	case COMM:
		text = sonde_session_string(s, e->ev->comm);
		return newSVpv(text ? text : "", 0);
	case TEXT:
		text = sonde_event_text(e->ev, &len);
		return newSVpvn(text ? text : "", text ? len : 0);
	case CALLCHAIN:
		return value_callchain(aTHX_ e->ev);
	case FIELDS:
		return session_all_fields(aTHX_ e, sc);
	}
	return newSV(0);
}

SUB(event_member_xs)
{
	dXSARGS;
	dXSI32;

	if (items != 1)
		croak_xs_usage(cv, "event");
	ST(0) = sv_2mortal(session_member(aTHX_ session_event_of(aTHX_ ST(0), GvNAME(CvGV(cv))),
					  (enum event_member)ix));
	XSRETURN(1);
}

SUB(event_field_xs)
{
	dXSARGS;
	const struct sonde_field *f;
	struct event *e;

	if (items != 2)
		croak_xs_usage(cv, "event, name");
	e = session_event_of(aTHX_ ST(0), "field");
	f = sonde_schema_field(sonde_event_schema(sonde_event_session(e->ev), e->ev),
			       SvPV_nolen(ST(1)));
	ST(0) = f ? sv_2mortal(session_field_value(aTHX_ e, f)) : &PL_sv_undef;
	XSRETURN(1);
}

static const struct perl_sub event_members[] = {
	{ "Sonde::Event::name", event_member_xs, NAME },
	{ "Sonde::Event::system", event_member_xs, SYSTEM },
	{ "Sonde::Event::event", event_member_xs, EVENT },
	{ "Sonde::Event::kind", event_member_xs, KIND },
	{ "Sonde::Event::time", event_member_xs, TIME },
	{ "Sonde::Event::cpu", event_member_xs, CPU },
	{ "Sonde::Event::pid", event_member_xs, PID },
	{ "Sonde::Event::tid", event_member_xs, TID },
	{ "Sonde::Event::comm", event_member_xs, COMM },
	{ "Sonde::Event::text", event_member_xs, TEXT },
	{ "Sonde::Event::callchain", event_member_xs, CALLCHAIN },
	{ "Sonde::Event::fields", event_member_xs, FIELDS },
	{ 0 },
};

void session_boot(pTHX)
{
	static const struct perl_sub subs[] = {
		{ "Sonde::_open", session_open_xs, 0 },
		{ "Sonde::_begin", session_begin_xs, 0 },
		{ "Sonde::next", session_next_xs, 0 },
		{ "Sonde::close", session_close_xs, 0 },
		{ "Sonde::_live", session_live_xs, 0 },
		{ "Sonde::info", session_info_xs, 0 },
		{ "Sonde::defects_line", session_defects_line_xs, 0 },
		{ "Sonde::Event::field", event_field_xs, 0 },
		{ 0 },
	};

	object_add_subs(aTHX_ subs);
	object_add_subs(aTHX_ event_members);
}
