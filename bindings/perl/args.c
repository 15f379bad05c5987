/* SPDX-License-Identifier: MIT */
/* The scalars that subs are called with are reused for the next event if nobody else holds them. */
#include "args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NSECS_PER_SEC 1000000000u

/* ---- texts that subs borrow ------------------------------------------------------------- */

static void text_arg_done(pTHX_ struct text_arg *a)
{
	SvREFCNT_dec(a->own);
	SvREFCNT_dec(a->borrowed);
}

static void text_arg_lend(pTHX_ struct text_arg *a)
{
	SvREFCNT_dec(a->borrowed);
	a->borrowed = newSVpvn_share(a->at, (I32)SvCUR(a->own), SvSHARED_HASH(a->own));
}

static void text_arg_set(pTHX_ struct text_arg *a, const char *text)
{
	text_arg_done(aTHX_ a);
	a->own = newSVpvn_share(text, (I32)strlen(text), 0);
	a->at = SvPVX_const(a->own);
	a->borrowed = NULL;
	text_arg_lend(aTHX_ a);
}

/* Returns the scalar to pass on: the previous one if nobody holds or changed it. */
static inline SV *text_arg(pTHX_ struct text_arg *a)
{
	const SV *sv = a->borrowed;

	if (__builtin_expect(SvREFCNT(sv) != 1 || SvTYPE(sv) >= SVt_PVMG ||
				     (SvFLAGS(sv) & (SVf_POK | SVf_UTF8)) != SVf_POK ||
				     SvPVX_const(sv) != a->at,
			     0))
		text_arg_lend(aTHX_ a);
	return a->borrowed;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static void args_conv_init(struct slot *slot, struct conv *c, const struct sonde_field *f,
			   const struct sonde_rules *rules)
{
	const bool is_number = prelude_value_kind(f) == PRELUDE_INT,
		   is_signed = is_number && prelude_value_signed(f, rules);

	*c = (struct conv){ .field = f, .rules = rules, .offset = f->offset, .kind = CONV_OTHER };
	if (!is_number || !prelude_is_plain(f))
		return;
	if (f->width == 4)
		c->kind = is_signed ? CONV_I32 : CONV_U32;
	else if (f->width == 8)
		c->kind = is_signed ? CONV_I64 : CONV_U64;
	if (c->kind != CONV_OTHER && f->offset + f->width > slot->plain_bytes)
		slot->plain_bytes = f->offset + f->width;
}

int args_init(pTHX_ struct perl_run *r, struct slot *slot, const char *name)
{
	const struct sonde_schema *sc = slot->base.sc;
	const struct sonde_field *fields = prelude_fields(sc, &slot->nr_fields),
				 *pid = sonde_schema_field(sc, "common_pid");

	text_arg_set(aTHX_ & slot->name, name);
	slot->nr_args = PRELUDE_NR_COMMON + slot->nr_fields;
	slot->args = calloc(slot->nr_args, sizeof(*slot->args));
	slot->fields = calloc(slot->nr_fields + 1, sizeof(*slot->fields));
	if (!slot->args || !slot->fields)
		return -ENOMEM;
	for (size_t i = 0; i < slot->nr_args; i++)
		if (i != PRELUDE_EVENT_NAME && i != PRELUDE_COMM)
			slot->args[i] = newSViv(0);
	for (size_t i = 0; i < slot->nr_fields; i++)
		args_conv_init(slot, &slot->fields[i], &fields[i], r->base.rules);
	if (pid)
		args_conv_init(slot, &slot->pid, pid, sonde_rules_get(0));
	slot->pid_is_thread = prelude_pid_is_thread(sc);
	return 0;
}

void args_done(pTHX_ struct slot *slot)
{
	for (size_t i = 0; slot->args && i < slot->nr_args; i++)
		if (i != PRELUDE_EVENT_NAME && i != PRELUDE_COMM) /* borrowed */
			SvREFCNT_dec(slot->args[i]);
	for (size_t i = 0; i < NR_PROCESS_ARGS; i++)
		SvREFCNT_dec(slot->process[i]);
	text_arg_done(aTHX_ & slot->name);
	free(slot->args);
	free(slot->fields);
}

void args_comms_done(pTHX_ struct perl_run *r)
{
	for (size_t i = 0; i < COMM_ARGS; i++)
		text_arg_done(aTHX_ & r->comms[i]);
}

/* ---- for an event ---------------------------------------------------------------------------- */

/*
 * Returns the scalar of the previous event if nobody else holds it and nothing was tied to it; else
 * a new one.
 */
static inline SV *args_fresh(pTHX_ SV **args, size_t i)
{
	SV *sv = args[i];

	if (__builtin_expect(sv && SvREFCNT(sv) == 1 && !SvTHINKFIRST(sv) && !SvMAGICAL(sv) &&
				     SvTYPE(sv) < SVt_PVMG,
			     1))
		return sv;
	SvREFCNT_dec(sv);
	return args[i] = newSV(0);
}

#define NUMBER_FLAGS                                                                        \
	(SVTYPEMASK | SVf_THINKFIRST | SVf_IVisUV | SVs_RMG | SVs_GMG | SVs_SMG | SVf_POK | \
	 SVf_NOK | SVf_ROK | SVf_IOK)

/* Nearly always a number replaces a number that nobody else holds. */
static inline void args_set_iv(pTHX_ SV **args, size_t i, IV value)
{
	SV *sv = args[i];

	if (__builtin_expect(
		    SvREFCNT(sv) == 1 && (SvFLAGS(sv) & NUMBER_FLAGS) == (SVt_IV | SVf_IOK), 1))
		SvIV_set(sv, value);
	else
		sv_setiv(args_fresh(aTHX_ args, i), value);
}

static inline void args_set_uv(pTHX_ SV **args, size_t i, UV value)
{
	SV *sv = args[i];

	if (__builtin_expect(value <= IV_MAX, 1))
		args_set_iv(aTHX_ args, i, (IV)value);
	else if (SvREFCNT(sv) == 1 &&
		 (SvFLAGS(sv) & NUMBER_FLAGS) == (SVt_IV | SVf_IOK | SVf_IVisUV))
		SvUV_set(sv, value);
	else
		sv_setuv(args_fresh(aTHX_ args, i), value);
}

static inline void args_set_field(pTHX_ SV **args, size_t i, const struct conv *c,
				  const struct sonde_event *ev, bool is_plain)
{
	uint64_t n;
	uint32_t word;

	if (c->kind == CONV_OTHER || !is_plain) {
		value_set_field(aTHX_ args_fresh(aTHX_ args, i), ev, c->field, c->rules);
	} else if (c->kind <= CONV_U32) {
		memcpy(&word, ev->bytes + c->offset, sizeof(word));
		args_set_iv(aTHX_ args, i, c->kind == CONV_I32 ? (IV)(int32_t)word : (IV)word);
	} else {
		memcpy(&n, ev->bytes + c->offset, sizeof(n));
		if (c->kind == CONV_I64)
			args_set_iv(aTHX_ args, i, (IV)n);
		else
			args_set_uv(aTHX_ args, i, n);
	}
}

/* Names of threads repeat, so some of them are kept. */
static inline SV *arg_of_comm(pTHX_ struct perl_run *r, uint32_t id)
{
	struct text_arg *a = &r->comms[id % COMM_ARGS];

	if (__builtin_expect(!a->own || r->comm_ids[id % COMM_ARGS] != id, 0)) {
		const char *comm = sonde_session_string(r->base.s, id);

		text_arg_set(aTHX_ a, comm ? comm : "");
		r->comm_ids[id % COMM_ARGS] = id;
	}
	return text_arg(aTHX_ a);
}

static void args_set_callchain(pTHX_ struct slot *slot, const struct sonde_event *ev)
{
	SV **at = &slot->args[PRELUDE_CALLCHAIN];

	/* An empty list that nobody holds or filled is reused. */
	if (!slot->base.has_callchain && *at && SvREFCNT(*at) == 1 && SvROK(*at) &&
	    SvREFCNT(SvRV(*at)) == 1 && SvTYPE(SvRV(*at)) == SVt_PVAV && !SvOBJECT(SvRV(*at)) &&
	    AvFILLp((AV *)SvRV(*at)) < 0)
		return;
	SvREFCNT_dec(*at);
	*at = slot->base.has_callchain ? value_callchain(aTHX_ ev) : newRV_noinc((SV *)newAV());
}

void args_fill(pTHX_ struct perl_run *r, struct slot *slot)
{
	const struct sonde_event *ev = r->base.ev;
	const bool is_plain =
		!(ev->flags & SONDE_EVENT_SWAPPED) && ev->bytes_len >= slot->plain_bytes;
	SV **a = slot->args;

	a[PRELUDE_EVENT_NAME] = text_arg(aTHX_ & slot->name);
	args_set_iv(aTHX_ a, PRELUDE_CONTEXT, PTR2IV(r));
	args_set_iv(aTHX_ a, PRELUDE_CPU,
		    r->base.rules->unsigned_ids ? (IV)(uint32_t)ev->cpu : (IV)ev->cpu);
	args_set_uv(aTHX_ a, PRELUDE_SECS, ev->time_ns / NSECS_PER_SEC);
	args_set_iv(aTHX_ a, PRELUDE_NSECS, (IV)(ev->time_ns % NSECS_PER_SEC));
	if (slot->pid.field)
		args_set_field(aTHX_ a, PRELUDE_PID, &slot->pid, ev, is_plain);
	else
		args_set_iv(aTHX_ a, PRELUDE_PID, slot->pid_is_thread ? ev->tid : 0);
	a[PRELUDE_COMM] = arg_of_comm(aTHX_ r, ev->comm);
	args_set_callchain(aTHX_ slot, ev);
	for (size_t i = 0; i < slot->nr_fields; i++)
		args_set_field(aTHX_ a, PRELUDE_NR_COMMON + i, &slot->fields[i], ev, is_plain);
}

void args_fill_process(pTHX_ struct perl_run *r, struct slot *slot)
{
	const struct sonde_event *ev = r->base.ev;
	SV **a = slot->process;

	sample_set_record(aTHX_ args_fresh(aTHX_ a, ARG_RECORD), ev);
	sample_set_attr(aTHX_ args_fresh(aTHX_ a, ARG_ATTR), slot->base.sc);
	sample_set_sample(aTHX_ args_fresh(aTHX_ a, ARG_SAMPLE), ev);
	sv_setpvn(args_fresh(aTHX_ a, ARG_RAW), ev->bytes ? (const char *)ev->bytes : "",
		  ev->bytes ? ev->bytes_len : 0);
}
