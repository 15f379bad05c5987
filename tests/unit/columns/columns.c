/* SPDX-License-Identifier: MIT */
/* Tables of columns: their types, names and errors; batches; the life of arrays. */
#include "unittest.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "arrow_walk.h"
#include "../session/open.h"
#include "../session/recording.h"

static struct sonde_columns *open_columns(const char *more)
{
	struct sonde_session *s = open_session(demo(), more);
	struct sonde_columns *c;

	assert_int_equal(sonde_columns_new(&c, s), 0);
	sonde_session_close(s); /* the columns keep it */
	return c;
}

static struct sonde_columns_options options(uint32_t flags, uint32_t rows)
{
	return (struct sonde_columns_options){ .size = sizeof(struct sonde_columns_options),
					       .flags = flags,
					       .rows = rows };
}

/* "time:l cpu:i comm:i>u ..." */
static const char *describe(const struct ArrowSchema *s)
{
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (int i = 0; i < s->n_children; i++) {
		const struct ArrowSchema *c = s->children[i];
		const struct ArrowSchema *d = c->dictionary;

		n += (size_t)snprintf(
			text + n, sizeof(text) - n, "%s%s:%s%s%s%s%s", i ? " " : "", c->name,
			c->format, c->n_children ? c->children[0]->format : "", d ? ">" : "",
			d ? d->format : "", d && d->n_children ? d->children[0]->format : "");
	}
	return text;
}

static void assert_columns(const char *event, const char *fields, uint32_t flags, const char *want)
{
	const struct sonde_columns_options o = options(flags, 0);
	struct sonde_columns *c = open_columns("");
	struct ArrowSchema schema;
	char why[ARROW_WALK_WHY];

	if (sonde_columns_add(c, event, fields, &o) < 0)
		fail_msg("%s", sonde_error_text());
	assert_int_equal(sonde_columns_schema(c, 0, &schema), 0);
	if (arrow_walk_schema(&schema, why) < 0)
		fail_msg("%s", why);
	assert_string_equal(describe(&schema), want);
	sonde_columns_free(c);
	schema.release(&schema);
	assert_null(schema.release);
}

static void walk(const struct ArrowSchema *schema, const struct ArrowArray *a)
{
	char why[ARROW_WALK_WHY];

	if (arrow_walk(schema, a, why) < 0)
		fail_msg("%s", why);
}

/* Reads the rest of a table; the rows of all batches. */
static int64_t drain(struct sonde_columns *c, const struct ArrowSchema *schema)
{
	struct ArrowArray a;
	int64_t rows = 0;
	uint32_t table;
	int r;

	while ((r = sonde_columns_next(c, &table, &a)) > 0) {
		if (schema)
			walk(schema, &a);
		rows += a.length;
		a.release(&a);
	}
	if (r < 0)
		fail_msg("%s", sonde_error_text());
	assert_int_equal(sonde_columns_next(c, &table, &a), 0); /* the end stays the end */
	return rows;
}

#define OWN "time:l cpu:i pid:i tid:i comm:i>u"

TEST(columns_are_own_ones_then_fields)
{
	assert_columns("sched:sched_switch", NULL, 0,
		       OWN " prev_comm:i>u prev_pid:i prev_prio:i prev_state:l next_comm:i>u"
			   " next_pid:i next_prio:i");
	assert_columns("sched_switch", "next_pid,prev_comm", 0, OWN " next_pid:i prev_comm:i>u");
	assert_columns("sched_switch", "", 0, OWN);
	assert_columns("sched_switch", "common_pid,common_type,common_flags", 0,
		       OWN " common_pid:i common_type:S common_flags:C");
}

TEST(a_field_like_an_own_column_has_a_prefix)
{
	assert_columns("sched_wakeup", "pid,comm,prio", 0, OWN " f_pid:i f_comm:i>u prio:i");
	assert_columns("sched_wakeup", "f_pid", 0, OWN " f_pid:i");
	/* Without such a field it is the own column, which exists already. */
	assert_columns("sched_switch", "pid,time", 0, OWN);
}

TEST(own_columns_may_be_left_out)
{
	assert_columns("sched_switch", "next_pid", SONDE_COLUMNS_FIELDS_ONLY, "next_pid:i");
	assert_columns("sched_switch", "next_pid,time,comm", SONDE_COLUMNS_FIELDS_ONLY,
		       "next_pid:i time:l comm:i>u");
}

