/* SPDX-License-Identifier: MIT */
/* sonde flamegraph: the call chains of a recording as a picture in one file. */
#include "cli.h"

#include "flame_draw.h"
#include "flame_fill.h"
#include "flame_waits.h"
#include "pages.h"
#include "recording.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
	const char *output, *by, *title, *min, *base;
	bool inverted, off_cpu, wall;
};

struct flamegraph {
	const struct cli *cli;
	const struct args *a;
	struct lines lines, base_lines; /* lines of the two sessions */
	struct flames fs;
	double min;
	char *title; /* owned */
	int status;
	bool is_usage; /* --by names no key and no field of the recording */
};

/* Percentage of the total below which SVG omits a frame: about a tenth of a pixel. */
static const double svg_min = 0.01;

/* Checks that --by lists keys of a profile. Returns 0, or a status after reporting the error. */
static int flamegraph_check_by(const struct cli *cli, const char *by)
{
	struct sonde_profile *p;
	char *text;
	int r;

	if (!*by)
		return CLI_OK;
	if (asprintf(&text, "keys=%s\n", by) < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	r = sonde_profile_new(&p, text, "--by");
	free(text);
	if (r < 0)
		return r == -EINVAL && cli_fail(cli) ? CLI_USAGE : cli_fail(cli);
	sonde_profile_free(p);
	return CLI_OK;
}

static int flamegraph_set_min(const struct cli *cli, const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	if (end == text || (*end && strcmp(end, "%")) || !isfinite(*ret) || *ret < 0 || *ret > 100)
		return cli_usage(cli, "flamegraph: --min takes a percentage, as 0.5, not '%s'",
				 text);
	return CLI_OK;
}

/* Stores the value of a key on the command line in *ret; NULL if it is not given. */
static int flamegraph_given(const struct flamegraph *g, const char *key, char **ret)
{
	*ret = lines_given(&g->a->rec.lines, key);
	return *ret || !lines_count(&g->a->rec.lines, key) ? 0 : -ENOMEM;
}

static int flamegraph_title(struct flamegraph *g, struct sonde_session *s)
{
	const char *line = sonde_session_info(s, "cmdline");
	char *input;
	int r = flamegraph_given(g, "input", &input);

	if (r < 0)
		return r;
	if (g->a->title)
		g->title = strdup(g->a->title);
	else if (asprintf(&g->title, "%s%s%s", input ? input : "perf.data", line ? ": " : "",
			  line ? line : "") < 0)
		g->title = NULL;
	if (!g->title)
		r = -ENOMEM;
	free(input);
	return r;
}

static bool flamegraph_waits(const struct args *a)
{
	return a->off_cpu || a->wall;
}

static bool flamegraph_is_empty(const struct flame *f)
{
	for (int side = 0; side < FLAME_SIDES; side++) {
		const struct flame_sums total = flame_total(f, 0, (enum flame_side)side);

		if (total.weight || total.count)
			return false;
	}
	return true;
}

/* Finishes the graphs, and drops those without anything to draw: waits of which no end is known. */
static int flamegraph_finish(struct flamegraph *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->fs.nr; i++) {
		struct flame *f = g->fs.graphs[i];

		if (flame_finish(f, g->min) < 0)
			return -ENOMEM;
		if (f->saturated)
			cli_say("sums of %s do not fit into 64 bits: the largest number "
				"replaces them",
				f->event);
		g->fs.graphs[i] = NULL;
		if (flamegraph_is_empty(f))
			flame_free(f);
		else
			g->fs.graphs[n++] = f;
	}
	g->fs.nr = n;
	return 0;
}

static int flamegraph_write(struct flamegraph *g)
{
	const bool is_svg = page_is_svg(g->a->output);
	struct flame_picture picture = { g->title, g->a->inverted, g->fs.graphs, g->fs.nr };

	if (flamegraph_finish(g) < 0)
		return -ENOMEM;
	if (!g->fs.nr) {
		cli_say("the recording has no %s to draw: nothing is written",
			flamegraph_waits(g->a) ? "time between switches" : "samples");
		g->status = CLI_FAILED;
		return 0;
	}
	picture.nr = g->fs.nr;
	if (is_svg && g->fs.nr > 1)
		cli_say("the picture has only %s of %zu events: choose one with -e, or write .html",
			g->fs.graphs[0]->event, g->fs.nr);
	if (page_write(g->a->output, is_svg ? flame_put_svg : flame_put_html, &picture) < 0)
		g->status = CLI_FAILED;
	return 0;
}

/* ---- the sessions ---------------------------------------------------------------------------- */

/* Waits need the events of all threads, so these keys choose threads after reading. */
static const char *const task_keys[] = { "pid", "tid", "comm" };

static int flamegraph_fill_waits(struct flamegraph *g, struct sonde_session *s,
				 enum flame_side side)
{
	char *lists[sizeof(task_keys) / sizeof(*task_keys)] = { NULL };
	const size_t nr = sizeof(lists) / sizeof(*lists);
	struct flame_switches switches = { 0 };
	int r = 0;

