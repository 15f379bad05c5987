/* SPDX-License-Identifier: MIT */
#include "symbols/lines.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "symbols/demangle.h"
#include "symbols/dwarf_lines.h"
#include "symbols/elf_lines.h"

enum { SOURCE_MAX_BYTES = 64 << 20 };

/* The result for one address. */
struct answer {
	size_t nr;
	struct line_place places[];
};

struct lines_file {
	struct dso *dso;
	struct dwarf_lines *dwarf; /* NULL if none */
	struct elf_lines *elf;     /* used for perf's rules; NULL if none */
	struct hash64 by_addr;     /* file address -> struct answer * */
};

struct source_text {
	char *text; /* owned; NULL if not available */
	size_t len;
	VEC(size_t) lines; /* the start of each line */
};

struct lines_table {
	struct lines_table_options opts;
	struct arena arena;
	struct hash64 by_dso; /* pointer -> index in files */
	VEC(struct lines_file) files;
	struct line_places found; /* reused for each lookup */
	struct outbuf name;
	struct strpool paths; /* paths of source files; the id is the index in sources */
	VEC(struct source_text) sources;
};

int lines_table_new(struct lines_table **ret, const struct lines_table_options *opts)
{
	struct lines_table *t = calloc(1, sizeof(*t));

	if (!t)
		return err_nomem();
	t->opts = *opts;
	if (strpool_init(&t->paths) < 0) {
		free(t);
		return err_nomem();
	}
	*ret = t;
	return 0;
}

void lines_table_free(struct lines_table *t)
{
	if (!t)
		return;
	vec_foreach(f, &t->files) {
		dwarf_lines_close(f->dwarf);
		elf_lines_close(f->elf);
		hash64_done(&f->by_addr);
	}
	vec_foreach(s, &t->sources) {
		free(s->text);
		vec_done(&s->lines);
	}
	vec_done(&t->files);
	vec_done(&t->sources);
	free(t->found.v);
	outbuf_done(&t->name);
	strpool_done(&t->paths);
	hash64_done(&t->by_dso);
	arena_done(&t->arena);
	free(t);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* True if no descriptor was free; one may be next time. */
static bool lines_is_starved(int r)
{
	return r == -EMFILE || r == -ENFILE;
}

/* NULL if out of memory or descriptors. */
static struct lines_file *lines_file_of(struct lines_table *t, struct dso *d)
{
	uint64_t known = hash64_find(&t->by_dso, (uintptr_t)d);
	struct lines_file f = { .dso = d };
	int r = 0;

	if (known != HASH64_EMPTY)
		return &t->files.v[known];
	if (t->opts.rules->lines_of_addr2line)
		r = elf_lines_open(&f.elf, d);
	if (!lines_is_starved(r))
		r = dwarf_lines_open(&f.dwarf, d, f.elf);
	if (!lines_is_starved(r)) {
		err_clear();
		r = vec_push(&t->files, f);
		if (r >= 0 && (r = hash64_put(&t->by_dso, (uintptr_t)d, t->files.n - 1)) >= 0)
			return &t->files.v[t->files.n - 1];
		if (t->files.n && t->files.v[t->files.n - 1].dso == d)
			t->files.n--;
	}
	dwarf_lines_close(f.dwarf);
	elf_lines_close(f.elf);
	return NULL;
}

static const char *lines_demangled(struct lines_table *t, const char *name)
{
	enum demangle_style style = t->opts.rules->demangles_long ? DEMANGLE_LONG : DEMANGLE_SHORT;

	t->name.len = 0;
	if (!name || !t->opts.demangle || !demangle(name, style, &t->name) || t->name.failed)
		return name;
	return arena_strndup(&t->arena, t->name.data, t->name.len);
}

static const struct answer *lines_ask(struct lines_table *t, struct lines_file *f, uint64_t addr)
{
	struct answer *a;

	t->found.n = 0;
	if (f->dwarf && dwarf_lines_find(f->dwarf, addr, &t->found) < 0)
		return NULL;
	if (f->elf)
		elf_lines_complete(f->elf, addr, &t->found);
	a = arena_alloc(&t->arena, sizeof(*a) + t->found.n * sizeof(a->places[0]));
	if (!a)
		return NULL;
	a->nr = t->found.n;
	for (size_t i = 0; i < a->nr; i++) {
		a->places[i] = t->found.v[i];
		a->places[i].function = lines_demangled(t, a->places[i].function);
	}
	return hash64_put(&f->by_addr, addr, (uintptr_t)a) < 0 ? NULL : a;
}

size_t lines_at(struct lines_table *t, struct dso *d, uint64_t file_addr,
		const struct line_place **ret)
{
	struct lines_file *f = lines_file_of(t, d);
	const struct answer *a = NULL;
	uint64_t known;

	if (!f)
		return 0;
	known = hash64_find(&f->by_addr, file_addr);
	a = known != HASH64_EMPTY ? (const struct answer *)(uintptr_t)known
				  : lines_ask(t, f, file_addr);
	if (!a)
		return 0;
	*ret = a->places;
	return a->nr;
}

/* ---- source text ----------------------------------------------------------------------------- */

static int lines_read_source(const char *path, struct source_text *s)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size <= SOURCE_MAX_BYTES && !(s->text = malloc((size_t)st.st_size)))
		err_note_nomem();
	while (s->text && s->len < (size_t)st.st_size &&
	       (n = read(fd, s->text + s->len, (size_t)st.st_size - s->len)) > 0)
		s->len += (size_t)n;
	close(fd);
	for (size_t at = 0; at < s->len;) {
		const char *end = memchr(s->text + at, '\n', s->len - at);

		TRY(vec_push(&s->lines, at));
		at = end ? (size_t)(end - s->text) + 1 : s->len;
	}
	return 0;
}

static struct source_text *lines_source_of(struct lines_table *t, const char *path)
{
	struct source_text s = { 0 };
	uint32_t id;

	if (strpool_intern(&t->paths, path, strlen(path), &id) < 0)
		return NULL;
	while (t->sources.n <= id) {
		s = (struct source_text){ 0 };
		if (t->sources.n == id)
			(void)(t->opts.no_follow ? 0 : lines_read_source(path, &s));
		if (vec_push(&t->sources, s) < 0) {
			free(s.text);
			vec_done(&s.lines);
			return NULL;
		}
	}
	return &t->sources.v[id];
}

bool lines_source(struct lines_table *t, const char *file, uint32_t line, const char **ret,
		  size_t *ret_len)
{
	struct source_text *s = lines_source_of(t, file);
	const char *start, *end;

	if (!s || !line || line > s->lines.n)
		return false;
	start = s->text + s->lines.v[line - 1];
	end = memchr(start, '\n', s->len - s->lines.v[line - 1]);
	*ret = start;
	*ret_len = end ? (size_t)(end - start) : s->len - s->lines.v[line - 1];
	return true;
}
