/* SPDX-License-Identifier: MIT */
/*
 * Callbacks for events other than samples: main::trace_defect, which gets the defects of the
 * recording.
 */
#include "plsonde.h"

void callback_call(pTHX_ CV *cv, const struct prelude_callback *cb,
		   const struct prelude_record_value *values)
{
	dSP;

	ENTER;
	SAVETMPS;
	PUSHMARK(SP);
	EXTEND(SP, (SSize_t)cb->nr_args);
	for (size_t i = 0; i < cb->nr_args; i++) {
		const struct prelude_record_value *v = &values[i];

		PUSHs(sv_2mortal(v->kind == PRELUDE_RECORD_TEXT   ? newSVpvn(v->text, v->len)
				 : v->kind == PRELUDE_RECORD_UINT ? newSVuv((UV)v->u)
								  : newSViv((IV)v->i)));
	}
	PUTBACK;
	call_sv((SV *)cv, G_VOID | G_DISCARD);
	FREETMPS;
	LEAVE;
}
