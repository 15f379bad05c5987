/* SPDX-License-Identifier: MIT */
/* sonde script: converts options to a session's text form, for a sink or an interpreter. */
#include "cli.h"

#include "generate.h"
#include "languages.h"
#include "dlfilters.h"
#include "recording.h"
#include "sandbox.h"
#include "script.h"
#include "script_env.h"
#include "script_list.h"
#include "script_options.h"
#include "script_steps.h"
#include "script_word.h"
#include "settings.h"
#include "pager.h"
#include "programs.h"
#include "progress.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * `sonde record -o - | sonde script`: without -i a pipe on standard input is read as perf does, but
 * by default only if there is no perf.data, because standard input belongs to the script.
 */
static bool script_reads_stdin(const struct cli *cli, const struct script_args *a)
{
	char *input = lines_given(&a->lines, "input");
	struct stat st;
	bool yes = !input && !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode) &&
		   (cli_rules(cli)->reads_stdin_pipe || access("perf.data", F_OK));

	free(input);
	return yes;
}

/* Writes a line of the text form unless the value is NULL. */
static void script_put_key(FILE *text, const char *key, const char *value)
{
	if (value)
		fprintf(text, "%s=%s\n", key, value);
}

/*
 * The session's text form, released with free(). Returns 0, or a status after reporting the error.
 */
static int script_session_text(const struct cli *cli, const struct script_args *a, char **ret)
{
	const bool in_color = settings_color(cli, a->color);
	const char *dir = cli->buildid_dir;
	char *text = NULL;
	bool is_whole = false;
	size_t len;
	FILE *f;

	if (dir && strchr(dir, '\n'))
		return cli_usage(cli, "script: the value of --buildid-dir contains a line feed");
	f = open_memstream(&text, &len);
	if (f) {
		fputs(a->lines.text ? a->lines.text : "", f);
		script_put_key(f, "input", script_reads_stdin(cli, a) ? "-" : NULL);
		script_put_key(f, "compat", cli->compat);
		script_put_key(f, "buildid-dir", dir);
		script_put_key(f, "fields", a->fields);
		script_put_key(f, "color", in_color ? "always" : NULL);
		script_put_key(f, "terminal", isatty(STDOUT_FILENO) ? "1" : NULL);
		script_put_key(f, "header", a->header_only ? "only" : a->header ? "with" : NULL);
		is_whole = !ferror(f);
		is_whole = !fclose(f) && text && is_whole;
	}
	if (!is_whole) {
		free(text);
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	*ret = text;
	return 0;
}

/* True if a session accepts the value given for this key. */
static bool script_value_is_accepted(const struct cli *cli, const struct script_args *a,
				     const char *key)
{
	char *value = strcmp(key, "fields") ? lines_given(&a->lines, key)
		      : a->fields           ? strdup(a->fields)
					    : NULL;
	char *text = NULL, *complete = NULL;
	bool yes = !value ||
		   asprintf(&text, "compat=%s\n%s=%s\n", cli_rules(cli)->version, key, value) < 0 ||
		   sonde_session_parse(text, &complete) >= 0;

	free(complete);
	free(text);
	free(value);
	return yes;
}

/*
 * perf checks some values only after opening the recording, and has a different status for each
 * one.
 */
static int script_perf_status(const struct cli *cli, const struct script_args *a)
{
	char *input = lines_given(&a->lines, "input");
	const char *path = input ? input : "perf.data";
	static const char *const lists[] = { "dsos", "comm", "pid", "tid", "symbols", "stop-bt" };
	bool readable = !strcmp(path, "-") || !access(path, R_OK);

	free(input);
	if (!script_value_is_accepted(cli, a, "fields"))
		return cli_status(cli, CLI_USAGE);
	if (!readable || !script_value_is_accepted(cli, a, "cpu"))
		return cli_status(cli, CLI_FAILED);
	if (!script_value_is_accepted(cli, a, "time"))
		return 256 - EINVAL;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		if (!script_value_is_accepted(cli, a, lists[i]))
			return CLI_OK;
	}
	return cli_status(cli, CLI_USAGE);
}

/* Reports why the options are wrong. */
static int script_fail_usage(const struct cli *cli, const struct script_args *a, int code)
{
	cli_fail(cli);
	if (code != -EINVAL && (!cli_rules(cli)->statuses_are_errnos || code == -ENOMEM))
		return cli_status(cli, CLI_FAILED);
	return cli_rules(cli)->statuses_are_errnos ? script_perf_status(cli, a) : CLI_USAGE;
}

/*
 * Reports why the session failed. Asking for data that the recording does not have is a usage
 * error, but not with --compat.
 */
