/* SPDX-License-Identifier: MIT */
/*
 * Events that switch the output of events on and off:
 *
 *	--switch-on A --switch-off B     ...  A  shown shown  B  ...  ...  A  shown
 *
 * Without an event that switches on, everything is shown up to the first event that switches off.
 * The switching events themselves are shown only on request.
 */
#ifndef SONDE_FILTERS_EVENT_SWITCH_H
#define SONDE_FILTERS_EVENT_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#define EVENT_SWITCH_NONE UINT32_MAX

struct event_switch {
	uint32_t on, off; /* families of schemas; EVENT_SWITCH_NONE if not given */
	bool shows_both;
	bool is_off;
	bool omits_one; /* perf's rule switch_off_omits_one */
};

static inline bool event_switch_pass(struct event_switch *s, uint32_t family)
{
	if (s->is_off && s->on != EVENT_SWITCH_NONE) {
		if (family != s->on)
			return false;
		s->is_off = false;
		return s->shows_both;
	}
	if (s->is_off)
		return s->omits_one;
	if (family == s->off) {
		s->is_off = true;
		return s->shows_both;
	}
	return true;
}

#endif
