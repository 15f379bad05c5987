/* SPDX-License-Identifier: MIT */
/* main::trace_defect, ours: what is wrong with the recording, told to the script as it is met. */
#include "plsonde.h"

static void call_sub(pTHX_ CV *cv, const struct sonde_defect *d)
{
	struct prelude_record_value values[PRELUDE_CALLBACK_ARGS];
	dSP;

	prelude_defect_values(d, values);
	ENTER;
	SAVETMPS;
	PUSHMARK(SP);
	EXTEND(SP, (SSize_t)prelude_trace_defect->nr_args);
	for (size_t i = 0; i < prelude_trace_defect->nr_args; i++) {
		const struct prelude_record_value *v = &values[i];

		PUSHs(sv_2mortal(v->kind == PRELUDE_RECORD_TEXT ? newSVpvn(v->text, v->len)
				 : v->kind == PRELUDE_RECORD_UINT ? newSVuv((UV)v->u)
								  : newSViv((IV)v->i)));
	}
	PUTBACK;
	call_sv((SV *)cv, G_VOID | G_DISCARD);
	FREETMPS;
	LEAVE;
}

void defects_tell(pTHX_ struct run *r)
{
	const struct sonde_defect *d;

	/* The sub may cause further ones, and may be replaced by itself: each is asked for anew. */
	for (size_t i = 0; sub_of(aTHX_ r->trace_defect) && (d = sonde_session_defect(r->s, i)); i++) {
		size_t at = 0;

		while (at < r->nr_told && r->told[at].name != d->name)
			at++;
		if (at == DEFECTS_TOLD || (at < r->nr_told && r->told[at].count == d->count))
			continue;
		r->told[at] = (struct told){ d->name, d->count };
		r->nr_told += at == r->nr_told;
		call_sub(aTHX_ GvCV(r->trace_defect), d);
	}
}
