/* SPDX-License-Identifier: MIT */
#include "unwind/unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/vec.h"
#include "symbols/elfutils.h"
#include "unwind/cfi.h"
#include "unwind/expr.h"

enum {
	MAX_FRAMES = 4096, /* per chain; recorded stacks are 64 KB at most */
	/*
	 * Limit per chain of expression operations plus words read from files. Few frames need any:
	 * a PLT entry of a shared library needs 9, a function that aligns its stack 2 and some per
	 * register.
	 */
	MAX_WORK = 65536,
	GUESS_MAX_FRAME_BYTES = 0x4000
};

struct file_tables {
	struct dso *dso;
	struct cfi *cfi;
};

struct unwinder {
	const struct rules *rules;
	struct hash64 by_dso; /* pointer -> index in files */
	VEC(struct file_tables) files;
	VEC(uint64_t) ips;
};

/* One walk. Registers have DWARF's numbers. */
struct stack_walk {
	struct unwinder *u;
	const struct unwind_input *in;
	const struct unwind_arch *arch;
	uint64_t stack_start;
	uint64_t regs[CFI_MAX_REGS], known;
	uint64_t pc, cfa;
	unsigned *budget; /* the rest of MAX_WORK */
	bool exact;       /* pc is where the code was interrupted, not a return address */
	bool outside;     /* the walk needed memory that is not recorded */
};

bool unwind_supported(void)
{
	return elfutils_are_there();
}

int unwind_new(struct unwinder **ret, const struct rules *rules)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return err_nomem();
	u->rules = rules;
	*ret = u;
	return 0;
}

void unwind_free(struct unwinder *u)
{
	if (!u)
		return;
	vec_foreach(f, &u->files)
		cfi_close(f->cfi);
	vec_done(&u->files);
	vec_done(&u->ips);
	hash64_done(&u->by_dso);
	free(u);
}

const char *unwind_end_text(enum unwind_end end)
{
	static const char *const texts[] = {
		[UNWIND_OUTERMOST] = "the outermost frame",
		[UNWIND_FULL] = "the requested number of frames is reached",
		[UNWIND_NO_MAP] = "nothing is mapped there",
		[UNWIND_NO_FILE] = "its file is not found, or has no unwind tables",
		[UNWIND_NO_ROW] = "its file's unwind tables do not cover it",
		[UNWIND_NO_STACK] = "the recorded piece of the stack ends",
		[UNWIND_BROKEN] = "the registers lead nowhere",
	};

	return texts[end];
}

/* ---- memory and registers -------------------------------------------------------------------- */

static bool unwind_read_file_memory(struct stack_walk *w, uint64_t addr, void *buf, size_t len)
{
	uint64_t offset;
	struct dso *d;

	if (!*w->budget)
		return false;
	--*w->budget;
	d = w->in->dso_at(w->in->ctx, addr, &offset);
	if (!d)
		return false;
	if (dso_read(d, offset, buf, len) == len)
		return true;
	/* Mapped memory without a file, such as a stack: perf reads it as zeros. */
	memset(buf, 0, len);
	return w->u->rules->unwinds_through_zeros;
}

static bool unwind_read_memory(void *ctx, uint64_t addr, unsigned bytes, uint64_t *ret)
{
	struct stack_walk *w = ctx;
	uint64_t off = addr - w->stack_start, len = w->in->stack_len;
	uint8_t buf[8] = { 0 };
	/* perf never reads the last recorded word. */
	bool in_stack = addr >= w->stack_start &&
			(w->u->rules->skips_last_stack_word ? len > bytes && off < len - bytes
							    : len >= bytes && off <= len - bytes);

	if (bytes > sizeof(buf))
		return false;
	if (in_stack) {
		memcpy(buf, w->in->stack + off, bytes);
	} else if (!unwind_read_file_memory(w, addr, buf, bytes)) {
		w->outside = true;
		return false;
	}
	switch (bytes) {
	case 8:
		*ret = get_u64(buf, w->in->swap);
		return true;
	case 4:
		*ret = get_u32(buf, w->in->swap);
		return true;
	case 2:
		*ret = get_u16(buf, w->in->swap);
		return true;
	case 1:
		*ret = buf[0];
		return true;
	}
	return false;
}

static bool unwind_read_register(void *ctx, uint64_t reg, uint64_t *ret)
{
	struct stack_walk *w = ctx;

	if (reg >= CFI_MAX_REGS || !(w->known >> reg & 1))
		return false;
	*ret = w->regs[reg];
	return true;
}

static void unwind_set_register(struct stack_walk *w, unsigned reg, uint64_t value)
{
	w->regs[reg] = w->arch->word_bytes == 4 ? (uint32_t)value : value;
	w->known |= (uint64_t)1 << reg;
}

