/* SPDX-License-Identifier: MIT */
/* Aggregations of recordings made by hand: kinds, keys, order, limits, errors. */
#include "unittest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../session/open.h"
#include "../session/traced.h"

static struct sonde_aggregate_options options(const char *kind, const char *events,
					      const char *field, const char *by)
{
	return (struct sonde_aggregate_options){
		.size = sizeof(struct sonde_aggregate_options),
		.kind = kind,
		.events = events,
		.field = field,
		.by = by,
	};
}

static void read_all(struct sonde_session *s, struct sonde_aggregate *a)
{
	const struct sonde_event *const *events;
	size_t nr;

	while (nr = 256, sonde_session_next_batch(s, &events, &nr) > 0)
		assert_int_equal(sonde_aggregate_add(a, events, nr), 0);
}

/* Reads a recording that is closed and opened for each call. */
static struct sonde_aggregate *aggregated(struct traced *t, const char *more,
					  const struct sonde_aggregate_options *o)
{
	struct sonde_session *s = open_session(t->path, more);
	struct sonde_aggregate *a;

	if (sonde_aggregate_new(&a, s, o) < 0)
		fail_msg("%s", sonde_error_text());
	read_all(s, a);
	sonde_session_close(s); /* the aggregation keeps it */
	return a;
}

static void expect_printed_as(struct sonde_aggregate *a,
			      const struct sonde_aggregate_print_options *o, const char *want)
{
	int fd = memfd_create("printed", MFD_CLOEXEC);
	char got[8192];
	ssize_t n;

	if (sonde_aggregate_print(a, fd, o) < 0)
		fail_msg("%s", sonde_error_text());
	n = pread(fd, got, sizeof(got) - 1, 0);
	assert_in_range(n, 0, sizeof(got) - 1);
	got[n] = '\0';
	close(fd);
	assert_string_equal(got, want);
}

static void expect_printed(struct sonde_aggregate *a, const char *format, uint32_t top,
			   const char *want)
{
	const struct sonde_aggregate_print_options o = {
		.size = sizeof(o),
		.format = format,
		.top = top,
	};

	expect_printed_as(a, &o, want);
}

static void expect_text(struct traced *t, const struct sonde_aggregate_options *o, const char *want)
{
	struct sonde_aggregate *a = aggregated(t, "", o);

	expect_printed(a, NULL, 0, want);
	sonde_aggregate_free(a);
}

static void expect_error(struct traced *t, const struct sonde_aggregate_options *o, int code,
			 const char *text)
{
	struct sonde_session *s = open_session(t->path, "");
	struct sonde_aggregate *a;

	assert_int_equal(sonde_aggregate_new(&a, s, o), code);
	if (!strstr(sonde_error_text(), text))
		fail_msg("'%s' is not in: %s", text, sonde_error_text());
	sonde_session_close(s);
}

/* Keys 7 (three times), -3 (two), 9 (two), 1 (once); names b, a, c. */
static void make(struct traced *t, bool is_big)
{
	traced_open(t, is_big);
	traced_begin_on(t, 10, 5, 0, 7, "b");
	traced_begin_on(t, 11, 5, 1, -3, "a");
	traced_end(t, 12, 6, 7, "x");
	traced_begin_on(t, 13, 5, 0, 7, "b");
	traced_begin_on(t, 14, 6, 1, 9, "c");
	traced_begin_on(t, 15, 6, 1, -3, "a");
	traced_begin_on(t, 16, -1, 0, 1, "b");
	traced_begin_on(t, 17, 6, 0, 9, "c");
	traced_begin_on(t, 18, 6, 0, 7, "b");
	assert_non_null(traced_finish(t));
}

