/* SPDX-License-Identifier: MIT */
/* Sums and differences of profiles of recordings made in memory. */
#include "unittest.h"

#include "../session/recording.h"
#include "profile/counts.h"
#include "profile/merge.h"
#include "profile/profile.h"
#include "sonde/sonde.h"

/* Addresses of places without a symbol, called A from B from C. */
enum { A = 0x401000, B = 0x402000, C = 0x403000 };

static struct sonde_profile *merge_new(const char *text)
{
	struct sonde_profile *p;

	if (sonde_profile_new(&p, text, "test") < 0)
		fail_msg("%s", sonde_error_text());
	return p;
}

/* Frees the recording. */
static struct sonde_profile *merge_profile_of(struct recording *r, const char *text)
{
	struct sonde_profile *p = merge_new(text);
	struct sonde_session *s;
	char session[160];

	snprintf(session, sizeof(session), "input=%s\nkallsyms=/dev/null\nno-follow=1\nforce=1\n",
		 recording_finish(r));
	if (sonde_session_open(&s, session, NULL) < 0 || sonde_profile_read(p, s) < 0 ||
	    sonde_profile_finish(p) < 0)
		fail_msg("%s", sonde_error_text());
	sonde_session_close(s);
	recording_done(r);
	return p;
}

/* sh: A,B,C twice and A,C once; cat: B,C once. */
static struct sonde_profile *merge_first(const char *text)
{
	struct recording r;

	recording_begin_as(&r, true);
	recording_comm(&r, 10, 12, 12, "sh", false);
	recording_comm(&r, 11, 13, 13, "cat", false);
	recording_sample(&r, 20, 12, 12, (uint64_t[]){ A, B, C }, 3);
	recording_sample(&r, 21, 12, 12, (uint64_t[]){ A, B, C }, 3);
	recording_sample(&r, 22, 13, 13, (uint64_t[]){ B, C }, 2);
	recording_sample(&r, 23, 12, 12, (uint64_t[]){ A, C }, 2);
	return merge_profile_of(&r, text);
}

/* ls: C once; sh: A,B,C four times. Texts have other numbers than in merge_first(). */
static struct sonde_profile *merge_second(const char *text)
{
	struct recording r;

	recording_begin_as(&r, true);
	recording_comm(&r, 10, 14, 14, "ls", false);
	recording_comm(&r, 11, 12, 12, "sh", false);
	recording_sample(&r, 20, 14, 14, (uint64_t[]){ C }, 1);
	for (uint64_t t = 30; t < 34; t++)
		recording_sample(&r, t, 12, 12, (uint64_t[]){ A, B, C }, 3);
	return merge_profile_of(&r, text);
}

static struct sonde_profile_row merge_row(const struct sonde_profile *p, uint64_t i)
{
	struct sonde_profile_row row = { .size = sizeof(row) };

	assert_int_equal(sonde_profile_row(p, 0, i, &row), 1);
	return row;
}

static void merge_expect(const struct sonde_profile *p, uint64_t i, const char *comm,
			 int64_t samples)
{
	assert_string_equal(sonde_profile_text(p, 0, i, 0), comm);
	assert_int_equal((int64_t)merge_row(p, i).samples, samples);
	assert_int_equal((int64_t)merge_row(p, i).period, samples);
}

/* first + second, or first - second. The parts are freed before the result is used. */
static struct sonde_profile *merge_both(const char *text, bool subtract)
{
	struct sonde_profile *p = merge_new(text), *a = merge_first(text), *b = merge_second(text);

	assert_int_equal(sonde_profile_merge(p, a), 0);
	assert_int_equal(subtract ? sonde_profile_subtract(p, b) : sonde_profile_merge(p, b), 0);
	sonde_profile_free(a);
	sonde_profile_free(b);
	assert_int_equal(sonde_profile_finish(p), 0);
	return p;
}

