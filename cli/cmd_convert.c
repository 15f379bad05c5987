/* SPDX-License-Identifier: MIT */
/*
 * sonde convert: writes the events of a recording as tables, or as a recording of another program.
 */
#include "cli.h"

#include "convert_facts.h"
#include "convert_file.h"
#include "event_match.h"
#include "recording.h"
#include "stopping.h"
#include "table_files.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
	const char *fields, *to, *output, *strings, *flags;
	char *events; /* owned; a list, in which a --pair is its event's name; NULL: all events */
	uint32_t stacks; /* SONDE_COLUMNS_STACKS, SONDE_COLUMNS_FRAMES, or 0 */
};

struct conversion {
	const struct args *a;
	const struct cli *cli;
	struct sonde_columns_options columns;
	struct table_files *tables;
	struct sonde_columns *c;
	uint32_t *schemas; /* owned; those of the tables, by table */
	size_t nr;         /* with frames, table nr + i has the frames of table i */
	int status;
};

/* ---- options --------------------------------------------------------------------------------- */

static int convert_add_event(struct opt_parser *p, struct args *a, const char *before,
			     const char *name, const char *after)
{
	char *list;

	if (asprintf(&list, "%s%s%s%s%s", a->events ? a->events : "", a->events ? "," : "", before,
		     name, after) < 0)
		return opt_error(p, "out of memory");
	free(a->events);
	a->events = list;
	return 0;
}

/* Adds the names of a list. A name pair(START,STOP,KEY) defines the pair, too. */
static int convert_set_events(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const char pair[] = "pair(";
	struct args *a = values;
	size_t len;
	int r = 0;

	for (const char *name = value; name && !r; name = name[len] ? name + len + 1 : NULL) {
		char *text;

		len = event_name_length(name);
		if (strncmp(name, pair, strlen(pair)) || name[len - 1] != ')' ||
		    !memchr(name, ',', len))
			continue; /* a pattern may begin so, too */
		text = strndup(name + strlen(pair), len - sizeof(pair));
		r = text ? lines_set(&a->rec.lines, p, "event", "pair", text)
			 : opt_error(p, "out of memory");
		free(text);
	}
	return r ? r : convert_add_event(p, a, "", value, "");
}

static int convert_set_pair(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct args *a = values;
	int r = lines_set(&a->rec.lines, p, "pair", "pair", value);

	return r ? r : convert_add_event(p, a, "pair(", value, ")");
}

static int convert_set_stacks(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct args *a = values;

	if (negated)
		a->stacks = 0;
	else if (!value || !strcmp(value, "addresses"))
		a->stacks = SONDE_COLUMNS_STACKS;
	else if (!strcmp(value, "frames"))
		a->stacks = SONDE_COLUMNS_FRAMES;
	else
		return opt_error(p, "--stacks takes =addresses or =frames, not '%s'", value);
	return 0;
}

/* ---- event types ----------------------------------------------------------------------------- */

/* True if a schema is the first of its name, is of events, and is chosen. */
static bool convert_is_chosen(const struct conversion *v, const struct sonde_schema *sc)
{
	return sonde_schema_kind(sc) <= SONDE_SAMPLE &&
	       sonde_schema_family(sc) == sonde_schema_id(sc) && event_match_any(v->a->events, sc);
}

static int convert_say_unknown(const struct sonde_session *s, const char *name, size_t len)
{
	char wanted[512];
	struct sonde_nearest near = { .size = sizeof(near), .wanted = wanted };

	snprintf(wanted, sizeof(wanted), "%.*s", (int)len, name);
	for (uint32_t id = 0; id < sonde_session_schemas(s); id++) {
		const struct sonde_schema *sc = sonde_session_schema(s, id);

		if (sonde_schema_kind(sc) > SONDE_SAMPLE)
			continue;
		sonde_nearest_offer(&near, sonde_schema_name(sc));
		if (!strchr(wanted, ':'))
			sonde_nearest_offer(&near, sonde_schema_event(sc));
	}
	if (near.meant)
		cli_say("the recording has no event '%s'; did you mean %s?", wanted, near.meant);
	else
		cli_say("the recording has no event '%s'; sonde info lists those that it has",
			wanted);
	return -ENOENT;
}

