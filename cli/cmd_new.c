/* SPDX-License-Identifier: MIT */
/* sonde new: writes a script that shows and counts chosen events, for the user to change. */
#include "cli.h"

#include "event_match.h"
#include "generate.h"
#include "languages.h"
#include "lines.h"
#include "nearest_event.h"
#include "starter.h"
#include "sudo_user.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A pattern that matches more tracepoints has one handler. */
#define NEW_PATTERN 20

struct new_args {
	const char *language, *input;
	struct lines events; /* lines "event=" */
};

/* The events of the script, with what their names and fields are borrowed from. */
struct new_events {
	struct starter_event *list;
	size_t nr, room;
	struct sonde_tracepoint **tracepoints;
	size_t nr_tracepoints;
	char **names; /* owned */
	size_t nr_names;
	struct sonde_session *session;
	struct skeleton recorded;
};

static void new_events_done(struct new_events *e)
{
	for (size_t i = 0; i < e->nr_tracepoints; i++)
		sonde_tracepoint_close(e->tracepoints[i]);
	for (size_t i = 0; i < e->nr_names; i++)
		free(e->names[i]);
	free(e->tracepoints);
	free(e->names);
	free(e->list);
	free(e->recorded.tracepoints);
	free(e->recorded.samples);
	sonde_session_close(e->session);
}

static int new_no_memory(const struct cli *cli)
{
	cli_say("out of memory");
	return cli_status(cli, CLI_FAILED);
}

/* Makes room for one more event, name and tracepoint. False if there is no memory. */
static bool new_grow(struct new_events *e)
{
	const size_t room = e->room ? e->room * 2 : 16;
	void *list, *names, *tracepoints;

	if (e->nr < e->room && e->nr_names < e->room && e->nr_tracepoints < e->room)
		return true;
	list = realloc(e->list, room * sizeof(*e->list));
	e->list = list ? list : e->list;
	names = realloc(e->names, room * sizeof(*e->names));
	e->names = names ? names : e->names;
	tracepoints = realloc(e->tracepoints, room * sizeof(*e->tracepoints));
	e->tracepoints = tracepoints ? tracepoints : e->tracepoints;
	if (!list || !names || !tracepoints)
		return false;
	e->room = room;
	return true;
}

static bool new_has(const struct new_events *e, const char *name)
{
	for (size_t i = 0; i < e->nr; i++)
		if (!strcmp(e->list[i].name, name))
			return true;
	return false;
}

/* Keeps a copy of a name. NULL if there is no memory. */
static const char *new_keep_name(struct new_events *e, const char *name, size_t len)
{
	if (!new_grow(e))
		return NULL;
	e->names[e->nr_names] = strndup(name, len);
	return e->names[e->nr_names] ? e->names[e->nr_names++] : NULL;
}

/* ---- events of a recording ------------------------------------------------------------------- */

static int new_take_recorded(const struct cli *cli, const char *path, struct new_events *e)
{
	const struct skeleton *sk = &e->recorded;
	char *text;
	int r;

	if (asprintf(&text, "input=%s\ncompat=none\n", path) < 0)
		return new_no_memory(cli);
	r = sonde_session_open(&e->session, text, "the command line");
	free(text);
	if (r < 0) {
		e->session = NULL;
		return cli_fail(cli);
	}
	if (generate_gather(e->session, &e->recorded) < 0)
		return new_no_memory(cli);
	for (size_t i = 0; i < sk->nr_tracepoints + sk->nr_samples; i++) {
		const bool is_sample = i >= sk->nr_tracepoints;
		const struct sonde_schema *sc =
			is_sample ? sk->samples[i - sk->nr_tracepoints] : sk->tracepoints[i];

		if (!new_grow(e))
			return new_no_memory(cli);
		e->list[e->nr++] =
			(struct starter_event){ sonde_schema_name(sc), is_sample ? NULL : sc };
	}
	if (!e->nr) {
		cli_say("new: %s has no events that a script could handle", path);
		return cli_status(cli, CLI_FAILED);
	}
	return CLI_OK;
}

/* ---- events of this machine ------------------------------------------------------------------ */

/* The tracepoints that a pattern matches. */
struct new_matches {
	struct new_events *events;
	const char *pattern;
	size_t first, nr; /* names in events */
	bool failed;
};

static void new_match(void *ctx, const struct sonde_listed_event *e)
{
	struct new_matches *m = ctx;

	if (fnmatch(m->pattern, e->name, 0))
		return;
	if (new_keep_name(m->events, e->name, strlen(e->name)))
		m->nr++;
	else
		m->failed = true;
}

