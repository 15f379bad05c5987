/* SPDX-License-Identifier: MIT */
#include "report_options.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int report_options_set_line(struct opt_parser *p, void *values, const char *key,
				   const char *value)
{
	struct report_args *a = values;

	return lines_set(&a->rec.lines, p, key, key, value);
}

/* Notes what is wrong with a value. See struct report_args, wrong. */
__attribute__((format(printf, 2, 3))) static void report_options_note(struct report_args *a,
								      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!*a->wrong)
		vsnprintf(a->wrong, sizeof(a->wrong), fmt, ap);
	va_end(ap);
}

/* ---- call graphs ----------------------------------------------------------------------------- */

/* Words may be shortened; the first match counts. */
static const struct {
	const char *word;
	enum report_graph_word sets;
	int value;
} graph_words[] = {
	{ "none", GRAPH_WORD_KIND, REPORT_NO_GRAPH },
	{ "graph", GRAPH_WORD_KIND, REPORT_GRAPH },
	{ "flat", GRAPH_WORD_KIND, REPORT_FLAT },
	{ "fractal", GRAPH_WORD_KIND, REPORT_FRACTAL },
	{ "folded", GRAPH_WORD_KIND, REPORT_FOLDED },
	{ "caller", GRAPH_WORD_ORDER, true },
	{ "callee", GRAPH_WORD_ORDER, false },
	{ "function", GRAPH_WORD_KEY, REPORT_BY_FUNCTION },
	{ "address", GRAPH_WORD_KEY, REPORT_BY_ADDRESS },
	{ "srcline", GRAPH_WORD_KEY, REPORT_BY_SRCLINE },
	{ "branch", GRAPH_WORD_KEY, -1 },
	{ "percent", GRAPH_WORD_VALUE, REPORT_PERCENT },
	{ "period", GRAPH_WORD_VALUE, REPORT_PERIOD },
	{ "count", GRAPH_WORD_VALUE, REPORT_COUNT },
};

static void report_options_set_graph_word(struct report_args *a, enum report_graph_word sets,
					  int value)
{
	switch (sets) {
	case GRAPH_WORD_KIND:
		a->graph.kind = (enum report_graph_kind)value;
		break;
	case GRAPH_WORD_ORDER:
		a->callers_first = value;
		a->order_given = true;
		break;
	case GRAPH_WORD_KEY:
		if (value < 0)
			a->graph_branch = true;
		else
			a->graph_key = (enum report_graph_key)value;
		break;
	case GRAPH_WORD_VALUE:
		a->graph.value = (enum report_graph_value)value;
		break;
	}
}

/* The index of the first word that begins with these bytes; -1 if there is none. */
static int report_options_find_graph_word(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(graph_words) / sizeof(*graph_words); i++)
		if (!strncmp(graph_words[i].word, word, len))
			return (int)i;
	return -1;
}

bool report_options_graph_word(struct report_args *a, enum report_graph_word sets, const char *word)
{
	const size_t len = strlen(word);

	for (size_t i = 0; len && i < sizeof(graph_words) / sizeof(*graph_words); i++) {
		if (graph_words[i].sets != sets || strncmp(graph_words[i].word, word, len))
			continue;
		report_options_set_graph_word(a, sets, graph_words[i].value);
		return true;
	}
	return false;
}

bool report_options_parse_graph(struct report_args *a, const char *value)
{
	bool has_percent = false;

	a->graph_given = true;
	a->no_call_graph = false;
	while (*value) {
		const size_t len = strcspn(value, ",");
		const int word = len ? report_options_find_graph_word(value, len) : -1;
		char *end;

		if (word >= 0) {
			report_options_set_graph_word(a, graph_words[word].sets,
						      graph_words[word].value);
		} else if (len) {
			if (!has_percent)
				a->graph.min_percent = strtod(value, &end);
			else
				a->graph.print_limit = (uint32_t)strtoul(value, &end, 0);
			if (end == value)
				return false;
			has_percent = true;
		}
		if (a->graph.kind == REPORT_NO_GRAPH)
			return true;
		value += len + (value[len] == ',');
	}
	return true;
}

static int report_options_set_graph(struct opt_parser *p, void *values, const char *value,
				    bool negated)
{
	struct report_args *a = values;

	if (negated) {
		a->no_call_graph = true;
		a->graph.kind = REPORT_NO_GRAPH;
		return 0;
	}
	if (report_options_parse_graph(a, value ? value : "graph,0.5,caller"))
		return 0;
	return opt_error(p,
			 "-g takes graph, flat, fractal, folded or none, a percentage, a limit, "
			 "caller or callee, function, address or srcline, and percent, period or "
			 "count, not '%s'",
			 value);
}

