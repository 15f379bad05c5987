/* SPDX-License-Identifier: MIT */
#include "complete.h"

#include "script_find.h"
#include "settings.h"

#include <sonde/sonde.h>

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct completion {
	struct cli *cli;
	const struct command *command; /* NULL before its name */
	const char *word;              /* the current word up to the cursor */
	size_t begin;                  /* bytes of it that candidates keep */
	const char *operands[2];       /* the first operands before the current word */
	int nr_operands;
	const char *recording; /* of -i; NULL if not given */
	int first_operand;     /* its index, 1 for the first word */
	bool only_operands;    /* no options follow */
	bool is_unknown;       /* the command is unknown */

	/* While events are listed: */
	bool has_match;   /* the typed glob matches an event */
	char glob[256];   /* the typed glob with a '*', "" if that matches no event */
	char system[256]; /* "sched:", the last system found */
	size_t nr_systems, nr_named;
};

static const char *typed(const struct completion *c)
{
	return c->word + c->begin;
}

static void put_line(const struct completion *c, char kind, const char *candidate)
{
	printf("%c%.*s%s\n", kind, (int)c->begin, c->word, candidate);
}

static void offer_part(const struct completion *c, char kind, const char *candidate, size_t len)
{
	if (!strncmp(candidate, typed(c), strlen(typed(c))) && len >= strlen(typed(c)))
		printf("%c%.*s%.*s\n", kind, (int)c->begin, c->word, (int)len, candidate);
}

