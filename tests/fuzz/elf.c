/* SPDX-License-Identifier: MIT */
/*
 * Symbols of a file with any bytes: u8 what, then the bytes.
 *
 *	what	1 a map of a JIT; else ELF    2 as perf does    4 long names of C++
 *		8 a list of the kernel's symbols
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "symbols/elf_symbols.h"
#include "symbols/kallsyms.h"
#include "symbols/perf_map.h"

static void look_up(struct symbol_set *set)
{
	if (symbol_set_finish(set) < 0)
		return;
	for (size_t i = 0; i < set->syms.n && i < 100; i++) {
		struct set_symbol *found = symbol_set_find(set, set->syms.v[i].start);

		if (found)
			symbol_set_name(set, found);
		symbol_set_find(set, set->syms.v[i].end);
	}
	symbol_set_find(set, 0);
	symbol_set_find(set, UINT64_MAX);
}

static void read_elf(struct symbol_set *set, struct elf_file *f, bool as_perf)
{
	struct elf_file *packed;
	uint64_t addr;

	(void)elf_file_build_id(f);
	for (uint64_t at = 0; at < 0x10000; at += 0x800)
		elf_file_address(f, at, &addr);
	if (elf_symbols_add(set, f, f) >= 0)
		elf_symbols_add_plt(set, f, as_perf ? PLT_BY_RELOCATIONS : PLT_ALL);
	if (elf_symbols_unpack(&packed, f) >= 0) {
		elf_symbols_add(set, packed, f);
		elf_file_close(packed);
	}
}

static void read_kallsyms(const uint8_t *data, size_t size)
{
	const struct kernel_symbol *sym;
	uint64_t first, end;
	struct kallsyms *k;

	if (kallsyms_read(&k, (const char *)data, size, "fuzz") < 0)
		return;
	kallsyms_range(k, &first, &end);
	sym = kallsyms_find(k, first);
	if (sym)
		kallsyms_address(k, sym->name);
	kallsyms_find(k, end);
	kallsyms_slide(k, 0x1000);
	for (uint64_t at = first; at < first + 0x4000; at += 0x100)
		kallsyms_find(k, at);
	kallsyms_find(k, UINT64_MAX);
	kallsyms_close(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_set set;
	struct elf_file *f;
	uint8_t what, *copy;

	if (size < 2)
		return 0;
	what = *data++;
	size--;
	if (what & 8) {
		read_kallsyms(data, size);
		return 0;
	}
	copy = (uint8_t *)fuzz_text(data, size);
	symbol_set_init(&set, what & 4 ? DEMANGLE_LONG : DEMANGLE_SHORT, what & 2);
	if (what & 1) {
		if (symbol_set_keep(&set, copy) >= 0)
			perf_map_parse(&set, (char *)copy, size);
		look_up(&set);
	} else if (elf_file_from_memory(&f, copy, size, "fuzz") >= 0) {
		read_elf(&set, f, what & 2);
		look_up(&set);
		elf_file_close(f);
	}
	symbol_set_done(&set);
	return 0;
}
