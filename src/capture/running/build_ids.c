/* SPDX-License-Identifier: MIT */
#include "capture/running/build_ids.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/elf/notes.h"
#include "formats/perfdata/layout.h"

enum { HEAD_BYTES = 4096, NOTES_MAX = 64 << 10, SEGMENTS_MAX = 128 };

static bool build_ids_find_note(const uint8_t *notes, size_t len, struct build_id *ret)
{
	const struct build_id id = elf_notes_build_id(notes, len, false);

	if (!id.len || id.len > PERFDATA_BUILD_ID_BYTES)
		return false;
	*ret = id;
	return true;
}

static struct build_id build_ids_of_notes_file(const char *path)
{
	struct build_id id = { 0 };
	uint8_t notes[HEAD_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return id;
	n = read(fd, notes, sizeof(notes));
	if (n > 0)
		build_ids_find_note(notes, (size_t)n, &id);
	close(fd);
	return id;
}

struct build_id build_id_of_kernel(void)
{
	return build_ids_of_notes_file("/sys/kernel/notes");
}

struct build_id build_id_of_module(const char *root, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/module/%s/notes/.note.gnu.build-id", root, name);
	return build_ids_of_notes_file(path);
}

/* An ELF file. The needed bytes are nearly always at its beginning, which is read at once. */
struct elf_head {
	int fd;
	size_t len;
	_Alignas(8) uint8_t bytes[HEAD_BYTES];
};

/* Returns bytes borrowed from the head or from `room`. NULL if the file is too short. */
static const uint8_t *build_ids_bytes_at(const struct elf_head *h, uint64_t offset, size_t len,
					 uint8_t *room)
{
	if (offset < h->len && len <= h->len - offset)
		return h->bytes + offset;
	return pread(h->fd, room, len, (off_t)offset) == (ssize_t)len ? room : NULL;
}

struct build_id build_id_of_file(int fd)
{
	struct elf_head h = { .fd = fd };
	struct build_id id = { 0 };
	uint8_t notes[NOTES_MAX];
	Elf64_Ehdr e64;
	Elf32_Ehdr e32;
	ssize_t n = pread(fd, h.bytes, sizeof(h.bytes), 0);

	if (n < (ssize_t)sizeof(e32) || memcmp(h.bytes, ELFMAG, SELFMAG))
		return id;
	h.len = (size_t)n;
	const bool is64 = h.bytes[EI_CLASS] == ELFCLASS64;

	if (is64 && h.len < sizeof(e64))
		return id;
	memcpy(&e32, h.bytes, sizeof(e32));
	memcpy(&e64, h.bytes, is64 ? sizeof(e64) : sizeof(e32));
	const uint64_t table = is64 ? e64.e_phoff : e32.e_phoff;
	const size_t entry = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	const size_t nr = is64 ? e64.e_phnum : e32.e_phnum;

	for (size_t i = 0; i < nr && i < SEGMENTS_MAX; i++) {
		uint8_t room[sizeof(Elf64_Phdr)];
		const uint8_t *at = build_ids_bytes_at(&h, table + i * entry, entry, room);
		Elf64_Phdr p64;
		Elf32_Phdr p32;
		uint64_t offset, size;

		if (!at)
			break;
		memcpy(&p32, at, sizeof(p32));
		memcpy(&p64, at, entry);
		if ((is64 ? p64.p_type : p32.p_type) != PT_NOTE)
			continue;
		offset = is64 ? p64.p_offset : p32.p_offset;
		size = is64 ? p64.p_filesz : p32.p_filesz;
		if (size > sizeof(notes))
			continue;
		at = build_ids_bytes_at(&h, offset, size, notes);
		if (at && build_ids_find_note(at, size, &id))
			break;
	}
	return id;
}

const uint8_t *build_id_vdso_image(size_t *ret_len)
{
#if defined(__LP64__)
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)image;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!image)
		return NULL;
	*ret_len = (h->e_shoff + (size_t)h->e_shnum * h->e_shentsize + page - 1) & ~(page - 1);
	return image;
#else
	return NULL;
#endif
}

struct build_id build_id_of_vdso(void)
{
	struct build_id id = { 0 };
#if defined(__LP64__)
	size_t len;
	const uint8_t *image = build_id_vdso_image(&len);
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)image;

	if (!image)
		return id;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(image + h->e_phoff);

	for (size_t i = 0; i < h->e_phnum && !id.len; i++)
		if (p[i].p_type == PT_NOTE)
			build_ids_find_note(image + p[i].p_offset, p[i].p_filesz, &id);
#endif
	return id;
}

/* The path comes from a mapping, so only regular files are opened, without blocking. */
static int build_ids_open_inode(const char *path, uint64_t inode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (!inode || st.st_ino == inode))
		return fd;
	close(fd);
	return -1;
}

int build_id_open_mapped(const char *path, uint64_t inode, int32_t pid)
{
	char below[PATH_MAX];
	int fd = build_ids_open_inode(path, inode);

	/* the file may be in a container; the path works as long as one of its processes lives */
	if (fd >= 0 || pid <= 0 ||
	    snprintf(below, sizeof(below), "/proc/%d/root%s", pid, path) >= (int)sizeof(below))
		return fd;
	return build_ids_open_inode(below, inode);
}

static struct build_id build_ids_read_mapped(const char *name, uint64_t inode, int32_t pid)
{
	const int fd = *name == '/' ? build_id_open_mapped(name, inode, pid) : -1;
	struct build_id id = { 0 };

	if (fd < 0)
		return strcmp(name, "[vdso]") ? id : build_id_of_vdso();
	id = build_id_of_file(fd);
	close(fd);
	return id;
}

struct build_id build_ids_of_mapping(struct build_ids *ids, const char *name, uint64_t device,
				     uint64_t inode, int32_t pid)
{
	const uint64_t key = device * UINT64_C(0x9e3779b97f4a7c15) ^ inode;
	uint64_t at = inode ? hash64_find(&ids->by_inode, key) : HASH64_EMPTY;
	struct build_id id;

	if (at < ids->list.n)
		return ids->list.v[at];
	id = build_ids_read_mapped(name, inode, pid);
	/* if out of memory, the file is read again next time */
	if (inode && vec_push(&ids->list, id) == 0 &&
	    hash64_put(&ids->by_inode, key, ids->list.n - 1) < 0)
		ids->list.n--;
	return id;
}

void build_ids_done(struct build_ids *ids)
{
	hash64_done(&ids->by_inode);
	vec_done(&ids->list);
}
