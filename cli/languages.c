/* SPDX-License-Identifier: MIT */
#include "languages.h"

#include "json.h"
#include "programs.h"
#include "skeleton.h"
#include "starter.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* One entry per language. Languages without a module are listed so that the message can say so. */
/* clang-format off */
const struct language script_languages[] = {
	{ .name = "Python", .prefixes = WORDS("python", "py"), .suffixes = WORDS("py"),
		.folder = "python",
	  .programs = WORDS("python", "pypy"), .prelude = "python/prelude.py",
	  	.holds_interrupts = true, .find = interpreter_python,
	  .generate = generate_python, .start = starter_python,
	  .package = "sonde's Python module (in Debian it needs python3-dev to be built)" },
	{ .name = "Perl", .prefixes = WORDS("perl", "pl"), .suffixes = WORDS("pl"),
		.folder = "perl",
	  .programs = WORDS("perl"), .prelude = "perl/lib/Sonde/Prelude.pm",
	  	.module = "Sonde::Prelude", .find = interpreter_perl,
	  .code_line = "#line 1 \"-e\"\n",
	  .generate = generate_perl, .start = starter_perl,
	  .package = "sonde's Perl module (in Debian it needs libperl-dev to be built)" },
	{ .name = "Lua", .prefixes = WORDS("lua"), .suffixes = WORDS("lua"),
		.programs = WORDS("lua") },
	{ .name = "Ruby", .prefixes = WORDS("ruby", "rb"), .suffixes = WORDS("rb"),
		.programs = WORDS("ruby") },
	{ .name = NULL },
};
/* clang-format on */

char *script_language_prelude(const struct language *l)
{
	const char *forced = getenv("SONDE_LIBDIR");
	char *path = NULL, *built = NULL, *installed = NULL;

	if (forced) {
		if (asprintf(&path, "%s/%s", forced, l->prelude) < 0)
			return NULL;
		installed = realpath(path, NULL);
		free(path);
		return installed;
	}
	if (asprintf(&built, "bindings/%s", l->prelude) < 0)
		return NULL;
	if (asprintf(&installed, "sonde/%s", l->prelude) >= 0) {
		path = programs_own_file(built, SONDE_LIBDIR, installed);
		free(installed);
	}
	free(built);
	return path;
}

char *script_language_lib(const struct language *l, const char *prelude)
{
	const char *end = l->module ? strstr(prelude, "/Sonde/") : strrchr(prelude, '/');
	char *path;

	return asprintf(&path, "%.*s%s", (int)(end - prelude), prelude, l->module ? "" : "/lib") < 0
		       ? NULL
		       : path;
}

bool script_language_is_ready(const struct language *l)
{
	char *prelude = l->find ? script_language_prelude(l) : NULL;

	free(prelude);
	return prelude != NULL;
}

void script_languages_print_json(void)
{
	json_begin("languages");
	fputs(",\"languages\":[", stdout);
	each_language(l) {
		fputs(l == script_languages ? "\n{\"name\":" : ",\n{\"name\":", stdout);
		json_put_string(l->name);
		fputs(",\"prefixes\":[", stdout);
		for (const char *const *p = l->prefixes; *p; p++) {
			fputs(p == l->prefixes ? "" : ",", stdout);
			json_put_string(*p);
		}
		fputs("],\"suffixes\":[", stdout);
		for (const char *const *s = l->suffixes; *s; s++) {
			fputs(s == l->suffixes ? "" : ",", stdout);
			json_put_string(*s);
		}
		printf("],\"ready\":%s}", script_language_is_ready(l) ? "true" : "false");
	}
	puts("]}");
}

void script_languages_print(FILE *out)
{
	fputs("Languages of scripts (sonde script -s [LANG:]SCRIPT):\n\n", out);
	each_language(l) {
		const char *state = script_language_is_ready(l) ? "ready"
				    : l->find                   ? "not installed"
								: "not there yet";

		fprintf(out, "  %-8s", l->name);
		for (const char *const *p = l->prefixes; *p; p++)
			fprintf(out, " %s:", *p);
		for (const char *const *s = l->suffixes; *s; s++)
			fprintf(out, " *.%s", *s);
		fprintf(out, "  %s\n", state);
	}
}

static bool language_list_has(const char *const *list, const char *word, size_t len)
{
	for (; *list; list++)
		if (strlen(*list) == len && !strncasecmp(*list, word, len))
			return true;
	return false;
}

const struct language *script_language_by_first_line(const char *file)
{
	char program[PATH_MAX];
	const char *base;

	if (!interpreter_shebang(file, program, sizeof(program)))
		return NULL;
	base = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	each_language(l)
		for (const char *const *p = l->programs; *p; p++)
			if (!strncmp(base, *p, strlen(*p)))
				return l;
	return NULL;
}

const struct language *script_language_called(const char *name, size_t len)
{
	each_language(l)
		if (language_list_has(l->prefixes, name, len))
			return l;
	return NULL;
}

const struct language *script_language_by_suffix(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (dot && !strchr(dot, '/'))
		each_language(l)
			if (language_list_has(l->suffixes, dot + 1, strlen(dot + 1)))
				return l;
	return NULL;
}
