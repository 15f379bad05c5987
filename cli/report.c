/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "report_blocks.h"
#include "report_branches.h"
#include "report_filters.h"
#include "report_folded.h"
#include "report_formats.h"
#include "report_frame.h"
#include "report_profile.h"
#include "report_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct perf_event_attr report_attr(const struct sonde_schema *sc)
{
	struct perf_event_attr attr = { 0 };
	size_t len;
	const void *recorded = sonde_schema_attr(sc, &len);

	if (recorded)
		memcpy(&attr, recorded, len < sizeof(attr) ? len : sizeof(attr));
	return attr;
}

static struct report_contents report_look(struct sonde_session *s)
{
	struct report_contents has = { .only_tracepoints = true };
	const size_t n = sonde_session_schemas(s);

	for (uint32_t i = 0; i < n; i++) {
		const struct sonde_schema *sc = sonde_session_schema(s, i);
		const enum sonde_schema_kind kind = sonde_schema_kind(sc);
		const uint64_t sampled = sonde_schema_sampled(sc);
		const struct perf_event_attr attr = report_attr(sc);

		if (kind != SONDE_TRACEPOINT && kind != SONDE_SAMPLE)
			continue;
		if (!has.nr_events++)
			has.first_event = i;
		has.chains |= sampled & PERF_SAMPLE_CALLCHAIN;
		has.branches |= sampled & PERF_SAMPLE_BRANCH_STACK;
		/* Kernels before 5.18 did not mark the samples of Arm SPE. */
		has.accesses |=
			sampled & PERF_SAMPLE_DATA_SRC || strstr(sonde_schema_name(sc), "arm_spe");
		has.call_stacks |= attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
		has.namespaces |= attr.namespaces;
		has.only_tracepoints &= kind == SONDE_TRACEPOINT;
	}
	has.only_tracepoints &= has.nr_events > 0;
	return has;
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Reports that the recording has nothing for an option, as perf does with --compat. */
static int report_fail(struct report *r, const char *perf_text, const char *text)
{
	const bool compat = cli_compat(r->cli);

	if (compat)
		fprintf(stderr, "Error:\n%s\n", perf_text);
	else
		cli_say("report: %s", text);
	r->status = compat ? CLI_OK : CLI_USAGE;
	return 1;
}

/* Rows are branches or accesses. perf adds no title to this error. */
static int report_fail_modes(struct report *r)
{
	if (!cli_compat(r->cli))
		return report_fail(r, "", "--mem-mode and -b exclude each other");
	fputs("branch and mem mode incompatible\n", stderr);
	r->status = CLI_OK;
	return 1;
}

/* Keys may be shortened: "sym" is symbol, so "smy" is near it. */
static bool report_is_near_beginning(const char *word, const char *name)
{
	struct sonde_nearest near = { .size = sizeof(near), .wanted = word };
	char begin[64];

	if (strlen(word) < 3)
		return false;
	snprintf(begin, sizeof(begin), "%.*s", (int)strlen(word), name);
	sonde_nearest_offer(&near, begin);
	return near.meant != NULL;
}

static int report_fail_key(struct report *r, const char *word, const char *of, bool other_mode)
{
	struct sonde_nearest near = { .size = sizeof(near), .wanted = word };
	const char *name, *begins = NULL;

	if (cli_compat(r->cli)) {
		fprintf(stderr, "Error:\n%s --%s key: `%s'\n", other_mode ? "Invalid" : "Unknown",
			of, word);
		r->status = CLI_OK;
		return 1;
	}
	r->status = CLI_USAGE;
	if (other_mode) {
		cli_say("report: the key '%s' is for other kinds of samples (-b, --mem-mode)",
			word);
		return 1;
	}
	for (size_t i = 0; (name = report_key_name(i)); i++) {
		sonde_nearest_offer(&near, name);
		if (!begins && report_is_near_beginning(word, name))
			begins = name;
	}
	if (!near.meant)
		near.meant = begins;
	cli_say("report: unknown key '%s' in --%s%s%s%s", word, of, near.meant ? " (nearest: " : "",
		near.meant ? near.meant : "", near.meant ? ")" : "");
	return 1;
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* -w: numbers, separated by commas. */
static int report_read_widths(struct report_run *run)
{
	const char *list = run->report->args->widths;
	size_t n = 1;

	if (!list)
		return 0;
	for (const char *c = list; *c; c++)
		n += *c == ',';
	run->view.fixed_widths = calloc(n, sizeof(*run->view.fixed_widths));
	if (!run->view.fixed_widths)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		char *end;
		const unsigned long width = strtoul(list, &end, 10);
		const bool is_wrong = end == list || (*end && *end != ',') || width > 10000;

		if (is_wrong && !cli_rules(run->report->cli)->report_takes_wrong_values)
			return report_fail(run->report, "",
					   "-w takes numbers, separated by commas");
		run->view.fixed_widths[run->view.nr_fixed_widths++] =
			width > 10000 ? 10000 : (unsigned int)width;
		if (*end != ',')
			break;
		list = end + 1;
	}
	return 0;
}

static bool report_event_is(const struct sonde_schema *sc, const char *event, size_t len)
{
	const char *name = sonde_schema_name(sc);

	if (sonde_schema_kind(sc) != SONDE_TRACEPOINT)
		return false;
	if (memchr(event, ':', len))
		return strlen(name) == len && !memcmp(name, event, len);
	return !len || memmem(name, strlen(name), event, len);
}

/* [EVENT.]FIELD[/raw], EVENT.* or trace_fields; for struct report_keys_want. */
static bool report_is_field(const void *ctx, const char *word)
{
	const struct report_run *run = ctx;
	const size_t n = sonde_session_schemas(run->session);
	const char *dot = strchr(word, '.'), *field = dot ? dot + 1 : word;
	char name[256];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(field, "/"), field);
	if (field[strcspn(field, "/")] && strcmp(strchr(field, '/'), "/raw"))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct sonde_schema *sc = sonde_session_schema(run->session, i);

