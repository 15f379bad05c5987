/* SPDX-License-Identifier: MIT */
#include "base/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/outbuf.h"

const char *const key_flag_words[] = { "0", "1", NULL };

/* Where a line stands, for messages. */
struct place {
	const char *origin;
	int line;
};

static int set_word(void *to, const struct key *k, const char *value, const struct place *at)
{
	struct outbuf choices = { 0 };

	for (uint32_t i = 0; k->words[i]; i++) {
		if (!strcmp(k->words[i], value)) {
			*(uint32_t *)((char *)to + k->offset) = i;
			outbuf_done(&choices);
			return 0;
		}
		outbuf_fmt(&choices, "%s%s", i ? ", " : "", k->words[i]);
	}
	outbuf_char(&choices, '\0');
	err_set(-EINVAL, "%s:%d: %s=%s: one of %s is expected", at->origin, at->line, k->name,
		value, choices.failed ? "its words" : choices.data);
	outbuf_done(&choices);
	return -EINVAL;
}

static int set_number(void *to, const struct key *k, const char *value, const struct place *at)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(value, &end, 0);
	if (*value < '0' || *value > '9' || *end || errno)
		return err_set(-EINVAL, "%s:%d: %s=%s: a number is expected", at->origin, at->line,
			       k->name, value);
	if (v < k->min || v > k->max)
		return err_set(-EINVAL, "%s:%d: %s=%s: a number from %llu to %llu is expected",
			       at->origin, at->line, k->name, value, (unsigned long long)k->min,
			       (unsigned long long)k->max);
	*(uint64_t *)((char *)to + k->offset) = v;
	return 0;
}

static int add_line(char **lines, const char *name, const char *value)
{
	size_t len = *lines ? strlen(*lines) : 0,
	       more = strlen(name) + strlen(value) + sizeof("=\n");
	char *all = realloc(*lines, len + more);

	if (!all)
		return err_nomem();
	snprintf(all + len, more, "%s=%s\n", name, value);
	*lines = all;
	return 0;
}

static int set(const struct key *keys, size_t nr, void *to, const char *name, const char *value,
	       const struct place *at)
{
	for (size_t i = 0; i < nr; i++) {
		char **text = (char **)((char *)to + keys[i].offset);

		if (strcmp(keys[i].name, name))
			continue;
		switch (keys[i].kind) {
		case KEY_KIND_WORD:
			return set_word(to, &keys[i], value, at);
		case KEY_KIND_NUMBER:
			return set_number(to, &keys[i], value, at);
		case KEY_KIND_LINES:
			return add_line(text, name, value);
		case KEY_KIND_TEXT:
			free(*text);
			*text = strdup(value);
			return *text ? 0 : err_nomem();
		}
	}
	return err_set(-EINVAL, "%s:%d: unknown key \"%s\"", at->origin, at->line, name);
}

int keys_parse(const struct key *keys, size_t nr, void *to, const char *text, const char *origin)
{
	struct place at = { .origin = origin };
	int r = 0;

	while (*text && r >= 0) {
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len), *eq;

		text += len + (text[len] == '\n');
		at.line++;
		if (!line)
			r = err_nomem();
		else if (!*line || *line == '#')
			;
		else if (!(eq = strchr(line, '=')))
			r = err_set(-EINVAL, "%s:%d: \"%s\" is no key=value", origin, at.line,
				    line);
		else {
			*eq = '\0';
			r = set(keys, nr, to, line, eq + 1, &at);
		}
		free(line);
	}
	return r;
}

void keys_done(const struct key *keys, size_t nr, void *of)
{
	for (size_t i = 0; i < nr; i++) {
		char **text = (char **)((char *)of + keys[i].offset);

		if (keys[i].kind == KEY_KIND_TEXT || keys[i].kind == KEY_KIND_LINES) {
			free(*text);
			*text = NULL;
		}
	}
}
