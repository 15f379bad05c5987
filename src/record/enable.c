/* SPDX-License-Identifier: MIT */
#include "record/enable.h"

#include <string.h>

#include "base/err.h"
#include "record/recorder.h"

/* A dummy event that was added for comm, fork and mmap. */
static bool enable_tracks_only(const struct capture_event *e)
{
	return capture_is_dummy(&e->attr) && e->attr.task;
}

static int enable_switch_one(struct sonde_recorder *r, size_t event, bool on)
{
	if (on)
		return counters_enable_event(&r->capture.counters, (uint32_t)event);
	counters_disable_event(&r->capture.counters, (uint32_t)event);
	return 0;
}

int recorder_switch(struct sonde_recorder *r, bool on)
{
	r->was_on |= on;
	for (size_t i = 0; i < r->capture.events.list.n; i++)
		if (on || !enable_tracks_only(&r->capture.events.list.v[i]))
			TRY(enable_switch_one(r, i, on));
	say(&r->say, SAY_NORMAL, "events are %s", on ? "enabled" : "disabled");
	return 0;
}

int recorder_switch_event(struct sonde_recorder *r, const char *name, bool on)
{
	bool found = false;

	r->was_on |= on;
	for (size_t i = 0; i < r->capture.events.list.n; i++) {
		if (strcmp(r->capture.events.list.v[i].name, name) != 0)
			continue;
		TRY(enable_switch_one(r, i, on));
		found = true;
	}
	if (!found)
		return err_set(-ENOENT, "there is no event '%s'", name);
	say(&r->say, SAY_NORMAL, "event %s is %s", name, on ? "enabled" : "disabled");
	return 0;
}
