/* SPDX-License-Identifier: MIT */
/* sonde evlist: the event types of a recording. */
#include "cli.h"

#include "json.h"
#include "output_format.h"
#include "recording.h"

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
	bool freq, groups, fields;
	struct output_format format;
};

static int evlist_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	bool is_json;
	char more[80];
	int status = output_format_check(cli, "evlist", &a->format, &is_json);

	if (status)
		return status;
	if (argc && cli_rules(cli)->words_are_no_recordings)
		return cli_usage(cli, "evlist: takes no words: -i names the recording, not '%s'",
				 argv[0]);
	if (argc)
		status = recording_operand(cli, "evlist", &a->rec, argc, argv);
	if (status)
		return status;
	if (a->groups && (a->freq || cli->verbose))
		return cli_usage(cli, "evlist: -g cannot be combined with -v or -F");
	snprintf(more, sizeof(more), "format=evlist%s\nevlist=%s%s%s%s\n", is_json ? "-json" : "",
		 cli->verbose ? "attr," : "", a->freq ? "freq," : "", a->groups ? "groups," : "",
		 a->fields ? "fields," : "");
	return recording_print(cli, &a->rec, more);
}

/* clang-format off */
static const struct opt options[] = {
	INPUT_OPTION,
	OPT_FLAG('F', "freq", struct args, freq,
		"prints the frequency or the period of each event"),
	OPT_FLAG('g', "group", struct args, groups,
		"shows events of a group together: {leader,member}"),
	OPT_FLAG(0, "trace-fields", struct args, fields, "prints the fields of each tracepoint"),
	FORMAT_OPTIONS(struct args, format, "sonde-lists-json(5)"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "evlist [OPTIONS] [-v] [FILE]", NULL };

const struct command cmd_evlist = {
	.name = "evlist",
	.summary = "lists the event types of a recording; with -v their attributes",
	.usage = usage,
	.options = options,
	.examples = "  sonde evlist -i perf.data\n"
		    "  sonde evlist -v\n"
		    "  sonde evlist --trace-fields\n",
	RECORDING_COMMAND(struct args),
	.run = evlist_run,
};
