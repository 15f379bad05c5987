/* SPDX-License-Identifier: MIT */
/*
 * sonde report: prints the header of a recording, as scripts ask perf report for it. Tables of
 * samples are not supported.
 */
#include "cli.h"

#include "other_perf.h"
#include "recording.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
	bool header_only, no_effect;
};

/* True for perf's tables of samples and all other uses of its options. */
static bool report_is_perfs(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--header-only"))
			return false;
	return true;
}

static const char *report_hint(const void *values)
{
	static char text[PATH_MAX + 128];
	char *perf = other_perf_find();

	snprintf(text, sizeof(text),
		 "; sonde report prints only the header of a recording (--header-only)%s%s%s",
		 perf ? ": for the rest run " : "", perf ? perf : "", perf ? " report" : "");
	free(perf);
	return text;
}

static int report_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;

	if (!a->header_only) {
		char *perf = other_perf_find();
		int status =
			cli_usage(cli,
				  "report: sonde reports only the header of a recording "
				  "(--header-only); 'sonde script' prints the samples, %s report "
				  "adds them up",
				  perf ? perf : "perf");

		free(perf);
		return status;
	}
	/* For perf a single word is the name of a symbol, and a header has no symbols. */
	if (argc > (int)cli_rules(cli)->words_are_no_recordings)
		return cli_usage(cli, "report: takes no words: -i names the recording, not '%s'",
				 argv[0]);
	return recording_print(cli, &a->rec, "header=all\n");
}

/* clang-format off */
static const struct opt options[] = {
	OPT_KEY('i', "input", "FILE", "input", "reads FILE; default perf.data, '-': the standard input"),
	OPT_FLAG(0, "header-only", struct args, header_only, "prints only the header of the recording; required"),
	OPT_KEY('I', "show-info", NULL, "header-info", "prints the complete header"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_FLAG(0, "stdio", struct args, no_effect, "prints text, as always"),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "report --header-only [OPTIONS]", NULL };

const struct command cmd_report = {
	.name = "report",
	.summary = "prints the header of a recording (--header-only)",
	.usage = usage,
	.options = options,
	.examples = "  sonde report --header-only\n"
		    "  sonde report --header-only -I -i perf.data\n",
	RECORDING_COMMAND(struct args),
	.run = report_run,
	.is_perfs = report_is_perfs,
	.hint = report_hint,
};
