/* SPDX-License-Identifier: MIT */
#include "script_steps.h"

#include "record_options.h"
#include "script_about.h"
#include "script_env.h"
#include "script_find.h"
#include "script_input.h"
#include "script_list.h"
#include "script_live.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- command lines --------------------------------------------------------------------------- */

/* argv of a future process. Words are borrowed, or valid until this process ends. */
struct step_words {
	char **v;
	size_t nr, room;
	bool failed;
};

static void steps_add(struct step_words *w, const char *word)
{
	if (w->nr + 1 >= w->room) {
		char **grown = realloc(w->v, (w->room + 32) * sizeof(*grown));

		if (!grown) {
			w->failed = true;
			return;
		}
		w->v = grown;
		w->room += 32;
	}
	w->v[w->nr++] = (char *)word;
	w->v[w->nr] = NULL;
}

static void steps_add_all(struct step_words *w, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		steps_add(w, argv[i]);
}

/*
 * True if the recording's words name a target: a command, or in sonde any other target. perf only
 * counts commands.
 */
static bool steps_names_target(const struct cli *cli, int argc, char **argv)
{
	static const char *const targets[] = { "all-cpus", "cpu", "pid", "tid", "uid" };
	struct record_args values = { 0 };
	struct cli globals = { 0 };
	struct opt_parser p = {
		.sets = { { record_options, &values }, { cli_options, &globals } },
		.set_key = record_args_set_key,
	};
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	bool yes;

	if (!copy)
		return true;
	memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	yes = opt_parse(&p, argc, copy) != 0;
	for (size_t i = 0; !yes && !cli_rules(cli)->record_adds_all_cpus &&
			   i < sizeof(targets) / sizeof(targets[0]);
	     i++) {
		char *value = lines_given(&values.lines, targets[i]);

		yes = value != NULL;
		free(value);
	}
	record_args_done(&values);
	free(copy);
	return yes;
}

/*
 * Sets the command line of the script's recorder. False if none is defined, or if there is no
 * memory.
 */
