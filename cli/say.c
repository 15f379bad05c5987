/* SPDX-License-Identifier: MIT */
#include "say.h"

#include <sonde/sonde.h>

#include <stdarg.h>
#include <stdlib.h>

/*
 * The number of bytes of the character at p if it is well-formed UTF-8 and not a control character
 * (tab is allowed); else 0.
 */
static size_t say_harmless(const unsigned char *p, size_t len)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;

	if (n == 1)
		return (*p >= 0x20 && *p != 0x7f) || *p == '\t';
	if (*p < 0xc2 || *p > 0xf4 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return *p == 0xc2 && p[1] < 0xa0 ? 0 : n; /* some terminals interpret U+0080..U+009F */
}

/* Messages contain names from recordings, and a terminal may show them. */
void cli_put_quiet(FILE *out, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = say_harmless(p + i, len - i);
		if (n)
			fwrite(p + i, 1, n, out);
		else
			fprintf(out, "\\x%02x", p[i]);
	}
}

/* Writes the line in one call, so that output of a recorded command cannot split it. */
void cli_put_line(const char *head, const char *text, size_t len)
{
	char *line = NULL;
	size_t line_len = 0;
	FILE *out = open_memstream(&line, &line_len);

	if (out) {
		fputs(head, out);
		cli_put_quiet(out, text, len);
		fputc('\n', out);
		if (fclose(out) == 0)
			fwrite(line, 1, line_len, stderr);
		free(line);
		return;
	}
	fputs(head, stderr);
	cli_put_quiet(stderr, text, len);
	fputc('\n', stderr);
}

void cli_say(const char *fmt, ...)
{
	char *line = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&line, fmt, ap);
	va_end(ap);
	sonde_progress_wipe(0);
	fflush(stdout);
	if (len < 0) {
		fputs("sonde: out of memory\n", stderr);
		return;
	}
	cli_put_line("sonde: ", line, (size_t)len);
	free(line);
}
