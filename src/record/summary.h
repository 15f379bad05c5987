/* SPDX-License-Identifier: MIT */
/* The last lines of a recording: its size and path, its losses, and how to avoid them. */
#ifndef SONDE_RECORD_SUMMARY_H
#define SONDE_RECORD_SUMMARY_H

#include <stdint.h>

#include "sonde/sonde.h"

/*
 * result->lost: events that the kernel dropped. unwritten: samples that the kernel provided but
 * that were not written.
 */
void summary_say(const struct sonde_recorder *r, const struct sonde_record_result *result,
		 uint64_t unwritten);

#endif
