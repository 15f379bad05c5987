/* SPDX-License-Identifier: MIT */
/*
 * The early filter: decides from a record's time and cpu alone, before the record is ordered and
 * decoded. State records are not filtered.
 *
 *	struct early_filter f = EARLY_FILTER_ALL;
 *	TRY(time_windows_parse("12.5,13", &span, false, rules, &f.time));
 *	f.cpus = filters.cpus;
 *	if (!early_filter_pass(&f, time_ns, cpu)) ...
 *	time_windows_done(&f.time);
 */
#ifndef SONDE_FILTERS_EARLY_H
#define SONDE_FILTERS_EARLY_H

#include "filters/cpu_list.h"
#include "filters/time_window.h"

struct early_filter {
	struct time_windows time;
	struct cpu_list cpus; /* borrowed; shared by all recordings: filters.h */
};

#define EARLY_FILTER_ALL ((struct early_filter){ .time = TIME_WINDOWS_ALL })

static inline bool early_filter_pass(const struct early_filter *f, uint64_t time_ns, int32_t cpu)
{
	return time_windows_hold(&f->time, time_ns) && cpu_list_holds(&f->cpus, cpu);
}

#endif
