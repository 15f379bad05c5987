/* SPDX-License-Identifier: MIT */
/* Prints the option table: help, man page, completion. */
#include "opt.h"

#include <string.h>

#define HELP_COLUMN 26 /* where the sentences begin */
#define HELP_WIDTH  80

const char *opt_spelling(const struct opt *o, char *buf, size_t size)
{
	bool optional = o->flags & OPT_VALUE_OPTIONAL;
	char value[64] = "";

	if (o->value && o->flags & OPT_VALUE_DEFAULT)
		snprintf(value, sizeof(value), " [%s]", o->value);
	else if (o->value && optional)
		snprintf(value, sizeof(value), "[%s%s]", o->word ? "=" : "", o->value);
	else if (o->value)
		snprintf(value, sizeof(value), " %s", o->value);
	if (o->letter && o->word)
		snprintf(buf, size, "-%c, --%s%s", o->letter, o->word, value);
	else if (o->letter)
		snprintf(buf, size, "-%c%s", o->letter, value);
	else
		snprintf(buf, size, "    --%s%s", o->word, value);
	return buf;
}

static void print_wrapped(const char *text, int column, FILE *out)
{
	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > HELP_COLUMN && column + 1 + (int)word > HELP_WIDTH) {
			fprintf(out, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (column > HELP_COLUMN) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, word, out);
		column += (int)word;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void opt_print_help(const struct opt *table, FILE *out)
{
	opt_each(o, table) {
		char buf[128];
		int column;

		if (o->flags & OPT_HIDDEN)
			continue;
		if (o->kind == OPT_KIND_GROUP) {
			fprintf(out, "%s%s:\n", o == table ? "" : "\n", o->help);
			continue;
		}
		column = fprintf(out, "  %s", opt_spelling(o, buf, sizeof(buf)));
		if (column > HELP_COLUMN - 2) {
			fputc('\n', out);
			column = 0;
		}
		fprintf(out, "%*s", HELP_COLUMN - column, "");
		print_wrapped(o->help, HELP_COLUMN, out);
	}
}

/*
 * scdoc reads _, * and # as markup and a backslash as an escape. It ignores an underscore inside a
 * word, but a backslash in front of it does no harm.
 */
static void print_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("_*\\#", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

void opt_print_man(const struct opt *table, FILE *out)
{
	opt_each(o, table) {
		if (o->flags & OPT_HIDDEN)
			continue;
		if (o->kind == OPT_KIND_GROUP) {
			fprintf(out, "## %s\n\n", o->help);
			continue;
		}
		if (o->letter)
			fprintf(out, "*-%c*", o->letter);
		if (o->letter && o->word)
			fputs(", ", out);
		if (o->word)
			fprintf(out, "*--%s*", o->word);
		if (o->value && (o->flags & OPT_VALUE_OPTIONAL))
			fprintf(out, "[%s_%s_]", o->word ? "=" : "", o->value);
		else if (o->value && o->flags & OPT_VALUE_DEFAULT)
			fprintf(out, " [_%s_]", o->value);
		else if (o->value)
			fprintf(out, " _%s_", o->value);
		fputs("\n\t", out);
		if (o->help[0] >= 'a' && o->help[0] <= 'z') {
			fputc(o->help[0] - 'a' + 'A', out);
			print_escaped(o->help + 1, out);
		} else {
			print_escaped(o->help, out);
		}
		fprintf(out, "%s\n\n", o->help[strlen(o->help) - 1] == '.' ? "" : ".");
	}
}

void opt_print_words(const struct opt *table, FILE *out)
{
	opt_each(o, table) {
		if (o->flags & OPT_HIDDEN)
			continue;
		if (o->letter)
			fprintf(out, " -%c", o->letter);
		if (o->word)
			fprintf(out, " --%s", o->word);
	}
}
