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
	const char *input, *time, *cpus, *pids, *tids, *comms, *symfs, *kallsyms;
	char *fields; /* owned; those of several -F, separated by blanks */
	const char *script, *interpreter;
	bool ns, hide_call_graph, strict, force;
};

/* A later -F replaces or changes what an earlier one said: the session takes them in their order. */
static int set_fields(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct args *a = values;
	char *all;

	if (strchr(value, ' '))
		return opt_error(p, "a list of fields holds no blanks: '%s'", value);
	if (asprintf(&all, "%s%s%s", a->fields ? a->fields : "", a->fields ? " " : "", value) < 0)
		return opt_error(p, "out of memory");
	free(a->fields);
	a->fields = all;
	return 0;
}

/* clang-format off */
static const struct opt options[] = {
	OPT_TEXT('i', "input", "FILE", struct args, input, "reads FILE; default perf.data"),
	OPT_TEXT('s', "script", "[LANG:]SCRIPT", struct args, script,
		 "runs SCRIPT over the events in your own interpreter; what follows the options is for the "
		 "script. 'lang' lists the languages"),
	OPT_TEXT(0, "interpreter", "PROGRAM", struct args, interpreter,
		 "runs the script with PROGRAM; default: see ENVIRONMENT in sonde-script(1)"),
	OPT_CALL('F', "fields", "[CLASS:]FIELDS", set_fields, OPT_NO_NEGATION,
		 "prints these columns: comm,pid,tid,cpu,time,period,event,trace,addr,ip,sym,symoff,dso; +FIELD adds "
		 "and -FIELD takes away; hw: sw: trace: raw: break: before them names the class of events. May be "
		 "given several times"),
	OPT_FLAG(0, "ns", struct args, ns, "prints times to the nanosecond"),
	OPT_TEXT(0, "time", "FROM,TO", struct args, time,
		 "takes only events of this time, in seconds; either side may be left out"),
	OPT_TEXT('C', "cpu", "CPUS", struct args, cpus, "takes only events of these cpus, as 0,2-3"),
	OPT_TEXT(0, "pid", "PIDS", struct args, pids, "takes only events of these processes"),
	OPT_TEXT(0, "tid", "TIDS", struct args, tids, "takes only events of these threads"),
	OPT_TEXT('c', "comms", "NAMES", struct args, comms, "takes only events of threads with these names"),
	OPT_FLAG('G', "hide-call-graph", struct args, hide_call_graph, "leaves call chains out"),
	OPT_TEXT(0, "symfs", "DIR", struct args, symfs,
		 "looks below DIR for the files that the recording names"),
	OPT_TEXT(0, "kallsyms", "FILE", struct args, kallsyms, "takes kernel symbols from FILE"),
	OPT_FLAG('f', "force", struct args, force, "reads a recording that another user owns"),
	OPT_FLAG(0, "strict", struct args, strict,
		 "exits with status 3 when events were lost or the recording is damaged"),
	OPT_END,
};
/* clang-format on */

struct text_form {
	FILE *out;
	const char *broken; /* the option whose value cannot stand in a line */
};

static void put(struct text_form *t, const char *option, const char *key, const char *value)
{
	if (!value)
		return;
	if (strchr(value, '\n') && !t->broken)
		t->broken = option;
	fprintf(t->out, "%s=%s\n", key, value);
}

static void put_flag(struct text_form *t, const char *key, bool set, int value)
{
	if (set)
		fprintf(t->out, "%s=%d\n", key, value);
}

/* The session that the options describe; to be released with free(). 0, or a status after telling the error. */
static int describe(const struct cli *cli, const struct args *a, char **ret)
{
	char *text = NULL;
	size_t len;
	struct text_form t = { .out = open_memstream(&text, &len) };

	if (!t.out) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	put(&t, "-i", "input", a->input);
	put(&t, "--compat", "compat", cli->compat);
	put(&t, "--time", "time", a->time);
	put(&t, "-C", "cpu", a->cpus);
	put(&t, "--pid", "pid", a->pids);
	put(&t, "--tid", "tid", a->tids);
	put(&t, "--comms", "comm", a->comms);
	put_flag(&t, "callchain", a->hide_call_graph, 0);
	put(&t, "--symfs", "symfs", a->symfs);
	put(&t, "--kallsyms", "kallsyms", a->kallsyms);
	put(&t, "--buildid-dir", "buildid-dir", cli->buildid_dir);
	put_flag(&t, "force", a->force, 1);
	put(&t, "-F", "fields", a->fields);
	put_flag(&t, "ns", a->ns, 1);
	if (fclose(t.out)) {
		free(text);
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	if (t.broken) {
		free(text);
		return cli_usage(cli, "script: the value of %s holds a line feed", t.broken);
	}
	*ret = text;
	return 0;
}

/* Whether a session takes this value. */
static bool good(const char *key, const char *value)
{
	char *text = NULL, *complete = NULL;
	bool yes = !value || asprintf(&text, "compat=perf-6.1\n%s=%s\n", key, value) < 0 ||
		   sonde_session_parse(text, &complete) >= 0;

	free(complete);
	free(text);
	return yes;
}

/* perf looks at some values only when the recording is open, and ends in a way of its own for each of them. */
static int perf_status(const struct cli *cli, const struct args *a)
{
	const char *input = a->input ? a->input : "perf.data";

	if (!good("fields", a->fields))
		return cli_status(cli, CLI_USAGE);
	if ((strcmp(input, "-") && access(input, R_OK)) || !good("cpu", a->cpus))
		return cli_status(cli, CLI_FAILED);
	if (!good("time", a->time))
		return 256 - EINVAL;
	if (!good("pid", a->pids) || !good("tid", a->tids))
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
	free(((struct args *)values)->fields);
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
	.done = done,
};