/* The sample's value of a register, by perf's number. */
static bool unwind_recorded_register(const struct unwind_input *in, int perf, uint64_t *ret)
{
	if (perf < 0 || !(in->regs_mask >> perf & 1))
		return false;
	*ret = in->regs[__builtin_popcountll(in->regs_mask & (((uint64_t)1 << perf) - 1))];
	return true;
}

static bool unwind_begin(struct stack_walk *w)
{
	const struct unwind_arch *arch = w->arch;
	uint64_t v;

	for (unsigned i = 0; i < arch->nr; i++) {
		if (unwind_recorded_register(w->in, arch->dwarf_to_perf[i], &v))
			unwind_set_register(w, i, v);
	}
	w->exact = true;
	if (!(w->known >> arch->sp & 1) || !unwind_recorded_register(w->in, arch->perf_pc, &w->pc))
		return false;
	w->stack_start = w->cfa = w->regs[arch->sp];
	return true;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static struct cfi *unwind_tables_of(struct unwinder *u, struct dso *d)
{
	uint64_t known = hash64_find(&u->by_dso, (uintptr_t)d);
	struct file_tables f = { .dso = d };

	if (known != HASH64_EMPTY)
		return u->files.v[known].cfi;
	if (cfi_open(&f.cfi, d, u->rules->needs_eh_frame_hdr) < 0)
		return NULL;
	if (vec_push(&u->files, f) < 0) {
		cfi_close(f.cfi);
		return NULL;
	}
	if (hash64_put(&u->by_dso, (uintptr_t)d, u->files.n - 1) < 0) {
		u->files.n--;
		cfi_close(f.cfi);
		return NULL;
	}
	return f.cfi;
}

static enum unwind_end unwind_find_row(struct stack_walk *w, const struct cfi_row **ret)
{
	uint64_t addr = w->pc - !w->exact;
	uint64_t offset;
	struct dso *d = w->in->dso_at(w->in->ctx, addr, &offset);
	struct cfi *tables;

	if (!d)
		return UNWIND_NO_MAP;
	tables = unwind_tables_of(w->u, d);
	if (!tables || !cfi_has_tables(tables))
		return UNWIND_NO_FILE;
	*ret = cfi_row_at(tables, dso_file_address(d, offset));
	return *ret ? UNWIND_OUTERMOST : UNWIND_NO_ROW;
}

static bool unwind_rule_value(struct stack_walk *w, const struct cfi_rule *rule, uint64_t cfa,
			      uint64_t *ret)
{
	struct expr_machine m = {
		.ctx = w,
		.reg = unwind_read_register,
		.memory = unwind_read_memory,
		.cfa = cfa,
		.word_bytes = w->arch->word_bytes,
		.budget = w->budget,
	};
	uint64_t at;

	switch ((enum cfi_rule_kind)rule->kind) {
	case CFI_AT_CFA:
		return unwind_read_memory(w, cfa + (uint64_t)rule->offset, w->arch->word_bytes,
					  ret);
	case CFI_VAL_CFA:
		*ret = cfa + (uint64_t)rule->offset;
		return true;
	case CFI_REGISTER:
		if (!unwind_read_register(w, rule->reg, ret))
			return false;
		*ret += (uint64_t)rule->offset;
		return true;
	case CFI_AT_EXPR:
		return expr_run(rule->ops, rule->nr_ops, &m, &at) &&
		       unwind_read_memory(w, at, w->arch->word_bytes, ret);
	case CFI_VAL_EXPR:
		return expr_run(rule->ops, rule->nr_ops, &m, ret);
	}
	return false;
}

/* Only an alternate stack may be at a lower address. perf only requires another address. */
static bool unwind_goes_up(const struct stack_walk *w, const struct stack_walk *caller, bool signal)
{
	if (caller->cfa == w->cfa && caller->pc == w->pc)
		return false;
	return signal || w->u->rules->unwinds_downwards || caller->cfa >= w->cfa;
}

/* Finds the caller's registers with the row for this frame. */
static enum unwind_end unwind_step_by_row(struct stack_walk *w, const struct cfi_row *row)
{
	struct stack_walk caller = *w;
	uint64_t cfa, v;

	w->outside = false;
	if (!unwind_rule_value(w, &row->cfa, 0, &cfa))
		return w->outside ? UNWIND_NO_STACK : UNWIND_BROKEN;
	cfa = w->arch->word_bytes == 4 ? (uint32_t)cfa : cfa;
	caller.known &= ~row->lost;
	unwind_set_register(&caller, w->arch->sp, cfa);
	for (unsigned i = 0; i < row->nr_rules; i++) {
		const struct cfi_rule *rule = &row->rules[i];

		if (unwind_rule_value(w, rule, cfa, &v))
			unwind_set_register(&caller, rule->of, v);
		else
			caller.known &= ~((uint64_t)1 << rule->of);
	}
	if (row->lost >> row->return_reg & 1)
		return UNWIND_OUTERMOST;
	if (!(caller.known >> row->return_reg & 1))
		return w->outside ? UNWIND_NO_STACK : UNWIND_BROKEN;
	caller.pc = caller.regs[row->return_reg];
	caller.cfa = cfa;
	caller.exact = row->is_signal;
	if (!caller.pc && !w->u->rules->unwinds_zero_pc)
		return UNWIND_OUTERMOST;
	if (!unwind_goes_up(w, &caller, row->is_signal))
		return UNWIND_BROKEN;
	caller.outside = false;
	*w = caller;
	return UNWIND_FULL;
}

/*
 * "jmp *x(%rip); push $n; jmp y": an entry of the PLT, which calls functions of shared libraries.
 */
static bool unwind_is_plt_entry(struct stack_walk *w)
{
	uint8_t code[16];

	return unwind_read_file_memory(w, w->pc, code, sizeof(code)) && code[0] == 0xff &&
	       code[1] == 0x25 && code[6] == 0x68 && code[11] == 0xe9;
}

/*
 * For x86 code that is missing in its file's tables: treats it as an entry of the PLT, or else, if
 * it looks plausible, as a function with a frame pointer whose frame is not far up the stack.
 */
static enum unwind_end unwind_guess(struct stack_walk *w)
{
	struct stack_walk caller = *w;
	uint64_t fp, next_fp, pc, sp;
	unsigned bytes = w->arch->word_bytes;

	if (w->arch->fp >= CFI_MAX_REGS)
		return UNWIND_NO_ROW;
	if (unwind_is_plt_entry(w)) {
		if (!unwind_read_memory(w, w->cfa, bytes, &pc))
			return UNWIND_NO_STACK;
		caller.cfa += bytes;
	} else {
		if (!unwind_read_register(w, w->arch->fp, &fp) || !fp)
			return UNWIND_OUTERMOST;
		if (fp < w->cfa || fp - w->cfa > GUESS_MAX_FRAME_BYTES ||
		    !unwind_read_memory(w, fp, bytes, &next_fp) ||
		    !unwind_read_memory(w, fp + bytes, bytes, &pc))
			return UNWIND_NO_ROW;
		sp = w->u->rules->guesses_two_words ? w->cfa + 2 * bytes : fp + 2 * bytes;
		caller.known = 0;
		caller.cfa = sp;
		unwind_set_register(&caller, w->arch->fp, next_fp);
	}
	unwind_set_register(&caller, w->arch->sp, caller.cfa);
	caller.pc = pc;
	caller.exact = false;
	if (!pc && !w->u->rules->unwinds_zero_pc)
		return UNWIND_OUTERMOST;
	if (!unwind_goes_up(w, &caller, false))
		return UNWIND_BROKEN;
	*w = caller;
	return UNWIND_FULL;
}

/*
 * The address to print for a frame: see unwind_walk(). perf treats the trampoline to which a signal
 * handler returns as a caller.
 */
static uint64_t unwind_shown_ip(const struct stack_walk *w, const struct cfi_row *row,
				bool innermost)
{
	bool is_place = innermost || w->exact ||
			(!w->u->rules->signal_return_is_call && row && row->is_signal);

	return is_place ? w->pc : w->pc - 1;
}

int unwind_walk(struct unwinder *u, const struct unwind_input *in, size_t max,
		struct unwind_result *ret)
{
	unsigned budget = MAX_WORK;
	struct stack_walk w = { .u = u, .in = in, .arch = in->arch, .budget = &budget };
	enum unwind_end end = max && unwind_begin(&w) ? UNWIND_FULL : UNWIND_BROKEN;

	*ret = (struct unwind_result){ .end = UNWIND_BROKEN };
	vec_clear(&u->ips);
	if (max > MAX_FRAMES)
		max = MAX_FRAMES;
	while (end == UNWIND_FULL) {
		const struct cfi_row *row = NULL;
		uint64_t ip;

		end = unwind_find_row(&w, &row);
		ip = unwind_shown_ip(&w, row, !u->ips.n);
		TRY(vec_push(&u->ips, ip));
		ret->end_addr = ip;
		if (u->ips.n == max) {
			end = UNWIND_FULL;
			break;
		}
		if (row)
			end = unwind_step_by_row(&w, row);
		else if (end == UNWIND_NO_ROW)
			end = unwind_guess(&w);
	}
	ret->ips = u->ips.v;
	ret->nr = u->ips.n;
	ret->end = end;
	return 0;
}
