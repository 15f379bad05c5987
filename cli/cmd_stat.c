/* SPDX-License-Identifier: MIT */
/* sonde stat: counts events of a command, of processes or of all cpus. */
#include "cli.h"

#include "as_perf.h"
#include "stat_baseline_check.h"
#include "stat_options.h"
#include "stat_output.h"
#include "stat_print.h"
#include "stat_report.h"
#include "stat_runs.h"
#include "stat_vendor.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THRESHOLD_PERCENT = 5, RUNS_MAX = 1000000, SIGNALED = 128 };
enum { SHORTEST_MS = 10, SHORT_MS = 100 }; /* of --timeout, for perf */

/* A signal handler can only reach globals. */
static struct sonde_stat *volatile counting;
static volatile sig_atomic_t is_stopped;

static void stat_on_signal(int signo)
{
	is_stopped = 1;
	sonde_stat_stop(counting);
}

struct listener {
	int level; /* lines up to this level are printed */
};

static void stat_say(void *ctx, int level, const char *line)
{
	const struct listener *l = ctx;

	if (level > l->level)
		return;
	/* scripts wait for these lines of perf */
	if (!strncmp(line, "Events ", strlen("Events ")))
		fprintf(stderr, "%s\n", line);
	else
		cli_say("%s", line);
}

/* ---- options that are checked here ----------------------------------------------------------- */

static int stat_number(const struct cli *cli, const char *option, const char *text, unsigned max,
		       unsigned *ret)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n > max)
		return cli_usage(cli, "stat: %s needs a number up to %u, not '%s'", option, max,
				 text);
	*ret = (unsigned)n;
	return 0;
}

/* What is printed and how often, once all options are known. */
struct stat_plan {
	unsigned runs, interval_ms, interval_count, timeout_ms;
	bool forever;
	bool is_json;     /* one object at the end, with the counts of each run */
	double threshold; /* of a comparison, in percent */
	enum sonde_stat_by by;
};

static enum sonde_stat_by stat_choose_by(const struct stat_args *a)
{
	return a->no_aggregate ? SONDE_STAT_BY_CPU
	       : a->per_core   ? SONDE_STAT_BY_CORE
	       : a->per_die    ? SONDE_STAT_BY_DIE
	       : a->per_socket ? SONDE_STAT_BY_SOCKET
	       : a->per_node   ? SONDE_STAT_BY_NODE
	       : a->per_thread ? SONDE_STAT_BY_THREAD
			       : SONDE_STAT_BY_ALL;
}

/* csv is the layout of -x, with commas unless -x is given, too. */
static int stat_choose_format(const struct cli *cli, struct stat_args *a)
{
	static const char *const known[] = { "text", "json", "csv" };
	size_t i = 0;

	while (a->format && i < 3 && strcmp(a->format, known[i]) != 0)
		i++;
	if (i == 3)
		return cli_usage(cli, "stat: --format takes text, json or csv, not '%s'",
				 a->format);
	if (a->format && i == 2 && a->json)
		return cli_usage(cli, "stat: --format csv and -j exclude each other");
	if (a->format && i == 2 && !a->separator)
		a->separator = ",";
	return 0;
}

/* The number of runs of a comparison is that of the baseline, unless -r is given. */
static int stat_check_comparison(const struct cli *cli, const struct stat_args *a, bool has_command,
				 struct stat_plan *p)
{
	char *end = NULL;

