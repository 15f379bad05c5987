/* SPDX-License-Identifier: MIT */
/*
 * Compares columns with events: for each event type of a recording every value of every row, in
 * the order of the events.
 *
 *	equal FILE [KEY=VALUE]...
 *
 * Events are read one by one in one session, columns of all types in another. Prints how many
 * tables, rows and values were equal, and what was not. Exit status 1 if something was not.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow_walk.h"

enum { MAX_TABLES = 4096, ROWS = 100 };

struct batch {
	struct ArrowArray array;
	struct batch *next;
};

/* A table, and its batches that were not yet compared. */
struct table {
	struct ArrowSchema schema;
	struct batch *first, **last;
	int64_t row;
	int number;
	const struct sonde_schema *session_schema; /* of the session of columns */
};

static struct table tables[MAX_TABLES];
static unsigned nr_tables;
static uint64_t nr_rows, nr_values, nr_nulls;

static void die(const char *what)
{
	printf("%s: %s\n", what, sonde_error_text());
	exit(1);
}

static void make_session_text(char *text, size_t size, char **argv)
{
	size_t n = (size_t)snprintf(text, size, "input=%s\nkallsyms=/dev/null\nforce=1\n", argv[1]);

	for (argv += 2; *argv; argv++)
		n += (size_t)snprintf(text + n, size - n, "%s\n", *argv);
}

static void add_tables(struct sonde_columns *c, struct sonde_session *s)
{
	/* The windows of batches are small, so that most tables have several. */
	const struct sonde_columns_options o = { .size = sizeof(o), .rows = ROWS };
	char why[ARROW_WALK_WHY];

	for (uint32_t i = 0; i < sonde_session_schemas(s) && nr_tables < MAX_TABLES; i++) {
		const struct sonde_schema *sc = sonde_session_schema(s, i);
		struct table *t = &tables[nr_tables];

		if (sonde_schema_family(sc) != i || sonde_schema_kind(sc) > SONDE_SAMPLE)
			continue;
		t->number = sonde_columns_add(c, sonde_schema_name(sc), NULL, &o);
		if (t->number != (int)nr_tables ||
		    sonde_columns_schema(c, nr_tables, &t->schema) < 0)
			die(sonde_schema_name(sc));
		if (arrow_walk_schema(&t->schema, why) < 0)
			printf("%s: %s\n", sonde_schema_name(sc), why), exit(1);
		t->last = &t->first;
		t->session_schema = sc;
		nr_tables++;
	}
}

/* Reads until the table has a batch; NULL at the end. */
static struct batch *need_batch(struct sonde_columns *c, struct table *t)
{
	while (!t->first) {
		struct batch *b = calloc(1, sizeof(*b));
		char why[ARROW_WALK_WHY];
		struct table *of;
		uint32_t nr;
		int r = sonde_columns_next(c, &nr, &b->array);

		if (r < 0)
			die("columns");
		if (!r) {
			free(b);
			return NULL;
		}
		of = &tables[nr];
		if (arrow_walk(&of->schema, &b->array, why) < 0)
			printf("%s: %s\n", of->schema.name, why), exit(1);
		if (b->array.length > ROWS || !b->array.length)
			printf("%s: a batch of %" PRId64 " rows\n", of->schema.name,
			       b->array.length),
				exit(1);
		*of->last = b;
		of->last = &b->next;
	}
	return t->first;
}

