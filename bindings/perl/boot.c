/* SPDX-License-Identifier: MIT */
/*
 * The functions that Perl code may call, and the moment at which events are delivered.
 *
 * A perf script is the program that perl runs. Sonde::Prelude is loaded before it (-M) and is
 * called when the program's own statements have run, before END blocks. perl has no hook for this,
 * but it runs a program through a pointer, PL_runops: our function runs the program as perl would
 * and then calls the prelude. If the program exits or dies, control does not return to our
 * function.
 */
#include "plsonde.h"

#include <perliol.h>
#include <signal.h>
#include <string.h>

struct script_context {
	struct perl_run *run;  /* run of the script; NULL if none */
	runops_proc_t program; /* the previous PL_runops, which runs programs */
	bool has_exited;       /* Perl code called exit() before the END blocks ran */
	bool has_exited_in_end;
};

#define MY_CXT_KEY "Sonde::_context" XS_VERSION
typedef struct script_context my_cxt_t;
START_MY_CXT

static int boot_run_program(pTHX)
{
	dMY_CXT;
	const bool is_whole = PL_op == PL_main_start;
	int ret;

	if (is_whole)
		PL_runops = MY_CXT.program;
	ret = MY_CXT.program(aTHX);
	if (is_whole) {
		dSP;

		PUSHMARK(SP);
		PUTBACK;
		call_pv("Sonde::Prelude::events", G_VOID | G_DISCARD | G_NOARGS);
	}
	return ret;
}

/*
 * perl ends a program that called exit() in the same way as one that died. Only the op differs, so
 * each exit that is compiled from now on sets a mark. perl requires that the previous checker is
 * kept in a static variable.
 */
static Perl_check_t check_exit;

/* exit 0 as the program's last statement: the program ran to its end, and events are delivered. */
static bool boot_ends_program(pTHX)
{
	const OP *root = PL_main_root, *op;

	if (!root || root->op_type != OP_LEAVE ||
	    (PL_op->op_flags & OPf_KIDS && SvIV(*PL_stack_sp)))
		return false;
	for (op = cLISTOPx(root)->op_first; op && op != PL_op; op = OpSIBLING(op))
		;
	if (!op)
		return false;
	while ((op = OpSIBLING(op)))
		if (op->op_type != OP_NULL && op->op_type != OP_NEXTSTATE)
			return false;
	return true;
}

static OP *boot_run_exit(pTHX)
{
	dMY_CXT;

	if (boot_ends_program(aTHX))
		return PL_op->op_next;
	if (PL_phase == PERL_PHASE_END)
		MY_CXT.has_exited_in_end = true;
	else
		MY_CXT.has_exited = true;
	return PL_ppaddr[OP_EXIT](aTHX);
}

static OP *boot_mark_exit(pTHX_ OP *op)
{
	op = check_exit(aTHX_ op);
	if (op->op_type == OP_EXIT)
		op->op_ppaddr = boot_run_exit;
	return op;
}

/* Sonde::_has_exited() */
SUB(has_exited)
{
	dXSARGS;
	dMY_CXT;

	if (items)
		croak_xs_usage(cv, "");
	ST(0) = boolSV(MY_CXT.has_exited);
	XSRETURN(1);
}

/*
 * Sonde::_has_died_in_end(), called in an END block: true if an END block before it died. After
 * that perl jumps back to where it began to run END blocks, below PL_start_env, and runs the next
 * one.
 */
SUB(has_died_in_end)
{
	dXSARGS;
	dMY_CXT;
	const JMPENV *env = PL_top_env;

	if (items)
		croak_xs_usage(cv, "");
	while (env->je_prev && env->je_prev->je_prev)
		env = env->je_prev;
	ST(0) = boolSV(env->je_ret && !MY_CXT.has_exited_in_end);
	XSRETURN(1);
}

/*
 * Sonde::_behind_program(): arranges that Sonde::Prelude::events() is called when the script's main
 * program ends.
 */
