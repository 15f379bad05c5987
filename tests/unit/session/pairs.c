/* SPDX-License-Identifier: MIT */
/* Pairs of events (pair=), in recordings made by hand in both byte orders. */
#include "unittest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "open.h"
#include "session/pairs.h"
#include "sonde/sonde.h"
#include "traced.h"

/* ---- what is delivered ----------------------------------------------------------------------- */

/* One line for each event: "begin 10", "pair 30 ns=20 key=1 name=first start_ns=77 ...". */
static void read_lines(struct sonde_session *s, struct outbuf *o)
{
	const struct sonde_event *ev;
	int r;

	while ((r = sonde_session_next(s, &ev)) > 0) {
		const struct sonde_schema *sc = sonde_event_schema(s, ev);
		const char *name = sonde_schema_event(sc), *text;
		size_t len;

		if (strncmp(name, "pair(", 5) != 0) {
			outbuf_fmt(o, "%s %" PRIu64 "\n", name, ev->time_ns);
			continue;
		}
		assert_true(ev->flags & SONDE_EVENT_DERIVED);
		text = sonde_event_text(ev, &len);
		outbuf_fmt(o, "pair %" PRIu64 " %.*s\n", ev->time_ns, (int)len, text);
	}
	if (r < 0)
		fail_msg("%s", sonde_error_text());
	outbuf_char(o, '\0');
}

static struct sonde_session *open_pairs(struct traced *t, const char *more)
{
	return open_session(traced_finish(t), more);
}

static void expect_lines(struct traced *t, const char *more, const char *want)
{
	struct sonde_session *s = open_pairs(t, more);
	struct outbuf o = { 0 };

	read_lines(s, &o);
	assert_string_equal(o.data, want);
	outbuf_done(&o);
	sonde_session_close(s);
	close(t->fd);
}

/* pairs, unmatched starts and stops, dropped, given up. Reads to the end. */
static void expect_facts(struct traced *t, const char *more, const uint64_t want[5])
{
	struct sonde_session *s = open_pairs(t, more);
	const struct sonde_event *ev;
	struct sonde_pair p;

	while (sonde_session_next(s, &ev) > 0)
		;
	assert_int_equal(sonde_session_pair(s, 0, &p), 1);
	assert_int_equal(p.size, sizeof(p));
	assert_int_equal(p.pairs, want[0]);
	assert_int_equal(p.unmatched_starts, want[1]);
	assert_int_equal(p.unmatched_stops, want[2]);
	assert_int_equal(p.dropped, want[3]);
	assert_int_equal(p.given_up, want[4]);
	assert_int_equal(sonde_session_pair(s, 1, &p), 0);
	sonde_session_close(s);
	close(t->fd);
}

#define FACTS(...) ((const uint64_t[5]){ __VA_ARGS__ })

TEST(a_stop_is_followed_by_its_pair)
{
	for (int big = 0; big < 2; big++) {
		struct traced t;

		traced_open(&t, big);
		traced_begin(&t, 10, 7, 1, "first");
		traced_begin(&t, 11, 8, 2, "");
		traced_end(&t, 30, 7, -3, "done");
		traced_end(&t, 31, 8, 4, "longer than the other");
		expect_lines(&t, "pair=made:begin,made:end\n",
			     "begin 10\nbegin 11\nend 30\n"
			     "pair 30 ns=20 key=1 name=first start_ns=77 stop_key=-3 why=done\n"
			     "end 31\npair 31 ns=20 key=2 name= start_ns=77 stop_key=4 "
			     "why=longer than the other\n");
		traced_close(&t);
	}
}

