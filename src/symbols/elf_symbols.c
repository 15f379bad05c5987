/* SPDX-License-Identifier: MIT */
#include "symbols/elf_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"

static const struct elf_section *table(const struct elf_file *f, const char *name, uint32_t type)
{
	const struct elf_section *s = elf_file_section(f, name);

	return s && s->type == type ? s : NULL;
}

bool elf_symbols_has_table(const struct elf_file *f)
{
	return table(f, ".symtab", SHT_SYMTAB);
}

bool elf_symbols_has_dynamic(const struct elf_file *f)
{
	return table(f, ".dynsym", SHT_DYNSYM);
}

/* ---- one table --------------------------------------------------------------------------------------------------- */

static Elf64_Sym symbol_at(const struct elf_file *f, const uint8_t *p)
{
	if (f->is64)
		return (Elf64_Sym){ .st_name = get_u32(p, f->swap),
				    .st_info = p[4],
				    .st_other = p[5],
				    .st_shndx = get_u16(p + 6, f->swap),
				    .st_value = get_u64(p + 8, f->swap),
				    .st_size = get_u64(p + 16, f->swap) };
	return (Elf64_Sym){ .st_name = get_u32(p, f->swap),
			    .st_value = get_u32(p + 4, f->swap),
			    .st_size = get_u32(p + 8, f->swap),
			    .st_info = p[12],
			    .st_other = p[13],
			    .st_shndx = get_u16(p + 14, f->swap) };
}

