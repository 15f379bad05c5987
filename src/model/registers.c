/* SPDX-License-Identifier: MIT */
#include "model/registers.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define UNKNOWN  "unknown"

/*
 * Names of the registers first, first + 1 ...: the words, or the prefix with the numbers from,
 * from + 1 ...
 */
struct register_row {
	unsigned first, nr;
	const char *prefix; /* NULL if words give the names */
	unsigned from;
	const char *const *words;
};

#define WORDS(first, words)                         \
	{                                           \
		first, COUNT(words), NULL, 0, words \
	}
#define NUMBERED(first, nr, prefix, from)     \
	{                                     \
		first, nr, prefix, from, NULL \
	}

static const char *const x86_words[] = { "AX", "BX",    "CX", "DX", "SI", "DI", "BP", "SP",
					 "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS", "GS" };
static const struct register_row x86[] = { WORDS(0, x86_words), NUMBERED(16, 8, "R", 8) };

static const char *const arm64_words[] = { "lr", "sp", "pc" };
static const char *const arm64_vg[] = { "vg" };
static const struct register_row arm64[] = { NUMBERED(0, 30, "x", 0), WORDS(30, arm64_words),
					     WORDS(46, arm64_vg) };

static const char *const arm_words[] = { "fp", "ip", "sp", "lr", "pc" };
static const struct register_row arm[] = { NUMBERED(0, 11, "r", 0), WORDS(11, arm_words) };

static const char *const riscv_words[] = { "pc", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
					   "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
					   "a6", "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
					   "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6" };
static const struct register_row riscv[] = { WORDS(0, riscv_words) };

static const char *const s390_words[] = { "MASK", "PC" };
static const struct register_row s390[] = { NUMBERED(0, 16, "R", 0), NUMBERED(16, 16, "FP", 0),
					    WORDS(32, s390_words) };

static const char *const powerpc_words[] = { "nip",   "msr",   "orig_r3", "ctr",   "link",
					     "xer",   "ccr",   "softe",   "trap",  "dar",
					     "dsisr", "sier",  "mmcra",   "mmcr0", "mmcr1",
					     "mmcr2", "mmcr3", "sier2",   "sier3" };
static const char *const powerpc_sampled[] = { "sdar", "siar" };
static const struct register_row powerpc[] = { NUMBERED(0, 32, "r", 0), WORDS(32, powerpc_words),
					       NUMBERED(51, 6, "pmc", 1),
					       WORDS(57, powerpc_sampled) };

static const char *const pc_words[] = { "PC" };
static const struct register_row mips[] = { WORDS(0, pc_words), NUMBERED(1, 25, "$", 1),
					    NUMBERED(28, 4, "$", 28) };
static const struct register_row loongarch[] = { WORDS(0, pc_words), NUMBERED(1, 31, "%r", 1) };

static const char *const csky_words[] = { "tls",     "lr", "pc", "sr", "sp",
					  "orig_a0", "a0", "a1", "a2", "a3" };
static const char *const csky_last[] = { "hi", "lo", "dcsr" };
static const struct register_row csky[] = { WORDS(0, csky_words), NUMBERED(10, 10, "regs", 0),
					    NUMBERED(20, 15, "exregs", 0), WORDS(35, csky_last) };

static const struct arch {
	const char *prefix; /* the beginning of the machine's name */
	const struct register_row *rows;
	size_t nr;
	/* The rule by which perf names no registers, or not all. */
	enum { NO_RULE, RISCV, CSKY, LOONGARCH } rule;
} archs[] = {
#define ARCH(prefix, rows, rule)                \
	{                                       \
		prefix, rows, COUNT(rows), rule \
	}
	ARCH("x86_64", x86, NO_RULE),
	ARCH("i386", x86, NO_RULE),
	ARCH("i486", x86, NO_RULE),
	ARCH("i586", x86, NO_RULE),
	ARCH("i686", x86, NO_RULE),
	ARCH("x86", x86, NO_RULE),
	ARCH("aarch64", arm64, NO_RULE),
	ARCH("arm64", arm64, NO_RULE),
	ARCH("arm", arm, NO_RULE),
	ARCH("sa110", arm, NO_RULE),
	ARCH("riscv", riscv, RISCV),
	ARCH("s390", s390, NO_RULE),
	ARCH("ppc", powerpc, NO_RULE),
	ARCH("powerpc", powerpc, NO_RULE),
	ARCH("mips", mips, NO_RULE),
	ARCH("csky", csky, CSKY),
	ARCH("loongarch", loongarch, LOONGARCH),
};

static const struct arch *registers_find_arch(const char *name)
{
	for (size_t i = 0; i < COUNT(archs); i++) {
		const struct arch *a = &archs[i];

		if (!strncmp(name, a->prefix, strlen(a->prefix)))
			return a;
	}
	return NULL;
}

static bool registers_is_named(const struct rules *rules, const struct arch *a, unsigned nr)
{
	switch (a->rule) {
	case RISCV:
		return !rules->lacks_riscv_registers;
	case CSKY: /* perf names only some registers */
		return !rules->lacks_riscv_registers || !(!nr || nr == 3 || nr == 5 || nr >= 20);
	case LOONGARCH:
		return !rules->lacks_loongarch_registers;
	case NO_RULE:
		break;
	}
	return true;
}

const char *register_name(const struct rules *rules, const char *arch, unsigned nr, char room[16])
{
	struct utsname here = { 0 };
	const struct arch *a;

	if (!arch && !uname(&here))
		arch = here.machine;
	a = registers_find_arch(arch ? arch : "");
	if (!a || !registers_is_named(rules, a, nr))
		return UNKNOWN;
	if (a->rows == x86 && nr >= 32 && nr < 64) { /* each register has two bits */
		snprintf(room, 16, "XMM%u", (nr - 32) / 2);
		return room;
	}
	for (const struct register_row *r = a->rows; r < a->rows + a->nr; r++) {
		if (nr - r->first >= r->nr)
			continue;
		if (r->words)
			return r->words[nr - r->first];
		snprintf(room, 16, "%s%u", r->prefix, nr - r->first + r->from);
		return room;
	}
	return UNKNOWN;
}
