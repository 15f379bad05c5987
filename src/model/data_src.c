/* SPDX-License-Identifier: MIT */
#include "model/data_src.h"

#include <stdbool.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Bit fields of perf_mem_data_src, from the lowest. The numbers are widths in bits. */
struct access {
	unsigned op;       /* 5 bits */
	unsigned level;    /* 14, a set of bits */
	unsigned snoop;    /* 5 */
	unsigned lock;     /* 2 */
	unsigned tlb;      /* 7 */
	unsigned level_nr; /* 4, a number */
	bool remote;
	unsigned snoop_more; /* 2 */
	unsigned blocked;    /* 3 */
	unsigned hops;       /* 3, a number */
};

enum { LEVEL_NA = 1, LEVEL_HIT = 2, LEVEL_MISS = 4, LEVEL_NR_NA = 15 };

static struct access data_src_unpack(uint64_t v)
{
	return (struct access){
		.op = v & 31,
		.level = v >> 5 & 0x3fff,
		.snoop = v >> 19 & 31,
		.lock = v >> 24 & 3,
		.tlb = v >> 26 & 127,
		.level_nr = v >> 33 & 15,
		.remote = v >> 37 & 1,
		.snoop_more = v >> 38 & 3,
		.blocked = v >> 40 & 7,
		.hops = v >> 43 & 7,
	};
}