static void offer(const struct completion *c, const char *candidate)
{
	offer_part(c, '=', candidate, strlen(candidate));
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct opt *find_word(const struct opt *table, const char *word, size_t len)
{
	const struct opt *begins = NULL;

	opt_each(o, table) {
		if (!o->word || strncmp(o->word, word, len))
			continue;
		if (!o->word[len])
			return o;
		begins = begins ? begins : o;
	}
	return begins;
}

/*
 * The option of `word` that takes a value. *ret_begin: number of bytes of `word` before that value,
 * 0 if the value is the next word. NULL if there is none.
 */
static const struct opt *valued(const struct completion *c, const char *word, size_t *ret_begin)
{
	const struct opt *tables[] = { c->command ? c->command->options : cli_options,
				       cli_options };
	const char *sign = strchr(word, '=');

	if (word[0] != '-' || !word[1])
		return NULL;
	*ret_begin = 0;
	if (word[1] == '-') {
		const size_t len = sign ? (size_t)(sign - word - 2) : strlen(word + 2);
		const struct opt *o = NULL;

		for (int i = 0; i < 2 && !o; i++)
			o = find_word(tables[i], word + 2, len);
		if (!o || !o->value || (!sign && o->flags & OPT_VALUE_OPTIONAL))
			return NULL;
		*ret_begin = sign ? len + 3 : 0;
		return o;
	}
	for (const char *l = word + 1; *l; l++)
		for (int i = 0; i < 2; i++)
			opt_each(o, tables[i]) {
				if (o->letter != *l || !o->value)
					continue;
				*ret_begin = l[1] ? (size_t)(l + 1 - word) : 0;
				return !l[1] && o->flags & OPT_VALUE_OPTIONAL ? NULL : o;
			}
	return NULL;
}

static void offer_options(const struct completion *c, const struct opt *table)
{
	opt_each(o, table) {
		char spelled[64];

		if (o->flags & OPT_HIDDEN)
			continue;
		snprintf(spelled, sizeof(spelled), "-%c", o->letter);
		if (o->letter && strncmp(typed(c), "--", 2))
			offer(c, spelled);
		snprintf(spelled, sizeof(spelled), "--%s", o->word ? o->word : "");
		if (o->word)
			offer(c, spelled);
	}
}

/* ---- values ---------------------------------------------------------------------------------- */

/* "cpu|core|SPEC": words in capitals mean any other value. */
static void offer_alternatives(const struct completion *c, const char *values)
{
	for (size_t len; *values; values += len + (values[len] == '|')) {
		len = strcspn(values, "|");
		if (!isupper((unsigned char)*values))
			offer_part(c, '=', values, len);
	}
}

/* The list element at the cursor begins after the last of these bytes. */
static void begin_behind(struct completion *c, const char *separators)
{
	for (const char *at = typed(c); (at = strpbrk(at, separators)); at++)
		c->begin = (size_t)(at + 1 - c->word);
}

/* The library lists columns and classes when it rejects one: "... there are a b c". */
static void offer_refused(const struct completion *c, const char *session, const char *end)
{
	static const char before[] = "there are ";
	char *text = NULL, *list;

	if (sonde_session_parse(session, &text) >= 0) {
		free(text);
		return;
	}
	list = strdup(sonde_error_text());
	text = list ? strstr(list, before) : NULL;
	for (char *rest, *name = text ? strtok_r(text + strlen(before), " \n", &rest) : NULL; name;
	     name = strtok_r(NULL, " \n", &rest)) {
		char candidate[64];

		snprintf(candidate, sizeof(candidate), "%s%s", name, end);
		offer_part(c, *end ? '+' : '=', candidate, strlen(candidate));
	}
	free(list);
}

static void offer_columns(struct completion *c)
{
	const bool is_first = !strpbrk(typed(c), ",:+-");

	begin_behind(c, ",:");
	if (*typed(c) == '+' || *typed(c) == '-')
		c->begin++;
	offer_refused(c, "input=-\nfields=?\n", "");
	if (is_first)
		offer_refused(c, "input=-\nfields=?:ip\n", ":");
}

static const char globs[] = "*?[";

/* A glob is kept if it matches an event, and gets a '*' if it then matches one. */
static void try_glob(struct completion *c, const char *event)
{
	char glob[sizeof(c->glob)];

	snprintf(glob, sizeof(glob), "%s*", typed(c));
	c->has_match = c->has_match || !fnmatch(typed(c), event, 0);
	if (!fnmatch(glob, event, 0))
		memcpy(c->glob, glob, sizeof(glob));
}

/*
 * "sched:" stands for all of its tracepoints, of which there are thousands. They are listed by
 * system, after all other events. If a system is the only candidate, the caller handles it.
 */
static void offer_system(struct completion *c, const char *event, size_t len)
{
	if (strncmp(event, typed(c), strlen(typed(c))) || len >= sizeof(c->system) ||
	    (!strncmp(c->system, event, len) && !c->system[len]))
		return;
	if (c->nr_systems == 1 && !c->nr_named)
		offer_part(c, '+', c->system, strlen(c->system));
	snprintf(c->system, sizeof(c->system), "%.*s", (int)len, event);
	if (c->nr_systems++ || c->nr_named)
		offer_part(c, '+', c->system, len);
}

static void offer_event(void *ctx, const struct sonde_listed_event *e)
{
	struct completion *c = ctx;
	const char *colon = strchr(e->name, ':'), *const names[] = { e->name, e->alias };

	if (strpbrk(typed(c), globs)) {
		try_glob(c, e->name);
		return;
	}
	if (colon && !strchr(typed(c), ':')) {
		offer_system(c, e->name, (size_t)(colon + 1 - e->name));
		return;
	}
	for (int i = 0; i < 2; i++)
		if (names[i] && !strncmp(names[i], typed(c), strlen(typed(c)))) {
			offer(c, names[i]);
			c->nr_named++;
		}
}

static void offer_tracepoints(struct completion *c)
{
	const struct sonde_list_options opts = { .size = sizeof(opts),
						 .kinds = SONDE_EVENT_TRACEPOINT };

	(void)sonde_list_events(&opts, offer_event, c);
}

/* True for an unpacked perf.data file: packed ones take long to open, and a FIFO may block. */
static bool is_plain_recording(const char *path)
{
	struct stat st;
	char magic[8] = "";
	FILE *f;

	if (strchr(path, '\n') || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	(void)!fread(magic, 1, sizeof(magic), f);
	fclose(f);
	return !memcmp(magic, "PERFILE2", 8) || !memcmp(magic, "2ELIFREP", 8);
}

/* Names in a recording may be hostile, and bash does not quote candidates. */
static bool is_plain_name(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_:-./=+@,", *name))
			return false;
	return true;
}

/* Offers the events of the recording that the command reads. False if they are unknown. */
static bool offer_recorded_events(struct completion *c)
{
	const char *path = c->recording ? c->recording : "perf.data";
	struct sonde_session *s;
	bool is_known = false;
	char *text;

	if (c->command == &cmd_cut && c->nr_operands)
		path = c->operands[0];
	if (c->command == &cmd_record || c->command == &cmd_list || !is_plain_recording(path) ||
	    asprintf(&text, "input=%s\n", path) < 0)
		return false;
	if (sonde_session_open(&s, text, "completion") < 0)
		s = NULL;
	for (uint32_t i = 0; s && i < sonde_session_schemas(s); i++) {
		const struct sonde_schema *sc = sonde_session_schema(s, i);
		const enum sonde_schema_kind kind = sonde_schema_kind(sc);
		const char *name = sonde_schema_name(sc);

		if ((kind != SONDE_TRACEPOINT && kind != SONDE_SAMPLE) ||
		    sonde_schema_family(sc) != i)
			continue;
		is_known = true;
		if (strpbrk(typed(c), globs))
			try_glob(c, name);
		else if (is_plain_name(name))
			offer(c, name);
	}
	sonde_session_close(s);
	free(text);
	return is_known;
}

/* Unreadable events are omitted. */
static void offer_events(struct completion *c)
{
	char *whole;

	begin_behind(c, ",{");
	if (offer_recorded_events(c))
		;
	else if (strchr(typed(c), ':'))
		offer_tracepoints(c);
	else
		(void)sonde_list_events(NULL, offer_event, c);
	if (c->has_match || *c->glob) {
		put_line(c, '=', c->has_match ? typed(c) : c->glob);
	} else if (c->nr_systems == 1 && !c->nr_named &&
		   asprintf(&whole, "%.*s%s", (int)c->begin, c->word, c->system) >= 0) {
		c->word = whole;
		offer_tracepoints(c);
		free(whole);
	}
}

/* A name selects the first script of that name. */
static bool is_first_of_name(const struct script_entries *all, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(all->v[k].name, all->v[i].name))
			return false;
	return true;
}

static void offer_scripts(struct completion *c)
{
	struct script_entries all;
	struct script_places places;

	(void)settings_read(c->cli, cmd_script.name); /* script.path */
	if (script_places_list(c->cli, &places) < 0)
		return;
	if (!script_entries_list(&places, &all)) {
		for (size_t i = 0; i < all.nr; i++)
			if (is_first_of_name(&all, i))
				offer(c, all.v[i].name);
		script_entries_done(&all);
	}
	script_places_done(&places);
}

static void offer_languages(const struct completion *c)
{
	for (const struct language *l = script_languages; l->name; l++)
		if (l->generate)
			offer(c, l->prefixes[0]);
}

static void offer_commands(const struct completion *c)
{
	for (const struct command *const *each = commands; *each; each++)
		if (!(*each)->hidden)
			offer(c, (*each)->name);
}

/* The name of a value in help decides which candidates are offered. */
static void offer_value(struct completion *c, const char *value)
{
	if (strchr(value, '|') || islower((unsigned char)*value)) {
		offer_alternatives(c, value);
	} else if (!strcmp(value, "VERSION")) {
		for (size_t i = 0; sonde_rules_get(i); i++)
			offer(c, sonde_rules_get(i)->version);
	} else if (!strcmp(value, "EVENTS") || !strcmp(value, "EVENT")) {
		offer_events(c);
	} else if (!strcmp(value, "[CLASS:]FIELDS")) {
		offer_columns(c);
	} else if (!strcmp(value, "LANG")) {
		offer_languages(c);
	} else if (!strcmp(value, "[LANG:]SCRIPT")) {
		begin_behind(c, ":");
		offer_scripts(c);
		put_line(c, 'f', "");
	} else if (!strcmp(value, "FILE") || !strcmp(value, "PREFIX")) {
		put_line(c, 'f', "");
	} else if (!strcmp(value, "DIR")) {
		put_line(c, 'd', "");
	} else if (!strcmp(value, "PROGRAM")) {
		put_line(c, 'c', "");
	}
}

/* ---- words that are no options --------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end);
}

static void offer_script_operand(struct completion *c)
{
	const bool has_verb = c->nr_operands == 1 && (!strcmp(c->operands[0], "record") ||
						      !strcmp(c->operands[0], "report"));

	if (!c->nr_operands)
		offer_alternatives(c, "record|report");
	if (!c->nr_operands || has_verb)
		offer_scripts(c);
	put_line(c, 'f', "");
}

static void offer_operand(struct completion *c)
{
	if (!c->command) {
		offer_commands(c);
	} else if (c->command == &cmd_help) {
		if (!c->nr_operands)
			offer_commands(c);
	} else if (c->command == &cmd_script) {
		offer_script_operand(c);
	} else if (c->command == &cmd_record && c->nr_operands) {
		printf("w%d\n", c->first_operand);
	} else if (c->command == &cmd_record) {
		put_line(c, 'c', "");
	} else if (c->command == &cmd_list) {
		offer_alternatives(c, "hw|sw|cache|pmu|raw|breakpoint|tracepoint");
		offer_events(c);
	} else if (!c->nr_operands && ends_with(c->command->usage[0], "[FILE]")) {
		put_line(c, 'f', "");
	} else if (!c->nr_operands && ends_with(c->command->usage[0], " DIR")) {
		put_line(c, 'd', "");
	}
}

static void note_value(struct completion *c, const struct opt *o, const char *value)
{
	if (o->key && !strcmp(o->key, "input"))
		c->recording = value;
}

/*
 * Reads the words before the current one. Returns the option whose value is the current word, or
 * NULL.
 */
static const struct opt *read_words(struct completion *c, int nr, char **words)
{
	const struct opt *waiting = NULL;
	size_t begin;

	for (int i = 0; i < nr; i++) {
		if (waiting) {
			note_value(c, waiting, words[i]);
			waiting = NULL;
		} else if (!strcmp(words[i], "--")) {
			c->only_operands = true;
		} else if (words[i][0] == '-' && words[i][1] && !c->only_operands) {
			waiting = valued(c, words[i], &begin);
			if (!waiting || !begin)
				continue;
			note_value(c, waiting, words[i] + begin);
			waiting = NULL;
		} else if (!c->command && !c->is_unknown) {
			c->command = command_find(words[i], NULL);
			c->is_unknown = !c->command;
		} else {
			if (!c->nr_operands)
				c->first_operand = i + 1;
			if (c->nr_operands < 2)
				c->operands[c->nr_operands] = words[i];
			c->nr_operands++;
			c->only_operands = c->only_operands || !c->command || !c->command->permute;
		}
	}
	return waiting;
}

/* -o, --option, --option=VALUE, -oVALUE */
static void offer_option(struct completion *c)
{
	const struct opt *o = valued(c, c->word, &c->begin);

	if (o && c->begin) {
		offer_value(c, o->value);
		return;
	}
	if (c->command)
		offer_options(c, c->command->options);
	offer_options(c, cli_options);
}

void complete_print(struct cli *cli, int nr, char **words)
{
	struct completion c = { .cli = cli, .word = nr ? words[nr - 1] : "" };
	const struct opt *o;

	if (!freopen("/dev/null", "w", stderr))
		return;
	o = read_words(&c, nr - 1, words);
	if (o)
		offer_value(&c, o->value);
	else if (*c.word == '-' && !c.only_operands)
		offer_option(&c);
	else if (!c.is_unknown)
		offer_operand(&c);
}
