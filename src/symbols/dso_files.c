/* SPDX-License-Identifier: MIT */
#include "symbols/dso_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SYSTEM_DEBUG "/usr/lib/debug"

static void dso_files_put_build_id(const struct dso_place *p, struct outbuf *out)
{
	char path[BUILD_ID_PATH_CHARS];

	outbuf_char(out, '/');
	outbuf_str(out, build_id_path(&p->build_id, path));
}

static bool dso_files_is_regular(const struct outbuf *path)
{
	struct stat st;

	return !path->failed && !stat(path->data, &st) && S_ISREG(st.st_mode);
}

/* Caches of old tools link to the file itself, caches of newer ones to a directory. */
static bool dso_files_put_cached(const struct dso_place *p, const char *what, struct outbuf *out)
{
	size_t start = out->len;
	bool is_file;

	outbuf_str(out, p->cache);
	dso_files_put_build_id(p, out);
	outbuf_char(out, '\0');
	if (out->failed)
		return false;
	is_file = dso_files_is_regular(&(struct outbuf){ .data = out->data + start });
	if (is_file)
		return strcmp(what, "debug") != 0;
	out->len--;
	outbuf_char(out, '/');
	outbuf_str(out, what);
	outbuf_char(out, '\0');
	return true;
}

bool dso_file_is_followed(enum dso_file which)
{
	return which != DSO_FILE_CACHE && which != DSO_FILE_CACHE_DEBUG &&
	       which != DSO_FILE_DEBUG_BUILD_ID;
}

bool dso_file_path(const struct dso_place *p, enum dso_file which, const char *debuglink,
		   struct outbuf *out)
{
	bool is_path = *p->name == '/', has_id = p->build_id.len > 1;
	const char *base = strrchr(p->name, '/');
	int dir = base ? (int)(base - p->name) : 0;

	switch (which) {
	case DSO_FILE_DEBUGLINK:
	case DSO_FILE_DEBUGLINK_HIDDEN:
	case DSO_FILE_DEBUGLINK_SYSTEM:
		if (!is_path || !debuglink)
			return false;
		outbuf_fmt(out, "%s%s%.*s/%s%s", p->symfs,
			   which == DSO_FILE_DEBUGLINK_SYSTEM ? SYSTEM_DEBUG : "", dir, p->name,
			   which == DSO_FILE_DEBUGLINK_HIDDEN ? ".debug/" : "", debuglink);
		break;
	case DSO_FILE_CACHE:
		return has_id && dso_files_put_cached(p, *p->name == '[' ? "vdso" : "elf", out);
	case DSO_FILE_CACHE_DEBUG:
		return has_id && dso_files_put_cached(p, "debug", out);
	case DSO_FILE_DEBUG_SUFFIX:
	case DSO_FILE_DEBUG_SAME:
		if (!is_path)
			return false;
		outbuf_fmt(out, "%s" SYSTEM_DEBUG "%s%s", p->symfs, p->name,
			   which == DSO_FILE_DEBUG_SUFFIX ? ".debug" : "");
		break;
	case DSO_FILE_DEBUG_BUILD_ID:
		if (!has_id)
			return false;
		outbuf_fmt(out, "%s" SYSTEM_DEBUG, p->symfs);
		dso_files_put_build_id(p, out);
		outbuf_str(out, ".debug");
		break;
	case DSO_FILE_PATH:
		if (!is_path)
			return false;
		outbuf_fmt(out, "%s%s", p->symfs, p->name);
		break;
	case DSO_FILE_HIDDEN:
		if (!is_path)
			return false;
		outbuf_fmt(out, "%s%.*s/.debug%s", p->symfs, dir, p->name, base);
		break;
	case NR_DSO_FILES:
		return false;
	}
	outbuf_char(out, '\0');
	return !out->failed;
}

char *dso_file_debuglink(const struct elf_file *f)
{
	const struct elf_section *s = elf_file_section(f, ".gnu_debuglink");
	uint8_t *name;

	if (!s || s->size > 4096 || elf_file_load(f, s, &name) < 0)
		return NULL;
	/* The link must be a name, not a path out of the folder. */
	if (!*name || strchr((char *)name, '/')) {
		free(name);
		return NULL;
	}
	return (char *)name;
}

void symbols_cache_dir(const char *buildid_dir, const char *symfs, char *ret, size_t size)
{
	const char *home = getenv("HOME");

	if (buildid_dir)
		snprintf(ret, size, "%s", buildid_dir);
	else
		snprintf(ret, size, "%s/.debug", symfs ? symfs : home ? home : "");
}
