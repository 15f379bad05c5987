/* SPDX-License-Identifier: MIT */
#include "script_options.h"

#include "dlfilters.h"
#include "recording.h"
#include "sonde/sonde.h"

#include <stdlib.h>
#include <string.h>

int script_options_set_key(struct opt_parser *p, void *values, const struct opt *o,
			   const char *value)
{
	struct script_args *a = values;

	/* An empty folder counts as none, as with perf. */
	if (value && !*value && !strcmp(o->key, "symfs"))
		value = NULL;
	return lines_set(&a->lines, p, o->word ? o->word : o->key, o->key, value);
}

void script_options_done(void *values)
{
	struct script_args *a = values;

	lines_done(&a->lines);
	free(a->fields);
}

static int options_set_line(struct opt_parser *p, void *values, const char *key, const char *value)
{
	struct script_args *a = values;

	return lines_set(&a->lines, p, key, key, value);
}

/* -G: disables call chains. */
static int options_hide_call_graph(struct opt_parser *p, void *values, const char *value,
				   bool negated)
{
	return options_set_line(p, values, "callchain", negated ? "1" : "0");
}

static int options_set_unsorted_dump(struct opt_parser *p, void *values, const char *value,
				     bool negated)
{
	int r = options_set_line(p, values, "unsorted", negated ? "0" : "1");

	return r ? r : options_set_line(p, values, "dump", negated ? "0" : "1");
}

/* A later -F replaces or changes an earlier one, so the session gets all of them in order. */
static int options_set_fields(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct script_args *a = values;
	char *all;

	if (strpbrk(value, " \n"))
		return opt_error(p, "a list of fields contains no blanks: '%s'", value);
	if (asprintf(&all, "%s%s%s", a->fields ? a->fields : "", a->fields ? " " : "", value) < 0)
		return opt_error(p, "out of memory");
	free(a->fields);
	a->fields = all;
	return 0;
}

/* The session's formats that this command writes: "text|jsonl", from src/sinks/table.def. */
static const char formats[] = SONDE_SCRIPT_FORMATS;

/* For a sentence: "text and jsonl". */
static void options_say_formats(char *ret, size_t room)
{
	const char *last = strrchr(formats, '|');
	size_t n = 0;

	for (const char *p = formats; *p && n + 1 < room; p++)
		n += (size_t)snprintf(ret + n, room - n,
				      *p != '|'   ? "%c"
				      : p == last ? " and "
						  : ", ",
				      *p);
}

static bool options_is_format(const char *word)
{
	const size_t len = strlen(word);

	for (const char *p = formats;; p++) {
		const size_t n = strcspn(p, "|");

		if (n == len && !memcmp(p, word, n))
			return true;
		p += n;
		if (!*p)
			return false;
	}
}

static int options_set_format(struct opt_parser *p, void *values, const char *value, bool negated)
{
	char known[sizeof(formats) + 32];

	if (negated)
		return options_set_line(p, values, "format", NULL);
	if (!strcmp(value, "json")) /* the format's name in other commands */
		value = "jsonl";
	if (!options_is_format(value)) {
		options_say_formats(known, sizeof(known));
		return opt_error(p, "--format takes %s, not '%s'", known, value);
	}
	return options_set_line(p, values, "format", value);
}

static int options_set_json(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct script_args *a = values;

	a->json = !negated;
	return options_set_line(p, values, "format", negated ? NULL : "jsonl");
}

static int options_set_clock(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const char *const known[] = { "raw", "relative", "utc", "local" };

	for (size_t i = 0; !negated && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(value, known[i]))
			return options_set_line(p, values, "clock", value);
	if (negated)
		return options_set_line(p, values, "clock", NULL);
	return opt_error(p, "--clock takes raw, relative, utc or local, not '%s'", value);
}

/* Resolves the path now, because the session loads the filter by it. */
static int options_set_dlfilter(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct script_args *a = values;
	char *path = dlfilter_find(value);
	int r = path ? options_set_line(p, values, "dlfilter", path)
		     : opt_error(p, "out of memory");

	free(path);
	a->has_dlfilter = true;
	return r;
}

/* ---- traces of processors -------------------------------------------------------------------- */

static int options_set_itrace(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct script_args *a = values;

	return recording_set_itrace(p, &a->lines, value);
}

