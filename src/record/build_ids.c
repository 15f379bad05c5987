/* SPDX-License-Identifier: MIT */
#include "record/build_ids.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/elf/notes.h"
#include "formats/perfdata/writer.h"

enum { NOTES_MAX = 64 << 10, SEGMENTS_MAX = 128, ID_MAX = 20 };

static void put(struct outbuf *o, uint16_t cpumode, const char *name, const uint8_t *notes,
		size_t len)
{
	struct perfdata_writer_build_id b = { .cpumode = cpumode, .name = name };

	b.id = elf_notes_build_id(notes, len, false, &b.id_len);
	if (b.id && b.id_len <= ID_MAX)
		perfdata_put_build_id(o, &b);
}

static size_t read_file(int fd, uint64_t offset, void *buf, size_t len)
{
	ssize_t n = pread(fd, buf, len, (off_t)offset);

	return n > 0 ? (size_t)n : 0;
}

void build_ids_put_kernel(struct outbuf *o)
{
	uint8_t notes[4096];
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	put(o, PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]", notes,
	    read_file(fd, 0, notes, sizeof(notes)));
	close(fd);
}

/* PT_NOTE segments of an ELF file of this machine's kind, 64 or 32 bits. */
static void put_file(struct outbuf *o, const char *path)
{
	uint8_t notes[NOTES_MAX];
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} h = { 0 };
	struct stat st;
	/* A path out of a mapping: nothing but a plain file is to be touched, and nothing waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t before = o->len;

	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    read_file(fd, 0, &h, sizeof(h)) < sizeof(h.e32) || memcmp(h.ident, ELFMAG, SELFMAG)) {
		close(fd);
		return;
	}
	const bool is64 = h.ident[EI_CLASS] == ELFCLASS64;
	const uint64_t table = is64 ? h.e64.e_phoff : h.e32.e_phoff;
	const size_t entry = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	const size_t nr = is64 ? h.e64.e_phnum : h.e32.e_phnum;

	for (size_t i = 0; i < nr && i < SEGMENTS_MAX && o->len == before; i++) {
		union {
			Elf64_Phdr p64;
			Elf32_Phdr p32;
		} p;
		uint64_t offset, size;

		if (read_file(fd, table + i * entry, &p, entry) != entry)
			break;
		offset = is64 ? p.p64.p_offset : p.p32.p_offset;
		size = is64 ? p.p64.p_filesz : p.p32.p_filesz;
		if ((is64 ? p.p64.p_type : p.p32.p_type) != PT_NOTE || size > sizeof(notes))
			continue;
		put(o, PERF_RECORD_MISC_USER, path, notes, read_file(fd, offset, notes, size));
	}
	close(fd);
}

/* The vdso has no file; the one in our own memory is everybody's. */
static void put_vdso(struct outbuf *o)
{
#if defined(__LP64__)
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)image;

	if (!image)
		return;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(image + h->e_phoff);

	for (size_t i = 0; i < h->e_phnum; i++)
		if (p[i].p_type == PT_NOTE)
			put(o, PERF_RECORD_MISC_USER, "[vdso]", image + p[i].p_offset,
			    p[i].p_filesz);
#endif
}

void build_ids_put_dsos(struct outbuf *o, const struct strpool *names)
{
	for (uint32_t id = 1; id < names->entries.n; id++) {
		const char *name = strpool_text(names, id);

		if (name[0] == '/' && name[1] != '/')
			put_file(o, name);
		else if (!strcmp(name, "[vdso]"))
			put_vdso(o);
	}
}
