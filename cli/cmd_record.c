/* SPDX-License-Identifier: MIT */
/*
 * sonde record: converts options to struct sonde_record_options; libsonde's recorder does the rest.
 */
#include "cli.h"

#include "as_perf.h"
#include "perf_path.h"
#include "record_config.h"
#include "record_options.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A signal handler can only reach globals. A signal before the recorder exists is kept for it. */
static struct sonde_recorder *volatile running;
static volatile sig_atomic_t pending;

static void record_on_signal(int signo)
{
	struct sonde_recorder *r = running;

	if (r) {
		sonde_recorder_stop(r);
	} else if (!pending) {
		pending = 1;
	} else {
		/*
		 * Nothing is recorded yet: after the handler returns, the signal ends this process
		 * with its default action.
		 */
		signal(signo, SIG_DFL);
		raise(signo);
	}
}

static void record_on_switch(int signo)
{
	struct sonde_recorder *r = running;

	if (r)
		sonde_recorder_switch(r);
}

/*
 * SIGUSR2 without --switch-output does nothing, as with perf: its sender need not know our options.
 */
static void record_catch_signals(void)
{
	struct sigaction sa = { .sa_handler = record_on_signal }, before;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* the terminal is gone; under nohup, which ignores the signal, the recording continues */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
	sa.sa_handler = record_on_switch;
	sigaction(SIGUSR2, &sa, NULL);
}

/*
 * File size limits and closed pipes become errors of the write. The signals are not ignored,
 * because the command would inherit that.
 */
static void record_on_refused_write(int signo)
{
}

struct listener {
	int level; /* lines up to this level are printed */
};

static void record_say(void *ctx, int level, const char *line)
{
	const struct listener *l = ctx;

	if (level > l->level)
		return;
	if (*line == '[') /* "[ sonde record: ... ]" names the program itself */
		fprintf(stderr, "%s\n", line);
	else
		cli_say("%s", line);
}

/*
 * Returns the workload's status, or that of a failed recording. A workload that could not be run
 * has its own status.
 */
static int record(const struct cli *cli, struct sonde_recorder *r, bool fail_on_loss)
{
	struct sonde_record_result result = { .size = sizeof(result) };
	int failed;

	running = r;
	if (pending)
		sonde_recorder_stop(r);
	failed = sonde_recorder_run(r, &result) < 0;
	if (failed) {
		int status = cli_fail(cli);

		/* perf has no special statuses for these */
		if (!cli_rules(cli)->unrun_command_fails &&
		    (result.exit_status == 126 || result.exit_status == 127))
			return result.exit_status;
		return status;
	}
	return result.lost && fail_on_loss ? CLI_LOSS : result.exit_status;
}

/*
 * Without -o a recording is written to a pipe on standard output, as with perf. Users who call perf
 * expect that.
 */
static void record_warn_of_pipe(const struct lines *settings)
{
	char *output = lines_given(settings, "output"), *dry = lines_given(settings, "dry-run");
	bool writes = !dry || strcmp(dry, "1") != 0;
	struct stat st;

	if (writes && !output && !as_perf() && !fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode))
		cli_say("the recording is written to standard output, which is a pipe (-o FILE "
			"writes a "
			"file)");
	free(output);
	free(dry);
}

/*
 * For a session of another process, which has fewer rights (sonde_live_options.sudo). Signals that
 * end that process come here, too: it ends us when it has them handled.
 */
static int record_serve(struct cli *cli, const struct lines *settings, int argc)
{
	if (argc || strcmp(settings->text ? settings->text : "", "output=-\n") != 0)
		return cli_usage(cli, "record: --serve takes -o - and no other option: the rest is "
				      "read from the standard input");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = record_on_refused_write }, NULL);
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = record_on_refused_write }, NULL);
	/* failures were reported to that process */
	return sonde_live_serve(STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO) < 0 ? CLI_FAILED
										: CLI_OK;
}

static int record_run_with(struct cli *cli, struct record_args *a, const struct lines *settings,
			   int argc, char **argv)
{
	struct listener listener = { .level = a->quiet ? 0 : cli->verbose ? 2 : 1 };
	struct sonde_record_options opts = {
		.size = sizeof(opts),
		.events = a->events.list,
		.nr_events = a->events.n,
		.settings = settings->text,
		.command = argc ? (const char *const *)argv : NULL,
		.argv = (const char *const *)cli->argv,
		.say = record_say,
		.say_ctx = &listener,
	};
	struct sonde_recorder *r;
	int status, e;

	if (cli->tracefs_dir)
		return cli_usage(cli,
				 "record: --debugfs-dir: sonde looks for tracefs where the kernel "
				 "says that it is mounted");
	if (a->debuginfod && !a->quiet)
		cli_say("--debuginfod changes nothing: sonde fetches nothing from servers");
	record_catch_signals();
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = record_on_refused_write }, NULL);
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = record_on_refused_write }, NULL);
	e = sonde_recorder_open(&r, &opts);
	if (e < 0) {
		status = cli_fail(cli);
		return e == -EBADR ? cli_status(cli, CLI_USAGE) : status;
	}
	if (!a->quiet)
		record_warn_of_pipe(settings);
	status = record(cli, r, a->fail_on_loss);
	/*
	 * From here on a signal ends this process by default action, because nothing is left to
	 * save.
	 */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (signal(SIGHUP, SIG_DFL) == SIG_IGN)
		signal(SIGHUP, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	sonde_recorder_close(r);
	return status;
}

/* perf's recorded command finds perf first in PATH. */
static void record_come_first(const struct cli *cli)
{
	char *folder = perf_path_folder();

	if (folder)
		perf_path_prepend(cli);
	free(folder);
}

static int record_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct lines settings;
	int status;

	if (((struct record_args *)values)->serve)
		return record_serve(cli, &((struct record_args *)values)->lines, argc);
	if (argc && cli_rules(cli)->prepends_path)
		record_come_first(cli);
	if (record_config_lines(cli, values, &settings))
		return cli_status(cli, CLI_FAILED);
	status = record_run_with(cli, values, &settings, argc, argv);
	lines_done(&settings);
	return status;
}

static const char *const usage[] = {
	"record [OPTIONS] [--] COMMAND [ARGS]",
	"record [OPTIONS] -p PIDS",
	"record [OPTIONS] -a",
	NULL,
};

const struct command cmd_record = {
	.name = "record",
	.summary = "records events of a command, of processes or of all cpus",
	.usage = usage,
	.options = record_options,
	.examples =
		"  sonde record -e sched:sched_switch,sched:sched_wakeup -a -- sleep 1\n"
		"  sonde record -e syscalls:sys_enter_read --filter 'count > 4096' -- ls -lR /usr\n"
		"  sonde record -g -F 99 -a -- sleep 10\n",
	.values_size = sizeof(struct record_args),
	.configured = true,
	.run = record_run,
	.set_key = record_args_set_key,
	.done = record_args_done,
};