	p->is_json = a->format && !strcmp(a->format, "json");
	p->threshold = a->threshold ? strtod(a->threshold, &end) : THRESHOLD_PERCENT;
	if (a->threshold &&
	    (end == a->threshold || *end || !(p->threshold >= 0) || isinf(p->threshold)))
		return cli_usage(cli, "stat: --threshold needs a number of percent, not '%s'",
				 a->threshold);
	if (a->threshold && !a->baseline)
		return cli_usage(cli, "stat: --threshold needs --baseline FILE");
	if ((p->is_json || a->baseline) && (p->interval_ms || p->forever))
		return cli_usage(cli, "stat: --format json and --baseline compare complete runs: "
				      "leave out -I and -r 0");
	if (p->interval_count && !p->interval_ms)
		return cli_usage(cli, "stat: --interval-count needs -I MS");
	if (a->baseline && !has_command)
		return cli_usage(cli,
				 "stat: --baseline compares runs of a command, and there is none");
	if ((p->is_json || a->baseline) && (a->json || a->separator || a->metric_only))
		return cli_usage(cli,
				 "stat: --format json and --baseline print all counts: leave out "
				 "-j, -x and --metric-only");
	if (p->is_json && a->append)
		return cli_usage(cli, "stat: --format json writes one object: leave out --append");
	if (a->baseline && a->repeat && p->runs < 2)
		return cli_usage(cli, "stat: --baseline needs at least two runs: -r N");
	return 0;
}

/* perf refuses short times; a time of 0 is none. */
static int stat_check_timeout(const struct cli *cli, const struct stat_plan *p)
{
	if (!p->timeout_ms || p->timeout_ms >= SHORT_MS || !cli_compat(cli))
		return 0;
	if (p->timeout_ms < SHORTEST_MS)
		return cli_usage(cli, "stat: --timeout needs %d ms or more, not %u", SHORTEST_MS,
				 p->timeout_ms);
	cli_say("stat: --timeout %u: the cost of counting may be a large part of less than %d ms",
		p->timeout_ms, SHORT_MS);
	return 0;
}

static int stat_check_output(const struct cli *cli, const struct stat_args *a)
{
	if (a->output && a->log_fd && !a->is_record)
		return cli_usage(cli, "stat: -o and --log-fd exclude each other");
	/* perf takes it without a word */
	if (a->append && !a->output && !a->log_fd && !cli_compat(cli))
		return cli_usage(cli, "stat: --append needs the file of the counts: %s",
				 a->is_record ? "--log-fd N, as -o is the recording" : "-o FILE");
	return 0;
}

static int stat_check(struct cli *cli, struct stat_args *a, bool has_command, struct stat_plan *ret)
{
	struct stat_plan p = { .runs = 1, .by = stat_choose_by(a) };
	int status = stat_choose_format(cli, a);

	if (!status && a->repeat)
		status = stat_number(cli, "-r", a->repeat, RUNS_MAX, &p.runs);
	if (!status && a->interval)
		status = stat_number(cli, "-I", a->interval, INT32_MAX, &p.interval_ms);
	if (!status && a->interval_count)
		status = stat_number(cli, "--interval-count", a->interval_count, INT32_MAX,
				     &p.interval_count);
	if (!status && a->timeout)
		status = stat_number(cli, "--timeout", a->timeout, INT32_MAX, &p.timeout_ms);
	if (!status)
		status = stat_check_timeout(cli, &p);
	if (!status)
		status = stat_check_output(cli, a);
	if (status)
		return status;
	p.forever = p.runs == 0;
	if (a->is_record && p.interval_ms && (p.runs != 1))
		return cli_usage(cli, "stat record: -I and -r exclude each other");
	if (a->metric_only && p.by == SONDE_STAT_BY_THREAD)
		return cli_usage(cli, "stat: --metric-only and --per-thread exclude each other");
	if (a->metric_only && p.runs != 1)
		return cli_usage(cli, "stat: --metric-only and -r exclude each other");
	status = stat_check_comparison(cli, a, has_command, &p);
	if (status)
		return status;
	if (a->table && p.runs < 2)
		return cli_usage(cli, "stat: --table needs several runs: -r N");
	*ret = p;
	return 0;
}

static int stat_add_number(struct stat_args *a, const char *key, unsigned n)
{
	struct opt_parser p = { .permute = false };
	char number[32];

	snprintf(number, sizeof(number), "%u", n);
	return n ? lines_set(&a->lines, &p, key, key, number) : 0;
}

