/* SPDX-License-Identifier: MIT */
/*
 * Cutting: how many records bytes hold, and how many bytes are missing for the next one
 * (sources/source.h).
 */
#include "unittest.h"

#include <stdlib.h>

#include "../session/recording.h"
#include "model/defects.h"
#include "model/schema.h"
#include "sources/source.h"

enum { MAX_CUTS = 16 };

static struct recording r;
static struct defects defects;
static struct schema_table schemas;
static struct source *source;
static const uint8_t *data;
static size_t data_bytes;
static size_t ends[MAX_CUTS]; /* where each record ends in the data */
static int nr_records;

static void end_record(void)
{
	ends[nr_records++] = r.len - RECORDING_DATA_AT;
}

static void begin(void)
{
	static const uint64_t chain[] = { 0x401000, 0x401010 };

	nr_records = 0;
	defects = (struct defects){ 0 };
	schemas = (struct schema_table){ 0 };
	recording_begin(&r);
	recording_comm(&r, 10, 12, 12, "sh", false);
	end_record();
	recording_sample(&r, 20, 12, 12, chain, 2);
	end_record();
	recording_sample(&r, 30, 12, 12, chain, 1);
	end_record();
	data = r.bytes + RECORDING_DATA_AT;
	data_bytes = r.len - RECORDING_DATA_AT;
	assert_int_equal(
		source_open(&source, &(struct source_options){ .path = recording_finish(&r),
							       .window_bytes = 1 << 16,
							       .force = true,
							       .fd = -1,
							       .schemas = &schemas,
							       .defects = &defects }),
		0);
}

static void end(void)
{
	source->ops->close(source);
	schema_table_done(&schemas);
	recording_done(&r);
}

static int cut(size_t len, int max, struct cut *ret, uint64_t *ret_used, size_t *ret_need)
{
	return source->ops->cut(source, 0, data, len, RECORDING_DATA_AT, ret, max, ret_used,
				ret_need);
}

/* Bytes that end with a record need no byte more. */
TEST(whole_records_are_cut_without_a_byte_behind_them)
{
	struct cut cuts[MAX_CUTS];
	uint64_t used;
	size_t need;

	begin();
	for (int n = 1; n <= nr_records; n++) {
		assert_int_equal(cut(ends[n - 1], MAX_CUTS, cuts, &used, &need), n);
		assert_int_equal(used, ends[n - 1]);
		assert_int_equal(need, 8); /* the header of a record that may follow */
	}
	assert_int_equal(cuts[0].order, CUT_ORDERED);
	assert_int_equal(cuts[1].time_ns, 20);
	assert_int_equal(cuts[1].file_off, RECORDING_DATA_AT + ends[0]);
	assert_int_equal(cuts[1].len, ends[1] - ends[0]);
	assert_ptr_equal(cuts[2].bytes, data + ends[1]);
	assert_true(cuts[2].flags & CUT_SAMPLE);
	end();
}

/* An incomplete record asks for its own length; an incomplete header asks for a header's length. */
TEST(what_the_next_record_needs)
{
	struct cut cuts[MAX_CUTS];
	uint64_t used;
	size_t need;

	begin();
	for (size_t len = ends[0] + 1; len < ends[1]; len++) {
		assert_int_equal(cut(len, MAX_CUTS, cuts, &used, &need), 1);
		assert_int_equal(used, ends[0]);
		assert_int_equal(need, len - ends[0] < 8 ? 8 : ends[1] - ends[0]);
	}
	assert_int_equal(cut(0, MAX_CUTS, cuts, &used, &need), 0);
	assert_int_equal(used, 0);
	end();
}

TEST(no_more_than_the_caller_has_room_for)
{
	struct cut cuts[MAX_CUTS];
	uint64_t used;
	size_t need;

	begin();
	for (int max = 1; max <= nr_records; max++) {
		assert_int_equal(cut(data_bytes, max, cuts, &used, &need), max);
		assert_int_equal(used, ends[max - 1]);
		assert_int_equal(need, 0);
	}
	end();
}
