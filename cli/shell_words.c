/* SPDX-License-Identifier: MIT */
#include "shell_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Copies one word without its quotes; *at is the text after it. False if a quote is not closed. */
static bool shell_word_take(const char **at, char **to)
{
	char quote = 0;
	const char *p = *at;

	for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"')
			quote = quote ? 0 : *p;
		else if (*p == '\\' && quote != '\'' && p[1])
			*(*to)++ = *++p;
		else
			*(*to)++ = *p;
	}
	*(*to)++ = '\0';
	*at = p;
	return !quote;
}

int shell_words_split(const char *line, struct shell_words *ret)
{
	const size_t most = strlen(line) / 2 + 2;
	struct shell_words w = {
		.v = calloc(most, sizeof(*w.v)),
		.text = malloc(strlen(line) + 2),
	};
	char *to = w.text;
	bool is_closed = true;

	if (!w.v || !w.text) {
		shell_words_done(&w);
		return -1;
	}
	while (is_closed) {
		while (isspace((unsigned char)*line))
			line++;
		if (!*line)
			break;
		w.v[w.n++] = to;
		is_closed = shell_word_take(&line, &to);
	}
	if (!is_closed) {
		shell_words_done(&w);
		return -1;
	}
	*ret = w;
	return 0;
}

void shell_words_done(struct shell_words *w)
{
	free(w->v);
	free(w->text);
	*w = (struct shell_words){ 0 };
}
