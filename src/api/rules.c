/* SPDX-License-Identifier: MIT */
/* sonde.h: perf's rules. */

#include "base/err.h"
#include "compat/rules.h"
#include "session/session.h"

const struct sonde_rules *sonde_session_rules(const struct sonde_session *s)
{
	NOT_NULL(s, NULL);
	return &s->opts.rules->pub;
}

const struct sonde_rules *sonde_rules_find(const char *version)
{
	const struct rules *rules;

	NOT_NULL(version, NULL);
	rules = rules_find(version);
	return rules ? &rules->pub : NULL;
}

const struct sonde_rules *sonde_rules_get(size_t i)
{
	const struct rules *rules = i <= UINT32_MAX ? rules_of((uint32_t)i) : NULL;

	return rules ? &rules->pub : NULL;
}
