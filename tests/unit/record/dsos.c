/* SPDX-License-Identifier: MIT */
/* Finds the files with samples in the records of a ring. */

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "record/describe/dsos.h"
#include "unittest.h"

enum { RING_WORDS = 512, EXEC = PERF_RECORD_MISC_COMM_EXEC };

struct fake {
	struct dsos *dsos;
	struct dso_hits hits;
	struct ring ring;
	uint64_t words[RING_WORDS];
};

static void begin(struct fake *f, uint64_t sample_type, uint64_t read_format, bool all)
{
	struct capture_event event = { .attr = { .sample_type = PERF_SAMPLE_IDENTIFIER |
								PERF_SAMPLE_IP | PERF_SAMPLE_TID |
								PERF_SAMPLE_TIME | sample_type,
						 .read_format = read_format } };
	struct counter counter = { .id = 7 };
	struct capture_events events = { 0 };
	struct counters counters = { 0 };

	*f = (struct fake){ .ring = { .mask = sizeof(f->words) - 1 } };
	f->ring.data = (const uint8_t *)f->words;
	assert_int_equal(vec_push(&events.list, event), 0);
	assert_int_equal(vec_push(&counters.list, counter), 0);
	assert_int_equal(dsos_new(&f->dsos, &events, &counters, all), 0);
	vec_done(&events.list);
	vec_done(&counters.list);
}

static void done(struct fake *f)
{
	dso_hits_done(&f->hits);
	dsos_free(f->dsos);
}

/* A record with these words after its header. */
static void pass(struct fake *f, uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	const struct perfdata_record_header h = { type, misc, (uint16_t)(8 + 8 * n) };

	memcpy(f->words, &h, sizeof(h));
	memcpy(f->words + 1, words, 8 * n);
	if (type == PERF_RECORD_SAMPLE)
		dso_hits_sample(f->dsos, &f->hits, &f->ring, 0, &h);
	else
		dsos_record(f->dsos, &f->ring, 0, &h);
}

