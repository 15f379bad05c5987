/* SPDX-License-Identifier: MIT */
/* Sonde::Live: a recorder, whose events an object of Sonde or Sonde::Run reads. */
#include "plsonde.h"

#include "prelude/record_line.h"

#include <stdlib.h>
#include <string.h>

struct perl_live {
	struct sonde_live *l; /* NULL once it was closed */
	char **command;       /* owned, borrowed by l */
};

static struct perl_live *live_of(pTHX_ SV *sv)
{
	void *p;

	if (!object_find(aTHX_ sv, OBJECT_LIVE, &p) || !p)
		croak("this is not a Sonde::Live");
	return p;
}

struct sonde_live *live_handle(pTHX_ SV *sv)
{
	struct perl_live *live = live_of(aTHX_ sv);

	if (!live->l)
		croak("the live recording is closed");
	return live->l;
}

void live_end(pTHX_ SV *sv)
{
	struct perl_live *live = live_of(aTHX_ sv);

	sonde_live_close(live->l);
	live->l = NULL;
}

/* ---- opening --------------------------------------------------------------------------------- */

static const char *live_text(pTHX_ SV *sv)
{
	return sv && SvOK(sv) ? SvPV_nolen(sv) : NULL;
}

static AV *live_array(pTHX_ SV *sv, const char *what)
{
	if (!sv || !SvROK(sv) || SvTYPE(SvRV(sv)) != SVt_PVAV)
		croak("%s is no array reference", what);
	return (AV *)SvRV(sv);
}

static SV *live_element(pTHX_ AV *av, SSize_t i)
{
	SV **sv = av_fetch(av, i, 0);

	return sv ? *sv : NULL;
}

/* The texts are the caller's; the array is freed with the scope. */
static struct sonde_record_event *live_take_events(pTHX_ AV *av, size_t *ret_nr)
{
	const SSize_t n = av_len(av) + 1;
	struct sonde_record_event *events;

	Newxz(events, n + 1, struct sonde_record_event);
	SAVEFREEPV(events);
	for (SSize_t i = 0; i < n; i++) {
		AV *e = live_array(aTHX_ live_element(aTHX_ av, i), "an event");

		events[i].events = live_text(aTHX_ live_element(aTHX_ e, 0));
		events[i].filter = live_text(aTHX_ live_element(aTHX_ e, 1));
		events[i].cgroup = live_text(aTHX_ live_element(aTHX_ e, 2));
	}
	*ret_nr = (size_t)n;
	return events;
}

static void live_free(struct perl_live *live)
{
	if (!live)
		return;
	sonde_live_close(live->l);
	for (size_t i = 0; live->command && live->command[i]; i++)
		free(live->command[i]);
	free(live->command);
	free(live);
}

/* NULL if there is no memory. av is NULL without a command. */
static struct perl_live *live_new(pTHX_ AV *av)
{
	struct perl_live *live = calloc(1, sizeof(*live));
	const SSize_t n = av ? av_len(av) + 1 : 0;

	if (!live || !n)
		return live;
	live->command = calloc((size_t)n + 1, sizeof(*live->command));
	for (SSize_t i = 0; live->command && i < n; i++) {
		const char *word = live_text(aTHX_ live_element(aTHX_ av, i));

		live->command[i] = strdup(word ? word : "");
		if (!live->command[i])
			break;
	}
	if (live->command && live->command[n - 1])
		return live;
	live_free(live);
	return NULL;
}

/* Sonde::_record_line(EVENTS, SETTINGS, COMMAND, OUTPUT): as for _open() */
SUB(live_record_line_xs)
{
	dXSARGS;
	struct sonde_record_options record = { .size = sizeof(record) };
	struct perl_live *live;
	char *line = NULL;

	if (items != 4)
		croak_xs_usage(cv, "events, settings, command, output");
	ENTER;
	record.events =
		live_take_events(aTHX_ live_array(aTHX_ ST(0), "events"), &record.nr_events);
	record.settings = live_text(aTHX_ ST(1));
	live = live_new(aTHX_ SvOK(ST(2)) ? live_array(aTHX_ ST(2), "command") : NULL);
	if (live) {
		record.command = (const char *const *)live->command;
		line = prelude_record_line(&record, live_text(aTHX_ ST(3)));
	}
	LEAVE;
	live_free(live);
	if (!line)
		croak("out of memory");
	ST(0) = sv_2mortal(newSVpv(line, 0));
	free(line);
	XSRETURN(1);
}