static int stat_add_settings(struct stat_args *a, const struct stat_plan *plan)
{
	struct opt_parser p = { .permute = false };
	char number[32];

	if (stat_add_number(a, "interval", plan->interval_ms) < 0 ||
	    stat_add_number(a, "interval-count", plan->interval_count) < 0 ||
	    stat_add_number(a, "timeout", plan->timeout_ms) < 0)
		return -1;
	snprintf(number, sizeof(number), "%d", a->detailed > 3 ? 3 : a->detailed);
	if (lines_set(&a->lines, &p, "detailed", "detailed", number) < 0 ||
	    lines_set(&a->lines, &p, "by", "by", stat_by_names[plan->by]) < 0)
		return -1;
	return a->null_run ? lines_set(&a->lines, &p, "null", "null", "1") : 0;
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct stat_run {
	struct cli *cli;
	const struct stat_args *args;
	struct stat_plan plan;
	struct stat_printer printer;
	struct stat_times times;
	struct sonde_stat_round result; /* the last run's; its rows are valid until the next run */
	struct stat_runs runs, base;
	char *subject;
	bool counts_command; /* and not other processes, threads or cpus */
	int argc;
	char **argv;
	int status;
	bool post_failed; /* the runs end with the first --post that fails */
};

static void stat_print_result(struct stat_run *r, const struct sonde_stat_round *round)
{
	const bool is_text = r->printer.layout == &stat_text_layout;
	const bool with_rusage = r->plan.runs == 1 && r->counts_command;

	if (r->args->quiet || r->args->hides_counts)
		return;
	if (is_text)
		stat_print_title(r->printer.out, r->subject, (unsigned)r->times.n);
	r->printer.is_interval = false;
	r->printer.names_summary = r->plan.interval_ms && !r->args->no_csv_summary &&
				   r->printer.layout == &stat_csv_layout;
	stat_print_round(&r->printer, round);
	r->printer.names_summary = false;
	r->printer.is_interval = r->plan.interval_ms != 0;
	if (!is_text)
		return;
	if (round->nr_rows)
		fputc('\n', r->printer.out);
	stat_print_times(r->printer.out, round, &r->times, r->args->table, with_rusage);
	fflush(r->printer.out);
}

/* A complete run. Returns 0 or -ENOMEM. */
static int stat_end_run(struct stat_run *r, struct sonde_stat *s,
			const struct sonde_stat_round *round)
{
	int e = stat_times_add(&r->times, round->run_ns);

	if (e == 0 && (r->plan.is_json || r->args->baseline))
		e = stat_runs_add(&r->runs, &r->printer, round);
	r->result = *round;
	r->runs.is_interrupted = is_stopped && r->argc;
	r->status = sonde_stat_status(s);
	if (r->argc && r->status > SIGNALED && !r->args->quiet)
		fprintf(stderr, "%s: %s\n", r->argv[0], strsignal(r->status - SIGNALED));
	return e;
}

/* One run of the command. Returns 0, or an error of the library. */
static int stat_run_once(struct stat_run *r, struct sonde_stat *s)
{
	struct sonde_stat_round round = { .size = sizeof(round) };
	int e = sonde_stat_start(s, &r->status);

	if (e < 0)
		return e;
	stat_printer_init(&r->printer);
	while ((e = sonde_stat_next(s, &round)) > 0)
		if (round.kind == SONDE_STAT_RUN) {
			e = stat_end_run(r, s, &round);
			if (e < 0)
				return e;
		} else if (!r->args->quiet && !r->args->hides_counts) {
			stat_print_round(&r->printer, &round);
		}
	if (e == -ECANCELED) {
		cli_fail(r->cli);
		/* perf neither reports it nor stops */
		r->post_failed = !cli_compat(r->cli);
		return 0;
	}
	return e;
}

/* A stop ends the runs; the result is that of the runs so far. */
static int stat_count(struct stat_run *r, struct sonde_stat *s)
{
	const bool prints = !r->plan.is_json && (!r->plan.interval_ms || r->args->summary);
	int e = 0;

	for (unsigned i = 0;
	     e == 0 && !is_stopped && !r->post_failed && (r->plan.forever || i < r->plan.runs);
	     i++) {
		if (r->plan.forever)
			r->times.n = 0;
		if (r->cli->verbose && r->plan.runs > 1)
			cli_say("[ sonde stat: executing run #%u ... ]", i + 1);
		e = stat_run_once(r, s);
		if (e == 0 && prints && r->plan.forever)
			stat_print_result(r, &r->result);
	}
	if (e == 0 && prints && !r->plan.forever && r->times.n)
		stat_print_result(r, &r->result);
	return e;
}

static void stat_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = stat_on_signal }, before;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* the terminal is gone; under nohup, which ignores the signal, the count continues */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

