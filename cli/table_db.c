/* SPDX-License-Identifier: MIT */
#include "table_db.h"

#include "cell.h"
#include "say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_SQLITE

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>

enum { TABLE_DB_ROWS = 1 << 18 }; /* of a transaction */

struct sqlite {
	void *library; /* never closed */
	__typeof__(sqlite3_open_v2) *open_v2;
	__typeof__(sqlite3_close) *close;
	__typeof__(sqlite3_exec) *exec;
	__typeof__(sqlite3_prepare_v2) *prepare_v2;
	__typeof__(sqlite3_step) *step;
	__typeof__(sqlite3_reset) *reset;
	__typeof__(sqlite3_finalize) *finalize;
	__typeof__(sqlite3_bind_int64) *bind_int64;
	__typeof__(sqlite3_bind_double) *bind_double;
	__typeof__(sqlite3_bind_text) *bind_text;
	__typeof__(sqlite3_bind_blob) *bind_blob;
	__typeof__(sqlite3_bind_null) *bind_null;
	__typeof__(sqlite3_errmsg) *errmsg;
	__typeof__(sqlite3_extended_errcode) *extended_errcode;
	__typeof__(sqlite3_system_errno) *system_errno;
};

struct db_table {
	const struct ArrowSchema *schema;
	char *name;          /* owned */
	struct cell **cells; /* owned */
	int64_t *stacks;     /* owned; by column: values of a dictionary of lists in sonde_stacks */
	sqlite3_stmt *insert;
};

struct table_db {
	struct sqlite lib;
	sqlite3 *file;
	struct db_table *tables; /* owned */
	size_t nr;
	sqlite3_stmt *insert_column, *insert_stack;
	struct cell_text text;
	uint64_t rows; /* of this transaction */
	char error[256];
};

const char *table_db_version(void)
{
	return SQLITE_VERSION;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool table_db_load(struct sqlite *lib)
{
	lib->library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_NODELETE);
	if (!lib->library)
		return false;
#define LOAD(name) (lib->name = (__typeof__(lib->name))dlsym(lib->library, "sqlite3_" #name))
	return LOAD(open_v2) && LOAD(close) && LOAD(exec) && LOAD(prepare_v2) && LOAD(step) &&
	       LOAD(reset) && LOAD(finalize) && LOAD(bind_int64) && LOAD(bind_double) &&
	       LOAD(bind_text) && LOAD(bind_blob) && LOAD(bind_null) && LOAD(errmsg) &&
	       LOAD(extended_errcode) && LOAD(system_errno);
#undef LOAD
}

int table_db_new(struct table_db **ret)
{
	struct table_db *db = calloc(1, sizeof(*db));

	if (!db) {
		cli_say("out of memory");
		return -ENOMEM;
	}
	if (!table_db_load(&db->lib)) {
		cli_say("--to sqlite: libsqlite3.so.0 is missing or too old; Debian's package is "
			"libsqlite3-0");
		free(db);
		return -ENOENT;
	}
	*ret = db;
	return 0;
}

/*
 * Turns a result of SQLite into a negative errno with a message. A failed COMMIT does not set
 * sqlite3_system_errno(), but leaves errno.
 */
static int table_db_result(struct table_db *db, int result)
{
	const int last = errno;
	int code;

	if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
		return 0;
	*db->error = '\0';
	code = db->file ? db->lib.extended_errcode(db->file) & 0xff : result;
	if (code == SQLITE_NOMEM)
		return -ENOMEM;
	if (code == SQLITE_FULL)
		return -ENOSPC;
	if (code == SQLITE_IOERR || code == SQLITE_CANTOPEN) {
		code = db->file ? db->lib.system_errno(db->file) : 0;
		return code > 0 ? -code : last > 0 ? -last : -EIO;
	}
	if (db->file)
		snprintf(db->error, sizeof(db->error), "SQLite: %s", db->lib.errmsg(db->file));
	return -EIO;
}

static int table_db_exec(struct table_db *db, const char *sql)
{
	return table_db_result(db, db->lib.exec(db->file, sql, NULL, NULL, NULL));
}

static int table_db_prepare(struct table_db *db, const char *sql, sqlite3_stmt **ret)
{
	return table_db_result(db, db->lib.prepare_v2(db->file, sql, -1, ret, NULL));
}

