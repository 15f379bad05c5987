/* SPDX-License-Identifier: MIT */
/* Sonde::Counts: an aggregation of a session, which adds events without Perl code for each. */
#include "session.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct sonde_aggregate *counts_of(pTHX_ SV *sv)
{
	void *p;

	if (!object_find(aTHX_ sv, OBJECT_COUNTS, &p) || !p)
		croak("this is not a Sonde::Counts");
	return p;
}

static void counts_check(pTHX_ int code)
{
	if (code < 0)
		croak("%s\n", sonde_error_text());
}

static const char *counts_text(pTHX_ SV *sv)
{
	return SvOK(sv) ? SvPV_nolen(sv) : NULL;
}

/*
 * Sonde::_aggregate(SESSION, KIND, EVENTS, FIELD, BY, WHERE, LIMIT[, LOW, HIGH, STEP]): returns
 * (counts), or (undef, -errno); Sonde::_error() says why.
 */
SUB(counts_new_xs)
{
	dXSARGS;
	struct sonde_aggregate_options o = { .size = sizeof(o) };
	struct sonde_aggregate *a;
	int code;

	if (items != 7 && items != 10)
		croak_xs_usage(cv, "session, kind, events, field, by, where, limit, ...");
	o.kind = counts_text(aTHX_ ST(1));
	o.events = counts_text(aTHX_ ST(2));
	o.field = counts_text(aTHX_ ST(3));
	o.by = counts_text(aTHX_ ST(4));
	o.where = counts_text(aTHX_ ST(5));
	o.limit = (uint32_t)SvUV(ST(6));
	if (items == 10) {
		o.low = SvIV(ST(7));
		o.high = SvIV(ST(8));
		o.step = SvIV(ST(9));
	}
	code = sonde_aggregate_new(&a, session_of(aTHX_ ST(0), "_aggregate")->s, &o);
	if (code < 0) {
		ST(0) = &PL_sv_undef;
		ST(1) = sv_2mortal(newSViv(code));
		XSRETURN(2);
	}
	ST(0) = sv_2mortal(object_new(aTHX_ a, OBJECT_COUNTS));
	XSRETURN(1);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static void counts_note_times(struct session *s, const struct sonde_event *const *events, size_t nr)
{
	for (size_t i = 0; i < nr && s->first_ns == SONDE_NO_TIME; i++)
		s->first_ns = events[i]->time_ns;
	if (nr && events[nr - 1]->time_ns != SONDE_NO_TIME)
		s->last_ns = events[nr - 1]->time_ns;
}

void counts_add(pTHX_ SV *counts, struct session *s, const struct sonde_event *const *events,
		size_t nr)
{
	AV *av;

	if (!SvROK(counts) || SvTYPE(SvRV(counts)) != SVt_PVAV)
		croak("the aggregations are no array reference");
	av = (AV *)SvRV(counts);
	for (SSize_t i = 0; i <= av_len(av); i++) {
		SV **sv = av_fetch(av, i, 0);

		if (sv)
			counts_check(aTHX_ sonde_aggregate_add(counts_of(aTHX_ * sv), events, nr));
	}
	counts_note_times(s, events, nr);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static SV *counts_key(pTHX_ const struct sonde_aggregate_value *v)
{
	switch (v->kind) {
	case SONDE_AGGREGATE_NUMBER:
		return newSViv((IV)v->number);
	case SONDE_AGGREGATE_UNSIGNED:
	case SONDE_AGGREGATE_ADDRESS:
		return newSVuv(v->number);
	case SONDE_AGGREGATE_TEXT:
	case SONDE_AGGREGATE_STACK:
		return newSVpv(v->text, 0);
	default:
		return newSV(0);
	}
}

static void counts_store(pTHX_ HV *hv, const char *key, SV *value)
{
	(void)hv_store(hv, key, (I32)strlen(key), value, 0);
}

static SV *counts_row(pTHX_ const struct sonde_aggregate_row *row)
{
	HV *hv = newHV();
	AV *keys = newAV(), *buckets = newAV();

	for (uint32_t i = 0; i < row->nr_keys; i++)
		av_push(keys, counts_key(aTHX_ & row->keys[i]));
	for (uint32_t i = 0; i < row->nr_buckets; i++) {
		const struct sonde_aggregate_bucket *b = &row->buckets[i];
		AV *bucket = newAV();

		av_push(bucket, newSViv(b->low));
		av_push(bucket, newSViv(b->high));
		av_push(bucket, newSVuv(b->count));
		av_push(buckets, newRV_noinc((SV *)bucket));
	}
	counts_store(aTHX_ hv, "keys", newRV_noinc((SV *)keys));
	counts_store(aTHX_ hv, "buckets", newRV_noinc((SV *)buckets));
	counts_store(aTHX_ hv, "is_other", newSViv(row->flags & SONDE_AGGREGATE_OTHER ? 1 : 0));
	counts_store(aTHX_ hv, "count", newSVuv(row->count));
	counts_store(aTHX_ hv, "sum", newSViv(row->sum));
	counts_store(aTHX_ hv, "min", newSViv(row->min));
	counts_store(aTHX_ hv, "max", newSViv(row->max));
	counts_store(aTHX_ hv, "mean", newSViv(row->mean));
	counts_store(aTHX_ hv, "p50", newSViv(row->p50));
	counts_store(aTHX_ hv, "p90", newSViv(row->p90));
	counts_store(aTHX_ hv, "p95", newSViv(row->p95));
	counts_store(aTHX_ hv, "p99", newSViv(row->p99));
	return newRV_noinc((SV *)hv);
}

/* A reference to a hash for each row, the largest first. */
SUB(counts_rows_xs)
{
	dXSARGS;
	struct sonde_aggregate_row row = { .size = sizeof(row) };
	struct sonde_aggregate *a;
	int n;

	if (items != 1)
		croak_xs_usage(cv, "counts");
	a = counts_of(aTHX_ ST(0));
	n = sonde_aggregate_rows(a);
	counts_check(aTHX_ n);
	SP -= items;
	EXTEND(SP, n);
	for (int i = 0; i < n; i++) {
		counts_check(aTHX_ sonde_aggregate_row(a, (size_t)i, &row));
		PUSHs(sv_2mortal(counts_row(aTHX_ & row)));
	}
	PUTBACK;
}

/* (title, count, sum) */
SUB(counts_facts_xs)
{
	dXSARGS;
	struct sonde_aggregate_facts f = { .size = sizeof(f) };

	if (items != 1)
		croak_xs_usage(cv, "counts");
	counts_check(aTHX_ sonde_aggregate_facts(counts_of(aTHX_ ST(0)), &f));
	EXTEND(SP, 3);
	ST(0) = sv_2mortal(newSVpv(f.title, 0));
	ST(1) = sv_2mortal(newSVuv(f.count));
	ST(2) = sv_2mortal(newSViv(f.sum));
	XSRETURN(3);
}

SUB(counts_clear_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "counts");
	counts_check(aTHX_ sonde_aggregate_clear(counts_of(aTHX_ ST(0))));
	XSRETURN_EMPTY;
}

/* Sonde::Counts::print(COUNTS, FD, TOP, FORMAT, FROM_NS, TO_NS) */
SUB(counts_print_xs)
{
	dXSARGS;
	struct sonde_aggregate_print_options o = { .size = sizeof(o) };
	struct winsize window;
	int fd, code;

	if (items != 6)
		croak_xs_usage(cv, "counts, fd, top, format, from_ns, to_ns");
	fd = (int)SvIV(ST(1));
	o.top = (uint32_t)SvUV(ST(2));
	o.format = counts_text(aTHX_ ST(3));
	o.from_ns = SvUV(ST(4));
	o.to_ns = SvUV(ST(5));
	if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &window))
		o.columns = window.ws_col;
	code = sonde_aggregate_print(counts_of(aTHX_ ST(0)), fd, &o);
	if (code != -EPIPE) /* the next print of the script meets it, too */
		counts_check(aTHX_ code);
	XSRETURN_EMPTY;
}

void counts_destroy(pTHX_ void *p)
{
	sonde_aggregate_free(p);
}

void counts_boot(pTHX)
{
	static const struct perl_sub subs[] = {
		{ "Sonde::_aggregate", counts_new_xs, 0 },
		{ "Sonde::Counts::rows", counts_rows_xs, 0 },
		{ "Sonde::Counts::facts", counts_facts_xs, 0 },
		{ "Sonde::Counts::clear", counts_clear_xs, 0 },
		{ "Sonde::Counts::print", counts_print_xs, 0 },
		{ 0 },
	};

	object_add_subs(aTHX_ subs);
}
