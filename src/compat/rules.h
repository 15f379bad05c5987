/* SPDX-License-Identifier: MIT */
/*
 * perf's rules: the behaviour of perf where sonde's default differs. Rooms get a `const struct
 * rules *` and ask for the rule that they obey, never for a version:
 *
 *	if (rules->keeps_maps_at_exec)
 *		return 0;
 *
 * The table is rules.def; docs/compat.md names each rule in the row that describes it. The rules of
 * a session never change. All rules live as long as the library.
 */
#ifndef COMPAT_RULES_H
#define COMPAT_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "sonde/sonde.h"

/* The columns of the table: indexes in rules_versions. */
enum sonde_compat { SONDE_COMPAT_NONE = 0, SONDE_COMPAT_PERF_6_1 = 1, SONDE_COMPAT_PERF_6_12 = 2 };

/* How print formats are parsed and run. */
enum printfmt_dialect {
	PRINTFMT_RIGHT = 0,     /* as the kernel prints them */
	PRINTFMT_PERF_6_1 = 1,  /* byte for byte as perf 6.1's built-in parser prints them */
	PRINTFMT_PERF_6_12 = 2, /* libtraceevent 1.7.1 without plugins */
	PRINTFMT_LIBTRACEEVENT = PRINTFMT_PERF_6_12
};

struct rules {
	struct sonde_rules pub; /* rules that scripts and the command line need as well */
#define VERSIONS(...)
#define RULE(name, ...)   bool name;
#define NUMBER(name, ...) unsigned name;
#define PUBLIC(name, ...)
#include "compat/rules.def"
#undef VERSIONS
#undef RULE
#undef NUMBER
#undef PUBLIC
};

/* The rules of sonde itself. */
extern const struct rules default_rules;
/* The values of compat=, indexed by enum sonde_compat; ended by NULL. */
extern const char *const rules_versions[];
/*
 * The rules of a version, by its number or by its word in that list; NULL if there is no such
 * version.
 */
const struct rules *rules_of(uint32_t version);
const struct rules *rules_find(const char *version);

#endif
