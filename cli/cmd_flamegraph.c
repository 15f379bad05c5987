/* SPDX-License-Identifier: MIT */
/* sonde flamegraph: the call chains of a recording as a picture in one file. */
#include "cli.h"

#include "flame_draw.h"
#include "flame_fill.h"
#include "pages.h"
#include "recording.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
	const char *output, *by, *title, *min;
	bool inverted;
};

struct flamegraph {
	const struct cli *cli;
	const struct args *a;
	struct flames fs;
	double min;
	char *title; /* owned */
	int status;
};

/* Frames that are narrower than a tenth of a pixel are left out of SVG. */
static const double svg_min = 0.01;

static bool flamegraph_is_svg(const char *output)
{
	const size_t len = strlen(output);

	return len > 4 && !strcmp(output + len - 4, ".svg");
}

/* Keys of a profile, or "none". Returns 0, or a status after reporting what is wrong. */
static int flamegraph_set_by(const struct cli *cli, struct flames *fs, const char *by)
{
	struct sonde_profile *p;
	char *text = NULL;
	int r;

	fs->by = strcmp(by, "none") ? by : "";
	if (!*fs->by)
		return CLI_OK;
	r = asprintf(&text, "keys=%s\n", by) < 0 ? -ENOMEM : sonde_profile_new(&p, text, "--by");
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
		return cli_usage(cli, "flamegraph: --min takes a percentage, as 0.5, not '%s'", text);
	return CLI_OK;
}

static int flamegraph_title(struct flamegraph *g, struct sonde_session *s)
{
	const char *line = sonde_session_info(s, "cmdline");
	char *input = lines_given(&g->a->rec.lines, "input");
	int r = 0;

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

static int flamegraph_write(struct flamegraph *g)
{
	const bool is_svg = flamegraph_is_svg(g->a->output);
	const struct flame_picture picture = { g->title, g->a->inverted, g->fs.graphs, g->fs.nr };

	if (!g->fs.nr) {
		cli_say("the recording has no samples to draw: nothing is written");
		g->status = CLI_FAILED;
		return 0;
	}
	for (size_t i = 0; i < g->fs.nr; i++) {
		if (flame_finish(g->fs.graphs[i], g->min) < 0)
			return -ENOMEM;
		if (g->fs.graphs[i]->saturated)
			cli_say("sums of %s are too large and cut", g->fs.graphs[i]->event);
	}
	if (is_svg && g->fs.nr > 1)
		cli_say("the picture has only %s of %zu events: choose one with -e, or write .html",
			g->fs.graphs[0]->event, g->fs.nr);
	if (page_write(g->a->output, is_svg ? flame_put_svg : flame_put_html, &picture) < 0)
		g->status = CLI_FAILED;
	return 0;
}

static int flamegraph_work(struct sonde_session *s, void *ctx)
{
	struct flamegraph *g = ctx;
	int r = flamegraph_title(g, s);

	if (r >= 0)
		r = flames_fill_samples(&g->fs, s, FLAME_NOW);
	return r < 0 ? r : flamegraph_write(g);
}

static int flamegraph_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	struct flamegraph g = { .cli = cli, .a = a };
	int status = recording_operand(cli, "flamegraph", &a->rec, argc, argv);

	g.min = flamegraph_is_svg(a->output) ? svg_min : 0;
	if (!status)
		status = flamegraph_set_by(cli, &g.fs, a->by);
	if (!status && a->min)
		status = flamegraph_set_min(cli, a->min, &g.min);
	a->rec.output = a->output;
	if (!status)
		status = recording_run(cli, &a->rec, "", flamegraph_work, &g);
	if (!status && g.status)
		status = cli_status(cli, (enum cli_exit)g.status);
	flames_done(&g.fs);
	free(g.title);
	return status;
}

static const struct args defaults = { .output = "flamegraph.html", .by = "comm" };

/* clang-format off */
static const struct opt options[] = {
	OPT_KEY('i', "input", "FILE", "input", "reads FILE; default perf.data, '-': the standard input"),
	OPT_TEXT('o', "output", "FILE", struct args, output,
		"writes FILE, a page that zooms and searches, or a picture if FILE ends in .svg; default flamegraph.html, "
		"'-': the standard output"),
	OPT_TEXT(0, "by", "comm|pid|tid|cpu|none|KEYS", struct args, by,
		"makes a tower for each comm, pid, tid or cpu, or for each combination (comm,tid); default comm"),
	OPT_TEXT(0, "title", "TEXT", struct args, title, "names the picture; default: the recording and its command"),
	OPT_FLAG(0, "inverted", struct args, inverted, "draws callees below their callers: an icicle, not a flame"),
	OPT_TEXT(0, "min", "PERCENT", struct args, min,
		"draws frames with less than PERCENT of all as one for each caller; default 0, for .svg 0.01"),
	OPT_GROUP("Samples"),
	OPT_KEY('e', "event", "EVENTS", "event", "takes only samples of these events"),
	OPT_KEY(0, "time", "FROM,TO", "time", "takes only samples of this time, as sonde script --time does"),
	OPT_KEY('C', "cpu", "CPUS", "cpu", "takes only samples of these cpus, as 0,2-3"),
	OPT_KEY(0, "pid", "PIDS", "pid", "takes only samples of these processes"),
	OPT_KEY(0, "tid", "TIDS", "tid", "takes only samples of these threads"),
	OPT_KEY('c', "comms", "NAMES", "comm", "takes only samples of threads with these names"),
	OPT_KEY('S', "symbols", "SYMBOLS", "symbols", "takes only samples in these functions"),
	OPT_KEY(0, "dsos", "FILES", "dsos", "takes only samples in these files"),
	OPT_GROUP("Call chains"),
	OPT_NUMBER_KEY(0, "max-stack", "FRAMES", "max-stack", "takes at most FRAMES frames of a call chain"),
	OPT_KEY(0, "inline", NULL, "inline", "shows inlined functions; the default"),
	OPT_KEY(0, "symfs", "DIR", "symfs", "looks below DIR for the files that the recording names"),
	OPT_KEY(0, "kallsyms", "FILE", "kallsyms", "takes kernel symbols from FILE"),
	OPT_KEY('k', "vmlinux", "FILE", "vmlinux", "takes kernel symbols from the kernel's FILE"),
	OPT_KEY(0, "demangle", NULL, "demangle", "prints names of C++ and Rust as they were written; the default"),
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
		    "  sonde flamegraph --by comm,tid --min 0.1 -o flame.svg\n"
		    "  sonde flamegraph --inverted -e cycles --time 10%-20% perf.data\n",
	RECORDING_COMMAND(struct args),
	.run = flamegraph_run,
};