TEST(flags_choose_other_types)
{
	assert_columns("sched_switch", "prev_comm,prev_state",
		       SONDE_COLUMNS_BYTES | SONDE_COLUMNS_NAMES | SONDE_COLUMNS_STACKS,
		       "time:l cpu:i pid:i tid:i comm:i>z stack:i>+lL prev_comm:i>z"
		       " prev_state:i>u");
}

TEST(metadata_says_what_time_is)
{
	struct sonde_columns *c = open_columns("clock=relative\n");
	struct ArrowSchema schema;
	char room[64];

	assert_int_equal(sonde_columns_add(c, "sched_switch", NULL, NULL), 0);
	assert_int_equal(sonde_columns_schema(c, 0, &schema), 0);
	assert_string_equal(arrow_meta_value(schema.children[0], "unit", room), "ns");
	assert_string_equal(arrow_meta_value(schema.children[0], "sonde.clock", room), "relative");
	assert_string_equal(arrow_meta_value(schema.children[6], "sonde.type", room), "pid_t");
	assert_string_equal(schema.name, "sched:sched_switch");
	schema.release(&schema);
	sonde_columns_free(c);
}

static void refuse(struct sonde_columns *c, const char *event, const char *fields,
		   const struct sonde_columns_options *o, int code, const char *text)
{
	assert_int_equal(sonde_columns_add(c, event, fields, o), code);
	if (!strstr(sonde_error_text(), text))
		fail_msg("%s", sonde_error_text());
}

TEST(unknown_names_give_the_nearest_ones)
{
	struct sonde_columns *c = open_columns("");
	struct sonde_columns_options o = options(0, 0);

	refuse(c, "sched:sched_swich", NULL, NULL, -ENOENT, "did you mean sched:sched_switch");
	refuse(c, "sched_switch", "next_pid,prev_pdi", NULL, -ENOENT, "did you mean prev_pid");
	refuse(c, "sched_switch", "next_pid,prev_pid,next_pid", NULL, -EINVAL, "named twice");
	refuse(c, "sched_switch", "next_pid,,prev_pid", NULL, -ENOENT, "no field ''");
	o.flags = 64;
	refuse(c, "sched_switch", NULL, &o, -EINVAL, "0x40");
	o = options(0, UINT32_MAX);
	refuse(c, "sched_switch", NULL, &o, -EINVAL, "4294967295");
	o = (struct sonde_columns_options){ 0 };
	refuse(c, "sched_switch", NULL, &o, -EINVAL, "size");
	/* Nothing of this added a table. */
	assert_int_equal(sonde_columns_add(c, "sched_switch", NULL, NULL), 0);
	assert_int_equal(sonde_columns_add(c, "sched_wakeup", NULL, NULL), 1);
	assert_in_range(sonde_columns_fill(c), 0, 1);
	refuse(c, "sched_switch", NULL, NULL, -EINVAL, "being read");
	sonde_columns_free(c);
}

TEST(facts_count_rows_and_columns)
{
	struct sonde_columns *c = open_columns("");
	struct sonde_columns_table t = { .size = sizeof(t) };
	struct ArrowSchema schema;

	assert_int_equal(sonde_columns_add(c, "sched_switch", "next_pid", NULL), 0);
	assert_int_equal(sonde_columns_table(c, 1, &t), 0);
	assert_int_equal(sonde_columns_schema(c, 1, &schema), -ENOENT);
	assert_int_equal(drain(c, NULL), 155);
	assert_int_equal(sonde_columns_table(c, 0, &t), 1);
	assert_string_equal(t.name, "sched:sched_switch");
	assert_int_equal(t.nr_columns, 6);
	assert_int_equal(t.rows, 155);
	assert_int_equal(t.unfit, 0);
	assert_int_equal(t.lost, 0);
	/* A caller with an older header. */
	t = (struct sonde_columns_table){ .size = 8, .name = "untouched" };
	assert_int_equal(sonde_columns_table(c, 0, &t), 1);
	assert_string_equal(t.name, "untouched");
	sonde_columns_free(c);
}

