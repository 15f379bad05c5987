/* SPDX-License-Identifier: MIT */
/* Runs the registered tests of a program (unittest.h), or the one that the argument names. */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

extern const struct unit_test *const __start_unit_tests[], *const __stop_unit_tests[];

int main(int argc, char **argv)
{
	size_t n = (size_t)(__stop_unit_tests - __start_unit_tests), chosen = 0;
	struct CMUnitTest *tests = calloc(n, sizeof(*tests));
	int failed;

	if (!tests)
		return 1;
	for (size_t i = 0; i < n; i++) {
		const struct unit_test *t = __start_unit_tests[i];

		if (argc < 2 || !strcmp(argv[1], t->name))
			tests[chosen++] =
				(struct CMUnitTest){ .name = t->name, .test_func = t->run };
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = _cmocka_run_group_tests(argv[0], tests, chosen, NULL, NULL);
	free(tests);
	return failed != 0;
}