static int new_take_tracepoint(const struct cli *cli, struct new_events *e, const char *name)
{
	struct sonde_tracepoint *t;
	int r;

	if (!new_grow(e))
		return new_no_memory(cli);
	r = sonde_tracepoint_open(&t, name);
	if (r == -ENOENT)
		return -ENOENT;
	if (r < 0)
		return cli_fail(cli);
	e->tracepoints[e->nr_tracepoints++] = t;
	if (!new_has(e, name))
		e->list[e->nr++] = (struct starter_event){ name, sonde_tracepoint_schema(t) };
	return CLI_OK;
}

static int new_no_such_event(const struct cli *cli, const char *name)
{
	const struct sonde_list_options opts = { .size = sizeof(opts),
						 .kinds = SONDE_EVENT_TRACEPOINT };
	struct nearest_event n = { .near = { .size = sizeof(n.near), .wanted = name } };

	if (sonde_list_events(&opts, nearest_event_offer, &n) < 0)
		return cli_fail(cli);
	if (n.near.meant)
		return cli_usage(cli, "new: this kernel has no event '%s'; did you mean '%s'?",
				 name, n.near.meant);
	return cli_usage(cli, "new: this kernel has no event '%s'; sonde list tracepoint names all",
			 name);
}

static int new_take_pattern(const struct cli *cli, struct new_events *e, const char *pattern)
{
	const struct sonde_list_options opts = { .size = sizeof(opts),
						 .kinds = SONDE_EVENT_TRACEPOINT };
	struct new_matches m = { .events = e, .pattern = pattern, .first = e->nr_names };
	int status = CLI_OK;

	if (sonde_list_events(&opts, new_match, &m) < 0)
		return cli_fail(cli);
	if (m.failed)
		return new_no_memory(cli);
	if (!m.nr)
		return cli_usage(cli, "new: no tracepoint of this kernel matches '%s'", pattern);
	if (m.nr > NEW_PATTERN) {
		if (!new_has(e, pattern))
			e->list[e->nr++] = (struct starter_event){ pattern, NULL };
		return CLI_OK;
	}
	for (size_t i = 0; i < m.nr && !status; i++)
		status = new_take_tracepoint(cli, e, e->names[m.first + i]);
	return status;
}

static void new_say_nothing(void *ctx, int level, const char *line)
{
}

/*
 * Events other than tracepoints: opened for this thread, as sonde run opens them. This knows all
 * forms of their names, and the kernel answers.
 */
static int new_take_other(const struct cli *cli, struct new_events *e, const char *name)
{
	const struct sonde_record_event event = { .events = name };
	char settings[32];
	const struct sonde_record_options record = {
		.size = sizeof(record),
		.events = &event,
		.nr_events = 1,
		.settings = settings,
		.say = new_say_nothing,
	};
	const struct sonde_live_options opts = { .size = sizeof(opts), .record = &record };
	struct sonde_live *live;
	const char *line;
	int level;

	snprintf(settings, sizeof(settings), "tid=%d\n", (int)getpid());
	if (sonde_live_open(&live, &opts) < 0) {
		cli_fail(cli);
		return cli_status(cli, CLI_USAGE);
	}
	while ((line = sonde_live_line(live, &level)))
		if (!level)
			cli_say("%s", line);
	sonde_live_close(live);
	if (!new_grow(e))
		return new_no_memory(cli);
	if (!new_has(e, name))
		e->list[e->nr++] = (struct starter_event){ name, NULL };
	return CLI_OK;
}

/* "system:event" without modifiers: letters behind the colon that are all modifiers are some. */
static bool new_is_tracepoint(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && !strpbrk(name, "/{") && strncmp(name, "mem:", 4) &&
	       colon[1 + strspn(colon + 1, "ukhGHpPSDIWeb")];
}

static int new_take_event(const struct cli *cli, struct new_events *e, const char *name)
{
	int status;

	if (strpbrk(name, "{}"))
		return cli_usage(cli,
				 "new: '%s': a script has no groups of events: name them one by "
				 "one",
				 name);
	if (!new_is_tracepoint(name))
		return new_take_other(cli, e, name);
	if (strpbrk(name, "*?["))
		return new_take_pattern(cli, e, name);
	status = new_take_tracepoint(cli, e, name);
	return status == -ENOENT ? new_no_such_event(cli, name) : status;
}

