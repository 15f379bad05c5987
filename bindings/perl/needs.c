/* SPDX-License-Identifier: MIT */
/* Sonde::Needs: what a program of handlers needs (prelude/needs.h). Names of events. */
#include "session.h"

#include <stdlib.h>

#include "prelude/needs.h"
#include "prelude/record_line.h"

static struct prelude_needs *needs_of(pTHX_ SV *sv)
{
	void *p;

	if (!object_find(aTHX_ sv, OBJECT_NEEDS, &p) || !p)
		croak("this is not a Sonde::Needs");
	return p;
}

static void needs_check(pTHX_ int code)
{
	if (code < 0)
		croak("%s\n", sonde_error_text());
}

/* Takes ownership of text; NULL: no memory. */
static SV *needs_owned_text(pTHX_ char *text)
{
	SV *sv;

	if (!text)
		croak("out of memory");
	sv = sv_2mortal(newSVpv(text, 0));
	free(text);
	return sv;
}

void needs_destroy(pTHX_ void *p)
{
	prelude_needs_free(p);
}

/* Sonde::_needs(WHAT, TEXT, ...) */
SUB(needs_new_xs)
{
	dXSARGS;
	struct prelude_needs *n = prelude_needs_new();
	SV *ret;

	if (!n)
		croak("out of memory");
	ret = sv_2mortal(object_new(aTHX_ n, OBJECT_NEEDS));
	for (I32 i = 0; i + 1 < items; i += 2)
		needs_check(aTHX_ prelude_needs_put(n, SvPV_nolen(ST(i)), SvPV_nolen(ST(i + 1))));
	EXTEND(SP, 1);
	ST(0) = ret;
	XSRETURN(1);
}

/* $needs->learn(SESSION) */
SUB(needs_learn_xs)
{
	dXSARGS;

	if (items != 2)
		croak_xs_usage(cv, "needs, session");
	needs_check(aTHX_ prelude_needs_learn(needs_of(aTHX_ ST(0)),
					      session_of(aTHX_ ST(1), "learn")->s));
	XSRETURN_EMPTY;
}

