/* SPDX-License-Identifier: MIT */
#include "script_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