TEST(rows_are_sorted_by_size_then_by_key)
{
	for (int big = 0; big < 2; big++) {
		struct sonde_aggregate_options o = options("count", "made:begin", NULL, "key");
		struct traced t;

		make(&t, big);
		expect_text(&t, &o,
			    "count of made:begin by key\nkey  count\n"
			    "  7      3  ##################################################\n"
			    " -3      2  ##################################\n"
			    "  9      2  ##################################\n"
			    "  1      1  #################\n");
		o = options("count", "begin", NULL, "name,f_name,cpu");
		expect_text(&t, &o,
			    "count of begin by name, f_name, cpu\nname        f_name  cpu  count\n"
			    "made:begin  b         0      4  "
			    "##################################################\n"
			    "made:begin  a         1      2  #########################\n"
			    "made:begin  c         0      1  #############\n"
			    "made:begin  c         1      1  #############\n");
		traced_close(&t);
	}
}

TEST(values_that_were_not_recorded_are_a_key)
{
	const struct sonde_aggregate_options o = options("count", "made:*", NULL, "tid");
	struct sonde_aggregate_row row = { .size = sizeof(row) };
	struct sonde_aggregate *a;
	struct traced t;

	make(&t, false);
	a = aggregated(&t, "", &o);
	assert_int_equal(sonde_aggregate_rows(a), 3);
	assert_int_equal(sonde_aggregate_row(a, 2, &row), 1);
	assert_int_equal(row.nr_keys, 1);
	assert_int_equal(row.keys[0].kind, SONDE_AGGREGATE_NONE);
	assert_int_equal(row.count, 1);
	assert_int_equal(sonde_aggregate_row(a, 0, &row), 1);
	assert_int_equal(row.keys[0].kind, SONDE_AGGREGATE_NUMBER);
	assert_int_equal(row.keys[0].number, 6);
	assert_int_equal(row.count, 5);
	assert_int_equal(sonde_aggregate_row(a, 3, &row), 0);
	assert_string_equal(sonde_aggregate_key(a, 0), "tid");
	assert_null(sonde_aggregate_key(a, 1));
	sonde_aggregate_free(a);
	traced_close(&t);
}

TEST(sums_are_signed)
{
	for (int big = 0; big < 2; big++) {
		struct sonde_aggregate_options o = options("sum", "made:begin", "key", "f_name");
		struct traced t;

		make(&t, big);
		expect_text(&t, &o,
			    "sum of key of made:begin by f_name\nf_name  sum\n"
			    "b        22  ##################################################\n"
			    "c        18  #########################################\n"
			    "a        -6\n");
		o = options("sum", "made:begin,made:end", "key", NULL);
		o.where = "key > 0";
		expect_text(&t, &o, "sum of key of made:begin,made:end where key > 0\nsum\n 47\n");
		traced_close(&t);
	}
}

TEST(histograms_have_buckets_for_what_is_negative_and_zero)
{
	struct sonde_aggregate_options o = options("hist", "made:last", "key", NULL);
	static const int values[] = { -2147483647, -1, 0, 1, 2, 3, 4, 7, 8, 2147483647 };
	struct traced t;

	traced_open(&t, false);
	for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++)
		traced_last(&t, 10 + i, 5, values[i], "");
	traced_finish(&t);
	o.where = "key < 1000";
	expect_text(&t, &o,
		    "hist of key of made:last where key < 1000\n9 events\n"
		    "     ... ..        0  2 ##################################################\n"
		    "       0 ..        1  1 #########################\n"
		    "       1 ..        2  1 #########################\n"
		    "       2 ..        4  2 ##################################################\n"
		    "       4 ..        8  2 ##################################################\n"
		    "       8 ..       16  1 #########################\n");
	o = options("lhist", "made:last", "key", NULL);
	o.low = -1;
	o.high = 6;
	o.step = 3;
	expect_text(&t, &o,
		    "lhist(-1, 6, 3) of key of made:last\n10 events\n"
		    "     ... ..       -1  1 #################\n"
		    "      -1 ..        2  3 ##################################################\n"
		    "       2 ..        5  3 ##################################################\n"
		    "       5 ..        6  0\n"
		    "       6 ..      ...  3 ##################################################\n");
	traced_close(&t);
}

