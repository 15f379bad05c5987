/* SPDX-License-Identifier: MIT */
/*
 * Unit tests: TEST(name) { ... } in a test file registers a test through a linker section. main.c
 * runs all tests of a program with cmocka and prints TAP. Assertions are those of cmocka;
 * SKIP(reason) ends a test as skipped.
 */
#ifndef UNITTEST_H
#define UNITTEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

struct unit_test {
	const char *name;
	void (*run)(void **state);
};

#define TEST(test)                                                           \
	static void test(void **state);                                      \
	static const struct unit_test unit_##test = { #test, test };         \
	static const struct unit_test *const unit_ptr_##test                 \
		__attribute__((used, section("unit_tests"))) = &unit_##test; \
	static void test(void **state __attribute__((unused)))

#define SKIP(reason)                      \
	do {                              \
		printf("# %s\n", reason); \
		skip();                   \
	} while (0)

#endif
