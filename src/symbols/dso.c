/* SPDX-License-Identifier: MIT */
#include "symbols/dso_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "symbols/elf_symbols.h"
#include "symbols/vdso.h"

static bool dso_name_begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

bool dso_name_is_anonymous(const char *name)
{
	return dso_name_begins(name, "//anon") || dso_name_begins(name, "/dev/zero") ||
	       dso_name_begins(name, "/anon_hugepage") || dso_name_begins(name, "[stack") ||
	       dso_name_begins(name, "/SYSV") || !strcmp(name, "[heap]");
}

/*
 * "/tmp/perf-12.map". perf accepts any path that begins like it, including programs built in such a
 * folder.
 */
static bool dso_is_jit_map(const char *name, const struct rules *rules)
{
	static const char prefix[] = "/tmp/perf-";
	size_t digits;

	if (!dso_name_begins(name, prefix))
		return false;
	digits = strspn(name + sizeof(prefix) - 1, "0123456789");
	return rules->jit_maps_by_prefix ||
	       (digits && !strcmp(name + sizeof(prefix) - 1 + digits, ".map"));
}

static int dso_kind_of(const char *name, const struct rules *rules)
{
	if (!strcmp(name, "[vdso]"))
		return DSO_VDSO;
	if (dso_is_jit_map(name, rules))
		return DSO_JIT;
	return dso_name_is_anonymous(name) ? DSO_NONE : DSO_FILE;
}

struct dso *dso_new(struct dso_table *t, const struct dso_key *key)
{
	struct dso *d = arena_alloc(&t->arena, sizeof(*d));

	if (!d)
		return NULL;
	d->table = t;
	d->inode = key->inode;
	d->named = key->named;
	if (key->named)
		d->named_off =
			key->named->addresses == NAMED_BY_MAP ? key->pgoff : key->named->first_off;
	d->place = (struct dso_place){
		.name = arena_strdup(&t->arena, key->name),
		.build_id = key->build_id,
		.symfs = t->symfs,
		.cache = t->cache,
	};
	d->kind = key->is_kernel ? DSO_KERNEL : dso_kind_of(key->name, t->opts.rules);
	d->files_tried = d->symbols_tried = d->debug_tried = key->is_kernel;
	d->build_id = key->build_id;
	if (!d->place.name)
		return NULL;
	symbol_set_init(&d->symbols,
			!t->opts.demangle || d->kind == DSO_JIT ? DEMANGLE_NONE
			: t->opts.rules->demangles_long         ? DEMANGLE_LONG
								: DEMANGLE_SHORT,
			t->opts.rules->overlaps_by_tree);
	return d;
}

void dso_done(struct dso *d)
{
	elf_file_close(d->code);
	symbol_set_done(&d->symbols);
	hash64_done(&d->answers);
}

uint32_t dso_id(const struct dso *d)
{
	return d->id;
}

const char *dso_name(const struct dso *d)
{
	return d->place.name;
}

const struct build_id *dso_build_id(const struct dso *d)
{
	return &d->build_id;
}

const struct build_id *dso_build_id_found(const struct dso *d)
{
	return &d->place.build_id;
}

