/* SPDX-License-Identifier: MIT */
#include "profile/treesort.h"

#include "unittest.h"

static int by_tens(const void *a, const void *b, void *ctx)
{
	const uint32_t x = *(const uint32_t *)a / 10, y = *(const uint32_t *)b / 10;

	(void)ctx;
	return (x > y) - (x < y);
}

TEST(sorts_and_keeps_the_order_of_equals)
{
	enum { N = 1000 };
	uint32_t v[N];

	for (uint32_t i = 0; i < N; i++)
		v[i] = i * 7919 % N / 10 * 10 + i % 10;
	assert_int_equal(treesort(v, N, by_tens, NULL), 0);
	for (uint32_t i = 1; i < N; i++)
		assert_true(v[i - 1] / 10 <= v[i] / 10);
	for (uint32_t i = 0; i < N; i++)
		v[i] = i % 10;
	assert_int_equal(treesort(v, N, by_tens, NULL), 0);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(v[i], i % 10);
	assert_int_equal(treesort(v, 0, by_tens, NULL), 0);
}

/* Scissors cut paper, paper wraps stone, stone breaks scissors. */
static int by_game(const void *a, const void *b, void *ctx)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	(void)ctx;
	return x == y ? 0 : (x + 1) % 3 == y ? -1 : 1;
}

TEST(the_first_comparisons_decide)
{
	uint32_t v[] = { 0, 1, 2 }, w[] = { 2, 1, 0 };

	assert_int_equal(treesort(v, 3, by_game, NULL), 0);
	assert_int_equal(v[0] * 100 + v[1] * 10 + v[2], 201);
	assert_int_equal(treesort(w, 3, by_game, NULL), 0);
	assert_int_equal(w[0] * 100 + w[1] * 10 + w[2], 120);
}
