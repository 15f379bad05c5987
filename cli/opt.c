/* SPDX-License-Identifier: MIT */
#include "opt.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int opt_error(struct opt_parser *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->error, sizeof(p->error), fmt, ap);
	va_end(ap);
	return -1;
}

/* An option found in a table: its values, and whether it was negated. */
struct hit {
	const struct opt *opt;
	void *values;
	bool negated;
};

static bool opt_can_negate(const struct opt *o)
{
	return o->word && !(o->flags & OPT_NO_NEGATION);
}

static int opt_parse_u64(struct opt_parser *p, const char *name, const char *text, uint64_t *ret)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (end == text || *end || text[0] == '-' || errno)
		return opt_error(p, "%s needs a number, not '%s'", name, text);
	*ret = v;
	return 0;
}

static bool opt_is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")] && strlen(text) < 20;
}

static int opt_apply(struct opt_parser *p, const struct hit *h, const char *name, const char *value)
{
	const struct opt *o = h->opt;
	void *at = (char *)h->values + o->offset;

	switch (o->kind) {
	case OPT_KIND_FLAG:
		*(bool *)at = !h->negated;
		return 0;
	case OPT_KIND_COUNT:
		*(int *)at = h->negated ? 0 : *(int *)at + 1;
		return 0;
	case OPT_KIND_TEXT:
		*(const char **)at = h->negated ? NULL : value;
		return 0;
	case OPT_KIND_U64:
		if (!h->negated)
			return opt_parse_u64(p, name, value, at);
		*(uint64_t *)at = 0;
		return 0;
	case OPT_KIND_CALL:
		return o->set(p, h->values, value, h->negated);
	case OPT_KIND_KEY:
		if (!o->value)
			value = h->negated ? "0" : "1";
		else if (h->negated)
			value = o->flags & OPT_NUMBER ? "0" : NULL;
		else if (!value) /* an optional value that was omitted */
			value = "";
		else if (o->flags & OPT_NUMBER && !opt_is_number(value))
			return opt_error(p, "%s needs a number, not '%s'", name, value);
		return p->set_key(p, h->values, o, value);
	case OPT_KIND_GROUP:
	case OPT_KIND_END:
		break;
	}
	return 0;
}

static bool opt_find_letter(struct opt_parser *p, char letter, struct hit *ret)
{
	for (int i = 0; i < OPT_SETS; i++) {
		if (!p->sets[i].table)
			continue;
		opt_each(o, p->sets[i].table) {
			if (o->letter != letter)
				continue;
			*ret = (struct hit){ .opt = o, .values = p->sets[i].values };
			return true;
		}
	}
	return false;
}

static void opt_unknown_word(struct opt_parser *p, const char *word, size_t len)
{
	char typed[64];
	struct sonde_nearest near = { .size = sizeof(near), .wanted = typed };

	snprintf(typed, sizeof(typed), "%.*s", (int)len, word);
	for (int i = 0; i < OPT_SETS; i++) {
		if (!p->sets[i].table)
			continue;
		opt_each(o, p->sets[i].table)
			if (o->word && !(o->flags & OPT_HIDDEN))
				sonde_nearest_offer(&near, o->word);
	}
	if (near.meant)
		opt_error(p, "unknown option --%s (nearest: --%s)", typed, near.meant);
	else
		opt_error(p, "unknown option --%s", typed);
}

/* The ways in which a word on the command line may spell an option's name. */
enum { AS_IT_IS, WITH_NO, WITHOUT_NO, NR_WAYS };

/*
 * The texts to compare with `word` in one of these spellings: --inherit negates --no-inherit. False
 * if the option has no such spelling. *w and *len are the significant part of `word`, *name that of
 * the option's name.
 */
static bool opt_read_way(const struct opt *o, int way, const char **w, size_t *len,
			 const char **name)
{
	*name = o->word;
	if (way == AS_IT_IS)
		return true;
	if (!opt_can_negate(o))
		return false;
	if (way == WITHOUT_NO) {
		*name += 3;
		return !strncmp(o->word, "no-", 3);
	}
	if (*len <= 3 || strncmp(*w, "no-", 3))
		return false;
	*w += 3;
	*len -= 3;
	return true;
}

/*
 * The option that `word` (len bytes) names in one table: exactly, or as the unique beginning of a
 * name; an added or omitted "no-" negates. Returns 1 if found, 0 if not in this table, -1 if
 * ambiguous.
 */