bool dso_is_file(const struct dso *d)
{
	if (d->named && d->named->addresses == NAMED_BY_MEMORY)
		return false;
	return d->kind == DSO_FILE || d->kind == DSO_VDSO;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool dso_is_recorded_build(const struct dso *d, const struct elf_file *f)
{
	struct build_id id;

	if (!build_id_is_known(&d->place.build_id))
		return true;
	id = elf_file_build_id(f);
	return build_id_is_recorded_as(&id, &d->place.build_id);
}

/* Without a recorded build id: true if the path still leads to the file that was mapped. */
static bool dso_is_recorded_file(const struct dso *d, const char *path)
{
	const bool elsewhere = d->table->opts.symfs && *d->table->opts.symfs;
	struct stat st;

	return d->place.build_id.len || !d->inode || d->table->opts.rules->ignores_inodes ||
	       elsewhere || stat(path, &st) < 0 || (uint64_t)st.st_ino == d->inode;
}

struct elf_file *dso_try_file(struct dso *d, enum dso_file which, const char *debuglink)
{
	struct elf_file *f = NULL;
	struct outbuf path = { 0 };

	int r = 0;

	if (d->table->opts.no_follow && dso_file_is_followed(which))
		return NULL;
	if (dso_file_path(&d->place, which, debuglink, &path) &&
	    (r = dso_table_open_elf(d->table, &f, path.data)) >= 0 &&
	    (!dso_is_recorded_build(d, f) ||
	     (which == DSO_FILE_PATH && !dso_is_recorded_file(d, path.data)))) {
		d->other_build |= which == DSO_FILE_PATH;
		elf_file_close(f);
		f = NULL;
	}
	d->no_right |= which == DSO_FILE_PATH && (r == -EACCES || r == -EPERM);
	outbuf_done(&path);
	return f;
}

bool dso_wake(struct dso *d)
{
	return d->code && dso_table_wake(d->table, d->code);
}

void dso_find_code(struct dso *d)
{
	if (d->files_tried)
		return;
	d->table->starved = false;
	if (d->kind == DSO_VDSO) {
		/*
		 * perf looks for a vdso with a build id in the cache only, and accepts any vdso if
		 * there is no build id
		 */
		if (!d->build_id.len == d->table->opts.rules->vdso_without_build_id &&
		    vdso_open(&d->code) >= 0 && !dso_is_recorded_build(d, d->code)) {
			elf_file_close(d->code);
			d->code = NULL;
		}
	} else if (d->kind == DSO_FILE) {
		d->code = dso_try_file(d, DSO_FILE_PATH, NULL);
	}
	if (!d->code && d->kind != DSO_JIT)
		d->code = dso_try_file(d, DSO_FILE_CACHE, NULL);
	/* Files next to the code file must be of the same build. */
	if (d->code && !build_id_is_known(&d->place.build_id))
		d->place.build_id = elf_file_build_id(d->code);
	if (d->code && !d->code->image) {
		d->code_path = d->code->path;
		elf_file_rest(d->code);
	}
	d->lacks_descriptor = !d->code && d->table->starved;
	d->files_tried = !d->lacks_descriptor;
}

bool dso_is_here(struct dso *d)
{
	dso_find_code(d);
	return d->code || d->other_build || d->kind == DSO_VDSO;
}

uint64_t dso_file_address(struct dso *d, uint64_t offset)
{
	uint64_t addr;

	dso_find_code(d);
	return d->code && elf_file_address(d->code, offset, &addr) ? addr : offset;
}

const char *dso_code_path(struct dso *d)
{
	dso_find_code(d);
	return d->code_path;
}

static bool dso_has_dwarf(const struct elf_file *f)
{
	const struct elf_section *s = elf_file_section(f, ".debug_info");

	if (!s)
		s = elf_file_section(f, ".zdebug_info");
	return s && s->type != SHT_NOBITS;
}

const char *dso_debug_path(struct dso *d)
{
	char *debuglink;

	if (d->debug_tried)
		return d->debug_path;
	dso_find_code(d);
	d->debug_tried = true;
	d->table->starved = false;
	if (d->kind == DSO_JIT || d->kind == DSO_NONE)
		return NULL;
	debuglink = dso_wake(d) ? dso_file_debuglink(d->code) : NULL;
	for (int which = 0; which < NR_DSO_FILES && !d->debug_path; which++) {
		struct elf_file *f = dso_try_file(d, which, debuglink);

		if (f && dso_has_dwarf(f))
			d->debug_path = arena_strdup(&d->table->arena, f->path);
		elf_file_close(f);
	}
	free(debuglink);
	d->lacks_descriptor = !d->debug_path && d->table->starved;
	d->debug_tried = !d->lacks_descriptor;
	return d->debug_path;
}

const uint8_t *dso_image(struct dso *d, size_t *ret_len)
{
	dso_find_code(d);
	if (!d->code || !d->code->image)
		return NULL;
	*ret_len = (size_t)d->code->size;
	return d->code->image;
}

size_t dso_read(struct dso *d, uint64_t offset, void *buf, size_t len)
{
	dso_find_code(d);
	return dso_wake(d) ? elf_file_read(d->code, offset, buf, len) : 0;
}