SUB(behind_program)
{
	dXSARGS;
	dMY_CXT;

	if (items)
		croak_xs_usage(cv, "");
	MY_CXT.program = PL_runops;
	PL_runops = boot_run_program;
	wrap_op_checker(OP_EXIT, boot_mark_exit, &check_exit);
	XSRETURN_EMPTY;
}

/* Sonde::_name_program(NAME): perl's own messages name the program so; $0 is the caller's part. */
SUB(name_program)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "name");
	Safefree(PL_origfilename);
	PL_origfilename = savepv(SvPV_nolen(ST(0)));
	XSRETURN_EMPTY;
}

SUB(last_error)
{
	dXSARGS;

	if (items)
		croak_xs_usage(cv, "");
	ST(0) = sv_2mortal(newSVpv(sonde_error_text(), 0));
	XSRETURN(1);
}

/* ---- Sonde::Run ------------------------------------------------------------------------------ */

static struct perl_run *boot_run_of(pTHX_ SV *sv)
{
	void *r;

	if (!object_find(aTHX_ sv, OBJECT_RUN, &r) || !r)
		croak("this is not a Sonde::Run");
	return r;
}

/*
 * Sonde::Run->new(TEXT, IS_LIVE[, LIVE]): undef if the session cannot be opened; Sonde::_error()
 * says why
 */
SUB(run_new_xs)
{
	dXSARGS;
	dMY_CXT;
	struct perl_run *r;

	if (items != 3 && items != 4)
		croak_xs_usage(cv, "class, text, is_live, live");
	r = run_new(aTHX_ SvPVbyte_nolen(ST(1)), SvTRUE(ST(2)), items == 4 ? ST(3) : NULL);
	if (!r)
		XSRETURN_UNDEF;
	MY_CXT.run = r;
	ST(0) = sv_2mortal(object_new(aTHX_ r, OBJECT_RUN));
	XSRETURN(1);
}

SUB(run_events_xs)
{
	dXSARGS;
	struct perl_run *r;
	int code;

	if (items != 1)
		croak_xs_usage(cv, "run");
	r = boot_run_of(aTHX_ ST(0));
	if (r->running)
		croak("the script's run has already started");
	/* Holds the script's run, because a sub may release all other references to it. */
	sv_2mortal(SvREFCNT_inc_simple_NN(SvRV(ST(0))));
	code = run_events(aTHX_ r);
	ST(0) = sv_2mortal(newSViv(code));
	XSRETURN(1);
}

SUB(run_stop_xs)
{
	dXSARGS;

	if (items != 1)
		croak_xs_usage(cv, "run");
	script_stop(&boot_run_of(aTHX_ ST(0))->base);
	XSRETURN_EMPTY;
}

/* One line about the event whose sub is running or died; undef outside subs. */
SUB(run_describe_xs)
{
	dXSARGS;
	const struct perl_run *r;
	char line[4096];
	int len;

	if (items != 1)
		croak_xs_usage(cv, "run");
	r = boot_run_of(aTHX_ ST(0));
	if (!r->base.ev)
		XSRETURN_UNDEF;
	len = prelude_describe(r->base.s, r->base.ev, line, sizeof(line));
	ST(0) = sv_2mortal(newSVpvn(line, len < 0 ? 0 : (STRLEN)len));
	XSRETURN(1);
}

/*
 * Returns (line, is_loss): the closing line, "" for a recording without defects, and true if data
 * were lost or damaged.
 */
SUB(run_defects_xs)
{
	dXSARGS;
	const struct sonde_defect *d;
	bool is_loss = false;
	struct perl_run *r;

	if (items != 1)
		croak_xs_usage(cv, "run");
	r = boot_run_of(aTHX_ ST(0));
	for (size_t i = 0; (d = sonde_session_defect(r->base.s, i)); i++)
		is_loss |= d->severity != SONDE_INFO;
	SP -= items;
	EXTEND(SP, 2);
	PUSHs(sv_2mortal(newSVpv(sonde_session_defects_line(r->base.s), 0)));
	PUSHs(boolSV(is_loss));
	XSRETURN(2);
}