static int convert_choose(struct conversion *v, struct sonde_session *s)
{
	const size_t nr = sonde_session_schemas(s);
	size_t len;
	const char *unknown = event_match_none(s, v->a->events, &len);

	if (unknown) {
		v->status = CLI_FAILED;
		return convert_say_unknown(s, unknown, len);
	}
	v->schemas = malloc((nr + 1) * sizeof(*v->schemas));
	if (!v->schemas)
		return -ENOMEM;
	for (uint32_t id = 0; id < nr; id++)
		if (convert_is_chosen(v, sonde_session_schema(s, id)))
			v->schemas[v->nr++] = id;
	if (v->nr)
		return 0;
	cli_say("the recording has no event types: nothing is written");
	v->status = CLI_FAILED;
	return -ENOENT;
}

/* A recording that is read as a stream may describe an event type later than the first events. */
static int convert_check_all(struct conversion *v, struct sonde_session *s)
{
	size_t known = 0;

	for (uint32_t id = 0; id < sonde_session_schemas(s); id++) {
		const struct sonde_schema *sc = sonde_session_schema(s, id);

		if (!convert_is_chosen(v, sc))
			continue;
		if (known < v->nr && v->schemas[known] == id) {
			known++;
			continue;
		}
		cli_say("the stream describes %s after its first events; convert it from a file: "
			"sonde cut -o FILE",
			sonde_schema_name(sc));
		v->status = CLI_FAILED;
		return -ENOENT;
	}
	return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int convert_add_tables(struct conversion *v, struct sonde_session *s)
{
	for (size_t i = 0; i < v->nr; i++) {
		const struct sonde_schema *sc = sonde_session_schema(s, v->schemas[i]);
		const int r =
			sonde_columns_add(v->c, sonde_schema_name(sc), v->a->fields, &v->columns);

		if (r < 0)
			return r;
	}
	return 0;
}

static bool convert_has_frames(const struct conversion *v)
{
	return v->a->stacks == SONDE_COLUMNS_FRAMES;
}

/* "sched:sched_switch.frames"; it may have no place for the end of a long name. */
static int convert_begin_frames(struct conversion *v, struct sonde_session *s, size_t i)
{
	const struct sonde_schema *sc = sonde_session_schema(s, v->schemas[i]);
	struct ArrowSchema schema;
	struct ArrowArray none;
	char name[512];
	int r = sonde_columns_frames(v->c, (uint32_t)i, &schema, &none);

	if (r < 0)
		return r;
	none.release(&none);
	snprintf(name, sizeof(name), "%.*s.frames", 180, sonde_schema_name(sc));
	if (table_files_add(v->tables, name, &schema) < 0)
		v->status = CLI_FAILED;
	return 0;
}

/* The failures of tables are reported when they happen. */
static int convert_begin_tables(struct conversion *v, struct sonde_session *s)
{
	int r = 0;

	if (table_files_open(v->tables, convert_has_frames(v) ? 2 * v->nr : v->nr) < 0) {
		v->status = CLI_FAILED;
		return 0;
	}
	for (size_t i = 0; i < v->nr; i++) {
		const struct sonde_schema *sc = sonde_session_schema(s, v->schemas[i]);
		struct ArrowSchema schema;

		r = sonde_columns_schema(v->c, (uint32_t)i, &schema);
		if (r < 0)
			return r;
		if (table_files_add(v->tables, sonde_schema_name(sc), &schema) < 0) {
			v->status = CLI_FAILED;
			return 0;
		}
	}
	for (size_t i = 0; i < v->nr && convert_has_frames(v) && !r && !v->status; i++)
		r = convert_begin_frames(v, s, i);
	return r;
}

static int convert_fill_tables(struct conversion *v)
{
	struct ArrowArray batch;
	uint32_t table;
	int r;

	while ((r = sonde_columns_next(v->c, &table, &batch)) > 0) {
		if (table_files_batch(v->tables, table, &batch) < 0) {
			v->status = CLI_FAILED;
			return 0;
		}
	}
	return r;
}

/* The frames are complete when all events were read. */
static int convert_write_frames(struct conversion *v)
{
	for (size_t i = 0; i < v->nr && convert_has_frames(v); i++) {
		struct ArrowSchema schema;
		struct ArrowArray frames;
		const int r = sonde_columns_frames(v->c, (uint32_t)i, &schema, &frames);

		if (r < 0)
			return r;
		schema.release(&schema);
		if (table_files_batch(v->tables, v->nr + i, &frames) < 0) {
			v->status = CLI_FAILED;
			return 0;
		}
	}
	return 0;
}

static void convert_say_unfit(const struct conversion *v)
{
	for (uint32_t i = 0; i < v->nr; i++) {
		struct sonde_columns_table t = { .size = sizeof(t) };

		if (sonde_columns_table(v->c, i, &t) > 0 && t.unfit)
			cli_say("%s: %llu values are null, because the type of their column "
				"cannot hold them",
				t.name, (unsigned long long)t.unfit);
	}
}

static int convert_finish(struct conversion *v, struct sonde_session *s)
{
	struct convert_facts facts;
	char *clock = lines_given(&v->a->rec.lines, "clock");
	int r = convert_facts_new(&facts, s, clock ? clock : "raw");

	free(clock);
	if (r < 0)
		return r;
	if (table_files_finish(v->tables, facts.items) < 0)
		v->status = CLI_FAILED;
	else
		convert_say_unfit(v);
	convert_facts_done(&facts);
	return 0;
}

static int convert_session(struct conversion *v, struct sonde_session *s)
{
	int r = convert_choose(v, s);

	if (!r)
		r = sonde_columns_new(&v->c, s);
	if (!r)
		r = convert_add_tables(v, s);
	if (!r)
		r = convert_begin_tables(v, s);
	if (!r && !v->status)
		r = convert_fill_tables(v);
	if (!r && !v->status && !stopping_came())
		r = convert_check_all(v, s);
	if (!r && !v->status && !stopping_came())
		r = convert_write_frames(v);
	if (!r && !v->status && !stopping_came())
		r = convert_finish(v, s);
	return r;
}

static int convert_work(struct sonde_session *s, void *ctx)
{
	struct conversion *v = ctx;
	int r;

	stopping_watch(s);
	r = convert_session(v, s);
	stopping_watch(NULL);
	/* Freed while the session is open, and files are removed before the closing line. */
	sonde_columns_free(v->c);
	table_files_free(v->tables);
	v->tables = NULL;
	free(v->schemas);
	return v->status ? 0 : r;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* The format that the name of the output asks for. */
static const char *convert_guess(const char *output)
{
	static const struct {
		const char *suffix, *format;
	} known[] = {
		{ ".arrow", "arrow-file" }, { ".feather", "arrow-file" }, { ".arrows", "arrow" },
		{ ".csv", "csv" },          { ".sqlite", "sqlite" },      { ".sqlite3", "sqlite" },
		{ ".db", "sqlite" },        { ".dat", "trace.dat" },      { ".data", "perf" },
		{ ".ctf", "ctf" },
	};
	const char *dot = strrchr(output, '.');

	for (size_t i = 0; dot && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(dot, known[i].suffix))
			return known[i].format;
	return NULL;
}

/* *ret_second: the second word was given. */
static int convert_either(const struct cli *cli, const char *option, const char *given,
			  const char *first, const char *second, bool *ret_second)
{
	*ret_second = given && !strcmp(given, second);
	if (!given || *ret_second || !strcmp(given, first))
		return CLI_OK;
	return cli_usage(cli, "convert: --%s takes %s or %s, not '%s'", option, first, second,
			 given);
}

/* The format of the output, as it is asked for: a word of --to. */
static int convert_find_format(const struct cli *cli, const struct args *a, const char **ret)
{
	if (!a->output || !*a->output)
		return cli_usage(cli, "convert: name the output with -o OUT");
	*ret = a->to ? a->to : convert_guess(a->output);
	if (!*ret)
		return cli_usage(cli, "convert: name the format with --to "
				      "arrow|arrow-file|csv|sqlite|trace.dat|perf|ctf");
	return CLI_OK;
}

static int convert_check_output(const struct cli *cli, const struct args *a, const char *format,
				struct table_files_options *o)
{
	if (!table_files_format_find(format, &o->format))
		return cli_usage(cli,
				 "convert: --to takes arrow, arrow-file, csv, sqlite, trace.dat, "
				 "perf or ctf, not '%s'",
				 format);
	o->output = a->output;
	if (strcmp(a->output, "-"))
		return CLI_OK;
	if (a->stacks == SONDE_COLUMNS_FRAMES)
		return cli_usage(cli, "convert: --stacks=frames writes a second table, of frames, "
				      "and -o - takes one: name a folder with -o OUT");
	if (o->format == TABLE_FILES_SQLITE || o->format == TABLE_FILES_ARROW_FILE)
		return cli_usage(cli, "convert: only --to arrow and --to csv can be written to "
				      "standard output (-o -): name a file with -o FILE");
	if (o->format == TABLE_FILES_ARROW && isatty(STDOUT_FILENO))
		return cli_usage(cli,
				 "convert: an Arrow stream is not text, so a terminal does not "
				 "show it: name a file with -o FILE");
	return CLI_OK;
}

static bool convert_replaces(const struct args *a)
{
	char *force = lines_given(&a->rec.lines, "force");
	const bool replaces = force && !strcmp(force, "1");

	free(force);
	return replaces;
}

static int convert_check(const struct cli *cli, struct conversion *v, const char *format,
			 struct table_files_options *o)
{
	const struct args *a = v->a;
	bool bytes = false, names = false;
	int status = convert_check_output(cli, a, format, o);

	o->replace = convert_replaces(a);
	if (!status && a->fields && !a->events)
		status = cli_usage(cli, "convert: --fields is for one event: name it with -e");
	if (!status)
		status = convert_either(cli, "strings", a->strings, "dict", "bytes", &bytes);
	if (!status)
		status = convert_either(cli, "flags", a->flags, "number", "names", &names);
	v->columns = (struct sonde_columns_options){
		.size = sizeof(v->columns),
		.flags = (bytes ? SONDE_COLUMNS_BYTES : 0) | (names ? SONDE_COLUMNS_NAMES : 0) |
			 a->stacks,
	};
	return status;
}

/* Options for tables have no effect on a recording. */
static int convert_to_file(const struct cli *cli, struct args *a, const char *format)
{
	const char *option = a->fields    ? "fields"
			     : a->stacks  ? "stacks"
			     : a->strings ? "strings"
			     : a->flags   ? "flags"
					  : NULL;

	if (!option && lines_count(&a->rec.lines, "pair"))
		option = "pair";
	if (option)
		return cli_usage(cli,
				 "convert: --%s is for tables; --to %s writes events as they "
				 "are recorded",
				 option, format);
	return convert_file_run(cli, &a->rec, format, a->events, a->output, convert_replaces(a));
}

static int convert_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	struct conversion v = { .a = a, .cli = cli };
	struct table_files_options o = { 0 };
	const char *format = NULL;
	int status = recording_operand(cli, "convert", &a->rec, argc, argv);

	a->rec.unknown_event_fails = true;
	if (!status)
		status = convert_find_format(cli, a, &format);
	if (!status && strcmp(format, "trace.dat") != 0 &&
	    lines_count(&a->rec.lines, "file-version"))
		status = cli_usage(cli,
				   "convert: --file-version is for --to trace.dat, not for "
				   "--to %s",
				   format);
	if (!status && convert_file_format(format))
		return convert_to_file(cli, a, convert_file_format(format));
	if (!status)
		status = convert_check(cli, &v, format, &o);
	if (status)
		return status;
	if (table_files_new(&v.tables, &o) < 0)
		return cli_status(cli, CLI_FAILED);
	a->rec.output = strcmp(a->output, "-") ? a->output : NULL;
	stopping_catch();
	status = recording_run(cli, &a->rec, a->stacks ? "" : "callchain=0\n", convert_work, &v);
	table_files_free(v.tables); /* if the session could not be opened */
	if (v.status && status != CLI_LOSS)
		status = cli_status(cli, (enum cli_exit)v.status);
	return stopping_end(status);
}

/* clang-format off */
static const struct opt options[] = {
	INPUT_OPTION,
	OPT_TEXT(0, "to", "arrow|arrow-file|csv|sqlite|trace.dat|perf|ctf", struct args, to,
		"writes Arrow's IPC stream, Arrow's IPC file (Feather 2), CSV, an SQLite database, "
		"a recording of trace-cmd or perf with the tracepoint events, or a trace in the "
		"Common Trace Format with all events, in the folder OUT; default: as the suffix of "
		"OUT says (.arrows, .arrow, .csv, .sqlite, .dat, .data, .ctf)"),
	OPT_TEXT('o', "output", "OUT", struct args, output,
		"writes the file OUT; for several tables in Arrow or CSV the folder OUT; '-': the "
		"standard output, for one table as arrow or csv"),
	OPT_KEY(0, "file-version", "6|7", "file-version",
		"writes this version of trace.dat; default 7"),
	OPT_KEY('f', "force", NULL, "force",
		"replaces an existing OUT; reads a recording of another user"),
	OPT_GROUP("Tables"),
	OPT_CALL('e', "event", "EVENTS", convert_set_events, OPT_NO_NEGATION,
		"writes only these events, named as sonde info does; patterns such as 'sched:*' "
		"and names without system or modifiers are allowed, and pair(START,STOP,KEY), as "
		"--pair makes it. Default: a table for each event type"),
	OPT_CALL(0, "pair", "START,STOP[,KEY[,STOPKEY]]", convert_set_pair, OPT_NO_NEGATION,
		"writes a table of the event 'pair(START,STOP,KEY)' with the field ns, the time "
		"between the two, and the fields of both, as sonde script --pair makes it. Other "
		"events need -e. May be given several times"),
	OPT_TEXT(0, "fields", "LIST", struct args, fields,
		"writes only these fields, after time, cpu, pid, tid and comm; needs -e"),
	OPT_CALL(0, "stacks", "addresses|frames", convert_set_stacks, OPT_VALUE_OPTIONAL,
		"writes call chains as lists, innermost first: of addresses (the default), or of "
		"rows of a further table EVENT.frames, which has the functions' names"),
	OPT_TEXT(0, "strings", "dict|bytes", struct args, strings,
		"dict: strings are UTF-8, with \\xNN for other bytes; bytes: strings are as "
		"recorded; default dict"),
	OPT_TEXT(0, "flags", "number|names", struct args, flags,
		"writes flags and symbols as numbers (the default) or as the kernel's names"),
	OPT_GROUP("Events"),
	CHOICE_OPTIONS("takes only events"),
	OPT_KEY(0, "clock", "raw|relative|utc|local", "clock",
		"writes times as recorded (raw: the default), from the first sample on (relative), "
		"or since 1970 (utc, local)"),
	OPT_GROUP("The recording"),
	RECORDING_OTHER_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "convert [OPTIONS] -o OUT [FILE]", NULL };

static void convert_done(void *values)
{
	free(((struct args *)values)->events);
	recording_done(values);
}

const struct command cmd_convert = {
	.name = "convert",
	.summary = "writes the events of a recording as tables, trace.dat, perf.data or CTF",
	.usage = usage,
	.options = options,
	.examples = "  sonde convert -e sched:sched_switch -o switches.arrow\n"
		    "  sonde convert -e sched_switch --to csv -o - | head\n"
		    "  sonde convert -i huge.data --time 10%/2 --to sqlite -o events.db\n"
		    "  sonde convert -i perf.data -o trace.dat\n"
		    "  sonde convert -i perf.data --to ctf -o folder\n",
	.values_size = sizeof(struct args),
	.permute = true,
	.configured = true,
	.set_key = recording_set_key,
	.done = convert_done,
	.run = convert_run,
};
