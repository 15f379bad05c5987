/* SPDX-License-Identifier: MIT */
#include "record/subject.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record/recorder.h"

enum { NAMES_MAX = 256 };

static bool subject_gives_samples(const struct capture_event *e)
{
	return !capture_is_dummy(&e->attr);
}

/* "a, b, c (and 2 more)"; at most `most` of them are named. */
static void subject_put_names(const struct capture_events *l, size_t most,
			      char ret[static NAMES_MAX])
{
	size_t nr = 0, len = 0;

	ret[0] = 0;
	for (size_t i = 0; i < l->list.n; i++) {
		const struct capture_event *e = &l->list.v[i];
		const size_t left = NAMES_MAX - len;
		int n;

		if (!subject_gives_samples(e) || nr++ >= most)
			continue;
		n = snprintf(ret + len, left, "%s%s", nr > 1 ? ", " : "", e->name);
		len += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
	}
	if (nr > most)
		snprintf(ret + len, NAMES_MAX - len, " (and %zu more)", nr - most);
}

void subject_say_begin(const struct sonde_recorder *r, bool has_command)
{
	const struct record_options *o = &r->opts;
	char names[NAMES_MAX];

	if (has_command || r->capture.target.by_pid || o->capture.all_cpus || o->capture.cpu ||
	    o->dry_run)
		return;
	/*
	 * Only opening the event shows whether this machine counts cycles. A message then reports
	 * the event recorded instead.
	 */
	if (r->capture.events.list.n && r->capture.events.list.v[0].is_default)
		snprintf(names, sizeof(names), "a profile (cycles, or cpu-clock)");
	else
		subject_put_names(&r->capture.events, 3, names);
	say(&r->say, SAY_NORMAL,
	    "recording %s on all cpus until Ctrl-C (no command, process or cpu is named)",
	    *names ? names : "no event");
}

/* ---- no samples ------------------------------------------------------------------------------ */

/*
 * The event that was counted most often on one cpu or in one task, otherwise the first one. NULL if
 * no event produces samples.
 */
static const struct capture_event *subject_most_counted(const struct sonde_recorder *r,
							uint64_t *ret)
{
	const struct capture_event *most = NULL;

	*ret = 0;
	for (size_t i = 0; i < r->capture.events.list.n; i++) {
		const struct capture_event *e = &r->capture.events.list.v[i];

		if (!most && subject_gives_samples(e))
			most = e;
	}
	for (size_t i = 0; i < r->capture.counters.list.n; i++) {
		const struct counter *n = &r->capture.counters.list.v[i];
		const struct capture_event *e = &r->capture.events.list.v[n->event];

		if (subject_gives_samples(e) && n->counted > *ret) {
			*ret = n->counted;
			most = e;
		}
	}
	return most;
}

static const struct capture_event *subject_filtered(const struct capture_events *l)
{
	for (size_t i = 0; i < l->list.n; i++) {
		const struct capture_event *e = &l->list.v[i];

		if (subject_gives_samples(e) && e->filter)
			return e;
	}
	return NULL;
}

static void subject_say_never(const struct sonde_recorder *r)
{
	const struct record_options *o = &r->opts;
	const struct capture_event *e = subject_filtered(&r->capture.events);
	char names[NAMES_MAX];

	subject_put_names(&r->capture.events, 1, names);
	if (e)
		say(&r->say, SAY_NORMAL, "no samples: no %s passed its --filter '%s'", e->name,
		    e->filter);
	else if (r->capture.target.workload)
		say(&r->say, SAY_NORMAL,
		    "no samples: %s did not happen in '%s' (-a records all processes)", names,
		    r->command_name ? r->command_name : "the command");
	else if (r->capture.target.by_pid)
		say(&r->say, SAY_NORMAL, "no samples: %s did not happen in the %s that %s names",
		    names, o->capture.tid && !o->capture.pid ? "threads" : "processes",
		    o->capture.pid   ? "-p"
		    : o->capture.tid ? "-t"
				     : "-u");
	else
		say(&r->say, SAY_NORMAL, "no samples: %s did not happen while this was recorded%s",
		    names, o->capture.cpu ? " on the cpus that -C names" : "");
}

void subject_say_no_samples(const struct sonde_recorder *r)
{
	uint64_t counted;
	const struct capture_event *e = subject_most_counted(r, &counted);

	if (!e || r->opts.capture.no_samples)
		return;
	if (!r->was_on)
		say(&r->say, SAY_NORMAL,
		    "no samples: the events were never switched on (-D, --control)");
	else if (!counted)
		subject_say_never(r);
	else if (e->attr.freq)
		say(&r->say, SAY_NORMAL,
		    "no samples: the recording was too short for a frequency of %" PRIu64
		    " Hz (-F, or -c 1 for each %s)%s",
		    (uint64_t)e->attr.sample_freq, e->name,
		    e->attr.exclude_kernel ? "; events in the kernel are left out" : "");
	else if (counted < e->attr.sample_period)
		say(&r->say, SAY_NORMAL,
		    "no samples: %s happened %" PRIu64
		    " times, less often than once per period of %" PRIu64 " (-c)",
		    e->name, counted, (uint64_t)e->attr.sample_period);
	else
		say(&r->say, SAY_NORMAL, "no samples: %s happened, but not where it is sampled%s",
		    e->name,
		    e->attr.exclude_kernel ? ": events in the kernel are left out"
		    : e->attr.exclude_user ? ": events in user space are left out"
					   : "");
}
