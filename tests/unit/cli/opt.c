/* SPDX-License-Identifier: MIT */
#include "opt.h"

#include "unittest.h"

#include <stdlib.h>
#include <string.h>

struct args {
	bool all, ns, ours, no_inherit, no_samples;
	int verbose;
	const char *input, *cpus, *comms, *optional;
	uint64_t count;
	char calls[64]; /* the calls of set_call(), one after another */
};

struct others {
	const char *compat;
	bool help;
};

static int set_call(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct args *a = values;

	if (value && !strcmp(value, "bad"))
		return opt_error(p, "bad it is");
	strcat(strcat(a->calls, negated ? "!" : value ? value : "-"), ";");
	return 0;
}

/* clang-format off */
static const struct opt table[] = {
	OPT_FLAG('a', "all-cpus", struct args, all, "all"),
	OPT_FLAG(0, "ns", struct args, ns, "ns"),
	OPT_COUNT('v', "verbose", struct args, verbose, "more"),
	OPT_TEXT('i', "input", "FILE", struct args, input, "reads FILE"),
	OPT_TEXT('C', "cpu", "CPUS", struct args, cpus, "cpus"),
	OPT_TEXT(0, "comms", "NAMES", struct args, comms, "names"),
	OPT_U64('c', "count", "N", struct args, count, "number"),
	OPT_CALL('e', "event", "EVENT", set_call, 0, "calls"),
	OPT_CALL('o', "optional", "VALUE", set_call, OPT_VALUE_OPTIONAL, "value may be missing"),
	OPT_GROUP("More"),
	OPT_OUR_FLAG(0, "inner", struct args, ours, "not perf's"),
	OPT_OUR_FLAG(0, "commas", struct args, ours, "not perf's"),
	OPT_CALL(0, "hidden", NULL, set_call, OPT_HIDDEN | OPT_NO_NEGATION, "unseen"),
	OPT_END,
};
/* clang-format on */

/* clang-format off */
static const struct opt other_table[] = {
	OPT_TEXT(0, "compat", "VERSION", struct others, compat, "as"),
	OPT_FLAG('h', "help", struct others, help, "help"),
	OPT_END,
};
/* clang-format on */

/* clang-format off */
static const struct opt without[] = {
	OPT_FLAG('n', "no-samples", struct args, no_samples, "none"),
	OPT_FLAG(0, "no-inherit", struct args, no_inherit, "none"),
	OPT_FLAG(0, "sample-cpu", struct args, ours, "cpu"),
	OPT_END,
};
/* clang-format on */

static struct args a;
static struct others o;
static struct opt_parser p;
static char *words[16];

/* Parses a line split at spaces; returns what opt_parse() returned. */
static int parse_with(const struct opt *options, const char *line)
{
	static char copy[256];
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		words[argc++] = w;
	words[argc] = NULL;
	memset(&a, 0, sizeof(a));
	memset(&o, 0, sizeof(o));
	p.sets[0] = (struct opt_set){ options, &a };
	p.sets[1] = (struct opt_set){ other_table, &o };
	return opt_parse(&p, argc, words);
}

static int parse(const char *line)
{
	return parse_with(table, line);
}

TEST(letters_cluster_and_values_attach_or_follow)
{
	assert_int_equal(parse("-vav -c100 -i x -C 0,1"), 0);
	assert_true(a.all);
	assert_int_equal(a.verbose, 2);
	assert_int_equal(a.count, 100);
	assert_string_equal(a.input, "x");
	assert_string_equal(a.cpus, "0,1");
	assert_int_equal(parse("-ac 0x10"), 0);
	assert_true(a.all);
	assert_int_equal(a.count, 16);
	assert_int_equal(parse("-aifile"), 0);
	assert_string_equal(a.input, "file");
}

TEST(words_take_values_by_sign_or_next_word)
{
	assert_int_equal(parse("--input=a=b --count 7 --cpu="), 0);
	assert_string_equal(a.input, "a=b");
	assert_int_equal(a.count, 7);
	assert_string_equal(a.cpus, "");
}

TEST(words_may_be_cut_to_a_unique_beginning)
{
	assert_int_equal(parse("--inp x --all --he"), 0);
	assert_string_equal(a.input, "x");
	assert_true(a.all && o.help);
	/*
	 * --comm begins options of one table only, --com of both: that of the command has
	 * precedence.
	 */
	assert_int_equal(parse("--comm sh"), 0);
	assert_string_equal(a.comms, "sh");
	assert_int_equal(parse("--com sh --comp x"), 0);
	assert_string_equal(a.comms, "sh");
	assert_string_equal(o.compat, "x");
	assert_int_equal(parse("--co 1"), -1);
	assert_string_equal(p.error, "option --co could be --comms or --count");
	/* Hidden options are found by their full name only. */
	assert_int_equal(parse("--hid"), -1);
	assert_int_equal(parse("--hidden"), 0);
	assert_string_equal(a.calls, "-;");
}

TEST(negation_takes_back)
{
	assert_int_equal(
		parse("--all --ns --no-all-cpus -i x --no-input -vv --no-verbose -c 1 --no-count"),
		0);
	assert_false(a.all);
	assert_true(a.ns);
	assert_null(a.input);
	assert_int_equal(a.verbose, 0);
	assert_int_equal(a.count, 0);
	assert_int_equal(parse("-e x --no-event"), 0);
	assert_string_equal(a.calls, "x;!;");
	assert_int_equal(parse("--no-hidden"), -1);
	assert_int_equal(parse("--no-input=x"), -1);
	assert_string_equal(p.error, "option --no-input takes no value");
	/* "--n" is the beginning of --ns, not of a negation. */
	assert_int_equal(parse("--n"), 0);
	assert_true(a.ns);
}