static const char *const level_words[] = { "N/A",
					   "HIT",
					   "MISS",
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
static const char *const level_numbers[16] = {
	[1] = "L1",         [2] = "L2",       [3] = "L3",
	[4] = "L4",         [5] = "L2 MHB",   [6] = "Memory-side Cache",
	[8] = "Uncached",   [9] = "CXL",      [10] = "I/O",
	[11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM",
	[14] = "PMEM",      [15] = "N/A"
};
static const char *const hops_words[8] = { "", "core, same node", "node, same socket",
					   "socket, same board", "board" };

/*
 * Prints the words of the set bits, with "or" between words. `before` words are already printed.
 * Returns the new number of words.
 */
static unsigned data_src_put_bits(unsigned bits, const char *const *words, size_t nr,
				  unsigned before, struct outbuf *out)
{
	for (size_t i = 0; i < nr; i++) {
		if (!(bits >> i & 1))
			continue;
		if (before++)
			outbuf_put(out, " or ", 4);
		outbuf_str(out, words[i]);
	}
	return before;
}

static void data_src_put_op(const struct access *a, struct outbuf *out)
{
	static const char *const words[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	outbuf_str(out, a->op ? words[__builtin_ctz(a->op)] : "No");
}

static void data_src_put_hops(const struct access *a, const struct rules *rules, struct outbuf *out)
{
	if (hops_words[a->hops])
		outbuf_str(out, hops_words[a->hops]);
	else if (rules->data_src_hops_are_null)
		outbuf_str(out, "(null)");
	else
		outbuf_fmt(out, "hops %u", a->hops);
	outbuf_char(out, ' ');
}

/* Prints all levels, by bits and by number. */
static void data_src_put_level(const struct access *a, const struct rules *rules,
			       struct outbuf *out)
{
	unsigned bits = a->level & ~(LEVEL_HIT | LEVEL_MISS), nr = 0;
	/* perf 6.1 prints numbers that it does not know as level numbers. */
	bool named = level_numbers[a->level_nr] &&
		     (!rules->data_src_knows_fewer_levels || a->level_nr < 5 || a->level_nr > 8);

	if (a->remote)
		outbuf_str(out, "Remote ");
	if (a->hops)
		data_src_put_hops(a, rules, out);
	else
		nr = data_src_put_bits(bits, level_words, COUNT(level_words), 0, out);
	if (a->level_nr) {
		outbuf_str(out, nr ? " or " : "");
		if (named)
			outbuf_str(out, level_numbers[a->level_nr]);
		else
			outbuf_fmt(out, "L%u", a->level_nr);
		nr++;
	}
	if (!nr && !a->remote && !a->hops)
		outbuf_str(out, "N/A");
	outbuf_str(out, a->level & LEVEL_HIT ? " hit" : "");
	outbuf_str(out, a->level & LEVEL_MISS ? " miss" : "");
}

/* Prints the level number if there is one, otherwise the bits. */
static void data_src_put_one_level(const struct access *a, const struct rules *rules,
				   struct outbuf *out)
{
	unsigned bits = a->level & ~(LEVEL_NA | LEVEL_HIT | LEVEL_MISS);

	if (a->level_nr && a->level_nr != LEVEL_NR_NA) {
		outbuf_str(out, a->remote ? "Remote " : "");
		if (a->hops)
			data_src_put_hops(a, rules, out);
		if (level_numbers[a->level_nr])
			outbuf_str(out, level_numbers[a->level_nr]);
		else
			outbuf_fmt(out, "Unknown level %u", a->level_nr);
	} else if (!data_src_put_bits(bits, level_words, COUNT(level_words), 0, out)) {
		outbuf_str(out, "N/A");
		return;
	}
	outbuf_str(out, a->level & LEVEL_HIT ? " hit" : a->level & LEVEL_MISS ? " miss" : " ");
}

static void data_src_put_snoop(const struct access *a, struct outbuf *out)
{
	static const char *const words[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	unsigned nr = data_src_put_bits(a->snoop, words, COUNT(words), 0, out);

	if (!data_src_put_bits(a->snoop_more, more, COUNT(more), nr, out))
		outbuf_str(out, "N/A");
}

static void data_src_put_tlb(const struct access *a, struct outbuf *out)
{
	static const char *const words[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };

	if (!data_src_put_bits(a->tlb & ~(LEVEL_HIT | LEVEL_MISS), words, COUNT(words), 0, out))
		outbuf_str(out, "N/A");
	outbuf_str(out, a->tlb & LEVEL_HIT ? " hit" : "");
	outbuf_str(out, a->tlb & LEVEL_MISS ? " miss" : "");
}

static void data_src_put_blocked(const struct access *a, struct outbuf *out)
{
	if (!(a->blocked & 6) || a->blocked & 1) {
		outbuf_str(out, " N/A");
		return;
	}
	outbuf_str(out, a->blocked & 2 ? " Data" : "");
	outbuf_str(out, a->blocked & 4 ? " Addr" : "");
}

uint64_t data_src_absent(const struct rules *rules)
{
	return rules->pub.absent_data_src_is_long ? 0x1e05080021 : 0x5080021;
}

static const struct {
	const char *before;
	uint64_t bits, key; /* masks; the key begins at bit `shift` */
	unsigned shift;
} data_src_parts[NR_DATA_SRC_PARTS] = {
	[DATA_SRC_LEVEL] = { "|LVL ", 0x383e0007ffe0, 0x3fff, 5 },
	[DATA_SRC_SNOOP] = { "|SNP ", 0xc000f80000, 31, 19 },
	[DATA_SRC_TLB] = { "|TLB ", 0x1fc000000, 127, 26 },
	[DATA_SRC_LOCK] = { "|LCK ", 0x3000000, 3, 24 },
	[DATA_SRC_BLOCKED] = { "|BLK ", 0x70000000000, 7, 40 },
};

uint64_t data_src_bits(enum data_src_part part, uint64_t data_src)
{
	return data_src & data_src_parts[part].bits;
}

uint64_t data_src_key(enum data_src_part part, uint64_t data_src)
{
	return data_src >> data_src_parts[part].shift & data_src_parts[part].key;
}

void data_src_put_part(enum data_src_part part, const struct rules *rules, uint64_t data_src,
		       struct outbuf *out)
{
	struct access a = data_src_unpack(data_src);

	switch (part) {
	case DATA_SRC_LEVEL:
		if (rules->data_src_has_one_level)
			data_src_put_one_level(&a, rules, out);
		else
			data_src_put_level(&a, rules, out);
		return;
	case DATA_SRC_SNOOP:
		data_src_put_snoop(&a, out);
		return;
	case DATA_SRC_TLB:
		data_src_put_tlb(&a, out);
		return;
	case DATA_SRC_LOCK:
		outbuf_str(out, a.lock & 1 ? "N/A" : a.lock ? "Yes" : "No");
		return;
	case DATA_SRC_BLOCKED:
		data_src_put_blocked(&a, out);
		return;
	case NR_DATA_SRC_PARTS:
		return;
	}
}

void data_src_words(const struct rules *rules, uint64_t data_src, struct outbuf *out)
{
	struct access a = data_src_unpack(data_src);

	outbuf_str(out, "|OP ");
	data_src_put_op(&a, out);
	for (enum data_src_part part = 0; part < NR_DATA_SRC_PARTS; part++) {
		outbuf_str(out, data_src_parts[part].before);
		data_src_put_part(part, rules, data_src, out);
	}
}

void data_src_put(const struct rules *rules, uint64_t data_src, size_t *width, struct outbuf *out)
{
	size_t start = out->len, len;

	outbuf_hex_width(out, data_src, 16, ' ');
	outbuf_char(out, ' ');
	data_src_words(rules, data_src, out);
	len = out->len - start;
	if (rules->pub.data_src_text_bytes && len > rules->pub.data_src_text_bytes) {
		len = rules->pub.data_src_text_bytes;
		out->len = start + len;
	}
	if (len > *width)
		*width = len;
	outbuf_pad(out, ' ', *width - len);
}
