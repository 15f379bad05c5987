/* SPDX-License-Identifier: MIT */
/*
 * sonde run: a script that says what it needs, live or over recordings. The interpreter itself
 * records (sonde_live_open()), because only the script knows its events. This file passes it what
 * the command line and the script's "# sonde:" line say, in SONDE_RUN_FD (script.h).
 */
#include "cli.h"

#include "languages.h"
#include "lines.h"
#include "opt_events.h"
#include "record_broker.h"
#include "record_options.h"
#include "script.h"
#include "script_about.h"
#include "script_find.h"
#include "script_list.h"
#include "settings.h"
#include "shell_words.h"
#include "sudo_user.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct run_args {
	struct lines record;  /* settings of the recorder */
	struct lines session; /* text form of the session */
	const char *code, *language, *interpreter, *output, *length, *format, *cgroup;
	uint64_t top, latency;
	int broker_fd; /* of the process that keeps the rights of root; 0 if there is none */
	bool list, dry_run, has_top, has_latency, sudo;
};

/* ---- options --------------------------------------------------------------------------------- */

static int run_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value)
{
	struct run_args *a = values;
	const bool is_session = !strcmp(o->key, "input") || !strcmp(o->key, "symfs");

	return lines_set(is_session ? &a->session : &a->record, p, o->word ? o->word : o->key,
			 o->key, value);
}

static int run_set_code(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct run_args *a = values;

	if (a->code)
		return opt_error(p, "-e is given twice: statements of one program are separated by "
				    "line breaks or ';'");
	a->code = value;
	return 0;
}

static int run_set_number(struct opt_parser *p, const char *word, const char *value, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = value ? strtoull(value, &end, 10) : 0;
	if (!value || !isdigit((unsigned char)*value) || *end || errno || !*ret ||
	    *ret > UINT32_MAX)
		return opt_error(p, "%s needs a number from 1 on, not '%s'", word,
				 value ? value : "");
	return 0;
}

static int run_set_top(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct run_args *a = values;

	a->has_top = true;
	return run_set_number(p, "--top", value, &a->top);
}

static int run_set_latency(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct run_args *a = values;

	a->has_latency = true;
	return run_set_number(p, "--latency", value, &a->latency);
}

/* ---- facts for the interpreter --------------------------------------------------------------- */

/* Names and values, each ended by a NUL. */
struct run_facts {
	char *bytes;
	size_t len;
	FILE *out;
};

static void run_put(const struct run_facts *f, const char *name, const char *value)
{
	if (value)
		fprintf(f->out, "%s%c%s%c", name, 0, value, 0);
}

static void run_put_number(const struct run_facts *f, const char *name, uint64_t n)
{
	fprintf(f->out, "%s%c%llu%c", name, 0, (unsigned long long)n, 0);
}

/* Three facts for each: what is not given is empty. */
static void run_put_events(const struct run_facts *f, const struct opt_events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		const struct sonde_record_event *e = &events->list[i];

		run_put(f, "event", e->events ? e->events : "");
		run_put(f, "filter", e->filter ? e->filter : "");
		run_put(f, "cgroup", e->cgroup ? e->cgroup : "");
	}
}

/*
 * The script's own line "# sonde: record ...": options of sonde record. Its events come before
 * those of the command line. Its -a holds if the command line has no target. Returns a status.
 */
