/* SPDX-License-Identifier: MIT */
#include "session_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/keys.h"
#include "base/size.h"
#include "filters/cpu_list.h"
#include "filters/id_list.h"
#include "filters/name_list.h"
#include "filters/time_window.h"
#include "itrace.h"
#include "sinks/perfdata/every.h"
#include "sinks/sink.h"
#include "sinks/text/evlist.h"
#include "sinks/text/fields.h"
#include "sonde/sonde.h"

static const char *const compat_words[] = { "none", "perf-6.1", "perf-6.12", NULL };
static const char *const events_words[] = { "samples", "all", NULL };
static const char *const header_words[] = { "none", "with", "only", "all", NULL };
static const char *const clock_words[] = { "raw", "relative", "utc", "local", NULL };
static const char *const color_words[] = { "never", "always", NULL };

#define TEXT(name, m) KEY_TEXT(name, struct session_options, m)
/* May be given several times; keys of one member keep their order. */
#define LINES(name, m)       KEY_LINES(name, struct session_options, m)
#define NUMBER(name, m)      KEY_NUMBER(name, struct session_options, m, 0, UINT64_MAX - 1)
#define WORD(name, m, words) KEY_WORD(name, struct session_options, m, words)
#define FLAG(name, m)        KEY_FLAG(name, struct session_options, m)

static const uint64_t default_window = 1u << 20;

static const struct key keys[] = {
	LINES("input", inputs),
	LINES("offset", inputs),
	WORD("clock", clock, clock_words),
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
	FLAG("no-follow", no_follow),
	TEXT("kallsyms", kallsyms),
	TEXT("vmlinux", vmlinux),
	TEXT("buildid-dir", buildid_dir),
	FLAG("demangle", demangle),
	FLAG("demangle-kernel", demangle_kernel),
	FLAG("show-kernel-path", show_kernel_path),
	FLAG("inline", inline_frames),
	FLAG("full-source-path", full_source_path),
	FLAG("force", force),
	TEXT("max-unpacked", max_unpacked),
	FLAG("kernel-formats", kernel_formats),
	WORD("format", format, sink_names),
	TEXT("event", event),
	TEXT("output", output),
	TEXT("every", every),
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
	FLAG("progress", progress),
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

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* The next of the lines "key=value\n": what follows "key=" and its length; false: there is none. */
static bool next_line(const char **lines, const char *key, const char **ret, size_t *ret_len)
{
	size_t len = strlen(key);
	const char *line = *lines;

	if (!line || strncmp(line, key, len) || line[len] != '=')
		return false;
	*ret = line + len + 1;
	*ret_len = strcspn(*ret, "\n");
	*lines = *ret + *ret_len + ((*ret)[*ret_len] == '\n');
	return true;
}

int session_options_offset(const char *text, int64_t *ret_ns)
{
	enum { NS_IN_S = 1000000000 };
	static const uint64_t MOST_S =
		4000000000; /* so that sums with times of day stay far from overflow */
	const char *p = text;
	bool negative = *p == '-';
	uint64_t s = 0, ns = 0;
	unsigned unit = NS_IN_S, digits = 0;

	p += *p == '-' || *p == '+';
	for (; *p >= '0' && *p <= '9' && s < MOST_S; p++, digits++)
		s = s * 10 + (unsigned)(*p - '0');
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9' && unit > 1; p++, digits++)
			ns += (unsigned)(*p - '0') * (unit /= 10);
	}
	if (*p || !digits || s >= MOST_S)
		return err_set(-EINVAL,
			       "--offset %s: seconds with up to 9 decimals are expected, as 1.5 or "
			       "-0.25",
			       text);
	*ret_ns = (int64_t)(s * NS_IN_S + ns) * (negative ? -1 : 1);
	return 0;
}

/* The i-th input with the last of the offsets behind it; false: there are not so many. Lent from the lines. */
static bool find_input(const char *lines, unsigned i, const char **ret, size_t *ret_len,
		       const char **ret_offset, size_t *ret_offset_len)
{
	while (next_line(&lines, "input", ret, ret_len)) {
		*ret_offset = NULL;
		while (next_line(&lines, "offset", ret_offset, ret_offset_len))
			;
		if (!i--)
			return true;
	}
	return false;
}