/* [NAME, CONDITION] of each event to record */
SUB(needs_wants_xs)
{
	dXSARGS;
	const struct prelude_want *want;
	struct prelude_wants *w;

	if (items != 1)
		croak_xs_usage(cv, "needs");
	needs_check(aTHX_ prelude_needs_wants(needs_of(aTHX_ ST(0)), &w));
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

/* With ix 0 lines of settings of the recorder, with ix 1 lines of the session. */
SUB(needs_text_xs)
{
	dXSARGS;
	dXSI32;
	const struct prelude_needs *n;

	if (items != 1)
		croak_xs_usage(cv, "needs");
	n = needs_of(aTHX_ ST(0));
	ST(0) = needs_owned_text(aTHX_ ix ? prelude_needs_lines(n) : prelude_needs_settings(n));
	XSRETURN(1);
}

/* (what is wrong or undef, true if this user may read what tracepoints have) */
SUB(needs_check_events_xs)
{
	dXSARGS;
	struct prelude_needs *n;
	struct prelude_wants *w;
	bool may_read = false;
	int code;

	if (items != 1)
		croak_xs_usage(cv, "needs");
	n = needs_of(aTHX_ ST(0));
	needs_check(aTHX_ prelude_needs_wants(n, &w));
	code = prelude_needs_check_events(n, w, &may_read);
	prelude_wants_free(w);
	needs_check(aTHX_ code);
	EXTEND(SP, 2);
	ST(0) = code ? sv_2mortal(newSVpv(prelude_needs_text(n), 0)) : &PL_sv_undef;
	ST(1) = boolSV(may_read);
	XSRETURN(2);
}

/* (what is wrong or undef, new lines about types that handlers cannot take ...) */
SUB(needs_check_users_xs)
{
	dXSARGS;
	struct prelude_needs *n;
	const char *line;
	int code;

	if (items != 1)
		croak_xs_usage(cv, "needs");
	n = needs_of(aTHX_ ST(0));
	code = prelude_needs_check_users(n);
	needs_check(aTHX_ code);
	SP -= items;
	XPUSHs(code ? sv_2mortal(newSVpv(prelude_needs_text(n), 0)) : &PL_sv_undef);
	while ((line = prelude_needs_line(n)))
		mXPUSHp(line, strlen(line));
	PUTBACK;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Sonde::_tracepoints(): the names of the kernel's tracepoints, if this user may read them. */
SUB(needs_tracepoints_xs)
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

/* Sonde::Program::is_glob(NAME), is_tracepoint(NAME) */
SUB(needs_is_xs)
{
	static bool (*const is[])(const char *name) = { prelude_is_glob, prelude_is_tracepoint };
	dXSARGS;
	dXSI32;

	if (items != 1)
		croak_xs_usage(cv, "name");
	ST(0) = boolSV(is[ix](SvPV_nolen(ST(0))));
	XSRETURN(1);
}

/* Sonde::Program::is_like(PATTERN, NAME), names(PATTERN, NAME) */
SUB(needs_pattern_xs)
{
	static bool (*const is[])(const char *pattern, const char *name) = { prelude_is_like,
									     prelude_names };
	dXSARGS;
	dXSI32;

	if (items != 2)
		croak_xs_usage(cv, "pattern, name");
	ST(0) = boolSV(is[ix](SvPV_nolen(ST(0)), SvPV_nolen(ST(1))));
	XSRETURN(1);
}

/* Sonde::Program::words_of(LIST): its names */
SUB(needs_words_xs)
{
	dXSARGS;
	const char *list;
	SV *kept;

	if (items != 1)
		croak_xs_usage(cv, "list");
	kept = sv_2mortal(newSVsv(ST(0)));
	list = SvPV_nolen(kept);
	SP -= items;
	while (*list) {
		const size_t len = prelude_name_length(list);

		if (len)
			mXPUSHp(list, len);
		list += len + (list[len] == ',');
	}
	PUTBACK;
}

/* Sonde::_each_occurrence(NAME) */
SUB(needs_each_occurrence_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "name");
	ST(0) = needs_owned_text(aTHX_ prelude_each_occurrence(SvPV_nolen(ST(0))));
	XSRETURN(1);
}

/* Sonde::_clocked(NAME) */
SUB(needs_clocked_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "name");
	ST(0) = sv_2mortal(newSVpv(prelude_clocked(SvPV_nolen(ST(0))), 0));
	XSRETURN(1);
}

void needs_boot(pTHX)
{
	static const struct perl_sub subs[] = {
		{ "Sonde::_needs", needs_new_xs, 0 },
		{ "Sonde::Needs::learn", needs_learn_xs, 0 },
		{ "Sonde::Needs::wants", needs_wants_xs, 0 },
		{ "Sonde::Needs::settings", needs_text_xs, 0 },
		{ "Sonde::Needs::lines", needs_text_xs, 1 },
		{ "Sonde::Needs::check_events", needs_check_events_xs, 0 },
		{ "Sonde::Needs::check_users", needs_check_users_xs, 0 },
		{ "Sonde::_tracepoints", needs_tracepoints_xs, 0 },
		{ "Sonde::_each_occurrence", needs_each_occurrence_xs, 0 },
		{ "Sonde::_clocked", needs_clocked_xs, 0 },
		{ "Sonde::Program::words_of", needs_words_xs, 0 },
		{ "Sonde::Program::is_glob", needs_is_xs, 0 },
		{ "Sonde::Program::is_tracepoint", needs_is_xs, 1 },
		{ "Sonde::Program::is_like", needs_pattern_xs, 0 },
		{ "Sonde::Program::names", needs_pattern_xs, 1 },
		{ 0 },
	};

	object_add_subs(aTHX_ subs);
}
