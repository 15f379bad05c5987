/* SPDX-License-Identifier: MIT */
#include "stat_options.h"

#include "stat_vendor.h"

#include <string.h>

static int stat_set_event(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return opt_events_add(p, &((struct stat_args *)values)->events, value);
}

static int stat_set_pfm_events(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return opt_events_add_pfm(p, &((struct stat_args *)values)->events, value);
}

static int stat_set_filter(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return opt_events_filter(p, &((struct stat_args *)values)->events, value);
}

static int stat_set_cgroup(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return opt_events_cgroup(p, &((struct stat_args *)values)->events, value);
}

static int stat_set_big_num(struct opt_parser *p, void *values, const char *value, bool negated)
{
	((struct stat_args *)values)->no_big_num = negated;
	return 0;
}

int stat_args_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value)
{
	struct stat_args *a = values;

	return lines_set(&a->lines, p, o->word ? o->word : o->key, o->key, value);
}

const char *const stat_by_names[] = {
	"all", "cpu", "core", "die", "socket", "node", "thread", NULL
};

void stat_args_done(void *values)
{
	struct stat_args *a = values;

	lines_done(&a->lines);
	opt_events_done(&a->events);
}

/* clang-format off */
#define AGGREGATION                                                                              \
	OPT_FLAG('A', "no-aggr", struct stat_args, no_aggregate, "prints a row for each cpu"),   \
	OPT_FLAG(0, "per-core", struct stat_args, per_core, "prints a row for each core"),       \
	OPT_FLAG(0, "per-die", struct stat_args, per_die, "prints a row for each die"),          \
	OPT_FLAG(0, "per-socket", struct stat_args, per_socket, "prints a row for each socket"), \
	OPT_FLAG(0, "per-node", struct stat_args, per_node, "prints a row for each NUMA node"),  \
	OPT_FLAG(0, "per-thread", struct stat_args, per_thread,                                  \
		"prints a row for each thread, with -p, -t or -a")

#define FORMAT                                                                                   \
	OPT_OUR_TEXT(0, "format", "text|json|csv", struct stat_args, format,                     \
		     "text: the default; json: one JSON object with the counts of each run, for " \
		     "programs: sonde-stat-json(5); csv: a line of fields for each row, as -x,")

