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

/* How one field of one event type becomes a scalar; what the loop looks at lies side by side. */
struct conv {
	const struct sonde_field *field;
	uint32_t offset;
	enum { CONV_I32, CONV_U32, CONV_I64, CONV_U64, CONV_OTHER } kind;
};

struct slot {
	const struct sonde_schema *sc;
	bool is_tracepoint, is_sample, is_defect, has_callchain;
	bool defined; /* its flags and symbols were told */
	bool checked; /* its sub's parameters were looked at */
	bool refused; /* the session was told that nobody wants these events */
	GV *handler;  /* "sched::sched_switch" */
	struct text_arg name; /* the same as a value */
	struct conv pid, *fields;
	size_t nr_fields, nr_args;
	uint32_t plain_bytes; /* a payload of so many holds all fields that are no CONV_OTHER */
	SV **args;                     /* of the handler and of trace_unhandled */
	SV *process[NR_PROCESS_ARGS];  /* of process_event */
};

/* ---- texts that are lent to subs --------------------------------------------------------------------------------- */

static void text_arg_done(pTHX_ struct text_arg *a)
{
	SvREFCNT_dec(a->own);
	SvREFCNT_dec(a->lent);
}

static void text_arg_lend(pTHX_ struct text_arg *a)
{
	SvREFCNT_dec(a->lent);
	a->lent = newSVpvn_share(a->at, (I32)SvCUR(a->own), SvSHARED_HASH(a->own));
}

static void text_arg_set(pTHX_ struct text_arg *a, const char *text)
{
	text_arg_done(aTHX_ a);
	a->own = newSVpvn_share(text, (I32)strlen(text), 0);
	a->at = SvPVX_const(a->own);
	a->lent = NULL;
	text_arg_lend(aTHX_ a);
}

/* The scalar to be lent: the one of before, when nobody holds or changed it. */
static inline SV *text_arg(pTHX_ struct text_arg *a)
{
	const SV *sv = a->lent;

	if (__builtin_expect(SvREFCNT(sv) != 1 || SvTYPE(sv) >= SVt_PVMG ||
				     (SvFLAGS(sv) & (SVf_POK | SVf_UTF8)) != SVf_POK ||
				     SvPVX_const(sv) != a->at,
			     0))
		text_arg_lend(aTHX_ a);
	return a->lent;
}

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static void slot_free(pTHX_ struct slot *slot)
{
	if (!slot)
		return;
	for (size_t i = 0; slot->args && i < slot->nr_args; i++)
		if (i != PRELUDE_EVENT_NAME && i != PRELUDE_COMM) /* lent */
			SvREFCNT_dec(slot->args[i]);
	for (size_t i = 0; i < NR_PROCESS_ARGS; i++)
		SvREFCNT_dec(slot->process[i]);
	text_arg_done(aTHX_ &slot->name);
	SvREFCNT_dec((SV *)slot->handler);
	free(slot->args);
	free(slot->fields);
	free(slot);
}

static GV *glob(pTHX_ const char *name)
{
	return (GV *)SvREFCNT_inc((SV *)gv_fetchpv(name, GV_ADD | GV_ADDMULTI, SVt_PVCV));
}

struct run *run_new(pTHX_ const char *text, bool is_live)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r || sonde_session_open(&r->s, text, NULL) < 0) {
		free(r);
		return NULL;
	}
	r->compat = sonde_session_compat(r->s);
	r->is_live = is_live;
	r->unhandled = glob(aTHX_ "main::" PRELUDE_UNHANDLED);
	r->process_event = glob(aTHX_ "main::" PRELUDE_PROCESS_EVENT);
	r->trace_defect = glob(aTHX_ "main::trace_defect");
	for (size_t i = 0; i < 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "main::%s", prelude_define_names[i]);
		r->defines[i] = glob(aTHX_ name);
	}
	return r;
}

void run_free(pTHX_ struct run *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_slots; i++)
		slot_free(aTHX_ r->slots[i]);
	free(r->slots);
	for (size_t i = 0; i < COMM_ARGS; i++)
		text_arg_done(aTHX_ &r->comms[i]);
	SvREFCNT_dec((SV *)r->unhandled);
	SvREFCNT_dec((SV *)r->process_event);
	SvREFCNT_dec((SV *)r->trace_defect);
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

static void conv_init(struct slot *slot, struct conv *c, const struct sonde_field *f,
		      enum sonde_compat compat)
{
	const bool is_number = prelude_value_kind(f) == PRELUDE_INT,
		   is_signed = is_number && prelude_value_signed(f, compat);

