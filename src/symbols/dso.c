/* SPDX-License-Identifier: MIT */
#include "symbols/dso.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/vec.h"
#include "symbols/dso_files.h"
#include "symbols/elf_symbols.h"
#include "symbols/perf_map.h"
#include "symbols/vdso.h"

enum {
	MAX_OPEN_FILES = 64,      /* of a table: those that were used longest ago rest */
	MAX_HELD_DESCRIPTORS = 64 /* ... of readers that keep them */
};

struct dso {
	struct dso_table *table;
	struct dso *next;        /* of the same hash */
	const uint8_t *build_id; /* as recorded */
	size_t build_id_len;
	struct dso_place place; /* where its build id is not recorded, with that of the file */
	const char *build_id_hex,
		*found_hex; /* of the recorded one; of place's, NULL: not yet asked for */
	enum { DSO_FILE, DSO_VDSO, DSO_JIT, DSO_NONE } kind;
	uint64_t inode; /* recorded, 0 unknown */
	/* borrowed; NULL if the recording names no function of it */
	const struct named_file *named;
	uint64_t named_off;             /* of their first address */
	bool files_tried, symbols_tried, debug_tried, lacks_descriptor, other_build,
		no_right, stripped, too_large, told;
	struct elf_file *code;              /* owned; NULL: not found */
	const char *code_path, *debug_path; /* NULL: not found */
	const char *problem;
	struct symbol_set symbols;
	struct hash64 answers; /* offset -> struct dso_symbol *, 0 unknown */
};

struct dso_table {
	struct dso_table_options opts;
	const char *symfs, *cache;
	struct arena arena;
	struct hash64 by_key;
	VEC(struct dso *) all;                 /* owned by the arena, but what they hold */
	struct elf_file *open[MAX_OPEN_FILES]; /* lent; a ring */
	unsigned next_open, held;
	uint64_t map_bytes_left; /* that maps of JITs may still have */
	bool starved;     /* since it was last set false there was no descriptor for a file */
	bool was_starved; /* ... ever */
	bool told_starved;
};

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Without what would double the slash of a path. */
static const char *root_dir(struct arena *a, const char *dir)
{
	size_t len = dir ? strlen(dir) : 0;

	while (len && dir[len - 1] == '/')
		len--;
	return len ? arena_strndup(a, dir, len) : "";
}

/* A tree of files of another machine has its own. */
static const char *default_cache(struct arena *a, const char *symfs)
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
	t->map_bytes_left = PERF_MAPS_MAX_BYTES;
	t->symfs = root_dir(&t->arena, opts->symfs);
	t->cache = opts->buildid_dir ? arena_strdup(&t->arena, opts->buildid_dir)
				     : default_cache(&t->arena, opts->symfs);
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
	vec_foreach(d, &t->all) {
		elf_file_close((*d)->code);
		symbol_set_done(&(*d)->symbols);
		hash64_done(&(*d)->answers);
	}
	vec_done(&t->all);
	hash64_done(&t->by_key);
	arena_done(&t->arena);
	free(t);
}

