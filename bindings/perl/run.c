/* SPDX-License-Identifier: MIT */
/*
 * Perl's part of the loop over a script's events (prelude/loop.h). A sub is found through its glob,
 * which is looked up once per event type: a sub that the script defines while it runs is called
 * from then on.
 */
#include "args.h"

#include <stdlib.h>
#include <string.h>

static const struct script_lang lang;

/* ---- event types ----------------------------------------------------------------------------- */

static inline struct perl_run *run_of(struct script_run *base)
{
	return (struct perl_run *)base;
}

static inline struct slot *run_slot_of(struct script_slot *base)
{
	return (struct slot *)base;
}

static GV *run_glob(pTHX_ const char *name)
{
	return (GV *)SvREFCNT_inc((SV *)gv_fetchpv(name, GV_ADD | GV_ADDMULTI, SVt_PVCV));
}

static int run_slot_init(struct script_run *base, struct script_slot *s)
{
	struct slot *slot = run_slot_of(s);
	char name[512];
	dTHXa(run_of(base)->perl);

	if (s->callback != prelude_trace_defect) /* perf's other callbacks exist only in Python */
		s->callback = NULL;
	if (s->kind != SONDE_TRACEPOINT)
		return 0;
	if (prelude_handler_name(s->sc, lang.separator, name, sizeof(name)) < 0) {
		s->is_defined = true;
		return 0;
	}
	slot->handler = run_glob(aTHX_ name);
	return args_init(aTHX_ run_of(base), slot, name);
}

static void run_slot_done(struct script_run *base, struct script_slot *s)
{
	struct slot *slot = run_slot_of(s);
	dTHXa(run_of(base)->perl);

	args_done(aTHX_ slot);
	SvREFCNT_dec((SV *)slot->handler);
}

bool run_has_met(const struct perl_run *r, uint32_t id)
{
	return id < r->base.nr_slots && r->base.slots[id];
}

/* ---- definitions, before the first event of a type ------------------------------------------- */

static void run_call_define(pTHX_ CV *cv, const struct slot *slot, const struct sonde_define *d,
			    bool is_signed)
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
		PUSHs(sv_2mortal(is_signed ? newSViv((IV)d->value) : newSVuv((UV)d->value)));
		PUSHs(sv_2mortal(newSVpv(d->text, 0)));
		break;
	}
	PUTBACK;
	call_sv((SV *)cv, G_SCALAR | G_DISCARD);
	FREETMPS;
	LEAVE;
}

static int run_define(struct script_run *base, struct script_slot *s, const struct sonde_define *d)
{
	struct perl_run *r = run_of(base);
	dTHXa(r->perl);
	CV *cv = sub_of(aTHX_ r->defines[d->kind]);

	if (cv)
		run_call_define(aTHX_ cv, run_slot_of(s), d,
				prelude_define_signed(s->sc, d, base->rules));
	return 0;
}

