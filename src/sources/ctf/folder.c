/* SPDX-License-Identifier: MIT */
/*
 * Finds a trace in a folder: the folder itself, or the only one below it. A session of LTTng has
 * its traces in kernel/ and ust/uid/1000/64-bit/.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "sources/ctf/ctf.h"

enum { DEEPEST = 8, MOST_ENTRIES = 16384, HEAD_BYTES = 64, MOST_FOUND = 8 };

static const char metadata_name[] = "metadata";

struct folder_search {
	char at[NAME_MAX + 1]; /* "kernel/", below the folder where the search began */
	size_t len;
	unsigned entries;
	unsigned nr_found;
	char first[NAME_MAX + 1];
	struct outbuf all; /* the found folders, as options of the command line */
};

/* True if a folder below the first one has a file `metadata` that begins like one of CTF. */
static bool folder_has_trace(int dir)
{
	const int fd = openat(dir, metadata_name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	uint8_t head[HEAD_BYTES];
	ssize_t n = -1;
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, head, sizeof(head), 0);
	close(fd);
	return n > 0 && ctf_is_metadata(head, (size_t)n);
}

static void folder_found(struct folder_search *f)
{
	if (!f->nr_found)
		memcpy(f->first, f->at, f->len + 1);
	if (f->nr_found < MOST_FOUND)
		outbuf_fmt(&f->all, " -i %.*s", (int)f->len - 1, f->at);
	else if (f->nr_found == MOST_FOUND)
		outbuf_str(&f->all, " ...");
	f->nr_found++;
}

static void folder_search_below(struct folder_search *f, int dir, unsigned depth);

static void folder_enter(struct folder_search *f, int dir, const char *name, unsigned depth)
{
	const size_t len = strlen(name), before = f->len;
	int fd;

	if (f->len + len + 1 + sizeof(metadata_name) > sizeof(f->at))
		return;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	memcpy(f->at + f->len, name, len);
	f->len += len;
	f->at[f->len++] = '/';
	f->at[f->len] = '\0';
	if (folder_has_trace(fd))
		folder_found(f);
	else
		folder_search_below(f, fd, depth + 1);
	f->len = before;
	f->at[f->len] = '\0';
	close(fd);
}

static int folder_is_wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

static void folder_search_below(struct folder_search *f, int dir, unsigned depth)
{
	struct dirent **entries;
	int n = depth < DEEPEST ? scandirat(dir, ".", &entries, folder_is_wanted, alphasort) : 0;

	for (int i = 0; i < n; i++) {
		if (f->entries++ < MOST_ENTRIES)
			folder_enter(f, dir, entries[i]->d_name, depth);
		free(entries[i]);
	}
	if (n > 0)
		free(entries);
}

static int folder_several(const struct folder_search *f)
{
	return err_set(
		-EINVAL,
		"the folder has %u CTF traces below it: name those that are to be read, with "
		"its own name in front:%.*s",
		f->nr_found, (int)f->all.len, f->all.data);
}

int ctf_head_file(int dir, char ret[NAME_MAX + 1])
{
	struct folder_search f = { 0 };
	struct stat st;
	int r;

	strcpy(ret, metadata_name);
	if (fstatat(dir, ret, &st, 0) == 0)
		return 1;
	folder_search_below(&f, dir, 0);
	r = f.nr_found > 1 ? folder_several(&f) : (int)f.nr_found;
	if (r == 1)
		snprintf(ret, NAME_MAX + 1, "%.240s%s", f.first, metadata_name);
	outbuf_done(&f.all);
	return r;
}
