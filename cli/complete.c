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
	/* NULL if the current word is before its name or is its name */
	const struct command *command;
	const struct command_verb *verb; /* NULL if none was typed */
	const char *word;                /* the current word up to the cursor */
	size_t begin;                    /* number of bytes of `word` that candidates keep */
	const char *operands[2];         /* the first operands before the current word */
	int nr_operands;
	const char *recording; /* value of -i; NULL if not given */
	int first_operand;     /* index of the first operand, 1 for the first word */
	bool only_operands;    /* no options follow */
	bool is_unknown;       /* the command is unknown */

	/* While events are listed: */
	bool has_match;   /* the typed glob matches an event */
	char glob[256];   /* the typed glob with a '*'; "" if it matches no event */
	char system[256]; /* "sched:", the last system found */
	size_t nr_systems, nr_named;
};

static const char *complete_typed(const struct completion *c)
{
	return c->word + c->begin;
}

static void complete_put_line(const struct completion *c, char kind, const char *candidate)
{
	printf("%c%.*s%s\n", kind, (int)c->begin, c->word, candidate);
}

static void complete_offer_bytes(const struct completion *c, char kind, const char *candidate,
				 size_t len)
{
	if (!strncmp(candidate, complete_typed(c), strlen(complete_typed(c))) &&
	    len >= strlen(complete_typed(c)))
		printf("%c%.*s%.*s\n", kind, (int)c->begin, c->word, (int)len, candidate);
}

static void complete_offer(const struct completion *c, const char *candidate)
{
	complete_offer_bytes(c, '=', candidate, strlen(candidate));
}