/* The command's status; under perf's rules 0 for a command that a signal killed. */
static int stat_status(const struct stat_run *r)
{
	return r->status > SIGNALED && cli_rules(r->cli)->stat_hides_signals ? 0 : r->status;
}

static int stat_fail(struct stat_run *r, int e)
{
	const int failed = cli_fail(r->cli);

	if (r->status && !cli_rules(r->cli)->unrun_command_fails)
		return r->status;
	return e == -EBADR || e == -EINVAL ? cli_status(r->cli, CLI_USAGE) : failed;
}

/* Prints the JSON object, the comparison, or both. */
static void stat_print_comparison(struct stat_run *r, bool has_base)
{
	FILE *out = r->printer.out;

	if (r->plan.is_json) {
		stat_runs_begin_json(&r->runs, out);
		if (has_base)
			stat_baseline_print_json(&r->base, &r->runs, r->plan.threshold, out);
		fputs("}\n", out);
	} else if (has_base) {
		stat_baseline_print(&r->base, &r->runs, r->args->baseline, r->plan.threshold, out);
	}
	fflush(out);
}

/* Runs that did not all complete are not compared: their counts say nothing about the baseline. */
static bool stat_is_comparable(const struct stat_run *r)
{
	const size_t complete = r->runs.nr_runs - r->runs.is_interrupted;

	if (complete == r->plan.runs)
		return true;
	cli_say("stat: not compared with %s: %zu of %u runs are complete", r->args->baseline,
		complete, r->plan.runs);
	return false;
}

/* Returns the status of the comparison, which --quiet does not change. */
static int stat_compare(struct stat_run *r)
{
	const bool has_base = r->args->baseline && stat_is_comparable(r);

	if (!r->args->quiet)
		stat_print_comparison(r, has_base);
	if (!r->args->baseline)
		return r->post_failed ? cli_status(r->cli, CLI_FAILED) : CLI_OK;
	return !has_base || r->post_failed ||
			       stat_baseline_count(&r->base, &r->runs, r->plan.threshold)
		       ? CLI_FAILED
		       : CLI_OK;
}

static int stat_run_open(struct stat_run *r, struct sonde_stat *s)
{
	int e, status;

	status = r->args->baseline
			 ? stat_baseline_check(r->cli, r->args->baseline, &r->base, s, r->plan.by)
			 : 0;
	if (status)
		return status;
	counting = s;
	r->printer.stat = s;
	e = stat_count(r, s);
	counting = NULL;
	if (e < 0)
		return stat_fail(r, e);
	status = stat_compare(r);
	return stat_status(r) ? stat_status(r) : status;
}

static void stat_choose_layout(struct stat_run *r)
{
	stat_printer_choose(&r->printer, r->cli, r->args);
	r->printer.by = r->plan.by;
	r->printer.is_interval = r->plan.interval_ms != 0;
	r->printer.has_deviation = r->plan.runs > 1;
}

