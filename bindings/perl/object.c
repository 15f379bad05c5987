/* SPDX-License-Identifier: MIT */
/*
 * Objects of the extension. The pointer is attached to the scalar as magic that Perl code cannot
 * make. So only scalars that we blessed are accepted, whatever class a script blesses its own data
 * into.
 */
#include "plsonde.h"

#include <stdio.h>
#include <stdlib.h>

static int object_free_memory(pTHX_ SV *sv, MAGIC *mg)
{
	PERL_UNUSED_VAR(sv);
	free(mg->mg_ptr);
	return 0;
}

static const struct {
	const char *name;
	void (*destroy)(pTHX_ void *p);
	/*
	 * The memory is freed with the scalar, not before: events may outlive a closed session.
	 * destroy() may be called several times.
	 */
	bool is_kept;
	MGVTBL magic;
} classes[] = {
	[OBJECT_SESSION] = { "Sonde", session_destroy, true, { .svt_free = object_free_memory } },
	[OBJECT_EVENT] = { "Sonde::Event", event_destroy, false, { 0 } },
	[OBJECT_RUN] = { "Sonde::Run", run_destroy, false, { 0 } },
	[OBJECT_LIVE] = { "Sonde::Live", live_destroy, false, { 0 } },
	[OBJECT_COUNTS] = { "Sonde::Counts", counts_destroy, false, { 0 } },
	[OBJECT_FILTER] = { "Sonde::Filter", program_filter_destroy, false, { 0 } },
	[OBJECT_NEEDS] = { "Sonde::Needs", needs_destroy, false, { 0 } },
};

_Static_assert(sizeof(classes) / sizeof(*classes) == NR_OBJECT_CLASSES, "a class is missing");

static MAGIC *object_magic_of(pTHX_ SV *sv, enum object_class class)
{
	if (!SvROK(sv) || !sv_derived_from(sv, classes[class].name) || SvTYPE(SvRV(sv)) < SVt_PVMG)
		return NULL;
	return mg_findext(SvRV(sv), PERL_MAGIC_ext, &classes[class].magic);
}

const char *object_class_name(enum object_class class)
{
	return classes[class].name;
}

SV *object_new(pTHX_ void *p, enum object_class class)
{
	SV *sv = newSV_type(SVt_PVMG), *ref = newRV_noinc(sv);

	sv_magicext(sv, NULL, PERL_MAGIC_ext, &classes[class].magic, p, 0);
	return sv_bless(ref, gv_stashpv(classes[class].name, GV_ADD));
}

bool object_find(pTHX_ SV *sv, enum object_class class, void **ret)
{
	const MAGIC *mg = object_magic_of(aTHX_ sv, class);

	if (mg)
		*ret = mg->mg_ptr;
	return mg != NULL;
}

/* ---- functions for Perl ---------------------------------------------------------------------- */

/* DESTROY of all classes; ix: the class. The pointer of an object is freed once. */
SUB(object_destroy_xs)
{
	dXSARGS;
	dXSI32;
	MAGIC *mg;
	void *p;

	if (items != 1)
		croak_xs_usage(cv, "object");
	mg = object_magic_of(aTHX_ ST(0), (enum object_class)ix);
	p = mg ? mg->mg_ptr : NULL;
	if (mg && !classes[ix].is_kept)
		mg->mg_ptr = NULL;
	if (p)
		classes[ix].destroy(aTHX_ p);
	XSRETURN_EMPTY;
}

/* A thread that Perl code starts gets none of the objects. */
SUB(object_clone_skip_xs)
{
	dXSARGS;

	PERL_UNUSED_VAR(items);
	ST(0) = &PL_sv_yes;
	XSRETURN(1);
}

void object_add_subs(pTHX_ const struct perl_sub *subs)
{
	for (; subs->name; subs++) {
		CV *cv = newXS(subs->name, subs->function, __FILE__);

		CvXSUBANY(cv).any_i32 = subs->ix;
	}
}

void object_boot(pTHX)
{
	for (I32 i = 0; i < NR_OBJECT_CLASSES; i++) {
		char destroy[64], skip[64];
		const struct perl_sub subs[] = { { destroy, object_destroy_xs, i },
						 { skip, object_clone_skip_xs, 0 },
						 { 0 } };

		snprintf(destroy, sizeof(destroy), "%s::DESTROY", classes[i].name);
		snprintf(skip, sizeof(skip), "%s::CLONE_SKIP", classes[i].name);
		object_add_subs(aTHX_ subs);
	}
}
