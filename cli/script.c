/* SPDX-License-Identifier: MIT */
#include "script.h"

#include "languages.h"
#include "script_env.h"
#include "script_find.h"
#include "script_input.h"
#include "script_list.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Finds a script in a place, by a name with or without suffix. Released with free(); NULL if there
 * is none.
 */
static char *script_find_named(const struct script_places *places, const struct language *only,
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

/*
 * Warns if a file in the current folder takes precedence over a script: the user may not know that
 * file.
 */
static void script_warn_of_shadow(const struct cli *cli, const struct script_places *places,
				  const struct language *l, const char *file)
{
	const struct language *of;
	struct stat here, there;
	char *path = script_find_named(places, l, file, true, &of);

	if (path && !stat(file, &here) && !stat(path, &there) &&
	    (here.st_dev != there.st_dev || here.st_ino != there.st_ino))
		cli_say("%s: running ./%s, which shadows %s", cli->command, file, path);
	free(path);
}

/*
 * Splits [LANG:]SCRIPT into a language and a file: the file of this name, or else one in a place.
 * Returns -1 after reporting an error.
 */
static int script_identify(const struct cli *cli, const struct script_places *places,
			   const char *name, const struct language **ret, char **ret_file)
{
	const char *colon = strchr(name, ':'), *file = name;
	const struct language *l, *found = NULL;
	bool there = !access(name, F_OK);
	char *path;

	if (colon && !there) {
		file = colon + 1;
		l = script_language_called(name, (size_t)(colon - name));
		if (!l) {
			cli_say("%s: no language '%.*s'; 'sonde script -s lang' lists them",
				cli->command, (int)(colon - name), name);
			return -1;
		}
	} else {
		l = script_language_by_suffix(name);
		l = l ? l : script_language_by_first_line(name);
	}
	if (!access(file, R_OK)) {
		path = l ? strdup(file) : NULL;
		if (path && !cli_rules(cli)->needs_suffix && !strchr(file, '/'))
			script_warn_of_shadow(cli, places, l, file);
	} else {
		path = script_find_named(places, l, file, !cli_rules(cli)->needs_suffix, &found);
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
		cli_say("%s: there is no file '%s'", cli->command, name);
	else if (!there)
		script_list_print_nearest(cli, places, name);
	else
		cli_say("%s: the language of '%s' is not known: give it as %sLANG:%s", cli->command,
			name, strcmp(cli->command, "script") ? "" : "-s ", name);
	return -1;
}

/*
 * Passes bytes in a descriptor that the interpreter inherits; a variable holds the number of the
 * descriptor.
 */
static int script_hand_over(const char *what, const char *variable, const char *bytes, size_t len)
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

/* Names and values of all configuration files, each ended by a NUL; later ones override. */
static int script_hand_over_config(const struct config *c)
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
		r = script_hand_over("sonde-config", "SONDE_CONFIG_FD", bytes, len);
	free(bytes);
	return r;
}

/* The environment variables that the prelude reads. */
static int script_set_environment(const struct cli *cli, const struct script *s, const char *why)
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

/*
 * INTERPRETER PRELUDE SCRIPT ARGS, or INTERPRETER -IFOLDER -MMODULE -- SCRIPT ARGS; NULL if there
 * is no memory.
 */
static char **script_command_line(const struct script *s, const struct language *l,
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

/*
 * Blocks SIGINT until the prelude is ready: during its start the interpreter would report it as a
 * failure.
 */
static void script_hold_interrupts(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int script_start(const struct cli *cli, const struct script *s, const struct language *l,
			const char *interpreter, const char *why, const char *prelude,
			const char *file)
{
	char **argv = script_command_line(s, l, interpreter, prelude, file), *lib;

	if (!argv ||
	    script_hand_over("sonde-session", "SONDE_SESSION_FD", s->session, strlen(s->session)) <
		    0 ||
	    (s->run && script_hand_over("sonde-run", "SONDE_RUN_FD", s->run, s->run_len) < 0) ||
	    script_hand_over_config(&cli->config) < 0 ||
	    script_set_environment(cli, s, l->module ? NULL : why) < 0) {
		cli_say("cannot pass the session to the interpreter: %m");
		free(argv);
		return cli_status(cli, CLI_FAILED);
	}
	lib = script_language_lib(l, prelude);
	if (script_env_set(cli, lib) < 0) {
		free(lib);
		free(argv);
		return cli_status(cli, CLI_FAILED);
	}
	free(lib);
	fflush(stdout);
	if (l->holds_interrupts)
		script_hold_interrupts();
	execv(interpreter, argv);
	cli_say("cannot run %s: %m", interpreter);
	free(argv);
	return cli_status(cli, CLI_FAILED);
}

/*
 * Options after a script's name belong to the script. Warns only about -i, because not reading that
 * file would silently change the results.
 */
static void script_warn_of_input(const struct cli *cli, const struct script *s, const char *file)
{
	const char *given = cli_rules(cli)->silent_about_input
				    ? NULL
				    : script_input_behind(s->nr_args, s->args);
	const char *line = s->session;

	if (!given || script_input_is_own_option(file))
		return;
	while (line && strncmp(line, "input=", 6)) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	cli_say("%s: '-i %s' follows the script's name, so the script gets it and sonde reads "
		"%.*s; to read %s: sonde %s -i %s %s",
		cli->command, given, line ? (int)strcspn(line + 6, "\n") : 9,
		line ? line + 6 : "perf.data", given, cli->command, given, s->name);
}

static int script_run_in(const struct cli *cli, const struct script *s, const struct language *l,
			 const char *file)
{
	char *prelude = NULL, *interpreter = NULL;
	const char *why = NULL;
	int status = cli_status(cli, CLI_FAILED);

	if (access(file, R_OK)) {
		cli_say("cannot open the script '%s': %m", file);
		return s->positional && cli_rules(cli)->missing_script_is_usage
			       ? cli_status(cli, CLI_USAGE)
			       : status;
	}
	if (!l->find) {
		cli_say("'%s' is a %s script: sonde has no module for %s yet", file, l->name,
			l->name);
		return status;
	}
	script_warn_of_input(cli, s, file);
	prelude = script_language_prelude(l);
	if (!prelude)
		cli_say("'%s' is a %s script, and %s is not installed", file, l->name, l->package);
	else if (!l->find(&s->interpreter, file, &interpreter, &why)) {
		if (cli->verbose)
			cli_say("%s runs the script (%s)", interpreter, why);
		status = script_start(cli, s, l, interpreter, why, prelude, file);
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
	if (script_identify(cli, &places, s->name, &l, &file) < 0) {
		status = cli_status(cli, CLI_USAGE);
	} else {
		status = script_run_in(cli, s, l, file);
		free(file);
	}
	script_places_done(&places);
	return status;
}
