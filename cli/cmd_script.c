/* SPDX-License-Identifier: MIT */
/* sonde script: options become a session's text form; the text sink or an interpreter takes it from there. */
#include "cli.h"

#include "script.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
	char *lines; /* owned; the session's text form, a line per option given */
	size_t lines_len;
	char *fields; /* owned; those of several -F, separated by blanks */
	const char *script, *interpreter;
	bool strict;
};

/* Later lines win, as later options do. */
static int set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value)
{
	struct args *a = values;
	char *line, *all;
	int len;

	if (!value)
		return opt_error(p, "--no-%s is not possible", o->word);
	if (strchr(value, '\n'))
		return opt_error(p, "the value of --%s holds a line feed", o->word);
	len = asprintf(&line, "%s=%s\n", o->key, value);
	if (len < 0)
		return opt_error(p, "out of memory");
	all = realloc(a->lines, a->lines_len + (size_t)len + 1);
	if (all) {
		memcpy(all + a->lines_len, line, (size_t)len + 1);
		a->lines = all;
		a->lines_len += (size_t)len;
	}
	free(line);
	return all ? 0 : opt_error(p, "out of memory");
}

/* -G: call chains off. */
static int hide_call_graph(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const struct opt callchain = { .word = "hide-call-graph", .key = "callchain" };

	return set_key(p, values, &callchain, negated ? "1" : "0");
}

static int set_header(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const struct opt header = { .word = "header", .key = "header" };

	return set_key(p, values, &header, negated ? "none" : "with");
}

static int set_header_only(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const struct opt header = { .word = "header-only", .key = "header" };

	return set_key(p, values, &header, negated ? "none" : "only");
}

/* A later -F replaces or changes what an earlier one said: the session takes them in their order. */
static int set_fields(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct args *a = values;
	char *all;

	if (strpbrk(value, " \n"))
		return opt_error(p, "a list of fields holds no blanks: '%s'", value);
	if (asprintf(&all, "%s%s%s", a->fields ? a->fields : "", a->fields ? " " : "", value) < 0)
		return opt_error(p, "out of memory");
	free(a->fields);
	a->fields = all;
	return 0;
}

