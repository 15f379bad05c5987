/* SPDX-License-Identifier: MIT */
/* --compat: selects perf's rules. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

bool cli_compat(const struct cli *cli)
{
	return cli->compat && strcmp(cli->compat, "none");
}

const struct sonde_rules *cli_rules(const struct cli *cli)
{
	const struct sonde_rules *rules = cli->compat ? sonde_rules_find(cli->compat) : NULL;

	return rules ? rules : sonde_rules_get(0);
}

int cli_status(const struct cli *cli, enum cli_exit status)
{
	switch (status) {
	case CLI_FAILED:
		return (int)cli_rules(cli)->status_failed;
	case CLI_USAGE:
		return (int)cli_rules(cli)->status_usage;
	default:
		return status;
	}
}

bool cli_compat_known(const char *version)
{
	return sonde_rules_find(version) != NULL;
}

void cli_compat_list(char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (size_t i = 0; sonde_rules_get(i) && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s",
					!i                       ? ""
					: sonde_rules_get(i + 1) ? ", "
								 : " and ",
					sonde_rules_get(i)->version);
}
