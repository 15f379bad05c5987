/* SPDX-License-Identifier: MIT */
/* sonde check: reports what may make results of a recording wrong although it is readable. */
#include "cli.h"

#include "as_perf.h"
#include "other_perf.h"
#include "checks.h"
#include "json.h"
#include "output_format.h"
#include "recording.h"

#include <sonde/sonde.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
	const char *limits[NR_CHECKS];
	bool quiet;
	struct output_format format;
};

static int check_parse_limits(const struct cli *cli, const struct args *a, struct checks *c)
{
	static const char *const options[NR_CHECKS] = {
		[CHECK_SYMBOLS] = "--max-unknown",      [CHECK_STACKS] = "--max-cut",
		[CHECK_BUILD_IDS] = "--max-missing",    [CHECK_LOSSES] = "--max-lost",
		[CHECK_THROTTLING] = "--max-throttled", [CHECK_CLOCK] = "--max-doubts",
		[CHECK_DAMAGE] = "--max-damage"
	};

	for (int i = 0; i < NR_CHECKS; i++) {
		const char *text = a->limits[i];
		char *end;

		if (!text)
			continue;
		c->results[i].limit = strtod(text, &end);
		if (end == text || strcmp(*end == '%' ? end + 1 : end, "") != 0 ||
		    !(c->results[i].limit >= 0) || isinf(c->results[i].limit))
			return cli_usage(cli, "check: %s takes a number from 0 up, not '%s'",
					 options[i], text);
	}
	return CLI_OK;
}

/* The files with most samples and frames without a symbol, and the reason. */
static void check_print_files(const struct checks *c)
{
	enum { SHOWN = 5 };
	size_t n = 0;

	while (n < c->nr_files && (c->files[n]->unknown || c->files[n]->unknown_frames))
		n++;
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		const struct check_file *f = c->files[i];

		printf("%19s", "");
		cli_put_quiet(stdout, f->name, strlen(f->name));
		if (f->unknown_frames)
			printf(": %llu samples, %llu callers", (unsigned long long)f->unknown,
			       (unsigned long long)f->unknown_frames);
		else
			printf(": %llu", (unsigned long long)f->unknown);
		printf(" without%s%s%s\n", f->id ? ": " : "",
		       f->id ? sonde_unknown_text(f->why) : "",
		       f->is_file && !*f->build_id ? ", no build id" : "");
	}
	if (n > SHOWN)
		printf("%19s... %zu more; --json lists all\n", "", n - SHOWN);
}

static int check_print(const struct checks *c, bool quiet)
{
	int status = CLI_OK;

	for (int i = 0; i < NR_CHECKS; i++) {
		const struct check_result *r = &c->results[i];
		bool over = r->value > r->limit;
		char limit[64] = "";

		if (over)
			status = CLI_LOSS;
		if (quiet && !over)
			continue;
		if (r->is_share)
			snprintf(limit, sizeof(limit), " (limit %g %%)", r->limit);
		else
			snprintf(limit, sizeof(limit), " (limit %g)", r->limit);
		printf("%-4s  %-11s  ", over ? "OVER" : "ok", check_names[i]);
		cli_put_quiet(stdout, r->text, strlen(r->text));
		printf("%s\n", r->is_asked ? limit : "");
		if (i == CHECK_SYMBOLS)
			check_print_files(c);
	}
	return status;
}

/* perf's command of this name prints the features of its build. */
static bool check_is_perfs(int argc, char **argv)
{
	return true;
}

static void check_put_json(const struct checks *c, int i)
{
	const struct check_result *r = &c->results[i];

	printf("%s\n{\"name\":\"%s\",\"ok\":%s,\"applies\":%s,\"value\":%.17g,\"limit\":%.17g,"
	       "\"unit\":\"%s\"",
	       i ? "," : "", check_names[i], r->value > r->limit ? "false" : "true",
	       r->is_asked ? "true" : "false", r->value, r->limit,
	       r->is_share ? "percent" : "count");
	json_put_member("text", r->text);
	putchar('}');
}

