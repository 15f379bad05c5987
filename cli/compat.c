/* SPDX-License-Identifier: MIT */
/* --compat: which perf's statuses and values are asked for. */
#include "cli.h"

#include <string.h>

bool cli_compat(const struct cli *cli)
{
	return cli->compat && strcmp(cli->compat, "none");
}

int cli_status(const struct cli *cli, enum cli_exit status)
{
	bool perf = cli_compat(cli);

	if (perf && status == CLI_FAILED)
		return 255;
	if (perf && status == CLI_USAGE)
		return 129;
	return status;
}

const char *const cli_compats[] = { "none", "perf-6.1", "perf-6.12", NULL };

bool cli_compat_known(const char *version)
{
	for (const char *const *c = cli_compats; *c; c++)
		if (!strcmp(*c, version))
			return true;
	return false;
}