static int run_take_line(const struct cli *cli, const struct run_facts *f, const char *file,
			 const char *line, bool has_target)
{
	struct record_args values = { 0 };
	struct cli globals = { 0 };
	struct opt_parser p = {
		.sets = { { record_options, &values }, { cli_options, &globals } },
		.set_key = record_args_set_key,
	};
	struct shell_words w;
	int n, status = CLI_OK;

	if (shell_words_split(line, &w))
		return cli_usage(cli, "run: %s: '# sonde: %s': a quote is not closed", file, line);
	if (!w.n || strcmp(w.v[0], "record")) {
		status = cli_usage(cli,
				   "run: %s: '# sonde: %s': it should be '# sonde: record' "
				   "with options of sonde record",
				   file, line);
		shell_words_done(&w);
		return status;
	}
	n = opt_parse(&p, w.n - 1, w.v + 1);
	if (n < 0)
		status = cli_usage(cli, "run: %s: '# sonde: %s': %s", file, line, p.error);
	else if (n)
		status = cli_usage(cli,
				   "run: %s: '# sonde: %s': '%s' is no option; the command is "
				   "named by sonde run",
				   file, line, w.v[1]);
	if (!status && has_target)
		lines_set(&values.lines, &p, "all-cpus", "all-cpus", NULL);
	if (!status) {
		run_put(f, "settings", values.lines.text);
		if (values.chains)
			run_put(f, "settings", "call-graph=\n");
		run_put_events(f, &values.events);
	}
	record_args_done(&values);
	shell_words_done(&w);
	return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool run_has_target(const struct run_args *a)
{
	static const char *const keys[] = { "all-cpus", "pid", "tid", "cpu" };
	bool yes = a->cgroup;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && !yes; i++)
		yes = lines_count(&a->record, keys[i]) > 0;
	return yes;
}

/* The words of the complete command line behind its first "--"; NULL if there is none. */
static char **run_words_behind(char **argv)
{
	while (*argv && strcmp(*argv, "--"))
		argv++;
	return *argv ? argv + 1 : NULL;
}

static int run_count(char **words)
{
	int n = 0;

	while (words[n])
		n++;
	return n;
}

/* Hides the words behind "--" from the parser of options. */
static char **run_more_words(int *argc, char **argv)
{
	for (int i = 0; i < *argc; i++)
		if (!strcmp(argv[i], "--")) {
			argv[i] = NULL;
			*argc = i;
		}
	return argv;
}

/* True for text such as "sched:sched_switch", which is no program. */
static bool run_looks_like_event(const char *code)
{
	bool has_colon = false;

	for (; *code; code++) {
		if (*code == ':')
			has_colon = true;
		else if (!isalnum((unsigned char)*code) && !strchr("_-*?,/=", *code))
			return false;
	}
	return has_colon;
}

/*
 * The program of -e as a file that the interpreter can open. first: a line before it. Returns its
 * path, or NULL.
 */
static const char *run_code_file(const char *first, const char *code, char *buf, size_t size)
{
	const int fd = memfd_create("sonde-code", 0);

	if (fd < 0 || dprintf(fd, "%s%s\n", first, code) < 0)
		return NULL;
	snprintf(buf, size, "/proc/self/fd/%d", fd);
	return buf;
}

struct run_words {
	char **command, **args; /* NULL-terminated; command is NULL if there is none */
	int nr_args;
};

/* "SCRIPT -- command -- args": with another target, or -i, there is no command. */
static void run_split_words(const struct cli *cli, bool has_target, struct run_words *ret)
{
	char **behind = run_words_behind(cli->argv), **second = behind;

	*ret = (struct run_words){ 0 };
	if (!behind)
		return;
	if (!has_target) {
		second = run_words_behind(behind);
		if (second)
			second[-1] = NULL;
		ret->command = *behind ? behind : NULL;
	}
	ret->args = second;
	ret->nr_args = second ? run_count(second) : 0;
}

/* An event that a word names, with or without its system. */
struct run_event {
	const char *word;
	char name[128]; /* "" if there is none */
};

static void run_match_event(void *ctx, const struct sonde_listed_event *e)
{
	struct run_event *m = ctx;
	const char *colon = strchr(e->name, ':');

	if (!strcmp(e->name, m->word) || (colon && !strcmp(colon + 1, m->word)) ||
	    (e->alias && !strcmp(e->alias, m->word)))
		snprintf(m->name, sizeof(m->name), "%s", e->name);
}

