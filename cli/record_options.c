/* SPDX-License-Identifier: MIT */
#include "record_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opt_events.h"

static int options_set_event(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return opt_events_add(p, &((struct record_args *)values)->events, value);
}

static int options_set_pfm_events(struct opt_parser *p, void *values, const char *value,
				  bool negated)
{
	return opt_events_add_pfm(p, &((struct record_args *)values)->events, value);
}

static int options_set_filter(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return opt_events_filter(p, &((struct record_args *)values)->events, value);
}

static int options_set_cgroup(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return opt_events_cgroup(p, &((struct record_args *)values)->events, value);
}

static int options_set_trigger(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return opt_events_trigger(p, &((struct record_args *)values)->events, value);
}

int record_args_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value)
{
	struct record_args *a = values;

	if (!strcmp(o->key, "call-graph"))
		a->chains = false;
	return lines_set(&a->lines, p, o->word ? o->word : o->key, o->key, value);
}

static int options_set_line(struct opt_parser *p, void *values, const char *key, const char *value)
{
	struct record_args *a = values;

	return lines_set(&a->lines, p, key, key, value);
}

static bool options_is_given(void *values, const char *key)
{
	struct record_args *a = values;
	char *value = lines_given(&a->lines, key);

	free(value);
	return value != NULL;
}

/*
 * -g requests call chains. --call-graph, before or after -g, or a configuration file may set their
 * kind.
 */
static int options_set_chains(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct record_args *a = values;

	a->chains = !negated && !options_is_given(values, "call-graph");
	return negated ? options_set_line(p, values, "call-graph", NULL) : 0;
}

static int options_set_branches(struct opt_parser *p, void *values, const char *value, bool negated)
{
	if (!negated && options_is_given(values, "branch-filter"))
		return opt_error(p, "kinds of branches were given already: -j takes several, "
				    "separated by commas");
	return options_set_line(p, values, "branch-filter", negated ? NULL : value ? value : "any");
}

/* ---- what is not taken, or changes nothing here ---------------------------------------------- */

static int options_refuse_clang(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const char why[] =
		"--clang-path and --clang-opt are not taken: events in the source of BPF "
		"programs are not compiled (nor are they by perf 6.12)";

	return negated ? 0 : opt_error(p, "%s", why);
}

static int options_refuse_off_cpu(struct opt_parser *p, void *values, const char *value,
				  bool negated)
{
	static const char why[] =
		"--off-cpu is not taken: it needs a BPF program in the kernel; -e "
		"sched:sched_switch -g records where tasks leave the cpu";

	return negated ? 0 : opt_error(p, "%s", why);
}

static int options_set_debuginfod(struct opt_parser *p, void *values, const char *value,
				  bool negated)
{
	((struct record_args *)values)->debuginfod = !negated;
	return 0;
}

/*
 * perf uses the file for probes in BPF programs. sonde has none, so only checks that the file
 * exists.
 */
static int options_set_vmlinux(struct opt_parser *p, void *values, const char *value, bool negated)
{
	if (negated || !access(value, R_OK))
		return 0;
	return opt_error(p, "--vmlinux %s: %s", value, strerror(errno));
}

void record_args_done(void *values)
{
	struct record_args *a = values;

	lines_done(&a->lines);
	opt_events_done(&a->events);
}

/* An optional value, which must be attached. */
#define OPT_OPTIONAL_KEY(letter, word, value, key, help)                                  \
	{                                                                                 \
		OPT_KIND_KEY, letter, word, value, 0, NULL, OPT_VALUE_OPTIONAL, key, help \
	}
#define OPT_OUR_KEY(letter, word, value, key, help)                             \
	{                                                                       \
		OPT_KIND_KEY, letter, word, value, 0, NULL, OPT_OURS, key, help \
	}