const struct opt stat_options[] = {
	OPT_GROUP("What is counted"),
	OPT_CALL('e', "event", "EVENTS", stat_set_event, OPT_NO_NEGATION,
		 "counts these events: software, hardware and other events by name, tracepoints as "
		 "SYSTEM:NAME, where * and ? match, groups as {A,B}; several are separated by "
		 "commas, and -e may be given several times"),
	OPT_CALL(0, "pfm-events", "EVENTS", stat_set_pfm_events, OPT_NO_NEGATION,
		 "counts events by the names of the processor's vendor, through libpfm"),
	OPT_CALL(0, "filter", "FILTER", stat_set_filter, OPT_NO_NEGATION,
		 "counts only events that match, for the tracepoints of the -e before it; the "
		 "kernel applies it"),
	OPT_COUNT('d', "detailed", struct stat_args, detailed,
		 "adds events of the caches to the default ones; -d -d adds more, -d -d -d more"),
	OPT_KEY('g', "group", NULL, "group", "makes one group of all events"),
	OPT_FLAG('n', "null", struct stat_args, null_run, "counts nothing: measures the time"),
	OPT_KEY(0, "all-user", NULL, "all-user", "counts what happens in user space only"),
	OPT_KEY(0, "all-kernel", NULL, "all-kernel", "counts what happens in the kernel only"),
	OPT_KEY(0, "no-scale", NULL, "no-scale",
		"prints counts of events that shared a counter as they are, not extrapolated"),
	OPT_CALL('T', "transaction", NULL, stat_set_transaction, 0,
		 "counts hardware transactions, if the kernel publishes their events"),
	OPT_CALL(0, "topdown", NULL, stat_set_topdown, 0,
		 "counts where the processor's slots went, if the kernel publishes the events; "
		 "prints the shares only"),
	OPT_TEXT(0, "td-level", "1|2", struct stat_args, topdown_level,
		 "prints so many levels of --topdown; the default is all that there are events "
		 "for"),
	OPT_CALL(0, "smi-cost", NULL, stat_set_smi, 0,
		 "counts system management interrupts, if the kernel publishes their events; "
		 "prints the figures only"),

	OPT_GROUP("Whom"),
	OPT_KEY('a', "all-cpus", NULL, "all-cpus",
		"counts everything on all cpus; the default if no other target is named"),
	OPT_KEY('C', "cpu", "CPUS", "cpu", "counts everything on these cpus: 0,2-3"),
	OPT_KEY('p', "pid", "PIDS", "pid",
		"counts these running processes with all their threads"),
	OPT_KEY('t', "tid", "TIDS", "tid", "counts these running threads"),
	OPT_CALL('G', "cgroup", "CGROUPS", stat_set_cgroup, OPT_NO_NEGATION,
		 "counts the first event in the first of these control groups, the second in the "
		 "second, and so on; needs -a or -C"),
	OPT_KEY(0, "for-each-cgroup", "CGROUPS", "for-each-cgroup",
		"counts each event once for each of these control groups; a name may be a regular "
		"expression; needs -a or -C"),
	OPT_KEY('i', "no-inherit", NULL, "no-inherit",
		"does not count the children of counted processes"),

	OPT_GROUP("When"),
	OPT_TEXT('r', "repeat", "N", struct stat_args, repeat,
		 "runs the command N times and prints means with their deviation; 0: for ever"),
	OPT_TEXT('I', "interval-print", "MS", struct stat_args, interval,
		 "prints the counts every MS milliseconds"),
	OPT_TEXT(0, "interval-count", "N", struct stat_args, interval_count,
		 "ends after N intervals"),
	OPT_TEXT(0, "timeout", "MS", struct stat_args, timeout,
		 "ends after MS milliseconds; the command gets SIGTERM"),
	OPT_KEY('D', "delay", "MS", "delay",
		"begins to count so many milliseconds after the command; -1: on a command "
		"(--control)"),
	OPT_KEY(0, "control", "CHANNEL", "control",
		"takes commands from fd:N or fifo:PATH, and answers on the one after a comma: "
		"fd:3,4; enable and disable (all events, or one: enable EVENT), ping, stop"),
	OPT_KEY(0, "pre", "COMMAND", "pre", "runs this shell command before each run"),
	OPT_KEY(0, "post", "COMMAND", "post", "runs this shell command after each run"),
	OPT_KEY('S', "sync", NULL, "sync", "calls sync() before each run"),

	OPT_GROUP("How counts are added up"),
	AGGREGATION,
	OPT_KEY(0, "percore-show-thread", NULL, "percore-show-thread",
		"with -A, prints the sum of a core at each of its cpus, for events of sources with "
		"the term percore: msr/tsc,percore/"),
	OPT_KEY(0, "no-merge", NULL, "no-merge",
		"prints an event of several sources (x/ev/ of x_0 and x_1) once for each, by its "
		"name, instead of the sum"),
	OPT_KEY(0, "hybrid-merge", NULL, "hybrid-merge",
		"prints an event of a hybrid processor once, with the sum of all types of cores"),
	OPT_KEY(0, "cputype", "TYPE", "cputype",
		"counts events of a hybrid processor on cores of this type only: core, atom"),
	OPT_GROUP("Comparison"),
	OPT_OUR_TEXT(0, "baseline", "FILE", struct stat_args, baseline,
		     "compares the runs with those of FILE, made by stat -r N --format json -o "
		     "FILE or stat record -r N; status 1 if an event increased beyond the "
		     "threshold"),
	OPT_OUR_TEXT(0, "threshold", "PERCENT", struct stat_args, threshold,
		     "the increase that is beyond the threshold; the default is 5"),
	OPT_GROUP("Output"),
	FORMAT,
	OPT_FLAG('j', "json-output", struct stat_args, json, "prints a JSON object for each row"),
	OPT_TEXT('x', "field-separator", "SEP", struct stat_args, separator,
		 "prints fields separated by SEP, for programs"),
	OPT_CALL('B', "big-num", NULL, stat_set_big_num, 0,
		 "separates thousands as the locale does, which is the default"),
	OPT_FLAG(0, "no-big-num", struct stat_args, no_big_num,
		 "prints numbers without separators"),
	OPT_FLAG(0, "metric-only", struct stat_args, metric_only,
		 "prints the derived figures only, a line for each round"),
	OPT_FLAG(0, "table", struct stat_args, table, "also prints the time of each run of -r"),
	OPT_FLAG(0, "summary", struct stat_args, summary,
		 "prints the counts of the complete run after those of the intervals"),
	OPT_FLAG(0, "no-csv-summary", struct stat_args, no_csv_summary,
		 "leaves out the word summary at the beginning of rows of -x --summary"),
	OPT_FLAG(0, "interval-clear", struct stat_args, interval_clear,
		 "clears the terminal before each interval"),
	OPT_TEXT('o', "output", "FILE", struct stat_args, output,
		 "writes to FILE instead of standard error ('-' is standard error, too); for "
		 "stat record, the recording"),
	OPT_FLAG(0, "append", struct stat_args, append, "appends to the FILE of -o"),
	OPT_TEXT(0, "log-fd", "N", struct stat_args, log_fd,
		 "writes to the descriptor N instead of standard error"),
	OPT_FLAG(0, "quiet", struct stat_args, quiet, "prints no counts and no messages"),

	OPT_GROUP("Options of perf stat that change nothing"),
	OPT_FLAG(0, "metric-no-group", struct stat_args, ignored,
		 "changes nothing: -M is not taken"),
	OPT_FLAG(0, "metric-no-merge", struct stat_args, ignored,
		 "changes nothing: -M is not taken"),
	OPT_GROUP("Options of perf stat that are refused"),
	OPT_CALL('M', "metrics", "METRICS", stat_refuse_metrics, 0,
		 "is refused: metrics by name are perf's own tables"),
	OPT_CALL(0, "iostat", "DEVICES", stat_refuse_iostat, OPT_VALUE_OPTIONAL,
		 "is refused: its events are in perf's own tables"),
	OPT_END,
};

const struct opt stat_report_options[] = {
	OPT_TEXT('i', "input", "FILE", struct stat_args, input,
		 "reads FILE, or the standard input for -; the default is perf.data"),
	AGGREGATION,
	FORMAT,
	OPT_OUR_FLAG('j', "json-output", struct stat_args, json,
		     "prints a JSON object for each row"),
	OPT_OUR_TEXT('x', "field-separator", "SEP", struct stat_args, separator,
		     "prints fields separated by SEP, for programs"),
	OPT_OUR_FLAG(0, "no-big-num", struct stat_args, no_big_num,
		     "prints numbers without separators"),
	OPT_OUR_FLAG(0, "metric-only", struct stat_args, metric_only,
		     "prints the derived figures only, a line for each round"),
	OPT_OUR_FLAG('f', "force", struct stat_args, force, "also reads a file of another user"),
	OPT_END,
};
/* clang-format on */
