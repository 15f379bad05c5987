/* SPDX-License-Identifier: MIT */
#include "script.h"

#include "generate.h"
#include "nearest.h"
#include "perf_path.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* One entry per language. Those without a module are known so that the message can say so. */
/* clang-format off */
const struct language script_languages[] = {
	{ .name = "Python", .prefixes = WORDS("python", "py"), .suffixes = WORDS("py"), .folder = "python",
	  .programs = WORDS("python", "pypy"), .prelude = "python/prelude.py", .find = interpreter_python,
	  .generate = generate_python,
	  .package = "sonde's Python module (in Debian it needs python3-dev to be built)" },
	{ .name = "Perl", .prefixes = WORDS("perl", "pl"), .suffixes = WORDS("pl"), .folder = "perl",
	  .programs = WORDS("perl"), .prelude = "perl/lib/Sonde/Prelude.pm", .module = "Sonde::Prelude", .find = interpreter_perl,
	  .package = "sonde's Perl module (in Debian it needs libperl-dev to be built)" },
	{ .name = "Lua", .prefixes = WORDS("lua"), .suffixes = WORDS("lua"), .programs = WORDS("lua") },
	{ .name = "Ruby", .prefixes = WORDS("ruby", "rb"), .suffixes = WORDS("rb"), .programs = WORDS("ruby") },
	{ .name = NULL },
};
/* clang-format on */

#define each_language(l) for (const struct language *l = script_languages; l->name; l++)

/*
 * Where a prelude lies: $SONDE_LIBDIR; beside the executable in a build folder; in the installed library folder, found
 * from the executable, so that an installation may be moved. To be released with free(), NULL when it is nowhere.
 */