/* clang-format off */
const struct opt record_options[] = {
	OPT_GROUP("What is recorded"),
	OPT_CALL('e', "event", "EVENTS", options_set_event, OPT_NO_NEGATION,
		 "records these events: tracepoints as SYSTEM:NAME, where * and ? match, software "
		 "and other events by name as "
		 "cpu-clock, groups as {A,B}; several are separated by commas, and -e may be given "
		 "several times"),
	OPT_CALL(0, "filter", "FILTER", options_set_filter, OPT_NO_NEGATION,
		 "lets the kernel leave out what does not match, for the tracepoints of the -e "
		 "before it: "
		 "'prev_pid != 0 && next_comm ~ \"sh*\"'"),
	OPT_CALL(0, "pfm-events", "EVENTS", options_set_pfm_events, OPT_NO_NEGATION,
		 "records events of the processor by its vendor's names, as libpfm knows them: "
		 "INST_RETIRED:ANY_P,{A,B}; -e pfm:NAME names one of them; 'sonde list pfm' lists "
		 "them"),
	OPT_KEY('c', "count", "N", "count", "takes one sample every N events"),
	OPT_KEY('F', "freq", "HZ", "freq",
		"takes about HZ samples a second of a counter, or with max as many as the kernel "
		"allows"),
	OPT_KEY(0, "strict-freq", NULL, "strict-freq",
		"ends with an error when the kernel does not allow HZ samples a second"),
	OPT_KEY(0, "group", NULL, "group", "makes one group of all events"),
	OPT_KEY(0, "all-user", NULL, "all-user",
		"counts what happens in user space only, for all events"),
	OPT_KEY(0, "all-kernel", NULL, "all-kernel",
		"counts what happens in the kernel only, for all events"),
	OPT_OUR_KEY(0, "exclude-self", NULL, "exclude-self",
		"leaves out the tracepoints that the recorder itself triggers, for all -e; with -a "
		"this is the default for system "
		"calls, file systems, block devices, writeback and kmem, and --no-exclude-self is "
		"what perf does"),
	OPT_KEY(0, "exclude-perf", NULL, "exclude-self", "the same"),

	OPT_GROUP("Whom"),
	OPT_KEY('a', "all-cpus", NULL, "all-cpus",
		"records everything on all cpus; the default without a command and other targets"),
	OPT_KEY('C', "cpu", "CPUS", "cpu", "records these cpus only: 0,2-3"),
	OPT_KEY('p', "pid", "PIDS", "pid",
		"records these running processes with all their threads"),
	OPT_KEY('t', "tid", "TIDS", "tid",
		"records these running threads; with --inherit also those that they start"),
	OPT_KEY('u', "uid", "USER", "uid",
		"records the processes of a user, a number or a name, and what they start"),
	OPT_CALL('G', "cgroup", "CGROUPS", options_set_cgroup, OPT_NO_NEGATION,
		 "records in these control groups only, the first for the first event named, and "
		 "so on; one alone is for all events "
		 "before it; needs -a or -C"),
	OPT_KEY('i', "no-inherit", NULL, "no-inherit",
		"leaves out the children of what is recorded"),
	OPT_KEY(0, "per-thread", NULL, "per-thread",
		"uses a buffer for each thread instead of each cpu, and leaves out what "
		"they start"),

	OPT_GROUP("Contents of a sample"),
	OPT_CALL('g', NULL, NULL, options_set_chains, 0,
		"records call chains, found by frame pointers unless --call-graph or the "
		"configuration says otherwise"),
	OPT_KEY(0, "call-graph", "fp|dwarf|lbr", "call-graph",
		"records call chains: fp[,FRAMES] by frame pointers, dwarf[,BYTES] with registers "
		"and so much of the stack "
		"(8192), for the reader to unwind, lbr by the processor's branch records"),
	OPT_KEY(0, "kernel-callchains", NULL, "kernel-callchains",
		"records only the kernel's part of call chains"),
	OPT_KEY(0, "user-callchains", NULL, "user-callchains",
		"records only the user's part of call chains"),
	OPT_KEY('d', "data", NULL, "data", "records the addresses of the data"),
	OPT_KEY(0, "phys-data", NULL, "phys-data", "records the physical addresses of the data"),
	OPT_KEY(0, "data-page-size", NULL, "data-page-size",
		"records the size of the pages that hold the data"),
	OPT_KEY(0, "code-page-size", NULL, "code-page-size",
		"records the size of the pages that hold the code"),
	OPT_KEY('T', "timestamp", NULL, "timestamp",
		"records the time, which is the default except with --per-thread"),
	OPT_KEY('P', "period", NULL, "period", "records the period"),
	OPT_KEY('s', "stat", NULL, "stat", "counts per thread, too"),
	OPT_KEY('n', "no-samples", NULL, "no-samples", "takes no samples: records of state only"),
	OPT_KEY('R', "raw-samples", NULL, "raw-samples",
		"records the raw bytes, as tracepoints always have them"),
	OPT_KEY(0, "sample-cpu", NULL, "sample-cpu", "records the cpu"),
	OPT_KEY(0, "sample-identifier", NULL, "sample-identifier",
		"records the event's identifier, which is the default"),
	OPT_KEY(0, "running-time", NULL, "running-time",
		"records how long a group was counted, for group reads (:S)"),
	OPT_KEY('W', "weight", NULL, "weight", "records the weight, of events that have one"),
	OPT_KEY(0, "transaction", NULL, "transaction",
		"records the flags of transactions, of events that have them"),
	OPT_OPTIONAL_KEY('I', "intr-regs", "REGISTERS", "intr-regs",
		"records these registers at the interrupt, or all; ? lists their names"),
	OPT_OPTIONAL_KEY(0, "user-regs", "REGISTERS", "user-regs",
		"records these registers of user space, or all; ? lists their names"),
	OPT_CALL('b', "branch-any", NULL, options_set_branches, 0, "records the branches taken"),
	OPT_CALL('j', "branch-filter", "KINDS", options_set_branches, 0,
		"records the branches of these kinds: any,u,k,any_call,..."),
	OPT_KEY('k', "clockid", "monotonic|monotonic_raw|boottime|realtime|tai", "clockid",
		"takes times from this clock: monotonic, monotonic_raw, boottime, realtime, tai"),

	OPT_GROUP("Other records"),
	OPT_KEY(0, "namespaces", NULL, "namespaces", "records the namespaces of processes"),
	OPT_KEY(0, "all-cgroups", NULL, "all-cgroups",
		"records control groups, and the group of each sample"),
	OPT_KEY(0, "switch-events", NULL, "switch-events", "records context switches"),
	OPT_KEY(0, "no-bpf-event", NULL, "no-bpf-event", "leaves out the loading of BPF programs"),
	OPT_KEY(0, "synth", "no|all|KINDS", "synth",
		"limits the description of what exists already: no, all, or some of "
		"task,mmap,cgroup"),
	OPT_KEY(0, "num-thread-synthesize", "N", "num-thread-synthesize",
		"describes what exists already with N threads"),
	OPT_KEY(0, "proc-map-timeout", "MS", "proc-map-timeout",
		"gives up reading the mappings of a process after so many milliseconds, and says "
		"so; by default there is no limit"),
	OPT_KEY(0, "tail-synthesize", NULL, "tail-synthesize",
		"describes what exists already at the end of the recording"),
	OPT_KEY('B', "no-buildid", NULL, "no-buildid",
		"leaves out the build ids of files, and the cache"),
	OPT_KEY('N', "no-buildid-cache", NULL, "no-buildid-cache",
		"leaves the cache of files by build id as it is"),
	OPT_KEY(0, "buildid-all", NULL, "buildid-all",
		"takes the build ids of all files mapped, hit by samples or not"),
	OPT_KEY(0, "buildid-mmap", NULL, "buildid-mmap",
		"takes build ids from the kernel, with each mapping"),

	OPT_GROUP("Buffers of ftrace"),
	OPT_OUR_KEY(0, "ftrace", NULL, "ftrace",
		    "records tracepoints through ftrace's buffers, in a trace.dat, which trace-cmd "
		    "and KernelShark read; with -e, --filter, --trigger, -a, -C, -p, -t, -o; with "
		    "-o - as samples"),
	OPT_CALL(0, "trigger", "TRIGGER", options_set_trigger, OPT_NO_NEGATION | OPT_OURS,
		     "with --ftrace: what the kernel does at an event of the -e before it: "
		     "traceon, traceoff, stacktrace, enable_event:SYSTEM:EVENT or "
		     "disable_event:SYSTEM:EVENT, each [:COUNT] [if FILTER]"),
	OPT_OUR_KEY(0, "buffer-size", "SIZE", "buffer-size",
		    "with --ftrace: sets the size of each cpu's buffer, 4M if not given"),
	OPT_OUR_KEY(0, "clock", "CLOCK", "ftrace-clock",
		    "with --ftrace: chooses the clock of ftrace, as local, mono or x86-tsc; "
		    "trace_clock in tracefs has all; the default is perf, the clock of other "
		    "recordings"),
	OPT_GROUP("Buffers"),
	OPT_KEY('m', "mmap-pages", "PAGES", "mmap-pages",
		"sets the size of each cpu's buffer: pages, or a size as 4M, rounded up to a power "
		"of two, at least one page; "
		"larger buffers lose fewer events"),
	OPT_KEY(0, "mmap-flush", "SIZE", "mmap-flush",
		"does not read a buffer before it holds so many bytes (a size as 64K; at most a "
		"quarter of the buffer), and fetches the rest at the end"),
	OPT_KEY(0, "overwrite", NULL, "overwrite",
		"lets new events overwrite the oldest; what is there at the end is written"),
	OPT_KEY(0, "no-buffering", NULL, "no-buffering",
		"reads after each event; by default after an eighth of a buffer (a quarter of a "
		"small one) or a second"),
	OPT_OPTIONAL_KEY(0, "aio", "N", "aio",
		"writes in a thread of its own, so that a slow disk or reader does not delay the "
		"emptying of buffers; up to N times (1 to 4, default 1) their size may be pending"),
	OPT_KEY(0, "affinity", "node|cpu", "affinity",
		"moves the thread that empties buffers to the cpu of the buffer it reads, or to "
		"its node"),
	OPT_OPTIONAL_KEY(0, "threads", "cpu|core|package|numa|SPEC", "threads",
		"empties buffers with several threads: one for each cpu (the default), core, "
		"package or numa node, or as a list says: 0-1/0:2-3/2 has a thread on cpu 0 for "
		"the buffers of cpus 0 and 1, and one on cpu 2; the output is then a directory "
		"with a file for each buffer"),
	OPT_KEY('r', "realtime", "PRIORITY", "realtime",
		"fetches and writes events with this real-time priority (SCHED_FIFO)"),
	OPT_OPTIONAL_KEY('z', "compression-level", "N", "compression-level",
		"compresses the records: from 1, fast and the default, to 22, small"),
	OPT_OUR_KEY(0, "compressed-records", "old|new", "compressed-records",
		"writes compressed records in the old form, the default, or in the new one of perf "
		"6.16 and later"),

	OPT_GROUP("When"),
	OPT_KEY('D', "delay", "MS", "delay",
		"begins after so many milliseconds, with -1 on a command (--control); or records "
		"only in ranges and ends with the last one: 10-20,30-40"),
	OPT_KEY(0, "control", "CHANNEL", "control",
		"takes commands from fd:N or fifo:PATH, and answers on the one after a comma: "
		"fd:3,4; enable, disable, evlist, ping, stop"),
	OPT_KEY(0, "dry-run", NULL, "dry-run", "checks options, targets and command, and ends"),

	OPT_GROUP("Where to"),
	OPT_KEY('o', "output", "FILE", "output",
		"writes to FILE, '-' to standard output for a reader at the same time; default "
		"perf.data, or the standard "
		"output if that is a pipe. An existing file is kept as FILE.old"),
	OPT_KEY(0, "max-size", "SIZE", "max-size", "ends when the recording has this size"),
	OPT_OPTIONAL_KEY(0, "switch-output", "signal|SIZE|TIME", "switch-output",
		"begins a new file at each SIGUSR2 (signal), or when this size or time is reached: "
		"100M, 30s"),
	OPT_KEY(0, "switch-output-event", "EVENTS", "switch-output-event",
		"begins a new file when one of these events occurs"),
	OPT_KEY(0, "switch-max-files", "N", "switch-max-files", "keeps the last N files"),
	OPT_KEY(0, "timestamp-filename", NULL, "timestamp-filename",
		"appends the time to the file's name"),
	OPT_KEY(0, "timestamp-boundary", NULL, "timestamp-boundary",
		"records first and last time, which is the default"),
	OPT_OUR_FLAG(0, "serve", struct record_args, serve,
		"takes events and settings from the standard input: for sonde run --sudo"),
	OPT_FLAG('q', "quiet", struct record_args, quiet, "prints only warnings and errors"),
	OPT_FLAG(0, "fail-on-loss", struct record_args, fail_on_loss,
		"exits with status 3 when events were lost"),

	OPT_GROUP("Options of perf record that change nothing"),
	OPT_CALL(0, "vmlinux", "FILE", options_set_vmlinux, 0,
		"changes nothing: the recording holds the symbols of the kernel that runs; FILE "
		"must be readable"),
	OPT_CALL(0, "debuginfod", "URLS", options_set_debuginfod, OPT_VALUE_OPTIONAL,
		"has no effect except a message: sonde fetches nothing from servers"),
	OPT_GROUP("Options of perf record that are refused"),
	OPT_KEY(0, "kcore", NULL, "kcore",
		"is refused: the recording holds the kernel's symbols itself"),
	OPT_OPTIONAL_KEY('S', "snapshot", "OPTIONS", "snapshot",
		"is refused: hardware tracing is not recorded"),
	OPT_OPTIONAL_KEY(0, "aux-sample", "OPTIONS", "aux-sample",
		"is refused: hardware tracing is not recorded"),
	OPT_CALL(0, "off-cpu", NULL, options_refuse_off_cpu, 0,
		"is refused: it needs a BPF program; -e sched:sched_switch -g records where tasks "
		"leave the cpu"),
	OPT_CALL(0, "clang-path", "FILE", options_refuse_clang, 0,
		"is refused: events in the source of BPF programs are not compiled"),
	OPT_CALL(0, "clang-opt", "OPTIONS", options_refuse_clang, 0,
		"is refused: events in the source of BPF programs are not compiled"),
	OPT_END,
};
/* clang-format on */