	*c = (struct conv){ .field = f, .offset = f->offset, .kind = CONV_OTHER };
	if (is_number && f->width == 4)
		c->kind = is_signed ? CONV_I32 : CONV_U32;
	else if (is_number && f->width == 8)
		c->kind = is_signed ? CONV_I64 : CONV_U64;
	if (c->kind != CONV_OTHER && f->offset + f->width > slot->plain_bytes)
		slot->plain_bytes = f->offset + f->width;
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
	slot->is_defect = sonde_schema_kind(sc) == SONDE_DEFECT;
	slot->is_sample = slot->is_tracepoint || sonde_schema_kind(sc) == SONDE_SAMPLE;
	slot->has_callchain = samples_callchains(sc);
	if (!slot->is_tracepoint)
		return slot;
	if (prelude_handler_name(sc, "::", name, sizeof(name)) < 0) { /* no sub can have it */
		slot->is_tracepoint = false;
		return slot;
	}
	slot->handler = glob(aTHX_ name);
	text_arg_set(aTHX_ &slot->name, name);
	fields = prelude_fields(sc, &slot->nr_fields);
	slot->nr_args = PRELUDE_NR_COMMON + slot->nr_fields;
	slot->args = calloc(slot->nr_args, sizeof(*slot->args));
	slot->fields = calloc(slot->nr_fields + 1, sizeof(*slot->fields));
	if (!slot->args || !slot->fields) {
		slot_free(aTHX_ slot);
		return NULL;
	}
	for (size_t i = 0; i < slot->nr_args; i++)
		if (i != PRELUDE_EVENT_NAME && i != PRELUDE_COMM)
			slot->args[i] = newSViv(0);
	for (size_t i = 0; i < slot->nr_fields; i++)
		conv_init(slot, &slot->fields[i], &fields[i], r->compat);
	fields = sonde_schema_field(sc, "common_pid");
	if (fields)
		conv_init(slot, &slot->pid, fields, SONDE_COMPAT_NONE);
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

bool run_has_met(const struct run *r, uint32_t id)
{
	return id < r->nr_slots && r->slots[id];
}

/* ---- what is told before the first event of a type --------------------------------------------------------------- */

static void call_define(pTHX_ CV *cv, const struct slot *slot, const struct sonde_define *d)
{
	dSP;

	ENTER;
	SAVETMPS;
	PUSHMARK(SP);
	EXTEND(SP, 4);
	PUSHs(sv_2mortal(newSVsv(slot->name.own)));
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
		cv = sub_of(aTHX_ r->defines[d[i].kind]);
		if (prelude_define_wanted(&state, &d[i], r->compat) && cv)
			call_define(aTHX_ cv, slot, &d[i]);
	}
}

/* By default a line on stderr, once. */
static void tell_shifted(pTHX_ struct run *r, const struct slot *slot, const CV *cv)
{
	const char *name = r->told_shifted || r->compat ? NULL : params_shifted(aTHX_ cv, slot->sc);
	const COP *at;
	SV *line;
	dSP;

	if (!name)
		return;
	r->told_shifted = true;
	at = CvSTART(cv) && CvSTART(cv)->op_type == OP_NEXTSTATE ? cCOPx(CvSTART(cv)) : NULL;
	ENTER;
	SAVETMPS;
	line = sv_2mortal(Perl_newSVpvf(
		aTHX_ "%s:%u: sub %s has no $common_callchain after its seventh parameter, as before "
		"2013: each parameter from $%s on gets the value of the one before it, as in perf; add "
		"$common_callchain there",
		at ? CopFILE(at) : "-", at ? (unsigned int)CopLINE(at) : 0, SvPVX_const(slot->name.own),
		name));
	PUSHMARK(SP);
	XPUSHs(line);
	PUTBACK;
	call_pv("Sonde::Prelude::say_line", G_VOID | G_DISCARD);
	FREETMPS;
	LEAVE;
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

#define NUMBER_FLAGS (SVTYPEMASK | SVf_THINKFIRST | SVf_IVisUV | SVs_RMG | SVs_GMG | SVs_SMG |      \
		      SVf_POK | SVf_NOK | SVf_ROK | SVf_IOK)

/* A number where a number was before, and nobody holds it: nearly always. */
static inline void set_iv(pTHX_ SV **args, size_t i, IV value)
{
	SV *sv = args[i];

	if (__builtin_expect(SvREFCNT(sv) == 1 && (SvFLAGS(sv) & NUMBER_FLAGS) == (SVt_IV | SVf_IOK),
			     1))
		SvIV_set(sv, value);
	else
		sv_setiv(fresh(aTHX_ args, i), value);
}

