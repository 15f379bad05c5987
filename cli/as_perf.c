/* SPDX-License-Identifier: MIT */
#include "as_perf.h"

#include <sonde/sonde.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_COMPAT "perf-6.1"

static bool called_as_perf;

static bool as_perf_is_version(const char *word)
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
	if (as_perf_is_version(base)) {
		cli->compat = base;
		return;
	}
	/*
	 * By default sonde passes "none" to the wrappers that it runs: their calls of perf then
	 * give the right results, too.
	 */
	if (wished && (as_perf_is_version(wished) || !strcmp(wished, "none")))
		cli->compat = wished;
	else
		cli->compat = DEFAULT_COMPAT;
	if (base[4] && isalpha((unsigned char)base[5]))
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
	const char *as = as_perf_is_version(cli->compat) ? cli->compat : DEFAULT_COMPAT;

	printf("perf version %s.0+sonde.%s\n", as + strlen("perf-"), sonde_version());
}
