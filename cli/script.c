/* SPDX-License-Identifier: MIT */
#include "script.h"

#include "generate.h"
#include "json.h"
#include "nearest.h"
#include "programs.h"
#include "script_env.h"
#include "script_find.h"
#include "script_input.h"
#include "script_list.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* One entry per language. Those without a module are known so that the message can say so. */
/* clang-format off */
const struct language script_languages[] = {
	{ .name = "Python", .prefixes = WORDS("python", "py"), .suffixes = WORDS("py"), .folder = "python",
	  .programs = WORDS("python", "pypy"), .prelude = "python/prelude.py", .holds_interrupts = true, .find = interpreter_python,
	  .generate = generate_python,
	  .package = "sonde's Python module (in Debian it needs python3-dev to be built)" },
	{ .name = "Perl", .prefixes = WORDS("perl", "pl"), .suffixes = WORDS("pl"), .folder = "perl",
	  .programs = WORDS("perl"), .prelude = "perl/lib/Sonde/Prelude.pm", .module = "Sonde::Prelude", .find = interpreter_perl,
	  .generate = generate_perl,
	  .package = "sonde's Perl module (in Debian it needs libperl-dev to be built)" },
	{ .name = "Lua", .prefixes = WORDS("lua"), .suffixes = WORDS("lua"), .programs = WORDS("lua") },
	{ .name = "Ruby", .prefixes = WORDS("ruby", "rb"), .suffixes = WORDS("rb"), .programs = WORDS("ruby") },
	{ .name = NULL },
};
/* clang-format on */

#define each_language(l) for (const struct language *l = script_languages; l->name; l++)

/* Where a prelude lies: $SONDE_LIBDIR, else with this program. To be released with free(), NULL when it is nowhere. */
static char *find_prelude(const struct language *l)
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

/* The folder below which scripts of this language find scripts/LANGUAGE/...; NULL: no memory. */
static char *language_lib(const struct language *l, const char *prelude)
{
	const char *end = l->module ? strstr(prelude, "/Sonde/") : strrchr(prelude, '/');
	char *path;

	return asprintf(&path, "%.*s%s", (int)(end - prelude), prelude, l->module ? "" : "/lib") < 0
		       ? NULL
		       : path;
}

char *script_exec_path(void)
{
	const char *said = script_exec_path_said();
	char *prelude = said ? NULL : find_prelude(script_languages), *path;

	if (said)
		return strdup(said);
	path = prelude ? language_lib(script_languages, prelude) : NULL;
	free(prelude);
	return path;
}

