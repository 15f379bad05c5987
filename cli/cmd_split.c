/* SPDX-License-Identifier: MIT */
/* sonde split: writes a recording as several smaller ones. */
#include "cli.h"

#include "copying.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
};

/* The prefix of the output files; inside the folder if a folder was given. Released with free(). */
static char *split_output_prefix(const struct args *a)
{
	char *output = lines_given(&a->rec.lines, "output"), *in_dir;
	struct stat st;

	if (!output)
		output = lines_given(&a->rec.lines, "input");
	if (!output || stat(output, &st) < 0 || !S_ISDIR(st.st_mode))
		return output;
	if (asprintf(&in_dir, "%s/part", output) < 0)
		in_dir = NULL;
	free(output);
	return in_dir;
}

static int split_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	int status = recording_operand(cli, "split", &a->rec, argc, argv);
	char *every = lines_given(&a->rec.lines, "every");
	char *output = lines_given(&a->rec.lines, "output"), *prefix = split_output_prefix(a);

	a->rec.output = prefix ? prefix : "perf.data";
	if (!status && !every)
		status = cli_usage(
			cli, "split: give the size of each file with --every 1G or --every 60s");
	else if (!status && output && (!*output || !strcmp(output, "-")))
		status = cli_usage(cli,
				   "split: -o takes a directory, or the prefix of the file names");
	else if (!status)
		status = copying_run(cli, &a->rec);
	free(every);
	free(output);
	free(prefix);
	return status;
}

/* clang-format off */
static const struct opt options[] = {
	INPUT_OPTION,
	OPT_KEY('o', "output", "PREFIX", "output",
		"writes PREFIX.0001, PREFIX.0002 ...; in a directory: files named as the input; "
		"default the input's name"),
	OPT_KEY(0, "every", "SIZE", "every",
		"begins a new file after so many bytes of records (64K, 512M, 1G) or so much time "
		"(500ms, 60s, 5m, 1h)"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "split [OPTIONS] --every SIZE|TIME [FILE]", NULL };

const struct command cmd_split = {
	.name = "split",
	.summary = "writes a recording as several smaller ones, by size or by time",
	.usage = usage,
	.options = options,
	.examples = "  sonde split --every 1G huge.data\n"
		    "  sonde split --every 60s -i huge.data -o minute\n"
		    "  sonde split --every 512M -i huge.data -o parts/\n",
	RECORDING_COMMAND(struct args),
	.run = split_run,
};
