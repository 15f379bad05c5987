/* SPDX-License-Identifier: MIT */
#include "base/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"

const char *const key_flag_words[] = { "0", "1", NULL };

/* The place of a line, for messages. */
struct keys_place {
	const char *origin;
	int line;
};

static int keys_set_word(void *to, const struct key *k, const char *value,
			 const struct keys_place *at)
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
	err_set(-EINVAL, "%s:%d: %s=%s: expected one of %s", at->origin, at->line, k->name, value,
		choices.failed ? "its words" : choices.data);
	outbuf_done(&choices);
	return -EINVAL;
}

static int keys_set_number(void *to, const struct key *k, const char *value,
			   const struct keys_place *at)
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

static int keys_add_line(char **lines, const char *name, const char *value)
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

static int keys_set(void *to, const struct key *k, const char *value, const struct keys_place *at)
{
	char **text = (char **)((char *)to + k->offset);

	switch (k->kind) {
	case KEY_KIND_WORD:
		return keys_set_word(to, k, value, at);
	case KEY_KIND_NUMBER:
		return keys_set_number(to, k, value, at);
	case KEY_KIND_LINES:
		return keys_add_line(text, k->name, value);
	case KEY_KIND_TEXT:
		free(*text);
		*text = strdup(value);
	}
	return *text ? 0 : err_nomem();
}

static const struct key *keys_find(const struct key_set *s, const char *name)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->keys[i].name, name))
			return &s->keys[i];
	return NULL;
}

static int keys_unknown(const struct key_set *sets, size_t nr_sets, const char *name,
			const struct keys_place *at)
{
	struct near near;
	char text[4 * NEAR_NAME];

	near_init(&near, name);
	for (const struct key_set *s = sets; s < sets + nr_sets; s++)
		for (size_t i = 0; i < s->nr; i++)
			near_offer(&near, s->keys[i].name);
	near_text(&near, text, sizeof(text));
	return err_set(-EINVAL, "%s:%d: unknown key \"%s\"%s", at->origin, at->line, name, text);
}

static int keys_set_by_name(const struct key_set *sets, size_t nr_sets, const char *name,
			    const char *value, const struct keys_place *at)
{
	bool is_known = false;

	for (const struct key_set *s = sets; s < sets + nr_sets; s++) {
		const struct key *k = keys_find(s, name);

		if (k)
			TRY(keys_set(s->to, k, value, at));
		is_known |= k != NULL;
	}
	if (is_known)
		return 0;
	return keys_unknown(sets, nr_sets, name, at);
}

int key_sets_parse(const struct key_set *sets, size_t nr_sets, const char *text, const char *origin)
{
	struct keys_place at = { .origin = origin };
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
			r = err_set(-EINVAL, "%s:%d: \"%s\" is not key=value", origin, at.line,
				    line);
		else {
			*eq = '\0';
			r = keys_set_by_name(sets, nr_sets, line, eq + 1, &at);
		}
		free(line);
	}
	return r;
}

void keys_init(const struct key *keys, size_t nr, void *to, size_t bytes)
{
	memset(to, 0, bytes);
	for (size_t i = 0; i < nr; i++)
		if (keys[i].kind == KEY_KIND_NUMBER)
			*(uint64_t *)((char *)to + keys[i].offset) = KEY_NO_NUMBER;
}

static void key_print(const struct key_set *s, const struct key *k, struct outbuf *out)
{
	const void *at = (const char *)s->to + k->offset;

	switch (k->kind) {
	case KEY_KIND_WORD:
		outbuf_fmt(out, "%s=%s\n", k->name, k->words[*(const uint32_t *)at]);
		break;
	case KEY_KIND_NUMBER:
		if (*(const uint64_t *)at != KEY_NO_NUMBER)
			outbuf_fmt(out, "%s=%llu\n", k->name,
				   (unsigned long long)*(const uint64_t *)at);
		break;
	case KEY_KIND_TEXT:
		if (*(const char *const *)at)
			outbuf_fmt(out, "%s=%s\n", k->name, *(const char *const *)at);
		break;
	/* Neighbours with the same member share its lines; the first one prints them. */
	case KEY_KIND_LINES:
		if ((k == s->keys || k->offset != k[-1].offset) && *(const char *const *)at)
			outbuf_str(out, *(const char *const *)at);
		break;
	}
}

void key_sets_print(const struct key_set *sets, size_t nr_sets, struct outbuf *out)
{
	for (const struct key_set *s = sets; s < sets + nr_sets; s++) {
		for (size_t i = 0; i < s->nr; i++) {
			const struct key_set *earlier = sets;

			while (earlier < s && !keys_find(earlier, s->keys[i].name))
				earlier++;
			if (earlier == s)
				key_print(s, &s->keys[i], out);
		}
	}
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