static uint64_t pair(int32_t low, int32_t high)
{
	return (uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static void map(struct fake *f, int32_t pid, uint64_t start, const char *name)
{
	uint64_t words[8 + 4] = { pair(pid, pid), start, 0x2000, 0, 0, 99 };

	strncpy((char *)(words + 8), name, 31);
	pass(f, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, words, 12);
}

static void sample(struct fake *f, int32_t pid, uint64_t ip)
{
	const uint64_t words[] = { 7, ip, pair(pid, pid), 1 };

	pass(f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, 4);
}

static void fork_process(struct fake *f, int32_t parent, int32_t child)
{
	const uint64_t words[] = { pair(child, parent), pair(child, parent), 0 };

	pass(f, PERF_RECORD_FORK, 0, words, 3);
}

static void exit_process(struct fake *f, int32_t pid)
{
	const uint64_t words[] = { pair(pid, 1), pair(pid, 1), 0 };

	pass(f, PERF_RECORD_EXIT, 0, words, 3);
}

static void exec_process(struct fake *f, int32_t pid)
{
	const uint64_t words[] = { pair(pid, pid), 0x78 };

	pass(f, PERF_RECORD_COMM, EXEC, words, 2);
}

/* The names of files with samples since the last call, in the order of the first samples. */
static const char *hit(struct fake *f)
{
	static char text[256];
	struct dso_files files = { 0 };

	*text = '\0';
	dsos_settle(f->dsos, &f->hits);
	assert_int_equal(dsos_take_hit(f->dsos, &files), 0);
	vec_foreach(file, &files)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? " " : "",
			 file->name);
	vec_done(&files);
	return text;
}

TEST(files_that_samples_fell_into)
{
	struct fake f;

	begin(&f, 0, 0, false);
	map(&f, 1, 0x1000, "/a");
	map(&f, 1, 0x3000, "/b");
	map(&f, 2, 0x1000, "/c");
	map(&f, 2, 0x5000, "//anon");
	map(&f, 2, 0x7000, "/d (deleted)");
	map(&f, 2, 0x9000, "[vdso]");
	sample(&f, 1, 0x2fff);
	sample(&f, 2, 0x5000);
	sample(&f, 2, 0x7000);
	sample(&f, 3, 0x1000);
	assert_string_equal(hit(&f), "/a [vdso]");
	assert_string_equal(hit(&f), "");
	/* the first byte after a mapping, the last byte of the next */
	sample(&f, 1, 0x5000);
	assert_string_equal(hit(&f), "");
	sample(&f, 1, 0x4fff);
	assert_string_equal(hit(&f), "/b");
	done(&f);
}

TEST(a_mapping_that_is_drained_after_its_sample)
{
	struct fake f;

	begin(&f, 0, 0, false);
	sample(&f, 1, 0x1000);
	map(&f, 1, 0x1000, "/a");
	assert_string_equal(hit(&f), "/a");
	sample(&f, 1, 0x3000);
	assert_string_equal(hit(&f), ""); /* kept for once more */
	map(&f, 1, 0x3000, "/b");
	assert_string_equal(hit(&f), "/b");
	done(&f);
}

TEST(mappings_are_inherited_until_exec)
{
	struct fake f;

	begin(&f, 0, 0, false);
	map(&f, 1, 0x1000, "/shell");
	fork_process(&f, 1, 2);
	fork_process(&f, 2, 3);
	sample(&f, 3, 0x1000);
	assert_string_equal(hit(&f), "/shell");
	exec_process(&f, 3);
	map(&f, 3, 0x9000, "/program");
	sample(&f, 3, 0x1000);
	assert_string_equal(hit(&f), "");
	sample(&f, 3, 0x9000);
	assert_string_equal(hit(&f), "/program");
	/* a pid that is reused by another process */
	exit_process(&f, 3);
	fork_process(&f, 1, 3);
	sample(&f, 3, 0x1000);
	assert_string_equal(hit(&f), "/shell");
	done(&f);
}

TEST(processes_that_are_gone_are_forgotten)
{
	struct fake f;

	begin(&f, 0, 0, false);
	map(&f, 1, 0x1000, "/shell");
	/* a grandchild; its parent and grandparent end */
	fork_process(&f, 1, 20000);
	fork_process(&f, 20000, 20001);
	exit_process(&f, 20000);
	for (int32_t pid = 2; pid < 12000; pid++) {
		fork_process(&f, 1, pid);
		map(&f, pid, 0x9000, "/program");
		exit_process(&f, pid);
		if (pid == 6000)
			exit_process(&f, 1);
		dsos_relieve(f.dsos, &f.hits);
	}
	sample(&f, 20001, 0x1000);
	assert_string_equal(hit(&f), "/shell");
	sample(&f, 2, 0x9000);
	assert_string_equal(hit(&f), "");
	done(&f);
}

TEST(call_chains_lead_through_files)
{
	const uint64_t chain[] = { 7, (uint64_t)-1, pair(1, 1), 1,
				   /* READ: enabled, value, id */
				   5, 6, 7,
				   /* CALLCHAIN */
				   4, PERF_CONTEXT_KERNEL, 0x3000, PERF_CONTEXT_USER, 0x1000 };
	const uint64_t group[] = { 7, (uint64_t)-1,      pair(1, 1), 1, 2, 5, 6, 7, 8, 9,
				   2, PERF_CONTEXT_USER, 0x3000 };
	const uint64_t cut[] = { 7, (uint64_t)-1, pair(1, 1), 1, 5, 6, 7, UINT64_MAX / 8, 0x1000 };
	struct fake f;

	begin(&f, PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
	      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID, false);
	map(&f, 1, 0x1000, "/a");
	map(&f, 1, 0x3000, "/b");
	pass(&f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, cut, 9);
	assert_string_equal(hit(&f), "");
	pass(&f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, chain, 12);
	assert_string_equal(hit(&f), "/a");
	done(&f);
	begin(&f, PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
	      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID | PERF_FORMAT_GROUP, false);
	map(&f, 1, 0x1000, "/a");
	map(&f, 1, 0x3000, "/b");
	pass(&f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, group, 13);
	assert_string_equal(hit(&f), "/b");
	done(&f);
}

TEST(copied_stacks_may_need_all_that_is_mapped)
{
	const uint64_t words[] = { 7, (uint64_t)-1, pair(1, 1), 1, 0, 0 };
	struct fake f;

	begin(&f, PERF_SAMPLE_STACK_USER, 0, false);
	map(&f, 1, 0x1000, "/a");
	map(&f, 1, 0x3000, "/b");
	map(&f, 2, 0x1000, "/c");
	pass(&f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, 6);
	assert_string_equal(hit(&f), "/a /b");
	done(&f);
}

TEST(modules_are_the_kernels)
{
	const uint64_t words[] = { 7, 0xffffffffc0001000, pair(1, 1), 1 };
	struct fake f;

	begin(&f, 0, 0, false);
	dsos_note_mapping(f.dsos, DSOS_KERNEL_PID, 0xffffffffc0000000, 0x3000, 0, "[veth]", 6);
	dsos_note_mapping(f.dsos, DSOS_KERNEL_PID, 0xffffffffc0008000, 0x3000, 0, "[xfs]", 5);
	pass(&f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, 4);
	assert_string_equal(hit(&f), "[veth]");
	assert_true(f.hits.any_kernel);
	done(&f);
}

/* The EXIT of a task may have the pid -1. It does not mean the kernel. */
TEST(exits_without_a_pid_do_not_end_the_kernel)
{
	const uint64_t words[] = { 7, 0xffffffffc0001000, pair(1, 1), 1 };
	struct fake f;

	begin(&f, 0, 0, false);
	dsos_note_mapping(f.dsos, DSOS_KERNEL_PID, 0xffffffffc0000000, 0x3000, 0, "[veth]", 6);
	exit_process(&f, -1);
	for (int32_t pid = 2; pid < 6000; pid++) {
		fork_process(&f, 1, pid);
		exit_process(&f, pid);
		dsos_relieve(f.dsos, &f.hits);
	}
	pass(&f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, 4);
	assert_string_equal(hit(&f), "[veth]");
	done(&f);
}

TEST(all_files_mapped)
{
	struct fake f;

	begin(&f, 0, 0, true);
	map(&f, 1, 0x1000, "/a");
	dsos_note_mapping(f.dsos, 1, 0x3000, 0x1000, 5, "/b", 2);
	assert_string_equal(hit(&f), "/a /b");
	done(&f);
}
