/* SPDX-License-Identifier: MIT */
/*
 * Excludes the recorder's own events. A recorder of all system calls of a machine also records its
 * own writes, and the writes of those records: most events would be its own. The kernel drops them
 * with a filter on the task, which names each thread of the recorder.
 *
 *	// marks the events that exclude us
 *	TRY(self_choose(&events, opts->exclude_self, system_wide, &say));
 *	TRY(counters_open(&c, &events, &target));
 *	... // all threads of the recorder are started
 *	// adds their numbers to the filters
 *	TRY(self_add_filters(&events, choice, &say));
 *	TRY(counters_filter(&c, &events));
 */
#ifndef SONDE_CAPTURE_SETUP_SELF_H
#define SONDE_CAPTURE_SETUP_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "capture/events.h"
#include "capture/say.h"

/* choice: enum capture_auto. -EBADR if there is no tracepoint that could exclude us. */
int self_choose(struct capture_events *events, uint32_t choice, bool system_wide,
		const struct say *say);
/* True if any event excludes us. */
bool self_is_excluded(struct capture_events *events);
/*
 * The command line with this choice added, so that the recording's header says what was excluded.
 * NULL if out of memory. The caller frees the array, not its words.
 */
const char **self_command_line(const char *const *argv);
/*
 * Adds to the filters of the marked events a filter on all threads that this process has now, and
 * the process `reader`: a number, or NULL. If there are too many for the kernel: -E2BIG if the user
 * asked for it, otherwise a message and no event stays marked.
 */
int self_add_filters(struct capture_events *events, uint32_t choice, const char *reader,
		     const struct say *say);
/* "common_pid != 9 && (common_pid < 12 || common_pid > 14)" and a NUL. Sorts the tids. */
void self_filter_text(int32_t *tids, size_t nr_tids, struct outbuf *to);

#endif
