/* SPDX-License-Identifier: MIT */
/* Columns of a heat map become wider, rows hold what their bounds say. */
#include "unittest.h"

#include "heat.h"

#define MS UINT64_C(1000000)

static uint64_t sum_of(const struct heat *h, uint32_t column)
{
	uint64_t sum = 0;

	for (uint32_t row = 0; row < HEAT_ROWS; row++)
		sum += h->cells[column][row];
	return sum;
}

TEST(heat_columns_widen_and_keep_their_counts)
{
	struct heat h;

	assert_int_equal(heat_init(&h, HEAT_LATENCY), 0);
	for (uint64_t i = 0; i < HEAT_COLUMNS; i++)
		heat_add(&h, (7000 + i) * MS, 5);
	assert_int_equal(h.column_ns, MS);
	assert_int_equal(h.origin_ns, 7000 * MS);
	assert_int_equal(sum_of(&h, 1023), 1);
	heat_add(&h, (7000 + 2 * HEAT_COLUMNS) * MS, 5); /* two doublings */
	assert_int_equal(h.column_ns, 4 * MS);
	assert_int_equal(sum_of(&h, 0), 4);
	assert_int_equal(sum_of(&h, 255), 4);
	assert_int_equal(sum_of(&h, 256), 0);
	assert_int_equal(sum_of(&h, 512), 1);
	heat_add(&h, 6999 * MS, 5); /* late: before the first column */
	assert_int_equal(sum_of(&h, 0), 5);
	assert_int_equal(h.count, HEAT_COLUMNS + 2);
	heat_done(&h);
}

TEST(heat_rows_hold_their_bounds)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 5, 7, 8, 9, 999, 1023, 1024, 1280, 12345678, UINT64_MAX / 3, UINT64_MAX
	};
	struct heat h;

	assert_int_equal(heat_init(&h, HEAT_LATENCY), 0);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		const double value = values[i] ? (double)values[i] : 1;
		uint32_t row = 0;

		heat_add(&h, i * MS, values[i]);
		while (!h.cells[i][row])
			row++;
		assert_true(heat_row_ns(&h, row) <= value);
		assert_true(heat_row_ns(&h, row + 1) > value || values[i] == UINT64_MAX);
	}
	heat_done(&h);
}
