/* SPDX-License-Identifier: MIT */
#include "base/sysfile.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static bool sysfile_read_line(char *buf, size_t size, const char *path)
{
	FILE *f = fopen(path, "re");
	/* stdio without memory for a buffer reads byte by byte, and these files refuse that. */
	char room[4096];
	bool ok;

	if (!f) {
		err_memory_note();
		return false;
	}
	setvbuf(f, room, _IOFBF, sizeof(room));
	ok = fgets(buf, (int)size, f) != NULL;
	fclose(f);
	if (!ok)
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return *buf != '\0';
}

bool sysfile_line(char *buf, size_t size, const char *path_fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, path_fmt);
	vsnprintf(path, sizeof(path), path_fmt, ap);
	va_end(ap);
	return sysfile_read_line(buf, size, path);
}

long sysfile_number(long fallback, const char *path_fmt, ...)
{
	char path[PATH_MAX], text[64], *end;
	va_list ap;
	long v;

	va_start(ap, path_fmt);
	vsnprintf(path, sizeof(path), path_fmt, ap);
	va_end(ap);
	if (!sysfile_read_line(text, sizeof(text), path))
		return fallback;
	v = strtol(text, &end, 10);
	return end == text ? fallback : v;
}

bool sysfile_value(char *buf, size_t size, const char *path, const char *key)
{
	const size_t len = strlen(key);
	FILE *f = fopen(path, "re");
	char line[4096], room[4096];
	bool found = false;

	if (!f) {
		err_memory_note();
		return false;
	}
	setvbuf(f, room, _IOFBF, sizeof(room));
	while (!found && fgets(line, sizeof(line), f)) {
		size_t at = len + strspn(line + (strncmp(line, key, len) ? 0 : len), " \t");

		if (strncmp(line, key, len) || line[at] != ':')
			continue;
		at += 1 + strspn(line + at + 1, " \t");
		line[strcspn(line, "\n")] = '\0';
		snprintf(buf, size, "%s", line + at);
		found = *buf != '\0';
	}
	fclose(f);
	return found;
}