static int script_fail(const struct cli *cli, int code)
{
	cli_fail(cli);
	if (!cli_rules(cli)->unserved_is_failure)
		return code == -EINVAL || code == -ETIME || code == -ESRCH ? CLI_USAGE : CLI_FAILED;
	if (code == -ETIME)
		return 256 - EINVAL;
	if (code == -ESRCH) /* an event of --switch-on */
		return 256 - ENOENT;
	return code == -ENOSPC ? CLI_FAILED : cli_status(cli, CLI_FAILED);
}

/* Warns about options that perf honours and sonde does not. */
static void script_warn_unserved(const struct script_args *a)
{
	if (a->stitch_lbr)
		cli_say("--stitch-lbr: call chains are printed as they were recorded");
}

/* On a terminal, text goes through a pager; --xed adds a filter before it, on any output. */
static int script_start_pager(const struct cli *cli, const struct script_args *a)
{
	const char *pager = isatty(STDOUT_FILENO) ? settings_pager(cli) : NULL;
	char *command = NULL, *xed;
	int r;

	if (!a->xed)
		return pager ? pager_start(pager) : 0;
	xed = programs_find("xed");
	if (!xed) {
		cli_say("--xed: there is no program xed in PATH; Intel's library of that name "
			"has it");
		return -1;
	}
	free(xed);
	if (asprintf(&command, "xed -F insn: -A -64%s%s", pager ? " | " : "", pager ? pager : "") <
	    0) {
		cli_say("out of memory");
		return -1;
	}
	r = pager_start(command);
	free(command);
	return r;
}

static int script_print_text(const struct cli *cli, const struct script_args *a, const char *text)
{
	struct sonde_session *s;
	const char *line;
	char *drawn;
	int r, status = CLI_OK, fd = STDOUT_FILENO;

	if (a->check_only) {
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (fd < 0) {
			cli_say("cannot open /dev/null: %s", strerror(errno));
			return cli_status(cli, CLI_FAILED);
		}
	} else if (script_start_pager(cli, a) < 0) {
		return cli_status(cli, CLI_FAILED);
	}
	script_warn_unserved(a);
	if (asprintf(&drawn, "%s%s", text, progress_begin(cli, !a->check_only)) < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	if (a->sandbox && (status = sandbox_enter(cli, &a->lines, NULL))) {
		free(drawn);
		return status;
	}
	r = sonde_session_open(&s, drawn, "the command line");
	free(drawn);
	if (r < 0)
		return script_fail(cli, r);
	recording_print_notes(s);
	r = sonde_session_write(s, fd);
	sonde_progress_wipe(0);
	if (r < 0 && r != -EPIPE)
		status = script_fail(cli, r);
	/* perf's words; sonde always delivers events in order. */
	if (r >= 0 && a->check_only)
		fputs("Misordered timestamps: 0\n", stderr);
	if (a->check_only)
		close(fd);
	recording_print_filters(s);
	recording_print_pairs(s);
	line = sonde_session_defects_line(s);
	if (*line)
		cli_say("%s", line);
	status = strict_status(&a->strict, s, status);
	sonde_session_close(s);
	return status;
}

/*
 * Warns about records that perf prints between a script's output. In sonde a script can get them as
 * events.
 */
static void script_warn_unprinted(const struct script_args *a)
{
	static const char *const keys[] = {
		"dump",
		"per-event-dump",
		"show-task-events",
		"show-mmap-events",
		"show-switch-events",
		"show-namespace-events",
		"show-cgroup-events",
		"show-lost-events",
		"show-round-events",
		"show-bpf-events",
		"show-text-poke-events",
	};

	if (a->json)
		cli_say("--json before the name of a script changes nothing; write it after the "
			"name");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char *value = lines_given(&a->lines, keys[i]);

		if (value && strcmp(value, "0"))
			cli_say("--%s prints nothing with a script",
				strcmp(keys[i], "dump") ? keys[i] : "dump-raw-trace");
		free(value);
	}
}

/*
 * Prints the header before the output of a script, but not for a pipe, which can be read only once,
 * by the script.
 */