TEST(names_of_flags_are_those_of_the_print_format)
{
	const struct sonde_columns_options o =
		options(SONDE_COLUMNS_NAMES | SONDE_COLUMNS_FIELDS_ONLY, 0);
	struct sonde_columns *c = open_columns("");
	struct ArrowSchema schema;
	struct ArrowArray a;
	uint32_t table;
	size_t len, found = 0;

	assert_int_equal(sonde_columns_add(c, "sched_switch", "prev_state", &o), 0);
	assert_int_equal(sonde_columns_schema(c, 0, &schema), 0);
	assert_int_equal(sonde_columns_next(c, &table, &a), 1);
	walk(&schema, &a);
	for (int64_t i = 0; i < a.length; i++) {
		const char *text = arrow_text(a.children[0], i, &len);

		found += len == 1 && *text == 'S';
	}
	assert_true(found > 10 && found < 155);
	a.release(&a);
	schema.release(&schema);
	sonde_columns_free(c);
}

/* ---- batches --------------------------------------------------------------------------------- */

TEST(codes_stay_and_old_batches_do_not_change)
{
	enum { ROWS = 10, MAX = 32 };
	const struct sonde_columns_options o = options(0, ROWS);
	struct sonde_columns *c = open_columns("");
	struct ArrowArray a[MAX], last;
	struct ArrowSchema schema;
	char first[64];
	uint32_t table;
	size_t len;
	int n = 0;

	assert_int_equal(sonde_columns_add(c, "sched_switch", "next_comm", &o), 0);
	assert_int_equal(sonde_columns_schema(c, 0, &schema), 0);
	while (n < MAX && sonde_columns_next(c, &table, &a[n]) > 0) {
		assert_true(a[n].length == ROWS || n == 15);
		if (!n)
			snprintf(first, sizeof(first), "%.*s", 8,
				 arrow_text(a[0].children[5], ROWS - 1, &len));
		n++;
	}
	assert_int_equal(n, 16);
	sonde_columns_free(c);
	last = *a[n - 1].children[5]->dictionary;
	for (int i = 0; i < n; i++) {
		const struct ArrowArray *d = a[i].children[5]->dictionary;

		walk(&schema, &a[i]);
		/* The values so far begin the values of all later batches. */
		assert_true(d->length <= last.length);
		assert_memory_equal(d->buffers[1], last.buffers[1],
				    sizeof(int32_t) * ((size_t)d->length + 1));
	}
	assert_true(a[0].children[5]->dictionary->length < last.length);
	assert_memory_equal(first, arrow_text(a[0].children[5], ROWS - 1, &len), len < 8 ? len : 8);
	for (int i = 0; i < n; i++)
		a[i].release(&a[i]);
	schema.release(&schema);
}

TEST(one_pass_fills_several_tables)
{
	struct sonde_columns *c = open_columns("");
	struct ArrowArray a;
	uint32_t table, last = 0;
	int64_t rows[3] = { 0 };

	assert_int_equal(sonde_columns_add(c, "sched_switch", "next_pid", NULL), 0);
	assert_int_equal(sonde_columns_add(c, "sched_wakeup", "pid", NULL), 1);
	assert_int_equal(sonde_columns_add(c, "sched_switch", "prev_comm", NULL), 2);
	while (sonde_columns_next(c, &table, &a) > 0) {
		assert_true(table >= last); /* all are rests: in the order of tables */
		last = table;
		rows[table] += a.length;
		a.release(&a);
	}
	assert_int_equal(rows[0], 155);
	assert_true(rows[1] > 0);
	assert_int_equal(rows[2], 155);
	sonde_columns_free(c);
}

static int count_others(struct sonde_session *s, int *ret_end)
{
	const struct sonde_event *ev;
	int others = 0;

	while ((*ret_end = sonde_session_next(s, &ev)) > 0)
		others +=
			strcmp(sonde_schema_event(sonde_event_schema(s, ev)), "sched_switch") != 0;
	return others;
}

/* In a window of time, samples that no table needs are dropped after they were ordered. */
TEST(the_session_wants_everything_again)
{
	const struct sonde_columns_options o = options(0, 1);
	struct sonde_session *s = open_session(demo(), "time=1,\n");
	struct sonde_columns *c;
	int end;

	assert_int_equal(sonde_columns_new(&c, s), 0);
	assert_int_equal(sonde_columns_add(c, "sched_switch", NULL, &o), 0);
	assert_int_equal(sonde_columns_fill(c), 1);
	sonde_columns_free(c);
	assert_true(count_others(s, &end) > 10);
	assert_int_equal(end, 0);
	sonde_session_close(s);
}