TEST(sums_are_by_text)
{
	struct sonde_profile *p = merge_both("keys=comm\n", false);
	struct sonde_profile_facts f = { .size = sizeof(f) };
	struct sonde_profile_row row = { .size = sizeof(row) };
	struct sonde_profile_table t = { .size = sizeof(t) };

	merge_expect(p, 0, "sh", 7);
	merge_expect(p, 1, "cat", 1);
	merge_expect(p, 2, "ls", 1);
	assert_int_equal(sonde_profile_row(p, 0, 3, &row), 0);
	assert_int_equal(sonde_profile_table(p, 1, &t), 0);
	assert_int_equal(sonde_profile_table(p, 0, &t), 1);
	assert_string_equal(t.name, "cpu-clock");
	assert_int_equal(t.samples, 9);
	assert_int_equal(sonde_profile_facts(p, &f), 1);
	assert_int_equal(f.samples, 9);
	assert_int_equal(f.flags & SONDE_PROFILE_DIFFERENCE, 0);
	assert_int_equal(merge_row(p, 0).first_ns, 20);
	assert_int_equal(merge_row(p, 0).last_ns, 33);
	sonde_profile_free(p);
}

TEST(differences_are_signed)
{
	struct sonde_profile *p = merge_both("keys=comm\nweight=period\n", true);
	struct sonde_profile_facts f = { .size = sizeof(f) };

	merge_expect(p, 0, "cat", 1);
	merge_expect(p, 1, "ls", -1);
	merge_expect(p, 2, "sh", -1);
	assert_int_equal((int64_t)merge_row(p, 2).weights[0], -1);
	assert_int_equal(sonde_profile_facts(p, &f), 1);
	assert_int_equal((int64_t)f.samples, -1);
	assert_int_equal(f.flags & SONDE_PROFILE_DIFFERENCE, SONDE_PROFILE_DIFFERENCE);
	assert_int_equal(sonde_profile_sort(p, "weight1,comm", 0), 0);
	merge_expect(p, 0, "cat", 1);
	sonde_profile_free(p);
}

/* A profile less itself has all of its rows, and nothing in them. */
TEST(equal_rows_differ_by_nothing)
{
	struct sonde_profile *p = merge_new("keys=comm,sym\ncallgraph=caller\n");
	struct sonde_profile *a = merge_first("keys=comm,sym\ncallgraph=caller\n");
	struct sonde_profile_row row = { .size = sizeof(row) };
	uint64_t i;

	assert_int_equal(sonde_profile_merge(p, a), 0);
	assert_int_equal(sonde_profile_subtract(p, a), 0);
	assert_int_equal(sonde_profile_finish(p), 0);
	for (i = 0; sonde_profile_row(p, 0, i, &row) > 0; i++) {
		assert_int_equal(row.samples, 0);
		assert_int_equal(row.period, 0);
		assert_int_equal(row.first_ns != SONDE_NO_TIME, 1);
	}
	assert_int_equal(i, 2);
	sonde_profile_free(a);
	sonde_profile_free(p);
}

static struct sonde_profile_node merge_node(const struct sonde_profile *p, uint32_t n)
{
	struct sonde_profile_node node = { .size = sizeof(node) };

	assert_int_equal(sonde_profile_node(p, n, &node), 1);
	return node;
}

static uint64_t merge_frame(const struct sonde_profile *p, const struct sonde_profile_node *n)
{
	struct sonde_profile_place place = { .size = sizeof(place) };

	assert_int_equal(sonde_profile_place(p, n->frames[0], &place), 1);
	return place.ip;
}

