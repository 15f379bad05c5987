/* SPDX-License-Identifier: MIT */
#include "unittest.h"

#include <stdint.h>
#include <string.h>

#include "compat/rules.h"

/* Each row of the table: its values, how many there are, and their type. */
#define ROW_NUMBERS(...)    \
	(const long long[]) \
	{                   \
		__VA_ARGS__ \
	}
#define ROW(name, ...) \
	{ #name, sizeof(ROW_NUMBERS(__VA_ARGS__)) / sizeof(long long), { __VA_ARGS__ } },

enum { MOST_VERSIONS = 16 };

static const struct row {
	const char *name;
	size_t nr;
	long long values[MOST_VERSIONS];
} rows[] = {
#define VERSIONS(...)
#define RULE   ROW
#define NUMBER ROW
#define PUBLIC ROW
#include "compat/rules.def"
#undef VERSIONS
#undef RULE
#undef NUMBER
#undef PUBLIC
};
enum { NR_ROWS = sizeof(rows) / sizeof(rows[0]) };

static size_t nr_versions(void)
{
	size_t nr = 0;

	while (rules_versions[nr])
		nr++;
	return nr;
}

/* A version is a column: every row has a value for each version. */
TEST(each_row_has_a_value_for_each_version)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		bool differs = false;

		if (rows[i].nr != nr_versions())
			fail_msg("%s: %zu values", rows[i].name, rows[i].nr);
		for (size_t v = 1; v < rows[i].nr; v++)
			differs = differs || rows[i].values[v] != rows[i].values[0];
		if (!differs)
			fail_msg("%s is no rule: all versions are as the default", rows[i].name);
	}
}

TEST(each_rule_is_a_column_of_its_row)
{
	const struct rules *rules;
	size_t row = 0;

#define VERSIONS(...)
#define RULE(name, ...)   assert_int_equal(rules->name, rows[row++].values[v]);
#define NUMBER(name, ...) assert_int_equal(rules->name, rows[row++].values[v]);
#define PUBLIC(name, ...) assert_int_equal(rules->pub.name, rows[row++].values[v]);
	for (uint32_t v = 0; v < nr_versions(); v++, row = 0) {
		rules = rules_of(v);
		assert_non_null(rules);
#include "compat/rules.def"
		assert_int_equal(row, NR_ROWS);
	}
}

TEST(versions_are_found_by_number_and_by_word)
{
	for (uint32_t v = 0; v < nr_versions(); v++) {
		const struct rules *rules = rules_of(v);

		assert_non_null(rules);
		assert_string_equal(rules->pub.version, rules_versions[v]);
		assert_ptr_equal(rules_find(rules_versions[v]), rules);
		assert_ptr_equal(sonde_rules_find(rules_versions[v]), &rules->pub);
		assert_ptr_equal(sonde_rules_get(v), &rules->pub);
		assert_int_equal(rules->pub.size, sizeof(struct sonde_rules));
	}
	assert_null(rules_of((uint32_t)nr_versions()));
	assert_null(rules_find("perf-6"));
	assert_null(sonde_rules_find("perf-6"));
	assert_null(sonde_rules_get(nr_versions()));
	assert_null(sonde_rules_get(SIZE_MAX));
}