	for (size_t i = 0; i < nr && r >= 0; i++)
		r = flamegraph_given(g, task_keys[i], &lists[i]);
	if (r >= 0)
		r = flames_fill_waits(&g->fs, s, side, g->a->wall ? FLAME_WALL : FLAME_OFF_CPU,
				      &(struct flame_tasks){ lists[0], lists[1], lists[2] },
				      &switches);
	for (size_t i = 0; i < nr; i++)
		free(lists[i]);
	if (r >= 0 && switches.missing)
		cli_say("%" PRIu64 " switches are missing, and the time before each is not shown: "
			"they were lost or not recorded (record all cpus with -a; do not use -F or "
			"-c, which drop tracepoints, too: set the frequency of one event as in "
			"cpu-clock/freq=999/)",
			switches.missing);
	if (r < 0 || switches.seen)
		return r;
	cli_say("the recording has no sched:sched_switch, which --%s needs; record: sonde record "
		"-a -g -e sched:sched_switch,sched:sched_waking -- COMMAND",
		g->a->wall ? "wall" : "off-cpu");
	g->status = CLI_FAILED;
	return 0;
}

static int flamegraph_fill(struct flamegraph *g, struct sonde_session *s, enum flame_side side)
{
	int r;

	if (flamegraph_waits(g->a))
		return flamegraph_fill_waits(g, s, side);
	r = flames_fill_samples(&g->fs, s, side);
	g->is_usage = r == -EINVAL;
	return r;
}

/* Adds the recording to compare with. Its closing line names it. */
static int flamegraph_fill_base(struct flamegraph *g)
{
	char *text = recording_text(g->cli, &g->base_lines, "");
	struct sonde_session *s;
	const char *line;
	int r = text ? sonde_session_open(&s, text, "the command line") : -ENOMEM;

	free(text);
	if (r < 0)
		return r;
	r = flamegraph_fill(g, s, FLAME_BASE);
	line = sonde_session_defects_line(s);
	if (*line)
		cli_say("%s: %s", g->a->base, line);
	sonde_session_close(s);
	for (size_t i = 0; i < g->fs.nr; i++)
		g->fs.graphs[i]->compared = true;
	return r;
}

static int flamegraph_draw(struct flamegraph *g, struct sonde_session *s)
{
	int r = flamegraph_title(g, s);

	if (r >= 0)
		r = flamegraph_fill(g, s, FLAME_NOW);
	if (r >= 0 && g->a->base && !g->status)
		r = flamegraph_fill_base(g);
	return r < 0 || g->status ? r : flamegraph_write(g);
}

/* If memory is missing here, the library's chain of causes may be about another failure. */
static int flamegraph_work(struct sonde_session *s, void *ctx)
{
	struct flamegraph *g = ctx;
	const int r = flamegraph_draw(g, s);

	if (r != -ENOMEM)
		return r;
	cli_say("out of memory");
	g->status = CLI_FAILED;
	return 0;
}

/* ---- the command line ------------------------------------------------------------------------ */

static int flamegraph_copy(const struct lines *from, struct lines *to)
{
	if (!from->text)
		return 0;
	to->text = strdup(from->text);
	to->len = from->len;
	return to->text ? 0 : -ENOMEM;
}

/* Makes the lines of both sessions: of the recording, and of the one that it is compared with. */
static int flamegraph_lines(struct flamegraph *g, struct args *a)
{
	struct opt_parser p = { 0 };
	const size_t keys = flamegraph_waits(a) ? sizeof(task_keys) / sizeof(*task_keys) : 0;

	if (flamegraph_copy(&a->rec.lines, &g->lines) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < keys; i++) {
		if (lines_set(&g->lines, &p, task_keys[i], task_keys[i], NULL))
			return -ENOMEM;
	}
	if (flamegraph_copy(&g->lines, &g->base_lines) < 0)
		return -ENOMEM;
	if (!a->base)
		return 0;
	if (lines_set(&g->base_lines, &p, "diff", "input", NULL) ||
	    lines_set(&g->base_lines, &p, "diff", "input", a->base))
		return -ENOMEM;
	return 0;
}

/* Rejects options that waits do not support, because they need the events of all threads. */
static int flamegraph_check_waits(const struct cli *cli, const struct args *a)
{
	static const struct {
		const char *key, *option;
	} keys[] = { { "event", "-e" },
		     { "cpu", "--cpu" },
		     { "symbols", "--symbols" },
		     { "dsos", "--dsos" } };

	if (!flamegraph_waits(a))
		return CLI_OK;
	if (a->off_cpu && a->wall)
		return cli_usage(cli, "flamegraph: --off-cpu or --wall, not both");
	if (strcmp(a->by, "none") && !flame_waits_can_group(a->by))
		return cli_usage(
			cli, "flamegraph: --by %s: with --%s only comm, pid and cpu are possible",
			a->by, a->wall ? "wall" : "off-cpu");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (lines_count(&a->rec.lines, keys[i].key))
			return cli_usage(cli,
					 "flamegraph: --%s needs the events of all threads on "
					 "all cpus, not %s",
					 a->wall ? "wall" : "off-cpu", keys[i].option);
	}
	return CLI_OK;
}

