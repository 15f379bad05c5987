/* SPDX-License-Identifier: MIT */
/*
 * All filters of a session, which hold of each of its recordings. Windows of time alone are kept
 * with a recording, whose clock they are in.
 */
#ifndef SONDE_FILTERS_FILTERS_H
#define SONDE_FILTERS_FILTERS_H

#include "filters/cpu_list.h"
#include "filters/event_names.h"
#include "filters/event_switch.h"
#include "filters/late.h"
#include "filters/place.h"

struct filters {
	bool is_set;    /* any is: without one an event need not meet them one by one */
	bool is_choosy; /* names, places or switches are, or there are dlfilters */
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