TEST(percentiles_are_within_their_error)
{
	const struct sonde_aggregate_options o = options("stats", "made:last", "key", NULL);
	struct sonde_aggregate_row row = { .size = sizeof(row) };
	struct sonde_aggregate *a;
	struct traced t;

	traced_open(&t, false);
	for (int i = 0; i < 1000; i++)
		traced_last(&t, 10 + (uint64_t)i, 5, i * 1000 - 100000, "");
	traced_finish(&t);
	a = aggregated(&t, "", &o);
	assert_int_equal(sonde_aggregate_rows(a), 1);
	assert_int_equal(sonde_aggregate_row(a, 0, &row), 1);
	assert_int_equal(row.count, 1000);
	assert_int_equal(row.sum, 399500000);
	assert_int_equal(row.mean, 399500);
	assert_int_equal(row.min, -100000);
	assert_int_equal(row.max, 899000);
	assert_in_range(row.p50, 399000 - 399000 / 128, 399000 + 399000 / 128);
	assert_in_range(row.p90, 799000 - 799000 / 128, 799000 + 799000 / 128);
	assert_in_range(row.p95, 849000 - 849000 / 128, 849000 + 849000 / 128);
	assert_in_range(row.p99, 889000 - 889000 / 128, 889000 + 889000 / 128);
	sonde_aggregate_free(a);
	traced_close(&t);
}

TEST(the_smallest_keys_are_merged)
{
	struct sonde_aggregate_options o = options("count", "made:begin", NULL, "key");
	struct sonde_aggregate_facts facts = { .size = sizeof(facts) };
	struct sonde_aggregate *a;
	struct traced t;

	make(&t, false);
	o.limit = 2;
	a = aggregated(&t, "", &o);
	assert_int_equal(sonde_aggregate_facts(a, &facts), 0); /* before rows are made */
	assert_int_equal(facts.merged, 2);
	expect_printed(a, NULL, 1,
		       "count of made:begin by key\n    key  count\n"
		       "      7      3  ##################################################\n"
		       "(other)      3  ##################################################\n"
		       "... 1 more\n2 keys beyond the limit of 2 were merged into (other)\n");
	assert_int_equal(sonde_aggregate_facts(a, &facts), 0);
	assert_int_equal(facts.merged, 2);
	assert_int_equal(facts.count, 8);
	sonde_aggregate_free(a);
	traced_close(&t);
}

/* More keys than the slack has: nothing is lost, whatever was merged in between. */
TEST(memory_is_bounded)
{
	enum { KEYS = 20000 };
	static const char *const kinds[] = { "count", "sum", "hist", "stats" };
	struct traced t;

	traced_open(&t, false);
	for (unsigned i = 0; i < KEYS; i++) {
		traced_last(&t, 10 + 2 * i, 5, (int)i, "");
		traced_last(&t, 11 + 2 * i, 5, 3, "");
	}
	traced_finish(&t);
	for (unsigned i = 0; i < 4; i++) {
		struct sonde_aggregate_options o =
			options(kinds[i], "made:last", i ? "key" : NULL, "key,comm,rest");
		struct sonde_aggregate_row row = { .size = sizeof(row) };
		uint64_t count = 0, buckets = 0;
		struct sonde_aggregate *a;
		int64_t sum = 0;

		o.limit = 10;
		a = aggregated(&t, "", &o);
		assert_int_equal(sonde_aggregate_rows(a), 11);
		for (size_t k = 0; sonde_aggregate_row(a, k, &row) > 0; k++) {
			count += row.count;
			sum += row.sum;
			for (uint32_t b = 0; b < row.nr_buckets; b++)
				buckets += row.buckets[b].count;
			if (!k && i != 1) {
				assert_int_equal(row.count, KEYS + 1);
				assert_int_equal(row.keys[0].number, 3);
				assert_string_equal(row.keys[2].text, "");
			}
		}
		assert_int_equal(row.flags, SONDE_AGGREGATE_OTHER);
		assert_int_equal(count, 2 * KEYS);
		if (i)
			assert_int_equal(sum, (int64_t)KEYS * (KEYS - 1) / 2 + 3 * KEYS);
		if (i == 2)
			assert_int_equal(buckets, 2 * KEYS);
		sonde_aggregate_free(a);
	}
	traced_close(&t);
}