/* Otherwise reading passed over them, so the session cannot deliver them any more. */
TEST(a_session_that_passed_over_samples_does_not_go_on)
{
	const struct sonde_columns_options o = options(0, 1);
	struct sonde_session *s = open_session(demo(), "");
	struct sonde_columns *c;
	int end;

	assert_int_equal(sonde_columns_new(&c, s), 0);
	assert_int_equal(sonde_columns_add(c, "sched_switch", NULL, &o), 0);
	assert_int_equal(sonde_columns_fill(c), 1);
	sonde_columns_free(c);
	assert_int_equal(count_others(s, &end), 0);
	assert_int_equal(end, -EINVAL);
	assert_non_null(strstr(sonde_error_text(), "open it again"));
	sonde_session_close(s);
}

/* Columns that were read to the end, or not at all, leave nothing out. */
TEST(columns_without_a_rest_leave_the_session_alone)
{
	struct sonde_session *s = open_session(demo(), "");
	struct sonde_columns *c;
	struct ArrowArray a;
	uint32_t table;
	int end;

	assert_int_equal(sonde_columns_new(&c, s), 0);
	assert_int_equal(sonde_columns_add(c, "sched_switch", NULL, NULL), 0);
	sonde_columns_free(c);
	assert_true(count_others(s, &end) > 10);
	sonde_session_close(s);
	s = open_session(demo(), "");
	assert_int_equal(sonde_columns_new(&c, s), 0);
	assert_int_equal(sonde_columns_add(c, "sched_switch", NULL, NULL), 0);
	while (sonde_columns_next(c, &table, &a) > 0)
		a.release(&a);
	sonde_columns_free(c);
	count_others(s, &end);
	assert_int_equal(end, 0);
	sonde_session_close(s);
}

TEST(a_stopped_session_ends_with_the_rest)
{
	const struct sonde_columns_options o = options(0, 10);
	struct sonde_session *s = open_session(demo(), "");
	struct sonde_columns *c;

	assert_int_equal(sonde_columns_new(&c, s), 0);
	assert_int_equal(sonde_columns_add(c, "sched_switch", NULL, &o), 0);
	assert_int_equal(sonde_columns_fill(c), 1);
	sonde_session_stop(s);
	assert_in_range(drain(c, NULL), 1, 155);
	sonde_columns_free(c);
	sonde_session_close(s);
}

/* ---- the life of arrays ---------------------------------------------------------------------- */

static void *release_array(void *array)
{
	struct ArrowArray *a = array;

	a->release(a);
	return a->release;
}

TEST(arrays_outlive_everything_and_are_released_anywhere)
{
	struct sonde_columns *c = open_columns("");
	struct ArrowSchema schema;
	struct ArrowArray a;
	pthread_t thread;
	uint32_t table;
	void *left;

	assert_int_equal(sonde_columns_add(c, "sched_switch", NULL, NULL), 0);
	assert_int_equal(sonde_columns_schema(c, 0, &schema), 0);
	assert_int_equal(sonde_columns_next(c, &table, &a), 1);
	sonde_columns_free(c);
	walk(&schema, &a);
	assert_int_equal(pthread_create(&thread, NULL, release_array, &a), 0);
	assert_int_equal(pthread_join(thread, &left), 0);
	assert_null(left);
	schema.release(&schema);
}

