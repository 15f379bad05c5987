/* SPDX-License-Identifier: MIT */
#include "symbols/symbol_set.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/symbol_tree.h"

#define PAGE_BYTES  4096u
#define MAX_SYMBOLS (16u << 20)
/*
 * A short mangled name can expand to 64 KiB. Names beyond the limits stay mangled, in texts and in
 * comparisons.
 */
#define MAX_SHOWN_BYTES    (64u << 20)
#define MAX_COMPARED_BYTES (256u << 20)
#define WEAK               2
#define GLOBAL             1

void symbol_set_init(struct symbol_set *s, enum demangle_style demangle, bool as_perf)
{
	*s = (struct symbol_set){ .demangle = demangle, .as_perf = as_perf };
}

static void symbol_set_forget_compared(struct symbol_set *s)
{
	for (size_t i = 0; i < 2; i++) {
		outbuf_done(&s->compared[i].text);
		s->compared[i] = (struct compared_name){ 0 };
	}
}

void symbol_set_done(struct symbol_set *s)
{
	vec_foreach(blob, &s->blobs)
		free(*blob);
	vec_done(&s->blobs);
	vec_done(&s->syms);
	vec_done(&s->dropped);
	vec_done(&s->tables);
	vec_done(&s->stretches);
	free(s->places);
	symbol_tree_free(s->tree);
	hash64_done(&s->shown);
	symbol_set_forget_compared(s);
	arena_done(&s->arena);
	*s = (struct symbol_set){ 0 };
}

int symbol_set_keep(struct symbol_set *s, void *take_blob)
{
	int r = vec_push(&s->blobs, take_blob);

	if (r < 0)
		free(take_blob);
	return r;
}

int symbol_set_add(struct symbol_set *s, const struct set_symbol *sym)
{
	size_t seq = s->syms.n + s->dropped.n;

	if (seq >= MAX_SYMBOLS)
		return err_set(-EFBIG, "more than %u symbols", MAX_SYMBOLS);
	TRY(vec_push(&s->syms, *sym));
	s->syms.v[s->syms.n - 1].seq = (uint32_t)seq;
	return 0;
}

/* The name to print; written to `out` if it differs from the raw one. */
static const char *symbol_set_write_name(const struct set_symbol *sym, enum demangle_style style,
					 struct outbuf *out)
{
	out->len = 0;
	if (!demangle(sym->raw, style, out) && !sym->is_plt)
		return sym->raw;
	if (!out->len && *sym->raw)
		outbuf_str(out, sym->raw);
	if (sym->is_plt)
		outbuf_str(out, "@plt");
	outbuf_put(out, "", 1);
	return out->failed ? sym->raw : out->data;
}

const char *symbol_set_name(struct symbol_set *s, struct set_symbol *sym)
{
	struct outbuf text = { 0 };
	uint64_t key = (uint64_t)(uintptr_t)sym->raw << 1 | sym->is_plt, known;
	const char *name;

	if (sym->shown)
		return sym->shown;
	/* Many symbols may have the same name. */
	known = hash64_find(&s->shown, key);
	if (known != HASH64_EMPTY)
		return sym->shown = (const char *)(uintptr_t)known;
	name = symbol_set_write_name(
		sym, s->shown_bytes < MAX_SHOWN_BYTES ? s->demangle : DEMANGLE_NONE, &text);
	if (name != sym->raw) {
		name = arena_strndup(&s->arena, text.data, text.len - 1);
		s->shown_bytes += text.len;
		if (name)
			(void)hash64_put(&s->shown, key, (uintptr_t)name);
	}
	outbuf_done(&text);
	sym->shown = name;
	return name ? name : sym->raw;
}

/* ---- sorting, ends, duplicates --------------------------------------------------------------- */

