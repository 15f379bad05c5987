/* SPDX-License-Identifier: MIT */
/* Profiles of a recording made in memory: rows, counts, orders, call trees. */
#include "unittest.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../session/recording.h"
#include "sonde/sonde.h"

/* Addresses of three places without a symbol, called A from B from C. */
enum { A = 0x401000, B = 0x402000, C = 0x403000 };

static struct sonde_profile *profile_with(struct recording *r, const char *text, const char *compat,
					  const char *kallsyms)
{
	struct sonde_session *s;
	struct sonde_profile *p;
	char session[160];

	snprintf(session, sizeof(session),
		 "input=%s\nkallsyms=%s\nno-follow=1\nforce=1\ncompat=%s\n", recording_finish(r),
		 kallsyms, compat);
	if (sonde_session_open(&s, session, NULL) < 0 || sonde_profile_new(&p, text, "test") < 0 ||
	    sonde_profile_read(p, s) < 0 || sonde_profile_finish(p) < 0)
		fail_msg("%s", sonde_error_text());
	sonde_session_close(s);
	return p;
}

static struct sonde_profile *profile_as(struct recording *r, const char *text, const char *compat)
{
	return profile_with(r, text, compat, "/dev/null");
}

static struct sonde_profile *profile_of(struct recording *r, const char *text)
{
	return profile_as(r, text, "none");
}

static struct recording begin(void)
{
	struct recording r;

	recording_begin_as(&r, true);
	recording_comm(&r, 10, 12, 12, "sh", false);
	recording_comm(&r, 11, 13, 13, "cat", false);
	recording_sample(&r, 20, 12, 12, (uint64_t[]){ A, B, C }, 3);
	recording_sample(&r, 21, 12, 12, (uint64_t[]){ A, B, C }, 3);
	recording_sample(&r, 22, 13, 13, (uint64_t[]){ B, C }, 2);
	recording_sample(&r, 23, 12, 12, (uint64_t[]){ A, C }, 2);
	return r;
}

static struct sonde_profile_row row_at(const struct sonde_profile *p, uint64_t i)
{
	struct sonde_profile_row row = { .size = sizeof(row) };

	assert_int_equal(sonde_profile_row(p, 0, i, &row), 1);
	return row;
}

TEST(rows_by_comm)
{
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=comm\n");
	struct sonde_profile_table t = { .size = sizeof(t) };
	struct sonde_profile_row row = { .size = sizeof(row) };

	assert_int_equal(sonde_profile_table(p, 0, &t), 1);
	assert_int_equal(t.nr_rows, 2);
	assert_int_equal(t.samples, 4);
	assert_string_equal(t.name, "cpu-clock");
	assert_string_equal(sonde_profile_text(p, 0, 0, 0), "sh");
	assert_int_equal(row_at(p, 0).samples, 3);
	assert_int_equal(row_at(p, 0).period, 3);
	assert_int_equal(row_at(p, 0).first_ns, 20);
	assert_int_equal(row_at(p, 0).last_ns, 23);
	assert_string_equal(sonde_profile_text(p, 0, 1, 0), "cat");
	assert_int_equal(row_at(p, 1).samples, 1);
	assert_int_equal(sonde_profile_row(p, 0, 2, &row), 0);
	assert_int_equal(sonde_profile_table(p, 1, &t), 0);
	sonde_profile_free(p);
	recording_done(&r);
}

TEST(order_by_key)
{
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=comm\n");

	assert_int_equal(sonde_profile_sort(p, "comm", 0), 0);
	assert_string_equal(sonde_profile_text(p, 0, 0, 0), "cat");
	assert_string_equal(sonde_profile_text(p, 0, 1, 0), "sh");
	assert_int_equal(sonde_profile_sort(p, "period,comm", 0), 0);
	assert_string_equal(sonde_profile_text(p, 0, 0, 0), "sh");
	assert_true(sonde_profile_sort(p, "nothing", 0) < 0);
	sonde_profile_free(p);
	recording_done(&r);
}