static void unequal(const struct table *t, const char *column, const struct sonde_event *ev,
		    const char *what)
{
	printf("%s.%s, event at %#" PRIx64 ": %s\n", t->schema.name, column, ev->file_off, what);
	exit(1);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_number(const char *format)
{
	return strlen(format) == 1 && strchr("cCsSiIlL", *format);
}

static bool is_short(const struct sonde_field *f, const struct sonde_event *ev)
{
	return f->width > ev->bytes_len || f->offset > ev->bytes_len - f->width;
}

static void compare_text(const struct table *t, const char *column, const struct ArrowArray *a,
			 int64_t row, const struct sonde_event *ev, const char *want, size_t len)
{
	char escaped[4 * 65536 + 1];
	size_t n = 0, have;
	const char *text = arrow_text(a, row, &have);

	/* Only bytes above 127 are escaped, and only where they are not UTF-8; then compare less.
	 */
	if (have == len && !memcmp(text, want, len))
		return;
	for (size_t i = 0; i < len; i++)
		n += (size_t)sprintf(escaped + n, (uint8_t)want[i] < 0x80 ? "%c" : "\\x%02x",
				     (uint8_t)want[i]);
	if (have != n || memcmp(text, escaped, n) != 0)
		unequal(t, column, ev, "another text");
}

static void compare_list(const struct table *t, const struct ArrowSchema *s,
			 const struct ArrowArray *a, int64_t row, const struct sonde_event *ev,
			 const struct sonde_field *f, const uint8_t *bytes, size_t len)
{
	const int32_t *offsets = a->buffers[1];
	const int nr = offsets[row + 1] - offsets[row];

	if ((size_t)nr != len / f->elem_width)
		unequal(t, s->name, ev, "another length");
	for (int i = 0; i < nr; i++) {
		/* The element as a field of an event of its own. */
		struct sonde_event elem = *ev;
		struct sonde_field field = *f;

		elem.bytes = bytes + (size_t)i * f->elem_width;
		elem.bytes_len = f->elem_width;
		field.kind = SONDE_FIELD_INT;
		field.offset = 0;
		field.width = f->elem_width;
		if ((uint64_t)sonde_event_i64(&elem, &field) !=
		    arrow_number(s->children[0]->format, a->children[0], offsets[row] + i))
			unequal(t, s->name, ev, "another element");
	}
}

static void compare_field(const struct table *t, const struct ArrowSchema *s,
			  const struct ArrowArray *a, int64_t row, const struct sonde_event *ev,
			  const struct sonde_field *f)
{
	size_t len;
	const uint8_t *bytes = sonde_event_bytes(ev, f, &len);
	const bool is_null = arrow_is_null(a, row);

	if (is_number(s->format) && !s->dictionary) {
		if (is_null != is_short(f, ev) ||
		    (!is_null &&
		     arrow_number(s->format, a, row) != (uint64_t)sonde_event_i64(ev, f)))
			unequal(t, s->name, ev, "another number");
	} else if (!strcmp(s->format, "f") || !strcmp(s->format, "g")) {
		const double d = *s->format == 'f' ? (double)((const float *)a->buffers[1])[row]
						   : ((const double *)a->buffers[1])[row];
		const double want = sonde_event_double(ev, f);

		if (!is_null && memcmp(&d, &want, sizeof(d)) != 0)
			unequal(t, s->name, ev, "another float");
	} else if (is_null != !bytes) {
		unequal(t, s->name, ev, "null");
	} else if (is_null) {
		return;
	} else if (s->dictionary) {
		compare_text(t, s->name, a, row, ev, (const char *)bytes,
			     strnlen((const char *)bytes, len));
	} else if (!strcmp(s->format, "z")) {
		size_t have;
		const char *text = arrow_text(a, row, &have);

		if (have != len || memcmp(text, bytes, len) != 0)
			unequal(t, s->name, ev, "other bytes");
	} else {
		compare_list(t, s, a, row, ev, f, bytes, len);
	}
}

static void compare_sample(const struct table *t, const struct ArrowSchema *s,
			   const struct ArrowArray *a, int64_t row, const struct sonde_event *ev)
{
	struct sonde_sample v = { .size = sizeof(v) };
	const struct {
		const char *name;
		uint64_t value;
	} values[] = { { "ip", (sonde_event_sample(ev, &v), v.ip) },
		       { "addr", v.addr },
		       { "id", v.id },
		       { "stream_id", v.stream_id },
		       { "period", v.period },
		       { "weight", v.weight },
		       { "data_src", v.data_src },
		       { "transaction", v.transaction },
		       { "phys_addr", v.phys_addr },
		       { "cgroup", v.cgroup },
		       { "data_page_size", v.data_page_size },
		       { "code_page_size", v.code_page_size },
		       { "time_enabled", v.time_enabled_ns },
		       { "time_running", v.time_running_ns } };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (strcmp(values[i].name, s->name) != 0)
			continue;
		if (arrow_number(s->format, a, row) != values[i].value)
			unequal(t, s->name, ev, "another value of the sample");
		return;
	}
	unequal(t, s->name, ev, "neither a field nor a value of a sample");
}

