/* SPDX-License-Identifier: MIT */
/* sonde record: options become struct sonde_record_options; the recorder of libsonde does the rest. */
#include "cli.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
	struct sonde_record_event *events;
	size_t nr_events;
	int32_t *pids;
	size_t nr_pids;
	bool all_cpus, callchain, kernel_callchains, user_callchains, quiet, fail_on_loss;
	uint64_t period, freq_hz, mmap_pages;
	const char *output;
};

/* Arrays of a command line: grown one by one. */
static void *grown(void *array, size_t nr, size_t size)
{
	void *bigger = reallocarray(array, nr + 1, size);

	if (bigger)
		memset((char *)bigger + nr * size, 0, size);
	return bigger;
}

static int add_event(struct opt_parser *p, struct args *a, const char *events, const char *filter)
{
	struct sonde_record_event *more = grown(a->events, a->nr_events, sizeof(*more));

	if (!more)
		return opt_error(p, "out of memory");
	a->events = more;
	more[a->nr_events++] = (struct sonde_record_event){ .events = events, .filter = filter };
	return 0;
}

static int set_event(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return add_event(p, values, value, NULL);
}

static int set_filter(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct args *a = values;

	if (!a->nr_events)
		return opt_error(p, "--filter belongs to the -e before it, and there is none");
	return add_event(p, a, NULL, value);
}

static int set_pids(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct args *a = values;
	const char *at = value;

	for (;;) {
		char *end;
		long pid = strtol(at, &end, 10);
		int32_t *more;

		if (end == at || pid <= 0 || pid > INT32_MAX || (*end && *end != ','))
			return opt_error(p, "-p needs process ids separated by commas, not '%s'",
					 value);
		more = grown(a->pids, a->nr_pids, sizeof(*more));
		if (!more)
			return opt_error(p, "out of memory");
		a->pids = more;
		more[a->nr_pids++] = (int32_t)pid;
		if (!*end)
			return 0;
		at = end + 1;
	}
}

static int set_freq(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct args *a = values;
	char *end;

	if (!strcmp(value, "max")) {
		a->freq_hz = UINT64_MAX;
		return 0;
	}
	errno = 0;
	a->freq_hz = strtoull(value, &end, 10);
	if (end == value || *end || *value == '-' || errno)
		return opt_error(p, "-F needs a number of samples a second or max, not '%s'",
				 value);
	return a->freq_hz ? 0 : opt_error(p, "-F 0 would take no samples");
}

/* As perf: a number of pages, or a size with B, K, M or G. The recorder rounds up to a power of two. */
static int set_pages(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const char units[] = "BKMG";
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), nr;
	struct args *a = values;
	const char *unit;
	char *end;

	errno = 0;
	nr = strtoull(value, &end, 10);
	unit = *end ? strchr(units, *end & ~0x20) : NULL;
	if (end == value || *value == '-' || errno || nr > UINT32_MAX ||
	    (*end && (!unit || end[1])))
		return opt_error(p, "-m needs a number of pages, or a size as 512K or 4M, not '%s'",
				 value);
	if (unit)
		nr = ((nr << (10 * (unit - units))) + page_bytes - 1) / page_bytes;
	a->mmap_pages = nr ? nr : 1;
	return 0;
}

/* clang-format off */
static const struct opt options[] = {
	OPT_CALL('e', "event", "EVENTS", set_event, OPT_NO_NEGATION,
		 "records these events: tracepoints as SYSTEM:NAME, where * and ? match, and software events as "
		 "cpu-clock; several are separated by commas, and -e may be given several times"),
	OPT_CALL(0, "filter", "FILTER", set_filter, OPT_NO_NEGATION,
		 "lets the kernel leave out what does not match, for the tracepoints of the -e before it: "
		 "'prev_pid != 0 && next_comm ~ \"sh*\"'"),
	OPT_FLAG('a', "all-cpus", struct args, all_cpus,
		 "records everything on all cpus; so it is too when neither a command nor -p is given"),
	OPT_CALL('p', "pid", "PIDS", set_pids, OPT_NO_NEGATION,
		 "records these running processes with all their threads"),
	OPT_U64('c', "count", "N", struct args, period, "takes one sample every N events"),
	OPT_CALL('F', "freq", "HZ", set_freq, OPT_NO_NEGATION,
		 "takes about HZ samples a second, or with max as many as the kernel allows; for counters"),
	OPT_FLAG('g', NULL, struct args, callchain, "records call chains"),
	OPT_FLAG(0, "kernel-callchains", struct args, kernel_callchains,
		 "records only the kernel's part of call chains"),
	OPT_FLAG(0, "user-callchains", struct args, user_callchains,
		 "records only the user's part of call chains"),
	OPT_CALL('m', "mmap-pages", "PAGES", set_pages, OPT_NO_NEGATION,
		 "makes the buffer of each cpu so large: pages, or a size as 4M, rounded up to a power of two, at least one page; "
		 "larger buffers lose fewer events"),
	OPT_TEXT('o', "output", "FILE", struct args, output,
		 "writes to FILE, '-' to the standard output for a reader at once; default perf.data, or the standard "
		 "output if that is a pipe. An existing file is kept as FILE.old"),
	OPT_FLAG('q', "quiet", struct args, quiet, "tells only warnings and errors"),
	OPT_FLAG(0, "fail-on-loss", struct args, fail_on_loss, "exits with status 3 when events were lost"),
	OPT_END,
};
/* clang-format on */