/* By default warns with one line on stderr, only once. */
static void run_warn_of_shift(pTHX_ struct perl_run *r, const struct slot *slot, const CV *cv)
{
	const char *name = r->warned_of_shift || r->base.rules->passes_over_handlers
				   ? NULL
				   : params_shifted(aTHX_ cv, slot->base.sc);
	const COP *at;
	SV *line;
	dSP;

	if (!name)
		return;
	r->warned_of_shift = true;
	at = CvSTART(cv) && CvSTART(cv)->op_type == OP_NEXTSTATE ? cCOPx(CvSTART(cv)) : NULL;
	ENTER;
	SAVETMPS;
	line = sv_2mortal(Perl_newSVpvf(
		aTHX_
		"%s:%u: sub %s has no $common_callchain after its seventh parameter, as before "
		"2013: each parameter from $%s on gets the value of the one before it, as in perf; "
		"add "
		"$common_callchain there",
		at ? CopFILE(at) : "-", at ? (unsigned int)CopLINE(at) : 0,
		SvPVX_const(slot->name.own), name));
	PUSHMARK(SP);
	XPUSHs(line);
	PUTBACK;
	call_pv("Sonde::Prelude::say_line", G_VOID | G_DISCARD);
	FREETMPS;
	LEAVE;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/*
 * The loop is a program of two ops: `next` serves events until one has a sub, then puts the sub and
 * its arguments on the stack; `call` is perl's entersub, after which `next` runs again. So a sub is
 * called as any statement of Perl calls one. call_sv() would begin and end a run of ops, a scope
 * and its temporaries each time.
 */
struct turns {
	OP next; /* must be first: PL_op is the loop in run_next_call() */
	UNOP call;
	struct perl_run *r;
	SSize_t height; /* height of the stack */
	int code;       /* the result of the loop */
};

static void run_push_call(pTHX_ CV *cv, SV **args, size_t nr)
{
	dSP;

	PUSHMARK(SP);
	EXTEND(SP, (SSize_t)nr + 1);
	Copy(args, SP + 1, nr, SV *);
	SP += nr;
	PUSHs((SV *)cv);
	PUTBACK;
}

static void run_push_process_event(pTHX_ struct perl_run *r, struct slot *slot)
{
	r->due = NULL;
	args_fill_process(aTHX_ r, slot);
	run_push_call(aTHX_ GvCV(r->process_event), slot->process, NR_PROCESS_ARGS);
}

static int run_find_function(struct script_run *base, const struct script_slot *s, const char *name,
			     void **ret)
{
	struct perl_run *r = run_of(base);
	dTHXa(r->perl);

	*ret = strcmp(name, prelude_trace_defect->name) ? NULL : sub_of(aTHX_ r->trace_defect);
	return *ret != NULL;
}

static int run_call_callback(struct script_run *base, const struct prelude_callback *cb,
			     void *function, const struct prelude_record_value *values)
{
	dTHXa(run_of(base)->perl);

	callback_call(aTHX_ function, cb, values);
	return 0;
}

/* perf calls process_event for each sample; for tracepoints it does so after their handler. */
SCRIPT_HOT int run_find_handler(struct script_run *base, struct script_slot *s)
{
	struct perl_run *r = run_of(base);
	struct slot *slot = run_slot_of(s);
	dTHXa(r->perl);

	slot->sub = NULL;
	if (slot->handler) {
		slot->sub = sub_of(aTHX_ slot->handler);
		if (slot->sub && !slot->checked) {
			slot->checked = true;
			run_warn_of_shift(aTHX_ r, slot, slot->sub);
		}
		if (!slot->sub)
			slot->sub = sub_of(aTHX_ r->unhandled);
	}
	return slot->sub || sub_of(aTHX_ r->process_event);
}

SCRIPT_HOT int run_make_args(struct script_run *base, struct script_slot *s)
{
	dTHXa(run_of(base)->perl);

	if (run_slot_of(s)->sub)
		args_fill(aTHX_ run_of(base), run_slot_of(s));
	return 0;
}

/* perl calls the sub after script_next() has returned. */
SCRIPT_HOT int run_call(struct script_run *base, struct script_slot *s)
{
	struct perl_run *r = run_of(base);
	struct slot *slot = run_slot_of(s);
	dTHXa(r->perl);

	if (!slot->sub) {
		run_push_process_event(aTHX_ r, slot);
		return 1;
	}
	r->due = slot;
	run_push_call(aTHX_ slot->sub, slot->args, slot->nr_args);
	return 1;
}

SCRIPT_HOT bool run_may_want(struct script_run *base)
{
	return true;
}

static void run_flush(pTHX_ GV *gv)
{
	const IO *io = gv && isGV_with_GP(gv) ? GvIO(gv) : NULL;

	if (io && IoOFP(io))
		PerlIO_flush(IoOFP(io));
}

/* Flushes output while the script waits for events, also to a pipe or a file. */
static void run_show_now(pTHX)
{
	GV *out = gv_fetchpvs("STDOUT", 0, SVt_PVIO);

	run_flush(aTHX_ out);
	if (PL_defoutgv != out)
		run_flush(aTHX_ PL_defoutgv);
}

SCRIPT_HOT void run_between(struct script_run *base)
{
	dTHXa(run_of(base)->perl);

	PERL_ASYNC_CHECK();
}

static int run_fill(struct script_run *base)
{
	dTHXa(run_of(base)->perl);

	if (run_of(base)->is_live)
		run_show_now(aTHX);
	return sonde_session_fill(base->s);
}

static int run_failed(struct script_run *base, int code)
{
	return code;
}

static const struct script_lang lang = {
	.separator = "::",
	.slot_size = sizeof(struct slot),
	.slot_init = run_slot_init,
	.slot_done = run_slot_done,
	.find_function = run_find_function,
	.define = run_define,
	.call_callback = run_call_callback,
	.fill = run_fill,
	.failed = run_failed,
	.between = run_between,
	.find_handler = run_find_handler,
	.make_args = run_make_args,
	.call = run_call,
	.may_want = run_may_want,
};

static OP *run_next_call(pTHX)
{
	struct turns *t = (struct turns *)PL_op;
	struct perl_run *r = t->r;

	/* As between two statements, removes what the previous sub left on the stack. */
	PL_stack_sp = PL_stack_base + t->height;
	FREETMPS;
	if (r->due && sub_of(aTHX_ r->process_event)) {
		run_push_process_event(aTHX_ r, r->due);
		return (OP *)&t->call;
	}
	t->code = script_next(&r->base, &lang);
	return t->code > 0 ? (OP *)&t->call : NULL;
}

int run_events(pTHX_ struct perl_run *r)
{
	struct turns t = { .r = r, .height = PL_stack_sp - PL_stack_base };
	const bool catches = CATCH_GET;

	t.next.op_type = OP_CUSTOM;
	t.next.op_ppaddr = run_next_call;
	t.next.op_flags = OPf_WANT_VOID;
	t.call.op_type = OP_ENTERSUB;
	t.call.op_ppaddr = PL_ppaddr[OP_ENTERSUB];
	t.call.op_flags = OPf_WANT_VOID | OPf_STACKED;
	t.call.op_next = &t.next;
	if (PERLDB_SUB && (PL_DBcv || (PL_DBcv = GvCV(PL_DBsub)))) /* perl -d */
		t.call.op_private |= OPpENTERSUB_DB;

	t.code = script_begin(&r->base, &lang);
	if (t.code < 0)
		return t.code;
	ENTER;
	SAVETMPS;
	SAVEOP();
	r->running = true;
	PL_op = &t.next;
	CATCH_SET(TRUE); /* an eval in a sub must end within this run of ops */
	CALLRUNOPS(aTHX);
	CATCH_SET(catches);
	if (!t.code)
		t.code = script_end(&r->base, &lang);
	r->running = false;
	FREETMPS;
	LEAVE;
	return t.code;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

struct perl_run *run_new(pTHX_ const char *text, bool is_live, SV *live)
{
	struct sonde_live *l = live ? live_handle(aTHX_ live) : NULL;
	struct perl_run *r = calloc(1, sizeof(*r));

	if (!r || (l ? sonde_live_session(l, text, &r->base.s)
		     : sonde_session_open(&r->base.s, text, NULL)) < 0) {
		free(r);
		return NULL;
	}
	r->live = live ? SvREFCNT_inc(SvRV(live)) : NULL;
	r->base.rules = sonde_session_rules(r->base.s);
#ifdef MULTIPLICITY
	r->perl = aTHX;
#endif
	r->is_live = is_live;
	r->unhandled = run_glob(aTHX_ "main::" PRELUDE_UNHANDLED);
	r->process_event = run_glob(aTHX_ "main::" PRELUDE_PROCESS_EVENT);
	r->trace_defect = run_glob(aTHX_ "main::trace_defect");
	for (size_t i = 0; i < 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "main::%s", prelude_define_names[i]);
		r->defines[i] = run_glob(aTHX_ name);
	}
	return r;
}

void run_free(pTHX_ struct perl_run *r)
{
	if (!r)
		return;
	script_done(&r->base, &lang);
	args_comms_done(aTHX_ r);
	SvREFCNT_dec((SV *)r->unhandled);
	SvREFCNT_dec((SV *)r->process_event);
	SvREFCNT_dec((SV *)r->trace_defect);
	for (size_t i = 0; i < 4; i++)
		SvREFCNT_dec((SV *)r->defines[i]);
	if (r->live)
		SvREFCNT_dec(r->live); /* closes the session */
	else
		sonde_session_close(r->base.s);
	free(r);
}