/*
 * Returns (line, is_idle): the line about filters that no event passed, or "", and true if samples
 * were delivered but no sub of the script was called.
 */
SUB(run_unserved_xs)
{
	dXSARGS;
	const struct perl_run *r;

	if (items != 1)
		croak_xs_usage(cv, "run");
	r = boot_run_of(aTHX_ ST(0));
	SP -= items;
	EXTEND(SP, 2);
	PUSHs(sv_2mortal(newSVpv(sonde_session_filters_line(r->base.s), 0)));
	PUSHs(boolSV(r->base.has_passed_over && !r->base.has_called));
	XSRETURN(2);
}

/* ---- how far the reading is ------------------------------------------------------------------ */

/* Sonde::_wipe_progress(): wipes the progress line and ends it. */
SUB(wipe_progress)
{
	dXSARGS;

	if (items)
		croak_xs_usage(cv, "");
	sonde_progress_wipe(1);
	XSRETURN_EMPTY;
}

/*
 * The first byte that the script writes to STDERR through perl, by whatever function, ends the
 * progress line: until then the top layer of the handle has another Write. Output of a child or of
 * syswrite() to descriptor 2 appears after the line.
 */
static const PerlIO_funcs *stderr_layer;
static PerlIO_funcs wiping_layer;

static SSize_t boot_wipe_and_write(pTHX_ PerlIO *f, const void *buf, Size_t len)
{
	PerlIOBase(f)->tab = (PerlIO_funcs *)stderr_layer;
	sonde_progress_wipe(1);
	return PerlIO_write(f, buf, len);
}

/* Sonde::_wipe_before_writing() */
SUB(wipe_before_writing)
{
	dXSARGS;
	PerlIO *f = PerlIO_stderr();
	struct sigaction before;

	if (items)
		croak_xs_usage(cv, "");
	if (!PerlIOValid(f) || stderr_layer) {
		sonde_progress_wipe(1);
		XSRETURN_EMPTY;
	}
	if (!sigaction(SIGINT, NULL, &before) && before.sa_handler == SIG_DFL)
		/* perl sets its own handler when events are delivered */
		signal(SIGINT, sonde_progress_signal);
	stderr_layer = PerlIOBase(f)->tab;
	wiping_layer = *stderr_layer;
	wiping_layer.Write = boot_wipe_and_write;
	PerlIOBase(f)->tab = &wiping_layer;
	XSRETURN_EMPTY;
}

/* Sonde::_rules(TEXT): returns names and values of the rules that a session's text selects. */
SUB(rules_xs)
{
	dXSARGS;
	const struct sonde_rules *rules = prelude_rules_of_text(items ? SvPVbyte_nolen(ST(0)) : "");

	SP -= items;
	for (const struct prelude_rule *r = prelude_rules; r->name; r++) {
		mXPUSHp(r->name, strlen(r->name));
		mXPUSHu(prelude_rule_value(rules, r));
	}
	PUTBACK;
}

/* Takes a name and further names. Returns which of these was probably meant, undef if none. */
SUB(nearest_xs)
{
	dXSARGS;
	struct sonde_nearest n = { .size = sizeof(n) };
	const char *meant;

	if (items < 1)
		croak_xs_usage(cv, "wanted, name, ...");
	n.wanted = SvPVbyte_nolen(ST(0));
	for (int i = 1; i < items; i++)
		sonde_nearest_offer(&n, SvPVbyte_nolen(ST(i)));
	meant = prelude_meant(&n);
	ST(0) = meant ? sv_2mortal(newSVpv(meant, 0)) : &PL_sv_undef;
	XSRETURN(1);
}

/*
 * Returns names of tracepoints as sub names, "sched::sched_switch": with ix 0 all of the recording,
 * with ix 1 those with events so far.
 */