/* C is in all paths, B in three, A is the sampled place of three. */
TEST(children_count_each_sample_once)
{
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=sym\ncallgraph=caller\nchildren=1\n");
	struct sonde_profile_value v = { .size = sizeof(v) };
	const struct {
		uint64_t address, children, self;
	} expected[] = { { C, 4, 0 }, { A, 3, 3 }, { B, 3, 1 } };

	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(sonde_profile_value(p, 0, i, 0, &v), 1);
		assert_int_equal(v.number, expected[i].address);
		assert_int_equal(row_at(p, i).children_period, expected[i].children);
		assert_int_equal(row_at(p, i).period, expected[i].self);
	}
	sonde_profile_free(p);
	recording_done(&r);
}

static struct sonde_profile_node node_at(const struct sonde_profile *p, uint32_t n)
{
	struct sonde_profile_node node = { .size = sizeof(node) };

	assert_int_equal(sonde_profile_node(p, n, &node), 1);
	return node;
}

static uint64_t frame_ip(const struct sonde_profile *p, const struct sonde_profile_node *n,
			 uint32_t i)
{
	struct sonde_profile_place place = { .size = sizeof(place) };

	assert_int_equal(sonde_profile_place(p, n->frames[i], &place), 1);
	return place.ip;
}

/*
 *	callee	A (3) -> B,C (2) | C (1)
 *	caller	C (3) -> B,A (2) | A (1)
 */
TEST(tree_of_a_row)
{
	static const char *const orders[] = { "callee", "caller" };
	struct recording r = begin();

	for (int caller = 0; caller < 2; caller++) {
		struct sonde_profile_node root, child;
		struct sonde_profile *p;
		uint32_t number;
		char text[64];

		snprintf(text, sizeof(text), "keys=comm\ncallgraph=%s\n", orders[caller]);
		p = profile_of(&r, text);
		assert_int_equal(sonde_profile_tree(p, 0, 0, &number), 1);
		root = node_at(p, number);
		assert_int_equal(root.period, 3);
		assert_int_equal(root.hit_period, 0);
		assert_int_equal(root.nr_frames, 1);
		assert_int_equal(root.next, 0);
		assert_int_equal(frame_ip(p, &root, 0), caller ? C : A);
		child = node_at(p, root.child);
		assert_int_equal(child.period, 2);
		assert_int_equal(child.hit_period, 2);
		assert_int_equal(child.nr_frames, 2);
		assert_int_equal(frame_ip(p, &child, 0), B);
		assert_int_equal(frame_ip(p, &child, 1), caller ? A : C);
		assert_int_equal(child.parent, number);
		child = node_at(p, child.next);
		assert_int_equal(child.period, 1);
		assert_int_equal(child.next, 0);
		assert_int_equal(child.child, 0);
		sonde_profile_free(p);
	}
	recording_done(&r);
}

/* C (3) -> B,A (2) | A (1): only nodes of at least 2 have all of their frames. */
TEST(tree_of_large_nodes)
{
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=comm\ncallgraph=caller\n");
	struct sonde_profile_node root, child;
	uint32_t number;

	assert_int_equal(sonde_profile_tree_above(p, 0, 0, 2, &number), 1);
	root = node_at(p, number);
	child = node_at(p, root.child);
	assert_int_equal(child.hit_period, 2);
	assert_int_equal(child.nr_frames, 2);
	child = node_at(p, child.next);
	assert_int_equal(child.period, 1);
	assert_int_equal(child.hit_period, 0);
	assert_int_equal(sonde_profile_tree_above(p, 0, 0, 3, &number), 1);
	root = node_at(p, number);
	assert_int_equal(root.period, 3);
	child = node_at(p, root.child);
	assert_int_equal(child.period, 2);
	assert_int_equal(child.nr_frames, 1);
	assert_int_equal(child.child, 0);
	assert_int_equal(sonde_profile_tree_above(p, 0, 0, 4, &number), 1);
	root = node_at(p, number);
	assert_int_equal(root.nr_frames, 1);
	assert_int_equal(root.child, 0);
	sonde_profile_free(p);
	recording_done(&r);
}