TEST(children_and_dictionaries_may_be_moved_away)
{
	struct sonde_columns *c = open_columns("");
	struct ArrowSchema schema, pid_schema, comm_schema;
	struct ArrowArray a, pid, comm, values;
	char why[ARROW_WALK_WHY];
	uint32_t table;

	assert_int_equal(sonde_columns_add(c, "sched_switch", "next_pid,prev_comm", NULL), 0);
	assert_int_equal(sonde_columns_schema(c, 0, &schema), 0);
	assert_int_equal(sonde_columns_next(c, &table, &a), 1);
	pid = *a.children[5];
	a.children[5]->release = NULL;
	comm = *a.children[6];
	a.children[6]->release = NULL;
	pid_schema = *schema.children[5];
	schema.children[5]->release = NULL;
	comm_schema = *schema.children[6];
	schema.children[6]->release = NULL;
	a.release(&a);
	schema.release(&schema);
	assert_null(a.release);
	sonde_columns_free(c);
	assert_int_equal(arrow_walk(&pid_schema, &pid, why), 0);
	pid.release(&pid);
	pid_schema.release(&pid_schema);
	/* The memory that the array's struct pointed to has gone with the parent; the rest has not.
	 */
	values = *comm.dictionary;
	comm.dictionary->release = NULL;
	comm.release(&comm);
	assert_int_equal(arrow_walk(comm_schema.dictionary, &values, why), 0);
	values.release(&values);
	comm_schema.release(&comm_schema);
}

TEST(batches_that_nobody_took_are_freed)
{
	const struct sonde_columns_options o = options(0, 1);
	struct sonde_columns *c = open_columns("");

	assert_int_equal(sonde_columns_add(c, "sched_switch", NULL, &o), 0);
	assert_int_equal(sonde_columns_fill(c), 1);
	sonde_columns_free(c);
	sonde_columns_free(NULL);
}

TEST(a_stream_gives_all_batches_and_then_none)
{
	const struct sonde_columns_options o = options(0, 10);
	struct sonde_columns *c = open_columns("");
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray a;
	int64_t rows = 0;

	assert_int_equal(sonde_columns_stream(c, &stream), -EINVAL);
	assert_int_equal(sonde_columns_add(c, "sched_switch", "next_pid", &o), 0);
	assert_int_equal(sonde_columns_stream(c, &stream), 0);
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_null(stream.get_last_error(&stream));
	for (;;) {
		assert_int_equal(stream.get_next(&stream, &a), 0);
		if (!a.release)
			break;
		walk(&schema, &a);
		rows += a.length;
		a.release(&a);
	}
	assert_int_equal(rows, 155);
	assert_int_equal(stream.get_next(&stream, &a), 0);
	assert_null(a.release);
	stream.release(&stream);
	assert_null(stream.release);
	schema.release(&schema);
}

/* ---- samples that are no tracepoints --------------------------------------------------------- */

static void put_lost(struct recording *r, uint64_t time_ns, uint64_t lost)
{
	size_t at = recording_open(r, PERF_RECORD_LOST, 0);

	recording_u64(r, 1);
	recording_u64(r, lost);
	recording_trailer(r, at, time_ns, 12, 12);
}

TEST(samples_have_values_stacks_and_losses)
{
	const uint64_t chain[] = { 0x401000, 0x402000, 0x403000 };
	const struct sonde_columns_options o = options(SONDE_COLUMNS_STACKS, 2);
	struct sonde_columns_table t = { .size = sizeof(t) };
	struct sonde_session *s;
	struct sonde_columns *c;
	struct ArrowSchema schema;
	struct ArrowArray a;
	struct recording r;
	uint32_t table;
	const int32_t *offsets;
	const uint64_t *frames;

	recording_begin_as(&r, true);
	recording_comm(&r, 10, 12, 12, "s\xffh", false);
	recording_sample(&r, 20, 12, 12, chain, 3);
	recording_sample(&r, 30, 12, 12, chain + 1, 2);
	put_lost(&r, 35, 7);
	recording_sample(&r, 40, 12, 12, chain, 3);
	recording_sample(&r, 50, -1, -1, chain, 0);
	s = open_session(recording_finish(&r), "");
	assert_int_equal(sonde_columns_new(&c, s), 0);
	if (sonde_columns_add(c, "cpu-clock:H", NULL, &o) < 0 &&
	    sonde_columns_add(c, "cpu-clock", NULL, &o) < 0)
		fail_msg("%s", sonde_error_text());
	assert_int_equal(sonde_columns_schema(c, 0, &schema), 0);
	assert_string_equal(describe(&schema), OWN " stack:i>+lL ip:L id:L");
	assert_int_equal(sonde_columns_next(c, &table, &a), 1);
	walk(&schema, &a);
	assert_int_equal(arrow_number("L", a.children[6], 1), 0x402000);
	a.release(&a);
	assert_int_equal(sonde_columns_next(c, &table, &a), 1);
	walk(&schema, &a);
	assert_int_equal(((const int32_t *)a.children[5]->buffers[1])[0], 0); /* the first stack */
	assert_true(arrow_is_null(a.children[5], 1));
	assert_true(arrow_is_null(a.children[2], 1) && arrow_is_null(a.children[4], 1));
	assert_int_equal(a.children[5]->dictionary->length, 2);
	offsets = a.children[5]->dictionary->buffers[1];
	frames = a.children[5]->dictionary->children[0]->buffers[1];
	assert_int_equal(offsets[1], 3);
	assert_int_equal(offsets[2], 5);
	assert_memory_equal(frames, chain, sizeof(chain));
	assert_memory_equal(frames + 3, chain + 1, 2 * sizeof(uint64_t));
	{
		size_t len;
		const char *comm = arrow_text(a.children[4], 0, &len);

		assert_int_equal(len, 6);
		assert_memory_equal(comm, "s\\xffh", 6);
	}
	a.release(&a);
	assert_int_equal(drain(c, &schema), 0);
	assert_int_equal(sonde_columns_table(c, 0, &t), 1);
	assert_int_equal(t.lost, 7);
	schema.release(&schema);
	sonde_columns_free(c);
	sonde_session_close(s);
	recording_done(&r);
}

