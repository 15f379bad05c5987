/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lines_remove_key(struct lines *l, const char *key)
{
	size_t len = strlen(key);
	char *line = l->text;

	while (line && *line) {
		char *next = strchr(line, '\n') + 1;

		if (strncmp(line, key, len) || line[len] != '=') {
			line = next;
			continue;
		}
		l->len -= (size_t)(next - line);
		memmove(line, next, strlen(next) + 1);
	}
}

int lines_set(struct lines *l, struct opt_parser *p, const char *word, const char *key,
	      const char *value)
{
	char *line, *all;
	int len;

	if (!value) {
		lines_remove_key(l, key);
		return 0;
	}
	if (strchr(value, '\n'))
		return opt_error(p, "the value of --%s contains a line feed", word);
	len = asprintf(&line, "%s=%s\n", key, value);
	if (len < 0)
		return opt_error(p, "out of memory");
	all = realloc(l->text, l->len + (size_t)len + 1);
	if (all) {
		memcpy(all + l->len, line, (size_t)len + 1);
		l->text = all;
		l->len += (size_t)len;
	}
	free(line);
	return all ? 0 : opt_error(p, "out of memory");
}

char *lines_given(const struct lines *l, const char *key)
{
	const char *found = NULL;
	size_t len = strlen(key);

	for (const char *line = l->text; line && *line; line = strchr(line, '\n') + 1) {
		if (!strncmp(line, key, len) && line[len] == '=')
			found = line + len + 1;
	}
	return found ? strndup(found, strcspn(found, "\n")) : NULL;
}

int lines_count(const struct lines *l, const char *key)
{
	size_t len = strlen(key);
	int n = 0;

	for (const char *line = l->text; line && *line; line = strchr(line, '\n') + 1)
		n += !strncmp(line, key, len) && line[len] == '=';
	return n;
}

void lines_done(struct lines *l)
{
	free(l->text);
	*l = (struct lines){ 0 };
}