static int report_options_invert(struct opt_parser *p, void *values, const char *value,
				 bool negated)
{
	struct report_args *a = values;

	a->callers_first = !negated;
	a->order_given = true;
	return 0;
}

/* ---- numbers and words ----------------------------------------------------------------------- */

static int report_options_set_children(struct opt_parser *p, void *values, const char *value,
				       bool negated)
{
	struct report_args *a = values;

	a->no_children = negated;
	a->children_given = true;
	return 0;
}

static int report_options_set_percent_limit(struct opt_parser *p, void *values, const char *value,
					    bool negated)
{
	struct report_args *a = values;
	char *end;
	double percent;

	if (negated)
		value = "0";
	percent = strtod(value, &end);
	if (end == value || (*end && strcmp(end, "%")) || !isfinite(percent))
		report_options_note(a, "--percent-limit needs a number of percents, not '%s'",
				    value);
	a->percent_limit = a->graph.min_percent = percent;
	a->percent_limit_given = true;
	return 0;
}

static int report_options_set_percentage(struct opt_parser *p, void *values, const char *value,
					 bool negated)
{
	struct report_args *a = values;

	if (negated || !strcmp(value, "absolute"))
		a->is_relative = false;
	else if (!strcmp(value, "relative"))
		a->is_relative = true;
	else
		return opt_error(p, "--percentage takes relative or absolute, not '%s'", value);
	return 0;
}

static int report_options_set_color(struct opt_parser *p, void *values, const char *value,
				    bool negated)
{
	struct report_args *a = values;

	if (negated)
		value = "never";
	if (value && strcmp(value, "always") && strcmp(value, "never") && strcmp(value, "auto"))
		report_options_note(a, "--stdio-color takes always, never or auto, not '%s'",
				    value);
	/*
	 * auto means no colours: perf prints to a terminal only through a pager, and gives a pager
	 * none.
	 */
	a->in_color = !value || !strcmp(value, "always");
	return 0;
}

/* Accepts "\t" for a tab, which is hard to type in a shell. */
static int report_options_set_separator(struct opt_parser *p, void *values, const char *value,
					bool negated)
{
	struct report_args *a = values;

	if (value && !strcmp(value, "\\t"))
		value = "\t";
	if (value && *value == '.')
		report_options_note(a, "-t: '.' stands for a separator inside a value");
	a->separator = value;
	return 0;
}

static int report_options_set_group(struct opt_parser *p, void *values, const char *value,
				    bool negated)
{
	struct report_args *a = values;

	a->group = !negated;
	a->no_group = negated;
	return 0;
}

static int report_options_set_skip_empty(struct opt_parser *p, void *values, const char *value,
					 bool negated)
{
	struct report_args *a = values;

	a->no_skip_empty = negated;
	return 0;
}

static int report_options_set_full_path(struct opt_parser *p, void *values, const char *value,
					bool negated)
{
	struct report_args *a = values;

	a->full_source_path = !negated;
	return report_options_set_line(p, values, "full-source-path", negated ? "0" : "1");
}

static int report_options_set_time_quantum(struct opt_parser *p, void *values, const char *value,
					   bool negated)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	struct report_args *a = values;
	char *end;
	const unsigned long long n = strtoull(negated ? "100" : value, &end, 0);

	if (negated) {
		a->time_quantum_ns = 0;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (n && n < UINT32_MAX && !strcmp(end, units[i].unit)) {
			a->time_quantum_ns = n * units[i].ns;
			return 0;
		}
	return opt_error(p, "--time-quantum needs a number with ns, us, ms or s, not '%s'", value);
}

static int report_options_set_weight(struct opt_parser *p, void *values, const char *value,
				     bool negated)
{
	struct report_args *a = values;

	if (value && (!*value || strpbrk(value, "\n,")))
		return opt_error(p, "--weight takes samples, period or one field, not '%s'", value);
	a->weight = value;
	return 0;
}

static int report_options_set_branches(struct opt_parser *p, void *values, const char *value,
				       bool negated)
{
	struct report_args *a = values;

	a->branch_stack = !negated;
	a->no_branch_stack = negated;
	return 0;
}

static int report_options_set_stitch(struct opt_parser *p, void *values, const char *value,
				     bool negated)
{
	struct report_args *a = values;

	a->stitch_lbr = !negated;
	return report_options_set_line(p, values, "stitch-lbr", negated ? "0" : "1");
}