/* The handler can only reach what is global. A signal that comes before there is a recorder is kept for it. */
static struct sonde_recorder *volatile running;
static volatile sig_atomic_t pending;

static void on_signal(int signo)
{
	struct sonde_recorder *r = running;

	if (r)
		sonde_recorder_stop(r);
	else
		pending = 1;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

/* File size limits and closed pipes become errors of the write. Not ignored: that would be handed down to the command. */
static void on_refused_write(int signo)
{
}

struct listener {
	int level; /* lines up to this level are told */
};

static void say(void *ctx, int level, const char *line)
{
	const struct listener *l = ctx;

	if (level > l->level)
		return;
	if (*line == '[') /* "[ sonde record: ... ]" says itself who speaks */
		fprintf(stderr, "%s\n", line);
	else
		cli_say("%s", line);
}

/* The workload's status, or that of a recording which failed; a workload that could not be run has one of its own. */
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

		return result.exit_status == 126 || result.exit_status == 127 ? result.exit_status
									      : status;
	}
	return result.lost && fail_on_loss ? CLI_LOSS : result.exit_status;
}

static int run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	struct listener listener = { .level = a->quiet ? 0 : cli->verbose ? 2 : 1 };
	struct sonde_record_options opts = {
		.size = sizeof(opts),
		/* Without a target everything is the target, as with perf. */
		.all_cpus = a->all_cpus || (!argc && !a->nr_pids),
		.callchain = a->callchain,
		.kernel_callchains = a->kernel_callchains,
		.user_callchains = a->user_callchains,
		.events = a->events,
		.nr_events = a->nr_events,
		.pids = a->pids,
		.nr_pids = a->nr_pids,
		.period = a->period,
		.freq_hz = a->freq_hz,
		.mmap_pages = a->mmap_pages,
		.output = a->output,
		.command = argc ? (const char *const *)argv : NULL,
		.argv = (const char *const *)cli->argv,
		.say = say,
		.say_ctx = &listener,
	};
	struct sonde_recorder *r;
	int status, e;

	if (cli->tracefs_dir)
		return cli_usage(cli,
				 "record: --debugfs-dir: sonde looks for tracefs where the kernel "
				 "says that it is mounted");
	if (a->period && a->freq_hz)
		return cli_usage(cli, "record: -c and -F exclude each other");
	if (a->kernel_callchains && a->user_callchains)
		return cli_usage(cli, "record: --kernel-callchains excludes --user-callchains");
	catch_signals();
	sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = on_refused_write }, NULL);
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = on_refused_write }, NULL);
	e = sonde_recorder_open(&r, &opts);
	if (e < 0) {
		status = cli_fail(cli);
		return e == -EBADR ? cli_status(cli, CLI_USAGE) : status;
	}
	status = record(cli, r, a->fail_on_loss);
	/* From here a signal ends us as any program: there is nothing left to save. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sonde_recorder_close(r);
	return status;
}

static void done(void *values)
{
	struct args *a = values;

	free(a->events);
	free(a->pids);
}

static const char *const usage[] = {
	"record [OPTIONS] [--] COMMAND [ARGS]",
	"record [OPTIONS] -p PIDS",
	"record [OPTIONS] -a",
	NULL,
};

const struct command cmd_record = {
	.name = "record",
	.summary = "records events of a command, of processes or of the whole machine",
	.usage = usage,
	.options = options,
	.examples =
		"  sonde record -e sched:sched_switch,sched:sched_wakeup -a -- sleep 1\n"
		"  sonde record -e syscalls:sys_enter_read --filter 'count > 4096' -- ls -lR /usr\n"
		"  sonde record -g -F 99 -a -- sleep 10\n",
	.values_size = sizeof(struct args),
	.run = run,
	.done = done,
};
