/* SPDX-License-Identifier: MIT */
#include "table_files.h"

#include "arrow_ipc.h"
#include "new_path.h"
#include "say.h"
#include "table_csv.h"
#include "table_db.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TABLE_FILES_BUFFER = 1 << 18,
	TABLE_FILES_NAME = 200, /* longest name of a table: a file's name has a suffix, too */
};

static const struct {
	const char *name, *suffix;
} table_files_formats[] = {
	[TABLE_FILES_ARROW] = { "arrow", ".arrows" },
	[TABLE_FILES_ARROW_FILE] = { "arrow-file", ".arrow" },
	[TABLE_FILES_CSV] = { "csv", ".csv" },
	[TABLE_FILES_SQLITE] = { "sqlite", "" },
};

struct table {
	char name[TABLE_FILES_NAME + 16];
	struct ArrowSchema schema;
	char *path; /* owned; NULL for standard output and for a database */
	struct arrow_ipc *arrow;
	struct table_csv *csv;
};

struct table_files {
	struct table_files_options o;
	enum {
		TABLE_FILES_IN_STDOUT,
		TABLE_FILES_IN_PLACE,
		TABLE_FILES_IN_FILE,
		TABLE_FILES_IN_FOLDER
	} place;
	char *path;          /* owned; where the output is written; NULL if it is not made */
	struct table *items; /* owned */
	size_t nr, room;
	struct table_db *db;
	char *buffer; /* owned */
	bool is_complete;
};

bool table_files_format_find(const char *name, enum table_files_format *ret)
{
	for (size_t i = 0; i < sizeof(table_files_formats) / sizeof(*table_files_formats); i++)
		if (!strcmp(name, table_files_formats[i].name)) {
			*ret = (enum table_files_format)i;
			return true;
		}
	return false;
}

static int table_files_fail(const struct table_files *t, const char *path, int r)
{
	const char *why = t->db ? table_db_error(t->db) : "";

	if (r == -ENOTSUP)
		cli_say("cannot write %s: --to %s has no such type of column", path,
			table_files_formats[t->o.format].name);
	else if (r == -ENOMEM)
		cli_say("out of memory");
	else if (r != -EPIPE)
		cli_say("cannot write %s: %s", path, *why ? why : strerror(-r));
	return r;
}

/* ---- the output ------------------------------------------------------------------------------ */

/* Looks at what has the output's name, if anything does. */
static int table_files_check(struct table_files *t)
{
	const char *output = t->o.output;
	struct stat st;

	if (!strcmp(output, "-")) {
		t->place = TABLE_FILES_IN_STDOUT;
		return 0;
	}
	t->place = TABLE_FILES_IN_FILE;
	if (stat(output, &st) < 0 && lstat(output, &st) < 0)
		return errno == ENOENT ? 0 : table_files_fail(t, output, -errno);
	if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)) {
		t->place = TABLE_FILES_IN_PLACE;
		if (t->o.format != TABLE_FILES_SQLITE)
			return 0;
		cli_say("--to sqlite: %s is no file", output);
		return -EINVAL;
	}
	if (t->o.replace)
		return 0;
	cli_say("%s exists: --force replaces it", output);
	return -EEXIST;
}

int table_files_new(struct table_files **ret, const struct table_files_options *o)
{
	struct table_files *t = calloc(1, sizeof(*t));
	int r;

	if (!t) {
		cli_say("out of memory");
		return -ENOMEM;
	}
	t->o = *o;
	r = table_files_check(t);
	if (!r && o->format == TABLE_FILES_SQLITE)
		r = table_db_new(&t->db);
	if (r)
		table_files_free(t);
	else
		*ret = t;
	return r;
}

/* An existing output must be a file for one file, and a folder for several. */
static int table_files_check_kind(const struct table_files *t, bool is_folder)
{
	struct stat st;

	if (lstat(t->o.output, &st) < 0 || S_ISDIR(st.st_mode) == is_folder)
		return 0;
	cli_say(is_folder ? "%s is a file: several tables need a folder"
			  : "%s is a folder: one table needs a file",
		t->o.output);
	return is_folder ? -ENOTDIR : -EISDIR;
}

