/* SPDX-License-Identifier: MIT */
#include "other_perf.h"

#include "as_perf.h"
#include "perf_path.h"
#include "programs.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHAIN "SONDE_PERF_CHAIN"

/* Nested calls ("perf stat perf stat ...") also lengthen the chain. */
enum { CHAIN_MAX = 8, CHAIN_ENTRY = 40 };

static bool other_perf_chain_entry(const char *path, char ret[static CHAIN_ENTRY])
{
	struct stat st;

	if (stat(path, &st))
		return false;
	snprintf(ret, CHAIN_ENTRY, "%llx:%llx", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	return true;
}

static size_t other_perf_chain_length(const char *chain)
{
	size_t nr = *chain != 0;

	for (; *chain; chain++)
		nr += *chain == ',';
	return nr;
}

static bool other_perf_is_in_chain(const char *path)
{
	const char *chain = getenv(CHAIN);
	char entry[CHAIN_ENTRY];
	size_t len;

	if (!chain || !other_perf_chain_entry(path, entry))
		return false;
	for (len = strlen(entry); *chain; chain += *chain == ',') {
		size_t n = strcspn(chain, ",");

		if (n == len && !strncmp(chain, entry, n))
			return true;
		chain += n;
	}
	return false;
}

static bool other_perf_chain_append(void)
{
	const char *chain = getenv(CHAIN);
	char entry[CHAIN_ENTRY], *longer;
	int r;

	if (!other_perf_chain_entry("/proc/self/exe", entry))
		return false;
	r = asprintf(&longer, "%s%s%s", chain ? chain : "", chain && *chain ? "," : "", entry);
	if (r < 0)
		return false;
	r = setenv(CHAIN, longer, 1);
	free(longer);
	return !r;
}

char *other_perf_find(void)
{
	const char *dirs = programs_path();
	char *path;

	while ((path = programs_next(&dirs, "perf")) &&
	       (programs_is_own(path) || other_perf_is_in_chain(path)))
		free(path);
	return path;
}

/* True for a folder that contains only our link. */
static bool other_holds_only_perf(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t others = 0;

	if (!dir)
		return false;
	while ((entry = readdir(dir)))
		others += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
			  strcmp(entry->d_name, "perf");
	closedir(dir);
	return !others;
}

static bool other_perf_is_ours(const char *folder, const char *own)
{
	char *perf = NULL, real[PATH_MAX];
	bool ours = asprintf(&perf, "%s/perf", folder) >= 0 && programs_is_own(perf);

	free(perf);
	return ours && ((own && realpath(folder, real) && !strcmp(real, own)) ||
			other_holds_only_perf(folder));
}

/*
 * Removes the folders that contain only our `perf` from PATH, so that children of the other perf
 * find the other perf.
 */
static bool other_perf_leave_path(void)
{
	const char *dirs = programs_path();
	char *left = malloc(strlen(dirs) + 1), *end = left, *own = perf_path_folder();
	bool done = left, first = true;

	while (left && dirs) {
		size_t len = strcspn(dirs, ":");
		char *folder = strndup(dirs, len);

		if (folder && !other_perf_is_ours(*folder ? folder : ".", own)) {
			if (!first)
				*end++ = ':';
			first = false;
			end = mempcpy(end, dirs, len);
		}
		done &= folder != NULL;
		free(folder);
		dirs = dirs[len] ? dirs + len + 1 : NULL;
	}
	if (left) {
		*end = 0;
		done = done && !setenv("PATH", left, 1);
	}
	free(own);
	free(left);
	return done;
}

/*
 * cli's words without the options of sonde's own that precede the command. NULL if there is no
 * memory.
 */
static char **other_perf_words_of(const struct cli *cli, const char *command, const char *perf,
				  int argc, char **argv)
{
	int nr = 0;
	char **words;

	while (cli->argv[nr])
		nr++;
	words = calloc((size_t)(nr + argc) + 3, sizeof(*words));
	if (!words)
		return NULL;
	words[0] = (char *)perf;
	nr = 1;
	/*
	 * A command from the program's name (perf-stat) is none of these words, and no word
	 * precedes it.
	 */
	for (char **w = cli->argv + 1; *w && *w != command && *w != argv[0]; w++) {
		if (!strcmp(*w, "--compat"))
			w += w[1] != NULL;
		else if (strncmp(*w, "--compat=", 9) && strcmp(*w, "-v") && strcmp(*w, "--verbose"))
			words[nr++] = *w;
	}
	words[nr++] = (char *)command;
	memcpy(words + nr, argv, (size_t)argc * sizeof(*words));
	return words;
}

/* True if -v is before the command or among the options directly after it. */
static bool other_perf_is_verbose(const struct cli *cli, int argc, char **argv)
{
	bool verbose = cli->verbose > 0;

	for (int i = 0; i < argc && argv[i][0] == '-'; i++)
		verbose |= !strcmp(argv[i], "-v") || !strcmp(argv[i], "--verbose");
	return verbose;
}

int other_perf_run(const struct cli *cli, const char *command, int argc, char **argv)
{
	const char *chain = getenv(CHAIN);
	char *perf = as_perf() ? other_perf_find() : NULL, **words;

	if (!perf)
		return CLI_OK;
	if (chain && other_perf_chain_length(chain) >= CHAIN_MAX) {
		cli_say("'%s' is not run: %s leads back to sonde", command, perf);
		free(perf);
		return CLI_FAILED;
	}
	words = other_perf_words_of(cli, command, perf, argc, argv);
	if (other_perf_is_verbose(cli, argc, argv))
		cli_say("'%s' is run by %s", command, perf);
	fflush(NULL);
	if (words && other_perf_chain_append() && other_perf_leave_path())
		execvp(perf, words);
	cli_say("cannot run %s: %m", perf);
	free(words);
	free(perf);
	return CLI_FAILED;
}

/* Commands of perf up to 6.12 that sonde does not have. */
static const char *const missing[] = { "annotate", "archive", "bench",  "buildid-cache", "c2c",
				       "check",    "config",  "daemon", "data",          "diff",
				       "ftrace",   "inject",  "iostat", "kallsyms",      "kmem",
				       "kvm",      "kwork",   "lock",   "mem",           "probe",
				       "sched",    "stat",    "test",   "timechart",     "top",
				       "trace",    NULL };

/* sonde's scripts that answer the question of one of perf's commands. */
static const struct {
	const char *command, *word; /* word: first word or option; NULL if none is needed */
	const char *script;         /* NULL if none */
} answers[] = {
	{ "kmem", NULL, "page-allocations" },
	{ "kwork", NULL, "irq-times" },
	{ "lock", NULL, "futex-contention" },
	{ "sched", "map", NULL },
	{ "sched", "replay", NULL },
	{ "sched", "script", NULL },
	{ "sched", NULL, "wakeup-latency" },
	{ "trace", "-s", "syscall-latency" },
	{ "trace", "-S", "syscall-latency" },
	{ "trace", "--summary", "syscall-latency" },
	{ "trace", "--with-summary", "syscall-latency" },
	{ "trace", NULL, "syscall-top" },
};

/*
 * True if word precedes the command in argv[0..argc). Values of perf's options are not recognised
 * here.
 */
static bool other_perf_has_word(const char *word, int argc, char **argv)
{
	bool option = word[0] == '-';

	for (int i = 0; i < argc && strcmp(argv[i], "--"); i++) {
		bool may_be_value = option && i && argv[i - 1][0] == '-';

		if (!strcmp(argv[i], word))
			return true;
		if (argv[i][0] != '-' && !may_be_value)
			return false;
	}
	return false;
}

static const char *other_perf_script_for(const char *command, int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (!strcmp(answers[i].command, command) &&
		    (!answers[i].word || other_perf_has_word(answers[i].word, argc, argv)))
			return answers[i].script;
	}
	return NULL;
}

bool other_perf_report_missing(const char *command, int argc, char **argv)
{
	const char *const *m = missing, *script = other_perf_script_for(command, argc, argv);
	char *perf, *ours = NULL;

	while (*m && strcmp(*m, command))
		m++;
	if (!*m)
		return false;
	perf = other_perf_find();
	if (script && asprintf(&ours, "; 'sonde script %s' answers such questions", script) < 0)
		ours = NULL;
	if (perf)
		cli_say("no command '%s': perf has it; run %s %s%s", command, perf, command,
			ours ? ours : "");
	else
		cli_say("no command '%s': perf has it, but no perf is in PATH (Debian's package is "
			"linux-perf)%s",
			command, ours ? ours : "");
	free(ours);
	free(perf);
	return true;
}