/* clang-format off */
static const struct opt options[] = {
	OPT_KEY('i', "input", "FILE", "input", "reads FILE; default perf.data"),
	OPT_TEXT('s', "script", "[LANG:]SCRIPT", struct args, script,
		 "runs SCRIPT over the events in your own interpreter; what follows the options is for the "
		 "script. 'lang' lists the languages"),
	OPT_TEXT(0, "interpreter", "PROGRAM", struct args, interpreter,
		 "runs the script with PROGRAM; default: see ENVIRONMENT in sonde-script(1)"),
	OPT_CALL('F', "fields", "[CLASS:]FIELDS", set_fields, OPT_NO_NEGATION,
		 "prints these columns: comm,pid,tid,cpu,time,period,event,trace,addr,ip,sym,symoff,dso; +FIELD adds "
		 "and -FIELD takes away; hw: sw: trace: raw: break: before them names the class of events. May be "
		 "given several times"),
	OPT_KEY(0, "ns", NULL, "ns", "prints times to the nanosecond"),
	OPT_KEY(0, "reltime", NULL, "reltime", "counts times from the first event"),
	OPT_KEY(0, "deltatime", NULL, "deltatime", "counts times from the event before"),
	OPT_KEY('L', "Latency", NULL, "latency", "prints the state of interrupts, preemption and locks"),
	OPT_KEY(0, "time", "FROM,TO", "time",
		"takes only events of this time, in seconds; either side may be left out"),
	OPT_KEY('C', "cpu", "CPUS", "cpu", "takes only events of these cpus, as 0,2-3"),
	OPT_KEY(0, "pid", "PIDS", "pid", "takes only events of these processes"),
	OPT_KEY(0, "tid", "TIDS", "tid", "takes only events of these threads"),
	OPT_KEY('c', "comms", "NAMES", "comm", "takes only events of threads with these names"),
	OPT_KEY('S', "symbols", "SYMBOLS", "symbols", "takes only events in these functions, or at 0xADDRESS"),
	OPT_KEY(0, "addr-range", "BYTES", "addr-range",
		"lets an address of -S stand for so many bytes from there on"),
	OPT_KEY(0, "dsos", "FILES", "dsos", "takes only events in these files"),
	OPT_KEY(0, "switch-on", "EVENT", "switch-on", "takes only events from the first EVENT on"),
	OPT_KEY(0, "switch-off", "EVENT", "switch-off", "takes no events from EVENT on"),
	OPT_KEY(0, "show-on-off-events", NULL, "show-on-off-events",
		"prints the events of --switch-on and --switch-off too"),
	OPT_CALL('G', "hide-call-graph", NULL, hide_call_graph, 0, "leaves call chains out"),
	OPT_KEY(0, "max-stack", "FRAMES", "max-stack", "prints no more frames of a call chain"),
	OPT_KEY(0, "stop-bt", "SYMBOLS", "stop-bt", "ends call chains at these functions"),
	OPT_KEY(0, "max-blocks", "BLOCKS", "max-blocks", "prints no more blocks of instructions of a branch stack"),
	OPT_KEY(0, "inline", NULL, "inline", "prints the functions inlined at a frame; the default"),
	OPT_KEY(0, "full-source-path", NULL, "full-source-path", "prints source files with their folders"),
	OPT_KEY(0, "show-kernel-path", NULL, "show-kernel-path", "prints the file of the kernel's symbols"),
	OPT_KEY(0, "symfs", "DIR", "symfs", "looks below DIR for the files that the recording names"),
	OPT_KEY(0, "kallsyms", "FILE", "kallsyms", "takes kernel symbols from FILE"),
	OPT_KEY('k', "vmlinux", "FILE", "vmlinux", "takes kernel symbols from the kernel's FILE"),
	OPT_KEY(0, "demangle", NULL, "demangle", "prints names of C++ and Rust as they were written; the default"),
	OPT_KEY(0, "demangle-kernel", NULL, "demangle-kernel", "does so with the kernel's names too"),
	OPT_KEY(0, "per-event-dump", NULL, "per-event-dump", "writes a file per event type: FILE.EVENT.dump"),
	OPT_KEY('D', "dump-raw-trace", NULL, "dump", "prints every record as bytes and decoded"),
	OPT_CALL(0, "header", NULL, set_header, 0, "prints what the recording says of itself, then the events"),
	OPT_CALL(0, "header-only", NULL, set_header_only, 0, "prints only what the recording says of itself"),
	OPT_KEY('I', "show-info", NULL, "header-info", "prints that in full"),
	OPT_KEY(0, "show-task-events", NULL, "show-task-events", "prints forks, exits and names of tasks"),
	OPT_KEY(0, "show-mmap-events", NULL, "show-mmap-events", "prints what was mapped"),
	OPT_KEY(0, "show-switch-events", NULL, "show-switch-events", "prints context switches that were recorded"),
	OPT_KEY(0, "show-namespace-events", NULL, "show-namespace-events", "prints namespaces"),
	OPT_KEY(0, "show-cgroup-events", NULL, "show-cgroup-events", "prints control groups"),
	OPT_KEY(0, "show-lost-events", NULL, "show-lost-events", "prints how many events were lost where"),
	OPT_KEY(0, "show-round-events", NULL, "show-round-events", "prints the rounds of the recorder"),
	OPT_KEY(0, "show-bpf-events", NULL, "show-bpf-events", "prints BPF programs that came and went"),
	OPT_KEY(0, "show-text-poke-events", NULL, "show-text-poke-events", "prints changes of the kernel's code"),
	OPT_KEY('f', "force", NULL, "force", "reads a recording that another user owns"),
	OPT_FLAG(0, "strict", struct args, strict,
		 "exits with status 3 when events were lost or the recording is damaged"),
	OPT_END,
};
/* clang-format on */