TEST(sums_stay_at_the_end_of_their_range)
{
	struct sonde_aggregate_options o = options("sum", "made:begin", "ns", NULL);
	struct sonde_aggregate_row row = { .size = sizeof(row) };
	const struct sonde_defect *d = NULL;
	struct sonde_aggregate *a;
	struct sonde_session *s;
	size_t raw, at;
	struct traced t;

	traced_open(&t, false);
	for (unsigned i = 0; i < 3; i++) {
		at = traced_sample(&t, TRACED_BEGIN, 10 + i, 5, 0, 1, &raw);
		traced_number(&t, 24, 4);
		traced_number(&t, i == 2 ? UINT64_MAX : INT64_MAX, 8);
		traced_end_sample(&t, at, raw);
	}
	traced_finish(&t);
	s = open_session(t.path, "");
	assert_int_equal(sonde_aggregate_new(&a, s, &o), 0);
	read_all(s, a);
	assert_int_equal(sonde_aggregate_rows(a), 1);
	assert_int_equal(sonde_aggregate_row(a, 0, &row), 1);
	assert_int_equal(row.sum, INT64_MAX);
	assert_int_equal(row.flags, SONDE_AGGREGATE_SATURATED);
	assert_int_equal(row.count, 2); /* an int64_t does not have the third value */
	assert_int_equal(row.mean, INT64_MAX);
	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++)
		if (!strcmp(d->name, "sum-overflow"))
			break;
	assert_non_null(d);
	assert_int_equal(d->count, 1);
	expect_printed(a, NULL, 0,
		       "sum of ns of made:begin\n          sum\n9223372037  s\n"
		       "1 event without a value was left out\n"
		       "a sum left the range of 64 bits and stays at its end\n");
	sonde_session_close(s);
	sonde_aggregate_free(a);
	traced_close(&t);
}

TEST(events_can_be_added_after_rows_were_read)
{
	const struct sonde_aggregate_options o = options("count", "made:begin", NULL, NULL);
	struct sonde_aggregate_row row = { .size = sizeof(row) };
	const struct sonde_event *ev;
	struct sonde_aggregate *a;
	struct sonde_session *s;
	struct traced t;
	uint64_t n = 0;

	make(&t, false);
	s = open_session(t.path, "");
	assert_int_equal(sonde_aggregate_new(&a, s, &o), 0);
	assert_int_equal(sonde_aggregate_rows(a), 0);
	while (sonde_session_next(s, &ev) > 0) {
		n += !strcmp(sonde_schema_event(sonde_event_schema(s, ev)), "begin");
		assert_int_equal(sonde_aggregate_add(a, &ev, 1), 0);
		assert_int_equal(sonde_aggregate_rows(a), 1);
		assert_int_equal(sonde_aggregate_row(a, 0, &row), 1);
		assert_int_equal(row.count, n);
	}
	assert_int_equal(n, 8);
	assert_int_equal(sonde_aggregate_clear(a), 0);
	assert_int_equal(sonde_aggregate_rows(a), 0);
	expect_printed(a, NULL, 0, "count of made:begin\n(none)\n");
	sonde_session_close(s);
	sonde_aggregate_free(a);
	traced_close(&t);
}

