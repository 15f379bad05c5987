/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <sonde/sonde.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Names out of recordings are in what is told, and a terminal may read it: no control characters but tabs. */
void cli_put_quiet(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
}

void cli_say(const char *fmt, ...)
{
	char *line = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&line, fmt, ap);
	va_end(ap);
	fflush(stdout);
	fputs("sonde: ", stderr);
	if (len >= 0)
		cli_put_quiet(stderr, line, (size_t)len);
	else
		fputs("out of memory", stderr);
	fputc('\n', stderr);
	if (len >= 0)
		free(line);
}

int cli_fail(const struct cli *cli)
{
	const char *line = sonde_error_text();
	bool first = true;

	if (!*line)
		line = "failed, and nothing is known of the cause";
	fflush(stdout);
	while (*line) {
		size_t len = strcspn(line, "\n");

		fputs(first ? "sonde: " : "  ", stderr);
		cli_put_quiet(stderr, line, len);
		fputc('\n', stderr);
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
