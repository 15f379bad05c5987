/* SPDX-License-Identifier: MIT */
#include "session/options.h"

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
#include "filters/where/where.h"
#include "recording/clock.h"
#include "session/itrace.h"
#include "session/pair_text.h"
#include "sonde/sonde.h"

static const char *const events_words[] = { "samples", "all", NULL };
static const char *const clock_words[] = { "raw", "relative", "utc", "local", NULL };

#define TEXT(name, m) KEY_TEXT(name, struct session_options, m)
/* The key may be given several times. Keys of one member keep their order. */
#define LINES(name, m)       KEY_LINES(name, struct session_options, m)
#define NUMBER(name, m)      KEY_NUMBER(name, struct session_options, m, 0, KEY_NO_NUMBER - 1)
#define WORD(name, m, words) KEY_WORD(name, struct session_options, m, words)
#define FLAG(name, m)        KEY_FLAG(name, struct session_options, m)

static const uint64_t default_window = 1u << 20;

static const struct key keys[] = {
	LINES("input", inputs),
	LINES("offset", inputs),
	WORD("clock", clock, clock_words),
	WORD("compat", compat, rules_versions),
	TEXT("time", time),
	FLAG("reltime", reltime),
	TEXT("cpu", cpu),
	TEXT("pid", pid),
	TEXT("tid", tid),
	TEXT("comm", comm),
	TEXT("where", where),
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
	FLAG("stitch-lbr", stitch_lbr),
	FLAG("force", force),
	TEXT("max-unpacked", max_unpacked),
	FLAG("kernel-formats", kernel_formats),
	TEXT("tracefs", tracefs),
	WORD("format", format, sink_names),
	TEXT("event", event),
	LINES("pair", pairs),
	NUMBER("max-stack", max_stack),
	TEXT("stop-bt", stop_bt),
	FLAG("unsorted", unsorted),
	FLAG("terminal", terminal),
	FLAG("progress", progress),
	KEY_NUMBER("window", struct session_options, window_bytes, 4096, 1u << 30),
	KEY_NUMBER("threads", struct session_options, threads, 0, 1 + SESSION_MAX_INPUTS),
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };

/* perf refuses a name that is given twice. */
static int options_check_names(const char *text, const char *what)
{
	struct name_list l = { 0 };
	bool repeats;

	if (text)
		TRY(name_list_parse(text, what, &l));
	repeats = l.repeats;
	name_list_done(&l);
	return repeats ? err_set(-EINVAL,
				 "Invalid %s list '%s': a name is given twice, which perf refuses",
				 what, text)
		       : 0;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Gets the value and its length from the next line "key=value\n"; false if there is none. */
static bool options_next_line(const char **lines, const char *key, const char **ret,
			      size_t *ret_len)
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

/*
 * Finds the i-th input and the last offset given after it; false if there are fewer inputs.
 * Borrowed from the lines.
 */
static bool options_find_input(const char *lines, unsigned i, const char **ret, size_t *ret_len,
			       const char **ret_offset, size_t *ret_offset_len)
{
	while (options_next_line(&lines, "input", ret, ret_len)) {
		*ret_offset = NULL;
		while (options_next_line(&lines, "offset", ret_offset, ret_offset_len))
			;
		if (!i--)
			return true;
	}
	return false;
}

int session_options_input(const struct session_options *o, unsigned i, char **ret_path,
			  char **ret_offset)
{
	const char *path, *offset;
	size_t len, offset_len;
	char *own_path, *own_offset = NULL;

	if (!o->inputs || !options_find_input(o->inputs, i, &path, &len, &offset, &offset_len))
		return err_set(-EINVAL, "there is no input %u", i);
	own_path = strndup(path, len);
	if (offset)
		own_offset = strndup(offset, offset_len);
	if (!own_path || (offset && !own_offset)) {
		free(own_path);
		free(own_offset);
		return err_nomem();
	}
	*ret_path = own_path;
	*ret_offset = own_offset;
	return 0;
}

/* Keeps only the i-th input and its offset. */
static int options_choose_input(struct session_options *o, unsigned i)
{
	char *input, *offset, *lines;
	size_t room;

	TRY(session_options_input(o, i, &input, &offset));
	room = strlen(input) + (offset ? strlen(offset) : 0) + sizeof("input=\noffset=\n");
	lines = malloc(room);
	if (lines)
		snprintf(lines, room, "input=%s\n%s%s%s", input, offset ? "offset=" : "",
			 offset ? offset : "", offset ? "\n" : "");
	free(offset);
	if (!lines) {
		free(input);
		return err_nomem();
	}
	free(o->input);
	free(o->inputs);
	o->input = input;
	o->inputs = lines;
	o->nr_inputs = 1;
	return 0;
}

/* Under perf's rule only the last of several inputs is read. */
static int options_take_inputs(struct session_options *o)
{
	const char *path, *offset;
	size_t len, offset_len;
	int64_t ns;

	if (o->inputs && !strncmp(o->inputs, "offset=", strlen("offset=")))
		return err_set(-EINVAL, "an offset belongs to the input named before it: there is "
					"none");
	if (!o->inputs && !(o->inputs = strdup("input=perf.data\n")))
		return err_nomem();
	for (; options_find_input(o->inputs, o->nr_inputs, &path, &len, &offset, &offset_len);
	     o->nr_inputs++) {
		char text[64];

		if (!offset)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)offset_len, offset);
		TRY(clock_offset_parse(text, &ns));
	}
	if (o->nr_inputs > SESSION_MAX_INPUTS)
		return err_set(-E2BIG, "%u recordings at a time; at most %d are possible",
			       o->nr_inputs, SESSION_MAX_INPUTS);
	if (o->nr_inputs == 1 || o->rules->pub.last_input_only)
		return options_choose_input(o, o->nr_inputs - 1);
	if (!options_find_input(o->inputs, 0, &path, &len, &offset, &offset_len) ||
	    !(o->input = strndup(path, len)))
		return err_nomem();
	return 0;
}

/* Refuses options that exclude each other. */
static int options_check_together(const struct session_options *o)
{
	const struct {
		const char *name;
		bool given;
	} alone[] = {
		{ "dlfilter", o->dlfilters },
		{ "unsorted", o->unsorted },
	};

	if (o->clock && o->reltime)
		return err_set(-EINVAL, "reltime counts times from the first event, clock says "
					"otherwise: only one of them is possible");
	if (o->pairs && o->dlfilters)
		return err_set(-EINVAL, "pair and dlfilter: only one of them is possible");
	for (size_t i = 0; o->nr_inputs > 1 && i < sizeof(alone) / sizeof(*alone); i++)
		if (alone[i].given)
			return err_set(-EINVAL, "%s: one recording at a time, not %u",
				       alone[i].name, o->nr_inputs);
	return 0;
}

/* ---- all options ----------------------------------------------------------------------------- */

