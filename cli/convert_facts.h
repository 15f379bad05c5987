/* SPDX-License-Identifier: MIT */
/* What is known about a recording when all of it was read, for outputs that have a place for it. */
#ifndef SONDE_CLI_CONVERT_FACTS_H
#define SONDE_CLI_CONVERT_FACTS_H

#include "table_fact.h"

#include <sonde/sonde.h>

#include <stddef.h>

struct convert_facts {
	struct table_fact *items; /* owned, with an end */
	char **texts;             /* owned */
	size_t nr, room;
};

/* clock is borrowed. Returns 0 or -ENOMEM. */
int convert_facts_new(struct convert_facts *ret, struct sonde_session *s, const char *clock);
void convert_facts_done(struct convert_facts *f);

#endif
