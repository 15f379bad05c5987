/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include "pager.h"

#include <sonde/sonde.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const color_words[] = { "auto", "always", "never", NULL };

/* Keys of sonde's files, and the words that they accept. */
static const struct key {
	const char *name;
	const char *const *words;            /* accepted words; NULL if is_known() decides */
	bool (*is_known)(const char *value); /* NULL if any text is accepted */
} keys[] = {
	{ "script.compat", NULL, cli_compat_known },
	{ "script.color", color_words, NULL },
	{ "script.pager", NULL, NULL },
	{ "script.python", NULL, NULL },
	{ "script.path", NULL, NULL },
	{ "buildid.dir", NULL, NULL },
	{ "record.compat", NULL, cli_compat_known },
	{ "record.build-id", NULL, NULL },
	{ "record.call-graph", NULL, NULL },
	{ "record.aio", NULL, NULL },
	{ "call-graph.record-mode", NULL, NULL },
	{ "call-graph.dump-size", NULL, NULL },
	{ "core.proc-map-timeout", NULL, NULL },
	{ "report.compat", NULL, cli_compat_known },
	{ "report.sort_order", NULL, NULL },
	{ "report.percent-limit", NULL, NULL },
	{ "report.children", NULL, NULL },
	{ "report.group", NULL, NULL },
	{ "report.skip-empty", NULL, NULL },
	{ "report.queue-size", NULL, NULL },
	{ "hist.percentage", NULL, NULL },
	{ "call-graph.print-type", NULL, NULL },
	{ "call-graph.order", NULL, NULL },
	{ "call-graph.sort-key", NULL, NULL },
	{ "call-graph.threshold", NULL, NULL },
	{ "call-graph.print-limit", NULL, NULL },
};

static const char *settings_from_files(const struct cli *cli, const char *name, bool ours)
{
	const struct config_entry *e = config_find(&cli->config, name, ours);

	return e ? e->value : NULL;
}

static bool settings_is_word(const char *const *words, const char *value)
{
	for (; *words; words++)
		if (!strcmp(*words, value))
			return true;
	return false;
}

/* Reports a wrong value. It would change the output, so nothing is printed then. */
static bool settings_check(const struct config_entry *e)
{
	struct sonde_nearest near = { .size = sizeof(near), .wanted = e->name };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].name, e->name)) {
			sonde_nearest_offer(&near, keys[i].name);
			continue;
		}
		if ((!keys[i].words || settings_is_word(keys[i].words, e->value)) &&
		    (!keys[i].is_known || keys[i].is_known(e->value)))
			return true;
		cli_say("%s:%d: %s does not take '%s'", e->file, e->line, e->name, e->value);
		return false;
	}
	cli_say("%s:%d: no key %s%s%s%s", e->file, e->line, e->name,
		near.meant ? " (nearest: " : "", near.meant ? near.meant : "",
		near.meant ? ")" : "");
	return true;
}

/*
 * perf reads ~ as the name of a folder. It sets PERF_BUILDID_DIR for its scripts, but does not read
 * it.
 */
static int settings_set_buildid_dir(struct cli *cli)
{
	const char *dir =
		cli_rules(cli)->ignores_buildid_variable ? NULL : getenv("PERF_BUILDID_DIR");
	const char *home = getenv("HOME");

	if (dir && *dir) {
		cli->buildid_dir = dir;
		return 0;
	}
	dir = settings_from_files(cli, "buildid.dir", true);
	if (!dir)
		dir = settings_from_files(cli, "buildid.dir", false);
	if (!dir || !*dir)
		return 0;
	if (strncmp(dir, "~/", 2) || !home || cli_rules(cli)->tilde_is_folder) {
		cli->buildid_dir = dir;
		return 0;
	}
	if (asprintf(&cli->own_dir, "%s%s", home, dir + 1) < 0) {
		cli->own_dir = NULL;
		cli_say("out of memory");
		return -1;
	}
	cli->buildid_dir = cli->own_dir;
	return 0;
}

int settings_read(struct cli *cli, const char *command)
{
	char compat[64];

	if (config_read(&cli->config) < 0)
		return cli_status(cli, CLI_USAGE);
	for (size_t i = 0; i < cli->config.nr_entries; i++)
		if (cli->config.entries[i].ours && !settings_check(&cli->config.entries[i]))
			return cli_status(cli, CLI_USAGE);
	snprintf(compat, sizeof(compat), "%s.compat", command);
	if (!cli->compat)
		cli->compat = settings_from_files(cli, compat, true);
	if (!cli->buildid_dir && settings_set_buildid_dir(cli))
		return cli_status(cli, CLI_FAILED);
	return 0;
}

const char *settings_pager(const struct cli *cli)
{
	const char *file = settings_from_files(cli, "script.pager", true), *command;

	if (!file)
		file = settings_from_files(cli, "pager.script", false);
	/* A yes or no switches the pager; any other word is the pager. */
	if (cli->pager < 0 || (!cli->pager && file && !config_bool(file)))
		return NULL;
	command = getenv("SONDE_PAGER");
	if (!command)
		command = getenv("PERF_PAGER");
	if (!command && file && *file && config_bool(file) < 0)
		command = file;
	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = pager_default();
	return !command || !*command || !strcmp(command, "cat") ? NULL : command;
}

bool settings_color(const struct cli *cli, const char *wish)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (cli_rules(cli)->has_no_colors)
		return false;
	if (!wish && no && *no)
		return false;
	if (!wish)
		wish = settings_from_files(cli, "script.color", true);
	if (wish && strcmp(wish, "auto"))
		return !strcmp(wish, "always");
	return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb");
}

const char *settings_python(const struct cli *cli)
{
	return settings_from_files(cli, "script.python", true);
}

const char *settings_script_path(const struct cli *cli)
{
	return settings_from_files(cli, "script.path", true);
}
