/* SPDX-License-Identifier: MIT */
#include "record/describe/build_id_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/write_all.h"

#define DEBUG_FILES "/usr/lib/debug"

enum { COPY_BYTES = 1 << 20 };

/* An entry being created. */
struct entry {
	struct build_id_cache *cache;
	char id[BUILD_ID_PATH_CHARS]; /* .build-id/XX/REST */
	char dir[PATH_MAX];           /* CACHE/PATH/ID */
};

int build_id_cache_init(struct build_id_cache *c, const char *dir)
{
	const char *home = getenv("HOME");

	*c = (struct build_id_cache){ 0 };
	if (dir ? !*dir || !strcmp(dir, "/dev/null") : !home || !*home)
		return 0;
	if (dir)
		c->dir = strdup(dir);
	else if (asprintf(&c->dir, "%s/.debug", home) < 0)
		c->dir = NULL;
	return c->dir ? 0 : err_nomem();
}

void build_id_cache_done(struct build_id_cache *c)
{
	free(c->dir);
	c->dir = NULL;
}

static bool cache_failed(struct build_id_cache *c, const char *path)
{
	if (!*c->problem)
		snprintf(c->problem, sizeof(c->problem), "%.*s: %s", (int)sizeof(c->problem) / 2,
			 path, strerror(errno));
	return false;
}

/* False if the path is too long. */
static bool __attribute__((format(printf, 2, 3)))
make_path(char ret[PATH_MAX], const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(ret, PATH_MAX, fmt, ap);
	va_end(ap);
	return len >= 0 && len < PATH_MAX;
}

/*
 * Creates all folders of a path in the cache except the last part, which may be a file. Creates the
 * cache's own folder, but not the folders above it.
 */
static bool cache_make_folders(struct build_id_cache *c, const char *path)
{
	char folder[PATH_MAX];

	if (!make_path(folder, "%s", path))
		return false;
	for (char *p = folder + strlen(c->dir); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			return cache_failed(c, folder);
		*p = '/';
	}
	return true;
}

/* True if the cache has no file WHAT for this id yet. */
static bool cache_is_missing(struct entry *e, struct build_id_cache *c, const struct build_id *id,
			     const char *path, const char *what)
{
	char have[PATH_MAX], hex[BUILD_ID_HEX_CHARS];

	if (!c->dir || !build_id_is_known(id))
		return false;
	e->cache = c;
	build_id_path(id, e->id);
	if (!make_path(have, "%s/%s/%s", c->dir, e->id, what) || !access(have, F_OK))
		return false;
	return make_path(e->dir, "%s/%s/%s", c->dir, path + (*path == '/'), build_id_hex(id, hex));
}

/* Makes DIR/.build-id/XX/REST a link to the entry, and replaces an older link. */
static void cache_link_entry(const struct entry *e)
{
	char link[PATH_MAX], to[PATH_MAX], now[PATH_MAX], fresh[PATH_MAX];
	ssize_t n;

	if (!make_path(link, "%s/%s", e->cache->dir, e->id) ||
	    !make_path(to, "../..%s", e->dir + strlen(e->cache->dir)) ||
	    !make_path(fresh, "%s.%d", link, (int)getpid()) || !cache_make_folders(e->cache, link))
		return;
	if (symlink(to, link) == 0)
		return;
	n = errno == EEXIST ? readlink(link, now, sizeof(now)) : -1;
	if (n == (ssize_t)strlen(to) && !memcmp(now, to, (size_t)n))
		return;
	unlink(fresh);
	if (symlink(to, fresh) < 0 || rename(fresh, link) < 0)
		cache_failed(e->cache, link);
}

/* Creates a new file next to its final path. */
static int cache_open_fresh(struct entry *e, const char *what, mode_t mode, char path[PATH_MAX])
{
	int fd;

	if (!make_path(path, "%s/%s.%d", e->dir, what, (int)getpid()) ||
	    !cache_make_folders(e->cache, path))
		return -1;
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		cache_failed(e->cache, path);
	return fd;
}