/* The options of the command, or of its verb; NULL before the command. */
static const struct opt *complete_table(const struct completion *c)
{
	return c->verb ? c->verb->options : c->command ? c->command->options : NULL;
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct opt *complete_find_word(const struct opt *table, const char *word, size_t len)
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
 * Finds the option in `word` that takes a value; NULL if there is none. *ret_begin is the number of
 * bytes of `word` before the value, 0 if the value is the next word.
 */
static const struct opt *complete_valued(const struct completion *c, const char *word,
					 size_t *ret_begin)
{
	const struct opt *own = complete_table(c),
			 *tables[] = { own ? own : cli_options, cli_options };
	const char *sign = strchr(word, '=');

	if (word[0] != '-' || !word[1])
		return NULL;
	*ret_begin = 0;
	if (word[1] == '-') {
		const size_t len = sign ? (size_t)(sign - word - 2) : strlen(word + 2);
		const struct opt *o = NULL;

		for (int i = 0; i < 2 && !o; i++)
			o = complete_find_word(tables[i], word + 2, len);
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

static void complete_offer_options(const struct completion *c, const struct opt *table)
{
	opt_each(o, table) {
		char spelled[64];

		if (o->flags & OPT_HIDDEN)
			continue;
		snprintf(spelled, sizeof(spelled), "-%c", o->letter);
		if (o->letter && strncmp(complete_typed(c), "--", 2))
			complete_offer(c, spelled);
		snprintf(spelled, sizeof(spelled), "--%s", o->word ? o->word : "");
		if (o->word)
			complete_offer(c, spelled);
	}
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Offers the words of "cpu|core|SPEC". A word in capitals means any other value. */
static void complete_offer_alternatives(const struct completion *c, const char *values)
{
	for (size_t len; *values; values += len + (values[len] == '|')) {
		len = strcspn(values, "|");
		if (!isupper((unsigned char)*values))
			complete_offer_bytes(c, '=', values, len);
	}
}

/* Sets c->begin: the list element at the cursor begins after the last of these bytes. */
static void complete_begin_behind(struct completion *c, const char *separators)
{
	for (const char *at = complete_typed(c); (at = strpbrk(at, separators)); at++)
		c->begin = (size_t)(at + 1 - c->word);
}

/* Offers columns and classes that the library lists when it rejects one: "... there are a b c". */
static void complete_offer_refused(const struct completion *c, const char *session, const char *end)
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
		complete_offer_bytes(c, *end ? '+' : '=', candidate, strlen(candidate));
	}
	free(list);
}

static void complete_offer_columns(struct completion *c)
{
	const bool is_first = !strpbrk(complete_typed(c), ",:+-");

	complete_begin_behind(c, ",:");
	if (*complete_typed(c) == '+' || *complete_typed(c) == '-')
		c->begin++;
	complete_offer_refused(c, "input=-\nfields=?\n", "");
	if (is_first)
		complete_offer_refused(c, "input=-\nfields=?:ip\n", ":");
}

static const char globs[] = "*?[";

/* Keeps a glob that matches an event, and appends a '*' if it then matches one. */
static void complete_try_glob(struct completion *c, const char *event)
{
	char glob[sizeof(c->glob)];

	snprintf(glob, sizeof(glob), "%s*", complete_typed(c));
	c->has_match = c->has_match || !fnmatch(complete_typed(c), event, 0);
	if (!fnmatch(glob, event, 0))
		memcpy(c->glob, glob, sizeof(glob));
}

/*
 * Offers "sched:" for all tracepoints of that system, because there are thousands of tracepoints.
 * Systems are listed after all other events. If a system is the only candidate, the caller handles
 * it.
 */
static void complete_offer_system(struct completion *c, const char *event, size_t len)
{
	if (strncmp(event, complete_typed(c), strlen(complete_typed(c))) ||
	    len >= sizeof(c->system) || (!strncmp(c->system, event, len) && !c->system[len]))
		return;
	if (c->nr_systems == 1 && !c->nr_named)
		complete_offer_bytes(c, '+', c->system, strlen(c->system));
	snprintf(c->system, sizeof(c->system), "%.*s", (int)len, event);
	if (c->nr_systems++ || c->nr_named)
		complete_offer_bytes(c, '+', c->system, len);
}

static void complete_offer_event(void *ctx, const struct sonde_listed_event *e)
{
	struct completion *c = ctx;
	const char *colon = strchr(e->name, ':'), *const names[] = { e->name, e->alias };

	if (strpbrk(complete_typed(c), globs)) {
		complete_try_glob(c, e->name);
		return;
	}
	if (colon && !strchr(complete_typed(c), ':')) {
		complete_offer_system(c, e->name, (size_t)(colon + 1 - e->name));
		return;
	}
	for (int i = 0; i < 2; i++)
		if (names[i] && !strncmp(names[i], complete_typed(c), strlen(complete_typed(c)))) {
			complete_offer(c, names[i]);
			c->nr_named++;
		}
}

static const char vendors[] = "pfm:";

static void complete_offer_kinds(struct completion *c, uint32_t kinds)
{
	const struct sonde_list_options opts = { .size = sizeof(opts), .kinds = kinds };

	(void)sonde_list_events(&opts, complete_offer_event, c);
}

/* The names behind a colon, of tracepoints or of a processor's vendor. */
static void complete_offer_behind_colon(struct completion *c)
{
	const bool is_vendors = !strncmp(complete_typed(c), vendors, strlen(vendors));

	complete_offer_kinds(c, is_vendors ? SONDE_EVENT_PFM : SONDE_EVENT_TRACEPOINT);
}

/* All kinds that -e takes. The names of vendors take long to read, so they must be asked for. */
static void complete_offer_all_kinds(struct completion *c)
{
	static const uint32_t kinds = SONDE_EVENT_HARDWARE | SONDE_EVENT_SOFTWARE |
				      SONDE_EVENT_CACHE | SONDE_EVENT_PMU | SONDE_EVENT_TRACEPOINT;
	const size_t len = strlen(complete_typed(c));

	complete_offer_kinds(c, len && !strncmp(vendors, complete_typed(c), len)
					? kinds | SONDE_EVENT_PFM
					: kinds);
}

/* True for an unpacked perf.data file. A packed one takes long to open, and a FIFO may block. */
static bool complete_is_plain_recording(const char *path)
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

/*
 * True if a name is safe to offer. Names in a recording may be hostile, and bash does not quote
 * candidates.
 */
static bool complete_is_plain_name(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("_:-./=+@,", *name))
			return false;
	return true;
}

/* True if the operands are a command to run. */
static bool complete_takes_command(const struct completion *c)
{
	return c->command == &cmd_record ||
	       (c->command == &cmd_stat && (!c->verb || c->verb->takes_command));
}

/* Offers the events of the recording that the command reads. False if they are unknown. */
static bool complete_offer_recorded_events(struct completion *c)
{
	const char *path = c->recording ? c->recording : "perf.data";
	struct sonde_session *s;
	bool is_known = false;
	char *text;

	if (c->command == &cmd_cut && c->nr_operands)
		path = c->operands[0];
	if (complete_takes_command(c) || c->command == &cmd_list || c->command == &cmd_new ||
	    !complete_is_plain_recording(path) || asprintf(&text, "input=%s\n", path) < 0)
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
		if (strpbrk(complete_typed(c), globs))
			complete_try_glob(c, name);
		else if (complete_is_plain_name(name))
			complete_offer(c, name);
	}
	sonde_session_close(s);
	free(text);
	return is_known;
}

