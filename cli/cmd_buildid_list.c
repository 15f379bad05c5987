/* SPDX-License-Identifier: MIT */
/* sonde buildid-list: build ids of the files of a recording, of a file, of the running kernel. */
#include "cli.h"

#include "recording.h"

#include <sonde/sonde.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct args {
	struct recording rec; /* first: recording_set_key() */
	bool kernel, kernel_maps;
};

static void print_kernel(void *ctx, const struct sonde_kernel_part *part)
{
	bool *is_told = ctx;

	if (strcmp(part->name, "[kernel.kallsyms]") != 0)
		return;
	printf("%s\n", part->build_id);
	*is_told = true;
}

static void print_map(void *ctx, const struct sonde_kernel_part *part)
{
	bool *is_told = ctx;

	*is_told = true;
	printf("%s %16" PRIx64 " %16" PRIx64 " %s\n", part->build_id, part->start, part->end,
	       part->name);
}

static int print_running(const struct cli *cli, const struct args *a)
{
	bool is_told = false;
	int r = sonde_running_kernel(a->kernel ? print_kernel : print_map, &is_told);

	return r < 0 && !is_told ? cli_fail(cli) : CLI_OK;
}

static int run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	char *input, hex[SONDE_BUILD_ID_CHARS];
	int status, r = 0;

	if (argc > 0 && !cli_compat(cli))
		return cli_usage(cli,
				 "buildid-list: takes no words: -i names the recording, not '%s'",
				 argv[0]);
	if ((status = recording_check_one(cli, "buildid-list", &a->rec)))
		return status;
	if (a->kernel || a->kernel_maps)
		return print_running(cli, a);
	if (a->rec.sandbox) {
		if ((status = sandbox_enter(cli, &a->rec.lines, NULL)))
			return status;
		a->rec.sandbox = false; /* entered, for all that follows */
	}
	input = lines_given(&a->rec.lines, "input");
	if (input)
		r = sonde_file_build_id(input, hex);
	free(input);
	if (r > 0) {
		printf("%s\n", hex);
		return CLI_OK;
	}
	return recording_print(cli, &a->rec, "format=buildids\n");
}

/* clang-format off */
static const struct opt options[] = {
	OPT_KEY('i', "input", "FILE", "input", "reads FILE, a recording or a program; default perf.data, '-': the standard input"),
	OPT_KEY('H', "with-hits", NULL, "hits", "lists only files in which samples lie, those without a build id too"),
	OPT_FLAG('k', "kernel", struct args, kernel, "prints the running kernel's build id"),
	OPT_FLAG('m', "kernel-maps", struct args, kernel_maps, "prints that of the running kernel and of its modules, and where they lie"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "buildid-list [OPTIONS]", NULL };

const struct command cmd_buildid_list = {
	.name = "buildid-list",
	.summary = "lists the build ids of the files of a recording",
	.usage = usage,
	.options = options,
	.examples = "  sonde buildid-list -i perf.data\n"
		    "  sonde buildid-list -H\n"
		    "  sonde buildid-list -i /usr/bin/true\n"
		    "  sonde buildid-list -k\n",
	RECORDING_COMMAND(struct args),
	.run = run,
};