static inline void set_uv(pTHX_ SV **args, size_t i, UV value)
{
	SV *sv = args[i];

	if (__builtin_expect(value <= IV_MAX, 1))
		set_iv(aTHX_ args, i, (IV)value);
	else if (SvREFCNT(sv) == 1 &&
		 (SvFLAGS(sv) & NUMBER_FLAGS) == (SVt_IV | SVf_IOK | SVf_IVisUV))
		SvUV_set(sv, value);
	else
		sv_setuv(fresh(aTHX_ args, i), value);
}

static inline void set_field(pTHX_ SV **args, size_t i, const struct conv *c,
			     const struct sonde_event *ev, bool is_plain, enum sonde_compat compat)
{
	uint64_t n;
	uint32_t word;

	if (c->kind == CONV_OTHER || !is_plain) {
		value_set_field(aTHX_ fresh(aTHX_ args, i), ev, c->field, compat);
	} else if (c->kind <= CONV_U32) {
		memcpy(&word, ev->bytes + c->offset, sizeof(word));
		set_iv(aTHX_ args, i, c->kind == CONV_I32 ? (IV)(int32_t)word : (IV)word);
	} else {
		memcpy(&n, ev->bytes + c->offset, sizeof(n));
		if (c->kind == CONV_I64)
			set_iv(aTHX_ args, i, (IV)n);
		else
			set_uv(aTHX_ args, i, n);
	}
}

/* Names of threads repeat: a few are kept. */
static inline SV *comm_arg(pTHX_ struct run *r, uint32_t id)
{
	struct text_arg *a = &r->comms[id % COMM_ARGS];

	if (__builtin_expect(!a->own || r->comm_ids[id % COMM_ARGS] != id, 0)) {
		const char *comm = sonde_session_string(r->s, id);

		text_arg_set(aTHX_ a, comm ? comm : "");
		r->comm_ids[id % COMM_ARGS] = id;
	}
	return text_arg(aTHX_ a);
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
	const bool is_plain =
		!(ev->flags & SONDE_EVENT_SWAPPED) && ev->bytes_len >= slot->plain_bytes;
	SV **a = slot->args;

	a[PRELUDE_EVENT_NAME] = text_arg(aTHX_ &slot->name);
	set_iv(aTHX_ a, PRELUDE_CONTEXT, PTR2IV(r));
	/* perf hands an unsigned number over, which is wrong for none */
	set_iv(aTHX_ a, PRELUDE_CPU, r->compat ? (IV)(uint32_t)ev->cpu : (IV)ev->cpu);
	set_uv(aTHX_ a, PRELUDE_SECS, ev->time_ns / NSECS_PER_SEC);
	set_iv(aTHX_ a, PRELUDE_NSECS, (IV)(ev->time_ns % NSECS_PER_SEC));
	if (slot->pid.field)
		set_field(aTHX_ a, PRELUDE_PID, &slot->pid, ev, is_plain, SONDE_COMPAT_NONE);
	else
		set_iv(aTHX_ a, PRELUDE_PID, 0);
	a[PRELUDE_COMM] = comm_arg(aTHX_ r, ev->comm);
	set_callchain(aTHX_ slot, ev);
	for (size_t i = 0; i < slot->nr_fields; i++)
		set_field(aTHX_ a, PRELUDE_NR_COMMON + i, &slot->fields[i], ev, is_plain, r->compat);
}