int session_options_choose(struct session_options *o, unsigned i)
{
	const char *path, *offset;
	size_t len, offset_len, room;
	char *input, *own_offset = NULL, *lines;

	if (!o->inputs || !find_input(o->inputs, i, &path, &len, &offset, &offset_len))
		return err_set(-EINVAL, "there is no input %u", i);
	input = strndup(path, len);
	if (offset)
		own_offset = strndup(offset, offset_len);
	room = len + (offset ? offset_len : 0) + sizeof("input=\noffset=\n");
	lines = malloc(room);
	if (!input || (offset && !own_offset) || !lines) {
		free(input);
		free(own_offset);
		free(lines);
		return err_nomem();
	}
	snprintf(lines, room, "input=%s\n%s%s%s", input, offset ? "offset=" : "",
		 offset ? own_offset : "", offset ? "\n" : "");
	free(o->input);
	free(o->offset);
	free(o->inputs);
	o->input = input;
	o->offset = own_offset;
	o->inputs = lines;
	o->nr_inputs = 1;
	return 0;
}

/* perf reads the last of several. */
static int take_inputs(struct session_options *o)
{
	const char *path, *offset;
	size_t len, offset_len;
	int64_t ns;

	if (o->inputs && !strncmp(o->inputs, "offset=", strlen("offset=")))
		return err_set(-EINVAL, "an offset belongs to the input named before it: there is "
					"none");
	if (!o->inputs && !(o->inputs = strdup("input=perf.data\n")))
		return err_nomem();
	for (; find_input(o->inputs, o->nr_inputs, &path, &len, &offset, &offset_len);
	     o->nr_inputs++) {
		char text[64];

		if (!offset)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)offset_len, offset);
		TRY(session_options_offset(text, &ns));
	}
	if (o->nr_inputs > SESSION_MAX_INPUTS)
		return err_set(-E2BIG, "%u recordings at a time; at most %d are possible",
			       o->nr_inputs, SESSION_MAX_INPUTS);
	if (o->nr_inputs == 1 || o->compat)
		return session_options_choose(o, o->nr_inputs - 1);
	if (!find_input(o->inputs, 0, &path, &len, &offset, &offset_len) ||
	    !(o->input = strndup(path, len)))
		return err_nomem();
	return 0;
}

/* What there cannot be together. */
static int check_together(const struct session_options *o)
{
	const struct {
		const char *name;
		bool given;
	} alone[] = {
		{ "dump (-D)", o->dump },
		{ "per-event-dump", o->per_event_dump },
		{ "dlfilter", o->dlfilters },
		{ "unsorted", o->unsorted },
	};

	if (o->clock && o->reltime)
		return err_set(-EINVAL, "reltime counts times from the first event, clock says "
					"otherwise: only one of them is possible");
	if (o->clock && o->dump)
		return err_set(-EINVAL,
			       "a dump (-D) shows times as they were recorded: clock is not "
			       "possible beside it");
	for (size_t i = 0; o->nr_inputs > 1 && i < sizeof(alone) / sizeof(*alone); i++)
		if (alone[i].given)
			return err_set(-EINVAL, "%s: one recording at a time, not %u",
				       alone[i].name, o->nr_inputs);
	return 0;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Values with a grammar of their own: refused here, before anything is opened. */
static int check_values(const struct session_options *o)
{
	struct text_fields fields;
	struct cpu_list cpus = { 0 };
	struct id_list pids = { 0 }, tids = { 0 };
	bool repeats;
	size_t at;
	unsigned details;
	struct every every;
	uint64_t bytes;

	TRY(check_together(o));
	TRY(evlist_details_parse(o->evlist, &details));
	if (o->every)
		TRY(every_parse(o->every, &every));
	if (o->max_unpacked && (!size_parse(o->max_unpacked, &bytes) || !bytes))
		return err_set(-EINVAL, "--max-unpacked %s: a size (512M, 4G) is asked for",
			       o->max_unpacked);
	if (o->time)
		TRY(time_windows_parse(o->time, NULL, session_counts_from_first(o), o->compat,
				       NULL));
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

	if (r >= 0)
		r = take_inputs(&o);
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
		else if (k->kind == KEY_KIND_LINES && (!i || k->offset != k[-1].offset) &&
			 *(char *const *)at)
			outbuf_str(out, *(char *const *)at);
	}
}

void session_options_done(struct session_options *o)
{
	keys_done(keys, NR_KEYS, o);
	free(o->input);
	free(o->offset);
	*o = (struct session_options){ 0 };
}