static bool steps_recorder(const struct cli *cli, const struct script_entry *e,
			   const struct script_about *about, struct step_words *w)
{
	static char own[PATH_MAX];
	char *line;

	steps_add(w, "/bin/sh");
	if (e->record) {
		steps_add(w, e->record);
		return !w->failed;
	}
	if (!about->record || readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		return false;
	/*
	 * The words are split like in a shell, but globs are not expanded: event names contain
	 * stars.
	 */
	if (asprintf(&line, "exec \"$0\" record %s%s %s \"$@\"", cli_compat(cli) ? "--compat=" : "",
		     cli_compat(cli) ? cli->compat : "", about->record) < 0)
		return false;
	steps_add(w, "-fc");
	steps_add(w, line);
	steps_add(w, own);
	return !w->failed;
}

static int steps_become(const struct cli *cli, struct step_words *w)
{
	if (w->failed)
		cli_say("out of memory");
	if (w->failed)
		return cli_status(cli, CLI_FAILED);
	fflush(stdout);
	execv(w->v[0], w->v);
	cli_say("cannot run %s: %m", w->v[0]);
	return cli_status(cli, CLI_FAILED);
}

/* ---- one script ------------------------------------------------------------------------------ */

struct step {
	const struct cli *cli;
	const struct script_steps *steps;
	struct script_entry entry;
	/* Describes the report's wrapper, or the script; `record` is that of the script. */
	struct script_about about;
	int argc; /* words after the name */
	char **argv;
};

static int steps_read_about(struct step *s)
{
	const struct script_entry *e = &s->entry;
	struct script_about of_wrapper;

	if (e->file && script_about_read(e->file, &s->about) < 0)
		return -1;
	if (!e->report || script_about_read(e->report, &of_wrapper) < 0)
		return e->report ? -1 : 0;
	free(s->about.args);
	s->about.args = of_wrapper.args;
	of_wrapper.args = NULL;
	script_about_done(&of_wrapper);
	return 0;
}

static int steps_record(struct step *s)
{
	const struct cli *cli = s->cli;
	struct step_words w = { 0 };

	if (!steps_recorder(cli, &s->entry, &s->about, &w)) {
		free(w.v);
		cli_say("script: it is not known what '%s' records: it has no line '# record: "
			"EVENTS', and there is no "
			"bin/%s-record; name the events with 'sonde record -e'",
			s->entry.name, s->entry.name);
		return cli_status(cli, CLI_USAGE);
	}
	if (s->steps->all_cpus || !steps_names_target(cli, s->argc, s->argv))
		steps_add(&w, "-a");
	steps_add_all(&w, s->argc, s->argv);
	if (script_env_set_for_wrapper(cli, s->entry.place->exec_path, NULL) < 0)
		return cli_status(cli, CLI_FAILED);
	return steps_become(cli, &w);
}

static bool steps_is_input(const char *word)
{
	return !strcmp(word, "-i") || !strcmp(word, "--input");
}

static int steps_report(struct step *s)
{
	const struct cli *cli = s->cli;
	const struct script_steps *steps = s->steps;
	struct step_words w = { 0 };

	if (!s->entry.report && !s->entry.file) {
		cli_say("script: '%s' only records: there is neither a script of that name nor a "
			"bin/%s-report",
			s->entry.name, s->entry.name);
		return cli_status(cli, CLI_USAGE);
	}
	if (!s->entry.report) {
		/* -i is accepted here as by wrappers, which pass options on. */
		if (s->argc >= 2 && steps_is_input(s->argv[0]))
			return steps->run_file(steps->ctx, s->entry.file, s->argv[1], s->argc - 2,
					       s->argv + 2);
		return steps->run_file(steps->ctx, s->entry.file, NULL, s->argc, s->argv);
	}
	steps_add(&w, "/bin/sh");
	steps_add(&w, s->entry.report);
	steps_add_all(&w, s->argc, s->argv);
	if (script_env_set_for_wrapper(cli, s->entry.place->exec_path,
				       cli_rules(cli)->options_miss_wrappers ? NULL
									     : steps->options) < 0)
		return cli_status(cli, CLI_FAILED);
	return steps_become(cli, &w);
}

/* ---- live ------------------------------------------------------------------------------------ */

/* Runs in the report's process. argv has the report's arguments. */
static int steps_live_report(void *ctx, const char *input)
{
	struct step *s = ctx;
	const struct cli *cli = s->cli;
	struct step_words options = { 0 }, w = { 0 };

	if (!s->entry.report && s->entry.file)
		return s->steps->run_file(s->steps->ctx, s->entry.file, input, s->argc, s->argv);
	if (!s->entry.report)
		return steps_report(s);
	steps_add(&w, "/bin/sh");
	steps_add(&w, s->entry.report);
	steps_add_all(&w, s->argc, s->argv);
	if (cli_rules(cli)->live_input_is_word) {
		steps_add(&w, "-i");
		steps_add(&w, input);
	}
	for (const char *const *o = s->steps->options; *o; o++)
		steps_add(&options, *o);
	steps_add(&options, "-i");
	steps_add(&options, input);
	if (options.failed ||
	    script_env_set_for_wrapper(
		    cli, s->entry.place->exec_path,
		    cli_rules(cli)->live_input_is_word ? NULL : (const char *const *)options.v) < 0)
		return cli_status(cli, CLI_FAILED);
	return steps_become(cli, &w);
}

/* True for a live screen. It records all cpus, and all words belong to the report. */
static bool steps_is_top(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && !strcmp(name + len - 3, "top");
}

/* The number of words that belong to the report; -1 after reporting that there are too few. */
static int steps_count_args(const struct step *s)
{
	const int required = script_about_required(&s->about);
	int n = 0, given = 0, words;

	if (steps_is_top(s->entry.name)) {
		n = s->argc;
		given = n;
	} else if (cli_rules(s->cli)->live_takes_no_options) {
		n = required < s->argc ? required : s->argc;
		given = n;
	}
	while (!cli_rules(s->cli)->live_takes_no_options && n < s->argc) {
		if (script_about_takes(&s->about, s->argv[n], &words))
			n += words;
		else if (given++ < required)
			n++;
		else
			break;
	}
	if (n <= s->argc && given >= required)
		return n;
	cli_say("script: '%s' needs arguments: %s", s->entry.name, s->about.args);
	return -1;
}

/*
 * Warns about -i: for the recorder it is another option, and the file after it would be the
 * command.
 */
static void steps_warn_of_input(const struct step *s, int argc, char **argv)
{
	const char *given =
		cli_rules(s->cli)->silent_about_input ? NULL : script_input_behind(argc, argv);

	if (given)
		cli_say("script: '-i %s' follows the script's name, so the recorder gets it; to "
			"read %s: sonde script -i %s %s",
			given, given, given, s->entry.name);
}

static int steps_live(struct step *s)
{
	const struct cli *cli = s->cli;
	struct step_words w = { 0 };
	struct step report = *s;
	struct script_live live = {
		.name = s->entry.name,
		.report = steps_live_report,
		.ctx = &report,
		/* A live screen detects by this that events arrive while it shows them. */
		.by_stdin = cli_rules(cli)->live_input_is_word || steps_is_top(s->entry.name),
	};
	int status = cli_status(cli, CLI_FAILED);

	report.argc = steps_count_args(s);
	if (report.argc < 0)
		return cli_status(cli, CLI_USAGE);
	steps_warn_of_input(s, s->argc - report.argc, s->argv + report.argc);
	if (steps_recorder(cli, &s->entry, &s->about, &w)) {
		if (s->steps->all_cpus || steps_is_top(s->entry.name) ||
		    !steps_names_target(cli, s->argc - report.argc, s->argv + report.argc))
			steps_add(&w, "-a");
		steps_add(&w, "-q");
		steps_add(&w, "-o");
		steps_add(&w, "-");
		steps_add_all(&w, s->argc - report.argc, s->argv + report.argc);
	}
	live.record = w.v;
	if (w.failed || script_env_set_for_wrapper(cli, s->entry.place->exec_path, NULL) < 0)
		cli_say("script: cannot start '%s'", s->entry.name);
	else
		status = script_live_run(cli, &live);
	free(w.v);
	return status;
}

/* ---- which ----------------------------------------------------------------------------------- */

/* True for a beginning of the word, of three letters or more. */
static bool steps_is_word(const char *typed, const char *word)
{
	size_t len = strlen(typed);

	return len >= 3 && !strncmp(word, typed, len);
}

bool script_steps_is_word(const char *word)
{
	return steps_is_word(word, "record") || steps_is_word(word, "report");
}

static int steps_run_named(struct step *s, const struct script_places *places,
			   int (*run)(struct step *))
{
	const struct cli *cli = s->cli;
	const char *name = s->argv[-1];
	int r = script_entry_find(places, name, cli_rules(cli)->needs_wrappers, &s->entry);

	if (!r && !cli_rules(cli)->needs_wrappers)
		r = script_entry_find_file(places, name, &s->entry);
	if (!r && !cli_rules(cli)->needs_wrappers)
		r = script_entry_find_language(places, name, &s->entry);
	if (!r && !cli_rules(cli)->needs_wrappers)
		r = script_entry_at_path(name, &s->entry);
	if (r > 0 && run == steps_report && cli_rules(cli)->needs_wrappers && !s->entry.report)
		r = 0;
	if (r == 1 && steps_read_about(s) < 0)
		r = -1;
	if (r == 0)
		script_list_print_nearest(cli, places, name);
	else if (r < 0)
		cli_say("out of memory");
	else
		return run(s);
	/* If the requested report is missing, perf ends with another status. */
	return run == steps_report || r < 0
		       ? cli_status(cli, cli_rules(cli)->needs_wrappers ? CLI_FAILED : CLI_USAGE)
		       : CLI_USAGE;
}

/* perf takes an unknown name as the first word of a recording's command. */
static int steps_record_as_perf(struct step *s)
{
	static char own[PATH_MAX];
	struct step_words w = { 0 };

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		return cli_status(s->cli, CLI_FAILED);
	steps_add(&w, own);
	steps_add(&w, "--compat");
	steps_add(&w, s->cli->compat);
	steps_add(&w, "record");
	steps_add_all(&w, s->argc + 1, s->argv - 1);
	return steps_become(s->cli, &w);
}

static int steps_run_record(struct step *s, const struct script_places *places)
{
	int r = cli_rules(s->cli)->record_takes_commands
			? script_entry_find(places, s->argv[-1], true, &s->entry)
			: 1;

	if (r > 0 && cli_rules(s->cli)->record_takes_commands) {
		r = s->entry.record ? 1 : 0;
		script_entry_done(&s->entry);
	}
	return r == 0 ? steps_record_as_perf(s) : steps_run_named(s, places, steps_record);
}

/* Returns 1 if it was recorded and reported, 0 if it is a file for an existing recording. */
static int steps_run_live(struct step *s, const struct script_places *places, int *ret_status)
{
	const struct sonde_rules *rules = cli_rules(s->cli);
	int r = script_entry_find(places, s->argv[-1], rules->needs_wrappers, &s->entry);

	if (!r && !rules->needs_wrappers && access(s->argv[-1], F_OK))
		r = script_entry_find_language(places, s->argv[-1], &s->entry);
	if (r > 0 && steps_read_about(s) < 0)
		r = -1;
	if (r < 0)
		cli_say("out of memory");
	if (r < 0)
		*ret_status = cli_status(s->cli, CLI_FAILED);
	if (r <= 0)
		return r < 0;
	if (rules->needs_wrappers && (!s->entry.record || !s->entry.report))
		return 0;
	if (!rules->records_despite_input &&
	    (s->steps->has_input || (!s->entry.record && !s->about.record))) {
		/* There is nothing to record, or no definition of it. */
		if (s->entry.file)
			return 0;
		*ret_status = steps_report(s);
		return 1;
	}
	*ret_status = steps_live(s);
	return 1;
}

int script_steps_run(const struct cli *cli, const struct script_steps *steps, int argc, char **argv,
		     int *ret_status)
{
	struct step s = { .cli = cli, .steps = steps };
	struct script_places places;
	int r = 1;

	if (script_places_list(cli, &places) < 0) {
		*ret_status = cli_status(cli, CLI_FAILED);
		return 1;
	}
	if (script_steps_is_word(argv[0])) {
		const bool record = steps_is_word(argv[0], "record");

		s.argc = argc - 2;
		s.argv = argv + 2;
		if (argc < 2) {
			*ret_status = cli_usage(cli,
						"script: %s needs the name of a script; 'sonde "
						"script -l' lists them",
						argv[0]);
		} else {
			*ret_status = record ? steps_run_record(&s, &places)
					     : steps_run_named(&s, &places, steps_report);
		}
	} else {
		s.argc = argc - 1;
		s.argv = argv + 1;
		r = steps_run_live(&s, &places, ret_status);
	}
	script_entry_done(&s.entry);
	script_about_done(&s.about);
	script_places_done(&places);
	return r;
}
