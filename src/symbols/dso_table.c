/* SPDX-License-Identifier: MIT */
#include "symbols/dso_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "symbols/perf_map.h"

/* Drops a trailing slash, which would be doubled in a path. */
static const char *dso_table_root_dir(struct arena *a, const char *dir)
{
	size_t len = dir ? strlen(dir) : 0;

	while (len && dir[len - 1] == '/')
		len--;
	return len ? arena_strndup(a, dir, len) : "";
}

/* The file tree of another machine (symfs) has its own cache. */
static const char *dso_table_default_cache(struct arena *a, const char *symfs)
{
	char path[PATH_MAX];

	symbols_cache_dir(NULL, symfs, path, sizeof(path));
	return arena_strdup(a, path);
}

int dso_table_new(struct dso_table **ret, const struct dso_table_options *opts)
{
	struct dso_table *t = calloc(1, sizeof(*t));

	if (!t)
		return err_nomem();
	t->opts = *opts;
	if (!t->opts.ids)
		t->opts.ids = &t->own_ids;
	t->map_bytes_left = PERF_MAPS_MAX_BYTES;
	t->symfs = dso_table_root_dir(&t->arena, opts->symfs);
	t->cache = opts->buildid_dir ? arena_strdup(&t->arena, opts->buildid_dir)
				     : dso_table_default_cache(&t->arena, opts->symfs);
	if (!t->symfs || !t->cache) {
		dso_table_free(t);
		return err_nomem();
	}
	*ret = t;
	return 0;
}

void dso_table_free(struct dso_table *t)
{
	if (!t)
		return;
	vec_foreach(d, &t->all)
		dso_done(*d);
	vec_done(&t->all);
	dso_ids_done(&t->own_ids);
	hash64_done(&t->by_key);
	arena_done(&t->arena);
	free(t);
}

struct dso *dso_of_id(const struct dso_ids *ids, uint64_t id)
{
	return id && id <= ids->list.n ? ids->list.v[id - 1] : NULL;
}

void dso_ids_done(struct dso_ids *ids)
{
	vec_done(&ids->list);
}

static bool dso_table_is_same(const struct dso *d, const struct dso_key *key)
{
	return (d->kind == DSO_KERNEL) == key->is_kernel && !strcmp(d->place.name, key->name) &&
	       d->inode == key->inode && build_id_equal(&d->build_id, &key->build_id);
}

struct dso *dso_get(struct dso_table *t, const struct dso_key *key)
{
	uint64_t hash = hash_bytes(key->name, strlen(key->name)), first;
	struct dso *d;

	hash ^= key->inode * UINT64_C(0x9e3779b97f4a7c15);
	if (build_id_is_known(&key->build_id))
		hash ^= hash_bytes(key->build_id.bytes, key->build_id.len);
	first = hash64_find(&t->by_key, hash);
	for (d = first == HASH64_EMPTY ? NULL : (struct dso *)(uintptr_t)first; d; d = d->next) {
		if (dso_table_is_same(d, key))
			return d;
	}
	d = dso_new(t, key);
	if (!d || vec_reserve(&t->opts.ids->list, 1) < 0 || vec_push(&t->all, d) < 0)
		return NULL;
	(void)vec_push(&t->opts.ids->list, d);
	d->id = (uint32_t)t->opts.ids->list.n;
	d->next = first == HASH64_EMPTY ? NULL : (struct dso *)(uintptr_t)first;
	return hash64_put(&t->by_key, hash, (uintptr_t)d) < 0 ? NULL : d;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static bool dso_is_starved(int r)
{
	return errno_no_descriptor(-r);
}

static void dso_table_rest_all(struct dso_table *t)
{
	for (unsigned i = 0; i < MAX_OPEN_FILES; i++) {
		if (t->open[i])
			elf_file_rest(t->open[i]);
	}
}

int dso_table_note_starved(struct dso_table *t, int r)
{
	if (dso_is_starved(r))
		t->starved = t->was_starved = true;
	return r;
}

int dso_open_file(struct dso *d, const char *path)
{
	struct dso_table *t = d->table;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 && dso_is_starved(-errno)) {
		dso_table_rest_all(t);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	return fd < 0 ? dso_table_note_starved(t, err_errno(errno, "%s", path)) : fd;
}

bool dso_hold_descriptor(struct dso *d)
{
	if (d->table->held == MAX_HELD_DESCRIPTORS)
		return false;
	d->table->held++;
	return true;
}

void dso_release_descriptor(struct dso *d)
{
	d->table->held--;
}

bool dso_lacks_descriptor(const struct dso *d)
{
	return d->lacks_descriptor;
}

bool dso_report_no_descriptor(struct dso *d)
{
	struct dso_table *t = d->table;
	bool report = t->was_starved && !t->reported_starved;

	t->reported_starved |= report;
	return report;
}

int dso_table_open_elf(struct dso_table *t, struct elf_file **ret, const char *path)
{
	int r = elf_file_open(ret, path);

	if (dso_is_starved(r)) {
		dso_table_rest_all(t);
		r = elf_file_open(ret, path);
	}
	return dso_table_note_starved(t, r);
}

bool dso_table_wake(struct dso_table *t, struct elf_file *f)
{
	int r;

	if (f->fd >= 0 || f->image)
		return true;
	r = elf_file_wake(f);
	if (dso_is_starved(r)) {
		dso_table_rest_all(t);
		r = dso_table_note_starved(t, elf_file_wake(f));
	}
	if (r < 0)
		return false;
	if (t->open[t->next_open])
		elf_file_rest(t->open[t->next_open]);
	t->open[t->next_open] = f;
	t->next_open = (t->next_open + 1) % MAX_OPEN_FILES;
	return true;
}
