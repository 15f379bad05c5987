/* SPDX-License-Identifier: MIT */
/*
 * Cutting: the number of records in bytes, and the bytes that are missing for the next record
 * (sources/source.h).
 */
#include "unittest.h"

#include <stdlib.h>

#include "../session/recording.h"
#include "model/defects.h"
#include "model/schema.h"
#include "model/schema_table.h"
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

static void open_source(const char *path)
{
	const struct source_options options = {
		.rules = &default_rules,
		.path = path,
		.window_bytes = 1 << 16,
		.force = true,
		.fd = -1,
		.schemas = &schemas,
		.defects = &defects,
	};

	assert_int_equal(source_open(&source, &options), 0);
}

static void begin_as(bool is_plain)
{
	static const uint64_t chain[] = { 0x401000, 0x401010 };

	nr_records = 0;
	defects = (struct defects){ 0 };
	schemas = (struct schema_table){ 0 };
	recording_begin_as(&r, is_plain);
	recording_comm(&r, 10, 12, 12, "sh", false);
	end_record();
	recording_sample(&r, 20, 12, 12, chain, 2);
	end_record();
	recording_sample(&r, 30, 12, 12, chain, 1);
	end_record();
	data = r.bytes + RECORDING_DATA_AT;
	data_bytes = r.len - RECORDING_DATA_AT;
	open_source(recording_finish(&r));
}

static void begin(void)
{
	begin_as(false);
}

static void end(void)
{
	source->ops->close(source);
	schema_table_done(&schemas);
	recording_done(&r);
}

static int cut(size_t len, int max, struct cut *ret, uint64_t *ret_used, size_t *ret_need)
{
	struct unit unit = { 0 };

	return source->ops->cut(source, 0, &unit, data, len, RECORDING_DATA_AT, ret, max, ret_used,
				ret_need);
}

/* Bytes that end with a record need no further byte. */
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

/*
 * For an incomplete record its length is needed; for an incomplete header the length of a header.
 */
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

/*
 * In a pipe, tracing data may follow samples (perf record --tail-synthesize): they are cut as one.
 */
TEST(tracing_data_are_needed_with_the_bytes_behind_them)
{
	enum { FORMATS_BYTES = 104, SAMPLE_AT = 16 + 8 + 64, SAMPLE_BYTES = 24 };
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = 64,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	};
	const struct perf_event_header attr_header = { RECORD_HEADER_ATTR, 0, 8 + 64 },
				       sample_header = { PERF_RECORD_SAMPLE, 2, SAMPLE_BYTES },
				       tracing_header = { RECORD_HEADER_TRACING_DATA, 0, 12 };
	static const uint32_t formats_bytes = FORMATS_BYTES;
	static const uint8_t formats[FORMATS_BYTES];
	struct cut cuts[MAX_CUTS];
	struct unit unit = { 0 };
	uint64_t used;
	size_t need, whole;

	defects = (struct defects){ 0 };
	schemas = (struct schema_table){ 0 };
	recording_begin(&r);
	r.len = 0;
	recording_put(&r, "PERFILE2", 8);
	recording_u64(&r, 16);
	recording_put(&r, &attr_header, 8);
	recording_put(&r, &attr, 64);
	recording_put(&r, &sample_header, 8);
	recording_u32s(&r, 12, 12);
	recording_u64(&r, 20);
	recording_put(&r, &tracing_header, 8);
	recording_put(&r, &formats_bytes, 4);
	recording_put(&r, formats, FORMATS_BYTES);
	r.fd = memfd_create("pipe", MFD_CLOEXEC);
	assert_int_equal(write(r.fd, r.bytes, r.len), r.len);
	snprintf(r.path, sizeof(r.path), "/proc/self/fd/%d", r.fd);
	open_source(r.path);

	whole = r.len - SAMPLE_AT - SAMPLE_BYTES;
	data = r.bytes + SAMPLE_AT;
	for (size_t len = SAMPLE_BYTES + 12; len < SAMPLE_BYTES + whole; len++) {
		assert_int_equal(source->ops->cut(source, 0, &unit, data, len, SAMPLE_AT, cuts,
						  MAX_CUTS, &used, &need),
				 1);
		assert_int_equal(used, SAMPLE_BYTES);
		assert_int_equal(need, whole);
	}
	/* Before they are taken, records can be cut repeatedly; after that they are released. */
	for (int i = 0; i < 3; i++) {
		if (i == 2)
			assert_int_equal(source_take_headers(source, cuts, 2), 0);
		assert_int_equal(source->ops->cut(source, 0, &unit, data, SAMPLE_BYTES + whole,
						  SAMPLE_AT, cuts, MAX_CUTS, &used, &need),
				 2);
		assert_int_equal(cuts[0].order, CUT_ORDERED);
		assert_int_equal(cuts[1].order, i < 2 ? CUT_HEADER : CUT_AT_ONCE);
		assert_int_equal(used, SAMPLE_BYTES + whole);
	}
	end();
}

static struct sonde_schema *schema_of_event(int event)
{
	return schema_at(&schemas, (uint32_t)event);
}

/* Samples have the id of the first event. Records of state are never marked. */
TEST(samples_that_nobody_wants_are_marked)
{
	struct cut cuts[MAX_CUTS];
	uint64_t used;
	size_t need;

	for (int unwanted = 0; unwanted < 2; unwanted++) {
		begin_as(true);
		assert_int_equal(source_mark_unwanted(source), 0); /* all are wanted */
		schema_of_event(unwanted)->unwanted = true;
		assert_int_equal(source_mark_unwanted(source), 1);
		assert_int_equal(cut(data_bytes, MAX_CUTS, cuts, &used, &need), nr_records);
		assert_int_equal(used, data_bytes);
		for (int i = 0; i < nr_records; i++)
			assert_int_equal(!!(cuts[i].flags & CUT_UNWANTED), i > 0 && !unwanted);
		assert_int_equal(cuts[1].time_ns, 20);
		end();
	}
}

/* Each read of a counter needs the one before it. */
TEST(samples_with_counts_are_not_marked)
{
	begin();
	schema_of_event(0)->unwanted = schema_of_event(1)->unwanted = true;
	assert_int_equal(source_mark_unwanted(source), 0);
	end();
}
