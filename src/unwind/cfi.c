/* SPDX-License-Identifier: MIT */
#include "unwind/cfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "symbols/dwarf_file.h"
#include "symbols/elfutils.h"

enum { MAX_OPS = 1024 }; /* limit for one expression; compilers write a dozen at most */

struct cfi {
	struct dso *dso;
	struct dwarf_file code, debug;
	Dwarf_CFI *eh_frame;    /* owned */
	Dwarf_CFI *debug_frame; /* owned by the Dwarf */
	bool debug_tried;
	bool as_perf;
	struct hash64 by_addr; /* file address -> struct cfi_row *; &no_row if there is none */
	struct arena arena;
};

static const struct cfi_row no_row;

static bool cfi_is_searchable(Elf *elf)
{
	size_t names, nr = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	if (elf_getshdrstrndx(elf, &names) != 0 || elf_getshdrnum(elf, &nr) != 0 || !nr)
		return true; /* the vdso of some kernels has no sections */
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && !strcmp(name, ".eh_frame_hdr"))
			return true;
	}
	return false;
}

int cfi_open(struct cfi **ret, struct dso *d, bool as_perf)
{
	struct cfi *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_nomem();
	c->dso = d;
	c->code.fd = c->debug.fd = -1;
	c->as_perf = as_perf;
	r = dwarf_file_open_code(&c->code, d);
	if (r == -EMFILE || r == -ENFILE) {
		cfi_close(c); /* a descriptor may be free next time */
		return r;
	}
	if (r < 0)
		err_clear();
	if (r >= 0 && (!as_perf || cfi_is_searchable(c->code.elf)))
		c->eh_frame = ERR_MEMORY_NOTED(dwarf_getcfi_elf(c->code.elf));
	*ret = c;
	return 0;
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	if (c->eh_frame)
		dwarf_cfi_end(c->eh_frame);
	dwarf_file_close(&c->code);
	dwarf_file_close(&c->debug);
	hash64_done(&c->by_addr);
	arena_done(&c->arena);
	free(c);
}

static Dwarf_CFI *cfi_debug_frame(struct cfi *c)
{
	int r;

	if (!c->debug_tried) {
		c->debug_tried = true;
		if (c->as_perf && c->code.elf && c->code.type != ET_EXEC)
			return NULL;
		r = dwarf_file_open_debug(&c->debug, c->dso);
		c->debug_tried = r != -EMFILE && r != -ENFILE;
		if (r < 0)
			err_clear();
		else if (c->debug.dwarf)
			c->debug_frame = ERR_MEMORY_NOTED(dwarf_getcfi(c->debug.dwarf));
	}
	return c->debug_frame;
}

bool cfi_has_tables(const struct cfi *c)
{
	return c->eh_frame || cfi_debug_frame((struct cfi *)c);
}

/* ---- expressions ----------------------------------------------------------------------------- */

/*
 * The index of the operation that a jump from ops[from] leads to; nr is the end. -1 if it leads
 * into the middle of an operation.
 */
static int cfi_jump_target(const Dwarf_Op *ops, size_t nr, size_t from)
{
	/*
	 * libdw counts offsets in bytes from the start of the expression; a jump counts from its
	 * own end (3 bytes).
	 */
	uint64_t to = ops[from].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[from].number;

	for (size_t i = 0; i < nr; i++) {
		if (ops[i].offset == to)
			return (int)i;
	}
	return to > ops[nr - 1].offset ? (int)nr : -1;
}

static int cfi_copy_ops(struct cfi *c, const Dwarf_Op *ops, size_t nr, struct cfi_rule *rule)
{
	struct cfi_op *to;

	if (nr > MAX_OPS)
		return -EBADMSG;
	to = arena_array(&c->arena, nr, sizeof(*to));
	if (!to)
		return err_nomem();
	for (size_t i = 0; i < nr; i++) {
		to[i] = (struct cfi_op){
			.atom = ops[i].atom,
			.number = ops[i].number,
			.number2 = ops[i].number2,
		};
		if (ops[i].atom == DW_OP_skip || ops[i].atom == DW_OP_bra) {
			int target = cfi_jump_target(ops, nr, i);

			if (target < 0)
				return -EBADMSG;
			to[i].number = (uint64_t)target;
		}
	}
	rule->ops = to;
	rule->nr_ops = (uint16_t)nr;
	return 0;
}

/* Register and offset of a DW_OP_bregN or DW_OP_bregx. */
static bool cfi_is_register_plus(const Dwarf_Op *op, struct cfi_rule *rule)
{
	uint64_t reg;

	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		reg = op->atom - DW_OP_breg0;
		rule->offset = (int64_t)op->number;
	} else if (op->atom == DW_OP_bregx) {
		reg = op->number;
		rule->offset = (int64_t)op->number2;
	} else {
		return false;
	}
	rule->reg = (uint8_t)reg;
	rule->kind = CFI_REGISTER;
	return reg < CFI_MAX_REGS;
}

