/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "say.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST   (1 << 20) /* bytes; a longer file is no configuration */
#define SYSTEM_FILE "/etc/perfconfig"

/* ---- syntax ---------------------------------------------------------------------------------- */

struct config_parser {
	const char *at, *end;
	int line;
	char *out; /* as long as the text: results are never longer */
	size_t len;
};

static int config_peek(const struct config_parser *p)
{
	return p->at < p->end ? (unsigned char)*p->at : EOF;
}

static void config_put(struct config_parser *p, int c)
{
	p->out[p->len++] = (char)c;
}

static void config_skip_blanks(struct config_parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r'))
		p->at++;
}

static bool config_skip_line(struct config_parser *p)
{
	while (p->at < p->end && *p->at != '\n')
		p->at++;
	return true;
}

/* Parses [name] or [name "subsection"]; out gets "name." or "name.subsection.". */
static bool config_parse_section(struct config_parser *p)
{
	p->at++;
	p->len = 0;
	while (isalnum(config_peek(p)) || config_peek(p) == '-' || config_peek(p) == '.' ||
	       config_peek(p) == '_')
		config_put(p, tolower((unsigned char)*p->at++));
	if (!p->len)
		return false;
	config_skip_blanks(p);
	if (config_peek(p) == '"') {
		config_put(p, '.');
		for (p->at++; config_peek(p) != '"'; p->at++) {
			if (config_peek(p) == '\\')
				p->at++;
			if (config_peek(p) == EOF || config_peek(p) == '\n')
				return false;
			config_put(p, *p->at);
		}
		p->at++;
	}
	if (config_peek(p) != ']')
		return false;
	p->at++;
	config_put(p, '.');
	return true;
}

static bool config_parse_escape(struct config_parser *p)
{
	static const char from[] = "tbn\\\"", to[] = "\t\b\n\\\"";
	int c = config_peek(p);
	const char *found;

	if (c == '\r' && p->at + 1 < p->end && p->at[1] == '\n')
		c = *++p->at;
	p->at++;
	if (c == '\n') {
		p->line++;
		return true;
	}
	found = c > 0 ? strchr(from, c) : NULL;
	if (found)
		config_put(p, to[found - from]);
	return found;
}

/*
 * Parses up to the end of the line; blanks outside quotes count as one, those at both ends are
 * dropped.
 */
static bool config_parse_value(struct config_parser *p)
{
	bool quoted = false, blank = false;
	size_t start = p->len;

	for (;; p->at++) {
		int c = config_peek(p);

		if (c == '\r' && (p->at + 1 == p->end || p->at[1] == '\n'))
			continue;
		if (c == EOF || c == '\n')
			return !quoted;
		if (!c)
			return false;
		if (!quoted && (c == ' ' || c == '\t')) {
			blank = p->len > start;
			continue;
		}
		if (!quoted && (c == '#' || c == ';'))
			return config_skip_line(p);
		if (blank)
			config_put(p, ' ');
		blank = false;
		if (c == '"') {
			quoted = !quoted;
		} else if (c == '\\') {
			p->at++;
			if (!config_parse_escape(p))
				return false;
			p->at--;
		} else {
			config_put(p, c);
		}
	}
}

/* Parses name = value; out gets the name, NUL and the value. */
static bool config_parse_entry(struct config_parser *p, size_t section_len)
{
	p->len = section_len;
	if (!section_len || !isalpha(config_peek(p)))
		return false;
	while (isalnum(config_peek(p)) || config_peek(p) == '-' || config_peek(p) == '_')
		config_put(p, tolower((unsigned char)*p->at++));
	config_put(p, '\0');
	config_skip_blanks(p);
	if (config_peek(p) != '=')
		return false;
	p->at++;
	return config_parse_value(p);
}

static int config_add(struct config *c, const char *file, bool ours, const struct config_parser *p,
		      int line)
{
	struct config_entry *more =
		reallocarray(c->entries, c->nr_entries + 1, sizeof(*c->entries));
	size_t name_len = strlen(p->out) + 1;
	struct config_entry e = { .file = file, .line = line, .ours = ours };

	if (!more)
		return -1;
	c->entries = more;
	e.name = strdup(p->out);
	e.value = strndup(p->out + name_len, p->len - name_len);
	if (!e.name || !e.value) {
		free(e.name);
		free(e.value);
		return -1;
	}
	c->entries[c->nr_entries++] = e;
	return 0;
}

static int config_parse_lines(struct config *c, const char *file, bool ours,
			      struct config_parser *p)
{
	size_t section_len = 0;