/* A word that is no script: advice if it is an event. Returns a status, CLI_OK if it is none. */
static int run_advise_event(const struct cli *cli, const char *word)
{
	const struct sonde_list_options opts = {
		.size = sizeof(opts),
		.kinds = SONDE_EVENT_SOFTWARE | SONDE_EVENT_HARDWARE | SONDE_EVENT_TRACEPOINT,
	};
	struct run_event m = { .word = word };
	const char *colon = strchr(word, ':');

	if (colon && run_looks_like_event(word) &&
	    !script_language_called(word, (size_t)(colon - word)))
		snprintf(m.name, sizeof(m.name), "%s", word);
	else if (!strpbrk(word, "./:"))
		sonde_list_events(&opts, run_match_event, &m);
	if (!*m.name)
		return CLI_OK;
	return cli_usage(cli,
			 "run: '%s' is an event, not a script: sonde run -e 'count(\"%s\")' counts "
			 "it, sonde record -e '%s' records it, sonde new SCRIPT -e '%s' writes a "
			 "script for it",
			 word, m.name, m.name, m.name);
}

/* ---- running --------------------------------------------------------------------------------- */

static int run_check(const struct cli *cli, const struct run_args *a, int argc, char **argv)
{
	if (a->format && strcmp(a->format, "text") && strcmp(a->format, "json"))
		return cli_usage(cli, "run: --format takes text or json, not '%s'", a->format);
	if (a->code && run_looks_like_event(a->code))
		return cli_usage(cli,
				 "run: -e takes a program, and '%s' looks like an event: did you "
				 "mean -e 'count(\"%s\")' or sonde record -e %s?",
				 a->code, a->code, a->code);
	if (a->output && !strcmp(a->output, "-"))
		return cli_usage(cli, "run: -o needs a file: the script has the standard output");
	if (lines_count(&a->session, "input") &&
	    (a->record.text || a->cgroup || a->output || a->length || a->has_latency ||
	     a->dry_run || a->sudo))
		return cli_usage(cli,
				 "run: -i reads a recording, so nothing is recorded: leave out -a, "
				 "-p, -t, -C, -G, -m, --ftrace, -o, --for, --latency, --sudo and "
				 "--dry-run");
	if (!a->code && !argc)
		return cli_usage(cli, "run: name a script, or give a program with -e");
	if (argc > (a->code ? 0 : 1))
		return cli_usage(cli,
				 "run: '%s' is neither an option nor the script: a command, and "
				 "arguments of the script, follow --",
				 argv[a->code ? 0 : 1]);
	return CLI_OK;
}

/* A file that root could have read. */
static int run_check_readable(const struct cli *cli, const struct run_args *a, const char *user)
{
	char *path = lines_given(&a->session, "input");
	int status = CLI_OK;

	if (path && strcmp(path, "-") && access(path, R_OK) < 0 && errno == EACCES) {
		cli_say("run: under sudo the script runs as %s, who may not read %s: change its "
			"owner (chown %s), or call sonde script",
			user, path, user);
		status = cli_status(cli, CLI_FAILED);
	}
	free(path);
	return status;
}

/*
 * Under sudo: becomes the user before anything of the script is read. Only a broker keeps the
 * rights. Returns a status.
 */
static int run_give_up_rights(const struct cli *cli, struct run_args *a)
{
	const bool records = !a->list && !lines_count(&a->session, "input") && !a->dry_run;
	struct sudo_user user;
	const int r = sudo_user_find(&user);
	int status = r < 0 ? cli_status(cli, CLI_FAILED) : CLI_OK, fd = -1;

	if (r <= 0)
		return status;
	if (records)
		fd = record_broker_start();
	if ((records && fd < 0) || sudo_user_become(&user, fd) < 0)
		status = cli_status(cli, CLI_FAILED);
	else
		status = run_check_readable(cli, a, user.name);
	a->broker_fd = fd < 0 ? 0 : fd;
	sudo_user_done(&user);
	return status;
}

