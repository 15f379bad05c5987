/* SPDX-License-Identifier: MIT */
#include "session_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/keys.h"
#include "filters/cpu_list.h"
#include "filters/id_list.h"
#include "filters/name_list.h"
#include "filters/time_window.h"
#include "itrace.h"
#include "sinks/sink.h"
#include "sinks/text/evlist.h"
#include "sinks/text/fields.h"
#include "sonde/sonde.h"

static const char *const compat_words[] = { "none", "perf-6.1", "perf-6.12", NULL };
static const char *const events_words[] = { "samples", "all", NULL };
static const char *const header_words[] = { "none", "with", "only", "all", NULL };
static const char *const color_words[] = { "never", "always", NULL };

#define TEXT(name, m) KEY_TEXT(name, struct session_options, m)
/* May be given several times; keys of one member keep their order. */
#define LINES(name, m)       KEY_LINES(name, struct session_options, m)
#define NUMBER(name, m)      KEY_NUMBER(name, struct session_options, m, 0, UINT64_MAX - 1)
#define WORD(name, m, words) KEY_WORD(name, struct session_options, m, words)
#define FLAG(name, m)        KEY_FLAG(name, struct session_options, m)

static const uint64_t default_window = 1u << 20;

static const struct key keys[] = {
	TEXT("input", input),
	WORD("compat", compat, compat_words),
	TEXT("time", time),
	FLAG("reltime", reltime),
	TEXT("cpu", cpu),
	TEXT("pid", pid),
	TEXT("tid", tid),
	TEXT("comm", comm),
	TEXT("symbols", symbols),
	NUMBER("addr-range", addr_range),
	TEXT("dsos", dsos),
	TEXT("graph-function", graph_function),
	LINES("dlfilter", dlfilters),
	LINES("dlarg", dlfilters),
	TEXT("itrace", itrace),
	TEXT("switch-on", switch_on),
	TEXT("switch-off", switch_off),
	FLAG("show-on-off-events", show_on_off_events),
	FLAG("callchain", callchain),
	WORD("events", events, events_words),
	TEXT("symfs", symfs),
	TEXT("kallsyms", kallsyms),
	TEXT("vmlinux", vmlinux),
	TEXT("buildid-dir", buildid_dir),
	FLAG("demangle", demangle),
	FLAG("demangle-kernel", demangle_kernel),
	FLAG("show-kernel-path", show_kernel_path),
	FLAG("inline", inline_frames),
	FLAG("full-source-path", full_source_path),
	FLAG("force", force),
	FLAG("kernel-formats", kernel_formats),
	WORD("format", format, sink_names),
	TEXT("evlist", evlist),
	FLAG("hits", hits),
	FLAG("no-events", no_events),
	TEXT("fields", fields),
	FLAG("ns", ns),
	FLAG("deltatime", deltatime),
	FLAG("latency", latency),
	NUMBER("max-stack", max_stack),
	TEXT("stop-bt", stop_bt),
	NUMBER("max-blocks", max_blocks),
	FLAG("per-event-dump", per_event_dump),
	FLAG("dump", dump),
	FLAG("unsorted", unsorted),
	WORD("header", header, header_words),
	FLAG("header-info", header_info),
	WORD("color", color, color_words),
	FLAG("terminal", terminal),
	FLAG("show-task-events", show_task),
	FLAG("show-mmap-events", show_mmap),
	FLAG("show-switch-events", show_switch),
	FLAG("show-namespace-events", show_namespace),
	FLAG("show-cgroup-events", show_cgroup),
	FLAG("show-lost-events", show_lost),
	FLAG("show-round-events", show_round),
	FLAG("show-bpf-events", show_bpf),
	FLAG("show-text-poke-events", show_text_poke),
	KEY_NUMBER("window", struct session_options, window_bytes, 4096, 1u << 30),
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };

/* perf wants each name once. */
static int check_names(const char *text, const char *what)
{
	struct name_list l = { 0 };
	bool repeats;

	if (text)
		TRY(name_list_parse(text, what, &l));
	repeats = l.repeats;
	name_list_done(&l);
	return repeats ? err_set(-EINVAL,
				 "Invalid %s list '%s': a name is there twice, which perf refuses",
				 what, text)
		       : 0;
}

/* Values with a grammar of their own: refused here, before anything is opened. */
static int check_values(const struct session_options *o)
{
	struct text_fields fields;
	struct cpu_list cpus = { 0 };
	struct id_list pids = { 0 }, tids = { 0 };
	bool repeats;
	size_t at;
	unsigned details;

	TRY(evlist_details_parse(o->evlist, &details));
	if (o->time)
		TRY(time_windows_parse(o->time, NULL, o->reltime, o->compat, NULL));
	if (o->fields)
		TRY(text_fields_parse(&fields, o->fields, true, o->compat, NULL));
	if (o->cpu)
		TRY(cpu_list_parse(o->cpu, &cpus));
	repeats = cpus.repeats;
	cpu_list_done(&cpus);
	if (o->compat && repeats)
		return err_set(-EINVAL,
			       "Invalid cpu list '%s': a cpu is named twice, which perf refuses",
			       o->cpu);
	if (o->compat) {
		TRY(check_names(o->dsos, "dso"));
		TRY(check_names(o->comm, "comm"));
		TRY(check_names(o->symbols, "symbol"));
		TRY(check_names(o->stop_bt, "symbol"));
	}
	if (o->itrace && !itrace_valid(o->itrace, o->compat, &at))
		return err_set(-EINVAL, "itrace=%s: what begins at '%s' is not known", o->itrace,
			       o->itrace + at);
	if (o->pid)
		TRY(id_list_parse(o->pid, "pid", &pids));
	id_list_done(&pids);
	if (o->tid)
		TRY(id_list_parse(o->tid, "tid", &tids));
	id_list_done(&tids);
	return 0;
}

int session_options_parse(struct session_options *ret, const char *text, const char *origin)
{
	struct session_options o = { .callchain = 1,
				     .demangle = 1,
				     .inline_frames = 1,
				     .addr_range = UINT64_MAX,
				     .max_stack = UINT64_MAX,
				     .max_blocks = UINT64_MAX,
				     .window_bytes = default_window };
	int r = keys_parse(keys, NR_KEYS, &o, text, origin ? origin : "session");

	if (r >= 0 && !o.input && !(o.input = strdup("perf.data")))
		r = err_nomem();
	if (r >= 0)
		r = check_values(&o);
	if (r < 0) {
		session_options_done(&o);
		return r;
	}
	*ret = o;
	return 0;
}

void session_options_print(const struct session_options *o, struct outbuf *out)
{
	for (int i = 0; i < NR_KEYS; i++) {
		const struct key *k = &keys[i];
		const void *at = (const char *)o + k->offset;
		const char *text = k->kind == KEY_KIND_TEXT ? *(const char *const *)at : NULL;

		if (k->kind == KEY_KIND_WORD)
			outbuf_fmt(out, "%s=%s\n", k->name, k->words[*(const uint32_t *)at]);
		else if (k->kind == KEY_KIND_NUMBER && *(const uint64_t *)at != UINT64_MAX)
			outbuf_fmt(out, "%s=%llu\n", k->name,
				   (unsigned long long)*(const uint64_t *)at);
		else if (text)
			outbuf_fmt(out, "%s=%s\n", k->name, text);
		else if (k->kind == KEY_KIND_LINES && k->offset != k[-1].offset &&
			 *(char *const *)at)
			outbuf_str(out, *(char *const *)at);
	}
}

void session_options_done(struct session_options *o)
{
	keys_done(keys, NR_KEYS, o);
	*o = (struct session_options){ 0 };
}
