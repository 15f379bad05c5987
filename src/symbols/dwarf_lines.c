/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "symbols/dwarf_file.h"
#include "symbols/elf_lines.h"
#include "symbols/elfutils.h"

enum {
	MAX_DEPTH = 256,   /* levels of nested entries; deeper entries are ignored */
	MAX_INLINED = 256, /* functions inlined into each other at one address */
	LOOK_BACK = 64     /* ranges that begin earlier and end later than their neighbours */
};

/* A range of code and the index of the object it belongs to. */
struct range {
	uint64_t start, end;
	uint32_t of;
};
struct ranges {
	struct range *v;
	size_t n, capacity;
};

/* Code of one function: its own, or an inlined copy. */
struct function_body {
	Dwarf_Die die;
	uint64_t start;
	const char *name; /* NULL, or a name that replaces the entry's */
	bool asked;       /* addr2line looks for another name only once */
};

struct function {
	struct function_body own;
	bool looked_inside;
	VEC(struct function_body) inlined;
	/* ranges of inlined functions; outer functions are before inner ones */
	struct ranges ranges;
};

struct dwarf_unit {
	Dwarf_Die lines; /* the entry that has the line table */
	Dwarf_Die code;  /* ... the functions; a different entry if they are in a .dwo */
	bool is_dwarf5;
	bool mangles;
	bool looked_inside;
	VEC(struct function) functions;
	struct ranges ranges;
	bool looked_for_unnamed;
	struct ranges unnamed; /* ranges in which the line program had not yet named a file */
};

struct dwarf_lines {
	struct dwarf_file file;
	struct elf_lines *as_addr2line; /* borrowed; NULL if results are those of DWARF */
	struct arena paths;             /* prefixed with their folders */
	VEC(struct dwarf_unit) units;
	struct ranges ranges;
};

/* ---- ranges ---------------------------------------------------------------------------------- */

static int dwarf_lines_by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->of < y->of ? -1 : x->of > y->of;
}

static int dwarf_add_ranges(struct ranges *r, Dwarf_Die *die, uint32_t of)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = ERR_MEMORY_NOTED(dwarf_ranges(die, at, &base, &start, &end))) > 0) {
		/* Entries of code that the linker removed begin at 0. */
		if (start && start < end)
			TRY(vec_push(r, (struct range){ start, end, of }));
	}
	return 0;
}

static void dwarf_sort_ranges(struct ranges *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), dwarf_lines_by_start);
}

static const struct range *dwarf_find_range(const struct ranges *r, uint64_t addr)
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

/* ---- units and functions --------------------------------------------------------------------- */

static bool dwarf_mangles_names(int language)
{
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Ada83:
	case DW_LANG_Ada95:
	case DW_LANG_Cobol74:
	case DW_LANG_Cobol85:
	case DW_LANG_Fortran77:
	case DW_LANG_Pascal83:
	case DW_LANG_PLI:
	case DW_LANG_UPC:
	case DW_LANG_Mips_Assembler:
		return false;
	}
	return true;
}

static int dwarf_read_units(struct dwarf_lines *l)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	Dwarf_Half version;
	uint8_t kind;

	while (ERR_MEMORY_NOTED(
		       dwarf_get_units(l->file.dwarf, cu, &cu, &version, &kind, &die, NULL)) == 0) {
		struct dwarf_unit u = {
			.lines = die,
			.code = die,
			.is_dwarf5 = version >= 5,
			.mangles = dwarf_mangles_names(dwarf_srclang(&die)),
		};

		if (kind == DW_UT_type || kind == DW_UT_split_type || l->units.n == UINT32_MAX)
			continue;
		if (kind == DW_UT_skeleton && dwarf_file_may_open_split(&l->file, &die) &&
		    !ERR_MEMORY_NOTED(
			    dwarf_cu_info(cu, NULL, NULL, NULL, &split, NULL, NULL, NULL)) &&
		    split.addr)
			u.code = split;
		TRY(vec_push(&l->units, u));
		TRY(dwarf_add_ranges(&l->ranges, &die, (uint32_t)l->units.n - 1));
	}
	dwarf_sort_ranges(&l->ranges);
	return 0;
}

