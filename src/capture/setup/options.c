/* SPDX-License-Identifier: MIT */
#include "capture/setup/options.h"

#include <stddef.h>

const char *const capture_auto_words[] = { "auto", "0", "1", NULL };

#define TEXT(name, m) KEY_TEXT(name, struct capture_options, m)
#define FLAG(name, m) KEY_FLAG(name, struct capture_options, m)
#define AUTO(name, m) KEY_WORD(name, struct capture_options, m, capture_auto_words)

const struct key capture_keys[] = {
	FLAG("all-cpus", all_cpus),
	TEXT("cpu", cpu),
	TEXT("pid", pid),
	TEXT("tid", tid),
	TEXT("uid", uid),
	AUTO("no-inherit", no_inherit),
	FLAG("per-thread", per_thread),
	TEXT("count", count),
	TEXT("freq", freq),
	FLAG("strict-freq", strict_freq),
	FLAG("group", group),
	FLAG("all-user", all_user),
	FLAG("all-kernel", all_kernel),
	AUTO("exclude-self", exclude_self),
	TEXT("reader", reader),
	TEXT("call-graph", call_graph),
	FLAG("kernel-callchains", kernel_callchains),
	FLAG("user-callchains", user_callchains),
	FLAG("data", data),
	FLAG("phys-data", phys_data),
	FLAG("data-page-size", data_page_size),
	FLAG("code-page-size", code_page_size),
	AUTO("timestamp", timestamp),
	AUTO("period", period),
	FLAG("stat", stat),
	FLAG("no-samples", no_samples),
	FLAG("raw-samples", raw_samples),
	AUTO("sample-cpu", sample_cpu),
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
	FLAG("buildid-mmap", buildid_mmap),
	TEXT("mmap-pages", mmap_pages),
	TEXT("buffer-size", buffer_size),
	TEXT("ftrace-clock", ftrace_clock),
	FLAG("overwrite", overwrite),
	FLAG("no-buffering", no_buffering),
};
const size_t nr_capture_keys = sizeof(capture_keys) / sizeof(capture_keys[0]);