/*
 * Sonde::Live->_open(EVENTS, SETTINGS, COMMAND, LATENCY_MS, OUTPUT, SUDO, BROKER_FD): EVENTS are
 * arrays (events, filter, cgroup). Returns (live), or (undef, -errno); Sonde::_error() says why.
 */
SUB(live_open_xs)
{
	dXSARGS;
	struct sonde_record_options record = { .size = sizeof(record) };
	struct sonde_live_options opts = { .size = sizeof(opts), .record = &record };
	struct perl_live *live;
	int code = -ENOMEM;

	if (items != 8)
		croak_xs_usage(cv, "class, events, settings, command, latency, output, sudo, fd");
	ENTER;
	record.events =
		live_take_events(aTHX_ live_array(aTHX_ ST(1), "events"), &record.nr_events);
	record.settings = live_text(aTHX_ ST(2));
	opts.latency_ms = (uint32_t)SvUV(ST(4));
	opts.output = live_text(aTHX_ ST(5));
	opts.sudo = live_text(aTHX_ ST(6));
	opts.broker_fd = (int32_t)SvIV(ST(7));
	live = live_new(aTHX_ SvOK(ST(3)) ? live_array(aTHX_ ST(3), "command") : NULL);
	if (live) {
		record.command = (const char *const *)live->command;
		code = sonde_live_open(&live->l, &opts);
	}
	LEAVE;
	if (code < 0) {
		live_free(live);
		EXTEND(SP, 2);
		ST(0) = &PL_sv_undef;
		ST(1) = sv_2mortal(newSViv(code));
		XSRETURN(2);
	}
	ST(0) = sv_2mortal(object_new(aTHX_ live, OBJECT_LIVE));
	XSRETURN(1);
}

/* ---- methods --------------------------------------------------------------------------------- */

SUB(live_start_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "live");
	if (sonde_live_start(live_handle(aTHX_ ST(0))) < 0)
		croak("%s\n", sonde_error_text());
	XSRETURN_EMPTY;
}

SUB(live_stop_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "live");
	sonde_live_stop(live_of(aTHX_ ST(0))->l);
	XSRETURN_EMPTY;
}

/* The warnings since the last call. */
SUB(live_lines_xs)
{
	dXSARGS;
	struct perl_live *live;
	const char *text;
	int level;

	if (items != 1)
		croak_xs_usage(cv, "live");
	live = live_of(aTHX_ ST(0));
	SP -= items;
	while (live->l && (text = sonde_live_line(live->l, &level)))
		if (level == 0)
			mXPUSHp(text, strlen(text));
	PUTBACK;
}

/* (code, status of the command): waits for the end. */
SUB(live_result_xs)
{
	dXSARGS;
	struct sonde_record_result result = { .size = sizeof(result) };
	int code;

	if (items != 1)
		croak_xs_usage(cv, "live");
	code = sonde_live_result(live_handle(aTHX_ ST(0)), &result);
	EXTEND(SP, 2);
	ST(0) = sv_2mortal(newSViv(code));
	ST(1) = sv_2mortal(newSViv(result.exit_status));
	XSRETURN(2);
}

void live_destroy(pTHX_ void *p)
{
	live_free(p);
}

void live_boot(pTHX)
{
	static const struct perl_sub subs[] = {
		{ "Sonde::_record_line", live_record_line_xs, 0 },
		{ "Sonde::Live::_open", live_open_xs, 0 },
		{ "Sonde::Live::start", live_start_xs, 0 },
		{ "Sonde::Live::stop", live_stop_xs, 0 },
		{ "Sonde::Live::lines", live_lines_xs, 0 },
		{ "Sonde::Live::result", live_result_xs, 0 },
		{ 0 },
	};

	object_add_subs(aTHX_ subs);
}
