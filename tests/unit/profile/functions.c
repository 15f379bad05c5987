/* SPDX-License-Identifier: MIT */
/* Profiles of functions of the kernel: whose address a row has, and paths compared by line. */
#include "unittest.h"

#include <sys/mman.h>
#include <unistd.h>

#include "../session/recording.h"
#include "sonde/sonde.h"

#define TEXT   0xffffffff81000000u
#define KERNEL ((uint64_t)-128) /* the marker in front of the kernel's part of a chain */
#define ONE    (TEXT + 0x100)
#define TWO    (TEXT + 0x200)

static struct recording functions_begin(void)
{
	static const char name[] = "[kernel.kallsyms]_text";
	struct recording r;
	size_t at;

	recording_begin_as(&r, true);
	at = recording_open(&r, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	recording_u32s(&r, (uint32_t)-1, 0);
	recording_u64(&r, TEXT);
	recording_u64(&r, 0x1000000);
	recording_u64(&r, 0);
	recording_put(&r, name, sizeof(name));
	recording_trailer(&r, at, 1, (uint32_t)-1, 0);
	recording_comm(&r, 1, 12, 12, "sh", false);
	return r;
}

/* A sample of the event `id`, called from `caller` if that is not 0. */
static void functions_sample(struct recording *r, uint64_t id, uint64_t time_ns, uint64_t ip,
			     uint64_t caller)
{
	const size_t at = recording_open(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);

	recording_u64(r, id);
	recording_u64(r, ip);
	recording_u32s(r, 12, 12);
	recording_u64(r, time_ns);
	recording_u32s(r, 1, 0);
	recording_u64(r, caller ? 3 : 0);
	if (caller) {
		recording_u64(r, KERNEL);
		recording_u64(r, ip);
		recording_u64(r, caller);
	}
	recording_close(r, at);
}

static struct sonde_profile *functions_profile(struct recording *r, const char *text,
					       const char *compat)
{
	static const char names[] = "ffffffff81000000 T _stext\nffffffff81000100 T one\n"
				    "ffffffff81000200 T two\nffffffff81000300 T _etext\n";
	const int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	struct sonde_session *s;
	struct sonde_profile *p;
	char session[200];

	assert_int_equal(write(fd, names, sizeof(names) - 1), sizeof(names) - 1);
	snprintf(session, sizeof(session),
		 "input=%s\nkallsyms=/proc/self/fd/%d\nno-follow=1\nforce=1\ncompat=%s\n",
		 recording_finish(r), fd, compat);
	if (sonde_session_open(&s, session, NULL) < 0 || sonde_profile_new(&p, text, "test") < 0 ||
	    sonde_profile_read(p, s) < 0 || sonde_profile_finish(p) < 0)
		fail_msg("%s", sonde_error_text());
	sonde_session_close(s);
	recording_done(r);
	close(fd);
	return p;
}

/* The address of the only row of a sample at ONE + 4, then one at ONE + 1. */
static uint64_t functions_address(uint64_t first_id, uint64_t second_id)
{
	struct recording r = functions_begin();
	struct sonde_profile_row row = { .size = sizeof(row) };
	struct sonde_profile_place place = { .size = sizeof(place) };
	struct sonde_profile *p;

	functions_sample(&r, first_id, 10, ONE + 4, 0);
	functions_sample(&r, second_id, 11, ONE + 1, 0);
	p = functions_profile(&r, "keys=sym\ngroups=all\n", "none");
	assert_int_equal(sonde_profile_row(p, 0, 0, &row), 1);
	assert_int_equal(sonde_profile_place(p, row.place, &place), 1);
	assert_int_equal(sonde_profile_row(p, 0, 1, &row), 0);
	sonde_profile_free(p);
	return place.ip;
}

TEST(row_of_group_has_place_of_leader)
{
	assert_int_equal(functions_address(1, 2), ONE + 4);
	assert_int_equal(functions_address(2, 1), ONE + 1);
	assert_int_equal(functions_address(2, 2), ONE + 4);
}

/* Two samples of `one`, which were called from two addresses of `two`. */
static struct sonde_profile *functions_called(const char *text, const char *compat)
{
	struct recording r = functions_begin();

	functions_sample(&r, 1, 10, ONE, TWO + 16);
	functions_sample(&r, 1, 11, ONE, TWO + 32);
	return functions_profile(&r, text, compat);
}

/* The frames of the first node of the call tree. */
static uint32_t functions_frames_together(const char *key)
{
	struct sonde_profile_node node = { .size = sizeof(node) };
	struct sonde_profile *p;
	char text[80];
	uint32_t root;

	snprintf(text, sizeof(text), "keys=sym\ncallgraph=callee\ncallgraph-key=%s\n", key);
	p = functions_called(text, "none");
	assert_int_equal(sonde_profile_tree(p, 0, 0, &root), 1);
	assert_int_equal(sonde_profile_node(p, root, &node), 1);
	assert_int_equal(node.samples, 2);
	sonde_profile_free(p);
	return node.nr_frames;
}

TEST(paths_without_lines_are_compared_by_function)
{
	assert_int_equal(functions_frames_together("function"), 2);
	assert_int_equal(functions_frames_together("srcline"), 2);
	assert_int_equal(functions_frames_together("address"), 1);
}

static bool functions_have_line(const char *key, const char *compat, const char *line)
{
	struct sonde_profile *p;
	char text[100];
	bool has = false;
	uint64_t i;

	snprintf(text, sizeof(text),
		 "keys=srcline\ncallgraph=caller\nchildren=1\ncallgraph-key=%s\n", key);
	p = functions_called(text, compat);
	for (i = 0; *sonde_profile_text(p, 0, i, 0); i++)
		has |= !strcmp(sonde_profile_text(p, 0, i, 0), line);
	assert_true(i >= 3);
	sonde_profile_free(p);
	return has;
}

TEST(callers_without_lines)
{
	assert_true(functions_have_line("function", "none", "two+16"));
	assert_true(functions_have_line("address", "none", "two+32"));
	assert_true(functions_have_line("address", "perf-6.1", "+32"));
	assert_false(functions_have_line("address", "perf-6.1", "two+32"));
	assert_true(functions_have_line("srcline", "perf-6.1", "two+32"));
}