static bool is_label(const Elf64_Sym *s)
{
	unsigned visibility = ELF64_ST_VISIBILITY(s->st_other);

	return ELF64_ST_TYPE(s->st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
}

static bool is_function_or_object(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

/* Marks of arm's linker: "$a", "$d.5" and their like. */
static bool is_arm_mark(const struct elf_file *f, const char *name)
{
	return (f->machine == EM_ARM || f->machine == EM_AARCH64) && name[0] == '$' && name[1] &&
	       strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* NULL: it is in no section that is in memory, so the symbol does not count. */
static const struct elf_section *section_of(const struct elf_file *f, const Elf64_Sym *s)
{
	const struct elf_section *sec;

	if (s->st_shndx == SHN_UNDEF || s->st_shndx >= SHN_LORESERVE ||
	    s->st_shndx >= f->nr_sections)
		return NULL;
	sec = &f->sections[s->st_shndx];
	return sec->flags & SHF_ALLOC ? sec : NULL;
}

/* Where a section's bytes lie is told by the file that has them. */
static const struct elf_section *placed(const struct elf_file *code, const struct elf_section *sec,
					size_t index)
{
	if (sec->type == SHT_NOBITS && index < code->nr_sections &&
	    !strcmp(code->sections[index].name, sec->name))
		return &code->sections[index];
	return sec;
}

static int add_symbol(struct symbol_set *set, const struct elf_file *file,
		      const struct elf_file *code, Elf64_Sym s, const char *name)
{
	const struct elf_section *sec = section_of(file, &s);
	const struct elf_segment *seg;
	struct set_symbol sym = { .raw = name, .binding = ELF64_ST_BIND(s.st_info) };

	if (!sec || is_arm_mark(file, name))
		return 0;
	if (!is_function_or_object(&s) &&
	    !(is_label(&s) && (strstr(sec->name, "text") || strstr(sec->name, "data"))))
		return 0;
	/* Bit 0 tells Thumb code. */
	if (file->machine == EM_ARM && ELF64_ST_TYPE(s.st_info) == STT_FUNC)
		s.st_value &= ~UINT64_C(1);
	sec = placed(code, sec, s.st_shndx);
	seg = elf_file_segment_at(code, s.st_value);
	sym.to_address = seg ? seg->vaddr - seg->offset : sec->addr - sec->offset;
	sym.start = s.st_value - sym.to_address;
	sym.end = sym.start + s.st_size;
	if (sym.end < sym.start)
		sym.end = UINT64_MAX;
	return symbol_set_add(set, &sym);
}

/* A table with its names, as it lies in memory. */
struct loaded {
	uint8_t *entries; /* owned */
	size_t n, entry_bytes;
	const char *names; /* kept by the set; NUL-terminated */
	uint64_t names_len;
};

static int load_table(struct symbol_set *set, const struct elf_file *f, const struct elf_section *s,
		      struct loaded *ret)
{
	struct loaded l = { .entry_bytes = f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym) };
	uint8_t *names;

	if (s->link >= f->nr_sections || f->sections[s->link].type != SHT_STRTAB)
		return err_set(-EBADMSG, "%s: %s has no names", f->path, s->name);
	TRY(elf_file_load(f, &f->sections[s->link], &names));
	TRY(symbol_set_keep(set, names));
	l.names = (const char *)names;
	l.names_len = f->sections[s->link].size;
	TRY(elf_file_load(f, s, &l.entries));
	l.n = s->size / l.entry_bytes;
	*ret = l;
	return 0;
}

static int add_table(struct symbol_set *set, const struct elf_file *file,
		     const struct elf_file *code, const struct elf_section *s)
{
	struct loaded l;
	int r = 0;

	TRY(load_table(set, file, s, &l));
	for (size_t i = 0; i < l.n && r >= 0; i++) {
		Elf64_Sym sym = symbol_at(file, l.entries + i * l.entry_bytes);

		if (sym.st_name && sym.st_name < l.names_len)
			r = add_symbol(set, file, code, sym, l.names + sym.st_name);
	}
	free(l.entries);
	TRY(r);
	return symbol_set_settle(set, true);
}

int elf_symbols_add(struct symbol_set *set, const struct elf_file *file,
		    const struct elf_file *code)
{
	const struct elf_section *s = table(file, ".symtab", SHT_SYMTAB);

	if (s)
		TRY(add_table(set, file, code, s));
	s = table(file, ".dynsym", SHT_DYNSYM);
	if (s)
		TRY(add_table(set, file, code, s));
	return 0;
}

/* ---- PLT --------------------------------------------------------------------------------------------------------- */

struct relocation {
	uint64_t offset;
	uint32_t symbol;
};

static struct relocation relocation_at(const struct elf_file *f, const uint8_t *p)
{
	/* Elf*_Rel and Elf*_Rela begin alike. */
	if (f->is64)
		return (struct relocation){ .offset = get_u64(p, f->swap),
					    .symbol = (uint32_t)(get_u64(p + 8, f->swap) >> 32) };
	return (struct relocation){ .offset = get_u32(p, f->swap),
				    .symbol = get_u32(p + 4, f->swap) >> 8 };
}

static size_t relocation_bytes(const struct elf_file *f, uint32_t type)
{
	if (f->is64)
		return type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	return type == SHT_RELA ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
}

static void plt_sizes(const struct elf_file *f, const struct elf_section *plt, uint64_t *ret_header,
		      uint64_t *ret_entry)
{
	switch (f->machine) {
	case EM_ARM:
		*ret_header = 20;
		*ret_entry = 12;
		break;
	case EM_AARCH64:
		*ret_header = 32;
		*ret_entry = 16;
		break;
	case EM_SPARC:
		*ret_header = 48;
		*ret_entry = 12;
		break;
	case EM_SPARCV9:
		*ret_header = 128;
		*ret_entry = 32;
		break;
	default:
		*ret_header = *ret_entry = plt->entsize;
	}
}

/* Entry i of the section is the call of relocation i. */
static int add_entries(struct symbol_set *set, const struct elf_file *f,
		       const struct elf_section *plt, const struct elf_section *rel,
		       const uint8_t *rels, const struct loaded *l, bool has_header)
{
	uint64_t header, entry, size = relocation_bytes(f, rel->type), n = rel->size / size, at;

	plt_sizes(f, plt, &header, &entry);
	at = plt->offset + (has_header ? header : 0);
	for (uint64_t i = 0; i < n; i++, at += entry) {
		uint32_t symbol = relocation_at(f, rels + i * size).symbol;
		struct set_symbol sym = { .start = at,
					  .end = at + entry,
					  .to_address = plt->addr - plt->offset,
					  .binding = STB_GLOBAL,
					  .raw = "",
					  .is_plt = true };

		if (symbol < l->n) {
			Elf64_Sym s = symbol_at(f, l->entries + symbol * l->entry_bytes);

			if (s.st_name < l->names_len)
				sym.raw = l->names + s.st_name;
		}
		/* What lies behind the section is not its. */
		if (at < plt->offset || at - plt->offset >= plt->size)
			break;
		TRY(symbol_set_add(set, &sym));
	}
	return 0;
}

int elf_symbols_add_plt(struct symbol_set *set, const struct elf_file *f, enum plt_style style)
{
	const struct elf_section *dynsym = table(f, ".dynsym", SHT_DYNSYM),
				 *rel = elf_file_section(f, ".rela.plt"),
				 *plt = elf_file_section(f, ".plt"),
				 *sec = elf_file_section(f, ".plt.sec");
	uint8_t *rels = NULL;
	struct loaded l;
	int r;

	if (!rel)
		rel = elf_file_section(f, ".rel.plt");
	if (!dynsym || !rel || !plt || (rel->type != SHT_RELA && rel->type != SHT_REL) ||
	    rel->link >= f->nr_sections || &f->sections[rel->link] != dynsym)
		return 0;
	TRY(load_table(set, f, dynsym, &l));
	r = elf_file_load(f, rel, &rels);
	if (r >= 0)
		r = add_entries(set, f, plt, rel, rels, &l, true);
	if (r >= 0 && style == PLT_ALL && sec)
		r = add_entries(set, f, sec, rel, rels, &l, false);
	free(rels);
	free(l.entries);
	TRY(r);
	return symbol_set_settle(set, false);
}