/* Offers the events of this machine. Unreadable ones are omitted. */
static void complete_offer_events(struct completion *c)
{
	char *whole;

	complete_begin_behind(c, ",{");
	if (complete_offer_recorded_events(c))
		;
	else if (strchr(complete_typed(c), ':'))
		complete_offer_behind_colon(c);
	else
		complete_offer_all_kinds(c);
	if (c->has_match || *c->glob) {
		complete_put_line(c, '=', c->has_match ? complete_typed(c) : c->glob);
	} else if (c->nr_systems == 1 && !c->nr_named &&
		   asprintf(&whole, "%.*s%s", (int)c->begin, c->word, c->system) >= 0) {
		c->word = whole;
		complete_offer_behind_colon(c);
		free(whole);
	}
}

/* True if entry i is the script that its name selects: the first one of that name. */
static bool complete_is_first_of_name(const struct script_entries *all, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(all->v[k].name, all->v[i].name))
			return false;
	return true;
}

static void complete_offer_scripts(struct completion *c)
{
	struct script_entries all;
	struct script_places places;

	(void)settings_read(c->cli, cmd_script.name); /* script.path */
	if (script_places_list(c->cli, &places) < 0)
		return;
	if (!script_entries_list(&places, &all)) {
		for (size_t i = 0; i < all.nr; i++)
			if (complete_is_first_of_name(&all, i))
				complete_offer(c, all.v[i].name);
		script_entries_done(&all);
	}
	script_places_done(&places);
}

static void complete_offer_languages(const struct completion *c)
{
	for (const struct language *l = script_languages; l->name; l++)
		if (l->generate)
			complete_offer(c, l->prefixes[0]);
}

static void complete_offer_commands(const struct completion *c)
{
	for (const struct command *const *each = commands; *each; each++)
		if (!(*each)->hidden)
			complete_offer(c, (*each)->name);
}

/* The name of a value in help decides which candidates are offered. */
static void complete_offer_value(struct completion *c, const char *value)
{
	if (strchr(value, '|') || islower((unsigned char)*value)) {
		complete_offer_alternatives(c, value);
	} else if (!strcmp(value, "VERSION")) {
		for (size_t i = 0; sonde_rules_get(i); i++)
			complete_offer(c, sonde_rules_get(i)->version);
	} else if (!strcmp(value, "EVENTS") || !strcmp(value, "EVENT")) {
		complete_offer_events(c);
	} else if (!strcmp(value, "[CLASS:]FIELDS")) {
		complete_offer_columns(c);
	} else if (!strcmp(value, "LANG")) {
		complete_offer_languages(c);
	} else if (!strcmp(value, "[LANG:]SCRIPT")) {
		complete_begin_behind(c, ":");
		complete_offer_scripts(c);
		complete_put_line(c, 'f', "");
	} else if (!strcmp(value, "FILE") || !strcmp(value, "PREFIX") || !strcmp(value, "OUT")) {
		complete_put_line(c, 'f', "");
	} else if (!strcmp(value, "DIR")) {
		complete_put_line(c, 'd', "");
	} else if (!strcmp(value, "PROGRAM")) {
		complete_put_line(c, 'c', "");
	}
}

