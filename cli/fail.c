/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <sonde/sonde.h>

#include <stdarg.h>
#include <string.h>

int cli_fail(const struct cli *cli)
{
	const char *line = sonde_error_text();
	bool first = true;

	if (!*line)
		line = "failed for an unknown reason";
	sonde_progress_wipe(0);
	fflush(stdout);
	while (*line) {
		size_t len = strcspn(line, "\n");

		cli_put_line(first ? "sonde: " : "  ", line, len);
		line += len + (line[len] == '\n');
		first = false;
	}
	return cli_status(cli, CLI_FAILED);
}

int cli_usage(const struct cli *cli, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	cli_say("%s", line);
	return cli_status(cli, CLI_USAGE);
}
