/* SPDX-License-Identifier: MIT */
/*
 * Which Python runs a script, the first that applies:
 *
 *	--interpreter  >  SONDE_PYTHON  >  script.python of sonde's files
 *	>  $VIRTUAL_ENV/bin/python3  >  the script's first line, if that is a Python >= 3.9
 *	>  python3 in PATH  >  /usr/bin/python3
 */
#include "interpreter.h"

#include "programs.h"
#include "say.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PYTHON_MINOR_MIN 9

extern char **environ;

bool interpreter_shebang(const char *file, char *buf, size_t size)
{
	char line[256];
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	char *word, *save = NULL;

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	word = strtok_r(line + 2, " \t\r", &save);
	if (!word)
		return false;
	if (strlen(word) >= 3 && !strcmp(word + strlen(word) - 3, "env")) {
		/* env -S PROGRAM ARGS, env NAME=VALUE PROGRAM */
		do {
			word = strtok_r(NULL, " \t\r", &save);
		} while (word && (word[0] == '-' || strchr(word, '=')));
		if (!word)
			return false;
	}
	return (size_t)snprintf(buf, size, "%s", word) < size;
}

/*
 * The minor version from a name such as "python3.11"; 0 if the name has none, or is not Python 3.
 */
static int interpreter_minor_from_name(const char *path)
{
	char real[PATH_MAX];
	const char *base = realpath(path, real) ? strrchr(real, '/') + 1 : path;

	return strncmp(base, "python3.", 8) ? 0 : atoi(base + 8);
}

/* The minor version from running it, as wrappers like pyenv's need; 0 if it is not Python 3. */
static int interpreter_minor_from_running(const char *path)
{
	char *const argv[] = {
		(char *)path,
		(char *)"-E",
		(char *)"-S",
		(char *)"-c",
		(char *)"import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])",
		NULL
	};
	posix_spawn_file_actions_t fa;
	int fds[2], major = 0, minor = 0;
	char answer[32] = "";
	size_t got = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return 0;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, path, &fa, NULL, argv, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&fa);
	close(fds[1]);
	while (got < sizeof(answer) - 1 &&
	       (n = read(fds[0], answer + got, sizeof(answer) - 1 - got)) > 0)
		got += (size_t)n;
	close(fds[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return sscanf(answer, "%d.%d", &major, &minor) == 2 && major == 3 ? minor : 0;
}

/* The interpreter of the script's first line, if it is installed. */
static char *interpreter_from_shebang(const char *file)
{
	char word[PATH_MAX];
	const char *base;
	char *path, *usual;
	int minor;

	if (!interpreter_shebang(file, word, sizeof(word)))
		return NULL;
	base = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
	if (strncmp(base, "python", 6) && strncmp(base, "pypy", 4))
		return NULL;
	path = programs_find(word);
	if (!path)
		return NULL;
	/*
	 * It would be chosen anyway, so its version does not matter: asking takes longer than a
	 * small script.
	 */
	usual = programs_find("python3");
	minor = usual && !strcmp(usual, path) ? PYTHON_MINOR_MIN
					      : interpreter_minor_from_name(path);
	free(usual);
	if (!minor)
		minor = interpreter_minor_from_running(path);
	if (minor >= PYTHON_MINOR_MIN)
		return path;
	free(path);
	return NULL;
}

static char *interpreter_from_venv(void)
{
	const char *venv = getenv("VIRTUAL_ENV");
	char *path = NULL;

	if (!venv || !*venv || asprintf(&path, "%s/bin/python3", venv) < 0)
		return NULL;
	if (programs_is_one(path))
		return path;
	free(path);
	return NULL;
}

int interpreter_python(const struct interpreter_wish *w, const char *file, char **ret_path,
		       const char **ret_why)
{
	const char *wished = w->given, *why = "--interpreter";
	char *path;

	if (!wished) {
		wished = getenv("SONDE_PYTHON");
		why = "SONDE_PYTHON";
	}
	if (!wished || !*wished) {
		wished = w->python;
		why = "script.python";
	}
	if (wished && *wished) {
		path = programs_find(wished);
		if (!path) {
			cli_say("%s: there is no program '%s'", why, wished);
			return -1;
		}
		if (interpreter_minor_from_name(path) < PYTHON_MINOR_MIN &&
		    interpreter_minor_from_running(path) < PYTHON_MINOR_MIN) {
			cli_say("%s: %s is no Python of version 3.%d or newer", why, path,
				PYTHON_MINOR_MIN);
			free(path);
			return -1;
		}
	} else if ((path = interpreter_from_venv())) {
		why = "VIRTUAL_ENV";
	} else if ((path = interpreter_from_shebang(file))) {
		why = "the script's first line";
	} else if ((path = programs_find("python3"))) {
		why = "python3 in PATH";
	} else if ((path = programs_find("/usr/bin/python3"))) {
		why = "nothing else found";
	} else {
		cli_say("no Python 3 was found: install python3, or name one with --interpreter or "
			"SONDE_PYTHON");
		return -1;
	}
	*ret_path = path;
	*ret_why = why;
	return 0;
}

/*
 * Which Perl: --interpreter > SONDE_PERL > the script's first line, if that program is installed
 * (perlbrew's, for example) > perl in PATH > /usr/bin/perl. PERL5LIB and similar variables are used
 * as they are.
 */
int interpreter_perl(const struct interpreter_wish *w, const char *file, char **ret_path,
		     const char **ret_why)
{
	const char *wished = w->given, *why = "--interpreter";
	char word[PATH_MAX], *path = NULL;

	if (!wished || !*wished) {
		wished = getenv("SONDE_PERL");
		why = "SONDE_PERL";
	}
	if (wished && *wished) {
		path = programs_find(wished);
		if (!path) {
			cli_say("%s: there is no program '%s'", why, wished);
			return -1;
		}
	}
	if (!path && interpreter_shebang(file, word, sizeof(word)) && strstr(word, "perl")) {
		path = programs_find(word);
		why = "the script's first line";
	}
	if (!path) {
		path = programs_find("perl");
		why = "perl in PATH";
	}
	if (!path) {
		path = programs_find("/usr/bin/perl");
		why = "nothing else found";
	}
	if (!path) {
		cli_say("no Perl was found: install perl, or name one with --interpreter or "
			"SONDE_PERL");
		return -1;
	}
	*ret_path = path;
	*ret_why = why;
	return 0;
}