static int new_take_events(const struct cli *cli, const char *lines, struct new_events *e)
{
	int status = CLI_OK;

	for (const char *p = strstr(lines, "event="); p && !status; p = strstr(p, "event=")) {
		p += strlen("event=");
		while (*p && *p != '\n' && !status) {
			const size_t end = strcspn(p, "\n");
			size_t len = event_name_length(p);
			const char *name;

			len = len < end ? len : end;
			name = len ? new_keep_name(e, p, len) : NULL;
			if (len && !name)
				return new_no_memory(cli);
			status = name ? new_take_event(cli, e, name) : CLI_OK;
			p += len + (p[len] == ',');
		}
	}
	if (!status && !e->nr)
		return cli_usage(cli, "new: -e needs the name of an event: sonde list names all");
	return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Under sudo only names and fields of events need rights: the file becomes the user's. */
static int new_give_up_rights(const struct cli *cli)
{
	struct sudo_user user;
	const int r = sudo_user_find(&user);
	int failed = r < 0;

	if (r > 0) {
		failed = sudo_user_become(&user, -1) < 0;
		sudo_user_done(&user);
	}
	return failed ? cli_status(cli, CLI_FAILED) : CLI_OK;
}

static int new_write(const struct cli *cli, const struct language *l, const char *path,
		     const struct new_events *e)
{
	const struct starter s = { .file = path, .events = e->list, .nr_events = e->nr };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool failed = !out || l->start(out, &s) < 0 || ferror(out);
	int status = CLI_OK;

	failed |= out && fclose(out);
	if (failed)
		status = new_no_memory(cli);
	else if (!generate_create(path, text, len, 0666)) {
		if (errno == EEXIST)
			cli_say("new: %s exists already: name another file, or remove it", path);
		else
			cli_say("new: cannot write %s: %m", path);
		status = cli_status(cli, CLI_FAILED);
	}
	free(text);
	if (!status)
		cli_say("wrote %s; it runs by: sonde run -a --for 5s %s", path, path);
	return status;
}

static int new_choose_language(const struct cli *cli, const struct new_args *a, const char *path,
			       const struct language **ret)
{
	const struct language *by_suffix = script_language_by_suffix(path), *l = by_suffix;

	if (a->language)
		l = script_language_called(a->language, strlen(a->language));
	else if (!l)
		l = script_language_called("python", 6);
	if (!l || !l->start)
		return cli_usage(cli, "new: a script can be written in python or perl, not in %s",
				 l ? l->name : a->language);
	if (by_suffix && by_suffix != l)
		return cli_usage(cli, "new: '%s' has the name of a script in %s, and --lang is %s",
				 path, by_suffix->name, a->language);
	*ret = l;
	return CLI_OK;
}

static int new_run(struct cli *cli, void *values, int argc, char **argv)
{
	const struct new_args *a = values;
	const struct language *l = NULL;
	struct new_events e = { 0 };
	char *path;
	int status;

	if (argc != 1)
		return cli_usage(cli,
				 argc ? "new: name one script, not also '%s'"
				      : "new: name the script to write",
				 argc ? argv[1] : "");
	if (!a->input == !a->events.text)
		return cli_usage(cli, a->input ? "new: -i takes all events of the recording: leave "
						 "out -e"
					       : "new: say which events the script handles: -e "
						 "EVENTS of this machine, or -i FILE for those of "
						 "a recording");
	status = new_choose_language(cli, a, argv[0], &l);
	if (status)
		return status;
	/* sonde run finds the language by the suffix. */
	if (asprintf(&path, "%s%s%s", argv[0], script_language_by_suffix(argv[0]) ? "" : ".",
		     script_language_by_suffix(argv[0]) ? "" : l->suffixes[0]) < 0)
		return new_no_memory(cli);
	if (access(path, F_OK) == 0) {
		cli_say("new: %s exists already: name another file, or remove it", path);
		status = cli_status(cli, CLI_FAILED);
	}
	if (!status)
		status = a->input ? new_take_recorded(cli, a->input, &e)
				  : new_take_events(cli, a->events.text, &e);
	if (!status)
		status = new_give_up_rights(cli);
	if (!status)
		status = new_write(cli, l, path, &e);
	new_events_done(&e);
	free(path);
	return status;
}

static int new_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value)
{
	struct new_args *a = values;

	return lines_set(&a->events, p, o->word, o->key, value);
}

static void new_done(void *values)
{
	struct new_args *a = values;

	lines_done(&a->events);
}

/* clang-format off */
static const struct opt options[] = {
	OPT_KEY('e', "event", "EVENTS", "event",
		"writes a handler for each of these events, named as for sonde record; this "
		"machine must have them"),
	OPT_TEXT('i', "input", "FILE", struct new_args, input,
		"writes a handler for each event of a recording"),
	OPT_OUR_TEXT(0, "lang", "LANG", struct new_args, language,
		"writes Python or Perl (default: by the script's suffix, then python)"),
	OPT_END,
};
/* clang-format on */

static const char *const usage[] = {
	"new SCRIPT -e EVENTS",
	"new SCRIPT -i FILE",
	NULL,
};

const struct command cmd_new = {
	.name = "new",
	.summary = "writes a script for chosen events, which sonde run runs",
	.usage = usage,
	.options = options,
	.examples = "  sonde new switches.py -e sched:sched_switch\n"
		    "  sonde new reads.py -e 'syscalls:sys_*_read'\n"
		    "  sonde new all.pl -i perf.data\n",
	.values_size = sizeof(struct new_args),
	.permute = true,
	.run = new_run,
	.set_key = new_set_key,
	.done = new_done,
};