TEST(a_field_up_to_the_end_of_its_payload_stays_complete)
{
	for (int big = 0; big < 2; big++) {
		struct traced t;

		traced_open(&t, big);
		traced_last(&t, 10, 7, 1, "the rest of the start");
		traced_last(&t, 30, 7, 2, "the rest of the stop");
		traced_end(&t, 40, 7, 3, "x");
		expect_lines(&t, "pair=last,end,tid\npair=last,last\nevent=pair*\n",
			     "pair 30 ns=20 key=1 rest=the rest of the start stop_key=2 "
			     "stop_rest=the rest of the stop\n"
			     "pair 40 ns=10 key=2 rest=the rest of the stop stop_key=3 why=x\n");
		traced_close(&t);
	}
}

TEST(the_innermost_start_is_taken)
{
	struct traced t;

	traced_open(&t, false);
	traced_begin(&t, 10, 7, 1, "outer");
	traced_begin(&t, 20, 7, 2, "inner");
	traced_begin(&t, 21, 9, 3, "other");
	traced_end(&t, 25, 7, 0, "a");
	traced_end(&t, 40, 7, 0, "b");
	traced_end(&t, 50, 7, 0, "c");
	expect_lines(&t, "pair=begin,end\nevent=pair(begin,end)\n",
		     "pair 25 ns=5 key=2 name=inner start_ns=77 stop_key=0 why=a\n"
		     "pair 40 ns=30 key=1 name=outer start_ns=77 stop_key=0 why=b\n");
	expect_facts(&t, "pair=begin,end\nevent=begin\n", FACTS(2, 1, 1, 0, 0));
	traced_close(&t);
}

TEST(keys_are_own_values_fields_and_texts)
{
	static const char *const keys[] = { "tid", "key",     "pid",     "comm",
					    "cpu", "tid,key", "name,why" };
	static const uint64_t pairs[] = { 1, 1, 2, 1, 1, 1, 1 };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct traced t;
		char more[128];

		traced_open(&t, i % 2);
		traced_begin_on(&t, 10, 7, 1, 70, "a");
		traced_begin_on(&t, 11, 8, 0, 71, "b");
		traced_end(&t, 20, 70, 71, "b");
		traced_end(&t, 21, 7, 8, "c");
		snprintf(more, sizeof(more), "pair=begin,end,%s\n", keys[i]);
		expect_facts(&t, more, FACTS(pairs[i], 2 - pairs[i], 2 - pairs[i], 0, 0));
		traced_close(&t);
	}
}

TEST(an_event_may_be_both)
{
	struct traced t;

	traced_open(&t, true);
	traced_end(&t, 10, 7, 1, "a");
	traced_end(&t, 25, 7, 2, "b");
	traced_end(&t, 26, 7, 3, "c");
	expect_lines(&t, "pair=end,end\nwhere=ns > 0\n",
		     "pair 25 ns=15 key=1 why=a stop_key=2 stop_why=b\n"
		     "pair 26 ns=1 key=2 why=b stop_key=3 stop_why=c\n");
	traced_close(&t);
}

TEST(a_loss_drops_the_pair)
{
	for (int events = 0; events < 2; events++) {
		char more[64];
		struct traced t;

		traced_open(&t, events);
		traced_begin(&t, 10, 7, 1, "outer");
		traced_begin(&t, 20, 8, 2, "gone");
		traced_lost(&t, 25, 1);
		traced_begin(&t, 30, 8, 3, "later");
		traced_end(&t, 40, 8, 0, "a");
		traced_end(&t, 50, 8, 0, "b");
		snprintf(more, sizeof(more), "pair=begin,end\nevents=%s\n",
			 events ? "all" : "samples");
		expect_lines(&t, more,
			     events ? "begin 10\nbegin 20\nlost 25\n"
				      "defect 18446744073709551615\nbegin 30\nend 40\npair 40 "
				      "ns=10 key=3 name=later start_ns=77 stop_key=0 why=a\nend "
				      "50\n"
				    : "begin 10\nbegin 20\nbegin 30\nend 40\npair 40 "
				      "ns=10 key=3 name=later start_ns=77 stop_key=0 why=a\nend "
				      "50\n");
		expect_facts(&t, more, FACTS(1, 1, 0, 1, 0));
		traced_close(&t);
	}
}