static int check_print_json(const struct checks *c)
{
	int status = CLI_OK;

	for (int i = 0; i < NR_CHECKS; i++)
		if (c->results[i].value > c->results[i].limit)
			status = CLI_LOSS;
	json_begin("check");
	printf(",\"ok\":%s,\"samples\":%llu,\n\"checks\":[", status ? "false" : "true",
	       (unsigned long long)c->samples);
	for (int i = 0; i < NR_CHECKS; i++)
		check_put_json(c, i);
	fputs("],\n\"files\":[", stdout);
	for (size_t i = 0; i < c->nr_files; i++) {
		const struct check_file *f = c->files[i];

		fputs(i ? ",\n{\"file\":" : "\n{\"file\":", stdout);
		json_put_string(f->name);
		if (*f->build_id)
			json_put_member("build_id", f->build_id);
		printf(",\"samples\":%llu,\"unknown\":%llu", (unsigned long long)f->samples,
		       (unsigned long long)f->unknown);
		if (f->unknown_frames)
			printf(",\"unknown_frames\":%llu", (unsigned long long)f->unknown_frames);
		if (f->unknown || f->unknown_frames)
			json_put_member("why", sonde_unknown_text(f->why));
		putchar('}');
	}
	puts("]}");
	return status;
}

static int check_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	struct checks c;
	bool is_json = false;
	int status;

	if (as_perf()) { /* without another perf: see check_is_perfs() */
		other_perf_report_missing("check", argc, argv);
		return 1;
	}
	status = recording_operand(cli, "check", &a->rec, argc, argv);
	checks_init(&c);
	if (!status)
		status = output_format_check(cli, "check", &a->format, &is_json);
	if (!status)
		status = check_parse_limits(cli, a, &c);
	if (!status)
		status = recording_run(cli, &a->rec, "", checks_run, &c);
	/* --strict also counts what is below its limit */
	if ((status == CLI_OK || status == CLI_LOSS) &&
	    (is_json ? check_print_json(&c) : check_print(&c, a->quiet)) != CLI_OK)
		status = CLI_LOSS;
	checks_done(&c);
	return status;
}

/* clang-format off */
#define LIMIT(word, value, check, help) \
	{ OPT_KIND_TEXT, 0, word, value, \
	  offsetof(struct args, limits) + CHECK_##check * sizeof(const char *), NULL, 0, NULL, \
	  help }

static const struct opt options[] = {
	INPUT_OPTION,
	LIMIT("max-unknown", "PERCENT", SYMBOLS,
		"allows PERCENT of the samples to have no symbol; default 10"),
	LIMIT("max-cut", "PERCENT", STACKS,
		"allows PERCENT of the stacks to be truncated; default 10"),
	LIMIT("max-missing", "FILES", BUILD_IDS,
		"allows so many FILES with samples to have no build id; default 0"),
	LIMIT("max-lost", "PERCENT", LOSSES, "allows PERCENT of the events to be lost; default 1"),
	LIMIT("max-throttled", "TIMES", THROTTLING,
		"allows the kernel to have throttled events so often; default 0"),
	LIMIT("max-doubts", "EVENTS", CLOCK,
		"allows so many EVENTS to have no time, or one before that of events already "
		"delivered; default 0"),
	LIMIT("max-damage", "DEFECTS", DAMAGE,
		"allows so many DEFECTS other than losses to have cost events; default 0"),
	OPT_FLAG('q', "quiet", struct args, quiet, "prints only what is over its limit"),
	FORMAT_OPTIONS(struct args, format, "sonde-lists-json(5)"),
	OPT_GROUP("Symbols"),
	SYMBOL_FILE_OPTIONS,
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "check [OPTIONS] [FILE]", NULL };

const struct command cmd_check = {
	.name = "check",
	.summary = "reports what may make results of a recording wrong; exits with 3 beyond limits",
	.usage = usage,
	.options = options,
	.examples = "  sonde check\n"
		    "  sonde check perf.data --max-unknown 5 --max-lost 0\n"
		    "  sonde check -q nightly.data || echo 'record it again'\n",
	RECORDING_COMMAND(struct args),
	.run = check_run,
	.is_perfs = check_is_perfs,
};
