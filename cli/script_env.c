/* SPDX-License-Identifier: MIT */
#include "script_env.h"

#include "perf_path.h"
#include "script_find.h"

#include <stdlib.h>
#include <string.h>

static int env_out_of_memory(void)
{
	cli_say("out of memory");
	return -1;
}

int script_env_set(const struct cli *cli, const char *exec_path)
{
	if (exec_path && !script_exec_path_said() &&
	    (setenv("PERF_EXEC_PATH", exec_path, 1) || setenv("SONDE_EXEC_PATH", exec_path, 1)))
		return env_out_of_memory();
	if (cli->buildid_dir && setenv("PERF_BUILDID_DIR", cli->buildid_dir, 1))
		return env_out_of_memory();
	/* Without it, scripts that call perf fail; this was reported, and all others run. */
	perf_path_prepend(cli);
	return 0;
}

int script_env_set_for_wrapper(const struct cli *cli, const char *exec_path,
			       const char *const *options)
{
	char *text = NULL;

	if (!cli_compat(cli) && setenv("SONDE_COMPAT", "none", 1))
		return env_out_of_memory();
	for (; options && *options; options++) {
		char *longer;

		if (strchr(*options, '\n')) {
			cli_say("script: an option before the script's name contains a line feed");
			free(text);
			return -1;
		}
		if (asprintf(&longer, "%s%s\n", text ? text : "", *options) < 0) {
			free(text);
			return env_out_of_memory();
		}
		free(text);
		text = longer;
	}
	if (text ? setenv("SONDE_SCRIPT_OPTIONS", text, 1) : unsetenv("SONDE_SCRIPT_OPTIONS")) {
		free(text);
		return env_out_of_memory();
	}
	free(text);
	return script_env_set(cli, exec_path);
}

char **script_env_take_options(int *argc, char **argv)
{
	const char *said = getenv("SONDE_SCRIPT_OPTIONS");
	char *text = said && *said ? strdup(said) : NULL, **all, *line, *save;
	int n = 0;

	if (!said || !*said)
		return argv;
	for (const char *p = said; *p; p++)
		n += *p == '\n';
	all = calloc((size_t)(n + *argc + 1), sizeof(*all));
	if (!text || !all) {
		free(text);
		free(all);
		cli_say("out of memory");
		return NULL;
	}
	n = 0;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		all[n++] = line;
	memcpy(all + n, argv, (size_t)*argc * sizeof(*all));
	*argc += n;
	unsetenv("SONDE_SCRIPT_OPTIONS");
	return all;
}
