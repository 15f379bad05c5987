/* SPDX-License-Identifier: MIT */
/*
 * Prints the code that ran between the branches of a branch stack, oldest first: from each branch's
 * target to the next branch's source, then from the last target to the sample.
 *
 *	main+52:
 *	000055859cdc520e	insn: 89 d8                   	# MISPRED INTX 3 cycles [3] 0.33 IPC
 */
#include "base/err.h"
#include "recording/code.h"
#include "model/callchain.h"
#include "recording/locate.h"
#include "sinks/text/code_columns.h"
#include "sinks/text/fields.h"

enum {
	BLOCK_MAX_BYTES = 16384, /* in a longer block branches must be missing */
	LAST_BLOCK_BYTES = 128,  /* searched for the missing branch */
	INSN_BYTES = 15,
	INSN_TEXT_WIDTH = 30
};

#define BRANCH_MISPREDICTED (UINT64_C(1) << 0)
#define BRANCH_PREDICTED    (UINT64_C(1) << 1)
#define BRANCH_IN_TX        (UINT64_C(1) << 2)
#define BRANCH_ABORT        (UINT64_C(1) << 3)
#define BRANCH_CYCLES(f)    ((uint32_t)((f) >> 4 & 0xffff))

struct insn_lines {
	struct text_code *c;
	const struct event *ev;
	uint64_t columns;
	struct outbuf *out;
	uint64_t cycles;             /* cycles so far */
	uint64_t sym_start, sym_end; /* range of the symbol named last */
	const uint8_t *code;         /* code of the block */
	uint64_t start;
	size_t len;
};

static bool insn_is_kernel(uint64_t addr)
{
	return addr >> 63;
}

static uint32_t insn_mode_of(uint64_t addr)
{
	return insn_is_kernel(addr) ? CPUMODE_KERNEL : CPUMODE_USER;
}

enum grabbed { NO_CODE, CODE, CROSSES_RINGS };

/* Reads the code from `start` to the instruction at `end`. */
static enum grabbed insn_grab(struct insn_lines *l, uint64_t start, uint64_t end)
{
	if (!start || !end)
		return NO_CODE;
	if (insn_is_kernel(start) != insn_is_kernel(end))
		return CROSSES_RINGS;
	if (end - start > BLOCK_MAX_BYTES - INSN_BYTES)
		return NO_CODE;
	l->code = l->c->block;
	l->start = start;
	l->len = recording_code_bytes(l->ev, start, insn_mode_of(start), l->c->block,
				      (size_t)(end - start) + INSN_BYTES);
	return l->len ? CODE : NO_CODE;
}

/* Prints the function that contains an address, unless it was the last one printed. */
static void insn_put_function(struct insn_lines *l, uint64_t addr)
{
	const struct sonde_location loc = *recording_located(l->ev, addr, insn_mode_of(addr));

	if (!loc.sym)
		return;
	if (l->sym_end && addr >= l->sym_start && addr < l->sym_end)
		return;
	l->sym_start = addr - loc.sym_off;
	l->sym_end = l->sym_start + (loc.sym_end - loc.sym_start);
	outbuf_char(l->out, '\t');
	outbuf_str(l->out, loc.sym);
	if (loc.sym_off) {
		outbuf_char(l->out, '+');
		outbuf_u64(l->out, loc.sym_off);
	}
	outbuf_char(l->out, ':');
	if (l->columns & TEXT_SRCLINE)
		text_srcline_put(l->c, l->ev, addr, insn_mode_of(addr), "\t", l->out);
	outbuf_char(l->out, '\n');
}

/*
 * Prints the instruction at an offset of the block, padded to a width. Returns its length; 0 if
 * there is none.
 */
static unsigned insn_put(struct insn_lines *l, size_t off, size_t width)
{
	unsigned n = recording_insn_length(l->ev, l->start, insn_mode_of(l->start), l->code + off,
					   l->len - off);
	size_t begun;

	outbuf_char(l->out, '\t');
	outbuf_hex_width(l->out, l->start + off, 16, '0');
	outbuf_char(l->out, '\t');
	begun = l->out->len;
	outbuf_str(l->out, n ? "insn: " : "<bad>");
	for (unsigned i = 0; i < n; i++) {
		outbuf_hex_width(l->out, l->code[off + i], 2, '0');
		outbuf_char(l->out, ' ');
	}
	if (l->out->len - begun < width)
		outbuf_pad(l->out, ' ', width - (l->out->len - begun));
	return n;
}

static void insn_put_source(struct insn_lines *l, uint64_t addr)
{
	if (l->columns & TEXT_SRCCODE &&
	    text_srccode_put(l->c, l->ev, addr, insn_mode_of(addr), l->out))
		outbuf_char(l->out, '\n');
}

