/* SPDX-License-Identifier: MIT */
#include "perf_path.h"

#include "programs.h"

#include <stdlib.h>
#include <string.h>

char *perf_path_folder(void)
{
	char *dir = programs_own_file("cli/perf-path", SONDE_LIBEXECDIR, "sonde"), *perf = NULL;
	bool is_own = dir && asprintf(&perf, "%s/perf", dir) >= 0 && programs_is_own(perf);

	free(perf);
	if (is_own)
		return dir;
	free(dir);
	return NULL;
}

/* True if PATH begins with dir. */
static bool perf_path_is_first(const char *path, const char *dir)
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
		cli_say("%s/sonde/perf is missing or another program: calls of 'perf' from here on "
			"do not reach sonde (install sonde with its libexec folder)",
			SONDE_LIBEXECDIR);
		return -1;
	}
	if (perf_path_is_first(old, dir))
		r = 0;
	else if (asprintf(&path, "%s:%s", dir, programs_path()) >= 0)
		r = setenv("PATH", path, 1);
	if (!r && cli_compat(cli))
		r = setenv("SONDE_COMPAT", cli->compat, 1);
	if (r)
		cli_say("cannot put sonde into PATH as 'perf': out of memory");
	free(path);
	free(dir);
	return r;
}