static int dwarf_add_function(struct dwarf_unit *u, Dwarf_Die *die)
{
	size_t before = u->ranges.n;

	TRY(dwarf_add_ranges(&u->ranges, die, (uint32_t)u->functions.n));
	if (u->ranges.n == before)
		return 0; /* a declaration, or the abstract instance of an inlined function */
	return vec_push(
		&u->functions,
		(struct function){ .own = { .die = *die, .start = u->ranges.v[before].start } });
}

/*
 * A walk visits entries in the order of the file. A damaged DW_AT_sibling may lead back to visited
 * entries, such as an entry's own children, and libdw accepts that. The walk ends there; otherwise
 * its time would be exponential in the depth.
 */
static bool dwarf_goes_on(Dwarf_Die *die, uintptr_t *last)
{
	uintptr_t at = (uintptr_t)die->addr;

	if (at <= *last)
		return false;
	*last = at;
	return true;
}

/* Functions may be inside namespaces, classes and other functions. */
static int dwarf_read_functions(struct dwarf_unit *u, Dwarf_Die *parent, unsigned depth,
				uintptr_t *last)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || ERR_MEMORY_NOTED(dwarf_child(parent, &die)) != 0)
		return 0;
	do {
		if (!dwarf_goes_on(&die, last))
			return 0;
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			TRY(dwarf_add_function(u, &die));
		if (dwarf_haschildren(&die) > 0)
			TRY(dwarf_read_functions(u, &die, depth + 1, last));
	} while (dwarf_siblingof(&die, &die) == 0);
	return 0;
}

static int dwarf_add_inlined(struct function *f, Dwarf_Die *die)
{
	size_t before = f->ranges.n;

	TRY(dwarf_add_ranges(&f->ranges, die, (uint32_t)f->inlined.n));
	if (f->ranges.n == before)
		return 0;
	return vec_push(&f->inlined,
			(struct function_body){ .die = *die, .start = f->ranges.v[before].start });
}

static int dwarf_read_inlined(struct function *f, Dwarf_Die *parent, unsigned depth,
			      uintptr_t *last)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || ERR_MEMORY_NOTED(dwarf_child(parent, &die)) != 0)
		return 0;
	do {
		if (!dwarf_goes_on(&die, last))
			return 0;
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			TRY(dwarf_add_inlined(f, &die));
			TRY(dwarf_read_inlined(f, &die, depth + 1, last));
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			TRY(dwarf_read_inlined(f, &die, depth + 1, last));
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return 0;
}

/* NULL if there is no function, or no memory for it. */
static struct function *dwarf_find_function(struct dwarf_unit *u, uint64_t addr)
{
	const struct range *r;
	struct function *f;
	uintptr_t last = 0;

	if (!u->looked_inside) {
		if (dwarf_read_functions(u, &u->code, 0, &last) < 0) {
			u->ranges.n = u->functions.n = 0; /* one may exist without the other */
			return NULL;
		}
		u->looked_inside = true;
		dwarf_sort_ranges(&u->ranges);
	}
	r = dwarf_find_range(&u->ranges, addr);
	if (!r)
		return NULL;
	f = &u->functions.v[r->of];
	if (!f->looked_inside) {
		last = 0;
		if (dwarf_read_inlined(f, &f->own.die, 0, &last) < 0) {
			f->ranges.n = f->inlined.n = 0;
			return NULL;
		}
		f->looked_inside = true;
	}
	return f;
}

/* ---- places ---------------------------------------------------------------------------------- */

static const char *dwarf_text(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return ERR_MEMORY_NOTED(dwarf_formstring(dwarf_attr_integrate(die, name, &attr)));
}

static const char *dwarf_linkage_name(Dwarf_Die *die)
{
	const char *name = dwarf_text(die, DW_AT_linkage_name);

	return name ? name : dwarf_text(die, DW_AT_MIPS_linkage_name);
}