bool script_language_is_ready(const struct language *l)
{
	char *prelude = l->find ? find_prelude(l) : NULL;

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

static bool listed(const char *const *list, const char *word, size_t len)
{
	for (; *list; list++)
		if (strlen(*list) == len && !strncasecmp(*list, word, len))
			return true;
	return false;
}

static const struct language *by_shebang(const char *file)
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

/* Of a place, by a name that may be without a suffix; to be released with free(), NULL when there is none. */
static char *find_named(const struct script_places *places, const struct language *only,
			const char *name, bool add_suffix, const struct language **ret)
{
	char *path = only ? script_places_file(places, only, name) : NULL;

	*ret = only;
	each_language(l) {
		for (const char *const *s = l->suffixes; add_suffix && !path && *s; s++) {
			char *file;

			if ((only && only != l) || asprintf(&file, "%s.%s", name, *s) < 0)
				continue;
			path = script_places_file(places, l, file);
			*ret = l;
			free(file);
		}
	}
	return path;
}

const struct language *script_language_called(const char *name, size_t len)
{
	each_language(l)
		if (listed(l->prefixes, name, len))
			return l;
	return NULL;
}

const struct language *script_language_by_suffix(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (dot && !strchr(dot, '/'))
		each_language(l)
			if (listed(l->suffixes, dot + 1, strlen(dot + 1)))
				return l;
	return NULL;
}

/* A file of the current folder comes first; its user may not know that it is there. */
static void tell_of_shadow(const struct script_places *places, const struct language *l,
			   const char *file)
{
	const struct language *of;
	struct stat here, there;
	char *path = find_named(places, l, file, true, &of);

	if (path && !stat(file, &here) && !stat(path, &there) &&
	    (here.st_dev != there.st_dev || here.st_ino != there.st_ino))
		cli_say("script: ./%s is run; it shadows %s, which is found by that name elsewhere",
			file, path);
	free(path);
}

/* [LANG:]SCRIPT as a language and a file: that of this name, else one in a place. -1 after telling what is wrong. */
static int identify(const struct cli *cli, const struct script_places *places, const char *name,
		    const struct language **ret, char **ret_file)
{
	const char *colon = strchr(name, ':'), *file = name;
	const struct language *l, *found = NULL;
	bool there = !access(name, F_OK);
	char *path;

	if (colon && !there) {
		file = colon + 1;
		l = script_language_called(name, (size_t)(colon - name));
		if (!l) {
			cli_say("script: no language '%.*s'; 'sonde script -s lang' lists them",
				(int)(colon - name), name);
			return -1;
		}
	} else {
		l = script_language_by_suffix(name);
		l = l ? l : by_shebang(name);
	}
	if (!access(file, R_OK)) {
		path = l ? strdup(file) : NULL;
		if (path && !cli_compat(cli) && !strchr(file, '/'))
			tell_of_shadow(places, l, file);
	} else {
		path = find_named(places, l, file, !cli_compat(cli), &found);
	}
	if (!path && l)
		path = strdup(file);
	else if (path)
		l = l ? l : found;
	if (path) {
		*ret = l;
		*ret_file = path;
		return 0;
	}
	if (!there && strchr(name, '/'))
		cli_say("script: there is no file '%s'", name);
	else if (!there)
		script_list_tell_nearest(places, name);
	else
		cli_say("script: the language of '%s' is not known: give it as -s LANG:%s", name,
			name);
	return -1;
}

/* Leaves bytes behind in a descriptor that the interpreter inherits, whose number stands in a variable. */
static int hand_over(const char *what, const char *variable, const char *bytes, size_t len)
{
	int fd = memfd_create(what, 0);
	char number[16];
	size_t put = 0;

	if (fd < 0)
		return -1;
	while (put < len) {
		ssize_t n = write(fd, bytes + put, len - put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		put += (size_t)n;
	}
	snprintf(number, sizeof(number), "%d", fd);
	return lseek(fd, 0, SEEK_SET) < 0 ? -1 : setenv(variable, number, 1);
}

/* Names and values of all files, in the order in which they hold, each ended by a NUL. */
static int hand_over_config(const struct config *c)
{
	char *bytes = NULL;
	size_t len = 0;
	FILE *f;
	int r = -1;

	if (!c->nr_entries)
		return unsetenv("SONDE_CONFIG_FD");
	f = open_memstream(&bytes, &len);
	if (!f)
		return -1;
	for (size_t i = 0; i < c->nr_entries; i++)
		fprintf(f, "%s%c%s%c", c->entries[i].name, 0,
			c->entries[i].value ? c->entries[i].value : "", 0);
	if (!fclose(f))
		r = hand_over("sonde-config", "SONDE_CONFIG_FD", bytes, len);
	free(bytes);
	return r;
}

/* What the prelude is told by its environment. */
static int set_environment(const struct cli *cli, const struct script *s, const char *why)
{
	char level[16];

	snprintf(level, sizeof(level), "%d", (int)cli->verbose);
	unsetenv("SONDE_STRICT");
	if (setenv("SONDE_VERBOSE", level, 1) || (why && setenv("SONDE_INTERPRETER_WHY", why, 1)))
		return -1;
	if ((s->strict.any || s->strict.loss) &&
	    setenv("SONDE_STRICT", s->strict.any ? "1" : "loss", 1))
		return -1;
	return cli->verbose > 1 ? setenv("SONDE_PRELUDE_VERBOSE", "1", 1) : 0;
}

/* INTERPRETER PRELUDE SCRIPT ARGS, or INTERPRETER -IFOLDER -MMODULE -- SCRIPT ARGS; NULL: no memory. */
static char **command_line(const struct script *s, const struct language *l,
			   const char *interpreter, const char *prelude, const char *file)
{
	char **argv = calloc((size_t)s->nr_args + 6, sizeof(*argv)), *folder, *module;
	int n = 0;

	if (!argv)
		return NULL;
	argv[n++] = (char *)interpreter;
	if (!l->module) {
		argv[n++] = (char *)prelude;
	} else {
		/* FOLDER/Sonde/Prelude.pm is Sonde::Prelude */
		if (asprintf(&folder, "-I%.*s", (int)(strstr(prelude, "/Sonde/") - prelude),
			     prelude) < 0 ||
		    asprintf(&module, "-M%s", l->module) < 0)
			return NULL;
		argv[n++] = folder;
		argv[n++] = module;
		argv[n++] = "--"; /* a script may be called -e.pl */
	}
	argv[n++] = (char *)file;
	memcpy(argv + n, s->args, (size_t)s->nr_args * sizeof(*argv));
	return argv;
}

/* Until the prelude takes them: the interpreter's own start would report one as a failure. */
static void hold_interrupts(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int start(const struct cli *cli, const struct script *s, const struct language *l,
		 const char *interpreter, const char *why, const char *prelude, const char *file)
{
	char **argv = command_line(s, l, interpreter, prelude, file), *lib;

	if (!argv ||
	    hand_over("sonde-session", "SONDE_SESSION_FD", s->session, strlen(s->session)) < 0 ||
	    hand_over_config(&cli->config) < 0 ||
	    set_environment(cli, s, l->module ? NULL : why) < 0) {
		cli_say("cannot hand the session over to the interpreter: %m");
		free(argv);
		return cli_status(cli, CLI_FAILED);
	}
	lib = language_lib(l, prelude);
	if (script_env_set(cli, lib) < 0) {
		free(lib);
		free(argv);
		return cli_status(cli, CLI_FAILED);
	}
	free(lib);
	fflush(stdout);
	if (l->holds_interrupts)
		hold_interrupts();
	execv(interpreter, argv);
	cli_say("cannot run %s: %m", interpreter);
	free(argv);
	return cli_status(cli, CLI_FAILED);
}

/*
 * Options of ours behind a script's name are the script's; -i is the one that changes what is read
 * without a word.
 */
static void warn_of_input(const struct cli *cli, const struct script *s, const char *file)
{
	const char *given = cli_compat(cli) ? NULL : script_input_behind(s->nr_args, s->args);
	const char *line = s->session;

	if (!given || script_input_is_own_option(file))
		return;
	while (line && strncmp(line, "input=", 6)) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	cli_say("script: '-i %s' follows the script's name, so the script gets it and sonde reads "
		"%.*s; to read %s: sonde script -i %s %s",
		given, line ? (int)strcspn(line + 6, "\n") : 9, line ? line + 6 : "perf.data",
		given, given, s->name);
}

static int run_in(const struct cli *cli, const struct script *s, const struct language *l,
		  const char *file)
{
	char *prelude = NULL, *interpreter = NULL;
	const char *why = NULL;
	int status = cli_status(cli, CLI_FAILED);

	if (access(file, R_OK)) {
		cli_say("cannot open the script '%s': %m", file);
		return s->positional && cli_compat(cli) ? cli_status(cli, CLI_USAGE) : status;
	}
	if (!l->find) {
		cli_say("'%s' is a %s script: sonde has no module for %s yet", file, l->name,
			l->name);
		return status;
	}
	warn_of_input(cli, s, file);
	prelude = find_prelude(l);
	if (!prelude)
		cli_say("'%s' is a %s script, and %s is not installed", file, l->name, l->package);
	else if (!l->find(s, file, &interpreter, &why)) {
		if (cli->verbose)
			cli_say("%s runs the script (%s)", interpreter, why);
		status = start(cli, s, l, interpreter, why, prelude, file);
	}
	free(interpreter);
	free(prelude);
	return status;
}

int script_run(const struct cli *cli, const struct script *s)
{
	struct script_places places;
	const struct language *l;
	int status = cli_status(cli, CLI_FAILED);
	char *file;

	if (script_places_list(cli, &places) < 0)
		return status;
	if (identify(cli, &places, s->name, &l, &file) < 0) {
		status = cli_status(cli, CLI_USAGE);
	} else {
		status = run_in(cli, s, l, file);
		free(file);
	}
	script_places_done(&places);
	return status;
}