/* A baseline that cannot be used is a mistake in the command line: nothing has run yet. */
static int stat_read_baseline(struct stat_run *r)
{
	size_t counted = 0;

	if (!r->args->baseline)
		return 0;
	if (stat_runs_read(r->cli, r->args->baseline, r->plan.by, &r->base) < 0)
		return cli_status(r->cli, CLI_USAGE);
	for (size_t i = 0; i < r->base.n; i++) {
		size_t known = 0;

		for (size_t k = 0; k < r->base.list[i].n; k++)
			known += !isnan(r->base.list[i].values[k]);
		counted += known;
		/* an event that the machine does not support is in no run */
		if (r->base.nr_runs >= 2 && known == 1)
			return cli_usage(r->cli,
					 "stat: --baseline: %s has one count of %s; a deviation "
					 "needs two or more",
					 r->args->baseline, r->base.list[i].event);
	}
	if (r->base.is_interrupted)
		return cli_usage(r->cli, "stat: --baseline: the last run of %s was interrupted",
				 r->args->baseline);
	if (r->base.nr_runs < 2)
		return cli_usage(r->cli,
				 "stat: --baseline: %s has %zu run%s; a deviation needs two or "
				 "more (-r N)",
				 r->args->baseline, r->base.nr_runs,
				 r->base.nr_runs == 1 ? "" : "s");
	if (!counted)
		return cli_usage(r->cli, "stat: --baseline: no event was counted in %s",
				 r->args->baseline);
	if (stat_output_is_file(r->args, r->args->baseline))
		return cli_usage(r->cli,
				 "stat: --baseline: %s is also what is written: name another file",
				 r->args->baseline);
	if (!r->args->repeat)
		r->plan.runs = (unsigned)r->base.nr_runs;
	return 0;
}

static int stat_run_printing(struct stat_run *r, const struct sonde_stat_options *opts)
{
	struct sonde_stat *s;
	int e, status = stat_read_baseline(r);

	if (status)
		return status;
	r->printer.has_deviation = r->plan.runs > 1;
	r->printer.out = stat_output_open(r->cli, r->args);
	if (!r->printer.out)
		return cli_status(r->cli, CLI_FAILED);
	e = sonde_stat_open(&s, opts);
	if (e < 0) {
		status = stat_fail(r, e);
	} else {
		status = stat_run_open(r, s);
		sonde_stat_close(s);
	}
	if (stat_output_close(r->cli, r->args, r->printer.out) < 0 && !status)
		status = cli_status(r->cli, CLI_FAILED);
	return status;
}

/* ---- record and report ----------------------------------------------------------------------- */

static void stat_on_refused_write(int signo)
{
	/* The write then fails with EPIPE; an ignored signal would also be ignored by the command.
	 */
}

/* Like perf: the recording is the standard output if that is a pipe. */
static const char *stat_recording(const struct stat_args *a)
{
	struct stat st;

	if (a->output)
		return a->output;
	return !fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}

/* -o names the recording. Counts are printed as usual, unless the recording goes to a pipe. */
static int stat_prepare_record(struct cli *cli, struct stat_args *a)
{
	struct opt_parser p = { .permute = false };
	const char *output = stat_recording(a);

	if (lines_set(&a->lines, &p, "output", "output", output) < 0) {
		cli_say("stat: out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	if (!a->output && !strcmp(output, "-") && !as_perf() && !a->quiet)
		cli_say("the recording is written to standard output, which is a pipe (-o FILE "
			"writes a file)");
	a->output = NULL;
	a->hides_counts = !strcmp(output, "-");
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = stat_on_refused_write }, NULL);
	return 0;
}

/* Options after the word. Returns the number of words that are left, or -1 after reporting. */
static int stat_parse_more(struct cli *cli, const struct command_verb *verb, struct stat_args *a,
			   int argc, char **argv, int *ret_status)
{
	struct opt_parser p = {
		.sets = { { verb->options, a }, { cli_options, cli } },
		.set_key = stat_args_set_key,
	};

	argc = opt_parse(&p, argc, argv);
	if (argc < 0) {
		*ret_status = cli_usage(cli, "stat: %s", p.error);
	} else if (cli->help) {
		command_show_help(cli, &cmd_stat);
		*ret_status = CLI_OK;
		return -1;
	}
	return argc;
}

static int stat_run_report(struct cli *cli, const struct command_verb *verb, struct stat_args *a,
			   int argc, char **argv)
{
	const enum sonde_stat_by before = stat_choose_by(a);
	int status = 0;

	argc = stat_parse_more(cli, verb, a, argc, argv, &status);
	if (argc < 0)
		return status;
	if (argc)
		return cli_usage(cli, "stat report takes no words; -i names the file");
	status = stat_choose_format(cli, a);
	if (status)
		return status;
	if (a->format && !strcmp(a->format, "json") && (a->json || a->separator || a->metric_only))
		return cli_usage(cli, "stat report: --format json prints all counts: leave out -j, "
				      "-x and --metric-only");
	return stat_report(cli, a, stat_choose_by(a),
			   stat_choose_by(a) != SONDE_STAT_BY_ALL || before != SONDE_STAT_BY_ALL);
}