		if (report_event_is(sc, word, dot ? (size_t)(dot - word) : 0) &&
		    (!strcmp(name, "*") || (!dot && !strcmp(name, "trace_fields")) ||
		     sonde_schema_field(sc, name)))
			return true;
	}
	return false;
}

#ifdef __powerpc__
static const bool perf_has_stages = true;
#else
static const bool perf_has_stages = false;
#endif

/* True if the recorded processor may measure the stages of its pipeline. */
static bool report_has_stages(const struct report_run *run)
{
	const char *arch = sonde_session_info(run->session, "arch");

	return !arch || !strncmp(arch, "ppc", 3);
}

static int report_make_layout(struct report_run *run)
{
	const struct report_args *a = run->report->args;
	const bool compat = cli_compat(run->report->cli);
	const struct report_keys_want want = {
		.sort = a->sort,
		.fields = a->fields,
		.default_sort = a->default_sort,
		.children = run->view.children,
		.show_samples = a->show_samples,
		.show_period = a->show_period,
		.show_cpu_utilization = a->show_cpu_utilization,
		.only_tracepoints = run->has.only_tracepoints,
		.has_parent_regex = a->parent != NULL,
		.mode = run->view.by_branch ? REPORT_BRANCH
			: a->mem_mode       ? REPORT_MEMORY
					    : REPORT_NORMAL,
		.raw_trace = a->raw_trace,
		.no_default_stages = !compat && !report_has_stages(run),
		.no_ipc = !compat && a->mem_mode,
		.no_stages = compat && !perf_has_stages,
		.ignores_all_fields = compat && !report_is_field(run, "*"),
		.is_field = report_is_field,
		.ctx = run,
	};
	const char *of;
	char *unknown;
	bool other_mode;
	int r = report_layout_make(&run->layout, &want, &unknown, &of, &other_mode);

	if (r == -EINVAL && unknown)
		r = report_fail_key(run->report, unknown, of, other_mode);
	free(unknown);
	return r;
}

