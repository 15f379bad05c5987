/* SPDX-License-Identifier: MIT */
#include "record/options.h"

#include <stddef.h>

#include "base/err.h"
#include "base/keys.h"

static const char *const form_words[] = { "old", "new", NULL };
static const char *const ftrace_words[] = { "0", "1", "auto", NULL };

#define TEXT(name, m)        KEY_TEXT(name, struct record_options, m)
#define FLAG(name, m)        KEY_FLAG(name, struct record_options, m)
#define WORD(name, m, words) KEY_WORD(name, struct record_options, m, words)

static const struct key keys[] = {
	TEXT("synth", synth),
	TEXT("num-thread-synthesize", num_thread_synthesize),
	TEXT("proc-map-timeout", proc_map_timeout),
	FLAG("tail-synthesize", tail_synthesize),
	FLAG("no-buildid", no_buildid),
	FLAG("buildid-all", buildid_all),
	TEXT("mmap-flush", mmap_flush),
	TEXT("latency", latency),
	TEXT("started", started),
	WORD("ftrace", ftrace, ftrace_words),
	/* from here on: files, descriptors, priorities and placement (NR_FOREIGN_KEYS) */
	WORD("no-buildid-cache", no_buildid_cache, capture_auto_words),
	TEXT("buildid-dir", buildid_dir),
	FLAG("kcore", kcore),
	TEXT("aio", aio),
	TEXT("affinity", affinity),
	TEXT("threads", threads),
	TEXT("realtime", realtime),
	TEXT("compression-level", compression_level),
	WORD("compressed-records", compressed_records, form_words),
	TEXT("delay", delay),
	TEXT("control", control),
	FLAG("dry-run", dry_run),
	TEXT("output", output),
	TEXT("output-fd", output_fd),
	TEXT("max-size", max_size),
	TEXT("switch-output", switch_output),
	TEXT("switch-output-event", switch_output_event),
	TEXT("switch-max-files", switch_max_files),
	FLAG("timestamp-filename", timestamp_filename),
	FLAG("timestamp-boundary", timestamp_boundary),
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]), NR_FOREIGN_KEYS = 10 };

static int record_options_parse_keys(struct record_options *ret, size_t nr_keys,
				     const char *settings)
{
	struct record_options o = { 0 };
	const struct key_set sets[] = { { capture_keys, nr_capture_keys, &o.capture },
					{ keys, nr_keys, &o } };
	int r = key_sets_parse(sets, 2, settings ? settings : "", "recording");

	if (r < 0) {
		record_options_done(&o);
		return r == -EINVAL ? -EBADR : r;
	}
	*ret = o;
	return 0;
}

int record_options_parse(struct record_options *ret, const char *settings)
{
	return record_options_parse_keys(ret, NR_KEYS, settings);
}

int record_options_check_foreign(const char *settings)
{
	struct record_options o;

	TRY(record_options_parse_keys(&o, NR_FOREIGN_KEYS, settings));
	record_options_done(&o);
	return 0;
}

void record_options_done(struct record_options *o)
{
	keys_done(capture_keys, nr_capture_keys, &o->capture);
	keys_done(keys, NR_KEYS, o);
	*o = (struct record_options){ 0 };
}
