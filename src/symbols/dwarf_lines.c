/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "symbols/dwarf_file.h"

enum {
	MAX_DEPTH = 256,   /* of nested entries: deeper ones are left out */
	MAX_INLINED = 256, /* functions inlined into each other at one address */
	LOOK_BACK = 64     /* ranges that begin earlier and reach further than their neighbours */
};

/* A piece of code and the number of what it belongs to. */
struct range {
	uint64_t start, end;
	uint32_t of;
};
struct ranges {
	struct range *v;
	size_t n, capacity;
};

struct inlined {
	uint64_t start, end;
	Dwarf_Die die;
	unsigned depth;
};

struct function {
	Dwarf_Die die;
	bool looked_inside;
	VEC(struct inlined) inlined; /* outer ones before those inside them */
};

struct unit {
	Dwarf_Die lines; /* the entry that the line table hangs on */
	Dwarf_Die code;  /* ... the functions: another one if they are in a .dwo */
	bool looked_inside;
	VEC(struct function) functions;
	struct ranges ranges;
};

struct dwarf_lines {
	struct dwarf_file file;
	VEC(struct unit) units;
	struct ranges ranges;
};

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->of < y->of ? -1 : x->of > y->of;
}

static int add_ranges(struct ranges *r, Dwarf_Die *die, uint32_t of)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		/* What the linker threw away keeps entries that begin at 0. */
		if (start && start < end)
			TRY(vec_push(r, (struct range){ start, end, of }));
	}
	return 0;
}

static void sort_ranges(struct ranges *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_start);
}

static const struct range *find_range(const struct ranges *r, uint64_t addr)
{
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = 0; i < LOOK_BACK && lo; i++) {
		if (addr < r->v[--lo].end)
			return &r->v[lo];
	}
	return NULL;
}

/* ---- units and functions ----------------------------------------------------------------------------------------- */

static int read_units(struct dwarf_lines *l)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t kind;

	while (dwarf_get_units(l->file.dwarf, cu, &cu, NULL, &kind, &die, &split) == 0) {
		struct unit u = { .lines = die, .code = die };

		if (kind == DW_UT_type || kind == DW_UT_split_type || l->units.n == UINT32_MAX)
			continue;
		if (kind == DW_UT_skeleton && split.addr)
			u.code = split;
		TRY(vec_push(&l->units, u));
		TRY(add_ranges(&l->ranges, &die, (uint32_t)l->units.n - 1));
	}
	sort_ranges(&l->ranges);
	return 0;
}

static int add_function(struct unit *u, Dwarf_Die *die)
{
	size_t before = u->ranges.n;

	TRY(add_ranges(&u->ranges, die, (uint32_t)u->functions.n));
	if (u->ranges.n == before)
		return 0; /* a declaration, or the abstract one of what is inlined */
	return vec_push(&u->functions, (struct function){ .die = *die });
}

/* Functions may be inside namespaces, classes, other functions. */
static int read_functions(struct unit *u, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			TRY(add_function(u, &die));
		if (dwarf_haschildren(&die) > 0)
			TRY(read_functions(u, &die, depth + 1));
	} while (dwarf_siblingof(&die, &die) == 0);
	return 0;
}

static int add_inlined(struct function *f, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start < end)
			TRY(vec_push(&f->inlined, (struct inlined){ start, end, *die, depth }));
	}
	return 0;
}

static int read_inlined(struct function *f, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			TRY(add_inlined(f, &die, depth));
			TRY(read_inlined(f, &die, depth + 1));
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			TRY(read_inlined(f, &die, depth + 1));
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return 0;
}

/* NULL: no function there, or no memory for it. */
static struct function *find_function(struct unit *u, uint64_t addr)
{
	const struct range *r;
	struct function *f;

	if (!u->looked_inside) {
		u->looked_inside = true;
		if (read_functions(u, &u->code, 0) < 0)
			return NULL;
		sort_ranges(&u->ranges);
	}
	r = find_range(&u->ranges, addr);
	if (!r)
		return NULL;
	f = &u->functions.v[r->of];
	if (!f->looked_inside) {
		f->looked_inside = true;
		if (read_inlined(f, &f->die, 0) < 0)
			return NULL;
	}
	return f;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static const char *function_name(Dwarf_Die *die)
{
	static const unsigned names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
	Dwarf_Attribute attr;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *name = dwarf_formstring(dwarf_attr_integrate(die, names[i], &attr));

		if (name)
			return name;
	}
	return NULL;
}

static void line_of_address(struct unit *u, uint64_t addr, struct line_place *p)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->lines, addr);
	int nr = 0;

	if (!line)
		return;
	p->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &nr) == 0 && nr > 0)
		p->line = (uint32_t)nr;
}

static uint64_t number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	return dwarf_formudata(dwarf_attr(die, name, &attr), &v) == 0 ? v : 0;
}

/* Where the function of an entry was called, had it not been inlined. */
static void line_of_call(struct unit *u, Dwarf_Die *inlined, struct line_place *p)
{
	uint64_t file = number(inlined, DW_AT_call_file), line = number(inlined, DW_AT_call_line);
	Dwarf_Files *files;
	size_t nr;

	if (dwarf_getsrcfiles(&u->lines, &files, &nr) == 0 && file < nr)
		p->file = dwarf_filesrc(files, file, NULL, NULL);
	p->line = line <= UINT32_MAX ? (uint32_t)line : 0;
}

int dwarf_lines_find(struct dwarf_lines *l, uint64_t addr, struct line_places *ret)
{
	const struct range *r = find_range(&l->ranges, addr);
	struct inlined *in[MAX_INLINED];
	struct line_place place = { 0 };
	struct function *f;
	struct unit *u;
	unsigned nr = 0;

	ret->n = 0;
	if (!r)
		return 0;
	u = &l->units.v[r->of];
	f = find_function(u, addr);
	for (size_t i = 0; f && i < f->inlined.n && nr < MAX_INLINED; i++) {
		if (addr >= f->inlined.v[i].start && addr < f->inlined.v[i].end)
			in[nr++] = &f->inlined.v[i];
	}
	line_of_address(u, addr, &place);
	while (nr--) {
		place.function = function_name(&in[nr]->die);
		place.is_inlined = true;
		TRY(vec_push(ret, place));
		place = (struct line_place){ 0 };
		line_of_call(u, &in[nr]->die, &place);
	}
	place.function = f ? function_name(&f->die) : NULL;
	if (ret->n || place.function || place.file)
		TRY(vec_push(ret, place));
	return 0;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

int dwarf_lines_open(struct dwarf_lines **ret, struct dso *d)
{
	struct dwarf_lines *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return err_nomem();
	l->file.fd = -1;
	r = dwarf_file_open_debug(&l->file, d);
	if (r >= 0 && !l->file.dwarf)
		r = err_set(-ENODATA, "%s: no DWARF", dso_debug_path(d));
	if (r >= 0)
		r = read_units(l);
	if (r < 0) {
		dwarf_lines_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

void dwarf_lines_close(struct dwarf_lines *l)
{
	if (!l)
		return;
	vec_foreach(u, &l->units) {
		vec_foreach(f, &u->functions)
			vec_done(&f->inlined);
		vec_done(&u->functions);
		vec_done(&u->ranges);
	}
	vec_done(&l->units);
	vec_done(&l->ranges);
	dwarf_file_close(&l->file);
	free(l);
}
