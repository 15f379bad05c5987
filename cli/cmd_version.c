/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "as_perf.h"
#include "languages.h"
#include "table_db.h"

#include <sonde/sonde.h>

#include <string.h>

/* Languages whose modules are installed with this program, and languages that have a module. */
static void version_print_languages(void)
{
	fputs("languages of scripts:", stdout);
	for (const struct language *l = script_languages; l->name; l++)
		if (l->find)
			printf(" %s=%s", l->name, script_language_is_ready(l) ? "yes" : "no");
	putchar('\n');
}

/* Those of the library, and those of the program alone. */
static void version_print_features(void)
{
	const char *sqlite = table_db_version();

	printf("%s%s%s\n", sonde_features(), sqlite ? " sqlite=" : "", sqlite ? sqlite : "");
}

static int version_run(struct cli *cli, void *values, int argc, char **argv)
{
	if (as_perf()) /* independent of --compat: wrappers parse this form */
		as_perf_print_version(cli);
	else
		printf("sonde version %s\n", sonde_version());
	if (cli->verbose)
		version_print_features();
	if (cli->verbose)
		version_print_languages();
	if (cli->verbose && !cli->config.nr_files)
		config_read(&cli->config);
	for (size_t i = 0; cli->verbose && i < cli->config.nr_files; i++)
		printf("configuration %s\n", cli->config.files[i]);
	return CLI_OK;
}

static const char *const usage[] = { "version [-v]", NULL };
static const struct opt options[] = { OPT_END };

const struct command cmd_version = {
	.name = "version",
	.summary = "shows the version, with -v the features of this build",
	.usage = usage,
	.options = options,
	.examples = "",
	.run = version_run,
};
