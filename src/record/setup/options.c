/* SPDX-License-Identifier: MIT */
#include "record/setup/options.h"

#include <stddef.h>

#include "base/err.h"
#include "base/keys.h"

static const char *const auto_words[] = { "auto", "0", "1", NULL };
static const char *const form_words[] = { "old", "new", NULL };

#define TEXT(name, m)        KEY_TEXT(name, struct record_options, m)
#define FLAG(name, m)        KEY_FLAG(name, struct record_options, m)
#define WORD(name, m, words) KEY_WORD(name, struct record_options, m, words)

static const struct key keys[] = {
	FLAG("all-cpus", all_cpus),
	TEXT("cpu", cpu),
	TEXT("pid", pid),
	TEXT("tid", tid),
	TEXT("uid", uid),
	WORD("no-inherit", no_inherit, auto_words),
	FLAG("per-thread", per_thread),
	TEXT("count", count),
	TEXT("freq", freq),
	FLAG("strict-freq", strict_freq),
	FLAG("group", group),
	FLAG("all-user", all_user),
	FLAG("all-kernel", all_kernel),
	WORD("exclude-self", exclude_self, auto_words),
	TEXT("call-graph", call_graph),
	FLAG("kernel-callchains", kernel_callchains),
	FLAG("user-callchains", user_callchains),
	FLAG("data", data),
	FLAG("phys-data", phys_data),
	FLAG("data-page-size", data_page_size),
	FLAG("code-page-size", code_page_size),
	WORD("timestamp", timestamp, auto_words),
	WORD("period", period, auto_words),
	FLAG("stat", stat),
	FLAG("no-samples", no_samples),
	FLAG("raw-samples", raw_samples),
	WORD("sample-cpu", sample_cpu, auto_words),
	FLAG("sample-identifier", sample_identifier),
	FLAG("running-time", running_time),
	FLAG("weight", weight),
	FLAG("transaction", transaction),
	TEXT("intr-regs", intr_regs),
	TEXT("user-regs", user_regs),
	TEXT("branch-filter", branch_filter),
	TEXT("aux-sample", aux_sample),
	TEXT("snapshot", snapshot),
	TEXT("clockid", clockid),
	FLAG("namespaces", namespaces),
	FLAG("all-cgroups", all_cgroups),
	FLAG("switch-events", switch_events),
	FLAG("no-bpf-event", no_bpf_event),
	TEXT("synth", synth),
	TEXT("num-thread-synthesize", num_thread_synthesize),
	TEXT("proc-map-timeout", proc_map_timeout),
	FLAG("tail-synthesize", tail_synthesize),
	FLAG("no-buildid", no_buildid),
	WORD("no-buildid-cache", no_buildid_cache, auto_words),
	FLAG("buildid-all", buildid_all),
	FLAG("buildid-mmap", buildid_mmap),
	TEXT("buildid-dir", buildid_dir),
	FLAG("kcore", kcore),
	TEXT("mmap-pages", mmap_pages),
	TEXT("mmap-flush", mmap_flush),
	FLAG("overwrite", overwrite),
	FLAG("no-buffering", no_buffering),
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
	TEXT("max-size", max_size),
	TEXT("switch-output", switch_output),
	TEXT("switch-output-event", switch_output_event),
	TEXT("switch-max-files", switch_max_files),
	FLAG("timestamp-filename", timestamp_filename),
	FLAG("timestamp-boundary", timestamp_boundary),
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };

int record_options_parse(struct record_options *ret, const char *settings)
{
	struct record_options o = { 0 };
	int r = keys_parse(keys, NR_KEYS, &o, settings ? settings : "", "recording");

	if (r < 0) {
		record_options_done(&o);
		return r == -EINVAL ? -EBADR : r;
	}
	*ret = o;
	return 0;
}

void record_options_done(struct record_options *o)
{
	keys_done(keys, NR_KEYS, o);
	*o = (struct record_options){ 0 };
}
