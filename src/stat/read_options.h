/* SPDX-License-Identifier: MIT */
/* The settings of counts that are read from a file; sonde.h lists every key and its values. */
#ifndef SONDE_STAT_READ_OPTIONS_H
#define SONDE_STAT_READ_OPTIONS_H

#include <stdint.h>

#include "compat/rules.h"

/* The settings of sonde_stat_read(). */
struct stat_read_options {
	uint32_t by; /* 0: as recorded; else enum sonde_stat_by plus 1 */
	uint32_t compat, force;
	const struct rules *rules;
};

/* settings: lines key=value, or NULL. -EBADR if a key or value is wrong. */
int stat_read_options_parse(struct stat_read_options *ret, const char *settings);

#endif
