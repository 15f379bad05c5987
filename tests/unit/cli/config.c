/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli.h"
#include "unittest.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cli_say(const char *fmt, ...)
{
}

static struct config c;

/* The number of the line that cannot be read; 0 if there is none. */
static int parse(const char *text)
{
	config_done(&c);
	return config_parse(&c, "file", false, text, strlen(text));
}

static const char *value(const char *name)
{
	const struct config_entry *e = config_find(&c, name, false);

	return e ? e->value : "(none)";
}

TEST(what_perf_config_lists)
{
	assert_int_equal(parse("# x\n; y\n[a] # z\nb = c   d\n\tE-f_1=\"  lead\"  trail  ; no\n"),
			 0);
	assert_string_equal(value("a.b"), "c d");
	assert_string_equal(value("a.e-f_1"), "  lead trail");
	assert_int_equal(parse("[A]\r\nb = 1\r\nb = 2\r\n[a \"B c\"] d = \"c # d\" ; x\n"), 0);
	assert_string_equal(value("a.b"), "2");
	assert_string_equal(value("a.B c.d"), "c # d");
	assert_int_equal(
		parse("[a]\nb = a\\tb\\\\c\\\"d\\nz\nc = one \\\n  two \"x \\\n y\"\ne =\n"), 0);
	assert_string_equal(value("a.b"), "a\tb\\c\"d\nz");
	assert_string_equal(value("a.c"), "one  two x  y");
	assert_string_equal(value("a.e"), "");
	assert_int_equal(parse("\xef\xbb\xbf[a.b]\nd = 1 [b] e"), 0);
	assert_string_equal(value("a.b.d"), "1 [b] e");
	config_done(&c);
}

TEST(lines_that_cannot_be_read)
{
	static const struct {
		const char *text;
		int line;
	} bad[] = {
		{ "b = c\n", 1 },
		{ "[a\nb = c\n", 1 },
		{ "[a]\n1b = c\n", 2 },
		{ "[a]\nb\n", 2 },
		{ "[a]\nb = \"c\n", 2 },
		{ "[a]\nb = a\\x\n", 2 },
		{ "[ a ]\n", 1 },
		{ "[]\n", 1 },
		{ "[a]\nb c = 1\n", 2 },
		{ "[a]\nd.e = 2\n", 2 },
		{ "[a \"b\n\"]\n", 1 },
		{ "[a]\nb = 1\\", 2 },
		{ "[a]\nb = 1\nc = \"\\\n\n", 4 },
		{ "[a \"b\\", 1 },
		{ "[a \"b", 1 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i].text), bad[i].line);
	/* The lines before it have their effect. */
	assert_int_equal(parse("[a]\nb = 1\nc\n"), 3);
	assert_string_equal(value("a.b"), "1");
	config_done(&c);
}

TEST(yes_and_no)
{
	assert_int_equal(config_bool("True"), 1);
	assert_int_equal(config_bool("0"), 0);
	assert_int_equal(config_bool("less -S"), -1);
}