	while (p->at < p->end) {
		int line = p->line;

		config_skip_blanks(p);
		switch (config_peek(p)) {
		case EOF:
			break;
		case '\n':
			p->line++;
			p->at++;
			break;
		case '#':
		case ';':
			config_skip_line(p);
			break;
		case '[':
			if (!config_parse_section(p))
				return line;
			section_len = p->len;
			break;
		default:
			if (!config_parse_entry(p, section_len))
				return p->line;
			if (config_add(c, file, ours, p, line))
				return -1;
		}
	}
	return 0;
}

int config_parse(struct config *c, const char *file, bool ours, const char *text, size_t len)
{
	struct config_parser p = {
		.at = text,
		.end = text + len,
		.line = 1,
		.out = malloc(len + 2),
	};
	int bad;

	if (!p.out)
		return -1;
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) /* a byte order mark */
		p.at += 3;
	bad = config_parse_lines(c, file, ours, &p);
	free(p.out);
	return bad;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int config_out_of_memory(void)
{
	cli_say("out of memory");
	return -1;
}

/* *ret gets the text, released with free(); NULL for a file that must not be read. */
static int config_read_file(const char *path, bool at_home, char **ret, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	size_t got = 0;
	ssize_t n;

	*ret = NULL;
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_MOST) {
		close(fd);
		return 0;
	}
	if (at_home && st.st_uid && st.st_uid != geteuid()) {
		cli_say("%s belongs neither to you nor to root: it is not read", path);
		close(fd);
		return 0;
	}
	*ret = malloc((size_t)st.st_size + 1);
	if (!*ret) {
		close(fd);
		return config_out_of_memory();
	}
	while (got < (size_t)st.st_size && (n = read(fd, *ret + got, (size_t)st.st_size - got)) > 0)
		got += (size_t)n;
	close(fd);
	*ret_len = got;
	return 0;
}

/* Takes ownership of path, which may be NULL. */
static int config_read_one(struct config *c, char *path, bool at_home, bool ours)
{
	char *text;
	size_t len;
	int bad;

	if (!path)
		return config_out_of_memory();
	if (config_read_file(path, at_home, &text, &len)) {
		free(path);
		return -1;
	}
	if (!text) {
		free(path);
		return 0;
	}
	c->files[c->nr_files++] = path;
	bad = config_parse(c, path, ours, text, len);
	free(text);
	if (bad < 0)
		return config_out_of_memory();
	if (!bad)
		return 0;
	cli_say("%s:%d: no [section], and no name = value%s", path, bad,
		ours ? "" : "; the rest is not read");
	return ours ? -1 : 0;
}

static char *config_joined(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

static bool config_said(const char *name)
{
	const char *value = getenv(name);

	return value && config_bool(value) == 1;
}

static int config_read_perf(struct config *c)
{
	const char *named = getenv("PERF_CONFIG"), *home = getenv("HOME");

	if (named)
		return config_read_one(c, strdup(named), false, false);
	if (!config_said("PERF_CONFIG_NOSYSTEM") &&
	    config_read_one(c, strdup(SYSTEM_FILE), false, false))
		return -1;
	if (!home || !*home || config_said("PERF_CONFIG_NOGLOBAL"))
		return 0;
	return config_read_one(c, config_joined(home, ".perfconfig"), true, false);
}

static int config_read_sonde(struct config *c)
{
	const char *named = getenv("SONDE_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	if (named)
		return config_read_one(c, strdup(named), false, true);
	if (xdg && *xdg)
		return config_read_one(c, config_joined(xdg, "sonde/config"), true, true);
	if (!home || !*home)
		return 0;
	return config_read_one(c, config_joined(home, ".config/sonde/config"), true, true);
}

int config_read(struct config *ret)
{
	struct config c = { 0 };

	if (config_read_perf(&c) || config_read_sonde(&c)) {
		config_done(&c);
		return -1;
	}
	*ret = c;
	return 0;
}

void config_done(struct config *c)
{
	for (size_t i = 0; i < c->nr_entries; i++) {
		free(c->entries[i].name);
		free(c->entries[i].value);
	}
	for (size_t i = 0; i < c->nr_files; i++)
		free(c->files[i]);
	free(c->entries);
	*c = (struct config){ 0 };
}

const struct config_entry *config_find(const struct config *c, const char *name, bool ours)
{
	for (size_t i = c->nr_entries; i--;)
		if (c->entries[i].ours == ours && !strcmp(c->entries[i].name, name))
			return &c->entries[i];
	return NULL;
}

int config_bool(const char *value)
{
	static const char *const words[2][4] = { { "false", "no", "off", "0" },
						 { "true", "yes", "on", "1" } };

	for (int yes = 0; yes < 2; yes++)
		for (int i = 0; i < 4; i++)
			if (!strcasecmp(value, words[yes][i]))
				return yes;
	return -1;
}