static int flamegraph_read(struct cli *cli, struct flamegraph *g, struct args *a)
{
	struct reading_options rec = a->rec;
	struct lines all = { 0 };
	struct opt_parser p = { 0 };
	int status = CLI_OK;

	if (flamegraph_lines(g, a) < 0 || flamegraph_copy(&g->lines, &all) < 0 ||
	    (a->base && !lines_count(&all, "input") &&
	     lines_set(&all, &p, "input", "input", "perf.data")) ||
	    (a->base && lines_set(&all, &p, "diff", "input", a->base))) {
		cli_say("out of memory");
		status = cli_status(cli, CLI_FAILED);
	}
	rec.lines = g->lines;
	rec.to_read = &all;
	rec.output = strcmp(a->output, "-") ? a->output : NULL;
	if (!status)
		status = recording_run(cli, &rec, RECORDING_SMALL_WINDOWS, flamegraph_work, g);
	g->lines = rec.lines;
	if (g->is_usage)
		status = cli_status(cli, CLI_USAGE);
	else if (!status && g->status)
		status = cli_status(cli, (enum cli_exit)g->status);
	lines_done(&all);
	lines_done(&g->lines);
	lines_done(&g->base_lines);
	return status;
}

static int flamegraph_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	struct flamegraph g = { .cli = cli, .a = a };
	int status = recording_operand(cli, "flamegraph", &a->rec, argc, argv);

	g.min = page_is_svg(a->output) ? svg_min : 0;
	g.fs.by = strcmp(a->by, "none") ? a->by : "";
	if (!status && !flamegraph_waits(a))
		status = flamegraph_check_by(cli, g.fs.by);
	if (!status && a->min)
		status = flamegraph_set_min(cli, a->min, &g.min);
	if (!status)
		status = flamegraph_check_waits(cli, a);
	if (!status)
		status = flamegraph_read(cli, &g, a);
	flames_done(&g.fs);
	free(g.title);
	return status;
}

static const struct args defaults = { .output = "flamegraph.html", .by = "comm" };

/* clang-format off */
static const struct opt options[] = {
	INPUT_OPTION,
	OPT_TEXT('o', "output", "FILE", struct args, output,
		"writes FILE, a page that zooms and searches, or a picture if FILE ends in .svg; "
		"default flamegraph.html, "
		"'-': the standard output"),
	OPT_TEXT(0, "by", "comm|pid|cpu|dso|none|KEYS", struct args, by,
		"makes a tower for each value of a key of sonde report (comm, cpu, pid: a thread) "
		"or of a field, or for each "
		"combination (comm,cpu); default comm"),
	OPT_TEXT(0, "title", "TEXT", struct args, title,
		"names the picture; default: the recording and its command"),
	OPT_FLAG(0, "inverted", struct args, inverted,
		"draws callees below their callers: an icicle, not a flame"),
	OPT_TEXT(0, "min", "PERCENT", struct args, min,
		"draws frames with less than PERCENT of all as one for each caller; default 0, for "
		".svg 0.01"),
	OPT_TEXT(0, "diff", "BASE", struct args, base,
		"compares with the recording BASE: red frames have a larger share than there, blue "
		"ones a smaller one"),
	OPT_GROUP("Waits"),
	OPT_FLAG(0, "off-cpu", struct args, off_cpu,
		"draws the time between switching out and in, by the stack that waits, and who "
		"woke it; needs "
		"sched:sched_switch of all cpus, and sched:sched_waking"),
	OPT_FLAG(0, "wall", struct args, wall,
		"draws all time of the threads, on a cpu, runnable and off; samples say what runs "
		"on the cpu"),
	OPT_GROUP("Samples"),
	OPT_KEY('e', "event", "EVENTS", "event", "takes only samples of these events"),
	CHOICE_OPTIONS("takes only samples"),
	OPT_KEY('S', "symbols", "SYMBOLS", "symbols", "takes only samples in these functions"),
	OPT_KEY(0, "dsos", "FILES", "dsos", "takes only samples in these files"),
	OPT_GROUP("Call chains"),
	MAX_STACK_OPTION,
	INLINE_OPTION("shows"),
	SYMBOL_FILE_OPTIONS,
	DEMANGLE_OPTION,
	OPT_GROUP("The recording"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "flamegraph [OPTIONS] [FILE]", NULL };

const struct command cmd_flamegraph = {
	.name = "flamegraph",
	.summary = "draws the call chains of a recording as a flame graph, in one file",
	.usage = usage,
	.options = options,
	.defaults = &defaults,
	.examples = "  sonde record -g -- app && sonde flamegraph\n"
		    "  sonde flamegraph --by comm,pid --min 0.1 -o flame.svg\n"
		    "  sonde flamegraph --diff perf.data.old\n"
		    "  sonde flamegraph --inverted -e cycles --time 10%-20% perf.data\n",
	RECORDING_COMMAND(struct args),
	.run = flamegraph_run,
};