TEST(json_is_exact)
{
	struct sonde_aggregate_options o = options("hist", "made:begin", "key", "f_name,tid");
	struct sonde_aggregate *a;
	struct traced t;

	make(&t, false);
	o.limit = 2;
	a = aggregated(&t, "", &o);
	expect_printed(
		a, "json", 0,
		"{\"schema\":\"sonde-aggregate\",\"version\":1,\"title\":\"hist of key of "
		"made:begin by f_name, tid\",\"kind\":\"hist\",\"events\":\"made:begin\",\"field\":"
		"\"key\",\"by\":[\"f_name\",\"tid\"],\"count\":8,\"unfit\":0,\"merged\":4,\"left_"
		"out\":0,\"rows\":["
		"{\"keys\":{\"f_name\":\"b\",\"tid\":5},\"count\":2,\"sum\":14,\"min\":7,\"max\":7,"
		"\"mean\":7,\"buckets\":[{\"from\":4,\"below\":8,\"count\":2}]},"
		"{\"keys\":{\"f_name\":\"c\",\"tid\":6},\"count\":2,\"sum\":18,\"min\":9,\"max\":9,"
		"\"mean\":9,\"buckets\":[{\"from\":8,\"below\":16,\"count\":2}]},"
		"{\"other\":true,\"keys\":{},\"count\":4,\"sum\":2,\"min\":-3,\"max\":7,\"mean\":1,"
		"\"buckets\":[{\"from\":null,\"below\":0,\"count\":2},{\"from\":0,\"below\":1,"
		"\"count\":0},{\"from\":1,\"below\":2,\"count\":1},{\"from\":2,\"below\":4,"
		"\"count\":0},{\"from\":4,\"below\":8,\"count\":1}]}]}\n");
	sonde_aggregate_free(a);
	traced_close(&t);
}

TEST(wrong_options_are_refused)
{
	static const struct {
		struct sonde_aggregate_options o;
		int code;
		const char *text;
	} cases[] = {
		{ { .kind = "cuont", .events = "made:end" }, -EINVAL, "did you mean count" },
		{ { .events = "made:end" }, -EINVAL, "needs a kind" },
		{ { .kind = "count" }, -EINVAL, "needs events" },
		{ { .kind = "sum", .events = "made:end" }, -EINVAL, "sum needs a field" },
		{ { .kind = "count", .events = "made:end", .field = "key" }, -EINVAL, "no field" },
		{ { .kind = "count", .events = "made:end", .high = 1 }, -EINVAL, "only lhist" },
		{ { .kind = "lhist", .events = "made:end", .field = "key" },
		  -EINVAL,
		  "low < high" },
		{ { .kind = "lhist",
		    .events = "made:end",
		    .field = "key",
		    .low = INT64_MIN,
		    .high = INT64_MAX,
		    .step = 1 },
		  -EINVAL,
		  "at most" },
		{ { .kind = "count", .events = "made:end", .by = "key,,tid" }, -EINVAL, "missing" },
		{ { .kind = "count", .events = "made:end", .by = "key,key" }, -EINVAL, "twice" },
		{ { .kind = "count", .events = "made:end", .by = "a,b,c,d,e,f,g,h,i" },
		  -EINVAL,
		  "at most 8" },
		{ { .kind = "count", .events = "made:end", .where = "key >" }, -EINVAL, "where" },
		{ { .kind = "count", .events = "made:end", .where = "name == 1" },
		  -EINVAL,
		  "made:end has no field 'name'" },
		{ { .kind = "count", .events = "made:*", .where = "nme == 1" },
		  -EINVAL,
		  "no event has a field 'nme'" },
		{ { .kind = "count", .events = "made:edn" }, -ESRCH, "did you mean made:end" },
		{ { .kind = "count", .events = "nothing:*" }, -ESRCH, "no event 'nothing:*'" },
		{ { .kind = "sum", .events = "made:end", .field = "kye" }, -ESRCH, "mean key" },
		{ { .kind = "sum", .events = "made:*", .field = "kye" }, -ESRCH, "mean key" },
		{ { .kind = "sum", .events = "made:begin", .field = "name" },
		  -ESRCH,
		  "no integer" },
		{ { .kind = "count", .events = "made:end", .by = "comn" }, -ESRCH, "mean comm" },
		{ { .kind = "count", .events = "made:end", .by = "stack" }, -ESRCH, "call chains" },
		{ { .kind = "count", .events = "made:end", .by = "cgroup" }, -ESRCH, "groups" },
		{ { .kind = "count", .events = "made:end,made:begin", .by = "why" },
		  -ESRCH,
		  "made:begin has no field 'why'" },
	};
	struct traced t;

	make(&t, false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sonde_aggregate_options o = cases[i].o;

		o.size = sizeof(o);
		expect_error(&t, &o, cases[i].code, cases[i].text);
	}
	traced_close(&t);
}

