/* SPDX-License-Identifier: MIT */
#include "compat/rules.h"

#include <string.h>

#define VERSIONS(...)     .pub.version = COLUMN(__VA_ARGS__),
#define RULE(name, ...)   .name = COLUMN(__VA_ARGS__),
#define NUMBER(name, ...) .name = COLUMN(__VA_ARGS__),
#define PUBLIC(name, ...) .pub.name = COLUMN(__VA_ARGS__),

/* Each version is a column of the table: it has an instance here and a place in the list below. */
#define COLUMN(none, perf_6_1, perf_6_12) none
const struct rules default_rules = {
	.pub.size = sizeof(struct sonde_rules),
#include "compat/rules.def"
};
#undef COLUMN

#define COLUMN(none, perf_6_1, perf_6_12) perf_6_1
static const struct rules perf_6_1_rules = {
	.pub.size = sizeof(struct sonde_rules),
#include "compat/rules.def"
};
#undef COLUMN

#define COLUMN(none, perf_6_1, perf_6_12) perf_6_12
static const struct rules perf_6_12_rules = {
	.pub.size = sizeof(struct sonde_rules),
#include "compat/rules.def"
};
#undef COLUMN

static const struct rules *const versions[] = {
	[SONDE_COMPAT_NONE] = &default_rules,
	[SONDE_COMPAT_PERF_6_1] = &perf_6_1_rules,
	[SONDE_COMPAT_PERF_6_12] = &perf_6_12_rules,
};
enum { NR_VERSIONS = sizeof(versions) / sizeof(versions[0]) };

#undef VERSIONS
#undef RULE
#undef NUMBER
#undef PUBLIC
#define VERSIONS(...) __VA_ARGS__, NULL
#define RULE(name, ...)
#define NUMBER(name, ...)
#define PUBLIC(name, ...)
const char *const rules_versions[] = {
#include "compat/rules.def"
};
_Static_assert(sizeof(rules_versions) / sizeof(rules_versions[0]) == NR_VERSIONS + 1,
	       "a version in one list only");

const struct rules *rules_of(uint32_t version)
{
	return version < NR_VERSIONS ? versions[version] : NULL;
}

const struct rules *rules_find(const char *version)
{
	for (size_t i = 0; i < NR_VERSIONS; i++)
		if (!strcmp(rules_versions[i], version))
			return versions[i];
	return NULL;
}
