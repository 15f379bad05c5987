/* SPDX-License-Identifier: MIT */
/*
 * sonde perf-alias: a link `perf` to this program in a folder of the user, for a shell and all that
 * it starts.
 */
#include "cli.h"

#include "programs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct args {
	bool force;
};

/* The link appears in one step, in place of an existing one. */
static int alias_put_link(const char *target, const char *link)
{
	char *beside;
	int r;

	if (asprintf(&beside, "%s.%d", link, (int)getpid()) < 0) {
		errno = ENOMEM;
		return -1;
	}
	r = symlink(target, beside);
	if (!r && rename(beside, link)) {
		int e = errno;

		unlink(beside);
		errno = e;
		r = -1;
	}
	free(beside);
	return r;
}

/* Prints which perf a shell finds now. */
static void perf_alias_print_order(const char *dir, const char *link)
{
	char *first = programs_find("perf");

	if (first && programs_is_own(first))
		printf("with this PATH 'perf' is sonde (in a shell that has run another perf: hash "
		       "-r)\n");
	else if (first)
		printf("PATH finds %s first; put %s before it: export PATH=%s:$PATH\n", first, dir,
		       dir);
	else
		printf("%s is not in PATH: export PATH=%s:$PATH\n", dir, dir);
	free(first);
}

static int perf_alias_make(const struct cli *cli, const struct args *a, const char *dir,
			   const char *link)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	struct stat st;

	if (n < 0) {
		cli_say("perf-alias: cannot find the path of this program: /proc/self/exe: %m");
		return cli_status(cli, CLI_FAILED);
	}
	exe[n] = 0;
	if (programs_is_own(link)) {
		printf("%s is sonde already\n", link);
		return CLI_OK;
	}
	if (!lstat(link, &st) && !S_ISLNK(st.st_mode)) {
		cli_say("perf-alias: %s exists and is no link: sonde does not replace a program; "
			"name "
			"another folder",
			link);
		return cli_status(cli, CLI_FAILED);
	}
	if (!lstat(link, &st) && !a->force) {
		cli_say("perf-alias: %s is a link to something else; --force replaces it", link);
		return cli_status(cli, CLI_FAILED);
	}
	if (alias_put_link(exe, link)) {
		cli_say("perf-alias: cannot make the link %s: %m", link);
		return cli_status(cli, CLI_FAILED);
	}
	printf("%s -> %s\n", link, exe);
	return CLI_OK;
}

static int perf_alias_run(struct cli *cli, void *values, int argc, char **argv)
{
	char dir[PATH_MAX], *link;
	int status;

	if (argc != 1)
		return cli_usage(cli,
				 "perf-alias needs one folder, in which it makes the link 'perf'");
	if (!realpath(argv[0], dir)) {
		cli_say("perf-alias: folder %s: %m", argv[0]);
		return cli_status(cli, CLI_FAILED);
	}
	if (asprintf(&link, "%s/perf", dir) < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	status = perf_alias_make(cli, values, dir, link);
	if (status == CLI_OK)
		perf_alias_print_order(dir, link);
	free(link);
	return status;
}

/* clang-format off */
static const struct opt options[] = {
	OPT_FLAG('f', "force", struct args, force,
		"replaces a link named perf that leads elsewhere; never a program"),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "perf-alias [-f] DIR", NULL };

const struct command cmd_perf_alias = {
	.name = "perf-alias",
	.summary = "makes a link in a folder, so that 'perf' runs sonde",
	.usage = usage,
	.options = options,
	.examples = "  sonde perf-alias ~/bin\n",
	.values_size = sizeof(struct args),
	.permute = true,
	.run = perf_alias_run,
};