static bool cfi_is_register(const Dwarf_Op *op, struct cfi_rule *rule)
{
	uint64_t reg;

	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		reg = op->atom - DW_OP_reg0;
	else if (op->atom == DW_OP_regx)
		reg = op->number;
	else
		return false;
	rule->reg = (uint8_t)reg;
	rule->kind = CFI_REGISTER;
	return reg < CFI_MAX_REGS;
}

static int cfi_cfa_rule(struct cfi *c, Dwarf_Frame *frame, struct cfi_rule *ret)
{
	Dwarf_Op *ops;
	size_t nr;

	if (ERR_MEMORY_NOTED(dwarf_frame_cfa(frame, &ops, &nr)) != 0 || !nr)
		return -EBADMSG;
	if (nr == 1 && cfi_is_register_plus(&ops[0], ret))
		return 0;
	ret->kind = CFI_VAL_EXPR;
	return cfi_copy_ops(c, ops, nr, ret);
}

enum { NO_RULE, LOST, RULE };

/*
 * libdw describes a register by a location expression. The expressions that all files use become
 * simple rules.
 */
static int cfi_register_rule(struct cfi *c, Dwarf_Frame *frame, int reg, struct cfi_rule *ret)
{
	Dwarf_Op room[3], *ops;
	bool is_value;
	size_t nr;

	if (ERR_MEMORY_NOTED(dwarf_frame_register(frame, reg, room, &ops, &nr)) != 0)
		return -EBADMSG;
	*ret = (struct cfi_rule){ .of = (uint8_t)reg };
	if (!nr)
		return ops == room ? LOST : NO_RULE;
	if (nr == 1 && cfi_is_register(&ops[0], ret))
		return RULE;
	is_value = ops[nr - 1].atom == DW_OP_stack_value;
	nr -= is_value;
	if (nr && nr <= 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	    (nr == 1 || ops[1].atom == DW_OP_plus_uconst)) {
		ret->kind = is_value ? CFI_VAL_CFA : CFI_AT_CFA;
		ret->offset = nr == 2 ? (int64_t)ops[1].number : 0;
		return RULE;
	}
	ret->kind = is_value ? CFI_VAL_EXPR : CFI_AT_EXPR;
	TRY(cfi_copy_ops(c, ops, nr, ret));
	return RULE;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int cfi_make_row(struct cfi *c, Dwarf_Frame *frame, struct cfi_row **ret)
{
	struct cfi_rule rules[CFI_MAX_REGS], *kept;
	struct cfi_row row = { 0 }, *made;
	bool is_signal = false;
	int ra = dwarf_frame_info(frame, NULL, NULL, &is_signal);

	if (ra < 0 || ra >= CFI_MAX_REGS)
		return -EBADMSG;
	row.return_reg = (uint8_t)ra;
	row.is_signal = is_signal;
	TRY(cfi_cfa_rule(c, frame, &row.cfa));
	for (int reg = 0; reg < CFI_MAX_REGS; reg++) {
		int r = cfi_register_rule(c, frame, reg, &rules[row.nr_rules]);

		if (r == -ENOMEM)
			return r;
		if (r == RULE)
			row.nr_rules++;
		else if (r != NO_RULE) /* also if the rule is damaged */
			row.lost |= (uint64_t)1 << reg;
	}
	made = arena_alloc(&c->arena, sizeof(*made));
	kept = arena_array(&c->arena, row.nr_rules, sizeof(*kept));
	if (!made || (!kept && row.nr_rules))
		return err_nomem();
	for (unsigned i = 0; i < row.nr_rules; i++)
		kept[i] = rules[i];
	row.rules = kept;
	*made = row;
	*ret = made;
	return 0;
}

static const struct cfi_row *cfi_look_up(struct cfi *c, Dwarf_CFI *tables, uint64_t file_addr)
{
	struct cfi_row *row = NULL;
	Dwarf_Frame *frame;
	int r;

	if (!tables || ERR_MEMORY_NOTED(dwarf_cfi_addrframe(tables, file_addr, &frame)) != 0)
		return NULL;
	r = cfi_make_row(c, frame, &row);
	free(frame);
	return r < 0 ? NULL : row;
}

const struct cfi_row *cfi_row_at(struct cfi *c, uint64_t file_addr)
{
	uint64_t known = hash64_find(&c->by_addr, file_addr);
	const struct cfi_row *row;

	if (known != HASH64_EMPTY) {
		row = (const struct cfi_row *)(uintptr_t)known;
		return row == &no_row ? NULL : row;
	}
	row = cfi_look_up(c, c->eh_frame, file_addr);
	if (!row)
		row = cfi_look_up(c, cfi_debug_frame(c), file_addr);
	/* If memory runs out the row is not kept, and is looked up again next time. */
	hash64_put(&c->by_addr, file_addr, (uintptr_t)(row ? row : &no_row));
	return row;
}