static bool cache_keep(struct entry *e, const char *what, const char *fresh, int take_fd,
		       bool is_whole)
{
	char path[PATH_MAX];

	is_whole = (is_whole && make_path(path, "%s/%s", e->dir, what)) ||
		   cache_failed(e->cache, fresh);
	if (close(take_fd) < 0 && is_whole)
		is_whole = cache_failed(e->cache, fresh);
	if (is_whole && rename(fresh, path) < 0)
		is_whole = cache_failed(e->cache, path);
	if (!is_whole)
		unlink(fresh);
	return is_whole;
}

/*
 * Copies from the descriptor's position to the end. Files of proc have no size, so the kernel
 * cannot copy them by itself.
 */
static bool cache_copy_by_hand(int from, int to)
{
	char *buf = malloc(COPY_BYTES);
	ssize_t n = buf ? 1 : -1;

	while (n > 0) {
		n = read(from, buf, COPY_BYTES);
		if (n > 0 && write_all(to, buf, (size_t)n) < 0)
			n = -1;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	free(buf);
	return n == 0;
}

static bool cache_copy(int from, int to)
{
	ssize_t n;

	do
		n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
	while (n > 0);
	return n == 0 || cache_copy_by_hand(from, to);
}

/* Links or copies the file that fd refers to: its path may name another file by now. */
static bool cache_link_or_copy(struct entry *e, const char *what, int fd)
{
	char self[64], path[PATH_MAX], fresh[PATH_MAX];
	struct stat st;
	int to;

	if (!make_path(path, "%s/%s", e->dir, what) || !cache_make_folders(e->cache, path))
		return false;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST)
		return true;
	to = cache_open_fresh(e, what, 0600, fresh);
	if (to < 0)
		return false;
	if (fstat(fd, &st) == 0 && fchmod(to, st.st_mode & 0777) < 0)
		cache_failed(e->cache, fresh);
	return cache_keep(e, what, fresh, to, lseek(fd, 0, SEEK_SET) == 0 && cache_copy(fd, to));
}

/* Adds the separate file with the symbols of a stripped program. */
static void cache_add_debug_file(struct entry *e)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (!make_path(path, DEBUG_FILES "/%s.debug", e->id))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		cache_link_or_copy(e, "debug", fd);
	close(fd);
}

void build_id_cache_add_file(struct build_id_cache *c, const struct build_id *id, const char *path,
			     int fd)
{
	struct entry e;

	if (!cache_is_missing(&e, c, id, path, "elf") || !cache_link_or_copy(&e, "elf", fd))
		return;
	cache_add_debug_file(&e);
	cache_link_entry(&e);
}

void build_id_cache_add_vdso(struct build_id_cache *c, const struct build_id *id, const void *image,
			     size_t image_len)
{
	char fresh[PATH_MAX];
	struct entry e;
	int fd;

	if (!cache_is_missing(&e, c, id, "[vdso]", "vdso"))
		return;
	fd = cache_open_fresh(&e, "vdso", 0600, fresh);
	if (fd >= 0 && cache_keep(&e, "vdso", fresh, fd, write_all(fd, image, image_len) == 0))
		cache_link_entry(&e);
}

/*
 * True if this user may read the kernel's addresses. Other users read zeros, which readers of the
 * recording would take for addresses.
 */
static bool cache_shows_addresses(int fd)
{
	char *text = malloc(COPY_BYTES);
	ssize_t n = text ? read(fd, text, COPY_BYTES - 1) : -1;
	bool shown = false;

	for (ssize_t i = 1; i < n && !shown; i++)
		shown = text[i - 1] == '\n' && text[i] != '0';
	free(text);
	errno = EPERM;
	return shown && lseek(fd, 0, SEEK_SET) == 0;
}

void build_id_cache_add_kallsyms(struct build_id_cache *c, const struct build_id *id)
{
	char fresh[PATH_MAX];
	struct entry e;
	int from, to;

	if (!cache_is_missing(&e, c, id, BUILD_ID_CACHE_KERNEL, "kallsyms"))
		return;
	from = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return;
	to = cache_open_fresh(&e, "kallsyms", 0600, fresh);
	if (to >= 0 && cache_keep(&e, "kallsyms", fresh, to,
				  cache_shows_addresses(from) && cache_copy_by_hand(from, to)))
		cache_link_entry(&e);
	close(from);
}