int table_files_open(struct table_files *t, size_t nr)
{
	const bool is_folder = nr != 1 && t->o.format != TABLE_FILES_SQLITE;
	int r;

	t->buffer = malloc(TABLE_FILES_BUFFER);
	t->items = calloc(nr ? nr : 1, sizeof(*t->items)); /* writers borrow schemas from it */
	t->room = t->items ? nr : 0;
	if (!t->buffer || !t->items)
		return table_files_fail(t, t->o.output, -ENOMEM);
	if (is_folder && t->place != TABLE_FILES_IN_FILE) {
		cli_say("-o %s: a stream has one table, and these are %zu: choose an event with -e",
			t->o.output, nr);
		return -EINVAL;
	}
	if (t->place != TABLE_FILES_IN_FILE)
		return 0;
	r = table_files_check_kind(t, is_folder);
	if (r)
		return r;
	if (is_folder)
		t->place = TABLE_FILES_IN_FOLDER;
	r = new_path_make(&t->path, t->o.output, is_folder);
	if (!r && t->db)
		r = table_db_open(t->db, t->path);
	return r ? table_files_fail(t, t->o.output, r) : 0;
}

/* Opens the file of a table, to append. *ret is stdout where that is the output. */
static int table_files_open_file(const struct table_files *t, const struct table *table, FILE **ret)
{
	if (t->place == TABLE_FILES_IN_STDOUT) {
		*ret = stdout;
		return 0;
	}
	*ret = fopen(table->path, "ae");
	if (!*ret)
		return -errno;
	setvbuf(*ret, t->buffer, _IOFBF, TABLE_FILES_BUFFER);
	return 0;
}

/* r is the result of writing to it. */
static int table_files_close_file(FILE *f, int r)
{
	errno = 0;
	if (fflush(f) && !r)
		r = errno ? -errno : -EIO;
	if (f != stdout && fclose(f) && !r)
		r = errno ? -errno : -EIO;
	return r;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool table_files_has_name(const struct table_files *t, const char *name)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!strcasecmp(t->items[i].name, name))
			return true;
	return false;
}

/* A name of SQLite, of another table of the database, or of a hidden file. */
static bool table_files_is_reserved(const char *event)
{
	return !strncasecmp(event, "sqlite_", 7) || !strcasecmp(event, "sonde_meta") ||
	       !strcasecmp(event, "sonde_columns") || !strcasecmp(event, "sonde_stacks") ||
	       *event == '.';
}

/*
 * "sched.sched_switch" for "sched:sched_switch". Control characters and '/' become '_'. A name that
 * is taken, also with letters of the other case, gets a number.
 */
static void table_files_name(const struct table_files *t, const char *event, char *ret)
{
	size_t len = 0;

	if (table_files_is_reserved(event))
		ret[len++] = '_';
	for (; *event && len < TABLE_FILES_NAME; event++)
		ret[len++] = *event == ':'                                     ? '.'
			     : *event == '/' || iscntrl((unsigned char)*event) ? '_'
									       : *event;
	ret[len] = '\0';
	for (unsigned i = 2; table_files_has_name(t, ret); i++)
		snprintf(ret + len, 16, ".%u", i);
}

static int table_files_begin(struct table_files *t, struct table *table)
{
	FILE *f;
	int r;

	if (t->db)
		return table_db_add(t->db, table->name, &table->schema);
	if (t->place == TABLE_FILES_IN_FOLDER &&
	    asprintf(&table->path, "%s/%s%s", t->path, table->name,
		     table_files_formats[t->o.format].suffix) < 0)
		table->path = NULL;
	else if (t->place != TABLE_FILES_IN_FOLDER)
		table->path = strdup(t->path ? t->path : t->o.output);
	if (!table->path)
		return -ENOMEM;
	r = table_files_open_file(t, table, &f);
	if (r)
		return r;
	if (t->o.format == TABLE_FILES_CSV)
		r = table_csv_new(&table->csv, &table->schema, f);
	else
		r = arrow_ipc_new(&table->arrow, &table->schema,
				  t->o.format == TABLE_FILES_ARROW_FILE, f);
	return table_files_close_file(f, r);
}

