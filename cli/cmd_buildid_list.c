/* SPDX-License-Identifier: MIT */
/* sonde buildid-list: build ids of the files of a recording, of a file, of the running kernel. */
#include "cli.h"

#include "json.h"
#include "output_format.h"
#include "recording.h"

#include <sonde/sonde.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
	bool kernel, kernel_maps;
	struct output_format format;
};

struct running {
	bool is_json, whole_kernel_only, has_printed;
};

/* A file of the list, or the running kernel or a module of it at [start, end). */
static void buildid_put_object(bool is_first, const char *file, const char *build_id,
			       uint64_t start, uint64_t end)
{
	fputs(is_first ? "\n{\"file\":" : ",\n{\"file\":", stdout);
	json_put_string(file);
	if (*build_id)
		json_put_member("build_id", build_id);
	if (end)
		printf(",\"start\":%" PRIu64 ",\"end\":%" PRIu64, start, end);
	putchar('}');
}

static void buildid_print_part(void *ctx, const struct sonde_kernel_part *part)
{
	struct running *r = ctx;

	if (r->whole_kernel_only && strcmp(part->name, "[kernel.kallsyms]") != 0)
		return;
	if (r->is_json)
		buildid_put_object(!r->has_printed, part->name, part->build_id, part->start,
				   part->end);
	else if (r->whole_kernel_only)
		printf("%s\n", part->build_id);
	else
		printf("%s %16" PRIx64 " %16" PRIx64 " %s\n", part->build_id, part->start,
		       part->end, part->name);
	r->has_printed = true;
}

static int buildid_print_running(const struct cli *cli, const struct args *a, bool is_json)
{
	struct running running = { .is_json = is_json, .whole_kernel_only = a->kernel };
	int r;

	if (is_json) {
		json_begin("buildids");
		fputs(",\"files\":[", stdout);
	}
	r = sonde_running_kernel(buildid_print_part, &running);
	if (is_json)
		puts("]}");
	return r < 0 && !running.has_printed ? cli_fail(cli) : CLI_OK;
}

static void buildid_print_file(const char *path, const char *build_id, bool is_json)
{
	if (!is_json) {
		printf("%s\n", build_id);
		return;
	}
	json_begin("buildids");
	fputs(",\"files\":[", stdout);
	buildid_put_object(true, path, build_id, 0, 0);
	puts("]}");
}

static int buildid_list_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	char *input, hex[SONDE_BUILD_ID_CHARS];
	int status, r = 0;
	bool is_json;

	if (argc > 0 && !cli_rules(cli)->words_are_no_recordings && (a->kernel || a->kernel_maps))
		return cli_usage(cli, "buildid-list: -k and -m read no recording, not '%s'",
				 argv[0]);
	/* perf ignores words here. */
	if ((status = recording_operand(cli, "buildid-list", &a->rec,
					cli_rules(cli)->words_are_no_recordings ? 0 : argc, argv)))
		return status;
	if ((status = output_format_check(cli, "buildid-list", &a->format, &is_json)))
		return status;
	if (a->kernel || a->kernel_maps)
		return buildid_print_running(cli, a, is_json);
	if (a->rec.sandbox) {
		if ((status = sandbox_enter(cli, &a->rec.lines, NULL)))
			return status;
		a->rec.sandbox = false; /* already entered */
	}
	input = lines_given(&a->rec.lines, "input");
	if (input)
		r = sonde_file_build_id(input, hex);
	if (r > 0)
		buildid_print_file(input, hex, is_json);
	free(input);
	if (r > 0)
		return CLI_OK;
	return recording_print(cli, &a->rec,
			       is_json ? "format=buildids-json\n" : "format=buildids\n");
}

/* clang-format off */
static const struct opt options[] = {
	OPT_KEY('i', "input", "FILE", "input",
		"reads FILE, a recording or a program; default perf.data, '-': the standard input"),
	OPT_KEY('H', "with-hits", NULL, "hits",
		"lists only files with samples, also those without a build id"),
	OPT_FLAG('k', "kernel", struct args, kernel, "prints the running kernel's build id"),
	OPT_FLAG('m', "kernel-maps", struct args, kernel_maps,
		"prints the build ids and addresses of the running kernel and of its modules"),
	FORMAT_OPTIONS(struct args, format, "sonde-lists-json(5)"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "buildid-list [OPTIONS] [FILE]", NULL };

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
	.run = buildid_list_run,
};