/* Prints an instruction that does not end its block. Returns its length. */
static unsigned insn_put_step(struct insn_lines *l, size_t off)
{
	unsigned n = insn_put(l, off, 0);

	if (l->columns & TEXT_BRSTACKINSNLEN)
		outbuf_fmt(l->out, "\tilen: %u", n);
	outbuf_char(l->out, '\n');
	return n;
}

/*
 * Prints the branch that ends a block. nr_insns is the number of instructions in the block; 0 if
 * unknown.
 */
static void insn_put_branch(struct insn_lines *l, size_t off, const struct sonde_branch *b,
			    unsigned nr_insns)
{
	uint32_t cycles = BRANCH_CYCLES(b->flags);
	unsigned n = insn_put(l, off, INSN_TEXT_WIDTH);

	outbuf_char(l->out, '\t');
	if (l->columns & TEXT_BRSTACKINSNLEN)
		outbuf_fmt(l->out, "ilen: %u\t", n);
	outbuf_fmt(l->out, "#%s%s%s%s", b->flags & BRANCH_PREDICTED ? " PRED" : "",
		   b->flags & BRANCH_MISPREDICTED ? " MISPRED" : "",
		   b->flags & BRANCH_IN_TX ? " INTX" : "", b->flags & BRANCH_ABORT ? " ABORT" : "");
	if (cycles) {
		l->cycles += cycles;
		outbuf_fmt(l->out, " %u cycles [%llu]", cycles, (unsigned long long)l->cycles);
		if (nr_insns)
			outbuf_fmt(l->out, " %.2f IPC", (double)((float)nr_insns / (float)cycles));
	}
	outbuf_char(l->out, '\n');
	insn_put_source(l, b->from);
}

/* Prints the block that was read, which ends with the branch. */
static void insn_put_block(struct insn_lines *l, const struct sonde_branch *b)
{
	unsigned nr_insns = 0;
	size_t off = 0;

	while (off < l->len) {
		unsigned n;

		insn_put_function(l, l->start + off);
		if (l->start + off == b->from) {
			insn_put_branch(l, off, b, nr_insns + 1);
			break;
		}
		n = insn_put_step(l, off);
		if (!n)
			break;
		insn_put_source(l, l->start + off);
		nr_insns++;
		off += n;
	}
	if (off != b->from - l->start)
		outbuf_str(l->out, "\tmismatch of LBR data and executable\n");
}

/*
 * Prints the code from the last branch to the sample. If the sample is before that code, a branch
 * is missing, and the code is printed up to the next branch.
 */
static void insn_put_last_block(struct insn_lines *l, uint64_t start, uint64_t ip)
{
	uint64_t end = ip < start ? start + LAST_BLOCK_BYTES : ip;
	enum grabbed got = insn_grab(l, start, end);
	unsigned n;

	insn_put_function(l, start);
	if (got != CODE) {
		if (insn_grab(l, ip, ip) == CODE) {
			insn_put_step(l, 0);
			insn_put_source(l, ip);
		}
		return;
	}
	for (size_t off = 0; off <= end - start && off < l->len; off += n) {
		n = insn_put_step(l, off);
		if (!n)
			break;
		if (start + off != ip && recording_insn_branches(l->ev, start, insn_mode_of(start),
								 l->code + off, l->len - off)) {
			outbuf_str(l->out, "\t... not reaching sample ...\n");
			break;
		}
		insn_put_source(l, start + off);
	}
}

void text_brstackinsn_put(struct text_code *c, const struct event *ev,
			  const struct sonde_sample *sample, uint64_t columns, struct outbuf *out)
{
	struct insn_lines l = { .c = c, .ev = ev, .columns = columns, .out = out };
	const struct sonde_branch *b = sample->branches;
	uint64_t nr = sample->nr_branches;

	if (!nr)
		return;
	if (c->o->max_blocks && c->o->max_blocks < nr - 1)
		nr = c->o->max_blocks + 1;
	if (!c->block)
		c->block = malloc(BLOCK_MAX_BYTES);
	outbuf_char(out, '\n');
	if (!c->block) {
		err_note_nomem();
		return;
	}
	/* The code that ran before the oldest branch is unknown. */
	if (insn_grab(&l, b[nr - 1].from, b[nr - 1].from) == CODE) {
		insn_put_function(&l, b[nr - 1].from);
		insn_put_branch(&l, 0, &b[nr - 1], 0);
	}
	for (uint64_t i = nr - 1; i-- > 0;) {
		uint64_t start = b[i + 1].to;
		enum grabbed got = insn_grab(&l, start, b[i].from);

		/* The stack may omit branches into the kernel, but not branches back. */
		if (got == CROSSES_RINGS && i)
			got = insn_grab(&l, start, b[--i].from);
		if (got == CODE)
			insn_put_block(&l, &b[i]);
	}
	if (b[0].from != sample->ip && !(b[0].flags & BRANCH_ABORT))
		insn_put_last_block(&l, b[0].to, sample->ip);
}