/* The row of A is A,B,C twice and A,C once, less A,B,C four times: C (-1) -> A (1), B,A (-2). */
TEST(differences_of_call_trees)
{
	static const char text[] = "keys=sym\ncallgraph=caller\n";
	struct sonde_profile *p = merge_both(text, true);
	struct sonde_profile_value v = { .size = sizeof(v) };
	struct sonde_profile_node root, child;
	uint64_t row = 0;
	uint32_t at;

	while (sonde_profile_value(p, 0, row, 0, &v) > 0 && v.number != A)
		row++;
	assert_int_equal((int64_t)merge_row(p, row).samples, -1);
	assert_int_equal(sonde_profile_tree(p, 0, row, &at), 1);
	root = merge_node(p, at);
	assert_int_equal(merge_frame(p, &root), C);
	assert_int_equal((int64_t)root.period, -1);
	assert_int_equal(root.hit_period, 0);
	assert_int_equal(root.next, 0);
	child = merge_node(p, root.child);
	assert_int_equal(merge_frame(p, &child), A);
	assert_int_equal((int64_t)child.period, 1);
	child = merge_node(p, child.next);
	assert_int_equal(merge_frame(p, &child), B);
	assert_int_equal(child.nr_frames, 2);
	assert_int_equal((int64_t)child.period, -2);
	assert_int_equal((int64_t)child.samples, -2);
	assert_int_equal(child.next, 0);
	sonde_profile_free(p);
}

TEST(differences_of_paths_and_children)
{
	static const char text[] = "keys=sym\ncallgraph=caller\nchildren=1\n";
	static const int64_t expected[] = { -2, 1, 1, -1 };
	struct sonde_profile *p = merge_both(text, true);
	struct sonde_profile_path path = { .size = sizeof(path) };
	struct sonde_profile_value v = { .size = sizeof(v) };

	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(sonde_profile_path(p, 0, i, &path), 1);
		assert_int_equal((int64_t)path.samples, expected[i]);
	}
	assert_int_equal(sonde_profile_path(p, 0, 4, &path), 0);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(sonde_profile_value(p, 0, i, 0, &v), 1);
		assert_int_equal((int64_t)merge_row(p, i).children_samples, -1);
	}
	sonde_profile_free(p);
}

TEST(task_and_parent_keys_are_mapped)
{
	struct sonde_profile *p = merge_both("keys=pid,cpu,time,parent,trace\n", false);
	uint64_t sum = 0;

	merge_expect(p, 0, "     12:sh", 7);
	for (uint64_t i = 0; i < 3; i++)
		sum += merge_row(p, i).samples;
	assert_int_equal(sum, 9);
	sonde_profile_free(p);
}

TEST(merges_can_be_merged)
{
	struct sonde_profile *sum = merge_both("keys=comm\n", false),
			     *difference = merge_both("keys=comm\n", true),
			     *p = merge_new("keys=comm\n");

	/* (first + second) - (first - second) is twice the second. */
	assert_int_equal(sonde_profile_merge(p, sum), 0);
	assert_int_equal(sonde_profile_subtract(p, difference), 0);
	assert_int_equal(sonde_profile_finish(p), 0);
	merge_expect(p, 0, "sh", 8);
	merge_expect(p, 1, "ls", 2);
	merge_expect(p, 2, "cat", 0);
	sonde_profile_free(sum);
	sonde_profile_free(difference);
	sonde_profile_free(p);
}

TEST(limit_of_distinct_keys)
{
	struct sonde_profile *p = merge_new("keys=comm\nmax-keys=2\n"),
			     *a = merge_first("keys=comm\n"), *b = merge_second("keys=comm\n");
	struct sonde_profile_facts f = { .size = sizeof(f) };

	assert_int_equal(sonde_profile_merge(p, a), 0);
	assert_int_equal(sonde_profile_merge(p, b), 0);
	assert_int_equal(sonde_profile_finish(p), 0);
	merge_expect(p, 0, "sh", 7);
	merge_expect(p, 1, "cat", 1);
	assert_int_equal(sonde_profile_facts(p, &f), 1);
	assert_int_equal(f.samples, 8);
	assert_int_equal(f.dropped_samples, 1);
	sonde_profile_free(a);
	sonde_profile_free(b);
	sonde_profile_free(p);
}

static void merge_refuse(struct sonde_profile *p, const struct sonde_profile *more, const char *why)
{
	assert_int_equal(sonde_profile_merge(p, more), -EINVAL);
	assert_non_null(strstr(sonde_error_text(), why));
	assert_int_equal(sonde_profile_subtract(p, more), -EINVAL);
}