static int script_print_header(const struct cli *cli, const struct script_args *a, const char *text)
{
	char *input = lines_given(&a->lines, "input");
	bool is_pipe = script_reads_stdin(cli, a) || (input && !strcmp(input, "-"));
	struct sonde_session *s;
	char *header;
	int r;

	free(input);
	if (is_pipe) {
		cli_say("--header: with a script, the header of a pipe is not shown");
		return CLI_OK;
	}
	if (asprintf(&header, "%sheader=only\n", text) < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	r = sonde_session_open(&s, header, "the command line");
	free(header);
	if (r < 0)
		return script_fail(cli, r);
	r = sonde_session_write(s, STDOUT_FILENO);
	sonde_session_close(s);
	return r < 0 && r != -EPIPE ? script_fail(cli, r) : CLI_OK;
}

/* After -s SCRIPT an unknown option was probably meant for the script. */
static const char *script_hint(const void *values)
{
	const struct script_args *a = values;

	return a->script ? "; options of the script follow --" : "";
}

/* Rejects options that do not work with -g, and -o without it. */
static int script_check_generate(const struct cli *cli, const struct script_args *a, int nr_words)
{
	if (!a->generate && a->output)
		return cli_usage(cli, "script: -o names the file that -g writes: there is no -g");
	if (!a->generate)
		return CLI_OK;
	if (a->fields) {
		cli_say("script: -F works with text only: a script made by -g prints all fields");
		return cli_rules(cli)->statuses_are_errnos ? 256 - EINVAL : CLI_USAGE;
	}
	if (a->script || nr_words)
		return cli_usage(cli, "script: -g writes a script; it cannot run one");
	return CLI_OK;
}

/* In the sandbox no program is run and no file is made. */
static int script_check_sandbox(const struct cli *cli, const struct script_args *a, int nr_words)
{
	char *per_event = lines_given(&a->lines, "per-event-dump");
	const char *what = a->script || nr_words ? "a script is a program with all your rights"
			   : a->has_dlfilter     ? "a filter of --dlfilter is a program"
			   : a->xed              ? "--xed runs a program"
			   : a->generate         ? "-g writes a file"
			   : per_event           ? "--per-event-dump writes files"
						 : NULL;

	free(per_event);
	return a->sandbox && what ? cli_usage(cli, "script: impossible with --sandbox: %s", what)
				  : CLI_OK;
}

static int script_generate(const struct cli *cli, const struct script_args *a, const char *session)
{
	char *forced = lines_given(&a->lines, "force");
	int status;

	status = generate_script(cli, &(struct generate){
					      .language = a->generate,
					      .output = a->output,
					      .session = session,
					      .force = forced && !strcmp(forced, "1"),
				      });
	free(forced);
	return status;
}

/* The interpreter draws the progress line until the script writes to stderr. */
static int script_run_once(const struct cli *cli, struct script *script, const char *session)
{
	char *drawn;
	int status;

	if (asprintf(&drawn, "%s%s", session, progress_begin(cli, true)) < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	script->session = drawn;
	status = script_run(cli, script);
	script->session = NULL;
	free(drawn);
	return status;
}

/* Runs a script, makes a skeleton or prints text for the recording that the options name. */
static int script_run_session(const struct cli *cli, struct script_args *a, struct script *script)
{
	char *text = NULL, *complete = NULL;
	int r, status = recording_input(cli, &a->lines);

	if (!status)
		status = script_session_text(cli, a, &text);
	if (status)
		return status;
	r = sonde_session_parse(text, &complete);
	if (r < 0) {
		status = script_fail_usage(cli, a, r);
	} else if (a->generate) {
		status = script_generate(cli, a, complete);
	} else if (script->name && !a->header_only) {
		script_warn_unprinted(a);
		status = a->header ? script_print_header(cli, a, complete) : CLI_OK;
		if (!status)
			status = script_run_once(cli, script, complete);
	} else {
		status = script_print_text(cli, a, complete);
	}
	free(complete);
	free(text);
	return status;
}

static struct script script_of(const struct cli *cli, const struct script_args *a, const char *name,
			       int argc, char **argv)
{
	return (struct script){ .name = name,
				.interpreter = { .given = a->interpreter,
						 .python = settings_python(cli) },
				.args = argv,
				.nr_args = argc,
				.strict = a->strict };
}

struct file_run {
	const struct cli *cli;
	struct script_args *args;
};

/* For script_steps.h. */
static int script_run_file(void *ctx, const char *file, const char *input, int argc, char **argv)
{
	const struct file_run *f = ctx;
	struct script script = script_of(f->cli, f->args, file, argc, argv);
	struct opt_parser p = { .error = "" };

	if (input && lines_set(&f->args->lines, &p, "input", "input", input) < 0)
		return cli_usage(f->cli, "script: %s", p.error);
	return script_run_session(f->cli, f->args, &script);
}

/*
 * The words before the operands, without the command's own name. A wrapper's `perf script` reads
 * with the same options. Released with free(); NULL if there is no memory.
 */
static const char **script_option_words(const struct cli *cli, int nr_operands)
{
	const char **words;
	int total = 0, n = 0;
	bool named = false;

	while (cli->argv[total])
		total++;
	words = calloc((size_t)total + 1, sizeof(*words));
	for (int i = 1; words && i < total - nr_operands; i++) {
		if (!named && !strcmp(cli->argv[i], cmd_script.name))
			named = true;
		else if (strcmp(cli->argv[i], "--"))
			words[n++] = cli->argv[i];
	}
	return words;
}

/*
 * Runs `record NAME`, `report NAME` or NAME. Returns 1 with the status in *ret_status, or 0 for a
 * script's file.
 */
static int script_run_steps(const struct cli *cli, struct script_args *a, int argc, char **argv,
			    int *ret_status)
{
	const char **words = script_option_words(cli, argc);
	char *input = lines_given(&a->lines, "input");
	struct file_run f = { cli, a };
	struct script_steps steps = {
		.options = words,
		.all_cpus = a->all_cpus,
		.has_input = input != NULL,
		.run_file = script_run_file,
		.ctx = &f,
	};
	int r = 1;

	*ret_status = cli_status(cli, CLI_FAILED);
	if (words)
		r = script_steps_run(cli, &steps, argc, argv, ret_status);
	else
		cli_say("out of memory");
	free(input);
	free(words);
	return r;
}

/* A word that is a recording counts as -i FILE, before a script. */
static int script_set_word(struct opt_parser *p, void *values, const char *word)
{
	struct script_args *a = values;

	if (a->script || !script_word_is_recording(p->sets[1].values, word))
		return 0;
	return lines_set(&a->lines, p, "input", "input", word) < 0 ? -1 : 1;
}

/* --raw-fields is of one format only. */
static int script_check_format(const struct cli *cli, const struct script_args *a)
{
	char *raw = lines_given(&a->lines, "raw-fields"),
	     *format = lines_given(&a->lines, "format");
	int status = 0;

	if (raw && !strcmp(raw, "1") && (!format || strcmp(format, "trace-cmd") != 0))
		status = cli_usage(cli, "script: --raw-fields works with --format trace-cmd only; "
					"--format jsonl prints fields, too");
	free(raw);
	free(format);
	return status;
}

static int cmd_script_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct script_args *a = values;
	struct script script = script_of(cli, a, a->script, argc, argv);
	int status;

	if (a->script && !strcmp(a->script, "lang")) {
		if (a->json)
			script_languages_print_json();
		else
			script_languages_print(stdout);
		return CLI_OK;
	}
	status = script_check_generate(cli, a, argc);
	if (status)
		return status;
	status = script_check_sandbox(cli, a, argc);
	if (status)
		return status;
	status = script_check_format(cli, a);
	if (status)
		return status;
	if (a->interpreter && !a->script && !argc)
		return cli_usage(cli, "script: --interpreter runs a script: there is no -s");
	if (a->list)
		return script_list_print(cli, a->json);
	if (a->list_dlfilters) {
		dlfilter_list(cli->verbose, a->json);
		return CLI_OK;
	}
	if (!a->script && argc) {
		if (script_run_steps(cli, a, argc, argv, &status))
			return status;
		script = script_of(cli, a, argv[0], argc - 1, argv + 1);
		script.positional = true;
	}
	/*
	 * The output of filters is written between the events, in order, so fewer writes are
	 * faster.
	 */
	if (a->has_dlfilter && !isatty(STDOUT_FILENO))
		setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	return script_run_session(cli, a, &script);
}

static const char *const usage[] = {
	"script [OPTIONS] [FILE]",
	"script [OPTIONS] -s [LANG:]SCRIPT [--] [ARGS]",
	"script [OPTIONS] SCRIPT [ARGS]",
	"script [OPTIONS] record SCRIPT [RECORD-OPTIONS] [COMMAND]",
	"script [OPTIONS] report SCRIPT [ARGS]",
	"script [OPTIONS] SCRIPT [ARGS] [RECORD-OPTIONS] [COMMAND]",
	"script -l",
	"script [OPTIONS] -g LANG [-o FILE]",
	NULL,
};

const struct command cmd_script = {
	.name = "script",
	.summary = "prints a recording's events as text, or runs a script over them",
	.usage = usage,
	.options = script_options,
	.examples = "  sonde script -i perf.data\n"
		    "  sonde script -F comm,tid,time,event,trace --time 12.5,13\n"
		    "  sonde script -s latency.py 10\n",
	.values_size = sizeof(struct script_args),
	.configured = true,
	.run = cmd_script_run,
	.hint = script_hint,
	.more_words = script_env_take_options,
	.set_key = script_options_set_key,
	.set_word = script_set_word,
	.done = script_options_done,
};
