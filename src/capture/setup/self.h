/* SPDX-License-Identifier: MIT */
/*
 * The recorder's own events. Recording the system calls of the whole machine, a recorder records how it writes what it
 * recorded, and again how it wrote that: most events are its own then. The kernel leaves them out with a filter on the
 * task, which each of the recorder's threads has its part in.
 *
 *	TRY(self_choose(&events, opts->exclude_self, system_wide, &say));  // marks the events that leave us out
 *	TRY(counters_open(&c, &events, &target));
 *	...                                         // all threads of the recorder are started
 *	TRY(self_add_filters(&events, choice, &say)); // their numbers become part of the filters
 *	TRY(counters_filter(&c, &events));
 */
#ifndef SONDE_CAPTURE_SETUP_SELF_H
#define SONDE_CAPTURE_SETUP_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "capture/events.h"
#include "capture/say.h"

/* choice: enum capture_auto. -EBADR when there is no tracepoint that could leave us out. */
int self_choose(struct capture_events *events, uint32_t choice, bool system_wide,
		const struct say *say);
/* Whether any of the events leaves us out. */
bool self_is_excluded(struct capture_events *events);
/*
 * The command line with the choice made for it, so that the recording says in its header what was left out; NULL: out of
 * memory. The caller frees the array, not its words.
 */
const char **self_command_line(const char *const *argv);
/*
 * Joins the filters of the marked events with one on all threads that this process has now. Where they are too many for the
 * kernel: -E2BIG when it was asked for, otherwise it is told and no event is marked any more.
 */
int self_add_filters(struct capture_events *events, uint32_t choice, const struct say *say);
/* "common_pid != 9 && (common_pid < 12 || common_pid > 14)" and a NUL. Sorts the tids. */
void self_filter_text(int32_t *tids, size_t nr_tids, struct outbuf *to);

#endif
