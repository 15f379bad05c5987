/* SPDX-License-Identifier: MIT */
/* A fact about a converted recording, in a place of its own in the formats that have one. */
#ifndef SONDE_CLI_TABLE_FACT_H
#define SONDE_CLI_TABLE_FACT_H

/* Arrays of facts end with an element without a key. */
struct table_fact {
	const char *key, *value;
};

#endif
