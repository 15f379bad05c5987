/* SPDX-License-Identifier: MIT */
#include "record_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texts.h"

size_t prelude_name_length(const char *list)
{
	bool in_slashes = false;
	size_t depth = 0, n;

	for (n = 0; list[n] && (list[n] != ',' || in_slashes || depth); n++) {
		in_slashes ^= list[n] == '/';
		depth += list[n] == '(' || list[n] == '{';
		if ((list[n] == ')' || list[n] == '}') && depth)
			depth--;
	}
	return n;
}

static bool record_line_is_plain(const char *word)
{
	return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_@%+=:,./-")];
}

/* Behind a blank, as a word of a shell. */
static void record_line_put(FILE *out, const char *word)
{
	if (record_line_is_plain(word)) {
		fprintf(out, " %s", word);
		return;
	}
	fputs(" '", out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\"'\"'", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

static void record_line_put_option(FILE *out, const char *option, const char *value)
{
	if (!value)
		return;
	fprintf(out, " %s", option);
	record_line_put(out, value);
}

/* KEY=VALUE as an option. NULL if there is no memory. */
static char *record_line_option(const char *line, size_t len)
{
	const char *equals = memchr(line, '=', len);
	const size_t key = equals ? (size_t)(equals - line) : len;
	const size_t value = key < len ? len - key - 1 : 0;
	char *ret;

	if (!value && key == strlen("call-graph") && !strncmp(line, "call-graph", key))
		return strdup("-g");
	if (!value || (value == 1 && equals[1] == '1'))
		return asprintf(&ret, "--%.*s", (int)key, line) < 0 ? NULL : ret;
	return asprintf(&ret, "--%.*s", (int)len, line) < 0 ? NULL : ret;
}

/* Each option once. Returns 0 or -ENOMEM. */
static int record_line_put_settings(FILE *out, const char *settings)
{
	struct texts put = { 0 };
	int r = 0;

	for (const char *line = settings; *line && !r; line += strspn(line, "\n")) {
		const size_t len = strcspn(line, "\n");
		char *option = len && *line != '=' ? record_line_option(line, len) : strdup("");

		r = option ? 0 : -ENOMEM;
		if (option && *option && !texts_has(&put, option)) {
			record_line_put(out, option);
			r = texts_add(&put, option);
		}
		free(option);
		line += len;
	}
	texts_done(&put);
	return r;
}

char *prelude_record_line(const struct sonde_record_options *r, const char *output)
{
	char *ret = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&ret, &len);
	bool failed;

	if (!out)
		return NULL;
	fputs("sonde record", out);
	failed = record_line_put_settings(out, r->settings ? r->settings : "") < 0;
	record_line_put_option(out, "-o", output);
	for (size_t i = 0; i < r->nr_events; i++) {
		record_line_put_option(out, "-e", r->events[i].events);
		record_line_put_option(out, "--filter", r->events[i].filter);
		record_line_put_option(out, "-G", r->events[i].cgroup);
	}
	if (r->command && *r->command)
		fputs(" --", out);
	for (const char *const *word = r->command; word && *word; word++)
		record_line_put(out, *word);
	failed |= fclose(out) != 0;
	if (failed)
		free(ret);
	return failed ? NULL : ret;
}
