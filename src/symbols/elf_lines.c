/* SPDX-License-Identifier: MIT */
#include "symbols/elf_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "symbols/dwarf_file.h"
#include "symbols/elfutils.h"

struct code_symbol {
	uint64_t start, size;
	const char *name, *file; /* file is NULL if unknown; borrowed from libelf */
	uint32_t order;          /* index in the table */
	uint32_t section;
	uint8_t type;
};

struct section {
	uint64_t start, end;
};

struct elf_lines {
	struct dwarf_file file;
	VEC(struct section) sections;    /* loaded sections by number; the others are empty */
	VEC(struct code_symbol) symbols; /* sorted by start, then by their order in the table */
};

/* ---- reading the table ----------------------------------------------------------------------- */

static bool elf_lines_is_code(const GElf_Sym *sym)
{
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_NOTYPE:
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS;
	}
	return false;
}

/*
 * A local symbol's file is the last file named before it. A global symbol has a file only if all
 * file names precede all symbols (a table of one file).
 */
static int elf_lines_read_symbols(struct elf_lines *l, Elf_Scn *scn, const GElf_Shdr *header)
{
	enum { NOTHING, SYMBOL, FILE_AFTER_SYMBOL } met = NOTHING;
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *file = NULL;
	GElf_Sym sym;

	for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(l->file.elf, header->sh_link, sym.st_name);
		bool named;

		if (GELF_ST_TYPE(sym.st_info) == STT_FILE) {
			file = name;
			met = met == SYMBOL ? FILE_AFTER_SYMBOL : met;
			continue;
		}
		if (met == NOTHING)
			met = SYMBOL;
		if (!name || !elf_lines_is_code(&sym))
			continue;
		named = GELF_ST_BIND(sym.st_info) == STB_LOCAL || met != FILE_AFTER_SYMBOL;
		TRY(vec_push(&l->symbols, (struct code_symbol){
						  .start = sym.st_value,
						  .size = sym.st_size ? sym.st_size : 1,
						  .name = name,
						  .file = named ? file : NULL,
						  .order = (uint32_t)i,
						  .section = sym.st_shndx,
						  .type = GELF_ST_TYPE(sym.st_info),
					  }));
	}
	return 0;
}

static int elf_lines_by_start(const void *a, const void *b)
{
	const struct code_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int elf_lines_read_sections(struct elf_lines *l)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	TRY(vec_push(&l->sections, (struct section){ 0 }));
	while ((scn = elf_nextscn(l->file.elf, scn))) {
		struct section s = { 0 };

		if (gelf_getshdr(scn, &h) && h.sh_flags & SHF_ALLOC && !(h.sh_flags & SHF_TLS))
			s = (struct section){ h.sh_addr, h.sh_addr + h.sh_size };
		TRY(vec_push(&l->sections, s));
	}
	return 0;
}

static uint32_t elf_lines_section_at(const struct elf_lines *l, uint64_t addr)
{
	for (size_t i = 0; i < l->sections.n; i++) {
		if (addr >= l->sections.v[i].start && addr < l->sections.v[i].end)
			return (uint32_t)i;
	}
	return 0;
}

static int elf_lines_read_table(struct elf_lines *l, uint32_t type)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(l->file.elf, scn))) {
		if (gelf_getshdr(scn, &header) && header.sh_type == type)
			TRY(elf_lines_read_symbols(l, scn, &header));
	}
	return 0;
}

int elf_lines_open(struct elf_lines **ret, struct dso *d)
{
	struct elf_lines *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return err_nomem();
	l->file.fd = -1;
	r = dwarf_file_open_debug(&l->file, d);
	if (r >= 0)
		r = elf_lines_read_sections(l);
	if (r >= 0)
		r = elf_lines_read_table(l, SHT_SYMTAB);
	if (r >= 0 && !l->symbols.n)
		r = elf_lines_read_table(l, SHT_DYNSYM);
	if (r < 0) {
		elf_lines_close(l);
		return r;
	}
	if (l->symbols.n)
		qsort(l->symbols.v, l->symbols.n, sizeof(*l->symbols.v), elf_lines_by_start);
	*ret = l;
	return 0;
}

void elf_lines_close(struct elf_lines *l)
{
	if (!l)
		return;
	vec_done(&l->symbols);
	vec_done(&l->sections);
	dwarf_file_close(&l->file);
	free(l);
}

/* ---- lookups --------------------------------------------------------------------------------- */

/*
 * True if b is a better name for addr than a. Both begin at one address; b is later in the table.
 */
static bool elf_lines_is_better(const struct code_symbol *a, const struct code_symbol *b,
				uint64_t addr)
{
	bool a_reaches = addr - a->start < a->size, b_reaches = addr - b->start < b->size;

	if (!a_reaches)
		return b->size > a->size;
	if (!b_reaches)
		return false;
	if ((a->type == STT_NOTYPE) != (b->type == STT_NOTYPE))
		return a->type == STT_NOTYPE;
	return b->size < a->size;
}

/* The best of the symbols that begin last before an address, in its section. */
static const struct code_symbol *elf_lines_find_symbol(const struct elf_lines *l, uint64_t addr)
{
	const struct code_symbol *best = NULL;
	size_t lo = 0, hi = l->symbols.n;
	uint32_t section = elf_lines_section_at(l, addr);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->symbols.v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!section)
		return NULL;
	for (; lo > 0 && !(best && l->symbols.v[lo - 1].start < best->start); lo--) {
		const struct code_symbol *sym = &l->symbols.v[lo - 1];

		/*
		 * The loop runs backwards, so of equal symbols it meets the first one of the table
		 * last.
		 */
		if (sym->section == section && (!best || !elf_lines_is_better(sym, best, addr)))
			best = sym;
		if (l->symbols.v[lo - 1].start < l->sections.v[section].start)
			break;
	}
	return best;
}

const char *elf_lines_symbol(const struct elf_lines *l, uint64_t file_addr, uint64_t *ret_start)
{
	const struct code_symbol *sym = elf_lines_find_symbol(l, file_addr);

	if (!sym)
		return NULL;
	*ret_start = sym->start;
	return sym->name;
}

void elf_lines_complete(struct elf_lines *l, uint64_t file_addr, struct line_places *places)
{
	const struct code_symbol *sym = elf_lines_find_symbol(l, file_addr);
	struct line_place *last;

	if (!sym)
		return;
	if (!places->n && vec_push(places, (struct line_place){ 0 }) < 0)
		return;
	last = &places->v[places->n - 1];
	if (!last->function)
		last->function = sym->name;
	if (!places->v[0].file) {
		places->v[0].file = sym->file ? sym->file : "??";
		places->v[0].line = 0;
	}
}