/* Formats for programs print each event separately, and call trees only if -g requests them. */
static void report_decide_format(struct report_run *run)
{
	struct report_args *a = run->report->args;

	a->hierarchy = false;
	a->no_group = true;
	run->view.is_for_programs = true;
	if (strcmp(a->format, "folded")) {
		run->view.has_graphs &= a->graph_given;
		return;
	}
	run->view.children = run->view.by_branch = false;
	run->view.has_graphs = run->has.chains;
	a->callers_first = true;
	a->fields = NULL;
	a->sort = "comm,sym";
}

/* In a hierarchy perf hides all rows unless a level has the key that a filter is about. */
static bool report_lacks_level(const struct report_run *run)
{
	const struct report_args *a = run->report->args;
	const struct report_layout *l = &run->layout;

	if (!a->hierarchy)
		return false;
	return ((a->comms || a->pids || a->tids) && !report_layout_has(l, "comm") &&
		!report_layout_has(l, "pid")) ||
	       (a->dsos && !report_layout_has(l, "dso")) ||
	       (a->symbols && !report_layout_has(l, "symbol"));
}

/*
 * Rejects keys for which this recording, or any recording, has no values. perf prints a placeholder
 * for them.
 */
static int report_refuse_keys(struct report_run *run)
{
	const char *sort = run->report->args->sort;

	/* perf adds these keys itself, and refuses all that look like them. */
	if (sort && strstr(sort, "ipc"))
		return report_fail(run->report, "-s: a key 'ipc' is added, not chosen",
				   "-s: instructions per cycle are not a key; a key with the word "
				   "'symbol' adds their column");
	if (cli_compat(run->report->cli))
		return 0;
	if (report_layout_has(&run->layout, "socket") &&
	    !sonde_session_info(run->session, "cpu-sockets"))
		return report_fail(run->report, "",
				   "-s socket: the recording does not say which cpu is in which "
				   "socket");
	if (report_layout_has(&run->layout, "cgroup_id") && !run->has.namespaces)
		return report_fail(run->report, "",
				   "-s cgroup_id: the recording does not say in which namespaces "
				   "threads are (record --namespaces); -s cgroup prints the names "
				   "of control groups");
	return 0;
}

/* True if tracepoints of the schema have the number field; offers their other ones. */
static bool report_has_weight(const struct sonde_schema *sc, struct sonde_nearest *near)
{
	const struct sonde_field *fields;
	size_t n;

	if (sonde_schema_kind(sc) != SONDE_TRACEPOINT)
		return false;
	fields = sonde_schema_fields(sc, &n);
	for (size_t i = 0; i < n; i++) {
		const struct sonde_field *f = &fields[i];

		if (f->kind != SONDE_FIELD_INT)
			continue;
		if (!strcmp(f->name, near->wanted))
			return true;
		sonde_nearest_offer(near, f->name);
	}
	return false;
}