/* The session that the options describe; to be released with free(). 0, or a status after telling the error. */
static int describe(const struct cli *cli, const struct args *a, char **ret)
{
	const char *dir = cli->buildid_dir;
	char *text;

	if (dir && strchr(dir, '\n'))
		return cli_usage(cli, "script: the value of --buildid-dir holds a line feed");
	if (asprintf(&text, "%s%s%s%s%s%s%s%s%s%s", a->lines ? a->lines : "",
		     cli->compat ? "compat=" : "", cli->compat ? cli->compat : "",
		     cli->compat ? "\n" : "", dir ? "buildid-dir=" : "", dir ? dir : "",
		     dir ? "\n" : "", a->fields ? "fields=" : "", a->fields ? a->fields : "",
		     a->fields ? "\n" : "") < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	*ret = text;
	return 0;
}

/* The value of a key among the lines given, to be released with free(); NULL when there is none. */
static char *given(const struct args *a, const char *key)
{
	const char *found = NULL;
	size_t len = strlen(key);

	for (const char *line = a->lines; line && *line; line = strchr(line, '\n') + 1) {
		if (!strncmp(line, key, len) && line[len] == '=')
			found = line + len + 1;
	}
	return found ? strndup(found, strcspn(found, "\n")) : NULL;
}

/* Whether a session takes the value that was given for this key. */
static bool good(const struct args *a, const char *key)
{
	char *value = strcmp(key, "fields") ? given(a, key) : a->fields ? strdup(a->fields) : NULL;
	char *text = NULL, *complete = NULL;
	bool yes = !value || asprintf(&text, "compat=perf-6.1\n%s=%s\n", key, value) < 0 ||
		   sonde_session_parse(text, &complete) >= 0;

	free(complete);
	free(text);
	free(value);
	return yes;
}

/* perf looks at some values only when the recording is open, and ends in a way of its own for each of them. */
static int perf_status(const struct cli *cli, const struct args *a)
{
	char *input = given(a, "input");
	const char *path = input ? input : "perf.data";
	bool readable = !strcmp(path, "-") || !access(path, R_OK);

	free(input);
	if (!good(a, "fields"))
		return cli_status(cli, CLI_USAGE);
	if (!readable || !good(a, "cpu"))
		return cli_status(cli, CLI_FAILED);
	if (!good(a, "time"))
		return 256 - EINVAL;
	if (!good(a, "pid") || !good(a, "tid"))
		return CLI_OK;
	return cli_status(cli, CLI_USAGE);
}

/* Tells why the options make no session. */
static int fail_usage(const struct cli *cli, const struct args *a, int code)
{
	cli_fail(cli);
	if (code != -EINVAL)
		return cli_status(cli, CLI_FAILED);
	return cli_compat(cli) ? perf_status(cli, a) : CLI_USAGE;
}

/* Tells why the session failed; what the recording cannot give is a wrong command line too, but not to perf. */
static int fail(const struct cli *cli, int code)
{
	cli_fail(cli);
	return cli_status(cli, code == -EINVAL && !cli_compat(cli) ? CLI_USAGE : CLI_FAILED);
}

static bool lost_data(struct sonde_session *s)
{
	const struct sonde_defect *d;

	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++)
		if (d->severity >= SONDE_DATA_LOSS)
			return true;
	return false;
}

static int print_text(const struct cli *cli, const struct args *a, const char *text)
{
	struct sonde_session *s;
	const char *line;
	int r, status = CLI_OK;

	r = sonde_session_open(&s, text, "the command line");
	if (r < 0)
		return fail(cli, r);
	r = sonde_session_write_text(s, STDOUT_FILENO);
	if (r < 0 && r != -EPIPE)
		status = fail(cli, r);
	line = sonde_session_defects_line(s);
	if (*line)
		cli_say("%s", line);
	if (status == CLI_OK && a->strict && lost_data(s))
		status = CLI_LOSS;
	sonde_session_close(s);
	return status;
}

/* After -s SCRIPT an unknown option is probably the script's. */
static const char *hint(const void *values)
{
	const struct args *a = values;

	return a->script ? "; options of the script go behind --" : "";
}

static int run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	struct script script = { .name = a->script,
				 .interpreter = a->interpreter,
				 .strict = a->strict };
	char *text = NULL, *complete = NULL;
	int r, status;

	if (a->script && !strcmp(a->script, "lang")) {
		script_languages_print(stdout);
		return CLI_OK;
	}
	if (!script.name && argc) {
		script.name = argv[0];
		argc--;
		argv++;
	}
	script.args = argv;
	script.nr_args = argc;
	status = describe(cli, a, &text);
	if (status)
		return status;
	r = sonde_session_parse(text, &complete);
	if (r < 0) {
		status = fail_usage(cli, a, r);
	} else if (script.name) {
		script.session = complete;
		status = script_run(cli, &script);
	} else {
		status = print_text(cli, a, complete);
	}
	free(complete);
	free(text);
	return status;
}

static void done(void *values)
{
	struct args *a = values;

	free(a->lines);
	free(a->fields);
}

static const char *const usage[] = {
	"script [OPTIONS]",
	"script [OPTIONS] -s [LANG:]SCRIPT [--] [ARGS]",
	"script [OPTIONS] SCRIPT [ARGS]",
	NULL,
};

const struct command cmd_script = {
	.name = "script",
	.summary = "prints a recording's events as text, or runs a script over them",
	.usage = usage,
	.options = options,
	.examples = "  sonde script -i perf.data\n"
		    "  sonde script -F comm,tid,time,event,trace --time 12.5,13\n"
		    "  sonde script -s latency.py 10\n",
	.values_size = sizeof(struct args),
	.run = run,
	.hint = hint,
	.set_key = set_key,
	.done = done,
};