static const char *dwarf_lines_function_name(const struct dwarf_lines *l,
					     const struct dwarf_unit *u, struct function_body *b,
					     bool innermost, uint64_t addr)
{
	const char *name = b->name ? b->name : dwarf_linkage_name(&b->die), *sym = NULL;
	uint64_t sym_start;

	if (name)
		return name;
	if (l->as_addr2line && innermost && u->mangles && !b->asked) {
		b->asked = true;
		sym = elf_lines_symbol(l->as_addr2line, addr, &sym_start);
		if (sym && sym_start == b->start)
			b->name = sym;
	}
	return sym ? sym : dwarf_text(&b->die, DW_AT_name);
}

struct row {
	Dwarf_Addr addr;
	size_t file;
	int line;
	bool ends;
};

static bool dwarf_read_row(Dwarf_Lines *lines, size_t i, struct row *ret)
{
	Dwarf_Line *line = dwarf_onesrcline(lines, i);
	Dwarf_Files *files;

	return dwarf_lineaddr(line, &ret->addr) == 0 &&
	       dwarf_line_file(line, &files, &ret->file) == 0 &&
	       dwarf_lineno(line, &ret->line) == 0 && dwarf_lineendsequence(line, &ret->ends) == 0;
}

/* libdw sorts rows by address, so the last rows of a sequence may follow its end. */
static bool dwarf_is_behind_end(const struct row *end, const struct row *row)
{
	return end->ends && !row->ends && row->addr == end->addr && row->file == end->file &&
	       row->line == end->line;
}

/*
 * Collects the rows from the beginning of each sequence to the first row of a file other than
 * number 1.
 */
static int dwarf_read_unnamed(struct dwarf_unit *u)
{
	struct row row, end = { 0 };
	struct range r = { 0 };
	bool in_sequence = false, named = false;
	Dwarf_Lines *lines;
	size_t nr;

	if (ERR_MEMORY_NOTED(dwarf_getsrclines(&u->lines, &lines, &nr)) != 0)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		if (!dwarf_read_row(lines, i, &row) || dwarf_is_behind_end(&end, &row))
			continue;
		if (!in_sequence)
			r.start = row.addr;
		if (!named && (row.ends || row.file != 1)) {
			r.end = row.addr;
			TRY(vec_push(&u->unnamed, r));
		}
		named = !row.ends && (named || row.file != 1);
		in_sequence = !row.ends;
		end = row;
	}
	dwarf_sort_ranges(&u->unnamed);
	return 0;
}

static bool dwarf_is_unnamed(struct dwarf_unit *u, uint64_t addr)
{
	if (!u->looked_for_unnamed) {
		u->looked_for_unnamed = true;
		if (dwarf_read_unnamed(u) < 0)
			return false;
	}
	return dwarf_find_range(&u->unnamed, addr);
}

/*
 * A relative path is relative to the unit's folder, which may itself be relative. libdw has already
 * prefixed some paths with the folder; addr2line prefixes the paths of DWARF 5 once more.
 */
static const char *dwarf_file_path(struct dwarf_lines *l, struct dwarf_unit *u, const char *file)
{
	const char *folder = dwarf_text(&u->lines, DW_AT_comp_dir);
	size_t len, room;
	char *path;

	if (!file || *file == '/' || !folder || !*folder)
		return file;
	len = strlen(folder);
	if ((!l->as_addr2line || !u->is_dwarf5) && !strncmp(file, folder, len) && file[len] == '/')
		return file;
	room = len + 1 + strlen(file) + 1;
	path = arena_alloc(&l->paths, room);
	if (!path)
		return file;
	memcpy(path, folder, len);
	path[len] = '/';
	memcpy(path + len + 1, file, room - len - 1);
	return path;
}

static void line_of_address(struct dwarf_lines *l, struct dwarf_unit *u, uint64_t addr,
			    struct line_place *p)
{
	Dwarf_Line *line = ERR_MEMORY_NOTED(dwarf_getsrc_die(&u->lines, addr));
	Dwarf_Files *files;
	size_t file;
	int nr = 0;