/* Puts all facts; `about` is that of the script. Returns a status. */
static int run_put_all(const struct cli *cli, const struct run_args *a, const struct run_words *w,
		       const char *file, const struct script_about *about,
		       const struct run_facts *f)
{
	char program[PATH_MAX] = "";
	int status = CLI_OK;

	run_put(f, "version", "1");
	if (about->sonde)
		status = run_take_line(cli, f, file, about->sonde, w->command || run_has_target(a));
	run_put(f, "settings", a->record.text);
	if (a->cgroup) {
		run_put(f, "event", "");
		run_put(f, "filter", "");
		run_put(f, "cgroup", a->cgroup);
		run_put(f, "settings", "all-cpus=1\n");
	}
	for (char **word = w->command; word && *word; word++)
		run_put(f, "command", *word);
	run_put(f, "live", lines_count(&a->session, "input") ? NULL : "1");
	run_put(f, "code", a->code);
	run_put(f, "output", a->output);
	run_put(f, "for", a->length);
	run_put(f, "format", a->format);
	if (a->has_top)
		run_put_number(f, "top", a->top);
	if (a->has_latency)
		run_put_number(f, "latency", a->latency);
	run_put(f, "dry-run", a->dry_run ? "1" : NULL);
	run_put(f, "sudo", a->sudo ? "1" : NULL);
	if (a->broker_fd)
		run_put_number(f, "broker", (uint64_t)a->broker_fd);
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) > 0)
		run_put(f, "program", program);
	return status;
}

/*
 * The file of a script that is named as installed ones are: its comments are read. NULL if it is
 * not installed, or if there is no memory.
 */
static char *run_installed(const struct cli *cli, const char *name)
{
	struct script_places places;
	struct script_entry e = { 0 };
	char *file = NULL;

	if (!access(name, F_OK) || script_places_list(cli, &places) < 0)
		return NULL;
	if (script_entry_find(&places, name, false, &e) == 1 && e.file)
		file = strdup(e.file);
	script_entry_done(&e);
	script_places_done(&places);
	return file;
}

static int run_script(struct cli *cli, struct run_args *a, const char *name, bool has_target)
{
	struct run_facts f = { 0 };
	struct script_about about = { 0 };
	char *installed = a->code ? NULL : run_installed(cli, name);
	const char *file = installed ? installed : name;
	struct run_words words;
	struct script s = {
		.name = name,
		.positional = true,
		.interpreter = { .given = a->interpreter, .python = settings_python(cli) },
		.session = a->session.text ? a->session.text : "",
	};
	int status;

	run_split_words(cli, has_target, &words);
	s.args = words.args ? words.args : cli->argv;
	s.nr_args = words.nr_args;
	f.out = open_memstream(&f.bytes, &f.len);
	if (!f.out || (!a->code && script_about_read(file, &about) < 0)) {
		cli_say("out of memory");
		free(installed);
		return cli_status(cli, CLI_FAILED);
	}
	status = run_put_all(cli, a, &words, file, &about, &f);
	script_about_done(&about);
	free(installed);
	if (fclose(f.out) && !status) {
		cli_say("out of memory");
		status = cli_status(cli, CLI_FAILED);
	}
	s.run = f.bytes;
	s.run_len = f.len;
	if (!status)
		status = script_run(cli, &s);
	free(f.bytes);
	return status;
}

static int run_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct run_args *a = values;
	const bool has_input = lines_count(&a->session, "input") > 0;
	const bool has_target = run_has_target(a) || has_input;
	const struct language *l;
	char path[64], name[96];
	const char *file;
	int status;

	status = run_give_up_rights(cli, a);
	if (status)
		return status;
	if (a->list)
		return script_list_print(cli, false);
	status = run_check(cli, a, argc, argv);
	if (status)
		return status;
	if (!a->code) {
		char *installed = run_installed(cli, argv[0]);

		if (!installed && access(argv[0], F_OK) < 0)
			status = run_advise_event(cli, argv[0]);
		free(installed);
		return status ? status : run_script(cli, a, argv[0], has_target);
	}
	l = a->language ? script_language_called(a->language, strlen(a->language)) : NULL;
	file = run_code_file(l && l->code_line ? l->code_line : "", a->code, path, sizeof(path));
	if (!file) {
		cli_say("run: cannot pass the program to the interpreter: %m");
		return cli_status(cli, CLI_FAILED);
	}
	snprintf(name, sizeof(name), "%s:%s", a->language ? a->language : "python", file);
	return run_script(cli, a, name, has_target);
}

static void run_done(void *values)
{
	struct run_args *a = values;

	lines_done(&a->record);
	lines_done(&a->session);
}

