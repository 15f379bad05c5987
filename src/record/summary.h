/* SPDX-License-Identifier: MIT */
/* The lines that end a recording: how much there is and where, what was lost and what helps. */
#ifndef SONDE_RECORD_SUMMARY_H
#define SONDE_RECORD_SUMMARY_H

#include <stdint.h>

#include "sonde/sonde.h"

/* result->lost: what the kernel dropped; unwritten: samples that it gave and that nobody took. */
void summary_say(const struct sonde_recorder *r, const struct sonde_record_result *result,
		 uint64_t unwritten);

#endif