/* The frames of the columns' only table, checked. */
static void get_frames(struct sonde_columns *c, struct ArrowSchema *schema, struct ArrowArray *a)
{
	if (sonde_columns_frames(c, 0, schema, a) < 0)
		fail_msg("%s", sonde_error_text());
	assert_string_equal(describe(schema), "ip:L symbol:i>u offset:L dso:i>u");
	walk(schema, a);
}

static void assert_frame(const struct ArrowArray *a, int64_t row, uint64_t ip, const char *dso)
{
	size_t len;
	const char *text;

	assert_int_equal(arrow_number("L", a->children[0], row), ip);
	assert_true(arrow_is_null(a->children[1], row) && arrow_is_null(a->children[2], row));
	assert_int_equal(arrow_is_null(a->children[3], row), !dso);
	if (!dso)
		return;
	text = arrow_text(a->children[3], row, &len);
	assert_int_equal(len, strlen(dso));
	assert_memory_equal(text, dso, len);
}

/* One address is a place of three files: of two processes, and after another mapping. */
TEST(stacks_refer_to_frames)
{
	const uint64_t chain[] = { 0x401000, 0x402000, 0x409000 };
	const struct sonde_columns_options o = options(SONDE_COLUMNS_FRAMES, 2);
	struct ArrowSchema schema, types[2];
	struct ArrowArray a, frames[2];
	struct sonde_session *s;
	struct sonde_columns *c;
	struct recording r;
	const int32_t *codes;
	uint32_t table;

	recording_begin_as(&r, true);
	recording_mmap(&r, 10, 12, 0x400000, 0x4000, "/one");
	recording_mmap(&r, 10, 13, 0x400000, 0x4000, "/\xfftwo");
	recording_sample(&r, 20, 12, 12, chain, 3);
	recording_sample(&r, 30, 13, 13, chain, 3);
	recording_sample(&r, 40, 12, 12, chain, 3);
	recording_sample(&r, 50, 12, 12, chain, 0);
	recording_mmap(&r, 60, 12, 0x400000, 0x4000, "/three");
	recording_sample(&r, 70, 12, 12, chain, 1);
	s = open_session(recording_finish(&r), "");
	assert_int_equal(sonde_columns_new(&c, s), 0);
	assert_int_equal(sonde_columns_add(c, "cpu-clock", "ip", &o), 0);
	assert_int_equal(sonde_columns_schema(c, 0, &schema), 0);
	assert_string_equal(describe(&schema), OWN " stack:i>+li ip:L");
	get_frames(c, &types[0], &frames[0]);
	assert_int_equal(frames[0].length, 0);
	frames[0].release(&frames[0]);
	types[0].release(&types[0]);
	assert_int_equal(sonde_columns_next(c, &table, &a), 1);
	a.release(&a);
	get_frames(c, &types[0], &frames[0]); /* as of now, or later: reading may be ahead */
	assert_int_equal(sonde_columns_next(c, &table, &a), 1);
	walk(&schema, &a);
	codes = a.children[5]->buffers[1];
	assert_int_equal(codes[0], 0); /* the stack of the first sample again */
	assert_true(arrow_is_null(a.children[5], 1));
	a.release(&a);
	assert_int_equal(sonde_columns_next(c, &table, &a), 1);
	walk(&schema, &a);
	assert_int_equal(((const int32_t *)a.children[5]->buffers[1])[0], 2);
	assert_int_equal(a.children[5]->dictionary->length, 3);
	a.release(&a);
	assert_int_equal(drain(c, &schema), 0);
	get_frames(c, &types[1], &frames[1]);
	assert_int_equal(frames[1].length, 6);
	assert_frame(&frames[1], 0, 0x401000, "/one");
	assert_frame(&frames[1], 1, 0x402000, "/one");
	assert_frame(&frames[1], 2, 0x409000, NULL); /* the same place in all processes */
	assert_frame(&frames[1], 3, 0x401000, "/\\xfftwo");
	assert_frame(&frames[1], 4, 0x402000, "/\\xfftwo");
	assert_frame(&frames[1], 5, 0x401000, "/three");
	sonde_columns_free(c);
	sonde_session_close(s);
	recording_done(&r);
	for (int64_t i = 0; i < frames[0].length; i++) /* what was given out stays */
		assert_int_equal(arrow_number("L", frames[0].children[0], i),
				 arrow_number("L", frames[1].children[0], i));
	for (int i = 0; i < 2; i++) {
		walk(&types[i], &frames[i]);
		types[i].release(&types[i]);
		frames[i].release(&frames[i]);
	}
	schema.release(&schema);
}