static void fill_process_args(pTHX_ struct run *r, struct slot *slot)
{
	const struct sonde_event *ev = r->ev;
	SV **a = slot->process;

	sample_set_record(aTHX_ fresh(aTHX_ a, ARG_RECORD), ev);
	sample_set_attr(aTHX_ fresh(aTHX_ a, ARG_ATTR), slot->sc);
	sample_set_sample(aTHX_ fresh(aTHX_ a, ARG_SAMPLE), ev);
	sv_setpvn(fresh(aTHX_ a, ARG_RAW), ev->bytes ? (const char *)ev->bytes : "",
		  ev->bytes ? ev->bytes_len : 0);
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

/*
 * The loop is a program of two ops: `next` finds the next event and puts its sub and arguments on the stack, `call` is perl's
 * entersub, behind which `next` comes again. So a sub is called as one statement of Perl calls another: call_sv() would begin
 * and end a run of ops, a scope and its temporaries each time.
 */
struct turns {
	OP next; /* first: PL_op is the loop in next_call() */
	UNOP call;
	struct run *r;
	struct slot *slot; /* whose process_event is still due, for the event at hand */
	SSize_t height;    /* of the stack */
	int code;          /* how it ended */
};

static OP *call_with(pTHX_ struct turns *t, CV *cv, SV **args, size_t nr)
{
	dSP;

	PUSHMARK(SP);
	EXTEND(SP, (SSize_t)nr + 1);
	Copy(args, SP + 1, nr, SV *);
	SP += nr;
	PUSHs((SV *)cv);
	PUTBACK;
	return (OP *)&t->call;
}

static OP *call_process_event(pTHX_ struct turns *t, struct slot *slot)
{
	t->slot = NULL;
	fill_process_args(aTHX_ t->r, slot);
	return call_with(aTHX_ t, GvCV(t->r->process_event), slot->process, NR_PROCESS_ARGS);
}

/* perf calls process_event for each sample, behind the handler of a tracepoint's. NULL: nobody wants the event. */
static OP *dispatch(pTHX_ struct turns *t, struct slot *slot)
{
	struct run *r = t->r;
	CV *handler = NULL;

	if (slot->is_defect) {
		want_all(r);
		defects_tell(aTHX_ r);
		return NULL;
	}
	if (slot->is_tracepoint) {
		if (!slot->defined)
			tell_defines(aTHX_ r, slot);
		handler = sub_of(aTHX_ slot->handler);
		if (handler && !slot->checked) {
			slot->checked = true;
			tell_shifted(aTHX_ r, slot, handler);
		}
		if (!handler)
			handler = sub_of(aTHX_ r->unhandled);
	}
	if (!handler && !(slot->is_sample && sub_of(aTHX_ r->process_event))) {
		r->has_passed_over |= slot->is_sample;
		refuse(r, slot);
		return NULL;
	}
	r->has_called = true;
	want_all(r);
	if (!handler)
		return call_process_event(aTHX_ t, slot);
	t->slot = slot->is_sample ? slot : NULL;
	fill_args(aTHX_ r, slot);
	return call_with(aTHX_ t, handler, slot->args, slot->nr_args);
}

static void flush(pTHX_ GV *gv)
{
	const IO *io = gv && isGV_with_GP(gv) ? GvIO(gv) : NULL;

	if (io && IoOFP(io))
		PerlIO_flush(IoOFP(io));
}

/* What was printed so far is seen while the script waits for events, also in a pipe or a file. */
static void show_now(pTHX)
{
	GV *out = gv_fetchpvs("STDOUT", 0, SVt_PVIO);

	flush(aTHX_ out);
	if (PL_defoutgv != out)
		flush(aTHX_ PL_defoutgv);
}

static OP *next_call(pTHX)
{
	struct turns *t = (struct turns *)PL_op;
	struct run *r = t->r;
	const struct sonde_event *ev;
	struct slot *slot;
	OP *op;

	/* As between two statements: what the sub before left there goes. */
	PL_stack_sp = PL_stack_base + t->height;
	FREETMPS;
	if (t->slot && sub_of(aTHX_ r->process_event))
		return call_process_event(aTHX_ t, t->slot);
	for (;;) {
		PERL_ASYNC_CHECK();
		r->ev = NULL;
		t->code = sonde_session_next_pending(r->s, &ev);
		if (!t->code) {
			want_all(r);
			if (r->is_live)
				show_now(aTHX);
			t->code = sonde_session_fill(r->s);
			if (t->code > 0)
				continue;
		}
		if (t->code <= 0)
			return NULL;
		slot = ev->schema < r->nr_slots ? r->slots[ev->schema] : NULL;
		if (!slot && !(slot = slot_of(aTHX_ r, ev->schema))) {
			t->code = -ENOMEM;
			return NULL;
		}
		r->ev = ev;
		if ((op = dispatch(aTHX_ t, slot)))
			return op;
	}
}

int run_events(pTHX_ struct run *r)
{
	struct turns t = { .r = r, .height = PL_stack_sp - PL_stack_base };
	const bool catches = CATCH_GET;

	t.next.op_type = OP_CUSTOM;
	t.next.op_ppaddr = next_call;
	t.next.op_flags = OPf_WANT_VOID;
	t.call.op_type = OP_ENTERSUB;
	t.call.op_ppaddr = PL_ppaddr[OP_ENTERSUB];
	t.call.op_flags = OPf_WANT_VOID | OPf_STACKED;
	t.call.op_next = &t.next;
	if (PERLDB_SUB && (PL_DBcv || (PL_DBcv = GvCV(PL_DBsub)))) /* perl -d */
		t.call.op_private |= OPpENTERSUB_DB;

	ENTER;
	SAVETMPS;
	SAVEOP();
	r->running = true;
	PL_op = &t.next;
	CATCH_SET(TRUE); /* an eval of a sub's has to end within this run of ops */
	CALLRUNOPS(aTHX);
	CATCH_SET(catches);
	if (!t.code)
		defects_tell(aTHX_ r); /* those whose count grew */
	r->running = false;
	FREETMPS;
	LEAVE;
	return t.code;
}
