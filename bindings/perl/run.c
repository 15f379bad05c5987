/* SPDX-License-Identifier: MIT */
/*
 * The event loop for perf scripts. A sub is found through its glob, which is looked up once per event type: what the
 * script puts there while it runs is called from then on.
 *
 * The scalars that subs are called with are kept from event to event, as long as nobody else holds them.
 */
#include "plsonde.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define NSECS_PER_SEC 1000000000u

/* The arguments of process_event(). */
enum { ARG_RECORD, ARG_ATTR, ARG_SAMPLE, ARG_RAW, NR_PROCESS_ARGS };

struct slot {
	const struct sonde_schema *sc;
	bool is_tracepoint, is_sample, has_callchain;
	bool defined; /* its flags and symbols were told */
	bool refused; /* the session was told that nobody wants these events */
	GV *handler;  /* "sched::sched_switch" */
	SV *name;     /* the same as a value */
	struct conv pid, *fields;
	size_t nr_fields, nr_args;
	SV **args;                     /* of the handler and of trace_unhandled */
	SV *process[NR_PROCESS_ARGS];  /* of process_event */
	uint32_t comm;                 /* what args[PRELUDE_COMM] was made of */
	const char *comm_at, *name_at; /* where these texts lie while nobody changed them */
};

static const char *const define_subs[4] = { "main::define_flag_field", "main::define_flag_value",
					    "main::define_symbolic_field",
					    "main::define_symbolic_value" };

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static void slot_free(pTHX_ struct slot *slot)
{
	if (!slot)
		return;
	for (size_t i = 0; slot->args && i < slot->nr_args; i++)
		SvREFCNT_dec(slot->args[i]);
	for (size_t i = 0; i < NR_PROCESS_ARGS; i++)
		SvREFCNT_dec(slot->process[i]);
	SvREFCNT_dec(slot->name);
	SvREFCNT_dec((SV *)slot->handler);
	free(slot->args);
	free(slot->fields);
	free(slot);
}

static GV *glob(pTHX_ const char *name)
{
	return (GV *)SvREFCNT_inc((SV *)gv_fetchpv(name, GV_ADD | GV_ADDMULTI, SVt_PVCV));
}

struct run *run_new(pTHX_ const char *text)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r || sonde_session_open(&r->s, text, NULL) < 0) {
		free(r);
		return NULL;
	}
	r->compat = sonde_session_compat(r->s);
	r->unhandled = glob(aTHX_ "main::trace_unhandled");
	r->process_event = glob(aTHX_ "main::process_event");
	for (size_t i = 0; i < 4; i++)
		r->defines[i] = glob(aTHX_ define_subs[i]);
	return r;
}

void run_free(pTHX_ struct run *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_slots; i++)
		slot_free(aTHX_ r->slots[i]);
	free(r->slots);
	SvREFCNT_dec((SV *)r->unhandled);
	SvREFCNT_dec((SV *)r->process_event);
	for (size_t i = 0; i < 4; i++)
		SvREFCNT_dec((SV *)r->defines[i]);
	sonde_session_close(r->s);
	free(r);
}

static bool samples_callchains(const struct sonde_schema *sc)
{
	struct perf_event_attr attr = { 0 };
	size_t len = 0;
	const void *bytes = sonde_schema_attr(sc, &len);

	if (!bytes)
		return true;
	memcpy(&attr, bytes, len < sizeof(attr) ? len : sizeof(attr));
	return attr.sample_type & PERF_SAMPLE_CALLCHAIN;
}

static struct slot *slot_new(pTHX_ struct run *r, uint32_t id)
{
	const struct sonde_schema *sc = sonde_session_schema(r->s, id);
	struct slot *slot = calloc(1, sizeof(*slot));
	const struct sonde_field *fields;
	char name[512];

	if (!slot)
		return NULL;
	slot->sc = sc;
	slot->is_tracepoint = sonde_schema_kind(sc) == SONDE_TRACEPOINT;
	slot->is_sample = slot->is_tracepoint || sonde_schema_kind(sc) == SONDE_SAMPLE;
	slot->has_callchain = samples_callchains(sc);
	slot->comm = UINT32_MAX;
	if (!slot->is_tracepoint)
		return slot;
	snprintf(name, sizeof(name), "%s::%s", sonde_schema_system(sc), sonde_schema_event(sc));
	slot->handler = glob(aTHX_ name);
	slot->name = newSVpv(name, 0);
	fields = prelude_fields(sc, &slot->nr_fields);
	slot->nr_args = PRELUDE_NR_COMMON + slot->nr_fields;
	slot->args = calloc(slot->nr_args, sizeof(*slot->args));
	slot->fields = calloc(slot->nr_fields + 1, sizeof(*slot->fields));
	if (!slot->args || !slot->fields) {
		slot_free(aTHX_ slot);
		return NULL;
	}
	for (size_t i = 0; i < slot->nr_fields; i++)
		conv_init(&slot->fields[i], &fields[i], r->compat);
	fields = sonde_schema_field(sc, "common_pid");
	if (fields)
		conv_init(&slot->pid, fields, SONDE_COMPAT_NONE);
	return slot;
}

