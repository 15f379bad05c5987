/* SPDX-License-Identifier: MIT */
/*
 * Subs written before 2013 have seven common parameters, without a call chain. Perl assigns
 * parameters by position, so each later parameter gets the value of its neighbour, as with perf.
 * Such a sub is recognised by the names in its first `my (...)`.
 */
#include "plsonde.h"

static bool params_is_scalar(const PADNAME *name)
{
	return name && PadnamePV(name) && PadnamePV(name)[0] == '$' && PadnameLEN(name) > 1 &&
	       !PadnameOUTER(name);
}

/*
 * True for a field's name or, after names that perf generated, for any name but the call chain's.
 */
static bool params_is_shifted(const char *name, const struct sonde_schema *sc, bool perfs_names)
{
	const struct sonde_field *f = sonde_schema_field(sc, name);

	return f ? strncmp(name, "common_", 7) != 0 : perfs_names && !strstr(name, "chain");
}

const char *params_shifted(pTHX_ const CV *cv, const struct sonde_schema *sc)
{
	const PADNAME *first = NULL, *last = NULL;
	PADNAMELIST *names;
	int n = 0;

	if (CvISXSUB(cv) || !CvPADLIST(cv))
		return NULL;
	names = PadlistNAMES(CvPADLIST(cv));
	for (SSize_t i = 0; i <= PadnamelistMAX(names); i++) {
		const PADNAME *name = PadnamelistARRAY(names)[i];

		if (!params_is_scalar(name))
			continue;
		first = first ? first : name;
		/* perl introduces all names of one statement together. */
		if (COP_SEQ_RANGE_LOW(name) != COP_SEQ_RANGE_LOW(first))
			return NULL;
		if (n++ == PRELUDE_CALLCHAIN)
			return params_is_shifted(PadnamePV(name) + 1, sc,
						 !strcmp(PadnamePV(last), "$common_comm"))
				       ? PadnamePV(name) + 1
				       : NULL;
		last = name;
	}
	return NULL;
}