TEST(filters_that_choose_events_see_the_pair)
{
	struct traced t;

	traced_open(&t, false);
	traced_begin(&t, 10, 7, 1, "a");
	traced_end(&t, 30, 7, 2, "b");
	traced_begin(&t, 40, 7, 3, "c");
	traced_end(&t, 45, 7, 4, "d");
	expect_lines(&t, "pair=begin,end\nwhere=ns >= 10\n",
		     "begin 10\npair 30 ns=20 key=1 name=a start_ns=77 stop_key=2 why=b\n"
		     "begin 40\n");
	expect_lines(&t, "pair=begin,end\nwhere=why == \"d\" && COMM != \"x\"\n",
		     "end 45\npair 45 ns=5 key=3 name=c start_ns=77 stop_key=4 why=d\n");
	expect_lines(&t, "pair=begin,end\nevent=end,pair(begin,end),begin\ntime=0.000000035,\n",
		     "begin 40\nend 45\npair 45 ns=5 key=3 name=c start_ns=77 stop_key=4 why=d\n");
	traced_close(&t);
}

/* ---- the life of events ---------------------------------------------------------------------- */

TEST(a_kept_pair_stays_as_it_was)
{
	for (int big = 0; big < 2; big++) {
		struct sonde_event *kept[2];
		const struct sonde_event *ev;
		struct sonde_session *s;
		struct traced t;
		char *said[2];
		int n = 0;

		traced_open(&t, big);
		traced_begin(&t, 10, 7, 1, "first");
		traced_end(&t, 30, 7, 2, "a");
		traced_begin(&t, 40, 7, 3, "second, which is longer");
		traced_end(&t, 50, 7, 4, "b");
		s = open_pairs(&t, "pair=begin,end\nevent=pair(begin,end)\nwindow=4096\n");
		while (sonde_session_next(s, &ev) > 0) {
			assert_true(n < 2);
			kept[n] = sonde_event_dup(ev);
			said[n++] = said_of(ev);
			assert_int_equal(ev->record_len, kept[n - 1]->record_len);
		}
		assert_int_equal(n, 2);
		sonde_session_close(s);
		for (int i = 0; i < n; i++) {
			struct sonde_event *again = sonde_event_dup(kept[i]);
			char *says = said_of(kept[i]);

			assert_string_equal(says, said[i]);
			free(says);
			sonde_event_free(kept[i]);
			says = said_of(again);
			assert_string_equal(says, said[i]);
			free(says);
			free(said[i]);
			sonde_event_free(again);
		}
		traced_close(&t);
	}
}

TEST(batches_have_pairs)
{
	const struct sonde_event *const *events;
	struct sonde_session *s;
	size_t nr = 100, n = 0;
	struct traced t;
	int r;

	traced_open(&t, false);
	traced_begin(&t, 10, 7, 1, "a");
	traced_end(&t, 30, 7, 2, "b");
	s = open_pairs(&t, "pair=begin,end\npair=begin,end,key\npair=begin,end,pid\n");
	while ((r = sonde_session_next_batch_pending(s, &events, &nr)) > 0 ||
	       (r = sonde_session_fill(s)) > 0) {
		n += r > 0 && nr < 100 ? nr : 0;
		nr = 100;
	}
	assert_int_equal(n, 4);
	sonde_session_close(s);
	traced_close(&t);
}

