/* SPDX-License-Identifier: MIT */
#include "session_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "filters/cpu_list.h"
#include "filters/id_list.h"
#include "filters/name_list.h"
#include "filters/time_window.h"
#include "sinks/sink.h"
#include "sinks/text/fields.h"
#include "sonde/sonde.h"

static const char *const compat_words[] = { "none", "perf-6.1", "perf-6.12", NULL };
static const char *const events_words[] = { "samples", "all", NULL };
static const char *const header_words[] = { "none", "with", "only", NULL };
static const char *const color_words[] = { "never", "always", NULL };
static const char *const bool_words[] = { "0", "1", NULL };

enum key_kind { KEY_TEXT, KEY_NUMBER, KEY_WORD, KEY_LINES };

/* One key: where its value goes, what it may be. */
static const struct key {
	const char *name;
	size_t offset;
	enum key_kind kind;
	const char *const *words;
} keys[] = {
#define TEXT(name, m)                                                     \
	{                                                                 \
		name, offsetof(struct session_options, m), KEY_TEXT, NULL \
	}
/* May be given several times; keys of one member keep their order. */
#define LINES(name, m)                                                     \
	{                                                                  \
		name, offsetof(struct session_options, m), KEY_LINES, NULL \
	}
#define NUMBER(name, m)                                                     \
	{                                                                   \
		name, offsetof(struct session_options, m), KEY_NUMBER, NULL \
	}
#define WORD(name, m, words)                                               \
	{                                                                  \
		name, offsetof(struct session_options, m), KEY_WORD, words \
	}
#define FLAG(name, m) WORD(name, m, bool_words)
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
	WORD("format", format, sink_names),
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
#undef TEXT
#undef NUMBER
#undef WORD
#undef FLAG
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };
static const uint64_t smallest_window = 4096, largest_window = 1u << 30, default_window = 1u << 20;

static int set_window(struct session_options *o, const char *value, const char *origin, int line)
{
	char *end;
	unsigned long long v = strtoull(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || v < smallest_window || v > largest_window)
		return err_set(-EINVAL,
			       "%s:%d: window=%s: a number of bytes from %llu to %llu is expected",
			       origin, line, value, (unsigned long long)smallest_window,
			       (unsigned long long)largest_window);
	o->window_bytes = v;
	return 0;
}

static int set_word(struct session_options *o, const struct key *k, const char *value,
		    const char *origin, int line)
{
	struct outbuf choices = { 0 };

	for (uint32_t i = 0; k->words[i]; i++) {
		if (!strcmp(k->words[i], value)) {
			*(uint32_t *)((char *)o + k->offset) = i;
			outbuf_done(&choices);
			return 0;
		}
		outbuf_fmt(&choices, "%s%s", i ? ", " : "", k->words[i]);
	}
	outbuf_char(&choices, '\0');
	err_set(-EINVAL, "%s:%d: %s=%s: one of %s is expected", origin, line, k->name, value,
		choices.failed ? "its words" : choices.data);
	outbuf_done(&choices);
	return -EINVAL;
}

static int set_number(struct session_options *o, const struct key *k, const char *value,
		      const char *origin, int line)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(value, &end, 0);
	if (*value < '0' || *value > '9' || *end || errno || v == UINT64_MAX)
		return err_set(-EINVAL, "%s:%d: %s=%s: a number is expected", origin, line, k->name,
			       value);
	*(uint64_t *)((char *)o + k->offset) = v;
	return 0;
}

static int add_line(char **lines, const char *name, const char *value)
{
	char *all;

	if (asprintf(&all, "%s%s=%s\n", *lines ? *lines : "", name, value) < 0)
		return err_nomem();
	free(*lines);
	*lines = all;
	return 0;
}

static int set_key(struct session_options *o, const char *name, const char *value,
		   const char *origin, int line)
{
	if (!strcmp(name, "window"))
		return set_window(o, value, origin, line);
	for (int i = 0; i < NR_KEYS; i++) {
		char **text = (char **)((char *)o + keys[i].offset);

		if (strcmp(keys[i].name, name))
			continue;
		if (keys[i].kind == KEY_WORD)
			return set_word(o, &keys[i], value, origin, line);
		if (keys[i].kind == KEY_NUMBER)
			return set_number(o, &keys[i], value, origin, line);
		if (keys[i].kind == KEY_LINES)
			return add_line(text, name, value);
		free(*text);
		*text = strdup(value);
		return *text ? 0 : err_nomem();
	}
	return err_set(-EINVAL, "%s:%d: unknown key \"%s\"", origin, line, name);
}

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
	int r = 0, line_nr = 0;

	if (!origin)
		origin = "session";
	while (*text && r >= 0) {
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len), *eq;

		text += len + (text[len] == '\n');
		line_nr++;
		if (!line)
			r = err_nomem();
		else if (!*line || *line == '#')
			;
		else if (!(eq = strchr(line, '=')))
			r = err_set(-EINVAL, "%s:%d: \"%s\" is no key=value", origin, line_nr,
				    line);
		else {
			*eq = '\0';
			r = set_key(&o, line, eq + 1, origin, line_nr);
		}
		free(line);
	}
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
		const char *text = k->kind == KEY_TEXT ? *(const char *const *)at : NULL;

		if (k->kind == KEY_WORD)
			outbuf_fmt(out, "%s=%s\n", k->name, k->words[*(const uint32_t *)at]);
		else if (k->kind == KEY_NUMBER && *(const uint64_t *)at != UINT64_MAX)
			outbuf_fmt(out, "%s=%llu\n", k->name,
				   (unsigned long long)*(const uint64_t *)at);
		else if (text)
			outbuf_fmt(out, "%s=%s\n", k->name, text);
		else if (k->kind == KEY_LINES && k->offset != k[-1].offset && *(char *const *)at)
			outbuf_str(out, *(char *const *)at);
	}
	outbuf_fmt(out, "window=%llu\n", (unsigned long long)o->window_bytes);
}

void session_options_done(struct session_options *o)
{
	for (int i = 0; i < NR_KEYS; i++) {
		char **text = (char **)((char *)o + keys[i].offset);

		if (keys[i].kind == KEY_TEXT || keys[i].kind == KEY_LINES) {
			free(*text);
			*text = NULL;
		}
	}
	*o = (struct session_options){ 0 };
}
