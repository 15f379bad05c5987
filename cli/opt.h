/* SPDX-License-Identifier: MIT */
/*
 * A command's options as one table, from which come parsing, help, the man page's OPTIONS and the shell's completion.
 *
 *	struct args { bool all; const char *input; };
 *	static const struct opt table[] = {
 *		OPT_FLAG('a', "all", struct args, all, "takes everything"),
 *		OPT_TEXT('i', "input", "FILE", struct args, input, "reads FILE"),
 *		OPT_END
 *	};
 *
 * What fingers know from perf holds: letters cluster (-vg), values attach or follow (-c1 -c 1 --count=1 --count 1), words
 * may be cut to a unique beginning, --no-WORD takes an option back (and --WORD one that is named no-WORD), the last of
 * several wins.
 */
#ifndef SONDE_CLI_OPT_H
#define SONDE_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_kind {
	OPT_KIND_END = 0,
	OPT_KIND_GROUP, /* no option: the heading of those that follow, in help and man page */
	OPT_KIND_FLAG,  /* bool */
	OPT_KIND_COUNT, /* int: how often it was given; --no-WORD sets 0 */
	OPT_KIND_TEXT,  /* const char *, lent from argv; --no-WORD sets NULL */
	OPT_KIND_U64,   /* uint64_t, decimal or 0x */
	OPT_KIND_CALL,  /* set() is called each time */
	/* set_key() gets the value ("1": takes none, "": an optional one left out); NULL or "0" when it is taken back */
	OPT_KIND_KEY
};

enum opt_flags {
	OPT_NO_NEGATION = 1,    /* --no-WORD is unknown */
	OPT_VALUE_OPTIONAL = 2, /* the value must be attached: -xVAL, --word=VAL; else it is NULL */
	OPT_HIDDEN = 4,         /* parsed, but told nowhere */
	OPT_OURS =
		16, /* not perf's: beginnings of words mean it only when they mean nothing else */
	OPT_NUMBER = 8 /* of OPT_KIND_KEY: a decimal number; --no-WORD is 0 */
};

struct opt_parser;

struct opt {
	enum opt_kind kind;
	char letter;       /* 0: none */
	const char *word;  /* without the dashes; NULL: none */
	/*
	 * What help calls its value; NULL: takes none. "fp|lbr|MODE": fp, lbr, or another.
	 * complete.c goes by it.
	 */
	const char *value;
	size_t offset;     /* of the member in the values' struct */
	/* value is NULL when negated or left out. 0, or -1 after opt_error(). */
	int (*set)(struct opt_parser *p, void *values, const char *value, bool negated);
	unsigned int flags; /* enum opt_flags */
	const char *key;    /* OPT_KIND_KEY: of the session's text form */
	const char *help;   /* sentences; the first begins in lower case: "reads FILE" */
};

/* offsetof() that refuses to compile when the member has another type. */
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
/* A line of the session's text form: of a value, or of a flag. */
#define OPT_KEY(letter, word, value, key, help)                                                    \
	{ OPT_KIND_KEY, letter, word, value, 0, NULL, 0, key, help }
#define OPT_NUMBER_KEY(letter, word, value, key, help)                                             \
	{ OPT_KIND_KEY, letter, word, value, 0, NULL, OPT_NUMBER, key, help }
#define OPT_OUR_FLAG(letter, word, s, m, help)                                                     \
	{ OPT_KIND_FLAG, letter, word, NULL, OPT_AT(s, m, bool), NULL, OPT_OURS, NULL, help }
#define OPT_OUR_TEXT(letter, word, value, s, m, help)                                              \
	{ OPT_KIND_TEXT, letter, word, value, OPT_AT(s, m, const char *), NULL, OPT_OURS, NULL, help }
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
	struct opt_set sets[OPT_SETS]; /* beginnings of words: the first that has one wins */
	/* For OPT_KIND_KEY; value NULL: taken back. 0, or -1 after opt_error(). */
	int (*set_key)(struct opt_parser *p, void *values, const struct opt *o, const char *value);
	/*
	 * Takes a word that is no option as one: 1 if it did, 0 if it does not, -1 after
	 * opt_error(). NULL: never.
	 */
	int (*set_word)(struct opt_parser *p, void *values, const char *word);
	bool permute;    /* options may follow operands; else these end them */
	char error[320]; /* one line when opt_parse() fails */
};

/*
 * Takes the options out of argv[0..argc). Returns how many words are left (they are moved to argv[0..n), in order, and
 * argv[n] is NULL), or -1 with p->error. A "--" ends the options and is dropped.
 */
int opt_parse(struct opt_parser *p, int argc, char **argv);
/* For set(): leaves a message; returns -1. */
int opt_error(struct opt_parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "-i, --input FILE" as help shows it; returns buf. */
const char *opt_spelling(const struct opt *o, char *buf, size_t size);
/* Lines for a terminal of 80 columns. */
void opt_print_help(const struct opt *table, FILE *out);
/* The body of a man page's OPTIONS section, in scdoc. */
void opt_print_man(const struct opt *table, FILE *out);
/* All spellings, each behind a space, as perf's --list-opts prints them. */
void opt_print_words(const struct opt *table, FILE *out);

#endif
