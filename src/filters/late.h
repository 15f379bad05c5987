/* SPDX-License-Identifier: MIT */
/*
 * The late filter: needs the state as of the event. Every given list must contain the event.
 *
 *	struct late_filter f = { 0 };
 *	TRY(id_list_parse("1,4711", "pid", &f.pids));
 *	TRY(comm_list_parse("bash,make", "comm", strings, &f.comms));
 *	if (!late_filter_pass(&f, &ev->pub)) ...
 *	late_filter_done(&f);
 */
#ifndef SONDE_FILTERS_LATE_H
#define SONDE_FILTERS_LATE_H

#include "filters/comm_list.h"
#include "filters/id_list.h"
#include "sonde/sonde.h"

struct late_filter {
	struct id_list pids, tids;
	struct comm_list comms;
};

static inline bool late_filter_pass(const struct late_filter *f, const struct sonde_event *ev)
{
	return id_list_holds(&f->pids, ev->pid) && id_list_holds(&f->tids, ev->tid) &&
	       comm_list_holds(&f->comms, ev->comm);
}

static inline void late_filter_done(struct late_filter *f)
{
	id_list_done(&f->pids);
	id_list_done(&f->tids);
	comm_list_done(&f->comms);
}

#endif
