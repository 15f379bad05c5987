/* SPDX-License-Identifier: MIT */
#include "stat/options.h"

#include <stddef.h>

#include "base/err.h"
#include "base/keys.h"

enum { DETAILED_MAX = 3, MS_MAX = INT32_MAX };

const char *const stat_by_words[] = { "recorded", "all",  "cpu",    "core", "die",
				      "socket",   "node", "thread", NULL };

#define TEXT(name, m)         KEY_TEXT(name, struct stat_options, m)
#define FLAG(name, m)         KEY_FLAG(name, struct stat_options, m)
#define WORD(name, m, words)  KEY_WORD(name, struct stat_options, m, words)
#define NUMBER(name, m, a, b) KEY_NUMBER(name, struct stat_options, m, a, b)

static const struct key keys[] = {
	FLAG("all-cpus", capture.all_cpus),
	TEXT("cpu", capture.cpu),
	TEXT("pid", capture.pid),
	TEXT("tid", capture.tid),
	WORD("no-inherit", capture.no_inherit, capture_auto_words),
	FLAG("group", capture.group),
	FLAG("all-user", capture.all_user),
	FLAG("all-kernel", capture.all_kernel),
	TEXT("for-each-cgroup", for_each_cgroup),
	TEXT("cputype", cputype),
	NUMBER("detailed", detailed, 0, DETAILED_MAX),
	FLAG("null", null_run),
	FLAG("no-scale", no_scale),
	FLAG("leave-out", leave_out),
	FLAG("percore-show-thread", percore_show_thread),
	FLAG("no-merge", no_merge),
	FLAG("hybrid-merge", hybrid_merge),
	WORD("by", by, stat_by_words + 1),
	NUMBER("interval", interval_ms, 1, MS_MAX),
	NUMBER("interval-count", interval_count, 0, UINT32_MAX),
	NUMBER("timeout", timeout_ms, 1, MS_MAX),
	TEXT("delay", delay_ms),
	TEXT("control", control),
	TEXT("pre", pre),
	TEXT("post", post),
	FLAG("sync", sync),
	TEXT("output", output),
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };

static uint64_t options_or_zero(uint64_t number)
{
	return number == KEY_NO_NUMBER ? 0 : number;
}

int stat_options_parse(struct stat_options *ret, const char *settings)
{
	struct stat_options o;
	const struct key_set set = { keys, NR_KEYS, &o };
	int r;

	keys_init(keys, NR_KEYS, &o, sizeof(o));
	r = key_sets_parse(&set, 1, settings ? settings : "", "counting");
	if (r < 0) {
		stat_options_done(&o);
		return r == -EINVAL ? -EBADR : r;
	}
	o.detailed = options_or_zero(o.detailed);
	o.interval_ms = options_or_zero(o.interval_ms);
	o.interval_count = options_or_zero(o.interval_count);
	o.timeout_ms = options_or_zero(o.timeout_ms);
	*ret = o;
	return 0;
}

void stat_options_done(struct stat_options *o)
{
	keys_done(keys, NR_KEYS, o);
	*o = (struct stat_options){ 0 };
}