static int report_options_set_socket(struct opt_parser *p, void *values, const char *value,
				     bool negated)
{
	struct report_args *a = values;

	if (!negated &&
	    (strspn(value, "0123456789") != strlen(value) || !*value || strlen(value) > 9))
		return opt_error(p, "--socket-filter needs the number of a socket, not '%s'",
				 value);
	a->socket = negated ? NULL : value;
	return 0;
}

/* perf takes any word; all but raw mean normal. */
static int report_options_set_pretty(struct opt_parser *p, void *values, const char *value,
				     bool negated)
{
	struct report_args *a = values;

	a->threads_raw = !negated && !strcmp(value, "raw");
	return 0;
}

static int report_options_disable_order(struct opt_parser *p, void *values, const char *value,
					bool negated)
{
	return report_options_set_line(p, values, "unsorted", negated ? "0" : "1");
}

static int report_options_set_format(struct opt_parser *p, void *values, const char *value,
				     bool negated)
{
	static const char *const known[] = { "text", "folded", "json", "csv" };
	struct report_args *a = values;

	a->format = NULL;
	for (size_t i = 0; !negated && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(value, known[i]))
			a->format = i ? known[i] : NULL;
	if (negated || a->format || !strcmp(value, known[0]))
		return 0;
	return opt_error(p, "--format takes text, folded, json or csv, not '%s'", value);
}

/* ---- accepted without an effect -------------------------------------------------------------- */

/* Two words in either order: local-period. */
static int report_options_set_percent_type(struct opt_parser *p, void *values, const char *value,
					   bool negated)
{
	static const char *const scopes[] = { "local", "global" }, *const units[] = { "period",
										      "hits" };
	char text[16];

	for (int i = 0; !negated && i < 8; i++) {
		const char *scope = scopes[i & 1], *unit = units[i >> 1 & 1];

		snprintf(text, sizeof(text), "%s-%s", i & 4 ? unit : scope, i & 4 ? scope : unit);
		if (!strcmp(text, value))
			return 0;
	}
	return negated ? 0
		       : opt_error(
				 p,
				 "--percent-type takes local-period, global-period, local-hits or "
				 "global-hits, not '%s'",
				 value);
}