TEST(frames_are_of_tables_that_want_them)
{
	const struct sonde_columns_options o = options(SONDE_COLUMNS_STACKS, 0);
	struct sonde_columns *c = open_columns("");
	struct ArrowSchema schema;
	struct ArrowArray a;

	assert_int_equal(sonde_columns_add(c, "sched:sched_switch", NULL, &o), 0);
	assert_int_equal(sonde_columns_frames(c, 0, &schema, &a), -ENOENT);
	assert_int_equal(sonde_columns_frames(c, 1, &schema, &a), -ENOENT);
	sonde_columns_free(c);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void ignore_signal(int nr)
{
	(void)nr;
}

static void write_fully(int fd, const void *p, size_t n)
{
	assert_int_equal(write(fd, p, n), n);
}

/*
 * A signal ends the wait for a pipe: the host handles it and calls again. No event is lost by it.
 */
TEST(fill_returns_after_a_signal_without_an_event)
{
	/* The pipe's header; then the attr: TID TIME IDENTIFIER; its id; a sample. */
	static const uint64_t head[] = { PERFDATA_MAGIC,
					 16,
					 (uint64_t)80 << 48 | RECORD_HEADER_ATTR,
					 (uint64_t)64 << 32 | 1,
					 0,
					 1,
					 0x10006,
					 0,
					 0,
					 0,
					 0,
					 7 };
	static const uint64_t sample[] = { (uint64_t)32 << 48 | PERF_RECORD_SAMPLE, 7,
					   (uint64_t)12 << 32 | 12, 1000 };
	const struct itimerval every = { { 0, 20000 }, { 0, 20000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = ignore_signal }, before;
	struct sonde_session *s;
	struct sonde_columns *c;
	struct ArrowArray a;
	uint32_t table;
	char path[64];
	int fds[2], r;

	assert_int_equal(pipe(fds), 0);
	write_fully(fds[1], head, sizeof(head));
	write_fully(fds[1], sample, sizeof(sample));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	s = open_session(path, "");
	assert_int_equal(sonde_columns_new(&c, s), 0);
	assert_int_equal(sonde_columns_add(c, "cpu-clock", "", NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(sonde_columns_fill(c), 1);
		assert_int_equal(sonde_columns_next_pending(c, &table, &a), 0);
	}
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
	write_fully(fds[1], sample, sizeof(sample));
	close(fds[1]);
	while ((r = sonde_columns_fill(c)) > 0)
		;
	assert_int_equal(r, 0);
	assert_int_equal(sonde_columns_next_pending(c, &table, &a), 1);
	assert_int_equal(a.length, 2);
	a.release(&a);
	sonde_columns_free(c);
	sonde_session_close(s);
	close(fds[0]);
}