static int table_db_insert(struct table_db *db, sqlite3_stmt *insert)
{
	int r = table_db_result(db, db->lib.step(insert));

	db->lib.reset(insert);
	if (!r && ++db->rows >= TABLE_DB_ROWS) {
		db->rows = 0;
		r = table_db_exec(db, "COMMIT; BEGIN");
	}
	return r;
}

int table_db_open(struct table_db *db, const char *path)
{
	int r = table_db_result(
		db, db->lib.open_v2(path, &db->file, SQLITE_OPEN_READWRITE, "unix-none"));

	if (!r)
		r = table_db_exec(db, "PRAGMA journal_mode = OFF;"
				      "PRAGMA synchronous = OFF;"
				      "PRAGMA temp_store = MEMORY;"
				      "PRAGMA cache_size = -16384;"
				      "BEGIN;"
				      "CREATE TABLE sonde_meta(key TEXT PRIMARY KEY, value);"
				      "CREATE TABLE sonde_columns(table_name TEXT,"
				      " column_name TEXT, arrow TEXT);");
	return r ? r
		 : table_db_prepare(db, "INSERT INTO sonde_columns VALUES(?, ?, ?)",
				    &db->insert_column);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *table_db_type(const struct cell *c)
{
	const enum cell_kind kind = c->values ? c->values->type.kind : c->type.kind;

	if (c->values && kind == CELL_LIST)
		return "INTEGER"; /* a number in sonde_stacks */
	return kind == CELL_FLOAT                       ? "REAL"
	       : kind == CELL_TEXT || kind == CELL_LIST ? "TEXT"
	       : kind == CELL_BYTES                     ? "BLOB"
							: "INTEGER";
}

static void table_db_put_name(struct cell_text *t, const char *name)
{
	cell_text_put_char(t, '"');
	for (; *name; name++) {
		if (*name == '"')
			cell_text_put_char(t, '"');
		cell_text_put_char(t, *name);
	}
	cell_text_put_char(t, '"');
}

static void table_db_put(struct cell_text *t, const char *sql)
{
	cell_text_put(t, sql, strlen(sql));
}

/* True if an earlier column has this name; SQLite compares names without case. */
static bool table_db_is_taken(const struct ArrowSchema *schema, int64_t column, const char *name)
{
	for (int64_t i = 0; i < column; i++)
		if (!strcasecmp(schema->children[i]->name, name))
			return true;
	return false;
}

/* CREATE TABLE "table"("column" TYPE, ...) */
static int table_db_create(struct table_db *db, const struct db_table *t)
{
	struct cell_text *sql = &db->text;

	sql->len = 0;
	table_db_put(sql, "CREATE TABLE ");
	table_db_put_name(sql, t->name);
	for (int64_t i = 0; i < t->schema->n_children; i++) {
		const char *name = t->schema->children[i]->name;
		char other[300];

		if (table_db_is_taken(t->schema, i, name)) {
			snprintf(other, sizeof(other), "%.255s.%lld", name, (long long)i);
			name = other;
		}
		table_db_put(sql, i ? ", " : "(");
		table_db_put_name(sql, name);
		table_db_put(sql, " ");
		table_db_put(sql, table_db_type(t->cells[i]));
	}
	cell_text_put(sql, ")", 2);
	return sql->failed ? -ENOMEM : table_db_exec(db, sql->data);
}

static int table_db_prepare_insert(struct table_db *db, struct db_table *t)
{
	struct cell_text *sql = &db->text;

	sql->len = 0;
	table_db_put(sql, "INSERT INTO ");
	table_db_put_name(sql, t->name);
	for (int64_t i = 0; i < t->schema->n_children; i++)
		table_db_put(sql, i ? ",?" : " VALUES(?");
	cell_text_put(sql, ")", 2);
	return sql->failed ? -ENOMEM : table_db_prepare(db, sql->data, &t->insert);
}

/* Stacks of all tables have items of one kind: addresses, or rows of a table of frames. */
static int table_db_create_stacks(struct table_db *db, const struct ArrowSchema *item)
{
	const bool is_frame = !strcmp(item->format, "i");
	int r = table_db_exec(db, is_frame ? "CREATE TABLE sonde_stacks(table_name TEXT, "
					     "stack INTEGER, depth INTEGER, frame INTEGER, "
					     "PRIMARY KEY(table_name, stack, depth)) WITHOUT ROWID"
					   : "CREATE TABLE sonde_stacks(table_name TEXT, "
					     "stack INTEGER, depth INTEGER, ip INTEGER, "
					     "PRIMARY KEY(table_name, stack, depth)) WITHOUT "
					     "ROWID");

	return r ? r
		 : table_db_prepare(db, "INSERT INTO sonde_stacks VALUES(?, ?, ?, ?)",
				    &db->insert_stack);
}

static int table_db_describe(struct table_db *db, const struct db_table *t)
{
	int r = 0;

	for (int64_t i = 0; i < t->schema->n_children && !r; i++) {
		const struct ArrowSchema *column = t->schema->children[i];
		const char *format =
			column->dictionary ? column->dictionary->format : column->format;

		db->lib.bind_text(db->insert_column, 1, t->name, -1, SQLITE_STATIC);
		db->lib.bind_text(db->insert_column, 2, column->name, -1, SQLITE_STATIC);
		db->lib.bind_text(db->insert_column, 3, format, -1, SQLITE_STATIC);
		r = table_db_insert(db, db->insert_column);
		if (!r && table_db_type(t->cells[i])[0] == 'I' && t->cells[i]->values &&
		    !db->insert_stack)
			r = table_db_create_stacks(db, column->dictionary->children[0]);
	}
	return r;
}

int table_db_add(struct table_db *db, const char *name, const struct ArrowSchema *schema)
{
	struct db_table *more = reallocarray(db->tables, db->nr + 1, sizeof(*more)), *t;
	int r;

	if (!more)
		return -ENOMEM;
	db->tables = more;
	t = &more[db->nr++];
	*t = (struct db_table){ .schema = schema, .name = strdup(name) };
	t->stacks = calloc((size_t)schema->n_children + 1, sizeof(*t->stacks));
	if (!t->name || !t->stacks)
		return -ENOMEM;
	r = cells_new(&t->cells, schema);
	if (!r)
		r = table_db_create(db, t);
	if (!r)
		r = table_db_prepare_insert(db, t);
	return r ? r : table_db_describe(db, t);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Adds the stacks of a dictionary that are not in sonde_stacks yet. */
static int table_db_add_stacks(struct table_db *db, struct db_table *t, int64_t column,
			       const struct ArrowArray *stacks)
{
	const struct cell *list = t->cells[column]->values;
	int r = 0;

	for (; t->stacks[column] < stacks->length && !r; t->stacks[column]++) {
		int64_t from, to;

		cell_list(&list->type, stacks, t->stacks[column], &from, &to);
		for (int64_t i = from; i < to && !r; i++) {
			const uint64_t item =
				cell_u64(&list->element->type, stacks->children[0], i);

			db->lib.bind_text(db->insert_stack, 1, t->name, -1, SQLITE_STATIC);
			db->lib.bind_int64(db->insert_stack, 2, t->stacks[column]);
			db->lib.bind_int64(db->insert_stack, 3, i - from);
			db->lib.bind_int64(db->insert_stack, 4, (int64_t)item);
			r = table_db_insert(db, db->insert_stack);
		}
	}
	return r;
}

static int table_db_bind(struct table_db *db, sqlite3_stmt *insert, int place, const struct cell *c,
			 const struct ArrowArray *a, int64_t row)
{
	const struct sqlite *lib = &db->lib;
	const char *bytes;
	size_t len;

	if (c->values && c->values->type.kind == CELL_LIST)
		return cell_is_null(a, row) ? lib->bind_null(insert, place)
					    : lib->bind_int64(insert, place,
							      (int64_t)cell_u64(&c->type, a, row));
	c = cell_find(c, &a, &row);
	if (!c)
		return lib->bind_null(insert, place);
	switch (c->type.kind) {
	case CELL_FLOAT:
		return lib->bind_double(insert, place, cell_double(&c->type, a, row));
	case CELL_TEXT:
		bytes = cell_bytes(&c->type, a, row, &len);
		return lib->bind_text(insert, place, bytes, (int)len, SQLITE_STATIC);
	case CELL_BYTES:
		bytes = cell_bytes(&c->type, a, row, &len);
		return lib->bind_blob(insert, place, bytes, (int)len, SQLITE_STATIC);
	case CELL_LIST:
		db->text.len = 0;
		cell_text_put_list(&db->text, c, a, row);
		return db->text.failed ? SQLITE_NOMEM
				       : lib->bind_text(insert, place, db->text.data,
							(int)db->text.len, SQLITE_TRANSIENT);
	default:
		return lib->bind_int64(insert, place, (int64_t)cell_u64(&c->type, a, row));
	}
}

int table_db_batch(struct table_db *db, size_t table, const struct ArrowArray *batch)
{
	struct db_table *t = &db->tables[table];
	int r = batch->n_children == t->schema->n_children ? 0 : -EINVAL;

	for (int64_t i = 0; i < batch->n_children && !r; i++)
		if (t->cells[i]->values && t->cells[i]->values->type.kind == CELL_LIST)
			r = table_db_add_stacks(db, t, i, batch->children[i]->dictionary);
	for (int64_t row = 0; row < batch->length && !r; row++) {
		for (int64_t i = 0; i < batch->n_children && !r; i++) {
			const int bound = table_db_bind(db, t->insert, (int)i + 1, t->cells[i],
							batch->children[i], batch->offset + row);

			r = bound == SQLITE_OK ? 0 : bound == SQLITE_NOMEM ? -ENOMEM : -EFBIG;
		}
		if (!r)
			r = table_db_insert(db, t->insert);
	}
	return r;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* A value is stored as a number if it is one, because `value` has no type. */
static int table_db_put_facts(struct table_db *db, const struct table_fact *facts)
{
	sqlite3_stmt *insert;
	int r = table_db_prepare(db, "INSERT INTO sonde_meta VALUES(?, ?)", &insert);

	for (; !r && facts->key; facts++) {
		const char *end = facts->value + strspn(facts->value, "0123456789");

		db->lib.bind_text(insert, 1, facts->key, -1, SQLITE_STATIC);
		if (end != facts->value && !*end && end - facts->value < 19)
			db->lib.bind_int64(insert, 2, atoll(facts->value));
		else
			db->lib.bind_text(insert, 2, facts->value, -1, SQLITE_STATIC);
		r = table_db_insert(db, insert);
	}
	db->lib.finalize(insert);
	return r;
}

static int table_db_close(struct table_db *db)
{
	for (size_t i = 0; i < db->nr; i++) {
		db->lib.finalize(db->tables[i].insert);
		db->tables[i].insert = NULL;
	}
	db->lib.finalize(db->insert_column);
	db->lib.finalize(db->insert_stack);
	db->insert_column = db->insert_stack = NULL;
	if (db->lib.close(db->file) != SQLITE_OK)
		return -EIO;
	db->file = NULL;
	return 0;
}

int table_db_finish(struct table_db *db, const struct table_fact *facts)
{
	int r = table_db_put_facts(db, facts);

	if (!r)
		r = table_db_exec(db, "COMMIT");
	return r ? r : table_db_close(db);
}

const char *table_db_error(const struct table_db *db)
{
	return db->error;
}

void table_db_free(struct table_db *db)
{
	if (!db)
		return;
	table_db_close(db);
	for (size_t i = 0; i < db->nr; i++) {
		if (db->tables[i].cells)
			cells_free(db->tables[i].cells, db->tables[i].schema->n_children);
		free(db->tables[i].name);
		free(db->tables[i].stacks);
	}
	free(db->tables);
	cell_text_done(&db->text);
	free(db);
}

#else

const char *table_db_version(void)
{
	return NULL;
}

int table_db_new(struct table_db **ret)
{
	cli_say("--to sqlite: this sonde was built without SQLite; Debian's package for the build "
		"is libsqlite3-dev");
	return -ENOTSUP;
}

int table_db_open(struct table_db *db, const char *path)
{
	return -ENOTSUP;
}

int table_db_add(struct table_db *db, const char *name, const struct ArrowSchema *schema)
{
	return -ENOTSUP;
}

int table_db_batch(struct table_db *db, size_t table, const struct ArrowArray *batch)
{
	return -ENOTSUP;
}

int table_db_finish(struct table_db *db, const struct table_fact *facts)
{
	return -ENOTSUP;
}

const char *table_db_error(const struct table_db *db)
{
	return "";
}

void table_db_free(struct table_db *db)
{
}

#endif