TEST(paths_have_a_limit)
{
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=\ncallgraph=caller\nmax-keys=2\n");
	struct sonde_profile_facts f = { .size = sizeof(f) };

	assert_int_equal(sonde_profile_facts(p, &f), 1);
	assert_int_equal(f.samples, 3);
	assert_int_equal(f.dropped_samples, 1);
	sonde_profile_free(p);
	recording_done(&r);
}

/* The chains of 20,000 samples are all different; later ones are all the same. */
TEST(chains_that_seldom_repeat)
{
	struct recording r;
	struct sonde_profile *p;
	struct sonde_profile_path path = { .size = sizeof(path) };
	uint64_t nr = 0;

	recording_begin_as(&r, true);
	for (uint64_t i = 0; i < 20000; i++)
		recording_sample(&r, 20 + i, 12, 12, (uint64_t[]){ A, B + i }, 2);
	for (uint64_t i = 0; i < 10; i++)
		recording_sample(&r, 30000 + i, 12, 12, (uint64_t[]){ A, B }, 2);
	p = profile_of(&r, "keys=sym\ncallgraph=callee\n");
	assert_int_equal(sonde_profile_path(p, 0, 0, &path), 1);
	assert_int_equal(path.samples, 11);
	while (sonde_profile_path(p, 0, nr, &path) == 1)
		nr++;
	assert_int_equal(nr, 20000);
	sonde_profile_free(p);
	recording_done(&r);
}

TEST(bad_options_are_refused)
{
	struct sonde_profile *p = NULL;

	assert_int_equal(sonde_profile_new(&p, "keys=comn\n", NULL), 0);
	assert_true(sonde_profile_finish(p) < 0);
	assert_non_null(strstr(sonde_error_text(), "comm"));
	sonde_profile_free(p);
	p = NULL;
	assert_true(sonde_profile_new(&p, "children=1\n", NULL) < 0);
	assert_true(sonde_profile_new(&p, "nothing=1\n", NULL) < 0);
	assert_null(p);
}

TEST(filters_mark_rows)
{
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=comm\ncomms=cat\n");
	struct sonde_profile_table t = { .size = sizeof(t) };

	assert_int_equal(sonde_profile_table(p, 0, &t), 1);
	assert_int_equal(t.samples, 4);
	assert_int_equal(t.shown_samples, 1);
	assert_int_equal(t.shown_period, 1);
	assert_int_equal(row_at(p, 0).flags & SONDE_ROW_FILTERED, SONDE_ROW_FILTERED);
	assert_int_equal(row_at(p, 1).flags & SONDE_ROW_FILTERED, 0);
	sonde_profile_free(p);
	recording_done(&r);
}

TEST(keys_have_a_limit)
{
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=comm\nmax-keys=1\n");
	struct sonde_profile_facts f = { .size = sizeof(f) };

	assert_int_equal(sonde_profile_facts(p, &f), 1);
	assert_int_equal(f.samples, 3);
	assert_int_equal(f.dropped_samples, 1);
	sonde_profile_free(p);
	recording_done(&r);
}

/* The fields of all events of sched are 128 keys. */
TEST(more_than_64_keys)
{
	char keys[8000] = "keys=pid";
	struct recording r = begin();
	struct sonde_profile *p = NULL;

	for (int i = 0; i < 199; i++)
		strcat(keys, ",pid");
	strcat(keys, "\n");
	p = profile_of(&r, keys);
	assert_string_equal(sonde_profile_text(p, 0, 0, 199), "     12:sh");
	assert_int_equal(row_at(p, 0).samples, 3);
	sonde_profile_free(p);
	keys[strlen(keys) - 1] = '\0';
	for (int i = 0; i < 400; i++)
		strcat(keys, ",pid");
	assert_true(sonde_profile_new(&p, keys, "test") < 0);
	assert_non_null(strstr(sonde_error_text(), "more than 512 sort keys"));
	recording_done(&r);
}