static struct slot *slot_of(pTHX_ struct run *r, uint32_t id)
{
	if (id >= r->nr_slots) {
		const size_t known = sonde_session_schemas(r->s),
			     nr = known > id ? known : (size_t)id + 1;
		struct slot **bigger = realloc(r->slots, nr * sizeof(*bigger));

		if (!bigger)
			return NULL;
		memset(bigger + r->nr_slots, 0, (nr - r->nr_slots) * sizeof(*bigger));
		r->slots = bigger;
		r->nr_slots = nr;
	}
	if (!r->slots[id])
		r->slots[id] = slot_new(aTHX_ r, id);
	return r->slots[id];
}

/* ---- what is told before the first event of a type --------------------------------------------------------------- */

static void call_define(pTHX_ CV *cv, const struct slot *slot, const struct sonde_define *d)
{
	dSP;

	ENTER;
	SAVETMPS;
	PUSHMARK(SP);
	EXTEND(SP, 4);
	PUSHs(sv_2mortal(newSVsv(slot->name)));
	PUSHs(sv_2mortal(newSVpv(d->field, 0)));
	switch ((enum sonde_define_kind)d->kind) {
	case SONDE_DEFINE_FLAG_FIELD:
		PUSHs(sv_2mortal(newSVpv(d->text, 0)));
		break;
	case SONDE_DEFINE_SYMBOLIC_FIELD:
		break;
	case SONDE_DEFINE_FLAG_VALUE:
	case SONDE_DEFINE_SYMBOLIC_VALUE:
		PUSHs(sv_2mortal(newSVuv((UV)d->value)));
		PUSHs(sv_2mortal(newSVpv(d->text, 0)));
		break;
	}
	PUTBACK;
	call_sv((SV *)cv, G_SCALAR | G_DISCARD);
	FREETMPS;
	LEAVE;
}

