/* SPDX-License-Identifier: MIT */
/*
 * The PLT: small pieces of code that call functions of other files. No symbol names them. Each
 * jumps through a pointer in memory, and the relocation of that pointer names the function.
 *
 *	.plt      | header | entry | entry | ...     relocation i of .rela.plt belongs to entry i
 *	.plt.sec           | entry | entry | ...     the same; .plt then has only the code that
 *	                                             looks the function up at its first call
 *	.plt.got           | entry | ...             jumps through a pointer that a relocation of
 *	                                             .rela.dyn sets
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "symbols/elf_symbols_internal.h"

struct relocation {
	uint64_t offset;
	int64_t addend;
	uint32_t symbol;
};

struct relocations {
	struct relocation *v; /* owned */
	size_t n;
};

struct plt {
	struct symbol_set *set;
	const struct elf_file *f;
	struct symbol_table table; /* the table that the relocations refer to */
	enum plt_style style;
};

static bool elf_plt_is_x86(const struct elf_file *f)
{
	return f->machine == EM_X86_64 || f->machine == EM_386;
}

/* ---- relocations ----------------------------------------------------------------------------- */

static size_t elf_plt_relocation_bytes(const struct elf_file *f, uint32_t type)
{
	if (f->is64)
		return type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	return type == SHT_RELA ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
}

/* Elf*_Rel and Elf*_Rela begin with the same members. */
static struct relocation elf_plt_relocation_at(const struct elf_file *f, const uint8_t *p,
					       bool has_addend)
{
	struct relocation r = { 0 };

	if (f->is64) {
		r.offset = get_u64(p, f->swap);
		r.symbol = (uint32_t)(get_u64(p + 8, f->swap) >> 32);
		r.addend = has_addend ? (int64_t)get_u64(p + 16, f->swap) : 0;
	} else {
		r.offset = get_u32(p, f->swap);
		r.symbol = get_u32(p + 4, f->swap) >> 8;
		r.addend = has_addend ? (int32_t)get_u32(p + 8, f->swap) : 0;
	}
	return r;
}

static int elf_plt_load_relocations(const struct elf_file *f, const struct elf_section *s,
				    struct relocations *ret)
{
	size_t bytes = elf_plt_relocation_bytes(f, s->type);
	uint8_t *table;

	TRY(elf_file_load(f, s, &table));
	ret->n = s->size / bytes;
	ret->v = calloc(ret->n + 1, sizeof(*ret->v));
	if (!ret->v) {
		free(table);
		return err_nomem();
	}
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i] = elf_plt_relocation_at(f, table + i * bytes, s->type == SHT_RELA);
	free(table);
	return 0;
}