/* Checks values with a grammar of their own here, before anything is opened. */
static int options_check_values(const struct session_options *o)
{
	struct cpu_list cpus = { 0 };
	struct id_list pids = { 0 }, tids = { 0 };
	struct where where = { 0 };
	bool repeats;
	size_t at;
	uint64_t bytes;

	TRY(options_check_together(o));
	if (o->max_unpacked && (!size_parse(o->max_unpacked, &bytes) || !bytes))
		return err_set(-EINVAL, "--max-unpacked %s: a size (512M, 4G) is expected",
			       o->max_unpacked);
	if (o->time)
		TRY(time_windows_parse(o->time, NULL, session_counts_from_first(o), o->rules,
				       NULL));
	if (o->cpu)
		TRY(cpu_list_parse(o->cpu, &cpus));
	repeats = cpus.repeats;
	cpu_list_done(&cpus);
	if (o->rules->refuses_repeated_cpus && repeats)
		return err_set(-EINVAL,
			       "Invalid cpu list '%s': a cpu is named twice, which perf refuses",
			       o->cpu);
	if (o->rules->refuses_repeated_names) {
		TRY(options_check_names(o->dsos, "dso"));
		TRY(options_check_names(o->comm, "comm"));
		TRY(options_check_names(o->symbols, "symbol"));
		TRY(options_check_names(o->stop_bt, "symbol"));
	}
	if (o->itrace && !itrace_valid(o->itrace, o->rules, &at))
		return err_set(-EINVAL, "itrace=%s: what begins at '%s' is not known", o->itrace,
			       o->itrace + at);
	if (o->pid)
		TRY(id_list_parse(o->pid, "pid", &pids));
	id_list_done(&pids);
	if (o->tid)
		TRY(id_list_parse(o->tid, "tid", &tids));
	id_list_done(&tids);
	if (o->where)
		TRY(where_parse(o->where, &where));
	where_done(&where);
	TRY(pair_texts_check(o->pairs));
	for (unsigned i = 0; i < NR_SINKS; i++) {
		const struct sink_options own = session_options_of_sink(o, sinks[i]);

		if (sinks[i]->check)
			TRY(sinks[i]->check(&own));
	}
	return 0;
}

struct sink_options session_options_of_sink(const struct session_options *o,
					    const struct sink_ops *sink)
{
	unsigned i = 0;

	while (sinks[i] != sink)
		i++;
	return (struct sink_options){
		.own = o->sinks[i].to,
		.input = o->input,
		.nr_inputs = o->nr_inputs,
		.rules = o->rules,
		.clock = o->clock,
		.reltime = o->reltime,
		.callchain = o->callchain,
		.unsorted = o->unsorted,
		.all_events = o->events,
		.on_terminal = o->terminal,
		.fd = -1,
	};
}

enum { NR_SETS = 1 + NR_SINKS };

static void options_list_sets(const struct session_options *o, struct key_set ret[NR_SETS])
{
	ret[0] = (struct key_set){ keys, NR_KEYS, (void *)o };
	memcpy(ret + 1, o->sinks, sizeof(o->sinks));
}

static int options_make_of_sink(struct session_options *o)
{
	for (unsigned i = 0; i < NR_SINKS; i++) {
		const struct sink_ops *sink = sinks[i];
		void *own = calloc(1, sink->options_bytes);

		if (!own)
			return err_nomem();
		keys_init(sink->keys, sink->nr_keys, own, sink->options_bytes);
		o->sinks[i] = (struct key_set){ sink->keys, sink->nr_keys, own };
	}
	return 0;
}

int session_options_parse(struct session_options *ret, const char *text, const char *origin)
{
	struct session_options o;
	struct key_set sets[NR_SETS];
	int r;

	keys_init(keys, NR_KEYS, &o, sizeof(o));
	o.callchain = o.demangle = o.inline_frames = 1;
	o.window_bytes = default_window;
	r = options_make_of_sink(&o);
	options_list_sets(&o, sets);
	if (r >= 0)
		r = key_sets_parse(sets, NR_SETS, text, origin ? origin : "session");
	o.rules = rules_of(o.compat);
	if (r >= 0)
		r = options_take_inputs(&o);
	if (r >= 0)
		r = options_check_values(&o);
	if (r < 0) {
		session_options_done(&o);
		return r;
	}
	*ret = o;
	return 0;
}

void session_options_print(const struct session_options *o, struct outbuf *out)
{
	struct key_set sets[NR_SETS];

	options_list_sets(o, sets);
	key_sets_print(sets, NR_SETS, out);
}

void session_options_done(struct session_options *o)
{
	keys_done(keys, NR_KEYS, o);
	for (unsigned i = 0; i < NR_SINKS && o->sinks[i].to; i++) {
		keys_done(o->sinks[i].keys, o->sinks[i].nr, o->sinks[i].to);
		free(o->sinks[i].to);
	}
	free(o->input);
	*o = (struct session_options){ 0 };
}