SUB(run_subs_xs)
{
	dXSARGS;
	dXSI32;
	struct perl_run *r;
	size_t nr;

	if (items != 1)
		croak_xs_usage(cv, "run");
	r = boot_run_of(aTHX_ ST(0));
	nr = sonde_session_schemas(r->base.s);
	SP -= items;
	EXTEND(SP, (SSize_t)nr);
	for (uint32_t i = 0; i < nr; i++) {
		const struct sonde_schema *sc = sonde_session_schema(r->base.s, i);

		if (sonde_schema_kind(sc) == SONDE_TRACEPOINT && (!ix || run_has_met(r, i)))
			PUSHs(sv_2mortal(Perl_newSVpvf(aTHX_ "%s::%s", sonde_schema_system(sc),
						       sonde_schema_event(sc))));
	}
	PUTBACK;
}

void run_destroy(pTHX_ void *p)
{
	dMY_CXT;

	if (MY_CXT.run == p)
		MY_CXT.run = NULL;
	run_free(aTHX_ p);
}

/* ---- Perf::Trace::Context -------------------------------------------------------------------- */

/* The context that subs get is a number; every number means the current event. */
SUB(common_field_xs)
{
	dXSARGS;
	dXSI32;
	dMY_CXT;

	if (items != 1)
		croak_xs_usage(cv, "context");
	if (!MY_CXT.run || !MY_CXT.run->base.ev)
		croak("there is no current event: only subs that are called for an event may ask "
		      "this");
	ST(0) = sv_2mortal(newSViv(prelude_context_value(MY_CXT.run->base.s, MY_CXT.run->base.ev,
							 (enum prelude_context)ix)));
	XSRETURN(1);
}

static void boot_new_context_subs(pTHX)
{
	for (I32 i = 0; i < PRELUDE_NR_CONTEXT; i++) {
		char name[64];
		CV *cv;

		snprintf(name, sizeof(name), "Perf::Trace::Context::%s",
			 prelude_context_functions[i].name);
		cv = newXS(name, common_field_xs, __FILE__);
		CvXSUBANY(cv).any_i32 = i;
	}
}

SUB(clone_context)
{
	dXSARGS;
	MY_CXT_CLONE;

	PERL_UNUSED_VAR(items);
	MY_CXT.run = NULL;
	XSRETURN_EMPTY;
}

SONDE_API XS_EXTERNAL(boot_Sonde);
XS_EXTERNAL(boot_Sonde)
{
	static const struct perl_sub subs[] = {
		{ "Sonde::_behind_program", behind_program, 0 },
		{ "Sonde::_name_program", name_program, 0 },
		{ "Sonde::_error", last_error, 0 },
		{ "Sonde::_has_exited", has_exited, 0 },
		{ "Sonde::_has_died_in_end", has_died_in_end, 0 },
		{ "Sonde::CLONE", clone_context, 0 },
		{ "Sonde::Run::new", run_new_xs, 0 },
		{ "Sonde::Run::events", run_events_xs, 0 },
		{ "Sonde::Run::stop", run_stop_xs, 0 },
		{ "Sonde::Run::describe", run_describe_xs, 0 },
		{ "Sonde::Run::defects", run_defects_xs, 0 },
		{ "Sonde::Run::subs", run_subs_xs, 0 },
		{ "Sonde::Run::met", run_subs_xs, 1 },
		{ "Sonde::Run::unserved", run_unserved_xs, 0 },
		{ "Sonde::_wipe_before_writing", wipe_before_writing, 0 },
		{ "Sonde::_wipe_progress", wipe_progress, 0 },
		{ "Sonde::_nearest", nearest_xs, 0 },
		{ "Sonde::_rules", rules_xs, 0 },
		{ 0 },
	};

	dXSBOOTARGSXSAPIVERCHK;

	PERL_UNUSED_VAR(items);
	object_boot(aTHX);
	object_add_subs(aTHX_ subs);
	boot_new_context_subs(aTHX);
	session_boot(aTHX);
	live_boot(aTHX);
	program_boot(aTHX);
	counts_boot(aTHX);
	needs_boot(aTHX);
	{
		MY_CXT_INIT;
		MY_CXT.run = NULL;
		MY_CXT.program = NULL;
		MY_CXT.has_exited = MY_CXT.has_exited_in_end = false;
	}
	Perl_xs_boot_epilog(aTHX_ ax);
}
