/* SPDX-License-Identifier: MIT */
#include "script_word.h"

#include "languages.h"
#include "script_find.h"
#include "script_steps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Scripts are text in any encoding. Every recording, packed or not, has other bytes at its
 * beginning.
 */
static bool word_is_text(const char *path)
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

static bool word_folder_has(const char *path, const char *name)
{
	char *file;
	bool yes;

	if (asprintf(&file, "%s/%s", path, name) < 0)
		return false;
	yes = !access(file, F_OK);
	free(file);
	return yes;
}

/* Folders: of perf record --threads, and CTF traces. */
static bool word_holds_events(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if (S_ISDIR(st.st_mode))
		return word_folder_has(path, "data") || word_folder_has(path, "metadata");
	return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
	       (S_ISREG(st.st_mode) && !word_is_text(path));
}

static bool word_names_script(const struct cli *cli, const char *word)
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

bool script_word_is_recording(const struct cli *cli, const char *word)
{
	return !cli_rules(cli)->words_are_no_recordings && word_holds_events(word) &&
	       !script_steps_is_word(word) && !word_names_script(cli, word);
}