/* ---- words that are no options --------------------------------------------------------------- */

static bool complete_ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end);
}

static void complete_offer_script_operand(struct completion *c)
{
	const bool has_verb = c->nr_operands == 1 && (!strcmp(c->operands[0], "record") ||
						      !strcmp(c->operands[0], "report"));

	if (!c->nr_operands)
		complete_offer_alternatives(c, "record|report");
	if (!c->nr_operands || has_verb)
		complete_offer_scripts(c);
	complete_put_line(c, 'f', "");
}

static void complete_offer_verbs(const struct completion *c)
{
	if (c->command->verbs && !c->verb)
		for (const struct command_verb *v = c->command->verbs; v->word; v++)
			complete_offer(c, v->word);
}

static void complete_offer_operand(struct completion *c)
{
	if (!c->command) {
		complete_offer_commands(c);
	} else if (c->command == &cmd_help) {
		if (!c->nr_operands)
			complete_offer_commands(c);
	} else if (c->command == &cmd_script) {
		complete_offer_script_operand(c);
	} else if (c->command == &cmd_run && !c->nr_operands) {
		complete_offer_scripts(c);
		complete_put_line(c, 'f', "");
	} else if (complete_takes_command(c) && c->nr_operands) {
		printf("w%d\n", c->first_operand);
	} else if (complete_takes_command(c)) {
		complete_offer_verbs(c);
		complete_put_line(c, 'c', "");
	} else if (c->command == &cmd_list) {
		complete_offer_alternatives(
			c, "hw|sw|tool|cache|pmu|pfm|raw|breakpoint|tracepoint|probe|sdt");
		complete_offer_events(c);
	} else if (c->command == &cmd_heatmap && !c->nr_operands) {
		complete_offer_events(c);
	} else if (!c->nr_operands && complete_ends_with(c->command->usage[0], "[FILE]")) {
		complete_put_line(c, 'f', "");
	} else if (!c->nr_operands && complete_ends_with(c->command->usage[0], " DIR")) {
		complete_put_line(c, 'd', "");
	}
}

static void complete_note_value(struct completion *c, const struct opt *o, const char *value)
{
	if (o->key && !strcmp(o->key, "input"))
		c->recording = value;
}

/*
 * Reads the words before the current one. Returns the option whose value is the current word, or
 * NULL.
 */
static const struct opt *complete_read_words(struct completion *c, int nr, char **words)
{
	const struct opt *waiting = NULL;
	size_t begin;

	for (int i = 0; i < nr; i++) {
		if (waiting) {
			complete_note_value(c, waiting, words[i]);
			waiting = NULL;
		} else if (!strcmp(words[i], "--")) {
			c->only_operands = true;
		} else if (words[i][0] == '-' && words[i][1] && !c->only_operands) {
			waiting = complete_valued(c, words[i], &begin);
			if (!waiting || !begin)
				continue;
			complete_note_value(c, waiting, words[i] + begin);
			waiting = NULL;
		} else if (!c->command && !c->is_unknown) {
			c->command = command_find(words[i], NULL);
			c->is_unknown = !c->command;
		} else if (c->command && !c->verb && !c->nr_operands &&
			   command_find_verb(c->command, words[i])) {
			c->verb = command_find_verb(c->command, words[i]);
			c->only_operands = false;
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
static void complete_offer_option(struct completion *c)
{
	const struct opt *o = complete_valued(c, c->word, &c->begin);

	if (o && c->begin) {
		complete_offer_value(c, o->value);
		return;
	}
	if (c->command)
		complete_offer_options(c, complete_table(c));
	complete_offer_options(c, cli_options);
}

void complete_print(struct cli *cli, int nr, char **words)
{
	struct completion c = { .cli = cli, .word = nr ? words[nr - 1] : "" };
	const struct opt *o;

	if (!freopen("/dev/null", "w", stderr))
		return;
	o = complete_read_words(&c, nr - 1, words);
	if (o)
		complete_offer_value(&c, o->value);
	else if (*c.word == '-' && !c.only_operands)
		complete_offer_option(&c);
	else if (!c.is_unknown)
		complete_offer_operand(&c);
}
