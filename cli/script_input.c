/* SPDX-License-Identifier: MIT */
#include "script_input.h"

#include "script.h"
#include "script_find.h"
#include "script_steps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Scripts are text in any encoding; every recording, packed or not, has such bytes at its beginning. */
static bool is_text(const char *path)
{
	unsigned char head[512];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++)
		if (head[i] < ' ' && !strchr("\t\n\f\r\033", head[i] ? head[i] : 'x'))
			return false;
	return true;
}

static bool holds_events(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if (S_ISDIR(st.st_mode)) {
		char *data;
		bool yes = asprintf(&data, "%s/data", path) >= 0;

		if (!yes)
			return false;
		yes = !access(data, F_OK);
		free(data);
		return yes;
	}
	return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
	       (S_ISREG(st.st_mode) && !is_text(path));
}

static bool names_script(const struct cli *cli, const char *word)
{
	struct script_places places;
	struct script_entry e = { 0 };
	bool yes;

	if (script_language_by_suffix(word))
		return true;
	if (script_places_list(cli, &places) < 0)
		return true;
	yes = script_entry_find(&places, word, false, &e) != 0;
	script_entry_done(&e);
	script_places_done(&places);
	return yes;
}

bool script_input_is(const struct cli *cli, const char *word)
{
	return !cli_compat(cli) && holds_events(word) && !script_steps_is_word(word) &&
	       !names_script(cli, word);
}

const char *script_input_behind(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const char *file = NULL;

		if (!strcmp(argv[i], "-i") || !strcmp(argv[i], "--input"))
			file = argv[i + 1 < argc ? i + 1 : i];
		else if (!strncmp(argv[i], "--input=", 8))
			file = argv[i] + 8;
		else if (!strncmp(argv[i], "-i", 2))
			file = argv[i] + 2;
		if (file && !access(file, F_OK))
			return file;
	}
	return NULL;
}

bool script_input_is_own_option(const char *script_file)
{
	static const char *const signs[] = { "'-i'",   "\"-i\"", "'--input",   "\"--input",
					     "getopt", "Getopt", "# args: -i", "# args: [-i" };
	FILE *f = fopen(script_file, "re");
	char *line = NULL;
	size_t room = 0;
	bool yes = false;

	while (f && !yes && getline(&line, &room, f) >= 0)
		for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
			yes |= strstr(line, signs[i]) != NULL;
	free(line);
	if (f)
		fclose(f);
	return yes;
}
