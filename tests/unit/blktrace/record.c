/* SPDX-License-Identifier: MIT */
/*
 * Records of blktrace: all forms of a recording give the same values, and every length is checked.
 */
#include "unittest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "formats/blktrace/record.h"

enum { LARGEST_FILE = 16 * 1024 };

struct file {
	uint8_t bytes[LARGEST_FILE];
	size_t len, at;
};

static void open_file(struct file *f, const char *form, const char *name)
{
	const char *folder = getenv("SONDE_BLKTRACE_DATA");
	char path[512];
	FILE *from;

	snprintf(path, sizeof(path), "%s/%s/%s", folder ? folder : "tests/data/blktrace", form,
		 name);
	from = fopen(path, "rb");
	assert_non_null(from);
	f->len = fread(f->bytes, 1, sizeof(f->bytes), from);
	f->at = 0;
	fclose(from);
}

static bool next_record(struct file *f, struct blktrace_record *ret)
{
	struct blktrace_head head;

	if (f->at == f->len)
		return false;
	assert_true(blktrace_head_find(f->bytes + f->at, f->len - f->at, &head));
	assert_true(head.bytes >= head.header_bytes && head.bytes <= f->len - f->at);
	assert_int_equal(blktrace_record_read(&head, f->bytes + f->at, ret), 0);
	assert_true(head.time_ns == ret->time_ns);
	f->at += head.bytes;
	return true;
}

static void expect_equal(const struct blktrace_record *a, const struct blktrace_record *b)
{
	assert_true(a->time_ns == b->time_ns && a->sector == b->sector && a->action == b->action);
	assert_int_equal(a->sequence, b->sequence);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->device, b->device);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->categories, b->categories);
	assert_int_equal(a->act, b->act);
	assert_int_equal(a->error, b->error);
	assert_int_equal(a->pdu_len, b->pdu_len);
}

static void compare(const char *form, const char *name)
{
	static struct file one, other;
	struct blktrace_record a, b;
	uint64_t x = 0, y = 0;

	open_file(&one, "little", name);
	open_file(&other, form, name);
	while (next_record(&one, &a)) {
		assert_true(next_record(&other, &b));
		expect_equal(&a, &b);
		if (a.categories & BLKTRACE_NOTIFY && a.act == BLKTRACE_NOTE_TIMESTAMP) {
			assert_true(blktrace_timestamp_read(&a, &x));
			assert_true(blktrace_timestamp_read(&b, &y));
			assert_true(x == y && x == 1600000000000000005);
		} else {
			assert_memory_equal(a.pdu, b.pdu, a.pdu_len);
		}
	}
	assert_false(next_record(&other, &b));
}

TEST(all_forms_of_a_recording_say_the_same)
{
	static const char *const forms[] = { "big", "trace2" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		compare(forms[i], "sda.blktrace.0");
		compare(forms[i], "sda.blktrace.1");
	}
}

/* The n-th record, from 0, that is an action and no note. */
static struct blktrace_record record_of(struct file *f, enum blktrace_act act, unsigned n)
{
	struct blktrace_record rec;

	open_file(f, "big", "sda.blktrace.0");
	while (next_record(f, &rec)) {
		if (!(rec.categories & BLKTRACE_NOTIFY) && rec.act == act && !n--)
			return rec;
	}
	fail_msg("no record of act %d", act);
	return rec;
}

TEST(values_of_a_record)
{
	static struct file f;
	struct blktrace_record rec = record_of(&f, BLKTRACE_REQUEUE, 0);

	assert_true(rec.sector == 3000 && rec.time_ns == 5014000000);
	assert_int_equal(rec.sequence, 15);
	assert_int_equal(rec.bytes, 512);
	assert_int_equal(rec.pid, 100);
	assert_int_equal(rec.device, 8 << BLKTRACE_MINOR_BITS | 1);
	assert_int_equal(rec.cpu, 0);
	assert_int_equal(rec.error, 5);
}

TEST(payloads)
{
	static struct file f;
	struct blktrace_record rec = record_of(&f, BLKTRACE_REMAP, 0);
	struct blktrace_remap remap;
	uint64_t n = 0;

	assert_true(blktrace_remap_read(&rec, &remap));
	assert_int_equal(remap.from_device, 8 << BLKTRACE_MINOR_BITS);
	assert_int_equal(remap.to_device, 8 << BLKTRACE_MINOR_BITS | 1);
	assert_true(remap.from_sector == 4048);
	rec.pdu_len = 15;
	assert_false(blktrace_remap_read(&rec, &remap));

	rec = record_of(&f, BLKTRACE_SPLIT, 0);
	assert_true(blktrace_count_read(&rec, &n) && n == 2004);
	rec.pdu_len = 7;
	assert_false(blktrace_count_read(&rec, &n));
	assert_false(blktrace_timestamp_read(&rec, &n));
}