static bool is_same(const struct dso *d, const struct dso_key *key)
{
	return !strcmp(d->place.name, key->name) && d->inode == key->inode &&
	       d->build_id_len == (key->build_id ? key->build_id_len : 0) &&
	       !memcmp(d->build_id, key->build_id ? key->build_id : (const uint8_t *)"",
		       d->build_id_len);
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

bool dso_name_is_anonymous(const char *name)
{
	return begins(name, "//anon") || begins(name, "/dev/zero") ||
	       begins(name, "/anon_hugepage") || begins(name, "[stack") || begins(name, "/SYSV") ||
	       !strcmp(name, "[heap]");
}

/* "/tmp/perf-12.map"; perf takes whatever begins like it, programs built in such a folder too. */
static bool is_jit_map(const char *name, bool as_perf)
{
	static const char prefix[] = "/tmp/perf-";
	size_t digits;

	if (!begins(name, prefix))
		return false;
	digits = strspn(name + sizeof(prefix) - 1, "0123456789");
	return as_perf || (digits && !strcmp(name + sizeof(prefix) - 1 + digits, ".map"));
}

static int kind_of(const char *name, bool as_perf)
{
	if (!strcmp(name, "[vdso]"))
		return DSO_VDSO;
	if (is_jit_map(name, as_perf))
		return DSO_JIT;
	return dso_name_is_anonymous(name) ? DSO_NONE : DSO_FILE;
}

static const char *hex_of(struct arena *a, const uint8_t *id, size_t len)
{
	char *hex = arena_alloc(a, 2 * len + 1);

	for (size_t i = 0; hex && i < len; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	return hex;
}

static struct dso *make(struct dso_table *t, const struct dso_key *key)
{
	struct dso *d = arena_alloc(&t->arena, sizeof(*d));

	if (!d)
		return NULL;
	d->table = t;
	d->inode = key->inode;
	d->named = key->named;
	if (key->named)
		d->named_off = key->named->addresses == NAMED_BY_MAP ? key->pgoff
								     : key->named->first_off;
	d->problem = "";
	d->place = (struct dso_place){ .name = arena_strdup(&t->arena, key->name),
				       .build_id = (const uint8_t *)"",
				       .symfs = t->symfs,
				       .cache = t->cache };
	if (key->build_id && key->build_id_len) {
		d->place.build_id_len = key->build_id_len;
		d->place.build_id = (const uint8_t *)arena_strndup(
			&t->arena, (const char *)key->build_id, key->build_id_len);
	}
	d->kind = kind_of(key->name, t->opts.compat != SONDE_COMPAT_NONE);
	d->build_id_hex = hex_of(&t->arena, d->place.build_id, d->place.build_id_len);
	d->build_id = d->place.build_id;
	d->build_id_len = d->place.build_id_len;
	if (!d->place.name || !d->place.build_id || !d->build_id_hex || vec_push(&t->all, d) < 0)
		return NULL;
	symbol_set_init(&d->symbols,
			!t->opts.demangle || d->kind == DSO_JIT    ? DEMANGLE_NONE
			: t->opts.compat == SONDE_COMPAT_PERF_6_12 ? DEMANGLE_LONG
								   : DEMANGLE_SHORT,
			t->opts.compat != SONDE_COMPAT_NONE);
	return d;
}

struct dso *dso_get(struct dso_table *t, const struct dso_key *key)
{
	uint64_t hash = hash_bytes(key->name, strlen(key->name)), first;
	struct dso *d;

	hash ^= key->inode * UINT64_C(0x9e3779b97f4a7c15);
	if (key->build_id)
		hash ^= hash_bytes(key->build_id, key->build_id_len);
	first = hash64_find(&t->by_key, hash);
	for (d = first == HASH64_EMPTY ? NULL : (struct dso *)(uintptr_t)first; d; d = d->next) {
		if (is_same(d, key))
			return d;
	}
	d = make(t, key);
	if (!d)
		return NULL;
	d->next = first == HASH64_EMPTY ? NULL : (struct dso *)(uintptr_t)first;
	return hash64_put(&t->by_key, hash, (uintptr_t)d) < 0 ? NULL : d;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void set_problem(struct dso *d, const char *text)
{
	const char *copy = arena_strdup(&d->table->arena, text);

	/* One line of what may be several causes. */
	d->problem = copy ? copy : "";
	for (char *p = (char *)copy; p && *p; p++)
		*p = *p == '\n' ? ' ' : *p;
}

static bool is_recorded_build(const struct dso *d, const struct elf_file *f)
{
	uint8_t id[ELF_BUILD_ID_MAX_BYTES];
	size_t len;

	if (!d->place.build_id_len)
		return true;
	len = elf_file_build_id(f, id);
	/* Recordings fill shorter ids up with zeros. */
	for (size_t i = 0; i < d->place.build_id_len; i++) {
		if (d->place.build_id[i] != (i < len ? id[i] : 0))
			return false;
	}
	return len && len <= d->place.build_id_len;
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

static bool is_starved(int r)
{
	return errno_no_descriptor(-r);
}

static void rest_all(struct dso_table *t)
{
	for (unsigned i = 0; i < MAX_OPEN_FILES; i++) {
		if (t->open[i])
			elf_file_rest(t->open[i]);
	}
}

static int note_starved(struct dso_table *t, int r)
{
	if (is_starved(r))
		t->starved = t->was_starved = true;
	return r;
}

int dso_open_file(struct dso *d, const char *path)
{
	struct dso_table *t = d->table;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 && is_starved(-errno)) {
		rest_all(t);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	return fd < 0 ? note_starved(t, err_errno(errno, "%s", path)) : fd;
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

bool dso_tell_no_descriptor(struct dso *d)
{
	struct dso_table *t = d->table;
	bool tell = t->was_starved && !t->told_starved;

	t->told_starved |= tell;
	return tell;
}

static int open_elf(struct dso_table *t, struct elf_file **ret, const char *path)
{
	int r = elf_file_open(ret, path);

	if (is_starved(r)) {
		rest_all(t);
		r = elf_file_open(ret, path);
	}
	return note_starved(t, r);
}

/* ---- finding them ------------------------------------------------------------------------------------------------ */

/* Where no build id was recorded: whether the path still leads to the file that was mapped. */
static bool is_recorded_file(const struct dso *d, const char *path)
{
	const bool elsewhere = d->table->opts.symfs && *d->table->opts.symfs;
	struct stat st;

	return d->place.build_id_len || !d->inode || d->table->opts.compat || elsewhere ||
	       stat(path, &st) < 0 || (uint64_t)st.st_ino == d->inode;
}

/* A file of one kind if there is one and it is the recorded build; NULL. */
static struct elf_file *try_file(struct dso *d, enum dso_file which, const char *debuglink)
{
	struct elf_file *f = NULL;
	struct outbuf path = { 0 };

	int r = 0;

	if (d->table->opts.no_follow && dso_file_is_followed(which))
		return NULL;
	if (dso_file_path(&d->place, which, debuglink, &path) &&
	    (r = open_elf(d->table, &f, path.data)) >= 0 &&
	    (!is_recorded_build(d, f) ||
	     (which == DSO_FILE_PATH && !is_recorded_file(d, path.data)))) {
		if (which == DSO_FILE_PATH) {
			d->other_build = true;
			err_set(-ESTALE, "%s is not the file that was recorded: another %s",
				path.data, d->place.build_id_len ? "build id" : "inode");
			set_problem(d, err_text());
		}
		elf_file_close(f);
		f = NULL;
	}
	d->no_right |= which == DSO_FILE_PATH && (r == -EACCES || r == -EPERM);
	outbuf_done(&path);
	return f;
}

/* Opens the file again if it rests; false when it cannot be read any more. */
static bool wake(struct dso *d)
{
	struct dso_table *t = d->table;
	int r;

	if (!d->code)
		return false;
	if (d->code->fd >= 0 || d->code->image)
		return true;
	r = elf_file_wake(d->code);
	if (is_starved(r)) {
		rest_all(t);
		r = note_starved(t, elf_file_wake(d->code));
	}
	if (r < 0)
		return false;
	if (t->open[t->next_open])
		elf_file_rest(t->open[t->next_open]);
	t->open[t->next_open] = d->code;
	t->next_open = (t->next_open + 1) % MAX_OPEN_FILES;
	return true;
}

/* What is mapped: the file of that path; gone or replaced, the copy in the cache. */
static void find_code(struct dso *d)
{
	if (d->files_tried)
		return;
	d->table->starved = false;
	if (d->kind == DSO_VDSO) {
		/* perf looks for one with a build id in the cache only, and takes any without one */
		if (!d->build_id_len == (d->table->opts.compat != SONDE_COMPAT_NONE) &&
		    vdso_open(&d->code) >= 0 && !is_recorded_build(d, d->code)) {
			elf_file_close(d->code);
			d->code = NULL;
		}
	} else if (d->kind == DSO_FILE) {
		d->code = try_file(d, DSO_FILE_PATH, NULL);
	}
	if (!d->code && d->kind != DSO_JIT)
		d->code = try_file(d, DSO_FILE_CACHE, NULL);
	/* Files beside it must be of the same build. */
	if (d->code && !d->place.build_id_len) {
		uint8_t id[ELF_BUILD_ID_MAX_BYTES];
		size_t len = elf_file_build_id(d->code, id);
		const char *copy = len ? arena_strndup(&d->table->arena, (char *)id, len) : NULL;

		if (copy) {
			d->place.build_id = (const uint8_t *)copy;
			d->place.build_id_len = len;
		}
	}
	if (d->code && !d->code->image) {
		d->code_path = d->code->path;
		elf_file_rest(d->code);
	}
	d->lacks_descriptor = !d->code && d->table->starved;
	d->files_tried = !d->lacks_descriptor;
	if (d->code)
		d->problem = "";
	else if (!*d->problem && d->kind == DSO_FILE)
		set_problem(d, d->table->opts.no_follow ? "its path is not followed"
							: "the file is not there");
}

bool dso_is_here(struct dso *d)
{
	find_code(d);
	return d->code || d->other_build || d->kind == DSO_VDSO;
}

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

/* Looks for the first file with a table of all symbols, as perf does; *ret is the code itself when no other has one. */
static struct elf_file *find_symbols(struct dso *d)
{
	char *debuglink = wake(d) ? dso_file_debuglink(d->code) : NULL;
	struct elf_file *f = NULL;

	for (int which = 0; which < NR_DSO_FILES && !f; which++) {
		f = try_file(d, which, debuglink);
		if (f && !elf_symbols_has_table(f)) {
			elf_file_close(f);
			f = NULL;
		}
	}
	free(debuglink);
	return f;
}

static int load_elf(struct dso *d)
{
	struct elf_file *file = NULL, *f, *code;
	enum plt_style plt =
		d->table->opts.compat == SONDE_COMPAT_PERF_6_1 ? PLT_PERF_6_1 : PLT_ALL;
	int r;

	if (d->kind == DSO_FILE || d->place.build_id_len)
		file = find_symbols(d);
	if (!file && wake(d) && !d->table->opts.compat && !elf_symbols_has_table(d->code) &&
	    elf_symbols_unpack(&file, d->code) < 0)
		file = NULL;
	f = file ? file : d->code;
	if (!f)
		return err_set(-ENOENT, "%s", *d->problem ? d->problem : "the file is not there");
	d->stripped = !elf_symbols_has_table(f);
	code = wake(d) ? d->code : f;
	r = elf_symbols_add(&d->symbols, f, code);
	/* A packed table leaves out what the other one has. */
	if (r >= 0 && f != code && !elf_symbols_has_dynamic(f))
		r = elf_symbols_add(&d->symbols, code, code);
	if (r >= 0 && d->symbols.syms.n)
		r = elf_symbols_add_plt(&d->symbols, code, plt);
	elf_file_close(file);
	return r;
}

static int load_jit_map(struct dso *d)
{
	if (d->table->opts.no_follow)
		return err_set(-EPERM, "%s is not followed", d->place.name);
	return perf_map_add(&d->symbols, d->place.name, d->table->opts.force,
			    &d->table->map_bytes_left);
}

/* Functions that the recording names. The list has gaps: no symbol extends to the next one. */
static int load_named(struct dso *d)
{
	const uint64_t to_address = d->named->first_addr - d->named_off;

	for (size_t i = 0; i < d->named->nr; i++) {
		const struct named_symbol *n = &d->named->symbols[i];
		struct set_symbol sym = { .raw = n->name,
					  .binding = STB_GLOBAL,
					  .to_address = to_address,
					  .start = n->addr - to_address };

		sym.end = sym.start + n->len;
		if (sym.end > sym.start) /* else no address is in it */
			TRY(symbol_set_add(&d->symbols, &sym));
	}
	return symbol_set_settle(&d->symbols, true);
}

/*
 * Without a recorded build id the local file may be another one: path and inode prove nothing here.
 */
static int load_files_and_named(struct dso *d)
{
	int r = d->build_id_len ? load_elf(d) : -ENOENT;

	if (r >= 0 && d->symbols.syms.n && !d->stripped)
		return r;
	d->stripped = false;
	return load_named(d);
}

static int load_symbols(struct dso *d)
{
	if (d->named)
		return load_files_and_named(d);
	return d->kind == DSO_JIT ? load_jit_map(d) : load_elf(d);
}

static void load(struct dso *d)
{
	int r;

	if (d->symbols_tried)
		return;
	find_code(d);
	d->table->starved = false;
	r = note_starved(d->table, load_symbols(d));
	d->too_large = r == -EFBIG;
	d->symbols_tried = !d->table->starved || d->symbols.syms.n;
	if (!d->symbols_tried) {
		set_problem(d, "there were no descriptors left to open it");
		return;
	}
	/* What could be read before counts. */
	if (symbol_set_finish(&d->symbols) < 0 || r < 0)
		set_problem(d, err_text());
	else if (!d->symbols.syms.n)
		set_problem(d, "the file has no symbols");
	else
		d->problem = "";
}

const struct dso_symbol *dso_symbol_at(struct dso *d, uint64_t offset)
{
	uint64_t known = hash64_find(&d->answers, offset);
	struct dso_symbol *answer = NULL;
	struct set_symbol *sym;

	if (known != HASH64_EMPTY)
		return (const struct dso_symbol *)(uintptr_t)known;
	load(d);
	sym = symbol_set_find(&d->symbols, offset);
	if (sym)
		answer = arena_alloc(&d->table->arena, sizeof(*answer));
	if (answer)
		*answer = (struct dso_symbol){ .name = symbol_set_name(&d->symbols, sym),
					       .start = sym->start + sym->to_address,
					       .end = sym->end + sym->to_address,
					       .offset = sym->start,
					       .binding = sym->binding };
	/* Without memory it is found anew the next time. */
	if (d->symbols_tried)
		(void)hash64_put(&d->answers, offset, (uintptr_t)answer);
	return answer;
}

const char *dso_name(const struct dso *d)
{
	return d->place.name;
}

const char *dso_build_id(const struct dso *d)
{
	return d->build_id_hex;
}

const char *dso_build_id_found(struct dso *d)
{
	if (d->build_id_len || !d->place.build_id_len)
		return d->build_id_hex;
	if (!d->found_hex)
		d->found_hex = hex_of(&d->table->arena, d->place.build_id, d->place.build_id_len);
	return d->found_hex ? d->found_hex : "";
}

bool dso_is_file(const struct dso *d)
{
	if (d->named && d->named->addresses == NAMED_BY_MEMORY)
		return false;
	return d->kind == DSO_FILE || d->kind == DSO_VDSO;
}

/* ---- other questions --------------------------------------------------------------------------------------------- */

uint64_t dso_file_address(struct dso *d, uint64_t offset)
{
	uint64_t addr;

	find_code(d);
	return d->code && elf_file_address(d->code, offset, &addr) ? addr : offset;
}

const char *dso_code_path(struct dso *d)
{
	find_code(d);
	return d->code_path;
}

static bool has_dwarf(const struct elf_file *f)
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
	find_code(d);
	d->debug_tried = true;
	d->table->starved = false;
	if (d->kind == DSO_JIT || d->kind == DSO_NONE)
		return NULL;
	debuglink = wake(d) ? dso_file_debuglink(d->code) : NULL;
	for (int which = 0; which < NR_DSO_FILES && !d->debug_path; which++) {
		struct elf_file *f = try_file(d, which, debuglink);

		if (f && has_dwarf(f))
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
	find_code(d);
	if (!d->code || !d->code->image)
		return NULL;
	*ret_len = (size_t)d->code->size;
	return d->code->image;
}

size_t dso_read(struct dso *d, uint64_t offset, void *buf, size_t len)
{
	find_code(d);
	return wake(d) ? elf_file_read(d->code, offset, buf, len) : 0;
}

const char *dso_problem(struct dso *d)
{
	load(d);
	return d->problem;
}

enum sonde_unknown dso_unknown_file(struct dso *d)
{
	load(d);
	if (d->symbols.syms.n)
		return d->stripped ? SONDE_UNKNOWN_STRIPPED : SONDE_KNOWN;
	if (d->kind == DSO_NONE)
		return SONDE_UNKNOWN_NO_FILE;
	if (d->other_build)
		return SONDE_UNKNOWN_OTHER_BUILD;
	if (d->too_large)
		return SONDE_UNKNOWN_TOO_LARGE;
	if (d->code)
		return SONDE_UNKNOWN_STRIPPED;
	if (d->table->opts.no_follow)
		return SONDE_UNKNOWN_NOT_FOLLOWED;
	return d->no_right ? SONDE_UNKNOWN_NO_RIGHT : SONDE_UNKNOWN_ABSENT;
}

enum sonde_unknown dso_unknown(struct dso *d)
{
	enum sonde_unknown why = dso_unknown_file(d);

	return why ? why : SONDE_UNKNOWN_NO_SYMBOL;
}

bool dso_tell_unknown(struct dso *d)
{
	bool tell = d->symbols_tried && !d->told;

	d->told |= tell;
	return tell;
}
