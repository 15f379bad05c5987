/* SPDX-License-Identifier: MIT */
/* sonde info: the header of a recording and counts of its events. */
#include "cli.h"

#include "json.h"
#include "output_format.h"
#include "recording.h"

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
	struct output_format format;
};

static int info_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	int status = recording_operand(cli, "info", &a->rec, argc, argv);
	bool is_json;

	if (!status)
		status = output_format_check(cli, "info", &a->format, &is_json);
	if (status)
		return status;
	return recording_print(cli, &a->rec, is_json ? "format=info-json\n" : "format=info\n");
}

/* clang-format off */
static const struct opt options[] = {
	INPUT_OPTION,
	FORMAT_OPTIONS(struct args, format, "sonde-info-json(5)"),
	OPT_KEY(0, "no-events", NULL, "no-events",
		"prints only the header: takes the same time for a recording of any size"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "info [OPTIONS] [FILE]", NULL };

const struct command cmd_info = {
	.name = "info",
	.summary = "describes a recording: host, clock, events, counts, losses, defects",
	.usage = usage,
	.options = options,
	.examples = "  sonde info\n"
		    "  sonde info perf.data --json\n"
		    "  sonde info --no-events huge.data\n",
	RECORDING_COMMAND(struct args),
	.run = info_run,
};
