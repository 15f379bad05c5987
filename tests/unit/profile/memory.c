/* SPDX-License-Identifier: MIT */
/* Profiles of memory accesses: weights, places of data, cache lines, words of data_src. */
#include "unittest.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "../session/recording.h"
#include "sonde/sonde.h"

/* Addresses without a symbol. SHARED is in a mapping of a file, PRIVATE in memory without one. */
enum { CODE = 0x401000, SHARED = 0x500010, PRIVATE = 0x600020, NOWHERE = 0x700030 };

/* Bits of data_src. */
#define LEVEL(bits, number) ((uint64_t)(bits) << 5 | (uint64_t)(number) << 33)
#define SNOOP(bits, more)   ((uint64_t)(bits) << 19 | (uint64_t)(more) << 38)
enum { HIT = 2, L1 = 8, L2 = 32, SNOOP_NONE = 2, SNOOP_FORWARD = 1 };

static void memory_begin(struct recording *r)
{
	recording_begin_as(r, true);
	recording_sample_types(r, PERF_SAMPLE_CALLCHAIN,
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC);
}

static void memory_map(struct recording *r, uint64_t time_ns, uint32_t pid, uint64_t start,
		       const char *name, uint32_t inode, uint32_t flags)
{
	const size_t at = recording_open(r, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	char room[16] = "";

	memcpy(room, name, strlen(name));
	recording_u32s(r, pid, pid);
	recording_u64(r, start);
	recording_u64(r, 0x1000);
	recording_u64(r, 0x2000);
	recording_u32s(r, inode ? 8 : 0, inode ? 1 : 0);
	recording_u64(r, inode);
	recording_u64(r, 0);
	recording_u32s(r, PROT_READ | PROT_WRITE, flags);
	recording_put(r, room, sizeof(room));
	recording_trailer(r, at, time_ns, pid, pid);
}

static void memory_sample(struct recording *r, uint64_t time_ns, uint32_t pid, uint32_t mode,
			  uint64_t addr, uint64_t weight, uint64_t data_src)
{
	const size_t at = recording_open(r, PERF_RECORD_SAMPLE, (uint16_t)mode);

	recording_u64(r, 1);
	recording_u64(r, CODE);
	recording_u32s(r, pid, pid);
	recording_u64(r, time_ns);
	recording_u64(r, addr);
	recording_u32s(r, 1, 0);
	recording_u64(r, weight);
	recording_u64(r, data_src);
	recording_close(r, at);
}

static void memory_fill(struct recording *r)
{
	memory_begin(r);
	for (uint32_t pid = 12; pid <= 13; pid++) {
		recording_comm(r, 10, pid, pid, "sh", false);
		memory_map(r, 11, pid, SHARED & ~0xfff, "/no/file", 77, MAP_SHARED);
		memory_map(r, 12, pid, PRIVATE & ~0xfff, "//anon", 0, MAP_PRIVATE);
	}
	memory_sample(r, 20, 12, PERF_RECORD_MISC_USER, SHARED, 0,
		      LEVEL(HIT | L1, 1) | SNOOP(SNOOP_NONE, 0));
	memory_sample(r, 21, 13, PERF_RECORD_MISC_USER, SHARED + 8, 5,
		      LEVEL(HIT | L1, 2) | SNOOP(SNOOP_NONE, SNOOP_FORWARD));
	memory_sample(r, 22, 12, PERF_RECORD_MISC_USER, PRIVATE, 30, LEVEL(HIT | L2, 0));
	memory_sample(r, 23, 13, PERF_RECORD_MISC_USER, PRIVATE, 40, LEVEL(HIT | L2, 0));
	memory_sample(r, 24, 12, PERF_RECORD_MISC_KERNEL, PRIVATE, 50, LEVEL(HIT | L2, 0));
	memory_sample(r, 25, 12, PERF_RECORD_MISC_USER, NOWHERE, 60, LEVEL(HIT | L2, 0));
}

static struct sonde_profile *memory_profile(const char *keys, const char *compat)
{
	char session[160], settings[128];
	struct recording r;
	struct sonde_session *s;
	struct sonde_profile *p;

	memory_fill(&r);
	snprintf(settings, sizeof(settings), "weight-as-period=1\nkeys=%s\n", keys);
	snprintf(session, sizeof(session),
		 "input=%s\nkallsyms=/dev/null\nno-follow=1\nforce=1\ncompat=%s\n",
		 recording_finish(&r), compat);
	if (sonde_session_open(&s, session, NULL) < 0 ||
	    sonde_profile_new(&p, settings, "test") < 0 || sonde_profile_read(p, s) < 0 ||
	    sonde_profile_finish(p) < 0)
		fail_msg("%s", sonde_error_text());
	sonde_session_close(s);
	recording_done(&r);
	return p;
}

struct memory_row {
	const char *text;
	uint64_t period;
	char level; /* of the value */
};

static void memory_check(const char *keys, const char *compat, const struct memory_row *rows,
			 uint64_t nr)
{
	struct sonde_profile *p = memory_profile(keys, compat);
	struct sonde_profile_row row = { .size = sizeof(row) };
	struct sonde_profile_value value = { .size = sizeof(value) };

	for (uint64_t i = 0; i < nr; i++) {
		assert_int_equal(sonde_profile_row(p, 0, i, &row), 1);
		assert_int_equal(sonde_profile_value(p, 0, i, 0, &value), 1);
		assert_string_equal(value.text, rows[i].text);
		assert_int_equal(row.period, rows[i].period);
		assert_int_equal(value.level, rows[i].level);
	}
	assert_int_equal(sonde_profile_row(p, 0, nr, &row), 0);
	sonde_profile_free(p);
}

/* A sample without a weight counts as 1. */
TEST(memory_weights)
{
	memory_check("local_weight", "none",
		     (const struct memory_row[]){ { "60", 60, 0 },
						  { "50", 50, 0 },
						  { "40", 40, 0 },
						  { "30", 30, 0 },
						  { "5", 5, 0 },
						  { "0", 1, 0 } },
		     6);
}

/* A kernel that reads memory of a process finds it there; perf looks among kernel mappings only. */
TEST(memory_places)
{
	memory_check("dso_daddr", "none",
		     (const struct memory_row[]){
			     { "anon", 120, 0 }, { "[unknown]", 60, 0 }, { "file", 6, 0 } },
		     3);
	memory_check("dso_daddr", "perf-6.1",
		     (const struct memory_row[]){
			     { "[unknown]", 110, 0 }, { "anon", 70, 0 }, { "file", 6, 0 } },
		     3);
}

/* Processes share the lines of a file, but not those of memory without a file. */
TEST(memory_cache_lines)
{
	memory_check("dcacheline", "none",
		     (const struct memory_row[]){ { "0x0000000000600000", 80, 0 },
						  { "0x0000000000700000", 60, 'X' },
						  { "0x0000000000600000", 40, 0 },
						  { "0x0000000000500000", 6, 's' } },
		     4);
}

/* perf prints the address in the file. */
TEST(memory_cache_lines_of_perf)
{
	memory_check("dcacheline", "perf-6.1",
		     (const struct memory_row[]){ { "0x0000000000700000", 60, 'X' },
						  { "0x0000000000600000", 50, 'X' },
						  { "0x0000000000600000", 40, 0 },
						  { "0x0000000000600000", 30, 0 },
						  { "0x0000000000002000", 6, 's' } },
		     5);
}

/* perf compares the older bits of a level and of a snoop, and prints the words of the first. */
TEST(memory_words)
{
	memory_check("mem", "none",
		     (const struct memory_row[]){ { "L2 hit", 180, 0 },
						  { "L1 or L2 hit", 5, 0 },
						  { "L1 or L1 hit", 1, 0 } },
		     3);
	memory_check("mem", "perf-6.1",
		     (const struct memory_row[]){ { "L2 hit", 180, 0 }, { "L1 or L1 hit", 6, 0 } },
		     2);
	memory_check("snoop", "none",
		     (const struct memory_row[]){
			     { "N/A", 180, 0 }, { "None or Fwd", 5, 0 }, { "None", 1, 0 } },
		     3);
}

TEST(memory_settings)
{
	struct sonde_profile *p;

	assert_int_equal(sonde_profile_new(&p, "weight-as-period=1\nbranches=1\n", "test"),
			 -EINVAL);
}
