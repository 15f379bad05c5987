/* SPDX-License-Identifier: MIT */
/*
 * Objects of the extension. The pointer is attached to the scalar as magic that Perl code cannot
 * make. So only scalars that we blessed are accepted, whatever class a script blesses its own data
 * into.
 */
#include "plsonde.h"

#include <stdlib.h>

static int object_free_memory(pTHX_ SV *sv, MAGIC *mg)
{
	PERL_UNUSED_VAR(sv);
	free(mg->mg_ptr);
	return 0;
}

static const struct {
	const char *name;
	MGVTBL magic;
} classes[] = {
	/* Events may outlive a closed session: its memory is freed with the scalar. */
	[OBJECT_SESSION] = { "Sonde", { .svt_free = object_free_memory } },
	[OBJECT_EVENT] = { "Sonde::Event", { 0 } },
	[OBJECT_RUN] = { "Sonde::Run", { 0 } },
	[OBJECT_LIVE] = { "Sonde::Live", { 0 } },
	[OBJECT_COUNTS] = { "Sonde::Counts", { 0 } },
	[OBJECT_FILTER] = { "Sonde::Filter", { 0 } },
};

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

void *object_take(pTHX_ SV *sv, enum object_class class)
{
	MAGIC *mg = object_magic_of(aTHX_ sv, class);
	void *p = mg ? mg->mg_ptr : NULL;

	if (mg)
		mg->mg_ptr = NULL;
	return p;
}