TEST(patterns_leave_out_events_without_the_field)
{
	struct sonde_aggregate_options o = options("sum", "made:*", "ns", NULL);
	struct sonde_aggregate *a;
	struct sonde_session *s;
	struct traced t;

	make(&t, false);
	expect_text(&t, &o, "sum of ns of made:*\n   sum\n616 ns\n");
	s = open_session(t.path, "");
	assert_int_equal(sonde_aggregate_new(&a, s, &o), 0);
	for (uint32_t i = 0; i < sonde_session_schemas(s); i++)
		assert_int_equal(
			sonde_aggregate_wants(a, i),
			!strcmp(sonde_schema_name(sonde_session_schema(s, i)), "made:begin"));
	sonde_session_close(s);
	sonde_aggregate_free(a);
	traced_close(&t);
}

TEST(pairs_are_events)
{
	struct sonde_aggregate_options o =
		options("sum", "pair(made:begin,made:end,tid)", "ns", "f_name,why");
	struct sonde_aggregate *a;
	struct traced t;

	traced_open(&t, false);
	traced_begin(&t, 10, 5, 1, "first");
	traced_begin(&t, 11, 6, 1, "second");
	traced_end(&t, 1010, 6, 1, "x");
	traced_end(&t, 2010, 5, 1, "y");
	traced_finish(&t);
	a = aggregated(&t, "pair=made:begin,made:end,tid\n", &o);
	expect_printed(a, NULL, 0,
		       "sum of ns of pair(made:begin,made:end,tid) by f_name, why\n"
		       "f_name  why      sum\n"
		       "first   y    2.00 us  ##################################################\n"
		       "second  x     999 ns  #########################\n");
	sonde_aggregate_free(a);
	traced_close(&t);
}

TEST(bars_end_with_the_screen)
{
	struct sonde_aggregate_print_options narrow = { .size = sizeof(narrow), .columns = 32 };
	struct sonde_aggregate_options o = options("sum", "made:begin", "key", "f_name");
	struct sonde_aggregate *a;
	struct traced t;

	make(&t, false);
	a = aggregated(&t, "", &o);
	expect_printed_as(a, &narrow,
			  "sum of key of made:begin by f_name\nf_name  sum\n"
			  "b        22  ###################\n"
			  "c        18  ################\n"
			  "a        -6\n");
	narrow.columns = 5;
	expect_printed_as(a, &narrow,
			  "sum of key of made:begin by f_name\nf_name  sum\n"
			  "b        22  #\nc        18  #\na        -6\n");
	narrow.format = "xml";
	assert_int_equal(sonde_aggregate_print(a, -1, &narrow), -EINVAL);
	narrow.format = "text";
	assert_int_equal(sonde_aggregate_print(a, -1, &narrow), -EBADF);
	sonde_aggregate_free(a);
	traced_close(&t);
}

/* A caller that was compiled with an older header has smaller structs. */
TEST(structs_may_be_shorter)
{
	struct sonde_aggregate_options o = options("count", "made:begin", NULL, "key");
	struct sonde_aggregate_row row = { .size = offsetof(struct sonde_aggregate_row, sum),
					   .sum = 77 };
	struct sonde_aggregate *a;
	struct sonde_session *s;
	struct traced t;

	make(&t, false);
	o.low = 77; /* is behind the struct */
	o.size = offsetof(struct sonde_aggregate_options, low);
	a = aggregated(&t, "", &o);
	assert_int_equal(sonde_aggregate_rows(a), 4);
	assert_int_equal(sonde_aggregate_row(a, 0, &row), 1);
	assert_int_equal(row.count, 3);
	assert_int_equal(row.sum, 77);
	row.size = 0;
	assert_int_equal(sonde_aggregate_row(a, 0, &row), -EINVAL);
	sonde_aggregate_free(a);
	s = open_session(t.path, "");
	o.size = 0;
	assert_int_equal(sonde_aggregate_new(&a, s, &o), -EINVAL);
	sonde_session_close(s);
	traced_close(&t);
}
