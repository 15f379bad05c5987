/* SPDX-License-Identifier: MIT */
/*
 * A command's options as one table, which drives parsing, help, the man page's OPTIONS and the
 * shell's completion.
 *
 *	struct args { bool all; const char *input; };
 *	static const struct opt table[] = {
 *		OPT_FLAG('a', "all", struct args, all, "takes everything"),
 *		OPT_TEXT('i', "input", "FILE", struct args, input, "reads FILE"),
 *		OPT_END
 *	};
 *
 * The syntax is perf's. Letters may be joined (-vg). A value is attached or is the next word (-c1
 * -c 1 --count=1 --count 1). A word may be shortened to a unique beginning. --no-WORD negates an
 * option, and --WORD negates an option named no-WORD. If an option is repeated, the last one wins.
 */
#ifndef SONDE_CLI_OPT_H
#define SONDE_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_kind {
	OPT_KIND_END = 0,
	/* not an option but the heading of the following options, in help and man page */
	OPT_KIND_GROUP,
	OPT_KIND_FLAG,  /* bool */
	OPT_KIND_COUNT, /* int: number of times given; --no-WORD sets 0 */
	OPT_KIND_TEXT,  /* const char *, borrowed from argv; --no-WORD sets NULL */
	OPT_KIND_U64,   /* uint64_t, decimal or 0x */
	OPT_KIND_CALL,  /* set() is called for each use */
	/*
	 * set_key() gets the value: "1" if the option takes none, "" if an optional value is
	 * omitted, NULL or "0" if the option is negated.
	 */
	OPT_KIND_KEY
};

enum opt_flags {
	OPT_NO_NEGATION = 1, /* --no-WORD is unknown */
	/* only an attached value counts (-xVAL, --word=VAL); else it is NULL */
	OPT_VALUE_OPTIONAL = 2,
	OPT_HIDDEN = 4, /* parsed, but not in help, man page or completion */
	/*
	 * perf does not have this option: a shortened word selects it only if no other option
	 * matches.
	 */
	OPT_OURS = 16,
	OPT_NUMBER = 8, /* for OPT_KIND_KEY: a decimal number; --no-WORD is 0 */
	/*
	 * The value may be omitted if the option is the last word or is followed by another option;
	 * the value is then NULL.
	 */
	OPT_VALUE_DEFAULT = 32
};

struct opt_parser;

struct opt {
	enum opt_kind kind;
	char letter;      /* 0 if none */
	const char *word; /* without the dashes; NULL if none */
	/*
	 * Name of the value in help; NULL if the option takes none. "fp|lbr|MODE" means fp, lbr or
	 * any other. complete.c uses it.
	 */
	const char *value;
	size_t offset; /* offset of the member in the struct of values */
	/* value is NULL if negated or omitted. Returns 0, or -1 after opt_error(). */
	int (*set)(struct opt_parser *p, void *values, const char *value, bool negated);
	unsigned int flags; /* enum opt_flags */
	const char *key;    /* OPT_KIND_KEY: key in the session's text form */
	const char *help;   /* sentences; the first begins in lower case: "reads FILE" */
};

/* offsetof() that compiles only if the member has this type. */
#define OPT_AT(s, m, type) (offsetof(s, m) + 0 * sizeof((type *)0 == &((s *)0)->m))

/* clang-format off */
#define OPT_FLAG(letter, word, s, m, help)                                                         \
	{ OPT_KIND_FLAG, letter, word, NULL, OPT_AT(s, m, bool), NULL, 0, NULL, help }
#define OPT_COUNT(letter, word, s, m, help)                                                        \
	{ OPT_KIND_COUNT, letter, word, NULL, OPT_AT(s, m, int), NULL, 0, NULL, help }
#define OPT_TEXT(letter, word, value, s, m, help)                                                  \
	{ OPT_KIND_TEXT, letter, word, value, OPT_AT(s, m, const char *), NULL, 0, NULL, help }
#define OPT_U64(letter, word, value, s, m, help)                                                   \
	{ OPT_KIND_U64, letter, word, value, OPT_AT(s, m, uint64_t), NULL, 0, NULL, help }
#define OPT_CALL(letter, word, value, set, flags, help)                                            \
	{ OPT_KIND_CALL, letter, word, value, 0, set, flags, NULL, help }
/* Options that are lines of the session's text form: one with a value, one as a flag. */
#define OPT_KEY(letter, word, value, key, help)                                                    \
	{ OPT_KIND_KEY, letter, word, value, 0, NULL, 0, key, help }
#define OPT_NUMBER_KEY(letter, word, value, key, help)                                             \
	{ OPT_KIND_KEY, letter, word, value, 0, NULL, OPT_NUMBER, key, help }
#define OPT_OUR_FLAG(letter, word, s, m, help)                                                     \
	{ OPT_KIND_FLAG, letter, word, NULL, OPT_AT(s, m, bool), NULL, OPT_OURS, NULL, help }
#define OPT_OUR_TEXT(letter, word, value, s, m, help)                                              \
	{ OPT_KIND_TEXT, letter, word, value, OPT_AT(s, m, const char *), NULL, OPT_OURS, NULL, \
		help }
#define OPT_OUR_KEY(letter, word, value, key, help)                                                \
	{ OPT_KIND_KEY, letter, word, value, 0, NULL, OPT_OURS, key, help }
#define OPT_GROUP(heading)                                                                         \
	{ OPT_KIND_GROUP, 0, NULL, NULL, 0, NULL, 0, NULL, heading }
#define OPT_END { OPT_KIND_END, 0, NULL, NULL, 0, NULL, 0, NULL, NULL }
/* clang-format on */

#define opt_each(o, table) for (const struct opt *o = (table); o->kind; o++)

struct opt_set {
	const struct opt *table;
	void *values; /* the struct that the table's offsets are for */
};

#define OPT_SETS 2

struct opt_parser {
	struct opt_set sets[OPT_SETS]; /* shortened words: the first set that matches wins */
	/* Called for OPT_KIND_KEY. value is NULL if negated. Returns 0, or -1 after opt_error(). */
	int (*set_key)(struct opt_parser *p, void *values, const struct opt *o, const char *value);
	/*
	 * May take a word that is not an option. Returns 1 if it did, 0 if not, -1 after
	 * opt_error(). NULL if no such word is taken.
	 */
	int (*set_word)(struct opt_parser *p, void *values, const char *word);
	bool permute;    /* options may follow operands; else the first operand ends the options */
	char error[320]; /* one line if opt_parse() fails */
};

/*
 * Removes the options from argv[0..argc). Returns the number of remaining words (moved to
 * argv[0..n) in order; argv[n] is NULL), or -1 with p->error. "--" ends the options and is removed.
 */
int opt_parse(struct opt_parser *p, int argc, char **argv);
/* For set(): stores a message; returns -1. */
int opt_error(struct opt_parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "-i, --input FILE" as in help; returns buf. */
const char *opt_spelling(const struct opt *o, char *buf, size_t size);
/* Prints lines for a terminal of 80 columns. */
void opt_print_help(const struct opt *table, FILE *out);
/* Prints the body of a man page's OPTIONS section, in scdoc. */
void opt_print_man(const struct opt *table, FILE *out);
/* Prints all spellings, each after a space, as perf's --list-opts does. */
void opt_print_words(const struct opt *table, FILE *out);

#endif