static int plt_compare(const void *pa, const void *pb)
{
	const struct relocation *a = pa, *b = pb;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static const struct elf_section *elf_plt_relocation_section(const struct elf_file *f,
							    const char *rela, const char *rel)
{
	const struct elf_section *s = elf_file_section(f, rela);

	if (!s)
		s = elf_file_section(f, rel);
	return s && (s->type == SHT_RELA || s->type == SHT_REL) ? s : NULL;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* The sizes are known for some machines; for others the section gives them. */
static void plt_sizes(const struct plt *p, const struct elf_section *s, uint64_t *ret_header,
		      uint64_t *ret_entry)
{
	switch (p->f->machine) {
	case EM_ARM:
		*ret_header = 20;
		*ret_entry = 12;
		return;
	case EM_AARCH64:
		*ret_header = 32;
		*ret_entry = 16;
		return;
	case EM_SPARC:
		*ret_header = 48;
		*ret_entry = 12;
		return;
	case EM_SPARCV9:
		*ret_header = 128;
		*ret_entry = 32;
		return;
	}
	*ret_entry = s->entsize;
	if (p->style != PLT_BY_RELOCATIONS && elf_plt_is_x86(p->f) && *ret_entry != 8 &&
	    *ret_entry != 16)
		*ret_entry = s->align == 8 ? 8 : 16;
	*ret_header = *ret_entry;
}

static const char *plt_name_of(const struct plt *p, uint32_t symbol)
{
	Elf64_Sym s;

	if (symbol >= p->table.n)
		return "";
	s = elf_symbols_at(p->f, &p->table, symbol);
	return s.st_name < p->table.names_len ? p->table.names + s.st_name : "";
}

/*
 * A function chosen at run time (IFUNC) has no name in its relocation. Its resolver's address
 * identifies it.
 */
static const char *elf_plt_chosen_name(const struct plt *p, int64_t addend)
{
	vec_foreach(sym, &p->set->syms) {
		if (sym->is_ifunc && sym->start + sym->to_address == (uint64_t)addend)
			return symbol_set_name(p->set, sym);
	}
	return "";
}

static int plt_add_entry(const struct plt *p, const struct elf_section *s, uint64_t at,
			 uint64_t size, const char *name)
{
	struct set_symbol sym = {
		.start = at,
		.end = at + size,
		.to_address = s->addr - s->offset,
		.binding = STB_GLOBAL,
		.raw = name,
		.is_plt = true,
	};
	char offset[40];

	/* Bytes after the section are not part of it. */
	if (at < s->offset || at - s->offset >= s->size)
		return 0;
	if (!*name && p->style != PLT_BY_RELOCATIONS) {
		snprintf(offset, sizeof(offset), "offset_0x%llx", (unsigned long long)at);
		sym.raw = arena_strdup(&p->set->arena, offset);
		if (!sym.raw)
			return err_nomem();
	}
	return symbol_set_add(p->set, &sym);
}

static int elf_plt_add_header(const struct plt *p, const struct elf_section *s, uint64_t size)
{
	struct set_symbol sym = {
		.start = s->offset,
		.end = s->offset + size,
		.to_address = s->addr - s->offset,
		.binding = STB_GLOBAL,
		.raw = ".plt",
	};

	return symbol_set_add(p->set, &sym);
}

static int elf_plt_add_entries(const struct plt *p, const struct elf_section *s, uint64_t at,
			       uint64_t entry, const struct relocations *rels)
{
	/* If the section gives no size, perf 6.1 puts all entries at one place, with size 0. */
	if (!entry && p->style != PLT_BY_RELOCATIONS)
		return 0;
	for (size_t i = 0; i < rels->n; i++, at += entry) {
		const char *name = plt_name_of(p, rels->v[i].symbol);

		if (!*name && p->style != PLT_BY_RELOCATIONS)
			name = elf_plt_chosen_name(p, rels->v[i].addend);
		if (at - s->offset >= s->size)
			break;
		TRY(plt_add_entry(p, s, at, entry, name));
	}
	return 0;
}

/* ---- .plt.got -------------------------------------------------------------------------------- */

/*
 * The place where `jmp *disp(%rip)` finds its target, as a distance from its own start; 0 for any
 * other instruction.
 */
static int64_t elf_plt_jump_place(const uint8_t *code, size_t len)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (len >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	if (at < len && code[at] == 0xf2) /* bnd */
		at++;
	if (len < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	return (int64_t)at + 6 + (int32_t)load_u32(code + at + 2);
}

static int elf_plt_add_got_entries(const struct plt *p, const struct elf_section *s,
				   const uint8_t *code, struct relocations *rels)
{
	if (rels->n)
		qsort(rels->v, rels->n, sizeof(*rels->v), plt_compare);
	for (uint64_t i = 0; i + s->entsize <= s->size; i += s->entsize) {
		int64_t place = elf_plt_jump_place(code + i, s->entsize);
		struct relocation key = { .offset = s->addr + i + (uint64_t)place };
		const struct relocation *r =
			place && rels->n ? bsearch(&key, rels->v, rels->n, sizeof(key), plt_compare)
					 : NULL;

		TRY(plt_add_entry(p, s, s->offset + i, s->entsize,
				  r ? plt_name_of(p, r->symbol) : ""));
	}
	return 0;
}

static int plt_add_got(const struct plt *p)
{
	const struct elf_section *s = elf_file_section(p->f, ".plt.got"),
				 *rel = elf_plt_relocation_section(p->f, ".rela.dyn", ".rel.dyn");
	struct relocations rels = { 0 };
	uint8_t *code;
	int r;

	if (!s || p->f->machine != EM_X86_64 || s->entsize < 8 || elf_file_load(p->f, s, &code) < 0)
		return 0;
	if (rel && elf_plt_load_relocations(p->f, rel, &rels) < 0)
		rels = (struct relocations){ 0 };
	r = elf_plt_add_got_entries(p, s, code, &rels);
	free(rels.v);
	free(code);
	return r;
}

/* ---- all sections ---------------------------------------------------------------------------- */

/*
 * A symbol of another section whose end was derived from the next symbol must not extend into the
 * PLT.
 */
static void elf_plt_end_before(struct symbol_set *set, uint64_t offset)
{
	vec_foreach(sym, &set->syms) {
		if (sym->start < offset && sym->end > offset)
			sym->end = offset;
	}
}

/* perf 6.1: entries of .plt in the order of the relocations of .rela.plt. */
static int plt_add_only(const struct plt *p, const struct elf_section *plt,
			const struct relocations *rels)
{
	uint64_t header, entry;

	plt_sizes(p, plt, &header, &entry);
	return elf_plt_add_entries(p, plt, plt->offset + header, entry, rels);
}

static int plt_add_all(const struct plt *p, const struct elf_section *plt, struct relocations *rels)
{
	const struct elf_section *sec = elf_file_section(p->f, ".plt.sec");
	uint64_t header, entry, at = plt->offset;
	bool is_searched = elf_plt_is_x86(p->f) && sec;

	plt_sizes(p, plt, &header, &entry);
	/*
	 * If calls go through .plt.sec, all of .plt belongs to the search, as one header. If the
	 * entries fill .plt, it has no header.
	 */
	if (is_searched)
		header = plt->size;
	else if (rels->n && rels->n * entry == plt->size)
		header = 0;
	if (header)
		TRY(elf_plt_add_header(p, plt, header));
	TRY(plt_add_got(p));
	/* Functions chosen at run time are last, independent of the place of their entries. */
	if (elf_plt_is_x86(p->f) && rels->n)
		qsort(rels->v, rels->n, sizeof(*rels->v), plt_compare);
	at += header;
	if (is_searched) {
		plt_sizes(p, sec, &header, &entry);
		plt = sec;
		at = sec->offset;
	}
	return elf_plt_add_entries(p, plt, at, entry, rels);
}

int elf_symbols_add_plt(struct symbol_set *set, const struct elf_file *f, enum plt_style style)
{
	const struct elf_section *plt = elf_file_section(f, ".plt"),
				 *rel = elf_plt_relocation_section(f, ".rela.plt", ".rel.plt"),
				 *table;
	struct plt p = { .set = set, .f = f, .style = style };
	struct relocations rels = { 0 };
	int r = 0;

	table = rel && rel->link < f->nr_sections ? &f->sections[rel->link] : NULL;
	if (!plt || (style == PLT_BY_RELOCATIONS && (!table || table->type != SHT_DYNSYM)))
		return 0;
	if (!table)
		table = elf_file_section(f, ".dynsym");
	if (table && (table->type == SHT_DYNSYM || table->type == SHT_SYMTAB))
		r = elf_symbols_load(set, f, table, &p.table);
	if (r >= 0 && rel)
		r = elf_plt_load_relocations(f, rel, &rels);
	if (r >= 0 && style == PLT_BY_RELOCATIONS) {
		r = plt_add_only(&p, plt, &rels);
	} else if (r >= 0) {
		elf_plt_end_before(set, plt->offset);
		r = plt_add_all(&p, plt, &rels);
	}
	free(rels.v);
	free(p.table.entries);
	TRY(r);
	return symbol_set_settle(set, false);
}
