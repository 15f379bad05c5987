/* SPDX-License-Identifier: MIT */
/* sonde info: what a recording is, and what is counted of its events. */
#include "cli.h"

#include "recording.h"

#include <string.h>

struct args {
	struct recording rec; /* first: recording_set_key() */
	const char *format;
};

static int run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	bool is_json = a->format && !strcmp(a->format, "json");
	int status = recording_operand(cli, "info", &a->rec, argc, argv);

	if (status)
		return status;
	if (a->format && !is_json && strcmp(a->format, "text") != 0)
		return cli_usage(cli, "info: --format knows text and json, not '%s'", a->format);
	return recording_print(cli, &a->rec, is_json ? "format=info-json\n" : "format=info\n");
}

/* clang-format off */
static const struct opt options[] = {
	OPT_KEY('i', "input", "FILE", "input", "reads FILE; default perf.data, '-': the standard input"),
	OPT_TEXT(0, "format", "FORMAT", struct args, format, "text, or json for programs (docs/formats/info-json.md); default text"),
	OPT_KEY(0, "no-events", NULL, "no-events", "tells only what the header says: takes the same time for a recording of any size"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "info [OPTIONS] [FILE]", NULL };

const struct command cmd_info = {
	.name = "info",
	.summary = "tells what a recording is: host, clock, events, counts, losses, defects",
	.usage = usage,
	.options = options,
	.examples = "  sonde info\n"
		    "  sonde info perf.data --format json\n"
		    "  sonde info --no-events huge.data\n",
	RECORDING_COMMAND(struct args),
	.run = run,
};