/* clang-format off */
static const struct opt options[] = {
	OPT_GROUP("What is recorded"),
	OPT_KEY('a', "all-cpus", NULL, "all-cpus", "records all processes"),
	OPT_KEY('p', "pid", "PIDS", "pid", "records running processes: numbers, comma-separated"),
	OPT_KEY('t', "tid", "TIDS", "tid", "records running threads"),
	OPT_KEY('C', "cpu", "CPUS", "cpu", "records these cpus only: 0,2-3"),
	OPT_TEXT('G', "cgroup", "CGROUP", struct run_args, cgroup,
		"records the tasks of a control group"),
	OPT_CALL(0, "latency", "MS", run_set_latency, OPT_NO_NEGATION | OPT_OURS,
		"delivers an event at most MS milliseconds after it happened (default 100)"),
	OPT_KEY('m', "mmap-pages", "PAGES", "mmap-pages",
		"sets the size of each cpu's buffer: a number of pages, or a size as 8M (default)"),
	OPT_OUR_KEY(0, "ftrace", NULL, "ftrace",
		"takes all tracepoints out of ftrace's buffers, which slows the machine down less; "
		"as root that is the default where they can give the same"),
	OPT_OUR_TEXT('o', "output", "FILE", struct run_args, output,
		"also writes the events to FILE, a recording"),
	OPT_OUR_TEXT(0, "for", "TIME", struct run_args, length,
		"ends after TIME: 10s, 500ms, 2m"),
	OPT_OUR_FLAG(0, "sudo", struct run_args, sudo,
		"records with the rights of root, through sudo or pkexec; the script keeps yours"),
	OPT_GROUP("What is read"),
	OPT_KEY('i', "input", "FILE", "input",
		"reads a recording instead; several are merged by time"),
	OPT_KEY(0, "symfs", "DIR", "symfs", "looks for files with symbols below DIR"),
	OPT_GROUP("The program"),
	OPT_CALL('e', "eval", "CODE", run_set_code, OPT_NO_NEGATION | OPT_OURS,
		"runs CODE in place of a script; the names of the module sonde are known"),
	OPT_OUR_TEXT(0, "lang", "LANGUAGE", struct run_args, language,
		"the language of CODE (default: python)"),
	OPT_OUR_TEXT(0, "interpreter", "PROGRAM", struct run_args, interpreter,
		"runs the script with PROGRAM"),
	OPT_OUR_TEXT(0, "format", "text|json", struct run_args, format,
		"prints aggregations as text, with bars, or as JSON"),
	OPT_CALL(0, "top", "N", run_set_top, OPT_NO_NEGATION | OPT_OURS,
		"prints at most N rows of an aggregation (default 20)"),
	OPT_OUR_FLAG(0, "dry-run", struct run_args, dry_run,
		"prints the sonde record command line that records what the script needs"),
	OPT_FLAG('l', "list", struct run_args, list, "lists the installed scripts"),
	OPT_END,
};
/* clang-format on */

static const char *const usage[] = {
	"run [OPTIONS] SCRIPT [-a | -p PIDS | -G CGROUP | -C CPUS] [-- ARGS]",
	"run [OPTIONS] SCRIPT -- COMMAND [ARGS] [-- ARGS]",
	"run [OPTIONS] -i FILE SCRIPT [-- ARGS]",
	"run [OPTIONS] -e CODE",
	NULL,
};

const struct command cmd_run = {
	.name = "run",
	.summary = "runs a script live, recording what it needs, or over recordings",
	.usage = usage,
	.options = options,
	.examples = "  sonde run -a --for 5s -e 'count(\"sched:*\", by=\"name\")'\n"
		    "  sonde run -e 'hist(\"syscalls:sys_exit_read\", \"ret\")' -- ls -lR /usr\n"
		    "  sonde run slow-reads.py -p 1234\n"
		    "  sonde run -i perf.data slow-reads.py\n",
	.values_size = sizeof(struct run_args),
	.permute = true,
	.configured = true,
	.run = run_run,
	.set_key = run_set_key,
	.more_words = run_more_words,
	.done = run_done,
};
