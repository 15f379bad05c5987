/* SPDX-License-Identifier: MIT */
#include "symbols/insn.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>

#include "base/err.h"

/* A mode of x86, opened when first asked for. */
struct mode {
	csh handle;
	cs_insn *room; /* owned; NULL: not opened */
};

struct insn_decoder {
	struct mode x86_64, i386;
};

int insn_decoder_new(struct insn_decoder **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : err_nomem();
}

static void close_mode(struct mode *m)
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
	close_mode(&d->x86_64);
	close_mode(&d->i386);
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

static bool open_mode(struct mode *m, cs_mode mode)
{
	if (m->room)
		return true;
	if (cs_open(CS_ARCH_X86, mode, &m->handle) != CS_ERR_OK)
		return false;
	m->room = cs_malloc(m->handle);
	if (!m->room)
		cs_close(&m->handle);
	return m->room;
}

unsigned insn_length(struct insn_decoder *d, enum insn_arch arch, const uint8_t *code, size_t len)
{
	struct mode *m = arch == INSN_X86_64 ? &d->x86_64 : &d->i386;
	uint64_t address = 0;

	if (arch == INSN_ARM64)
		return len >= 4 ? 4 : 0;
	if (arch == INSN_UNKNOWN || !open_mode(m, arch == INSN_X86_64 ? CS_MODE_64 : CS_MODE_32) ||
	    !cs_disasm_iter(m->handle, &code, &len, &address, m->room))
		return 0;
	return m->room->size;
}