static void tell_defines(pTHX_ struct run *r, struct slot *slot)
{
	const uint32_t family = sonde_schema_family(slot->sc);
	struct prelude_defines state = { 0 };
	const struct sonde_define *d;
	size_t nr;

	slot->defined = true;
	for (size_t i = 0; i < r->nr_slots; i++)
		if (r->slots[i] && r->slots[i] != slot && r->slots[i]->defined &&
		    sonde_schema_family(r->slots[i]->sc) == family)
			return;
	d = sonde_schema_defines(slot->sc, &nr);
	for (size_t i = 0; i < nr; i++) {
		CV *cv;

		if (d[i].kind > SONDE_DEFINE_SYMBOLIC_VALUE || !d[i].field || !d[i].text)
			continue;
		cv = GvCV(r->defines[d[i].kind]);
		if (prelude_define_wanted(&state, &d[i], r->compat) && cv)
			call_define(aTHX_ cv, slot, &d[i]);
	}
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* The scalar of the event before, when nobody holds it and nothing was tied to it; else a new one. */
static inline SV *fresh(pTHX_ SV **args, size_t i)
{
	SV *sv = args[i];

	if (__builtin_expect(sv && SvREFCNT(sv) == 1 && !SvTHINKFIRST(sv) && !SvMAGICAL(sv) &&
				     SvTYPE(sv) < SVt_PVMG,
			     1))
		return sv;
	SvREFCNT_dec(sv);
	return args[i] = newSV(0);
}

static bool still_lies(const SV *sv, const char *at)
{
	return at && sv && SvREFCNT(sv) == 1 && SvPOK(sv) && !SvMAGICAL(sv) &&
	       SvPVX_const(sv) == at;
}

static void set_callchain(pTHX_ struct slot *slot, const struct sonde_event *ev)
{
	SV **at = &slot->args[PRELUDE_CALLCHAIN];

	/* An empty list that nobody holds or filled serves again. */
	if (!slot->has_callchain && *at && SvREFCNT(*at) == 1 && SvROK(*at) &&
	    SvREFCNT(SvRV(*at)) == 1 && SvTYPE(SvRV(*at)) == SVt_PVAV && !SvOBJECT(SvRV(*at)) &&
	    AvFILLp((AV *)SvRV(*at)) < 0)
		return;
	SvREFCNT_dec(*at);
	*at = slot->has_callchain ? value_callchain(aTHX_ ev) : newRV_noinc((SV *)newAV());
}

static void fill_args(pTHX_ struct run *r, struct slot *slot)
{
	const struct sonde_event *ev = r->ev;
	SV **a = slot->args;

	if (!still_lies(a[PRELUDE_EVENT_NAME], slot->name_at)) {
		sv_setsv(fresh(aTHX_ a, PRELUDE_EVENT_NAME), slot->name);
		slot->name_at = SvPVX_const(a[PRELUDE_EVENT_NAME]);
	}
	set_iv(aTHX_ fresh(aTHX_ a, PRELUDE_CONTEXT), PTR2IV(r));
	/* perf hands an unsigned number over, which is wrong for none */
	set_iv(aTHX_ fresh(aTHX_ a, PRELUDE_CPU), r->compat ? (IV)(uint32_t)ev->cpu : (IV)ev->cpu);
	value_set_u64(aTHX_ fresh(aTHX_ a, PRELUDE_SECS), ev->time_ns / NSECS_PER_SEC);
	set_iv(aTHX_ fresh(aTHX_ a, PRELUDE_NSECS), (IV)(ev->time_ns % NSECS_PER_SEC));
	if (slot->pid.field)
		value_set(aTHX_ fresh(aTHX_ a, PRELUDE_PID), &slot->pid, ev, SONDE_COMPAT_NONE);
	else
		set_iv(aTHX_ fresh(aTHX_ a, PRELUDE_PID), 0);
	if (slot->comm != ev->comm || !still_lies(a[PRELUDE_COMM], slot->comm_at)) {
		const char *comm = sonde_session_string(r->s, ev->comm);

		sv_setpv(fresh(aTHX_ a, PRELUDE_COMM), comm ? comm : "");
		slot->comm = ev->comm;
		slot->comm_at = SvPVX_const(a[PRELUDE_COMM]);
	}
	set_callchain(aTHX_ slot, ev);
	for (size_t i = 0; i < slot->nr_fields; i++)
		value_set(aTHX_ fresh(aTHX_ a, PRELUDE_NR_COMMON + i), &slot->fields[i], ev,
			  r->compat);
}

static void fill_process_args(pTHX_ struct run *r, struct slot *slot)
{
	const struct sonde_event *ev = r->ev;
	SV **a = slot->process;

	sv_setpvn(fresh(aTHX_ a, ARG_RECORD), (const char *)ev->record, ev->record_len);
	sample_set_attr(aTHX_ fresh(aTHX_ a, ARG_ATTR), slot->sc);
	sample_set_sample(aTHX_ fresh(aTHX_ a, ARG_SAMPLE), ev);
	sv_setpvn(fresh(aTHX_ a, ARG_RAW), ev->bytes ? (const char *)ev->bytes : "",
		  ev->bytes ? ev->bytes_len : 0);
}

static void call(pTHX_ CV *cv, SV **args, size_t nr)
{
	dSP;

	PUSHMARK(SP);
	EXTEND(SP, (SSize_t)nr);
	for (size_t i = 0; i < nr; i++)
		PUSHs(args[i]);
	PUTBACK;
	call_sv((SV *)cv, G_VOID | G_DISCARD);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* Perl code runs now, and may define a sub for any event. */
static void want_all(struct run *r)
{
	for (size_t i = 0; r->nr_refused && i < r->nr_slots; i++) {
		if (r->slots[i] && r->slots[i]->refused) {
			sonde_session_want(r->s, sonde_schema_id(r->slots[i]->sc), 1);
			r->slots[i]->refused = false;
			r->nr_refused--;
		}
	}
}

static void refuse(struct run *r, struct slot *slot)
{
	sonde_session_want(r->s, sonde_schema_id(slot->sc), 0);
	slot->refused = true;
	r->nr_refused++;
}

/* perf calls process_event for each sample, behind the handler of a tracepoint's. */
static void dispatch(pTHX_ struct run *r, struct slot *slot)
{
	CV *handler = NULL, *process;

	if (slot->is_tracepoint) {
		if (!slot->defined)
			tell_defines(aTHX_ r, slot);
		handler = GvCV(slot->handler);
		if (!handler)
			handler = GvCV(r->unhandled);
	}
	process = slot->is_sample ? GvCV(r->process_event) : NULL;
	if (!handler && !process) {
		refuse(r, slot);
		return;
	}
	want_all(r);
	if (handler) {
		fill_args(aTHX_ r, slot);
		call(aTHX_ handler, slot->args, slot->nr_args);
		process = GvCV(r->process_event);
	}
	if (process) {
		fill_process_args(aTHX_ r, slot);
		call(aTHX_ process, slot->process, NR_PROCESS_ARGS);
	}
}

int run_events(pTHX_ struct run *r)
{
	const struct sonde_event *ev;
	struct slot *slot;
	int code;

	r->running = true;
	for (;;) {
		PERL_ASYNC_CHECK();
		code = sonde_session_next_pending(r->s, &ev);
		if (!code) {
			want_all(r);
			code = sonde_session_fill(r->s);
			if (code > 0)
				continue;
		}
		if (code <= 0)
			break;
		slot = ev->schema < r->nr_slots ? r->slots[ev->schema] : NULL;
		if (!slot && !(slot = slot_of(aTHX_ r, ev->schema))) {
			code = -ENOMEM;
			break;
		}
		r->ev = ev;
		dispatch(aTHX_ r, slot);
		r->ev = NULL;
	}
	r->running = false;
	return code;
}

IV run_common_field(const struct run *r, const char *name)
{
	const struct sonde_schema *sc = r->ev ? sonde_event_schema(r->s, r->ev) : NULL;
	const struct sonde_field *f = sc ? sonde_schema_field(sc, name) : NULL;

	return f ? (IV)(int32_t)sonde_event_u64(r->ev, f) : 0;
}
