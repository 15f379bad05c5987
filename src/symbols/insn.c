/* SPDX-License-Identifier: MIT */
#include "symbols/insn.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/late.h"

/*
 * capstone, loaded on first use: its tables need 80,000 relocations, half of the time that a short
 * command takes. Its symbols are those of the header that this was built with, so the library must
 * have the same number.
 */
struct capstone {
	void *library; /* never closed: other libraries do not expect to be unloaded */
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_insn_group) *insn_group;
};

/* A mode of x86, opened on first use. */
struct mode {
	csh handle;
	cs_insn *room; /* owned; NULL if not opened */
};

struct insn_decoder {
	struct capstone capstone;
	bool tried; /* to load it */
	struct mode x86_64, i386;
};

/* Returns false if the library is not there; lengths are then unknown, as in a build without it. */
static bool insn_load(struct insn_decoder *d)
{
	struct capstone *c = &d->capstone;

	if (d->tried)
		return c->library;
	d->tried = true;
	c->library = dlopen(LATE_CAPSTONE, RTLD_NOW | RTLD_NODELETE);
	if (!c->library)
		return false;
#define LOAD(name) (c->name = (__typeof__(c->name))dlsym(c->library, "cs_" #name))
	if (!LOAD(open) || !LOAD(close) || !LOAD(option) || !LOAD(malloc) || !LOAD(free) ||
	    !LOAD(disasm_iter) || !LOAD(insn_group))
		c->library = NULL;
#undef LOAD
	return c->library;
}

int insn_decoder_new(struct insn_decoder **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : err_nomem();
}

static void insn_close_mode(const struct capstone *c, struct mode *m)
{
	if (!m->room)
		return;
	c->free(m->room, 1);
	c->close(&m->handle);
}

void insn_decoder_free(struct insn_decoder *d)
{
	if (!d)
		return;
	insn_close_mode(&d->capstone, &d->x86_64);
	insn_close_mode(&d->capstone, &d->i386);
	free(d);
}

enum insn_arch insn_arch_of(uint16_t elf_machine)
{
	switch (elf_machine) {
	case EM_X86_64:
		return INSN_X86_64;
	case EM_386:
		return INSN_I386;
	case EM_AARCH64:
		return INSN_ARM64;
	}
	return INSN_UNKNOWN;
}

static bool insn_open_mode(const struct capstone *c, struct mode *m, cs_mode mode)
{
	if (m->room)
		return true;
	if (c->open(CS_ARCH_X86, mode, &m->handle) != CS_ERR_OK)
		return false;
	/* Instruction groups need the details. */
	if (c->option(m->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		m->room = c->malloc(m->handle);
	if (!m->room)
		c->close(&m->handle);
	return m->room;
}

static const cs_insn *insn_decode(struct insn_decoder *d, enum insn_arch arch, const uint8_t *code,
				  size_t len, csh *ret_handle)
{
	struct mode *m = arch == INSN_X86_64 ? &d->x86_64 : &d->i386;
	uint64_t address = 0;

	if ((arch != INSN_X86_64 && arch != INSN_I386) || !insn_load(d) ||
	    !insn_open_mode(&d->capstone, m, arch == INSN_X86_64 ? CS_MODE_64 : CS_MODE_32) ||
	    !d->capstone.disasm_iter(m->handle, &code, &len, &address, m->room))
		return NULL;
	*ret_handle = m->handle;
	return m->room;
}

unsigned insn_length(struct insn_decoder *d, enum insn_arch arch, const uint8_t *code, size_t len)
{
	const cs_insn *insn;
	csh handle;

	if (arch == INSN_ARM64)
		return len >= 4 ? 4 : 0;
	insn = insn_decode(d, arch, code, len, &handle);
	return insn ? insn->size : 0;
}

bool insn_branches(struct insn_decoder *d, enum insn_arch arch, const uint8_t *code, size_t len)
{
	static const uint8_t groups[] = { CS_GRP_JUMP, CS_GRP_CALL, CS_GRP_RET, CS_GRP_INT,
					  CS_GRP_IRET };
	csh handle;
	const cs_insn *insn = insn_decode(d, arch, code, len, &handle);

	for (size_t i = 0; insn && i < sizeof(groups); i++) {
		if (d->capstone.insn_group(handle, insn, groups[i]))
			return true;
	}
	return false;
}
