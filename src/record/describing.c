/* SPDX-License-Identifier: MIT */
#include "record/describing.h"

#include <string.h>

#include "base/err.h"
#include "capture/setup/values.h"

enum { THREADS_MAX = 1024 };

static bool describing_is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !strncmp(text, word, len);
}

/*
 * Parses "no", "all" or a list of task, mmap and cgroup. "mmap" includes "task", because each
 * mapping belongs to a task.
 */
static int describing_parse_kinds(struct describing *d, const char *text)
{
	if (!strcmp(text, "no") || !strcmp(text, "all")) {
		d->tasks = d->maps = d->cgroups = !strcmp(text, "all");
		return 0;
	}
	d->tasks = d->maps = d->cgroups = false;
	for (const char *at = text;; at++) {
		const size_t len = strcspn(at, ",");

		if (describing_is_word(at, len, "mmap"))
			d->tasks = d->maps = true;
		else if (describing_is_word(at, len, "task"))
			d->tasks = true;
		else if (describing_is_word(at, len, "cgroup"))
			d->cgroups = true;
		else
			return err_set(-EBADR,
				       "--synth needs no, all, or of task,mmap,cgroup, not '%s'",
				       text);
		at += len;
		if (!*at)
			return 0;
	}
}

int describing_parse(struct describing *ret, const struct record_options *o)
{
	struct describing d = { true, true, true, .nr_threads = 1, .at_end = o->tail_synthesize };
	uint64_t nr;

	if (o->synth)
		TRY(describing_parse_kinds(&d, o->synth));
	if (o->num_thread_synthesize) {
		TRY(capture_value_number("--num-thread-synthesize", o->num_thread_synthesize, 0,
					 UINT32_MAX, &nr));
		d.nr_threads = (unsigned)(nr < THREADS_MAX ? nr ? nr : 1 : THREADS_MAX);
	}
	if (o->proc_map_timeout) {
		TRY(capture_value_number("--proc-map-timeout", o->proc_map_timeout, 0, UINT32_MAX,
					 &nr));
		d.maps_limited = true;
		d.maps_ms = (uint32_t)nr;
	}
	*ret = d;
	return 0;
}