	if (!line)
		return;
	if (dwarf_line_file(line, &files, &file) == 0) {
		if (l->as_addr2line && u->is_dwarf5 && file == 1 && dwarf_is_unnamed(u, addr))
			file = 0;
		p->file = dwarf_file_path(l, u, dwarf_filesrc(files, file, NULL, NULL));
	}
	if (dwarf_lineno(line, &nr) == 0 && nr > 0)
		p->line = (uint32_t)nr;
}

static uint64_t dwarf_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	return ERR_MEMORY_NOTED(dwarf_formudata(dwarf_attr(die, name, &attr), &v)) == 0 ? v : 0;
}

/* The source place of the call that was inlined. */
static void line_of_call(struct dwarf_lines *l, struct dwarf_unit *u, Dwarf_Die *inlined,
			 struct line_place *p)
{
	uint64_t file = dwarf_number(inlined, DW_AT_call_file),
		 line = dwarf_number(inlined, DW_AT_call_line);
	Dwarf_Files *files;
	size_t nr;

	if (ERR_MEMORY_NOTED(dwarf_getsrcfiles(&u->lines, &files, &nr)) == 0 && file < nr)
		p->file = dwarf_file_path(l, u, dwarf_filesrc(files, file, NULL, NULL));
	p->line = line <= UINT32_MAX ? (uint32_t)line : 0;
}

/*
 * addr2line does not find functions whose ranges are given by an index into a table
 * (DW_FORM_rnglistx).
 */
static bool dwarf_is_overlooked(const struct dwarf_lines *l, struct function_body *b)
{
	Dwarf_Attribute attr;

	return l->as_addr2line &&
	       dwarf_whatform(dwarf_attr(&b->die, DW_AT_ranges, &attr)) == DW_FORM_rnglistx;
}

int dwarf_lines_find(struct dwarf_lines *l, uint64_t addr, struct line_places *ret)
{
	const struct range *r = dwarf_find_range(&l->ranges, addr);
	struct function_body *bodies[MAX_INLINED + 1];
	struct line_place place = { 0 };
	struct function *f;
	struct dwarf_unit *u;
	unsigned nr = 0;

	ret->n = 0;
	if (!r)
		return 0;
	u = &l->units.v[r->of];
	f = dwarf_find_function(u, addr);
	if (f)
		bodies[nr++] = &f->own;
	for (size_t i = 0; f && i < f->ranges.n && nr <= MAX_INLINED; i++) {
		if (addr >= f->ranges.v[i].start && addr < f->ranges.v[i].end)
			bodies[nr++] = &f->inlined.v[f->ranges.v[i].of];
	}
	while (nr && dwarf_is_overlooked(l, bodies[nr - 1]))
		nr--;
	line_of_address(l, u, addr, &place);
	if (!nr && place.file)
		TRY(vec_push(ret, place));
	while (nr--) {
		place.function = dwarf_lines_function_name(l, u, bodies[nr], !ret->n, addr);
		place.is_inlined = nr > 0;
		TRY(vec_push(ret, place));
		place = (struct line_place){ 0 };
		line_of_call(l, u, &bodies[nr]->die, &place);
	}
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

int dwarf_lines_open(struct dwarf_lines **ret, struct dso *d, struct elf_lines *as_addr2line)
{
	struct dwarf_lines *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return err_nomem();
	l->file.fd = -1;
	l->as_addr2line = as_addr2line;
	r = dwarf_file_open_debug(&l->file, d);
	if (r >= 0 && !l->file.dwarf)
		r = err_set(-ENODATA, "no DWARF is found");
	if (r >= 0)
		r = dwarf_read_units(l);
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
		vec_foreach(f, &u->functions) {
			vec_done(&f->inlined);
			vec_done(&f->ranges);
		}
		vec_done(&u->functions);
		vec_done(&u->ranges);
		vec_done(&u->unnamed);
	}
	vec_done(&l->units);
	arena_done(&l->paths);
	vec_done(&l->ranges);
	dwarf_file_close(&l->file);
	free(l);
}