int table_files_add(struct table_files *t, const char *event, struct ArrowSchema *schema)
{
	struct table *table = &t->items[t->nr];
	int r;

	if (t->nr == t->room)
		return table_files_fail(t, t->o.output, -EINVAL);
	table_files_name(t, event, table->name);
	table->schema = *schema;
	schema->release = NULL;
	t->nr++;
	r = table_files_begin(t, table);
	return r ? table_files_fail(t, t->o.output, r) : 0;
}

static int table_files_write(struct table_files *t, size_t i, struct ArrowArray *batch)
{
	struct table *table = &t->items[i];
	FILE *f;
	int r;

	if (t->db)
		return table_db_batch(t->db, i, batch);
	r = table_files_open_file(t, table, &f);
	if (r)
		return r;
	r = table->csv ? table_csv_batch(table->csv, batch, f)
		       : arrow_ipc_batch(table->arrow, batch, f);
	return table_files_close_file(f, r);
}

int table_files_batch(struct table_files *t, size_t i, struct ArrowArray *batch)
{
	const int r = table_files_write(t, i, batch);

	if (batch->release)
		batch->release(batch);
	return r ? table_files_fail(t, t->o.output, r) : 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int table_files_end(struct table_files *t, const struct table_fact *facts)
{
	int r = 0;

	if (t->db)
		return table_db_finish(t->db, facts);
	for (size_t i = 0; i < t->nr && !r; i++) {
		FILE *f;

		if (!t->items[i].arrow)
			continue;
		r = table_files_open_file(t, &t->items[i], &f);
		if (!r)
			r = table_files_close_file(f,
						   arrow_ipc_finish(t->items[i].arrow, facts, f));
	}
	return r;
}

/* Moves the files of a complete folder into the one that has the output's name. */
static int table_files_move_into(const struct table_files *t)
{
	int r = 0;

	for (size_t i = 0; i < t->nr && !r; i++) {
		char *to;

		if (asprintf(&to, "%s/%s%s", t->o.output, t->items[i].name,
			     table_files_formats[t->o.format].suffix) < 0)
			return -ENOMEM;
		r = rename(t->items[i].path, to) < 0 ? -errno : 0;
		free(to);
	}
	return r ? r : rmdir(t->path) < 0 ? -errno : 0;
}

static int table_files_give_name(struct table_files *t)
{
	struct stat st;

	if (!t->path)
		return 0;
	if (t->o.replace && t->place == TABLE_FILES_IN_FOLDER && !stat(t->o.output, &st))
		return table_files_move_into(t);
	return new_path_rename(t->path, t->o.output, t->o.replace);
}

int table_files_finish(struct table_files *t, const struct table_fact *facts)
{
	int r = table_files_end(t, facts);

	if (!r)
		r = table_files_give_name(t);
	t->is_complete = !r;
	return r ? table_files_fail(t, t->o.output, r) : 0;
}

static void table_files_remove(const struct table_files *t)
{
	for (size_t i = 0; i < t->nr && t->place == TABLE_FILES_IN_FOLDER; i++)
		if (t->items[i].path)
			unlink(t->items[i].path);
	if (t->place == TABLE_FILES_IN_FOLDER)
		rmdir(t->path);
	else
		unlink(t->path);
}

void table_files_free(struct table_files *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++) {
		arrow_ipc_free(t->items[i].arrow);
		table_csv_free(t->items[i].csv);
	}
	table_db_free(t->db);
	if (t->path && !t->is_complete)
		table_files_remove(t);
	for (size_t i = 0; i < t->nr; i++) {
		if (t->items[i].schema.release)
			t->items[i].schema.release(&t->items[i].schema);
		free(t->items[i].path);
	}
	free(t->items);
	free(t->path);
	free(t->buffer);
	free(t);
}
