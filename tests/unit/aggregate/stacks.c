/* SPDX-License-Identifier: MIT */
/* Call chains as keys: parts of a chain, mappings that change, names of kernel functions. */
#include "unittest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../session/open.h"
#include "../session/recording.h"

static const uint64_t kernel_context = (uint64_t)-128, user_context = (uint64_t)-512;

static void read_all(struct sonde_session *s, struct sonde_aggregate *a)
{
	const struct sonde_event *ev;

	while (sonde_session_next(s, &ev) > 0)
		assert_int_equal(sonde_aggregate_add(a, &ev, 1), 0);
}

/* Rows as lines "COUNT STACK COMM", with the symbols of a map of the kernel. */
static void expect_rows(struct recording *r, const char *by, const char *want)
{
	const struct sonde_aggregate_options o = {
		.size = sizeof(o),
		.kind = "count",
		.events = "cpu-clock",
		.by = by,
	};
	struct sonde_aggregate_row row = { .size = sizeof(row) };
	struct sonde_aggregate *a;
	struct sonde_session *s;
	char text[256], map[32], got[1024];
	const int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	size_t n = 0;

	assert_true(dprintf(fd, "ffffffff81000000 T _stext\nffffffff81000100 T enter\n"
				"ffffffff81000200 T work\nffffffff81000300 T leaf;x\n"
				"ffffffff81000400 T _etext\n") > 0);
	snprintf(map, sizeof(map), "/proc/self/fd/%d", fd);
	snprintf(text, sizeof(text), "input=%s\nkallsyms=%s\n", r->path, map);
	if (sonde_session_open(&s, text, NULL) < 0 || sonde_aggregate_new(&a, s, &o) < 0)
		fail_msg("%s", sonde_error_text());
	read_all(s, a);
	sonde_session_close(s); /* chains are resolved later */
	assert_true(sonde_aggregate_rows(a) >= 0);
	for (size_t i = 0; sonde_aggregate_row(a, i, &row) > 0; i++) {
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%d", (int)row.count);
		for (uint32_t k = 0; k < row.nr_keys; k++)
			n += (size_t)snprintf(got + n, sizeof(got) - n, " %s",
					      row.keys[k].text ? row.keys[k].text : "-");
		n += (size_t)snprintf(got + n, sizeof(got) - n, "\n");
	}
	assert_string_equal(got, want);
	sonde_aggregate_free(a);
	close(fd);
}

static void make(struct recording *r)
{
	const uint64_t leaf = 0xffffffff81000310, work = 0xffffffff81000210,
		       enter = 0xffffffff81000110;
	const uint64_t deep[] = { kernel_context, leaf, work, enter, user_context, 0x401000 },
		       other_place[] = { kernel_context, leaf + 4,     work + 8,
					 enter,          user_context, 0x402000 },
		       shallow[] = { kernel_context, work, enter }, user[] = { 0x401000 };

	recording_begin_as(r, true);
	recording_mmap(r, 1, (uint32_t)-1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text");
	recording_comm(r, 1, 7, 7, "seven", false);
	recording_mmap(r, 2, 7, 0x400000, 0x10000, "/nowhere/a");
	recording_sample(r, 10, 7, 7, deep, 6);
	recording_sample(r, 11, 7, 7, other_place, 6);
	recording_sample(r, 12, 7, 7, shallow, 3);
	/* The same addresses, in other files. */
	recording_mmap(r, 13, 7, 0x400000, 0x10000, "/nowhere/b");
	recording_sample(r, 14, 7, 7, deep, 6);
	recording_sample(r, 15, 7, 7, user, 1);
	recording_sample(r, 16, 7, 7, user, 0);
	assert_non_null(recording_finish(r));
}

TEST(parts_of_chains_are_keys)
{
	struct recording r;

	make(&r);
	expect_rows(&r, "kstack", "3 enter;work;leaf:x\n2 -\n1 enter;work\n");
	expect_rows(&r, "ustack,comm", "4 [unknown] seven\n2 - seven\n");
	expect_rows(&r, "stack", "3 [unknown];enter;work;leaf:x\n1 -\n1 [unknown]\n1 enter;work\n");
	recording_done(&r);
}

TEST(each_frame_is_a_line_of_text)
{
	const struct sonde_aggregate_options o = {
		.size = sizeof(o),
		.kind = "count",
		.events = "cpu-clock",
		.by = "ustack,comm",
	};
	const int fd = memfd_create("printed", MFD_CLOEXEC);
	struct sonde_aggregate *a;
	struct sonde_session *s;
	char got[1024] = { 0 };
	struct recording r;

	make(&r);
	s = open_session(r.path, "");
	assert_int_equal(sonde_aggregate_new(&a, s, &o), 0);
	read_all(s, a);
	assert_int_equal(sonde_aggregate_print(a, fd, NULL), 0);
	assert_true(pread(fd, got, sizeof(got) - 1, 0) > 0);
	assert_string_equal(got,
			    "count of cpu-clock by ustack, comm\ncomm   count\n"
			    "seven      4  ##################################################\n"
			    "    [unknown]\n"
			    "seven      2  #########################\n"
			    "    (no call chain)\n");
	close(fd);
	sonde_session_close(s);
	sonde_aggregate_free(a);
	recording_done(&r);
}