static int stat_run(struct cli *cli, struct stat_args *a, int argc, char **argv)
{
	struct listener listener = { .level = a->quiet ? -1 : cli->verbose ? 2 : 1 };
	struct stat_run r = { .cli = cli, .args = a, .argc = argc, .argv = argv };
	struct sonde_stat_options opts = {
		.size = sizeof(opts),
		.command = argc ? (const char *const *)argv : NULL,
		.argv = (const char *const *)cli->argv,
		.say = stat_say,
		.say_ctx = &listener,
	};
	int frozen = -1;
	struct opt_parser vendor = { .permute = false };
	int status = 0;

	if (stat_vendor_choose(&vendor, a) < 0)
		return cli_usage(cli, "stat: %s", vendor.error);
	opts.events = a->events.list;
	opts.nr_events = (uint32_t)a->events.n;
	status = stat_check(cli, a, argc > 0, &r.plan);
	if (status)
		return status;
	r.subject = stat_subject(a, argc, argv, &r.counts_command);
	if (stat_add_settings(a, &r.plan) < 0 || !r.subject) {
		cli_say("stat: out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	opts.settings = a->lines.text;
	stat_choose_layout(&r);
	stat_catch_signals();
	if (a->smi_cost)
		frozen = stat_freeze_on_smi('1');
	if (a->smi_cost && frozen < 0)
		status = cli_usage(cli, "stat: --smi-cost: cannot write " STAT_FREEZE_ON_SMI);
	else
		status = stat_run_printing(&r, &opts);
	if (frozen == '0')
		stat_freeze_on_smi('0');
	free(r.subject);
	free(r.times.seconds);
	stat_runs_done(&r.runs);
	stat_runs_done(&r.base);
	return status;
}

static int stat_main(struct cli *cli, void *values, int argc, char **argv)
{
	const struct command_verb *verb = argc ? command_find_verb(&cmd_stat, argv[0]) : NULL;
	struct stat_args *a = values;
	int status = 0;

	if (!verb)
		return stat_run(cli, a, argc, argv);
	if (!verb->takes_command)
		return stat_run_report(cli, verb, a, argc - 1, argv + 1);
	a->is_record = true;
	argc = stat_parse_more(cli, verb, a, argc - 1, argv + 1, &status);
	if (argc < 0)
		return status;
	status = stat_prepare_record(cli, a);
	return status ? status : stat_run(cli, a, argc, argv + 1);
}

static const char *const usage[] = {
	"stat [OPTIONS] [--] COMMAND [ARGS]",
	"stat [OPTIONS] -p PIDS",
	"stat [OPTIONS] -a",
	"stat record [OPTIONS] [-o FILE] [--] COMMAND [ARGS]",
	"stat report [-i FILE] [-A] [-j]",
	NULL,
};

static const struct command_verb stat_verbs[] = {
	{ "record", stat_options, true },
	{ "report", stat_report_options, false },
	{ NULL, NULL, false },
};

const struct command cmd_stat = {
	.name = "stat",
	.summary = "counts events of a command, of processes or of all cpus",
	.usage = usage,
	.options = stat_options,
	.verbs = stat_verbs,
	.examples = "  sonde stat -- make\n"
		    "  sonde stat -e 'sched:*' -a -- sleep 1\n"
		    "  sonde stat -I 1000 -e page-faults,cs -p 4711\n"
		    "  sonde stat record -r 5 -o before.data -- make\n"
		    "  sonde stat report -i before.data\n",
	.values_size = sizeof(struct stat_args),
	.configured = false,
	.run = stat_main,
	.set_key = stat_args_set_key,
	.done = stat_args_done,
};