TEST(letters)
{
	static const struct {
		uint32_t categories, bytes;
		const char *letters;
	} cases[] = {
		{ 0, 0, "N" },
		{ 0, 512, "R" },
		{ BLKTRACE_READ, 0, "N" },
		{ BLKTRACE_WRITE, 0, "W" },
		{ BLKTRACE_DISCARD | BLKTRACE_WRITE, 512, "D" },
		{ BLKTRACE_FLUSH, 0, "FN" },
		{ BLKTRACE_FLUSH | BLKTRACE_FUA, 512, "FRF" },
		{ BLKTRACE_WRITE | BLKTRACE_AHEAD, 512, "WA" },
		{ BLKTRACE_FLUSH | BLKTRACE_DISCARD | BLKTRACE_FUA | BLKTRACE_AHEAD |
			  BLKTRACE_SYNC | BLKTRACE_META,
		  512, "FDFASM" },
		{ BLKTRACE_NOTIFY | BLKTRACE_WRITE, 512, "N" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct blktrace_record rec = {
			.categories = cases[i].categories,
			.bytes = cases[i].bytes,
		};
		char letters[BLKTRACE_RWBS_BYTES];

		blktrace_rwbs(&rec, letters);
		assert_string_equal(letters, cases[i].letters);
	}
}

/* The largest payload size of a header, in both byte orders and both versions. */
TEST(heads)
{
	static const struct {
		bool swap;
		uint8_t version;
		size_t pdu_len_at, header_bytes;
	} forms[] = {
		{ false, 7, 46, 48 }, { true, 7, 46, 48 }, { false, 8, 50, 64 }, { true, 8, 50, 64 }
	};
	uint8_t bytes[64];
	struct blktrace_head head;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const uint32_t magic = BLKTRACE_MAGIC | forms[i].version,
			       stored = get_u32(&magic, forms[i].swap);

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, &stored, sizeof(stored));
		memset(bytes + forms[i].pdu_len_at, 0xff, 2);
		for (size_t len = 0; len < 4; len++)
			assert_false(blktrace_head_find(bytes, len, &head));
		for (size_t len = 4; len < forms[i].header_bytes; len++) {
			assert_true(blktrace_head_find(bytes, len, &head));
			assert_int_equal(head.bytes, 0);
			assert_int_equal(head.header_bytes, forms[i].header_bytes);
		}
		assert_true(blktrace_head_find(bytes, forms[i].header_bytes, &head));
		assert_int_equal(head.bytes, forms[i].header_bytes + UINT16_MAX);
		assert_true(head.bytes <= BLKTRACE_LARGEST_RECORD);
		assert_int_equal(head.swap, forms[i].swap);
	}
	for (unsigned version = 0; version < 256; version++) {
		const uint32_t magic = BLKTRACE_MAGIC | version;

		memcpy(bytes, &magic, sizeof(magic));
		assert_int_equal(blktrace_head_find(bytes, sizeof(bytes), &head),
				 version == 7 || version == 8);
	}
}

static int read_with_cgroup(uint16_t pdu_len, struct blktrace_record *ret)
{
	static struct {
		struct blktrace_header_7 header;
		uint64_t cgroup;
		char text[2];
	} made;
	struct blktrace_head head;

	made.header = (struct blktrace_header_7){
		.magic = BLKTRACE_MAGIC | BLKTRACE_VERSION_7,
		.action = BLKTRACE_NOTE_MESSAGE | BLKTRACE_ACT_CGROUP |
			  BLKTRACE_NOTIFY << BLKTRACE_CATEGORY_SHIFT,
		.pdu_len = pdu_len,
	};
	made.cgroup = 77;
	memcpy(made.text, "hi", 2);
	assert_true(blktrace_head_find((const uint8_t *)&made, sizeof(made), &head));
	return blktrace_record_read(&head, (const uint8_t *)&made, ret);
}

TEST(control_groups)
{
	struct blktrace_record rec;

	assert_int_equal(read_with_cgroup(10, &rec), 0);
	assert_int_equal(rec.act, BLKTRACE_NOTE_MESSAGE);
	assert_true(rec.cgroup == 77);
	assert_int_equal(rec.pdu_len, 2);
	assert_memory_equal(rec.pdu, "hi", 2);
	assert_int_equal(read_with_cgroup(8, &rec), 0);
	assert_int_equal(rec.pdu_len, 0);
	assert_int_equal(read_with_cgroup(7, &rec), -EBADMSG);
}
