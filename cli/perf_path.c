/* SPDX-License-Identifier: MIT */
#include "perf_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_WITHOUT_ANY "/usr/local/bin:/usr/bin:/bin"

/* Whether DIR/perf is the running program, by whatever way the link gets there. */
static bool holds_us(const char *dir)
{
	struct stat perf, us;
	char *path;
	bool yes;

	if (asprintf(&path, "%s/perf", dir) < 0)
		return false;
	yes = !stat(path, &perf) && !stat("/proc/self/exe", &us) && perf.st_dev == us.st_dev &&
	      perf.st_ino == us.st_ino;
	free(path);
	return yes;
}

char *perf_path_folder(void)
{
	char exe[PATH_MAX], real[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *tries[2] = { NULL, NULL }, *found = NULL;

	exe[n < 0 ? 0 : n] = 0;
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = 0;
	if (asprintf(&tries[0], "%s/cli/perf-path", exe) < 0)
		return NULL;
	if (SONDE_LIBEXECDIR[0] == '/')
		tries[1] = strdup(SONDE_LIBEXECDIR "/sonde");
	else if (asprintf(&tries[1], "%s/../" SONDE_LIBEXECDIR "/sonde", exe) < 0)
		tries[1] = NULL;
	for (int i = 0; i < 2 && !found; i++)
		if (tries[i] && realpath(tries[i], real) && holds_us(real))
			found = strdup(real);
	free(tries[0]);
	free(tries[1]);
	return found;
}

/* PATH begins with dir. */
static bool is_first(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return path && !strncmp(path, dir, len) && (!path[len] || path[len] == ':');
}

int perf_path_prepend(const struct cli *cli)
{
	const char *old = getenv("PATH");
	char *dir = perf_path_folder(), *path = NULL;
	int r = -1;

	if (!dir) {
		cli_say("%s/sonde/perf is not there or another program: what is called as 'perf' "
			"from here on is not sonde (install sonde whole, with its libexec folder)",
			SONDE_LIBEXECDIR);
		return -1;
	}
	if (is_first(old, dir))
		r = 0;
	else if (asprintf(&path, "%s:%s", dir, old ? old : PATH_WITHOUT_ANY) >= 0)
		r = setenv("PATH", path, 1);
	if (!r && cli_compat(cli))
		r = setenv("SONDE_COMPAT", cli->compat, 1);
	if (r)
		cli_say("cannot put sonde into PATH as 'perf': out of memory");
	free(path);
	free(dir);
	return r;
}
