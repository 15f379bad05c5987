/* SPDX-License-Identifier: MIT */
#include "session_options.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/err.h"
#include "filters/cpu_list.h"
#include "filters/id_list.h"
#include "filters/time_window.h"
#include "sinks/text/fields.h"
#include "sonde/sonde.h"

static const char *const compat_words[] = { "none", "perf-6.1", "perf-6.12", NULL };
static const char *const events_words[] = { "samples", "all", NULL };
static const char *const bool_words[] = { "0", "1", NULL };

/* One key: where its value goes and which words it takes (none: any text). */
static const struct key {
	const char *name;
	size_t offset;
	const char *const *words;
} keys[] = {
	{ "input", offsetof(struct session_options, input), NULL },
	{ "compat", offsetof(struct session_options, compat), compat_words },
	{ "time", offsetof(struct session_options, time), NULL },
	{ "cpu", offsetof(struct session_options, cpu), NULL },
	{ "pid", offsetof(struct session_options, pid), NULL },
	{ "tid", offsetof(struct session_options, tid), NULL },
	{ "comm", offsetof(struct session_options, comm), NULL },
	{ "callchain", offsetof(struct session_options, callchain), bool_words },
	{ "events", offsetof(struct session_options, events), events_words },
	{ "symfs", offsetof(struct session_options, symfs), NULL },
	{ "kallsyms", offsetof(struct session_options, kallsyms), NULL },
	{ "buildid-dir", offsetof(struct session_options, buildid_dir), NULL },
	{ "force", offsetof(struct session_options, force), bool_words },
	{ "fields", offsetof(struct session_options, fields), NULL },
	{ "ns", offsetof(struct session_options, ns), bool_words },
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

static int set_key(struct session_options *o, const char *name, const char *value,
		   const char *origin, int line)
{
	if (!strcmp(name, "window"))
		return set_window(o, value, origin, line);
	for (int i = 0; i < NR_KEYS; i++) {
		char **text = (char **)((char *)o + keys[i].offset);

		if (strcmp(keys[i].name, name))
			continue;
		if (keys[i].words)
			return set_word(o, &keys[i], value, origin, line);
		free(*text);
		*text = strdup(value);
		return *text ? 0 : err_nomem();
	}
	return err_set(-EINVAL, "%s:%d: unknown key \"%s\"", origin, line, name);
}

/* Values with a grammar of their own: refused here, before anything is opened. */
static int check_values(const struct session_options *o)
{
	struct text_fields fields;
	struct time_window window;
	struct cpu_list cpus = { 0 };
	struct id_list pids = { 0 }, tids = { 0 };
	bool repeats;

	if (o->time)
		TRY(time_window_parse(o->time, &window));
	if (o->fields)
		TRY(text_fields_parse(&fields, o->fields, true));
	if (o->cpu)
		TRY(cpu_list_parse(o->cpu, &cpus));
	repeats = cpus.repeats;
	cpu_list_done(&cpus);
	if (o->compat && repeats)
		return err_set(-EINVAL,
			       "Invalid cpu list '%s': a cpu is named twice, which perf refuses",
			       o->cpu);
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
	struct session_options o = { .callchain = 1, .window_bytes = default_window };
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
		const char *const *text = (const char *const *)((const char *)o + keys[i].offset);

		if (keys[i].words)
			outbuf_fmt(out, "%s=%s\n", keys[i].name,
				   keys[i].words[*(const uint32_t *)((const char *)o +
								     keys[i].offset)]);
		else if (*text)
			outbuf_fmt(out, "%s=%s\n", keys[i].name, *text);
	}
	outbuf_fmt(out, "window=%llu\n", (unsigned long long)o->window_bytes);
}

void session_options_done(struct session_options *o)
{
	for (int i = 0; i < NR_KEYS; i++) {
		if (!keys[i].words)
			free(*(char **)((char *)o + keys[i].offset));
	}
	*o = (struct session_options){ 0 };
}