TEST(a_word_that_begins_with_no_is_negated_by_leaving_it_out)
{
	assert_int_equal(parse_with(without, "--no-inherit -n"), 0);
	assert_true(a.no_inherit && a.no_samples);
	assert_int_equal(parse_with(without, "--no-inherit --inherit -n --samples"), 0);
	assert_false(a.no_inherit || a.no_samples);
	assert_int_equal(parse_with(without, "--no-inh --no-sam"), -1); /* --no-samples, or no
									   --sample-cpu */
	assert_int_equal(parse_with(without, "--no-inherit --inh"), 0);
	assert_false(a.no_inherit);
	assert_int_equal(parse_with(without, "--no-inherit --no-no-inherit"), 0);
	assert_false(a.no_inherit);
	/* --sample begins --sample-cpu and --samples, which negates --no-samples */
	assert_int_equal(parse_with(without, "--sample"), -1);
	assert_int_equal(parse_with(without, "--sample-c"), 0);
	assert_true(a.ours);
	assert_int_equal(parse_with(without, "--inherit=x"), -1);
	assert_string_equal(p.error, "option --inherit takes no value");
}

TEST(repeated_options_last_wins_and_calls_add_up)
{
	assert_int_equal(parse("-i x -i y -e a -e b --event=c"), 0);
	assert_string_equal(a.input, "y");
	assert_string_equal(a.calls, "a;b;c;");
}

TEST(optional_values_must_be_attached)
{
	assert_int_equal(parse("--optional -o --optional=1 -o2 -o x"), 1);
	assert_string_equal(a.calls, "-;-;1;2;-;");
	assert_string_equal(words[0], "x");
}

TEST(the_first_operand_ends_the_options)
{
	p.permute = false;
	assert_int_equal(parse("-a x.py -v --foo"), 3);
	assert_string_equal(words[0], "x.py");
	assert_string_equal(words[2], "--foo");
	assert_null(words[3]);
	assert_int_equal(a.verbose, 0);
	/* "--" is removed before the operands and kept after the first; "-" is an operand. */
	assert_int_equal(parse("-a -- -a -b"), 2);
	assert_string_equal(words[0], "-a");
	assert_int_equal(parse("x.py -- z"), 3);
	assert_string_equal(words[1], "--");
	assert_int_equal(parse("- -a"), 2);
	assert_false(a.all);
}

TEST(operands_may_be_anywhere_when_asked)
{
	p.permute = true;
	assert_int_equal(parse("x -a y -- -v"), 3);
	assert_true(a.all);
	assert_string_equal(words[0], "x");
	assert_string_equal(words[1], "y");
	assert_string_equal(words[2], "-v");
	p.permute = false;
}

TEST(errors_are_one_line_and_name_the_nearest)
{
	assert_int_equal(parse("--inptu x"), -1);
	assert_string_equal(p.error, "unknown option --inptu (nearest: --input)");
	assert_int_equal(parse("--zzzz"), -1);
	assert_string_equal(p.error, "unknown option --zzzz");
	assert_int_equal(parse("-z"), -1);
	assert_string_equal(p.error, "unknown option -z");
	assert_int_equal(parse("-ns"), -1);
	assert_string_equal(p.error, "unknown option -n (-ns is written --ns)");
	assert_int_equal(parse("-i"), -1);
	assert_string_equal(p.error, "option -i needs a value: FILE");
	assert_int_equal(parse("--input"), -1);
	assert_string_equal(p.error, "option --input needs a value: FILE");
	assert_int_equal(parse("--ns=1"), -1);
	assert_string_equal(p.error, "option --ns takes no value");
	assert_int_equal(parse("-c ten"), -1);
	assert_string_equal(p.error, "-c needs a number, not 'ten'");
	assert_int_equal(parse("-c -1"), -1);
	assert_int_equal(parse("-c 99999999999999999999"), -1);
	assert_int_equal(parse("-e bad"), -1);
	assert_string_equal(p.error, "bad it is");
}

TEST(beginnings_mean_options_of_perf_first)
{
	assert_int_equal(parse("--in x"), 0);
	assert_string_equal(a.input, "x");
	assert_int_equal(parse("--comm x"), 0);
	assert_string_equal(a.comms, "x");
	assert_int_equal(parse("--inn"), 0);
	assert_true(a.ours);
	assert_int_equal(parse("--ou"), -1); /* --optional does not begin with it */
}

static char *printed(void (*print)(const struct opt *, FILE *))
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	print(table, f);
	fclose(f);
	return text;
}

TEST(help_and_man_tell_every_option_but_hidden_ones)
{
	char *help = printed(opt_print_help), *man = printed(opt_print_man);

	assert_non_null(strstr(help, "  -i, --input FILE        reads FILE\n"));
	assert_non_null(strstr(help, "      --ns                ns\n"));
	assert_non_null(strstr(help, "  -o, --optional[=VALUE]  value may be missing\n"));
	assert_non_null(strstr(help, "\nMore:\n"));
	assert_non_null(strstr(man, "## More\n\n"));
	assert_null(strstr(help, "hidden"));
	assert_non_null(strstr(man, "*-i*, *--input* _FILE_\n\tReads FILE.\n\n"));
	assert_null(strstr(man, "hidden"));
	free(help);
	free(man);
}