static int report_options_set_itrace(struct opt_parser *p, void *values, const char *value,
				     bool negated)
{
	struct report_args *a = values;

	return recording_set_itrace(p, &a->rec.lines, value);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
const struct opt report_options[] = {
	OPT_GROUP("Input"),
	INPUT_OPTION,
	RECORDING_OPTIONS(struct report_args, rec),

	OPT_GROUP("Rows and columns"),
	OPT_TEXT('s', "sort", "KEYS", struct report_args, sort,
		 "makes a row for each combination of these keys: comm,pid,dso,sym,cpu,srcline ... "
		 "(KEYS in sonde-report(1) has all); "
		 "+KEY adds to the default, comm,dso,sym"),
	OPT_TEXT('F', "fields", "COLUMNS", struct report_args, fields,
		 "prints exactly these columns, keys or overhead,overhead_children,sample,period "
		 "...; +COLUMN adds one"),
	OPT_CALL('b', "branch-stack", NULL, report_options_set_branches, 0,
		 "makes a row for each branch of branch stacks, by source and target, which is "
		 "the default if there are such stacks; --no-branch-stack makes rows of samples"),
	OPT_FLAG(0, "mem-mode", struct report_args, mem_mode,
		 "makes rows of memory accesses (record -d), by weight, place of the data and "
		 "where it was found; it has keys of its own: mem,symbol_daddr,dso_daddr,snoop,"
		 "tlb,locked,blocked,dcacheline,phys_daddr ..."),
	OPT_FLAG(0, "branch-history", struct report_args, branch_history,
		 "puts the branches of branch stacks before the call chains of samples, with "
		 "predictions, cycles and iterations; rows are srcline,symbol,dso unless -s is "
		 "given"),
	OPT_FLAG(0, "total-cycles", struct report_args, total_cycles,
		 "prints blocks of code between branches and the cycles that they took, instead "
		 "of rows by keys"),
	OPT_FLAG('n', "show-nr-samples", struct report_args, show_samples,
		"prints a column with the number of samples"),
	OPT_FLAG(0, "show-total-period", struct report_args, show_period,
		"prints a column with the sum of periods"),
	OPT_FLAG(0, "show-cpu-utilization", struct report_args, show_cpu_utilization,
		 "prints columns with the shares of kernel and user code"),
	OPT_CALL(0, "percent-limit", "PERCENT", report_options_set_percent_limit, 0,
		 "leaves out rows and branches of call graphs below PERCENT"),
	OPT_FLAG(0, "hierarchy", struct report_args, hierarchy,
		 "prints the keys as levels of a tree, each with its share; {a,b} in -s makes one "
		 "level"),
	OPT_CALL(0, "time-quantum", "TIME", report_options_set_time_quantum, 0,
		 "rows of the key time are this long (10ms); default 100ms"),
	OPT_FLAG(0, "ns", struct report_args, ns, "prints nanoseconds in the key time"),
	OPT_CALL(0, "skip-empty", NULL, report_options_set_skip_empty, 0,
		"leaves out events without samples; the default"),
	OPT_CALL(0, "group", NULL, report_options_set_group, 0,
		 "prints all events in one table; --no-group prints the events of recorded groups "
		 "in tables of their own"),
	OPT_U64(0, "group-sort-idx", "N", struct report_args, group_sort,
		"sorts by event N of a group, from 0 on"),
	OPT_FLAG(0, "raw-trace", struct report_args, raw_trace,
		 "shows the fields of tracepoints as numbers, not as their print format does"),

	OPT_GROUP("Which samples"),
	TIME_OPTION("takes only samples"),
	CPU_OPTION("takes only samples"),
	WHERE_OPTION("takes only samples"),
	OPT_OUR_KEY(0, "pair", "START,STOP[,KEY[,STOPKEY]]", "pair",
		"makes an event of pairs, as sonde script --pair does, with tables of its own; "
		"--format folded --weight ns adds up times. May be given several times"),
	OPT_TEXT('c', "comms", "NAMES", struct report_args, comms,
		"shows only rows of threads with these names"),
	OPT_TEXT('d', "dsos", "FILES", struct report_args, dsos,
		"shows only rows of these programs and libraries"),
	OPT_TEXT('S', "symbols", "SYMBOLS", struct report_args, symbols,
		"shows only rows of these functions"),
	OPT_TEXT(0, "pid", "PIDS", struct report_args, pids, "shows only rows of these processes"),
	OPT_TEXT(0, "tid", "TIDS", struct report_args, tids, "shows only rows of these threads"),
	OPT_CALL(0, "percentage", "relative|absolute", report_options_set_percentage, 0,
		 "relative: percents are of the samples that -c, -d, -S, --pid and --tid choose; "
		 "absolute (the default): of all"),
	OPT_TEXT(0, "symbol-filter", "WORD", struct report_args, symbol_filter,
		 "shows only rows of functions with WORD in their name; a word without an option "
		 "means the same"),
	OPT_FLAG('U', "hide-unresolved", struct report_args, hide_unresolved,
		"leaves out samples and frames without a symbol"),
	OPT_CALL(0, "socket-filter", "N", report_options_set_socket, 0,
		 "shows only rows of samples on processor socket N"),
	OPT_FLAG('x', "exclude-other", struct report_args, exclude_other,
		 "shows only rows of samples with a caller that -p chooses"),
	SWITCH_OPTIONS("takes", "samples"),

	OPT_GROUP("Call graphs"),
	OPT_CALL('g', "call-graph", "SPEC", report_options_set_graph, OPT_VALUE_DEFAULT,
		 "prints below each row who called it, or with caller whom it called: words and "
		 "numbers of graph|flat|fractal|folded|none, "
		 "PERCENT (branches below are left out), LIMIT (of entries), caller|callee, "
		 "function|address|srcline, "
		 "percent|period|count. Default: graph,0.5,caller"),
	OPT_CALL('G', "inverted", NULL, report_options_invert, 0,
		"begins call graphs at the outermost caller"),
	OPT_CALL(0, "children", NULL, report_options_set_children, 0,
		 "adds to each function the samples of those that it called; the default for "
		 "recordings with call chains"),
	OPT_FLAG(0, "show-ref-call-graph", struct report_args, show_ref_graph,
		 "gives events that were recorded with call-graph=no the call chain that their "
		 "thread had in the last sample of another event"),
	OPT_TEXT('p', "parent", "REGEX", struct report_args, parent,
		"for the key parent: callers whose names match"),
	MAX_STACK_OPTION,
	OPT_TEXT(0, "ignore-callees", "REGEX", struct report_args, ignore_callees,
		"counts what functions with a matching name called as their own, without its "
		"frames"),
	OPT_CALL(0, "stitch-lbr", NULL, report_options_set_stitch, 0,
		 "for recordings with --call-graph lbr: continues a call stack with the callers "
		 "that the one before it had in the same branch registers"),
	INLINE_OPTION("shows"),

	OPT_GROUP("Symbols and source lines"),
	SYMBOL_FILE_OPTIONS,
	DEMANGLE_OPTION,
	DEMANGLE_KERNEL_OPTION,
	OPT_CALL(0, "full-source-path", NULL, report_options_set_full_path, 0,
		"prints source files with their folders"),

	OPT_GROUP("Output"),
	OPT_CALL(0, "disable-order", NULL, report_options_disable_order, 0,
		 "prints the records of -D in the order of the recording, not of their times"),
	OPT_FLAG(0, "header", struct report_args, header,
		"prints the header of the recording, then the tables"),
	OPT_FLAG(0, "header-only", struct report_args, header_only,
		"prints only the header of the recording"),
	OPT_KEY('I', "show-info", NULL, "header-info", "prints the complete header"),
	OPT_CALL(0, "format", "text|folded|json|csv", report_options_set_format, OPT_OURS,
		 "text: the default; folded: a line per call path, comm;outer;inner COUNT, for "
		 "programs that draw flame graphs; "
		 "json, csv: exact numbers, described in docs/formats/report.md"),
	OPT_CALL(0, "weight", "samples|period|FIELD", report_options_set_weight, OPT_OURS,
		"chooses the values that COUNT of --format folded adds up; default samples. "
		"FIELD: a number field of tracepoints, or weight, addr, phys_addr of samples"),
	OPT_FLAG(0, "stats", struct report_args, stats,
		"prints how many records of each type there are, instead of tables"),
	OPT_FLAG(0, "tasks", struct report_args, tasks,
		"prints the tree of tasks, instead of tables"),
	OPT_FLAG(0, "mmaps", struct report_args, mmaps,
		"prints the tree of tasks with their mappings, instead of tables"),
	OPT_FLAG('T', "threads", struct report_args, threads,
		 "prints, after the tables, the counts of each thread that ended, which "
		 "record -s records"),
	OPT_CALL(0, "pretty", "normal|raw", report_options_set_pretty, 0,
		 "raw: for -T, a line for each thread and event"),
	OPT_FLAG('D', "dump-raw-trace", struct report_args, dump,
		"prints each record as bytes and as text, instead of tables"),
	OPT_FLAG('q', "quiet", struct report_args, quiet, "prints only rows"),
	OPT_CALL('t', "field-separator", "SEPARATOR", report_options_set_separator, 0,
		 "puts SEPARATOR between columns; one inside a value is printed as '.'"),
	OPT_TEXT('w', "column-widths", "WIDTHS", struct report_args, widths,
		 "gives the columns these widths, from left to right; 0: as wide as needed"),
	OPT_CALL(0, "stdio-color", "MODE", report_options_set_color, OPT_VALUE_DEFAULT,
		 "colours percents: always (also without MODE), never or auto"),
	OPT_FLAG(0, "stdio", struct report_args, no_effect, "prints text, as always"),
	OPT_FLAG(0, "tui", struct report_args, no_effect, "prints text, too"),

	OPT_GROUP("Accepted as by perf, with no effect on this text"),
	OPT_CALL(0, "itrace", "OPTIONS", report_options_set_itrace, OPT_VALUE_OPTIONAL,
		 "how to decode a processor's trace. sonde does not decode such traces: it adds up "
		 "the other samples and a note"),
	OPT_FLAG(0, "ignore-vmlinux", struct report_args, no_effect,
		 "takes no kernel symbols from a kernel's file that -k does not name, as always"),
	OPT_FLAG('m', "modules", struct report_args, no_effect,
		"takes symbols of the kernel's modules, as always"),
	OPT_U64(0, "samples", "N", struct report_args, samples_kept,
		"keeps N samples of each row, for a view of single samples"),
	OPT_CALL(0, "percent-type", "TYPE", report_options_set_percent_type, 0,
		 "percents in annotated code: local-period, global-period, local-hits or "
		 "global-hits"),
	OPT_FLAG(0, "source", struct report_args, no_effect,
		"prints source lines in annotated code"),
	OPT_FLAG(0, "asm-raw", struct report_args, no_effect,
		"prints the bytes of instructions in annotated code"),
	OPT_TEXT('M', "disassembler-style", "STYLE", struct report_args, ignored,
		"the syntax of annotated code, as intel"),
	OPT_TEXT(0, "objdump", "PROGRAM", struct report_args, ignored,
		"the program that disassembles annotated code"),
	OPT_TEXT(0, "prefix", "DIR", struct report_args, prefix,
		"looks for the source files of annotated code below DIR"),
	OPT_TEXT(0, "prefix-strip", "N", struct report_args, prefix_strip,
		"first removes N folders from the names of source files; needs --prefix"),
	OPT_END,
};
/* clang-format on */