static char *find_prelude(const struct language *l)
{
	const char *forced = getenv("SONDE_LIBDIR");
	char exe[PATH_MAX], real[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *tries[2] = { NULL, NULL }, *found = NULL;

	exe[n < 0 ? 0 : n] = 0;
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = 0;
	if (forced) {
		if (asprintf(&tries[0], "%s/%s", forced, l->prelude) < 0)
			return NULL;
	} else {
		if (asprintf(&tries[0], "%s/bindings/%s", exe, l->prelude) < 0)
			return NULL;
		if (SONDE_LIBDIR[0] == '/')
			n = asprintf(&tries[1], "%s/sonde/%s", SONDE_LIBDIR, l->prelude);
		else
			n = asprintf(&tries[1], "%s/../%s/sonde/%s", exe, SONDE_LIBDIR, l->prelude);
		if (n < 0)
			tries[1] = NULL;
	}
	for (int i = 0; i < 2 && !found; i++)
		if (tries[i] && realpath(tries[i], real) && !access(real, R_OK))
			found = strdup(real);
	free(tries[0]);
	free(tries[1]);
	return found;
}

char *script_exec_path(void)
{
	const char *said = getenv("PERF_EXEC_PATH");
	char *prelude = said && *said ? NULL : find_prelude(script_languages), *path = NULL;

	if (said && *said)
		return strdup(said);
	if (prelude && strrchr(prelude, '/'))
		*strrchr(prelude, '/') = 0;
	if (prelude && asprintf(&path, "%s/lib", prelude) < 0)
		path = NULL;
	free(prelude);
	return path;
}

void script_languages_print(FILE *out)
{
	fputs("Languages of scripts (sonde script -s [LANG:]SCRIPT):\n\n", out);
	each_language(l) {
		char *prelude = l->find ? find_prelude(l) : NULL;
		const char *state = prelude ? "ready" : "not there yet";

		if (l->find && !prelude)
			state = "not installed";
		fprintf(out, "  %-8s", l->name);
		for (const char *const *p = l->prefixes; *p; p++)
			fprintf(out, " %s:", *p);
		for (const char *const *s = l->suffixes; *s; s++)
			fprintf(out, " *.%s", *s);
		fprintf(out, "  %s\n", state);
		free(prelude);
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

/* [LANG:]FILE taken apart; -1 after telling what is wrong. */
static int identify(const struct cli *cli, const char *name, const struct language **ret,
		    const char **ret_file)
{
	const char *colon = strchr(name, ':'), *dot = strrchr(name, '.');

	if (colon && access(name, F_OK)) {
		each_language(l) {
			if (listed(l->prefixes, name, (size_t)(colon - name))) {
				*ret = l;
				*ret_file = colon + 1;
				return 0;
			}
		}
		cli_say("script: no language '%.*s'; 'sonde script -s lang' lists them",
			(int)(colon - name), name);
		return -1;
	}
	*ret_file = name;
	if (dot && !strchr(dot, '/')) {
		each_language(l) {
			if (listed(l->suffixes, dot + 1, strlen(dot + 1))) {
				*ret = l;
				return 0;
			}
		}
	}
	*ret = by_shebang(name);
	if (*ret)
		return 0;
	if (access(name, F_OK))
		cli_say("script: there is no file '%s'", name);
	else
		cli_say("script: the language of '%s' is not known: give it as -s LANG:%s", name,
			name);
	return -1;
}

/* The file itself, else perf's own copy below PERF_EXEC_PATH; to be released with free(). */
static char *locate(const struct language *l, const char *file)
{
	const char *exec_path = getenv("PERF_EXEC_PATH");
	char *path = NULL;

	if (!access(file, R_OK) || !exec_path || !l->folder)
		return strdup(file);
	if (asprintf(&path, "%s/scripts/%s/%s", exec_path, l->folder, file) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return strdup(file);
}

/* Leaves the session's text behind in a descriptor that the interpreter inherits. */
static int hand_over_session(const char *text)
{
	size_t len = strlen(text), put = 0;
	int fd = memfd_create("sonde-session", 0);
	char number[16];

	if (fd < 0)
		return -1;
	while (put < len) {
		ssize_t n = write(fd, text + put, len - put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		put += (size_t)n;
	}
	snprintf(number, sizeof(number), "%d", fd);
	return lseek(fd, 0, SEEK_SET) < 0 ? -1 : setenv("SONDE_SESSION_FD", number, 1);
}

/* What the prelude is told by its environment. */
static int set_environment(const struct cli *cli, const struct script *s)
{
	unsetenv("SONDE_STRICT");
	if (s->strict && setenv("SONDE_STRICT", "1", 1))
		return -1;
	if (s->buildid_dir && setenv("PERF_BUILDID_DIR", s->buildid_dir, 1))
		return -1;
	return cli->verbose > 1 ? setenv("SONDE_PRELUDE_VERBOSE", "1", 1) : 0;
}

/* INTERPRETER PRELUDE SCRIPT ARGS, or INTERPRETER -IFOLDER -MMODULE SCRIPT ARGS; NULL: no memory. */
static char **command_line(const struct script *s, const struct language *l, const char *interpreter,
			   const char *prelude, const char *file)
{
	char **argv = calloc((size_t)s->nr_args + 5, sizeof(*argv)), *folder, *module;
	int n = 0;

	if (!argv)
		return NULL;
	argv[n++] = (char *)interpreter;
	if (!l->module) {
		argv[n++] = (char *)prelude;
	} else {
		/* FOLDER/Sonde/Prelude.pm is Sonde::Prelude */
		if (asprintf(&folder, "-I%.*s", (int)(strstr(prelude, "/Sonde/") - prelude), prelude) < 0 ||
		    asprintf(&module, "-M%s", l->module) < 0)
			return NULL;
		argv[n++] = folder;
		argv[n++] = module;
	}
	argv[n++] = (char *)file;
	memcpy(argv + n, s->args, (size_t)s->nr_args * sizeof(*argv));
	return argv;
}

static int start(const struct cli *cli, const struct script *s, const struct language *l,
		 const char *interpreter, const char *prelude, const char *file)
{
	char **argv = command_line(s, l, interpreter, prelude, file);

	if (!argv || hand_over_session(s->session) < 0 || set_environment(cli, s) < 0) {
		cli_say("cannot hand the session over to the interpreter: %m");
		free(argv);
		return cli_status(cli, CLI_FAILED);
	}
	perf_path_prepend(cli);
	fflush(stdout);
	execv(interpreter, argv);
	cli_say("cannot run %s: %m", interpreter);
	free(argv);
	return cli_status(cli, CLI_FAILED);
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
	prelude = find_prelude(l);
	if (!prelude)
		cli_say("'%s' is a %s script, and %s is not installed", file, l->name, l->package);
	else if (!l->find(s, file, &interpreter, &why)) {
		if (cli->verbose)
			cli_say("%s runs the script (%s)", interpreter, why);
		status = start(cli, s, l, interpreter, prelude, file);
	}
	free(interpreter);
	free(prelude);
	return status;
}

int script_run(const struct cli *cli, const struct script *s)
{
	const struct language *l;
	const char *file;
	char *path;
	int status;

	if (identify(cli, s->name, &l, &file) < 0)
		return cli_status(cli, CLI_USAGE);
	path = locate(l, file);
	if (!path) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	status = run_in(cli, s, l, path);
	free(path);
	return status;
}
