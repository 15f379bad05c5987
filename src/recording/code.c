/* SPDX-License-Identifier: MIT */
/* Source lines and instructions at an address of an event's process: see code.h. */
#include "recording/code.h"

#include <elf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/bytes.h"
#include "model/callchain.h"
#include "recording/locate.h"
#include "unwind/registers.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_ELF_DATA ELFDATA2LSB
#else
#define HOST_ELF_DATA ELFDATA2MSB
#endif

static struct lines_table *code_lines_of(struct recording *rec)
{
	struct lines_table_options opts = {
		.rules = rec->opts->rules,
		.demangle = rec->opts->demangle,
		.no_follow = rec->opts->no_follow,
	};

	if (!rec->lines && lines_table_new(&rec->lines, &opts) < 0)
		rec->lines = NULL;
	return rec->lines;
}

/* NULL for code of the kernel, of hypervisors and of guests: no file is known for it. */
static struct dso *code_user_dso(const struct event *ev, uint64_t addr, uint32_t cpumode,
				 uint64_t *ret_offset)
{
	if (cpumode == CPUMODE_KERNEL || cpumode >= CPUMODE_HYPERVISOR)
		return NULL;
	return recording_dso_at(ev, addr, ret_offset);
}

size_t recording_lines(const struct event *ev, uint64_t addr, uint32_t cpumode, bool called,
		       const struct line_place **ret)
{
	struct lines_table *t = code_lines_of(ev->recording);
	uint64_t offset;
	struct dso *d = t ? code_user_dso(ev, addr - called, cpumode, &offset) : NULL;
	size_t nr = d ? lines_at(t, d, dso_file_address(d, offset), ret) : 0;

	if (d && !nr && dso_report_no_descriptor(d))
		defects_add(&ev->recording->defects, DEFECT_NO_DESCRIPTOR, 1, "%s", dso_name(d));
	return nr;
}

bool recording_source_line(struct recording *rec, const char *file, uint32_t line, const char **ret,
			   size_t *ret_len)
{
	struct lines_table *t = code_lines_of(rec);

	return t && lines_source(t, file, line, ret, ret_len);
}

/*
 * Copies kernel code that was written at run time, from the recording. Under perf's rule only
 * out-of-line code is found here. Its bytes are zeros before the record that writes them.
 */
static size_t code_of_kernel(const struct event *ev, uint64_t addr, void *buf, size_t len)
{
	const struct address_space *space = recording_space(ev, CPUMODE_KERNEL);
	const struct mapping *symbol;

	if (!ev->recording->opts->rules->out_of_line_code_only)
		return address_space_code(space, addr, buf, len);
	symbol = address_space_symbol(space, addr);
	if (!symbol || !symbol->out_of_line)
		return 0;
	memset(buf, 0, len);
	address_space_code(space, addr, buf, len);
	return len;
}

size_t recording_code_bytes(const struct event *ev, uint64_t addr, uint32_t cpumode, void *buf,
			    size_t len)
{
	uint64_t offset;
	struct dso *d;

	if (cpumode == CPUMODE_KERNEL)
		return code_of_kernel(ev, addr, buf, len);
	d = code_user_dso(ev, addr, cpumode, &offset);
	return d ? dso_read(d, offset, buf, len) : 0;
}

/* The machine of the file's code; cached for the last file. */
static enum insn_arch code_arch_of(struct recording *rec, struct dso *d)
{
	uint8_t head[20];

	if (rec->insn_dso != d) {
		rec->insn_dso = d;
		rec->insn_arch = INSN_UNKNOWN;
		if (dso_read(d, 0, head, sizeof(head)) == sizeof(head) &&
		    !memcmp(head, ELFMAG, SELFMAG))
			rec->insn_arch =
				insn_arch_of(get_u16(head + 18, head[EI_DATA] != HOST_ELF_DATA));
	}
	return rec->insn_arch;
}

/* A recording that does not name its machine is taken for one made on this machine. */
static enum insn_arch code_kernel_arch(struct recording *rec)
{
	const char *name = source_info(rec->source, "arch");
	const struct unwind_arch *arch;
	struct utsname here;

	if (!name && uname(&here) == 0)
		name = here.machine;
	arch = unwind_arch_of(name, PERF_SAMPLE_REGS_ABI_64);
	if (!arch)
		arch = unwind_arch_of(name, PERF_SAMPLE_REGS_ABI_32);
	return arch ? insn_arch_of(arch->machine) : INSN_UNKNOWN;
}

/*
 * The kind of machine of the code at an address; INSN_UNKNOWN also if there is no decoder.
 */
static enum insn_arch code_arch_at(const struct event *ev, uint64_t addr, uint32_t cpumode)
{
	struct recording *rec = ev->recording;
	uint64_t offset;
	struct dso *d = code_user_dso(ev, addr, cpumode, &offset);

	if ((!d && cpumode != CPUMODE_KERNEL) || (!rec->insns && insn_decoder_new(&rec->insns) < 0))
		return INSN_UNKNOWN;
	return d ? code_arch_of(rec, d) : code_kernel_arch(rec);
}

unsigned recording_insn_length(const struct event *ev, uint64_t addr, uint32_t cpumode,
			       const uint8_t *code, size_t len)
{
	enum insn_arch arch = code_arch_at(ev, addr, cpumode);

	return arch ? insn_length(ev->recording->insns, arch, code, len) : 0;
}

bool recording_insn_branches(const struct event *ev, uint64_t addr, uint32_t cpumode,
			     const uint8_t *code, size_t len)
{
	enum insn_arch arch = code_arch_at(ev, addr, cpumode);

	return arch && insn_branches(ev->recording->insns, arch, code, len);
}

void recording_insn(const struct event *ev, uint64_t addr, uint32_t cpumode, struct code_insn *ret)
{
	size_t n = recording_code_bytes(ev, addr, cpumode, ret->bytes, sizeof(ret->bytes));

	ret->len = n ? recording_insn_length(ev, addr, cpumode, ret->bytes, n) : 0;
}
