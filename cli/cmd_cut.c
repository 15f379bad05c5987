/* SPDX-License-Identifier: MIT */
/* sonde cut: writes the chosen events of a recording as a recording. */
#include "cli.h"

#include "copying.h"

#include <stdlib.h>
#include <string.h>

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
};

static int cut_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	int status = recording_operand(cli, "cut", &a->rec, argc, argv);
	char *output = lines_given(&a->rec.lines, "output");

	a->rec.output = output;
	if (!status && (!output || !*output))
		status = cli_usage(cli, "cut: name the recording to write with -o FILE");
	else if (!status && !strcmp(output, "-"))
		status =
			cli_usage(cli, "cut: -o - : the header of a recording is written last, and "
				       "a pipe cannot go back to it: name a file with -o FILE");
	else if (!status)
		status = copying_run(cli, &a->rec);
	free(output);
	return status;
}

/* clang-format off */
static const struct opt options[] = {
	INPUT_OPTION,
	OPT_KEY('o', "output", "FILE", "output", "writes FILE; an existing one becomes FILE.old"),
	OPT_GROUP("Events"),
	TIME_OPTION("keeps only events"),
	OPT_KEY(0, "clock", "raw|relative|utc|local", "clock",
		"counts the times of --time from the first sample (relative), or as time of day in "
		"utc or local; default raw"),
	OPT_KEY('e', "event", "EVENTS", "event",
		"keeps only these events, named as sonde evlist does; patterns such as 'sched:*' "
		"and names without system or modifiers are allowed"),
	TASK_OPTIONS("keeps only events"),
	COMM_OPTION("comm", "keeps only events"),
	WHERE_OPTION("keeps only events"),
	CPU_OPTION("keeps only events"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "cut [OPTIONS] -o FILE [FILE]", NULL };

const struct command cmd_cut = {
	.name = "cut",
	.summary = "writes the chosen events of a recording as a recording",
	.usage = usage,
	.options = options,
	.examples = "  sonde cut --time 10%/2 -o second.data\n"
		    "  sonde cut -i huge.data --time 1234.5,1236 --cpu 0-3 -o stall.data\n"
		    "  sonde cut --event sched:* --pid 4711 -o sched.data\n",
	RECORDING_COMMAND(struct args),
	.run = cut_run,
};
