/* SPDX-License-Identifier: MIT */
/* dwarf_lines.h and elf_lines.h without libdw: no file has an answer. */
#include "base/err.h"
#include "symbols/dwarf_lines.h"
#include "symbols/elf_lines.h"

int dwarf_lines_open(struct dwarf_lines **ret, struct dso *d, struct elf_lines *as_addr2line)
{
	(void)ret;
	(void)d;
	(void)as_addr2line;
	return err_set(-ENOTSUP, "this build has no libdw, which reads DWARF");
}

void dwarf_lines_close(struct dwarf_lines *l)
{
	(void)l;
}

int dwarf_lines_find(struct dwarf_lines *l, uint64_t file_addr, struct line_places *ret)
{
	(void)l;
	(void)file_addr;
	ret->n = 0;
	return 0;
}

int elf_lines_open(struct elf_lines **ret, struct dso *d)
{
	(void)ret;
	(void)d;
	return err_set(-ENOTSUP, "this build has no libdw");
}

void elf_lines_close(struct elf_lines *l)
{
	(void)l;
}

const char *elf_lines_symbol(const struct elf_lines *l, uint64_t file_addr, uint64_t *ret_start)
{
	(void)l;
	(void)file_addr;
	(void)ret_start;
	return NULL;
}

void elf_lines_complete(struct elf_lines *l, uint64_t file_addr, struct line_places *places)
{
	(void)l;
	(void)file_addr;
	(void)places;
}
