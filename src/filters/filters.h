/* SPDX-License-Identifier: MIT */
/*
 * All filters of a session. They apply to each of its recordings. Time windows are stored per
 * recording, because they are in the recording's clock.
 */
#ifndef SONDE_FILTERS_FILTERS_H
#define SONDE_FILTERS_FILTERS_H

#include "filters/cpu_list.h"
#include "filters/event_names.h"
#include "filters/event_switch.h"
#include "filters/late.h"
#include "filters/place.h"

struct filters {
	bool is_set;      /* a filter is set; otherwise events skip the single checks */
	bool is_choosy;   /* a filter of names, places or switches is set, or there are dlfilters */
	bool keeps_order; /* choosy, not for names alone: events are delivered one by one */
	struct cpu_list cpus;
	struct late_filter late;
	struct event_names names;
	struct place_filter places;
	struct event_switch switches;
};

static inline void filters_done(struct filters *f)
{
	cpu_list_done(&f->cpus);
	late_filter_done(&f->late);
	event_names_done(&f->names);
	place_filter_done(&f->places);
}

#endif
