/* SPDX-License-Identifier: MIT */
#include "unwind/registers.h"

#include <elf.h>
#include <linux/perf_event.h>
#include <string.h>

#ifndef EM_RISCV
#define EM_RISCV 243
#endif

/*
 * rax rdx rcx rbx rsi rdi rbp rsp r8..r15, return address (its column contains the pc); perf: ax bx
 * cx dx si di bp sp ip ... r8 (16) .. r15 (23)
 */
static const int8_t x86_64[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 };
/* eax ecx edx ebx esp ebp esi edi, return address */
static const int8_t i386[] = { 0, 2, 3, 1, 7, 6, 4, 5, 8 };
/* x0..x29, x30 (link), sp */
static const int8_t arm64[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
/* r0..r12, sp, lr, pc: the same on a 64-bit kernel */
static const int8_t arm[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
/* x0 is always 0; perf uses its place for the program counter */
static const int8_t riscv[] = { -1, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };

#define TABLE(t) .nr = sizeof(t), .dwarf_to_perf = t
static const struct unwind_arch arches[] = {
	{ EM_X86_64, 8, .perf_pc = 8, .sp = 7, .fp = 6, TABLE(x86_64) },
	{ EM_386, 4, .perf_pc = 8, .sp = 4, .fp = 5, TABLE(i386) },
	{ EM_AARCH64, 8, .perf_pc = 32, .sp = 31, .fp = 255, TABLE(arm64) },
	{ EM_ARM, 4, .perf_pc = 15, .sp = 13, .fp = 255, TABLE(arm) },
	{ EM_RISCV, 8, .perf_pc = 0, .sp = 2, .fp = 255, TABLE(riscv) },
};

/* Architectures of programs on a machine of that name: with 64-bit, then with 32-bit registers. */
static const struct {
	const char *name;
	uint16_t machine64, machine32;
} machines[] = {
	{ "x86_64", EM_X86_64, EM_386 },
	{ "amd64", EM_X86_64, EM_386 },
	{ "i386", 0, EM_386 },
	{ "i486", 0, EM_386 },
	{ "i586", 0, EM_386 },
	{ "i686", 0, EM_386 },
	{ "aarch64", EM_AARCH64, EM_ARM },
	{ "arm64", EM_AARCH64, EM_ARM },
	{ "riscv64", EM_RISCV, 0 },
};

static uint16_t registers_machine_of(const char *name, bool is64)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (!strcmp(machines[i].name, name))
			return is64 ? machines[i].machine64 : machines[i].machine32;
	}
	return !is64 && !strncmp(name, "arm", 3) ? EM_ARM : 0;
}

const struct unwind_arch *unwind_arch_of(const char *recorded_on, uint64_t abi)
{
	uint16_t machine;

	if (!recorded_on || (abi != PERF_SAMPLE_REGS_ABI_32 && abi != PERF_SAMPLE_REGS_ABI_64))
		return NULL;
	machine = registers_machine_of(recorded_on, abi == PERF_SAMPLE_REGS_ABI_64);
	for (size_t i = 0; machine && i < sizeof(arches) / sizeof(*arches); i++) {
		if (arches[i].machine == machine)
			return &arches[i];
	}
	return NULL;
}
