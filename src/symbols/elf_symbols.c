/* SPDX-License-Identifier: MIT */
#include "symbols/elf_symbols_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"

static const struct elf_section *elf_symbols_table(const struct elf_file *f, const char *name,
						   uint32_t type)
{
	const struct elf_section *s = elf_file_section(f, name);

	return s && s->type == type ? s : NULL;
}

bool elf_symbols_has_table(const struct elf_file *f)
{
	return elf_symbols_table(f, ".symtab", SHT_SYMTAB);
}

bool elf_symbols_has_dynamic(const struct elf_file *f)
{
	return elf_symbols_table(f, ".dynsym", SHT_DYNSYM);
}

/* ---- one table ------------------------------------------------------------------------------- */

Elf64_Sym elf_symbols_at(const struct elf_file *f, const struct symbol_table *t, size_t i)
{
	const uint8_t *p = t->entries + i * t->entry_bytes;

	if (f->is64)
		return (Elf64_Sym){
			.st_name = get_u32(p, f->swap),
			.st_info = p[4],
			.st_other = p[5],
			.st_shndx = get_u16(p + 6, f->swap),
			.st_value = get_u64(p + 8, f->swap),
			.st_size = get_u64(p + 16, f->swap),
		};
	return (Elf64_Sym){
		.st_name = get_u32(p, f->swap),
		.st_value = get_u32(p + 4, f->swap),
		.st_size = get_u32(p + 8, f->swap),
		.st_info = p[12],
		.st_other = p[13],
		.st_shndx = get_u16(p + 14, f->swap),
	};
}

static bool elf_is_label(const Elf64_Sym *s)
{
	unsigned visibility = ELF64_ST_VISIBILITY(s->st_other);

	return ELF64_ST_TYPE(s->st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
}

static bool elf_is_function_or_object(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

/* Marks of arm's linker: "$a", "$d.5" and similar. */
static bool elf_is_arm_mark(const struct elf_file *f, const char *name)
{
	return (f->machine == EM_ARM || f->machine == EM_AARCH64) && name[0] == '$' && name[1] &&
	       strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* The section of a symbol. NULL if it is in no loaded section; the symbol is then ignored. */
static const struct elf_section *elf_symbols_section(const struct elf_file *f, const Elf64_Sym *s)
{
	const struct elf_section *sec;

	if (s->st_shndx == SHN_UNDEF || s->st_shndx >= SHN_LORESERVE ||
	    s->st_shndx >= f->nr_sections)
		return NULL;
	sec = &f->sections[s->st_shndx];
	return sec->flags & SHF_ALLOC ? sec : NULL;
}

/* The section in the file that contains its bytes, which has their place. */
static const struct elf_section *elf_symbols_placed(const struct elf_file *code,
						    const struct elf_section *sec, size_t index)
{
	if (sec->type == SHT_NOBITS && index < code->nr_sections &&
	    !strcmp(code->sections[index].name, sec->name))
		return &code->sections[index];
	return sec;
}

static int elf_symbols_add_one(struct symbol_set *set, const struct elf_file *file,
			       const struct elf_file *code, Elf64_Sym s, const char *name)
{
	const struct elf_section *sec = elf_symbols_section(file, &s);
	const struct elf_segment *seg;
	struct set_symbol sym = { .raw = name, .binding = ELF64_ST_BIND(s.st_info) };

	if (!sec || elf_is_arm_mark(file, name))
		return 0;
	if (!elf_is_function_or_object(&s) &&
	    !(elf_is_label(&s) && (strstr(sec->name, "text") || strstr(sec->name, "data"))))
		return 0;
	/* Bit 0 marks Thumb code. */
	if (file->machine == EM_ARM && ELF64_ST_TYPE(s.st_info) == STT_FUNC)
		s.st_value &= ~UINT64_C(1);
	sec = elf_symbols_placed(code, sec, s.st_shndx);
	seg = elf_file_segment_at(code, s.st_value);
	sym.to_address = seg ? seg->vaddr - seg->offset : sec->addr - sec->offset;
	sym.is_ifunc = ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC;
	sym.is_object = ELF64_ST_TYPE(s.st_info) == STT_OBJECT;
	sym.start = s.st_value - sym.to_address;
	sym.end = sym.start + s.st_size;
	if (sym.end < sym.start)
		sym.end = UINT64_MAX;
	return symbol_set_add(set, &sym);
}

int elf_symbols_load(struct symbol_set *set, const struct elf_file *f, const struct elf_section *s,
		     struct symbol_table *ret)
{
	struct symbol_table l = { .entry_bytes = f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym) };
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

static int elf_add_table(struct symbol_set *set, const struct elf_file *file,
			 const struct elf_file *code, const struct elf_section *s)
{
	struct symbol_table l;
	int r = 0;

	TRY(elf_symbols_load(set, file, s, &l));
	for (size_t i = 0; i < l.n && r >= 0; i++) {
		Elf64_Sym sym = elf_symbols_at(file, &l, i);

		if (sym.st_name && sym.st_name < l.names_len)
			r = elf_symbols_add_one(set, file, code, sym, l.names + sym.st_name);
	}
	free(l.entries);
	TRY(r);
	return symbol_set_settle(set, true);
}

int elf_symbols_add(struct symbol_set *set, const struct elf_file *file,
		    const struct elf_file *code)
{
	const struct elf_section *s = elf_symbols_table(file, ".symtab", SHT_SYMTAB);

	if (s)
		TRY(elf_add_table(set, file, code, s));
	s = elf_symbols_table(file, ".dynsym", SHT_DYNSYM);
	if (s)
		TRY(elf_add_table(set, file, code, s));
	return 0;
}
