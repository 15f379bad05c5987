/* SPDX-License-Identifier: MIT */
/*
 * The names that vendors give to events of their processors, by libpfm4:
 *
 *	[PROCESSOR::]EVENT[:UNIT_MASK]...[:MODIFIER[=VALUE]]...      skl::INST_RETIRED:ANY_P:u
 *
 * Upper and lower case are the same, and '.' may replace ':'. The library encodes events of the
 * processors that it detects. Its variables LIBPFM_FORCE_PMU=NAME and LIBPFM_ENCODE_INACTIVE=1 make
 * it encode those of others, which the tests use. A build without libpfm refuses all names.
 */
#ifndef SONDE_CAPTURE_PFM_H
#define SONDE_CAPTURE_PFM_H

#include <linux/perf_event.h>

/*
 * Encodes one event. Only type, config, config1, config2, precise_ip and the bits exclude_*, pinned
 * and exclusive of *ret are set, and freq and sample_period if the name sets them. text: the event
 * as the user wrote it, for messages. -EBADR on a mistake, without libpfm, and if libpfm has no
 * table for this processor.
 */
int capture_pfm_encode(const char *text, const char *name, struct perf_event_attr *ret);

struct pfm_event {
	const char *name;        /* "pfm:skl::INST_RETIRED:ANY_P": as -e takes it */
	const char *description; /* the library's */
	const char *modifiers;   /* "u k e i c= t": those with '=' take a number */
};

/*
 * Calls visit for each event of a processor, one call for each unit mask. processor: the library's
 * name, where * and ? match; NULL for the processors of this machine. Texts are borrowed for the
 * call. A negative result of visit ends the loop. -ENOTSUP without libpfm; -ENODEV if it has no
 * table for the processor.
 */
int capture_pfm_each(const char *processor, int (*visit)(void *ctx, const struct pfm_event *event),
		     void *ctx);

#endif
