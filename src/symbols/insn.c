/* SPDX-License-Identifier: MIT */
#include "symbols/insn.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>

#include "base/err.h"

/* A mode of x86, opened on first use. */
struct mode {
	csh handle;
	cs_insn *room; /* owned; NULL if not opened */
};

struct insn_decoder {
	struct mode x86_64, i386;
};

int insn_decoder_new(struct insn_decoder **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : err_nomem();
}

static void insn_close_mode(struct mode *m)
{
	if (!m->room)
		return;
	cs_free(m->room, 1);
	cs_close(&m->handle);
}

void insn_decoder_free(struct insn_decoder *d)
{
	if (!d)
		return;
	insn_close_mode(&d->x86_64);
	insn_close_mode(&d->i386);
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

static bool insn_open_mode(struct mode *m, cs_mode mode)
{
	if (m->room)
		return true;
	if (cs_open(CS_ARCH_X86, mode, &m->handle) != CS_ERR_OK)
		return false;
	/* Instruction groups need the details. */
	if (cs_option(m->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		m->room = cs_malloc(m->handle);
	if (!m->room)
		cs_close(&m->handle);
	return m->room;
}

static const cs_insn *insn_decode(struct insn_decoder *d, enum insn_arch arch, const uint8_t *code,
				  size_t len, csh *ret_handle)
{
	struct mode *m = arch == INSN_X86_64 ? &d->x86_64 : &d->i386;
	uint64_t address = 0;

	if ((arch != INSN_X86_64 && arch != INSN_I386) ||
	    !insn_open_mode(m, arch == INSN_X86_64 ? CS_MODE_64 : CS_MODE_32) ||
	    !cs_disasm_iter(m->handle, &code, &len, &address, m->room))
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
		if (cs_insn_group(handle, insn, groups[i]))
			return true;
	}
	return false;
}