TEST(what_cannot_be_merged)
{
	struct sonde_profile *a = merge_first("keys=comm\n"), *p = merge_new("keys=comm\n");
	struct sonde_profile *other = merge_new("keys=sym\n");
	struct sonde_profile *tree = merge_new("keys=comm\ncallgraph=caller\n");
	struct sonde_event unused = { .cpu = 0 };

	merge_refuse(a, a, "finished");
	merge_refuse(p, other, "not finished");
	merge_refuse(other, a, "keys=");
	merge_refuse(tree, a, "callgraph=");
	assert_int_equal(sonde_profile_merge(p, a), 0);
	assert_int_equal(sonde_profile_add(p, &unused), -EINVAL);
	assert_non_null(strstr(sonde_error_text(), "merged"));
	sonde_profile_free(a);
	sonde_profile_free(p);
	sonde_profile_free(other);
	sonde_profile_free(tree);
}

/* ---- sums that reach their limits ------------------------------------------------------------ */

static void merge_add(struct profile *p, uint64_t *sum, uint64_t more, bool is_signed)
{
	struct profile_counts to = { .samples = 1, .period = { *sum }, .is_signed = is_signed };
	struct profile_counts c = { .samples = 1, .period = { more }, .is_signed = is_signed };

	counts_add(p, &to, &c);
	*sum = counts_period(&to);
}

TEST(sums_saturate)
{
	struct profile *p;
	uint64_t sum = UINT64_MAX - 5;

	assert_int_equal(profile_new(&p, "keys=comm\n", "test"), 0);
	merge_add(p, &sum, 5, false);
	assert_true(sum == UINT64_MAX && !(p->facts.flags & SONDE_PROFILE_SATURATED));
	merge_add(p, &sum, 1, false);
	assert_true(sum == UINT64_MAX && p->facts.flags & SONDE_PROFILE_SATURATED);
	p->facts.flags = 0;
	sum = (uint64_t)INT64_MAX;
	merge_add(p, &sum, (uint64_t)-1, true);
	assert_true(sum == INT64_MAX - 1 && !p->facts.flags);
	merge_add(p, &sum, 2, true);
	assert_true(sum == INT64_MAX && p->facts.flags == SONDE_PROFILE_SATURATED);
	p->facts.flags = 0;
	sum = (uint64_t)INT64_MIN;
	merge_add(p, &sum, (uint64_t)-1, true);
	assert_true(sum == (uint64_t)INT64_MIN && p->facts.flags == SONDE_PROFILE_SATURATED);
	profile_free(p);
}

/* A profile of more than INT64_MAX: twice itself does not wrap, and less nothing it is clamped. */
TEST(merged_sums_saturate)
{
	struct profile *more, *p;

	for (int subtract = 0; subtract < 2; subtract++) {
		uint32_t cell;

		assert_int_equal(profile_new(&more, "keys=cpu\n", "test"), 0);
		assert_int_equal(wordset_put(&more->combinations, (uint64_t[]){ 0, 0 }, &cell), 1);
		assert_int_equal(wordset_put(&more->cells, (uint64_t[]){ 0, PROFILE_ROOT }, &cell),
				 1);
		assert_int_equal(
			vec_push(&more->counts,
				 (struct cell_counts){ .samples = 1, .period = UINT64_MAX - 1 }),
			0);
		assert_int_equal(
			vec_push(&more->events, (struct profile_member){ .name = "cycles" }), 0);
		assert_int_equal(profile_finish(more), 0);
		assert_int_equal(more->facts.flags, 0);
		assert_int_equal(profile_new(&p, "keys=cpu\n", "test"), 0);
		assert_int_equal(merge_profile(p, more, false), 0);
		assert_int_equal(p->facts.flags, 0);
		assert_int_equal(merge_profile(p, more, subtract), 0);
		assert_int_equal(profile_finish(p), 0);
		assert_true(p->facts.flags & SONDE_PROFILE_SATURATED);
		assert_true(counts_period(&p->rows.v[0].self) == (subtract ? 0 : UINT64_MAX));
		profile_free(p);
		profile_free(more);
	}
}
