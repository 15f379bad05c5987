/* SPDX-License-Identifier: MIT */
#include "as_perf.h"

#include "programs.h"

#include <sonde/sonde.h>

#include <stdlib.h>
#include <string.h>

#define DEFAULT_COMPAT "perf-6.1"

static bool called_as_perf;

static bool is_perfs_version(const char *word)
{
	return word && !strncmp(word, "perf-", 5) && cli_compat_known(word);
}

void as_perf_look(struct cli *cli, const char *program, const char **ret_command)
{
	const char *base = program && strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	const char *wished = getenv("SONDE_COMPAT");

	*ret_command = NULL;
	if (!base || strncmp(base, "perf", 4) || (base[4] && base[4] != '-'))
		return;
	called_as_perf = true;
	if (is_perfs_version(base)) {
		cli->compat = base;
		return;
	}
	/* "none" is said by a sonde that runs a wrapper of its user's by default: what the wrapper asks of perf is then as right. */
	if (wished && (is_perfs_version(wished) || !strcmp(wished, "none")))
		cli->compat = wished;
	else
		cli->compat = DEFAULT_COMPAT;
	if (base[4] && command_find(base + 5, NULL))
		*ret_command = base + 5;
}

bool as_perf(void)
{
	return called_as_perf;
}

const char *as_perf_name(void)
{
	return called_as_perf ? "perf" : "sonde";
}

void as_perf_print_version(const struct cli *cli)
{
	const char *as = is_perfs_version(cli->compat) ? cli->compat : DEFAULT_COMPAT;

	printf("perf version %s.0+sonde.%s\n", as + strlen("perf-"), sonde_version());
}

char *as_perf_find(bool other)
{
	const char *dirs = programs_path();
	char *path;

	while ((path = programs_next(&dirs, "perf")) && other && programs_is_own(path))
		free(path);
	return path;
}

/* Those of perf 6.12, and of older ones, that sonde has not. */
static const char *const missing[] = {
	"annotate", "archive", "bench", "buildid-cache", "c2c",    "check",
	"config",   "daemon",  "data",  "diff",          "ftrace",       "inject", "iostat",
	"kallsyms", "kmem",    "kvm",   "kwork",         "lock",         "mem",    "probe",
	"sched",    "stat",    "test",  "timechart",     "top",          "trace",  NULL
};

bool as_perf_tell_missing(const char *command)
{
	const char *const *m = missing;
	char *perf;

	while (*m && strcmp(*m, command))
		m++;
	if (!*m)
		return false;
	perf = as_perf_find(true);
	if (perf)
		cli_say("no command '%s': perf has it, sonde has not; perf itself is called by %s "
			"%s",
			command, perf, command);
	else
		cli_say("no command '%s': perf has it, sonde has not; and there is no perf in PATH "
			"(in Debian it is in linux-perf)",
			command);
	free(perf);
	return true;
}