TEST(an_unwanted_start_is_in_pairs)
{
	const struct sonde_event *ev;
	struct sonde_session *s;
	struct traced t;

	traced_open(&t, false);
	traced_begin(&t, 10, 7, 1, "a");
	traced_end(&t, 30, 7, 2, "b");
	s = open_pairs(&t, "pair=begin,end\n");
	for (uint32_t i = 0; i < sonde_session_schemas(s); i++)
		sonde_session_want(s, i, sonde_schema_name(sonde_session_schema(s, i))[0] == 'p');
	assert_int_equal(sonde_session_next(s, &ev), 1);
	assert_string_equal(sonde_schema_name(sonde_event_schema(s, ev)), "pair(begin,end)");
	assert_int_equal(sonde_session_next(s, &ev), 0);
	sonde_session_close(s);
	traced_close(&t);
}

TEST(two_recordings_have_pairs_of_their_own)
{
	struct sonde_session *s;
	struct traced t[2];
	struct outbuf o = { 0 };
	char more[128];

	for (int i = 0; i < 2; i++) {
		traced_open(&t[i], false);
		traced_begin(&t[i], 10 + (uint64_t)i, 7, i, i ? "second" : "first");
		traced_end(&t[i], 30 + (uint64_t)i, 7, i, "x");
	}
	snprintf(more, sizeof(more), "input=%s\noffset=0\npair=begin,end\nevent=pair*\n",
		 traced_finish(&t[1]));
	s = open_pairs(&t[0], more);
	read_lines(s, &o);
	assert_string_equal(o.data,
			    "pair 30 ns=20 key=0 name=first start_ns=77 stop_key=0 why=x\n"
			    "pair 31 ns=20 key=1 name=second start_ns=77 stop_key=1 why=x\n");
	outbuf_done(&o);
	sonde_session_close(s);
	traced_close(&t[0]);
	traced_close(&t[1]);
}

/* ---- limits and mistakes --------------------------------------------------------------------- */

TEST(the_oldest_start_is_given_up)
{
	const uint64_t more = 10;
	struct traced t;

	traced_open(&t, false);
	for (uint64_t i = 0; i < PAIR_MAX_OPEN + more; i++)
		traced_begin(&t, 10 + i, (int)i, 0, "");
	for (uint64_t i = 0; i < 2 * more; i++)
		traced_end(&t, 100000 + i, (int)i, 0, "");
	expect_facts(&t, "pair=begin,end\n", FACTS(more, PAIR_MAX_OPEN - more, more, 0, more));
	traced_close(&t);
}

static void refuse(const char *pair, int code, const char *why)
{
	struct sonde_session *s;
	char text[256];
	struct traced t;

	traced_open(&t, false);
	traced_begin(&t, 10, 7, 1, "");
	snprintf(text, sizeof(text), "input=%s\npair=%s\n", traced_finish(&t), pair);
	assert_int_equal(sonde_session_open(&s, text, NULL), code);
	if (!strstr(sonde_error_text(), why))
		fail_msg("%s", sonde_error_text());
	traced_close(&t);
}

TEST(mistakes_are_refused)
{
	char *printed;

	refuse("", -EINVAL, "is expected");
	refuse("begin", -EINVAL, "is expected");
	refuse("begin,", -EINVAL, "is expected");
	refuse("begin,end,", -EINVAL, "is expected");
	refuse("begin,end,tid,tid,tid", -EINVAL, "is expected");
	refuse("begin,*", -EINVAL, "is expected");
	refuse("pair(begin,end),end", -EINVAL, "is expected");
	refuse("begin,ende", -ESRCH, "did you mean");
	refuse("begin,end,kex", -EINVAL, "made:begin has no field 'kex'");
	refuse("begin,end,name", -EINVAL, "made:end has no field 'name'");
	refuse("begin,end,name,key", -EINVAL, "a text in one event");
	refuse("begin,end\ndlfilter=x.so", -EINVAL, "only one of them");
	assert_int_equal(sonde_session_parse("pair=a,b\npair=c,d,tid\n", &printed), 0);
	assert_non_null(strstr(printed, "pair=a,b\npair=c,d,tid\n"));
	free(printed);
	assert_int_equal(sonde_session_parse("pair=a\n", &printed), -EINVAL);
}
