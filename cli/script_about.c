/* SPDX-License-Identifier: MIT */
#include "script_about.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024 };

/* A line without leading and trailing blanks. */
struct about_line {
	const char *text;
	size_t len;
};

static struct about_line about_trimmed(const char *text, size_t len)
{
	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	return (struct about_line){ text, len };
}

static bool about_begins(struct about_line l, const char *word)
{
	return l.len >= strlen(word) && !strncmp(l.text, word, strlen(word));
}

/* Appends after a blank. */
static int about_add(char **text, struct about_line more)
{
	char *all;

	if (!more.len)
		return 0;
	if (asprintf(&all, "%s%s%.*s", *text ? *text : "", *text ? " " : "", (int)more.len,
		     more.text) < 0)
		return -1;
	free(*text);
	*text = all;
	return 0;
}

/* Reads "# key: value". */
static int about_read_comment(struct script_about *a, struct about_line l)
{
	static const char *const keys[] = { "description:", "args:", "record:", "sonde:" };
	char **const values[] = { &a->description, &a->args, &a->record, &a->sonde };

	l = about_trimmed(l.text + 1, l.len - 1);
	for (int i = 0; i < 4; i++) {
		size_t len = strlen(keys[i]);

		/* The first line counts, but `record` may need several lines. */
		if (about_begins(l, keys[i]) && (i == 2 || !*values[i]))
			return about_add(values[i], about_trimmed(l.text + len, l.len - len));
	}
	return 0;
}

/* The first line of a """docstring""". */
static struct about_line about_docstring(struct about_line l)
{
	const char *end;

	if (l.len && strchr("rRuU", *l.text))
		l = (struct about_line){ l.text + 1, l.len - 1 };
	if (!about_begins(l, "\"\"\"") && !about_begins(l, "\'\'\'"))
		return (struct about_line){ NULL, 0 };
	end = memmem(l.text + 3, l.len - 3, l.text, 3);
	return about_trimmed(l.text + 3, end ? (size_t)(end - l.text) - 3 : l.len - 3);
}

/*
 * True if a function's definition begins the line: "def sched__sched_switch(", "sub process_event",
 * or if it imports the module whose functions declare handlers.
 */
static bool about_is_handler(struct about_line l)
{
	static const char *const known[] = { "trace_begin", "trace_end", "trace_unhandled",
					     "process_event", "process_stat" };
	const char *name = l.text + 4;
	size_t len = 0;

	if (about_begins(l, "import sonde") || about_begins(l, "from sonde import "))
		return true;
	if (!about_begins(l, "def ") && !about_begins(l, "sub "))
		return false;
	while (len < l.len - 4 && (isalnum((unsigned char)name[len]) || strchr("_:", name[len])))
		len++;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (len == strlen(known[i]) && !strncmp(name, known[i], len))
			return true;
	return len > 4 && *name != '_' &&
	       (memmem(name, len, "__", 2) || memmem(name, len, "::", 2));
}

/*
 * Reads the words after `perf record` in a wrapper's line, except placeholders for the caller's
 * words.
 */
static int about_read_command(struct script_about *a, struct about_line l, bool *is_open)
{
	const char *at = *is_open ? l.text : memmem(l.text, l.len, "perf record", 11);
	const char *end = l.text + l.len;

	if (!at || (!*is_open && a->record))
		return 0;
	at += *is_open ? 0 : 11;
	*is_open = end > at && end[-1] == '\\';
	if (*is_open)
		end--;
	while (at < end) {
		struct about_line word;
		size_t len;

		while (at < end && isspace((unsigned char)*at))
			at++;
		for (len = 0; at + len < end && !isspace((unsigned char)at[len]);)
			len++;
		word = (struct about_line){ at, len };
		at += len;
		if (len && strchr(";|)&", *word.text)) {
			*is_open = false;
			return 0;
		}
		if (!about_begins(word, "$@") && !about_begins(word, "\"$@\"") &&
		    about_add(&a->record, word) < 0)
			return -1;
	}
	return 0;
}

static int about_read_lines(struct script_about *a, const char *text, size_t len)
{
	const char *end = text + len, *next;
	bool has_code = false, in_command = false;

	for (; text < end; text = next) {
		const char *lf = memchr(text, '\n', (size_t)(end - text));
		const size_t length = (size_t)((lf ? lf : end) - text);
		const struct about_line raw = { text, length }, l = about_trimmed(text, length);

		next = lf ? lf + 1 : end;
		if (!l.len)
			continue;
		if (*l.text == '#') {
			if (!about_begins(l, "#!") && about_read_comment(a, l) < 0)
				return -1;
			continue;
		}
		if (!has_code && !a->description &&
		    about_add(&a->description, about_docstring(l)) < 0)
			return -1;
		has_code = true;
		a->has_handlers |= about_is_handler(raw);
		if (about_read_command(a, l, &in_command) < 0)
			return -1;
	}
	return 0;
}

int script_about_read(const char *file, struct script_about *ret)
{
	struct script_about a = { 0 };
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = malloc(READ_BYTES);
	ssize_t n = fd < 0 || !text ? 0 : read(fd, text, READ_BYTES);
	int r = text ? 0 : -1;

	if (fd >= 0)
		close(fd);
	if (n > 0)
		r = about_read_lines(&a, text, (size_t)n);
	free(text);
	if (r < 0) {
		script_about_done(&a);
		return -1;
	}
	*ret = a;
	return 0;
}

void script_about_done(struct script_about *a)
{
	free(a->description);
	free(a->args);
	free(a->record);
	free(a->sonde);
	*a = (struct script_about){ 0 };
}

int script_about_required(const struct script_about *a)
{
	int n = 0;

	for (const char *p = a->args; p && (p = strchr(p, '<')); p++)
		n++;
	return n;
}

bool script_about_takes(const struct script_about *a, const char *word, int *ret_words)
{
	const size_t len = strcspn(word, "=");

	if (strncmp(word, "--", 2) || len < 3)
		return false;
	for (const char *p = a->args; p && (p = strchr(p, '-')); p += strcspn(p, " ]|")) {
		const char *rest = p + len;

		if (strncmp(p, word, len) || !strchr(" ]|=", *rest))
			continue;
		/* "[--top N]" takes a value, "[--json] [comm]" none */
		*ret_words = 1 + (*rest == ' ' && !strchr("[|<-", rest[1]) && !word[len]);
		return true;
	}
	return false;
}
