/* SPDX-License-Identifier: MIT */
/* Symbols out of any file: u8 what (0 ELF, 1 a map of a JIT; bit 1 as perf does), then its bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf_symbols.h"
#include "symbols/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *copy_of(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (copy) {
		memcpy(copy, data, size);
		copy[size] = 0;
	}
	return copy;
}

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
	uint8_t id[ELF_BUILD_ID_MAX_BYTES];
	struct elf_file *packed;
	uint64_t addr;

	elf_file_build_id(f, id);
	for (uint64_t at = 0; at < 0x10000; at += 0x800)
		elf_file_address(f, at, &addr);
	if (elf_symbols_add(set, f, f) >= 0)
		elf_symbols_add_plt(set, f, as_perf ? PLT_PERF_6_1 : PLT_ALL);
	if (elf_symbols_unpack(&packed, f) >= 0) {
		elf_symbols_add(set, packed, f);
		elf_file_close(packed);
	}
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
	copy = copy_of(data, size);
	if (!copy)
		return 0;
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
