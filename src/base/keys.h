/* SPDX-License-Identifier: MIT */
/*
 * The text form of a struct: lines "key=value" are stored in members that a table names.
 *
 *	struct box { char *name; uint64_t size; uint32_t open; };
 *	static const struct key keys[] = {
 *		KEY_TEXT("name", struct box, name),
 *		KEY_NUMBER("size", struct box, size, 0, 1 << 20),
 *		KEY_FLAG("open", struct box, open),
 *	};
 *	struct box b;
 *	keys_init(keys, 3, &b, sizeof(b));
 *	TRY(key_sets_parse(&(struct key_set){ keys, 3, &b }, 1, "name=x\nopen=1\n", "box"));
 *	keys_done(keys, 3, &b);
 *
 * Empty lines and lines that begin with # are ignored. If a key is repeated, its last line counts.
 */
#ifndef SONDE_BASE_KEYS_H
#define SONDE_BASE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"

enum key_kind {
	KEY_KIND_TEXT,   /* char *, owned; NULL if not given */
	KEY_KIND_NUMBER, /* uint64_t, decimal or 0x; KEY_NO_NUMBER if not given */
	KEY_KIND_WORD,   /* uint32_t: index in `words` */
	/* char *, owned: the lines of this key and of neighbouring keys with the same member */
	KEY_KIND_LINES,
};

struct key {
	const char *name;
	size_t offset;
	enum key_kind kind;
	const char *const *words; /* ended by NULL */
	uint64_t min, max;
};

#define KEY_NO_NUMBER UINT64_MAX

extern const char *const key_flag_words[]; /* "0", "1" */

#define KEY_TEXT(name, s, m)                                    \
	{                                                       \
		name, offsetof(s, m), KEY_KIND_TEXT, NULL, 0, 0 \
	}
#define KEY_LINES(name, s, m)                                    \
	{                                                        \
		name, offsetof(s, m), KEY_KIND_LINES, NULL, 0, 0 \
	}
#define KEY_NUMBER(name, s, m, min, max)                              \
	{                                                             \
		name, offsetof(s, m), KEY_KIND_NUMBER, NULL, min, max \
	}
#define KEY_WORD(name, s, m, words)                              \
	{                                                        \
		name, offsetof(s, m), KEY_KIND_WORD, words, 0, 0 \
	}
#define KEY_FLAG(name, s, m) KEY_WORD(name, s, m, key_flag_words)

/* Sets all bytes of *to to 0, and its numbers to KEY_NO_NUMBER. */
void keys_init(const struct key *keys, size_t nr, void *to, size_t bytes);

/*
 * The keys of one struct, and the struct that receives them. One text may fill several structs. A
 * key that is in several sets is stored in each.
 */
struct key_set {
	const struct key *keys;
	size_t nr;
	void *to;
};

/*
 * -EINVAL: the message names origin, line, key and the accepted values. Values set before the
 * failure stay; keys_done() frees them.
 */
int key_sets_parse(const struct key_set *sets, size_t nr_sets, const char *text,
		   const char *origin);
/*
 * Appends the text form. A key that is in several sets is printed once, with the value of the first
 * set.
 */
void key_sets_print(const struct key_set *sets, size_t nr_sets, struct outbuf *out);
/* Frees the texts. */
void keys_done(const struct key *keys, size_t nr, void *of);

#endif