static int symbol_set_compare(const void *pa, const void *pb)
{
	const struct set_symbol *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/*
 * A symbol without a size ends where the next one begins; the last one ends after the page that
 * follows its own.
 */
static void symbol_set_set_ends(struct symbol_set *s)
{
	struct set_symbol *v = s->syms.v;

	for (size_t i = 0; i + 1 < s->syms.n; i++) {
		if (v[i].end == v[i].start)
			v[i].end = v[i + 1].start;
	}
	v += s->syms.n - 1;
	if (v->end == v->start) {
		uint64_t page = (v->start + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);

		v->end = page + PAGE_BYTES > v->start ? page + PAGE_BYTES : UINT64_MAX;
	}
}

/* The name to print, for a comparison. Only the last name for each i is kept. */
static const char *symbol_set_compared_name(struct symbol_set *s, size_t i,
					    const struct set_symbol *sym)
{
	struct compared_name *c = &s->compared[i];

	if (c->raw != sym->raw || c->is_plt != sym->is_plt) {
		c->shown = symbol_set_write_name(
			sym, s->compared_bytes < MAX_COMPARED_BYTES ? s->demangle : DEMANGLE_NONE,
			&c->text);
		c->raw = sym->raw;
		c->is_plt = sym->is_plt;
		s->compared_bytes += c->text.len;
	}
	return c->shown;
}

static size_t symbol_set_underscores(const char *name)
{
	return strspn(name, "_");
}

static void symbol_set_swap_compared(struct symbol_set *s)
{
	struct compared_name c = s->compared[0];

	s->compared[0] = s->compared[1];
	s->compared[1] = c;
}

static bool symbol_set_same_name(const struct set_symbol *a, const struct set_symbol *b)
{
	return a->is_plt == b->is_plt && (a->raw == b->raw || !strcmp(a->raw, b->raw));
}

/*
 * Decides between two symbols at one address. In this order: the one with a size, the one that is
 * not weak, the global one, the one with fewer leading underscores, the longer one, the first one.
 */
static bool symbol_set_first_is_better(struct symbol_set *s, const struct set_symbol *a,
				       const struct set_symbol *b)
{
	const char *a_name, *b_name;
	size_t a_len, b_len;

	if ((a->end == a->start) != (b->end == b->start))
		return b->end == b->start;
	if ((a->binding == WEAK) != (b->binding == WEAK))
		return b->binding == WEAK;
	if ((a->binding == GLOBAL) != (b->binding == GLOBAL))
		return a->binding == GLOBAL;
	/* The better symbol is a in the next comparison; mostly it was a before. */
	a_name = symbol_set_compared_name(s, 0, a);
	b_name = symbol_set_same_name(a, b) ? a_name : symbol_set_compared_name(s, 1, b);
	a_len = symbol_set_underscores(a_name);
	b_len = symbol_set_underscores(b_name);
	if (a_len != b_len)
		return a_len < b_len;
	a_len = strlen(a_name);
	b_len = strlen(b_name);
	if (a_len != b_len)
		return a_len > b_len;
	return strncmp(a_name, "SyS", 3) != 0 && strncmp(a_name, "compat_SyS", 10) != 0;
}

static int symbol_set_drop_doubles(struct symbol_set *s)
{
	struct set_symbol *v = s->syms.v;
	size_t n = 0;

	if (vec_reserve(&s->dropped, s->syms.n) < 0)
		return err_nomem();
	for (size_t i = 1; i < s->syms.n; i++) {
		if (v[n].start != v[i].start) {
			v[++n] = v[i];
			continue;
		}
		v[n].is_ifunc |= v[i].is_ifunc;
		v[i].is_ifunc = v[n].is_ifunc;
		if (symbol_set_first_is_better(s, &v[n], &v[i])) {
			s->dropped.v[s->dropped.n++] = v[i];
		} else {
			s->dropped.v[s->dropped.n++] = v[n];
			v[n] = v[i];
			symbol_set_swap_compared(s);
		}
	}
	s->syms.n = n + 1;
	return 0;
}

int symbol_set_settle(struct symbol_set *s, bool ends)
{
	size_t added = s->syms.n + s->dropped.n;

	if (!s->syms.n)
		return 0;
	s->broken = true;
	qsort(s->syms.v, s->syms.n, sizeof(*s->syms.v), symbol_set_compare);
	if (ends) {
		symbol_set_set_ends(s);
		TRY(symbol_set_drop_doubles(s));
	}
	TRY(vec_push(&s->tables, (uint32_t)added));
	TRY(vec_push(&s->tables, (uint32_t)s->dropped.n));
	s->settled = s->syms.n;
	s->broken = false;
	return 0;
}

/* ---- stretches ------------------------------------------------------------------------------- */

/* The symbols that contain the current place, as a heap. The preferred one is first. */
struct open_symbols {
	const struct symbol_set *set;
	VEC(uint32_t) heap;
};

static bool symbol_set_is_meant_before(const struct symbol_set *s, uint32_t a, uint32_t b)
{
	return s->latest_wins ? s->syms.v[a].seq > s->syms.v[b].seq : a > b;
}

static int symbol_open(struct open_symbols *o, uint32_t sym)
{
	size_t i = o->heap.n;

	TRY(vec_push(&o->heap, sym));
	while (i && symbol_set_is_meant_before(o->set, sym, o->heap.v[(i - 1) / 2])) {
		o->heap.v[i] = o->heap.v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	o->heap.v[i] = sym;
	return 0;
}

static void symbol_set_close_first(struct open_symbols *o)
{
	uint32_t *v = o->heap.v, last = v[--o->heap.n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < o->heap.n) {
		if (child + 1 < o->heap.n &&
		    symbol_set_is_meant_before(o->set, v[child + 1], v[child]))
			child++;
		if (!symbol_set_is_meant_before(o->set, v[child], last))
			break;
		v[i] = v[child];
		i = child;
	}
	v[i] = last;
}

static int symbol_set_add_stretch(struct symbol_set *s, uint64_t start, uint32_t sym)
{
	struct symbol_stretch *last = s->stretches.n ? &s->stretches.v[s->stretches.n - 1] : NULL;

	if (last && last->sym == sym)
		return 0;
	if (last && last->start == start) {
		last->sym = sym;
		return 0;
	}
	return vec_push(&s->stretches, (struct symbol_stretch){ start, sym });
}

/* Adds a stretch from `at` up to `next`, where another symbol begins. */
static int symbol_set_cover(struct symbol_set *s, struct open_symbols *o, uint64_t at,
			    uint64_t next)
{
	while (o->heap.n) {
		uint32_t sym = o->heap.v[0];
		uint64_t end = s->syms.v[sym].end;

		if (end > at) {
			TRY(symbol_set_add_stretch(s, at, sym));
			if (end > next)
				return 0;
			at = end;
		}
		symbol_set_close_first(o);
	}
	return at < next ? symbol_set_add_stretch(s, at, UINT32_MAX) : 0;
}

static int symbol_set_make_stretches(struct symbol_set *s)
{
	struct open_symbols o = { .set = s };
	uint64_t at = 0;
	int r = 0;

	for (size_t i = 0; i < s->syms.n && r >= 0; i++) {
		r = symbol_set_cover(s, &o, at, s->syms.v[i].start);
		at = s->syms.v[i].start;
		if (r >= 0)
			r = symbol_open(&o, (uint32_t)i);
	}
	if (r >= 0)
		r = symbol_set_cover(s, &o, at, UINT64_MAX);
	vec_done(&o.heap);
	return r;
}

/* ---- perf's tree ----------------------------------------------------------------------------- */

static bool symbol_set_depends_on_tree(const struct symbol_set *s)
{
	uint64_t end = 0;

	for (size_t i = 0; i < s->syms.n; i++) {
		const struct set_symbol *sym = &s->syms.v[i];

		if (end > sym->start || sym->start == sym->end ||
		    (i && sym[-1].start == sym->start))
			return true;
		end = sym->end;
	}
	return false;
}

/* Nodes of the tree are numbered in the order of their insertion. */
static int symbol_set_make_tree(struct symbol_set *s)
{
	size_t n = s->syms.n + s->dropped.n, inserted = 0, removed = 0;
	const struct set_symbol **by_seq = calloc(n, sizeof(*by_seq));

	s->places = calloc(n, sizeof(*s->places));
	if (!by_seq || !s->places || symbol_tree_new(&s->tree, n) < 0) {
		free(by_seq);
		return err_nomem();
	}
	for (size_t i = 0; i < s->syms.n; i++) {
		by_seq[s->syms.v[i].seq] = &s->syms.v[i];
		s->places[s->syms.v[i].seq] = (uint32_t)i;
	}
	vec_foreach(sym, &s->dropped)
		by_seq[sym->seq] = sym;
	for (size_t t = 0; t + 1 < s->tables.n; t += 2) {
		for (; inserted < s->tables.v[t]; inserted++)
			symbol_tree_insert(s->tree, (uint32_t)inserted, by_seq[inserted]->start,
					   by_seq[inserted]->end);
		for (; removed < s->tables.v[t + 1]; removed++)
			symbol_tree_remove(s->tree, s->dropped.v[removed].seq);
	}
	free(by_seq);
	return 0;
}

/* ---- lookups --------------------------------------------------------------------------------- */

int symbol_set_finish(struct symbol_set *s)
{
	int r = s->broken ? err_nomem() : 0;

	s->syms.n = s->settled;
	if (r >= 0)
		r = s->as_perf && symbol_set_depends_on_tree(s) ? symbol_set_make_tree(s)
								: symbol_set_make_stretches(s);
	if (r < 0) {
		symbol_tree_free(s->tree);
		s->tree = NULL;
		s->syms.n = s->stretches.n = 0;
	}
	vec_done(&s->dropped);
	vec_done(&s->tables);
	symbol_set_forget_compared(s);
	return r;
}

struct set_symbol *symbol_set_find(struct symbol_set *s, uint64_t offset)
{
	size_t lo = 0, hi = s->stretches.n;
	uint32_t found;

	if (s->tree) {
		found = symbol_tree_find(s->tree, offset);
		return found == UINT32_MAX ? NULL : &s->syms.v[s->places[found]];
	}
	/* lo: index after the last stretch that begins at or before the offset */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->stretches.v[mid].start <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	found = lo ? s->stretches.v[lo - 1].sym : UINT32_MAX;
	return found == UINT32_MAX ? NULL : &s->syms.v[found];
}
