/* SPDX-License-Identifier: MIT */
#include "report_graph.h"

#include "unittest.h"

#include <stdlib.h>
#include <string.h>

/*
 *	leaf 100 -- c 60 -- main 60
 *	          \ main 30 (ends here)
 *	          \ b 6, b2 4
 */
static struct report_call b2 = {
	.name = "b2",
	.hit = 4,
	.hit_count = 1,
	.cumul = 4,
	.cumul_count = 1,
};
static struct report_call b = {
	.name = "b",
	.hit = 6,
	.hit_count = 2,
	.cumul = 6,
	.cumul_count = 2,
	.next = &b2,
};
static struct report_call main1 = {
	.name = "main",
	.hit = 30,
	.hit_count = 3,
	.cumul = 30,
	.cumul_count = 3,
	.next = &b,
};
static struct report_call c;
static struct report_call main2 = {
	.name = "main",
	.hit = 60,
	.hit_count = 6,
	.cumul = 60,
	.cumul_count = 6,
	.parent = &c,
};
static struct report_call leaf = {
	.name = "leaf",
	.cumul = 100,
	.cumul_count = 12,
	.children = &c,
};
static struct report_call c = {
	.name = "c",
	.cumul = 60,
	.cumul_count = 6,
	.children = &main2,
	.next = &main1,
	.parent = &leaf,
};

static void check(const struct report_graph *g, struct report_call *roots, bool omits_first,
		  const char *expected)
{
	const struct report_graph_row row = { roots, 100, omits_first, 0 };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	b.parent = b2.parent = main1.parent = &leaf;
	assert_int_equal(report_graph_print(f, g, &row), 0);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

#define BAR  "               |          \n"
#define TREE "            |\n            ---leaf\n"

TEST(a_tree_in_percents_of_the_event)
{
	struct report_graph g = { .kind = REPORT_GRAPH, .min_percent = 3, .total = 200 };

	check(&g, &leaf, false,
	      TREE BAR "               |--30.00%--c\n"
		       "               |          main\n" BAR "               |--15.00%--main\n" BAR
		       "                --3.00%--b\n\n");
	g.print_limit = 1;
	check(&g, &leaf, false,
	      TREE BAR "               |--30.00%--c\n               |          main\n\n");
}

TEST(a_fractal_tree_has_a_remainder)
{
	struct report_graph g = {
		.kind = REPORT_FRACTAL,
		.min_percent = 10,
		.value = REPORT_COUNT,
	};

	check(&g, &leaf, false,
	      TREE BAR "               |--6--c\n"
		       "               |          main\n" BAR "               |--3--main\n"
		       "                --3--[...]\n\n");
}

TEST(the_row_s_own_function_is_omitted)
{
	const struct report_graph g = { .kind = REPORT_GRAPH, .min_percent = 20, .total = 100 };

	check(&g, &leaf, true,
	      "            |          \n            |--60.00%--c\n            |          main\n"
	      "            |          \n             --30.00%--main\n\n");
}

TEST(chains_by_what_ends_there)
{
	struct report_graph g = { .kind = REPORT_FLAT, .min_percent = 25, .total = 100 };

	check(&g, &leaf, false,
	      "           60.00%\n                leaf\n                c\n                main\n\n"
	      "           30.00%\n                leaf\n                main\n\n");
	g.kind = REPORT_FOLDED;
	g.value = REPORT_PERIOD;
	check(&g, &leaf, false, "60 leaf;c;main\n30 leaf;main\n");
}