/* perf's meaning of these three; negating them has the same meaning. */
static int options_set_trace(struct opt_parser *p, void *values, const char *fields)
{
	if (options_set_line(p, values, "ns", "1") < 0)
		return -1;
	return options_set_fields(p, values, fields, false);
}

static int options_set_insn_trace(struct opt_parser *p, void *values, const char *value,
				  bool negated)
{
	if (value && !strcmp(value, "disasm"))
		return opt_error(p, "--insn-trace=disasm: traces of processors are not decoded");
	if (value && *value && strcmp(value, "raw"))
		return opt_error(p, "--insn-trace takes raw or disasm, not '%s'", value);
	return options_set_trace(p, values, "+insn,-event,-period");
}

static int options_set_call_trace(struct opt_parser *p, void *values, const char *value,
				  bool negated)
{
	return options_set_trace(p, values, "-ip,-addr,-event,-period,+callindent");
}

static int options_set_call_ret_trace(struct opt_parser *p, void *values, const char *value,
				      bool negated)
{
	return options_set_trace(p, values, "-ip,-addr,-event,-period,+flags,+callindent");
}

static int options_set_xed(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct script_args *a = values;

	a->xed = true;
	return 0;
}

static int options_set_color(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct script_args *a = values;

	if (negated)
		value = "never";
	else if (!value)
		value = "always";
	else if (strcmp(value, "auto") && strcmp(value, "always") && strcmp(value, "never"))
		return opt_error(p, "--color takes auto, always or never, not '%s'", value);
	a->color = value;
	return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
const struct opt script_options[] = {
	OPT_GROUP("Input"),
	OPT_KEY('i', "input", "FILE", "input",
		"reads FILE; default perf.data. May be given several times: the events of "
		"recordings of one host and clock are merged in time order"),
	OPT_OUR_KEY(0, "offset", "SECONDS", "offset",
		"adds SECONDS, which may be negative, to the times of the recording "
		"named before it. So the events of unrelated clocks are merged, too"),
	OPT_KEY('f', "force", NULL, "force",
		"reads a recording that another user owns; with -g overwrites an existing file"),
	FORMATS_OPTIONS,
	MAX_UNPACKED_OPTION,
	NO_FOLLOW_OPTION,
	STRICT_OPTIONS(struct script_args, strict),
	SANDBOX_OPTION(struct script_args, sandbox),

	OPT_GROUP("Scripts"),
	OPT_TEXT('s', "script", "[LANG:]SCRIPT", struct script_args, script,
		 "runs SCRIPT over the events in your own interpreter; what follows the options is "
		 "for the "
		 "script. 'lang' lists the languages"),
	OPT_OUR_TEXT(0, "interpreter", "PROGRAM", struct script_args, interpreter,
		"runs the script with PROGRAM; default: see ENVIRONMENT in sonde-script(1)"),
	OPT_TEXT('g', "gen-script", "LANG", struct script_args, generate,
		 "writes a script that prints every event of the recording, to be changed: "
		 "perf-script.py for python"),
	OPT_OUR_TEXT('o', "output", "FILE", struct script_args, output,
		 "writes that script to FILE, to stdout for '-'. An existing file is only "
		 "overwritten with --force"),
	OPT_FLAG('l', "list", struct script_args, list,
		 "lists the scripts of sonde, of the user and of perf: what each does and records"),

	OPT_GROUP("Columns"),
	OPT_CALL(0, "format", SONDE_SCRIPT_FORMATS, options_set_format, OPT_OURS,
		 "text: the default; jsonl: a JSON object per event with all its values, for "
		 "programs, described in "
		 "docs/formats/jsonl.md; blkparse, trace-cmd, babeltrace: the lines "
		 "of these programs"),
	OPT_CALL('j', "json", NULL, options_set_json, OPT_OURS,
		 "the same as --format jsonl; with -l, --list-dlfilters and -s lang a JSON object"),
	OPT_CALL('F', "fields", "[CLASS:]FIELDS", options_set_fields, OPT_NO_NEGATION,
		 "prints these columns: "
		 "comm,pid,tid,cpu,time,period,event,trace,ip,sym,symoff,dso,addr ... (COLUMNS in "
		 "sonde-script(1) has all); +FIELD adds and -FIELD takes away; hw: sw: trace: raw: "
		 "break: synth: before "
		 "them names the class of events. May be given several times"),
	OPT_KEY(0, "ns", NULL, "ns", "prints times to the nanosecond"),
	OPT_KEY(0, "reltime", NULL, "reltime", "counts times from the first event"),
	OPT_CALL(0, "clock", "raw|relative|utc|local", options_set_clock, OPT_OURS,
		"shows times, also to scripts, as recorded (raw: the default), counted from the "
		"first sample (relative), or as time of day in utc or local; the last two need "
		"clock data in the recording"),
	OPT_KEY(0, "deltatime", NULL, "deltatime", "counts times from the event before"),
	OPT_KEY('L', "Latency", NULL, "latency",
		"prints the first 8 bytes of the names of tasks, and bare numbers of cpus"),
	OPT_OUR_KEY(0, "raw-fields", NULL, "raw-fields",
		"prints the fields of events as name=value, as trace-cmd report -R does; for "
		"--format trace-cmd"),

	OPT_CALL(0, "color", "auto|always|never", options_set_color, OPT_VALUE_OPTIONAL | OPT_OURS,
		 "highlights names: always (also when no value is given), never, or auto (the "
		 "default): on a "
		 "terminal, unless NO_COLOR is set"),

	OPT_GROUP("Which events"),
	OPT_KEY(0, "time", "FROM,TO", "time",
		"takes only events of this time, in seconds; either side may be left out. Several "
		"are separated by "
		"blanks. Or percents of the recording: 10% (the first), 10%/2 (the second), "
		"0%-10%,50%-60%"),
	CPU_OPTION("takes only events"),
	TASK_OPTIONS("takes only events"),
	COMM_OPTION("comms", "takes only events"),
	OPT_OUR_KEY(0, "event", "EVENTS", "event",
		"takes only these events, named as sonde info does; patterns such as 'sched:*' and "
		"names without system are allowed"),
	OPT_OUR_KEY(0, "where", "EXPR", "where",
		"takes only events for which EXPR is true, in the kernel's language of filters: "
		"'prev_pid > 100 && next_comm ~ \"kw*\"'"),
	OPT_OUR_KEY(0, "pair", "START,STOP[,KEY[,STOPKEY]]", "pair",
		"makes an event 'pair(START,STOP,KEY)' with the field ns, the time between the "
		"two, and the fields of both, for each STOP that has a START with the same KEY, a "
		"field or tid (the default), pid, cpu or comm. May be given several times"),
	OPT_KEY('S', "symbols", "SYMBOLS", "symbols",
		"takes only events in these functions, or at 0xADDRESS"),
	OPT_NUMBER_KEY(0, "addr-range", "BYTES", "addr-range",
		"lets an address of -S mean this number of bytes from there on"),
	OPT_KEY(0, "dsos", "FILES", "dsos", "takes only events in these files"),
	SWITCH_OPTIONS("prints", "events"),
	OPT_CALL(0, "dlfilter", "FILE", options_set_dlfilter, OPT_NO_NEGATION,
		 "lets a filter that was written for perf, a shared object, choose events. May be "
		 "given several times: "
		 "an event is taken if all of them keep it"),
	OPT_KEY(0, "dlarg", "ARG", "dlarg",
		"an argument for the filter named before it. May be given several times"),
	OPT_FLAG(0, "list-dlfilters", struct script_args, list_dlfilters,
		 "lists the filters of the current folder and of perf; with -v in full"),

	OPT_GROUP("Call chains and branches"),
	OPT_CALL('G', "hide-call-graph", NULL, options_hide_call_graph, 0,
		"leaves call chains out"),
	MAX_STACK_OPTION,
	OPT_KEY(0, "stop-bt", "SYMBOLS", "stop-bt", "ends call chains at these functions"),
	INLINE_OPTION("prints"),
	OPT_NUMBER_KEY(0, "max-blocks", "BLOCKS", "max-blocks",
		"limits the blocks of instructions of a branch stack"),
	OPT_FLAG(0, "stitch-lbr", struct script_args, stitch_lbr,
		"accepted as by perf, but call chains are printed as they were recorded"),

	OPT_GROUP("Symbols and source lines"),
	SYMBOL_FILE_OPTIONS,
	DEMANGLE_OPTION,
	DEMANGLE_KERNEL_OPTION,
	OPT_KEY(0, "full-source-path", NULL, "full-source-path",
		"prints source files with their folders"),
	OPT_KEY(0, "show-kernel-path", NULL, "show-kernel-path",
		"prints the file of the kernel's symbols"),

	OPT_GROUP("The recording and its records"),
	OPT_FLAG(0, "header", struct script_args, header,
		"prints the header of the recording, then the events"),
	OPT_FLAG(0, "header-only", struct script_args, header_only,
		 "prints only the header of the recording"),
	OPT_KEY('I', "show-info", NULL, "header-info", "prints the complete header"),
	OPT_KEY('D', "dump-raw-trace", NULL, "dump", "prints every record as bytes and decoded"),
	OPT_CALL(0, "dump-unsorted-raw-trace", NULL, options_set_unsorted_dump, 0,
		 "does so in the order of the file, not in that of time"),
	OPT_KEY(0, "per-event-dump", NULL, "per-event-dump",
		"writes a file per event type: FILE.EVENT.dump"),
	OPT_KEY(0, "show-task-events", NULL, "show-task-events",
		"prints forks, exits and names of tasks"),
	OPT_KEY(0, "show-mmap-events", NULL, "show-mmap-events", "prints mappings"),
	OPT_KEY(0, "show-switch-events", NULL, "show-switch-events",
		"prints context switches that were recorded"),
	OPT_KEY(0, "show-namespace-events", NULL, "show-namespace-events", "prints namespaces"),
	OPT_KEY(0, "show-cgroup-events", NULL, "show-cgroup-events", "prints control groups"),
	OPT_KEY(0, "show-lost-events", NULL, "show-lost-events",
		"prints how many events were lost where"),
	OPT_KEY(0, "show-round-events", NULL, "show-round-events",
		"prints the rounds of the recorder"),
	OPT_KEY(0, "show-bpf-events", NULL, "show-bpf-events",
		"prints the loading and unloading of BPF programs"),
	OPT_KEY(0, "show-text-poke-events", NULL, "show-text-poke-events",
		"prints changes of the kernel's code"),

	OPT_GROUP("Accepted as by perf, though there is nothing to decode or to look up"),
	OPT_CALL(0, "itrace", "OPTIONS", options_set_itrace, OPT_VALUE_OPTIONAL,
		 "how to decode a processor's trace. sonde does not decode such traces: it prints "
		 "the other samples and a note"),
	OPT_CALL(0, "insn-trace", "raw", options_set_insn_trace, OPT_VALUE_OPTIONAL,
		 "the columns of a trace of instructions: -F +insn,-event,-period --ns"),
	OPT_CALL(0, "call-trace", "ANY", options_set_call_trace, OPT_VALUE_OPTIONAL,
		 "the columns of a trace of calls: -F -ip,-addr,-event,-period,+callindent --ns"),
	OPT_CALL(0, "call-ret-trace", "ANY", options_set_call_ret_trace, OPT_VALUE_OPTIONAL,
		 "the same with +flags"),
	OPT_KEY(0, "graph-function", "SYMBOLS", "graph-function",
		"prints only calls by these functions in such a trace: nothing, as none is "
		"decoded"),
	OPT_CALL(0, "xed", "ANY", options_set_xed, OPT_VALUE_OPTIONAL,
		 "pipes the text through the program xed, which must be installed"),
	OPT_TEXT(0, "guestmount", "DIR", struct script_args, ignored,
		 "where the files of guests are; addresses in guests get no names"),
	OPT_TEXT(0, "guestkallsyms", "FILE", struct script_args, ignored,
		"the same for a guest's kernel symbols"),
	OPT_TEXT(0, "guestmodules", "FILE", struct script_args, ignored,
		"the same for a guest's modules"),
	OPT_TEXT(0, "guestvmlinux", "FILE", struct script_args, ignored,
		"the same for a guest's kernel"),
	OPT_FLAG(0, "guest-code", struct script_args, no_effect,
		 "says that a guest's code is in the process that runs it; it gets no names"),
	OPT_OUR_TEXT(0, "addr2line", "PROGRAM", struct script_args, ignored,
		"perf 6.12 asks PROGRAM for source lines; sonde reads them itself"),
	OPT_FLAG('d', "debug-mode", struct script_args, check_only,
		 "prints no events, only what is wrong with the recording"),
	OPT_FLAG('a', "all-cpus", struct script_args, all_cpus,
		 "before \"record NAME\" or NAME: records on all cpus; without them it has no "
		 "effect, because text has the events of all cpus"),
	OPT_END,
};
/* clang-format on */