/* Three distinct paths: A,B,C of sh; B,C of cat; A,C of sh. */
TEST(paths_are_distinct)
{
	static const struct {
		uint64_t samples;
		uint32_t nr_frames;
		const char *comm;
	} expected[] = { { 2, 3, "sh" }, { 1, 2, "cat" }, { 1, 2, "sh" } };
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=comm\ncallgraph=caller\n");
	struct sonde_profile_value v = { .size = sizeof(v) };
	struct sonde_profile_path path = { .size = sizeof(path) };

	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(sonde_profile_path(p, 0, i, &path), 1);
		assert_int_equal(path.samples, expected[i].samples);
		assert_int_equal(path.nr_frames, expected[i].nr_frames);
		assert_int_equal(sonde_profile_path_value(p, 0, i, 0, &v), 1);
		assert_string_equal(v.text, expected[i].comm);
	}
	assert_int_equal(sonde_profile_path(p, 0, 3, &path), 0);
	sonde_profile_free(p);
	recording_done(&r);
}

/* The letter of a kernel address in the chain of a sample in user space. */
static char level_of_kernel_frame(const char *compat)
{
	struct recording r;
	struct sonde_profile *p;
	struct sonde_profile_row row = { .size = sizeof(row) };
	struct sonde_profile_place place = { .size = sizeof(place) };
	char level = 0;

	recording_begin_as(&r, true);
	recording_sample(&r, 20, 12, 12,
			 (uint64_t[]){ (uint64_t)-512, A, (uint64_t)-128, 0xffffffff81000000 }, 4);
	p = profile_as(&r, "keys=sym\ncallgraph=callee\nchildren=1\n", compat);
	for (uint64_t i = 0; sonde_profile_row(p, 0, i, &row) == 1; i++)
		if (sonde_profile_place(p, row.place, &place) == 1 &&
		    place.ip == 0xffffffff81000000)
			level = place.level;
	sonde_profile_free(p);
	recording_done(&r);
	return level;
}

TEST(frames_without_mapping)
{
	assert_int_equal(level_of_kernel_frame("none"), 'k');
	assert_int_equal(level_of_kernel_frame("perf-6.1"), '.');
}

static void sample_in_kernel(struct recording *r, uint64_t time_ns, uint64_t ip)
{
	const size_t at = recording_open(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);

	recording_u64(r, 1);
	recording_u64(r, ip);
	recording_u32s(r, 12, 12);
	recording_u64(r, time_ns);
	recording_u32s(r, 1, 0);
	recording_u64(r, 0);
	recording_close(r, at);
}

