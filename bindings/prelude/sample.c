/* SPDX-License-Identifier: MIT */
/* The texts inside perf_sample_dict: a sample's data source, its registers. */
#include "prelude.h"

#include <stdio.h>
#include <string.h>

struct text {
	char *buf;
	size_t size, len; /* len <= size - 1: what does not fit is left out */
};

static void put(struct text *t, const char *s)
{
	while (*s && t->len + 1 < t->size)
		t->buf[t->len++] = *s++;
	if (t->size)
		t->buf[t->len] = 0;
}

/* Names of the set bits of `bits`, joined with " or "; returns how many there were. */
static int put_bits(struct text *t, uint64_t bits, const char *const *names, int nr, int before)
{
	for (int i = 0; i < nr && bits; i++, bits >>= 1) {
		if (!(bits & 1) || !names[i])
			continue;
		if (before++)
			put(t, " or ");
		put(t, names[i]);
	}
	return before;
}

/*
 * perf_mem_data_src, little-endian numbering:
 *	op:5 lvl:14 snoop:5 lock:2 dtlb:7 lvl_num:4 remote:1 snoopx:2 blk:3 hops:3
 */
enum { MEM_HIT = 2, MEM_MISS = 4 };

static void put_hit(struct text *t, uint64_t bits)
{
	if (bits & MEM_HIT)
		put(t, " hit");
	if (bits & MEM_MISS)
		put(t, " miss");
}

size_t prelude_data_src_text(uint64_t v, char *buf, size_t size)
{
	static const char *const ops[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };
	static const char *const levels[] = { "N/A",
					      NULL,
					      NULL,
					      "L1",
					      "LFB/MAB",
					      "L2",
					      "L3",
					      "Local RAM",
					      "Remote RAM (1 hop)",
					      "Remote RAM (2 hops)",
					      "Remote Cache (1 hop)",
					      "Remote Cache (2 hops)",
					      "I/O",
					      "Uncached" };
	static const char *const numbered[16] = {
		[0xa] = "I/O", [0xb] = "Any cache", [0xc] = "LFB/MAB",
		[0xd] = "RAM", [0xe] = "PMEM",      [0xf] = "N/A"
	};
	static const char *const snoops[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more_snoops[] = { "Fwd", "Peer" };
	static const char *const tlbs[] = { "N/A", NULL, NULL, "L1", "L2", "Walker", "Fault" };
	uint64_t op = v & 0x1f, lvl = v >> 5 & 0x3fff, snoop = v >> 19 & 0x1f, lock = v >> 24 & 3;
	uint64_t tlb = v >> 26 & 0x7f, num = v >> 33 & 0xf, remote = v >> 37 & 1,
		 snoopx = v >> 38 & 3;
	uint64_t blk = v >> 40 & 7;
	struct text t = { buf, size, 0 };
	char number[8];
	int n;

	put(&t, "|OP ");
	if (!put_bits(&t, op, ops, 5, 0))
		put(&t, "No");
	put(&t, "|LVL ");
	if (remote)
		put(&t, "Remote ");
	n = put_bits(&t, lvl, levels, 14, 0);
	if (num) {
		if (n)
			put(&t, " or ");
		snprintf(number, sizeof(number), "L%u", (unsigned int)num);
		put(&t, numbered[num] ? numbered[num] : number);
		n++;
	}
	if (!n)
		put(&t, "N/A");
	put_hit(&t, lvl);
	put(&t, "|SNP ");
	n = put_bits(&t, snoop, snoops, 5, 0);
	n = put_bits(&t, snoopx, more_snoops, 2, n);
	if (!n)
		put(&t, "N/A");
	put(&t, "|TLB ");
	if (!put_bits(&t, tlb, tlbs, 7, 0))
		put(&t, "N/A");
	put_hit(&t, tlb);
	put(&t, "|LCK ");
	put(&t, lock & 1 ? "N/A" : lock & 2 ? "Yes" : "No");
	put(&t, "|BLK ");
	if (!blk || blk & 1)
		put(&t, " N/A");
	if (blk & 2)
		put(&t, " Data");
	if (blk & 4)
		put(&t, " Addr");
	return t.len;
}

static const char *const x86_regs[] = { "AX", "BX",    "CX",  "DX",  "SI",  "DI",  "BP",  "SP",
					"IP", "FLAGS", "CS",  "SS",  "DS",  "ES",  "FS",  "GS",
					"R8", "R9",    "R10", "R11", "R12", "R13", "R14", "R15" };
static const char *const arm64_regs[] = { "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",
					  "x7",  "x8",  "x9",  "x10", "x11", "x12", "x13",
					  "x14", "x15", "x16", "x17", "x18", "x19", "x20",
					  "x21", "x22", "x23", "x24", "x25", "x26", "x27",
					  "x28", "x29", "lr",  "sp",  "pc" };

static const char *reg_name(const char *arch, unsigned int nr)
{
	if (!strcmp(arch, "aarch64") || !strcmp(arch, "arm64"))
		return nr < sizeof(arm64_regs) / sizeof(*arm64_regs) ? arm64_regs[nr] : "unknown";
	if (!strcmp(arch, "x86_64") || !strcmp(arch, "i386") || !strcmp(arch, "i686"))
		return nr < sizeof(x86_regs) / sizeof(*x86_regs) ? x86_regs[nr] : "unknown";
	return "unknown";
}

size_t prelude_regs_text(const char *arch, uint64_t abi, uint64_t mask, const uint64_t *regs,
			 char *buf, size_t size)
{
	size_t len = 0, i = 0;

	if (size)
		*buf = 0;
	if (!abi || !regs)
		return 0;
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(mask >> bit & 1))
			continue;
		len += (size_t)snprintf(len < size ? buf + len : NULL, len < size ? size - len : 0,
					"%5s:0x%llx ", reg_name(arch, bit),
					(unsigned long long)regs[i++]);
	}
	return len;
}
