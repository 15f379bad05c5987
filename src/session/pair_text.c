/* SPDX-License-Identifier: MIT */
#include "session/pair_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "filters/event_names.h"

enum {
	PAIR_TEXT_MAX = 64,
	PAIR_TEXT_NAMES = sizeof(((struct pair_text *)0)->names) / sizeof(char *)
};

static int pair_text_refuse(const struct pair_text *t)
{
	return err_set(-EINVAL,
		       "pair=%s: START,STOP[,KEY[,STOPKEY]] is expected: two events by name, and "
		       "the value that both have",
		       t->text);
}

static int pair_text_split(struct pair_text *t)
{
	size_t nr = 0, n;

	for (const char *at = t->text;; at += n + 1) {
		n = event_names_length(at);
		if (!n || nr == PAIR_TEXT_NAMES || memchr(at, '(', n) || memchr(at, ')', n))
			return pair_text_refuse(t);
		t->names[nr] = strndup(at, n);
		if (!t->names[nr++])
			return err_nomem();
		if (!at[n])
			break;
	}
	return nr < 2 || strpbrk(t->names[0], "*?[") || strpbrk(t->names[1], "*?[")
		       ? pair_text_refuse(t)
		       : 0;
}

static int pair_text_parse(const char *value, size_t len, struct pair_text *ret)
{
	const size_t room = len + sizeof("pair()");

	*ret = (struct pair_text){ .text = strndup(value, len), .name = malloc(room) };
	if (!ret->text || !ret->name)
		return err_nomem();
	snprintf(ret->name, room, "pair(%s)", ret->text);
	return pair_text_split(ret);
}

void pair_text_done(struct pair_text *t)
{
	for (size_t i = 0; i < PAIR_TEXT_NAMES; i++)
		free(t->names[i]);
	free(t->text);
	free(t->name);
}

void pair_texts_done(struct pair_texts *l)
{
	vec_foreach(t, l)
		pair_text_done(t);
	vec_done(l);
}

static int pair_text_parse_lines(const char *lines, struct pair_texts *ret)
{
	size_t len;

	for (const char *at = lines; at && *at; at += len + (at[len] == '\n')) {
		bool is_known = false;

		at += strlen("pair=");
		len = strcspn(at, "\n");
		vec_foreach(t, ret)
			is_known |= strlen(t->text) == len && !strncmp(t->text, at, len);
		if (is_known)
			continue;
		if (ret->n == PAIR_TEXT_MAX)
			return err_set(-E2BIG, "pair: at most %d pairs are possible",
				       PAIR_TEXT_MAX);
		TRY(vec_push(ret, (struct pair_text){ 0 }));
		TRY(pair_text_parse(at, len, &ret->v[ret->n - 1]));
	}
	return 0;
}

int pair_texts_parse(const char *lines, struct pair_texts *ret)
{
	int r = pair_text_parse_lines(lines, ret);

	if (r < 0)
		pair_texts_done(ret);
	return r;
}

int pair_texts_check(const char *lines)
{
	struct pair_texts l = { 0 };

	TRY(pair_texts_parse(lines, &l));
	pair_texts_done(&l);
	return 0;
}