/* Places of a function are one row, whichever addresses without a function are in other files. */
TEST(functions_are_one_row)
{
	enum { ZZ = 0x400000, AA = 0x500000, BYTES = 0x10000 };
	static const uint64_t text = 0xffffffff81000000;
	static const char names[] = "ffffffff81000000 T _stext\nffffffff81000100 T one\n"
				    "ffffffff81000200 T _etext\n";
	const int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	struct recording r;
	struct sonde_profile *p;
	char path[32];

	assert_int_equal(write(fd, names, sizeof(names) - 1), sizeof(names) - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	recording_begin_as(&r, true);
	recording_mmap(&r, 1, (uint32_t)-1, text, 0x1000000, "[kernel.kallsyms]_text");
	recording_mmap(&r, 2, 12, ZZ, BYTES, "/nonexistent/zz");
	recording_mmap(&r, 3, 12, AA, BYTES, "/nonexistent/AA");
	recording_sample(&r, 10, 12, 12, (uint64_t[]){ ZZ + 0x1000 }, 1);
	recording_sample(&r, 11, 12, 12, (uint64_t[]){ AA + 0x2000 }, 1);
	for (unsigned i = 0; i < 4; i++)
		sample_in_kernel(&r, 12 + i, text + 0x100 + i);
	p = profile_with(&r, "keys=sym\n", "none", path);
	assert_string_equal(sonde_profile_text(p, 0, 0, 0), "one");
	assert_int_equal(row_at(p, 0).samples, 4);
	assert_string_equal(sonde_profile_text(p, 0, 1, 0), "0x0000000000001000");
	assert_string_equal(sonde_profile_text(p, 0, 2, 0), "0x0000000000002000");
	assert_int_equal(sonde_profile_row(p, 0, 3, &(struct sonde_profile_row){ 0 }), 0);
	sonde_profile_free(p);
	recording_done(&r);
	close(fd);
}

/* The width of the row "sh", whose thread is called `last` behind its only sample. */
static uint32_t width_of_sh(const char *last, const char *compat)
{
	struct recording r;
	struct sonde_profile *p;
	struct sonde_profile_value v = { .size = sizeof(v) };

	recording_begin_as(&r, true);
	recording_comm(&r, 10, 12, 12, "sh", false);
	recording_sample(&r, 20, 12, 12, (uint64_t[]){ A }, 1);
	recording_comm(&r, 30, 12, 12, last, true);
	p = profile_as(&r, "keys=comm\n", compat);
	assert_int_equal(sonde_profile_value(p, 0, 0, 0, &v), 1);
	assert_string_equal(v.text, "sh");
	sonde_profile_free(p);
	recording_done(&r);
	return v.width;
}

TEST(last_names)
{
	assert_int_equal(width_of_sh("readlink", "none"), 0);
	assert_int_equal(width_of_sh("readlink", "perf-6.1"), 8);
	assert_int_equal(width_of_sh("x", "perf-6.1"), 1);
}

/* Chains of 127 frames, of which the kernel records no more, and one of 126. */
TEST(full_chains_are_counted)
{
	struct sonde_profile_facts f = { .size = sizeof(f) };
	struct sonde_profile *p;
	struct recording r;
	uint64_t frames[128] = { (uint64_t)-512 };

	for (uint64_t i = 1; i < 128; i++)
		frames[i] = A + i;
	recording_begin_as(&r, true);
	recording_sample(&r, 20, 12, 12, frames, 128);
	recording_sample(&r, 21, 12, 12, frames, 128);
	recording_sample(&r, 22, 12, 12, frames, 127);
	p = profile_of(&r, "keys=sym\ncallgraph=caller\n");
	assert_int_equal(sonde_profile_facts(p, &f), 1);
	assert_int_equal(f.samples, 3);
	assert_int_equal(f.truncated_chains, 2);
	sonde_profile_free(p);
	recording_done(&r);
}

TEST(weights_are_sums)
{
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=comm\nweight=period\nweight=nothing\n");
	struct sonde_profile_path path = { .size = sizeof(path) };

	assert_int_equal(row_at(p, 0).weights[0], 3);
	assert_int_equal(row_at(p, 0).weights[1], 0);
	assert_int_equal(row_at(p, 1).weights[0], 1);
	assert_int_equal(sonde_profile_path(p, 0, 0, &path), 1);
	assert_int_equal(path.weights[0], 3);
	sonde_profile_free(p);
	recording_done(&r);
}

TEST(no_keys_make_one_row)
{
	struct recording r = begin();
	struct sonde_profile *p = profile_of(&r, "keys=\n");
	struct sonde_profile_row row = { .size = sizeof(row) };

	assert_int_equal(row_at(p, 0).samples, 4);
	assert_int_equal(sonde_profile_row(p, 0, 1, &row), 0);
	sonde_profile_free(p);
	recording_done(&r);
}

/* A sample of the second event, which has no call chains. */
static void sample_without_chain(struct recording *r, uint16_t misc, uint64_t time_ns, uint32_t tid,
				 uint64_t ip)
{
	const size_t at = recording_open(r, PERF_RECORD_SAMPLE, misc);

	recording_u64(r, 2);
	recording_u64(r, ip);
	recording_u32s(r, tid, tid);
	recording_u64(r, time_ns);
	recording_u32s(r, 1, 0);
	recording_close(r, at);
}

/* Thread 13 has no chain of its own; A is in the last chain of thread 12. */
static struct sonde_profile *profile_of_two_kinds(const char *text, const char *compat)
{
	const size_t type_at = RECORDING_ATTRS_AT + RECORDING_ATTR_BYTES + 16 +
			       offsetof(struct perf_event_attr, sample_type);
	struct sonde_profile *p;
	struct recording r;
	uint64_t type;

	recording_begin_as(&r, true);
	memcpy(&type, r.bytes + type_at, sizeof(type));
	type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	memcpy(r.bytes + type_at, &type, sizeof(type));
	recording_comm(&r, 10, 12, 12, "sh", false);
	recording_comm(&r, 11, 13, 13, "cat", false);
	recording_sample(&r, 20, 12, 12, (uint64_t[]){ A, C }, 2);
	sample_without_chain(&r, PERF_RECORD_MISC_KERNEL, 21, 12, B);
	sample_without_chain(&r, PERF_RECORD_MISC_USER, 22, 12, C);
	sample_without_chain(&r, PERF_RECORD_MISC_USER, 23, 13, B);
	p = profile_as(&r, text, compat);
	recording_done(&r);
	return p;
}

/* Checks the rows of the second event: address, period with children, own period. */
static void check_borrowed(const char *text, const char *compat, const uint64_t (*rows)[3],
			   uint64_t nr)
{
	struct sonde_profile *p = profile_of_two_kinds(text, compat);
	struct sonde_profile_value v = { .size = sizeof(v) };
	struct sonde_profile_row row = { .size = sizeof(row) };

	for (uint64_t i = 0; i < nr; i++) {
		assert_int_equal(sonde_profile_value(p, 1, i, 0, &v), 1);
		assert_int_equal(v.number, rows[i][0]);
		assert_int_equal(sonde_profile_row(p, 1, i, &row), 1);
		assert_int_equal(row.children_period, rows[i][1]);
		assert_int_equal(row.period, rows[i][2]);
	}
	assert_int_equal(sonde_profile_row(p, 1, nr, &row), 0);
	sonde_profile_free(p);
}

TEST(borrowed_chains)
{
	static const char plain[] = "keys=sym\ncallgraph=caller\nchildren=1\n";
	static const char borrows[] = "keys=sym\ncallgraph=caller\nchildren=1\nborrow-chains=1\n";

	check_borrowed(plain, "none", (const uint64_t[][3]){ { B, 2, 2 }, { C, 1, 1 } }, 2);
	check_borrowed(borrows, "none",
		       (const uint64_t[][3]){ { C, 2, 1 }, { A, 2, 0 }, { B, 2, 2 } }, 3);
	check_borrowed(plain, "perf-6.1",
		       (const uint64_t[][3]){ { C, 3, 1 }, { A, 3, 0 }, { B, 2, 2 } }, 3);
}

/* The level of the row of A, which the sample in the kernel borrows first. */
static char level_of_borrowed_frame(const char *text, const char *compat)
{
	struct sonde_profile *p = profile_of_two_kinds(text, compat);
	struct sonde_profile_place place = { .size = sizeof(place) };
	struct sonde_profile_row row = { .size = sizeof(row) };
	char level = 0;

	for (uint64_t i = 0; sonde_profile_row(p, 1, i, &row) == 1; i++)
		if (sonde_profile_place(p, row.place, &place) == 1 && place.ip == A)
			level = place.level;
	sonde_profile_free(p);
	return level;
}

/* In perf a frame without a mapping has the mode of the sample that borrows the chain. */
TEST(borrowed_frames_without_mapping)
{
	static const char borrows[] = "keys=sym\ncallgraph=caller\nchildren=1\nborrow-chains=1\n";

	assert_int_equal(level_of_borrowed_frame(borrows, "none"), '.');
	assert_int_equal(level_of_borrowed_frame(borrows, "perf-6.1"), 'k');
}

/* A borrowed chain is in the trees of its functions, but not in that of the sampled place. */
TEST(trees_of_borrowed_chains)
{
	struct sonde_profile *p = profile_of_two_kinds(
		"keys=sym\ncallgraph=caller\nchildren=1\nborrow-chains=1\n", "none");
	struct sonde_profile_node node = { .size = sizeof(node) };
	uint32_t root;

	assert_int_equal(sonde_profile_tree(p, 1, 0, &root), 1);
	assert_int_equal(sonde_profile_node(p, root, &node), 1);
	assert_int_equal(node.period, 1); /* C is called by no one in its own sample */
	assert_int_equal(sonde_profile_tree(p, 1, 2, &root), 0);
	assert_int_equal(root, 0);
	sonde_profile_free(p);
}

static void read_counter(struct recording *r, uint64_t time_ns, uint32_t tid, uint64_t id,
			 uint64_t value)
{
	size_t at = recording_open(r, PERF_RECORD_READ, 0);

	recording_u32s(r, 12, tid);
	recording_u64(r, value);
	recording_u64(r, id);
	recording_u32s(r, 12, tid);
	recording_u64(r, time_ns);
	recording_u32s(r, 1, 0);
	recording_u64(r, id);
	recording_close(r, at);
}

/* Values of one thread and event type are added up; those that were not read are 0. */
TEST(counters_of_threads)
{
	static const struct {
		int32_t tid;
		const char *name;
		uint64_t value;
	} expected[][2] = { { { 14, "cpu-clock", 7 }, { 14, "page-faults", 100 } },
			    { { 15, "cpu-clock", 0 }, { 15, "page-faults", 9 } } };
	struct sonde_profile_read read = { .size = sizeof(read) };
	struct recording r = begin();
	struct sonde_session *s;
	struct sonde_profile *p;
	char session[160];

	read_counter(&r, 30, 14, 1, 3);
	read_counter(&r, 31, 14, 2, 100);
	read_counter(&r, 32, 14, 1, 4);
	read_counter(&r, 33, 15, 2, 9);
	snprintf(session, sizeof(session), "input=%s\nkallsyms=/dev/null\nforce=1\nevents=all\n",
		 recording_finish(&r));
	assert_int_equal(sonde_session_open(&s, session, NULL), 0);
	assert_int_equal(sonde_profile_new(&p, "keys=comm\n", "test"), 0);
	assert_int_equal(sonde_profile_read(p, s), 0);
	assert_int_equal(sonde_profile_finish(p), 0);
	for (uint32_t t = 0; t < 2; t++) {
		for (uint32_t c = 0; c < 2; c++) {
			assert_int_equal(sonde_profile_read_value(p, t, c, &read), 1);
			assert_int_equal(read.pid, 12);
			assert_int_equal(read.tid, expected[t][c].tid);
			assert_string_equal(read.name, expected[t][c].name);
			assert_int_equal(read.value, expected[t][c].value);
		}
	}
	assert_int_equal(sonde_profile_read_value(p, 2, 0, &read), 0);
	assert_int_equal(sonde_profile_read_value(p, 0, 2, &read), 0);
	sonde_profile_free(p);
	sonde_session_close(s);
	recording_done(&r);
}