static int opt_find_word_in(struct opt_parser *p, const struct opt_set *set, const char *word,
			    size_t len, struct hit *ret)
{
	const struct opt *first = NULL, *second = NULL, *ours = NULL;
	bool first_negated = false, ours_negated = false;

	opt_each(o, set->table) {
		if (!o->word)
			continue;
		for (int way = AS_IT_IS; way < NR_WAYS; way++) {
			const bool no = way != AS_IT_IS;
			const char *w = word, *name;
			size_t l = len;

			if (!opt_read_way(o, way, &w, &l, &name) || strncmp(name, w, l))
				continue;
			if (!name[l]) {
				*ret = (struct hit){ o, set->values, no };
				return 1;
			}
			if (o->flags & OPT_HIDDEN)
				continue;
			if (o->flags & OPT_OURS) {
				ours = o;
				ours_negated = no;
			} else if (!first) {
				first = o;
				first_negated = no;
			} else if (first != o) {
				second = o;
			}
		}
	}
	if (second) {
		opt_error(p, "option --%.*s could be --%s or --%s", (int)len, word, first->word,
			  second->word);
		return -1;
	}
	if (!first) {
		first = ours;
		first_negated = ours_negated;
	}
	if (!first)
		return 0;
	*ret = (struct hit){ first, set->values, first_negated };
	return 1;
}

/*
 * The command's own options are searched first, so that a global option never makes one of them
 * ambiguous.
 */
static int opt_find_word(struct opt_parser *p, const char *word, size_t len, struct hit *ret)
{
	for (int i = 0; i < OPT_SETS; i++) {
		int found = p->sets[i].table ? opt_find_word_in(p, &p->sets[i], word, len, ret) : 0;

		if (found)
			return found;
	}
	opt_unknown_word(p, word, len);
	return -1;
}

/* True if the word after argv[0] is not the option's value. */
static bool opt_omits_value(const struct opt *o, int argc, char **argv)
{
	if (o->flags & OPT_VALUE_OPTIONAL)
		return true;
	return o->flags & OPT_VALUE_DEFAULT && (argc < 2 || argv[1][0] == '-');
}

/* --word, --word=value, --word value. Returns the number of words used, or -1. */
static int opt_parse_long(struct opt_parser *p, int argc, char **argv)
{
	const char *word = argv[0] + 2, *value = strchr(word, '=');
	size_t len = value ? (size_t)(value - word) : strlen(word);
	struct hit h;
	int taken = 1;

	if (opt_find_word(p, word, len, &h) < 0)
		return -1;
	if (value)
		value++;
	if (value && (!h.opt->value || h.negated))
		return opt_error(p, "option --%.*s takes no value", (int)len, word);
	if (h.opt->value && !h.negated && !value && !opt_omits_value(h.opt, argc, argv)) {
		if (argc < 2)
			return opt_error(p, "option --%s needs a value: %s", h.opt->word,
					 h.opt->value);
		value = argv[1];
		taken = 2;
	}
	return opt_apply(p, &h, argv[0], value) < 0 ? -1 : taken;
}

static int opt_unknown_letter(struct opt_parser *p, const char *arg, char letter)
{
	const char *word = arg + 1;
	size_t len = strcspn(word, "=");
	struct hit h;

	/* -comms: was a single dash meant as two? */
	if (len > 1)
		for (int i = 0; i < OPT_SETS; i++)
			if (p->sets[i].table &&
			    opt_find_word_in(p, &p->sets[i], word, len, &h) == 1)
				return opt_error(p, "unknown option -%c (%s is written --%s)",
						 letter, arg, h.opt->word);
	if (letter < ' ' || letter > '~')
		return opt_error(p, "unknown option in '%s'", arg);
	return opt_error(p, "unknown option -%c", letter);
}

/* -a, -abc, -cVALUE, -c VALUE. Returns the number of words used, or -1. */
static int opt_parse_letters(struct opt_parser *p, int argc, char **argv)
{
	for (const char *c = argv[0] + 1; *c; c++) {
		char name[3] = { '-', *c, 0 };
		const char *value = NULL;
		struct hit h;
		int taken = 1;

		if (!opt_find_letter(p, *c, &h))
			return opt_unknown_letter(p, argv[0], *c);
		if (!h.opt->value) {
			if (opt_apply(p, &h, name, NULL) < 0)
				return -1;
			continue;
		}
		if (c[1]) {
			value = c + 1;
		} else if (!opt_omits_value(h.opt, argc, argv)) {
			if (argc < 2)
				return opt_error(p, "option %s needs a value: %s", name,
						 h.opt->value);
			value = argv[1];
			taken = 2;
		}
		return opt_apply(p, &h, name, value) < 0 ? -1 : taken;
	}
	return 1;
}

int opt_parse(struct opt_parser *p, int argc, char **argv)
{
	int left = 0, i = 0;

	p->error[0] = 0;
	while (i < argc) {
		char *arg = argv[i];
		int taken;

		if (arg[0] != '-' || !arg[1]) {
			taken = p->set_word ? p->set_word(p, p->sets[0].values, arg) : 0;
			if (taken < 0)
				return -1;
			i += taken;
			if (taken)
				continue;
			if (!p->permute)
				break;
			argv[left++] = arg;
			i++;
			continue;
		}
		if (!strcmp(arg, "--")) {
			i++;
			break;
		}
		taken = arg[1] == '-' ? opt_parse_long(p, argc - i, argv + i)
				      : opt_parse_letters(p, argc - i, argv + i);
		if (taken < 0)
			return -1;
		i += taken;
	}
	while (i < argc)
		argv[left++] = argv[i++];
	argv[left] = NULL;
	return left;
}