static bool compare_own(const struct table *t, int column, const struct ArrowArray *a, int64_t row,
			const struct sonde_event *ev, const char *comm)
{
	const struct ArrowSchema *s = t->schema.children[column];
	const int32_t ids[] = { ev->cpu, ev->pid, ev->tid };

	if (column == 0) {
		const bool is_null = arrow_is_null(a, row);

		if (is_null != (ev->time_ns > INT64_MAX) ||
		    (!is_null && arrow_number("l", a, row) != ev->time_ns))
			unequal(t, s->name, ev, "another time");
	} else if (column < 4) {
		const int32_t id = ids[column - 1];

		if (arrow_is_null(a, row) != (id == -1) ||
		    (id != -1 && (int32_t)arrow_number("i", a, row) != id))
			unequal(t, s->name, ev, "another id");
	} else if (column == 4) {
		if (arrow_is_null(a, row) != (ev->tid == -1))
			unequal(t, s->name, ev, "null");
		if (ev->tid != -1)
			compare_text(t, s->name, a, row, ev, comm, strlen(comm));
	} else {
		return false;
	}
	return true;
}

static void compare_row(const struct table *t, const struct ArrowArray *a, int64_t row,
			const struct sonde_session *session, const struct sonde_event *ev)
{
	const struct sonde_schema *sc = sonde_event_schema(session, ev);

	for (int i = 0; i < a->n_children; i++) {
		const struct ArrowSchema *s = t->schema.children[i];
		const char *name = s->name;
		const struct sonde_field *f;

		nr_values++;
		nr_nulls += arrow_is_null(a->children[i], row);
		if (compare_own(t, i, a->children[i], row, ev,
				sonde_session_string(session, ev->comm)))
			continue;
		f = sonde_schema_field(sc, name);
		if (!f && !strncmp(name, "f_", 2))
			f = sonde_schema_field(sc, name + 2);
		if (f)
			compare_field(t, s, a->children[i], row, ev, f);
		else
			compare_sample(t, s, a->children[i], row, ev);
	}
	nr_rows++;
}

int main(int argc, char **argv)
{
	char text[4096];
	struct sonde_session *events, *session;
	struct sonde_columns *c;
	const struct sonde_event *ev;
	struct sonde_columns_table facts = { .size = sizeof(facts) };
	uint64_t unfit = 0;
	int r;

	if (argc < 2)
		return 2;
	make_session_text(text, sizeof(text), argv);
	if (sonde_session_open(&events, text, NULL) < 0 ||
	    sonde_session_open(&session, text, NULL) < 0) {
		printf("not a recording: %s\n", sonde_error_text());
		return 77;
	}
	if (sonde_columns_new(&c, session) < 0)
		die("columns");
	add_tables(c, session);
	/* The columns keep the session. */
	while ((r = sonde_session_next(events, &ev)) > 0) {
		const struct sonde_schema *sc = sonde_event_schema(events, ev);
		struct table *t = tables;

		if (sonde_schema_kind(sc) > SONDE_SAMPLE)
			continue;
		while (t < tables + nr_tables && strcmp(t->schema.name, sonde_schema_name(sc)) != 0)
			t++;
		if (t == tables + nr_tables)
			continue; /* an event type that was not known when the tables were made */
		if (!need_batch(c, t))
			unequal(t, "rows", ev, "a row is missing");
		compare_row(t, &t->first->array, t->row++, events, ev);
		if (t->row == t->first->array.length) {
			struct batch *b = t->first;

			t->first = b->next;
			if (!b->next)
				t->last = &t->first;
			t->row = 0;
			b->array.release(&b->array);
			if (b->array.release)
				return puts("release is not NULL"), 1;
			free(b);
		}
	}
	for (unsigned i = 0; i < nr_tables; i++) {
		if (r >= 0 && need_batch(c, &tables[i]))
			return printf("%s: more rows than events\n", tables[i].schema.name), 1;
		sonde_columns_table(c, i, &facts);
		unfit += facts.unfit;
		tables[i].schema.release(&tables[i].schema);
	}
	sonde_session_close(session);
	sonde_columns_free(c);
	sonde_session_close(events);
	printf("%u tables, %" PRIu64 " rows, %" PRIu64 " values, %" PRIu64 " null, %" PRIu64
	       " unfit\n",
	       nr_tables, nr_rows, nr_values, nr_nulls, unfit);
	return 0;
}