/* Rejects a --weight that no event of the recording has. */
static int report_refuse_weight(struct report_run *run)
{
	static const char *const values[] = { "samples", "period", "weight", "addr", "phys_addr" };
	const char *name = run->report->args->weight;
	struct sonde_nearest near = { .size = sizeof(near), .wanted = name };
	const size_t n = sonde_session_schemas(run->session);

	if (!report_weighs_field(run->report->args))
		return 0;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (!strcmp(values[i], name))
			return 0;
		sonde_nearest_offer(&near, values[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (report_has_weight(sonde_session_schema(run->session, i), &near))
			return 0;
	}
	cli_say("report: --weight %s: no event of the recording has a number field of this name"
		"%s%s%s",
		name, near.meant ? " (nearest: " : "", near.meant ? near.meant : "",
		near.meant ? ")" : "");
	run->report->status = CLI_USAGE;
	return 1;
}

/*
 * perf reads a pipe's event types too late to look at them, and does not look at them if the
 * default keys are those of tracepoints.
 */
static bool report_has_accesses(const struct report_run *run)
{
	const char *sort = run->report->args->sort;
	const bool has_default_keys = !sort || *sort == '+';

	if (run->has.accesses || !cli_compat(run->report->cli))
		return run->has.accesses;
	return report_is_pipe(run->session) || (run->has.only_tracepoints && has_default_keys);
}

/*
 * perf looks at the mark in the header, which a pipe does not have. Call stacks are call chains,
 * not branches.
 */
static bool report_defaults_to_branches(const struct report_run *run)
{
	return sonde_session_info(run->session, "branch-stacks") ||
	       !(cli_compat(run->report->cli) || run->has.call_stacks);
}

/* perf reads a pipe's event types too late to miss their call chains. */
static bool report_is_early_pipe(const struct report_run *run)
{
	return cli_compat(run->report->cli) && report_is_pipe(run->session);
}

/* perf does not look for branches if the default keys are those of tracepoints. */
static bool report_lacks_branches(const struct report_run *run)
{
	const struct report_args *a = run->report->args;
	const char *sort = a->sort;

	if (!a->branch_stack || run->has.branches)
		return false;
	return !cli_compat(run->report->cli) || !run->has.only_tracepoints ||
	       (sort && *sort != '+') || (a->fields && *a->fields != '+');
}

/* Call paths by address, with counts of branches if the recording is known to have some. */
static void report_decide_history(struct report_run *run)
{
	struct report_args *a = run->report->args;

	a->graph_key = REPORT_BY_ADDRESS;
	a->counts_branches = run->has.branches && report_defaults_to_branches(run);
	if (!a->sort)
		a->sort = "srcline,symbol,dso";
}

/* Returns 0, 1 after reporting what the recording does not have, or a negative errno. */
static int report_decide(struct report_run *run)
{
	const bool compat = cli_compat(run->report->cli);
	struct report_args *a = run->report->args;
	int r;

	run->has = report_look(run->session);
	a->counts_as_perf = cli_compat(run->report->cli);
	if (!a->order_given)
		a->callers_first = !a->no_children;
	run->view.by_branch = run->has.branches && !a->no_branch_stack && !a->branch_history &&
			      (a->branch_stack || report_defaults_to_branches(run));
	if (a->mem_mode && (a->branch_stack || (run->view.by_branch && compat)))
		return report_fail_modes(run->report);
	run->view.by_branch &= !a->mem_mode;
	run->view.by_history =
		run->has.branches && !run->view.by_branch && (a->branch_history || a->graph_branch);
	run->view.by_block = a->total_cycles && run->view.by_branch && !a->format;
	if (run->view.by_block)
		a->sort = "sym";
	if (a->branch_history)
		report_decide_history(run);
	run->view.children = !run->view.by_branch && run->has.chains && !a->no_children &&
			     !a->no_call_graph && !a->hierarchy && !a->mem_mode &&
			     !report_has_no_callers(run);
	run->view.has_graphs = !run->view.by_branch && (run->has.chains || a->counts_branches) &&
			       a->graph.kind != REPORT_NO_GRAPH;
	if (a->format)
		report_decide_format(run);
	run->view.nr_events = run->has.nr_events;
	run->view.first_event = run->has.first_event;
	run->view.min_percent = a->percent_limit;
	run->view.verbose = run->report->cli->verbose > 0 && !run->report->args->quiet;
	run->view.as_perf = cli_compat(run->report->cli) != 0;
	run->view.filters_first = cli_rules(run->report->cli)->report_filters_first_event;
	if (a->hierarchy && a->fields)
		return report_fail(run->report,
				   "--hierarchy and --fields options cannot be used together",
				   "--hierarchy and -F exclude each other");
	r = report_read_widths(run);
	if (!r)
		r = report_make_layout(run);
	run->view.hides_rows = run->view.as_perf && report_lacks_level(run);
	run->view.filters_none = run->view.as_perf && !report_layout_has(&run->layout, "comm") &&
				 !report_layout_has(&run->layout, "srcline") &&
				 !report_layout_has(&run->layout, "srcfile");
	if (!r)
		r = report_refuse_keys(run);
	if (!r)
		r = report_refuse_weight(run);
	return r;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* perf adds up all LOST_SAMPLES records, also those of an event without samples (dummy). */
static uint64_t report_lost_samples(const struct report *r, struct sonde_session *s)
{
	const char *recorded = sonde_session_info(s, "lost-samples");
	const struct sonde_defect *d;

	if (cli_compat(r->cli))
		return recorded ? strtoull(recorded, NULL, 10) : 0;
	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++)
		if (!strcmp(d->name, "lost-events"))
			return d->count;
	return 0;
}

/* Prints the number of samples without a symbol, and the reasons. */
static void report_put_unresolved(FILE *out, const struct sonde_profile_facts *facts)
{
	const uint64_t n = facts->unresolved_samples;
	const char *before = ": ";

	if (!n)
		return;
	fprintf(out, "# %.2f%% of the samples have no symbol",
		100.0 * (double)n / (double)facts->samples);
	for (uint32_t i = 0; i < sizeof(facts->unresolved_by_reason) / sizeof(uint64_t); i++) {
		if (!facts->unresolved_by_reason[i])
			continue;
		fprintf(out, "%s%.2f%% %s", before,
			100.0 * (double)facts->unresolved_by_reason[i] / (double)facts->samples,
			sonde_unknown_text(i));
		before = ", ";
	}
	fputs("\n#\n", out);
}

static void report_put_truncated(FILE *out, const struct sonde_profile_facts *facts)
{
	if (facts->truncated_chains)
		fprintf(out, "# %.2f%% of the samples have a call chain that is not complete\n#\n",
			100.0 * (double)facts->truncated_chains / (double)facts->samples);
}

static void report_put_threads(struct report_run *run)
{
	const struct report *report = run->report;

	if (report->args->threads_raw)
		report_threads_print_raw(stdout, run->view.profile, run->session,
					 cli_compat(report->cli));
	else
		report_threads_print(stdout, run->view.profile);
}

/* Prints the types of branches; perf does so even with -q. */
static void report_print_branch_types(struct report_run *run)
{
	struct sonde_profile_branches types = { .size = sizeof(types) };
	const bool is_perfs = cli_compat(run->report->cli);

	if (!run->view.by_branch || (run->report->args->quiet && !is_perfs) ||
	    sonde_profile_branch_types(run->view.profile, &types) != 1)
		return;
	if (report_branches_put_types(stdout, &types) && !is_perfs)
		fputc('\n', stdout);
}

/* What is below the tables. */
static int report_print_end(struct report_run *run, const struct sonde_profile_facts *facts)
{
	if (!run->report->args->quiet && cli_compat(run->report->cli)) {
		report_frame_tip(stdout);
	} else if (!run->report->args->quiet) {
		report_put_unresolved(stdout, facts);
		report_put_truncated(stdout, facts);
	}
	if (run->report->args->threads)
		report_put_threads(run);
	report_print_branch_types(run);
	return 0;
}

static int report_print_format(struct report_run *run, uint32_t nr_tables)
{
	const char *format = run->report->args->format;

	if (!strcmp(format, "json"))
		return report_formats_json(stdout, &run->view, nr_tables);
	if (!strcmp(format, "csv"))
		return report_formats_csv(stdout, &run->view, nr_tables);
	return report_folded(stdout, run->view.profile, run->report->args->weight);
}

/*
 * perf then has no rows, and takes that for a recording without samples. It makes the levels of a
 * hierarchy before it knows a pipe's events.
 */
static bool report_has_no_levels(const struct report_run *run)
{
	bool has_keys = false;

	for (size_t i = 0; i < run->layout.sort.n; i++)
		has_keys |= !run->layout.sort.v[i].key ||
			    run->layout.sort.v[i].key->kind != REPORT_KEY_NUMBER;
	return cli_compat(run->report->cli) && run->report->args->hierarchy &&
	       (!has_keys || report_is_pipe(run->session));
}

static int report_print_tables(struct report_run *run)
{
	struct report *report = run->report;
	struct sonde_profile_facts facts = { .size = sizeof(facts) };
	char *input;
	int r = sonde_profile_facts(run->view.profile, &facts);

	if (r < 0)
		return r;
	r = 0;
	if (!facts.samples || report_has_no_levels(run)) {
		char text[512];

		input = lines_given(&report->args->rec.lines, "input");
		snprintf(text, sizeof(text), "The %s data has no samples!",
			 input ? input : "perf.data");
		free(input);
		fflush(stdout);
		if (cli_compat(report->cli))
			report_fail(report, text, "");
		else
			report_filters_say_none(report->args);
		return 0;
	}
	if (!cli_compat(report->cli))
		report_filters_say(&run->view, facts.nr_tables);
	if (report->args->format)
		return report_print_format(run, facts.nr_tables);
	report_frame_facts(stdout, &run->view, report_lost_samples(report, run->session));
	for (uint32_t i = 0; i < facts.nr_tables && !r; i++) {
		if (!report_frame_event(stdout, &run->view, i))
			continue;
		if (run->view.by_block) {
			r = report_blocks_print(stdout, &run->view, i);
			continue;
		}
		r = report_view_print(stdout, &run->view, i);
		fputs("\n\n", stdout);
	}
	return r ? r : report_print_end(run, &facts);
}

/* perf fails at a copied stack that it unwinds and of which it may keep no frame. */
static bool report_keeps_no_frames(const struct report_run *run)
{
	char *frames = lines_given(&run->report->args->rec.lines, "max-stack");
	const bool none = frames && !strcmp(frames, "0");
	const struct sonde_defect *d;

	free(frames);
	if (!none || !cli_compat(run->report->cli))
		return false;
	for (size_t i = 0; (d = sonde_session_defect(run->session, i)); i++)
		if (!strcmp(d->name, "not-unwound"))
			return run->view.children || run->view.has_graphs;
	return false;
}

int report_print(struct sonde_session *s, void *ctx)
{
	struct report_run run = { .report = ctx, .session = s };
	struct report_args *a = run.report->args;
	int r = sonde_session_fill(s);

	run.view.args = a;
	run.view.layout = &run.layout;
	run.view.session = s;
	if (r >= 0)
		r = report_decide(&run);
	if (!r) {
		if (!a->format) {
			report_frame_begin(stdout, a);
			report_frame_elided(stdout, &run.view);
		}
		if (report_lacks_branches(&run))
			r = report_fail(run.report,
					"Selected -b but no branch data. Did you call perf record "
					"without -b?",
					"-b: the recording has no branch stacks");
		else if (a->total_cycles && !run.has.branches && !cli_compat(run.report->cli))
			r = report_fail(run.report, "",
					"--total-cycles: the recording has no branch stacks");
		else if (a->separator && *a->separator == '.')
			r = report_fail(run.report,
					"'.' is the only non valid --field-separator argument", "");
		else if (!run.has.chains && report_layout_has(&run.layout, "parent"))
			r = report_fail(
				run.report,
				"Selected --sort parent, but no callchain data. Did you call "
				"'perf record' without -g?",
				"-s parent: the recording has no call chains");
		else if (!run.has.chains && !a->counts_branches && !report_is_early_pipe(&run) &&
			 (a->branch_history ||
			  (a->graph_given && a->graph.kind != REPORT_NO_GRAPH)))
			r = report_fail(run.report,
					"Selected -g or --branch-history.\nBut no callchain or "
					"branch data.\n"
					"Did you call 'perf record' without -g or -b?",
					a->branch_history
						? "--branch-history: the recording has neither "
						  "branch stacks nor call chains"
						: "-g: the recording has no call chains");
	}
	if (!r && a->mem_mode && !report_has_accesses(&run))
		r = report_fail(run.report,
				"Selected --mem-mode but no mem data. Did you call perf record "
				"without -d?",
				"--mem-mode: the recording does not say where data was found; "
				"sonde record -d records it");
	if (!r)
		r = report_make_profile(&run);
	if (!r && report_keeps_no_frames(&run))
		r = report_fail(run.report, "failed to process sample", "");
	if (!r)
		r = report_print_tables(&run);
	sonde_profile_free(run.view.profile);
	report_layout_done(&run.layout);
	free(run.view.fixed_widths);
	if (fflush(stdout) && r >= 0)
		r = -errno;
	return r > 0 ? 0 : r;
}
