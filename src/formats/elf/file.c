/* SPDX-License-Identifier: MIT */
#include "formats/elf/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

#define MAX_SECTION_BYTES \
	(512u << 20) /* a browser with everything linked in has 200 MB of symbols */
#define MAX_NOTES_BYTES   (64u << 10)
#define MAX_TABLE_ENTRIES (1u << 20)
#define PAGE_BYTES        4096u
/* Linkers make a dozen. Each lookup walks all of them. */
#define MAX_SEGMENTS 1024u
#define MAX_NOTES    64u

/* ---- bytes ----------------------------------------------------------------------------------- */

size_t elf_file_read(const struct elf_file *f, uint64_t offset, void *buf, size_t len)
{
	size_t done = 0;

	if (offset >= f->size)
		return 0;
	if (len > f->size - offset)
		len = (size_t)(f->size - offset);
	if (f->fd < 0) {
		if (!f->image)
			return 0;
		memcpy(buf, f->image + offset, len);
		return len;
	}
	while (done < len) {
		ssize_t n = pread(f->fd, (uint8_t *)buf + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

static int file_elf_load(const struct elf_file *f, uint64_t offset, uint64_t size, const char *what,
			 uint8_t **ret)
{
	uint8_t *p;

	if (offset > f->size || size > f->size - offset)
		return err_set(-EBADMSG, "%s: %s extends beyond the end of the file", f->path,
			       what);
	if (size > MAX_SECTION_BYTES)
		return err_set(-EFBIG, "%s: %s is larger than %u MiB", f->path, what,
			       MAX_SECTION_BYTES >> 20);
	p = malloc(size + 1);
	if (!p)
		return err_nomem();
	if (elf_file_read(f, offset, p, size) != size) {
		free(p);
		return err_set(-EIO, "%s: cannot read %s", f->path, what);
	}
	p[size] = '\0';
	*ret = p;
	return 0;
}

int elf_file_load(const struct elf_file *f, const struct elf_section *s, uint8_t **ret)
{
	if (s->type == SHT_NOBITS || !s->size)
		return err_set(-ENODATA, "%s: section %s is empty", f->path, s->name);
	return file_elf_load(f, s->offset, s->size, *s->name ? s->name : "a section", ret);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* A member of a struct of the file's ELF class. */
#define GET(f, p, T, member)                                                \
	((f)->is64 ? file_get_member((f), (p), offsetof(Elf64_##T, member), \
				     sizeof(((Elf64_##T *)0)->member))      \
		   : file_get_member((f), (p), offsetof(Elf32_##T, member), \
				     sizeof(((Elf32_##T *)0)->member)))

static uint64_t file_get_member(const struct elf_file *f, const uint8_t *p, size_t at, size_t size)
{
	switch (size) {
	case 2:
		return get_u16(p + at, f->swap);
	case 4:
		return get_u32(p + at, f->swap);
	default:
		return get_u64(p + at, f->swap);
	}
}

static int file_read_segments(struct elf_file *f, uint64_t offset, size_t n, size_t entry)
{
	size_t least = f->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint8_t *table;

	if (!n || entry < least)
		return 0;
	if (n > MAX_SEGMENTS)
		n = MAX_SEGMENTS;
	if (file_elf_load(f, offset, (uint64_t)n * entry, "the table of segments", &table) < 0)
		return 0;
	f->segments = calloc(n, sizeof(*f->segments));
	if (!f->segments) {
		free(table);
		return err_nomem();
	}
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = table + i * entry;

		f->segments[i] = (struct elf_segment){
			.type = (uint32_t)GET(f, p, Phdr, p_type),
			.flags = (uint32_t)GET(f, p, Phdr, p_flags),
			.offset = GET(f, p, Phdr, p_offset),
			.vaddr = GET(f, p, Phdr, p_vaddr),
			.filesz = GET(f, p, Phdr, p_filesz),
			.memsz = GET(f, p, Phdr, p_memsz),
		};
	}
	f->nr_segments = n;
	free(table);
	return 0;
}

static struct elf_section file_elf_section_read(const struct elf_file *f, const uint8_t *p)
{
	return (struct elf_section){
		.name = "",
		.type = (uint32_t)GET(f, p, Shdr, sh_type),
		.link = (uint32_t)GET(f, p, Shdr, sh_link),
		.flags = GET(f, p, Shdr, sh_flags),
		.addr = GET(f, p, Shdr, sh_addr),
		.offset = GET(f, p, Shdr, sh_offset),
		.size = GET(f, p, Shdr, sh_size),
		.align = GET(f, p, Shdr, sh_addralign),
		.entsize = GET(f, p, Shdr, sh_entsize),
	};
}

static void file_name_sections(struct elf_file *f, const uint8_t *table, size_t entry,
			       size_t strings)
{
	const struct elf_section *s;
	uint8_t *names;

	if (strings >= f->nr_sections)
		return;
	s = &f->sections[strings];
	if (s->type != SHT_STRTAB || elf_file_load(f, s, &names) < 0)
		return;
	f->names = (char *)names;
	for (size_t i = 0; i < f->nr_sections; i++) {
		uint64_t at = GET(f, table + i * entry, Shdr, sh_name);

		if (at < s->size)
			f->sections[i].name = f->names + at;
	}
}

/* Numbers too large for the header are in the first section: of sections, names, segments. */
static int file_elf_read_sections(struct elf_file *f, uint64_t offset, size_t n, size_t entry,
				  size_t strings, size_t *segments)
{
	size_t least = f->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint8_t first[sizeof(Elf64_Shdr)], *table;

	if (!offset || entry < least || elf_file_read(f, offset, first, least) != least)
		return 0;
	if (!n)
		n = (size_t)GET(f, first, Shdr, sh_size);
	if (strings == SHN_XINDEX)
		strings = (size_t)GET(f, first, Shdr, sh_link);
	if (*segments == PN_XNUM)
		*segments = (size_t)GET(f, first, Shdr, sh_info);
	if (!n || n > MAX_TABLE_ENTRIES ||
	    file_elf_load(f, offset, (uint64_t)n * entry, "the table of sections", &table) < 0)
		return 0;
	f->sections = calloc(n, sizeof(*f->sections));
	if (!f->sections) {
		free(table);
		return err_nomem();
	}
	for (size_t i = 0; i < n; i++)
		f->sections[i] = file_elf_section_read(f, table + i * entry);
	f->nr_sections = n;
	file_name_sections(f, table, entry, strings);
	free(table);
	return 0;
}

static int file_read_tables(struct elf_file *f)
{
	const uint16_t probe = 1;
	bool host_big = !*(const uint8_t *)&probe;
	uint8_t h[sizeof(Elf64_Ehdr)] = { 0 };
	size_t n = elf_file_read(f, 0, h, sizeof(h)), segments;

	if (n < sizeof(Elf32_Ehdr) || memcmp(h, ELFMAG, SELFMAG) != 0)
		return err_set(-ENOEXEC, "%s is not an ELF file", f->path);
	f->is64 = h[EI_CLASS] == ELFCLASS64;
	if ((!f->is64 && h[EI_CLASS] != ELFCLASS32) || (f->is64 && n < sizeof(h)) ||
	    (h[EI_DATA] != ELFDATA2LSB && h[EI_DATA] != ELFDATA2MSB))
		return err_set(-ENOEXEC, "%s: an ELF file of an unknown kind", f->path);
	f->swap = (h[EI_DATA] == ELFDATA2MSB) != host_big;
	f->type = (uint16_t)GET(f, h, Ehdr, e_type);
	f->machine = (uint16_t)GET(f, h, Ehdr, e_machine);
	segments = (size_t)GET(f, h, Ehdr, e_phnum);
	TRY(file_elf_read_sections(f, GET(f, h, Ehdr, e_shoff), (size_t)GET(f, h, Ehdr, e_shnum),
				   (size_t)GET(f, h, Ehdr, e_shentsize),
				   (size_t)GET(f, h, Ehdr, e_shstrndx), &segments));
	return file_read_segments(f, GET(f, h, Ehdr, e_phoff), segments,
				  (size_t)GET(f, h, Ehdr, e_phentsize));
}

/* ---- opening --------------------------------------------------------------------------------- */

static int file_elf_finish(struct elf_file *f, struct elf_file **ret)
{
	int r = file_read_tables(f);

	if (r < 0) {
		elf_file_close(f);
		return r;
	}
	*ret = f;
	return 0;
}

static void file_elf_identify(struct elf_file *f, const struct stat *st)
{
	f->dev = st->st_dev;
	f->ino = st->st_ino;
	f->mtime_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

int elf_file_open(struct elf_file **ret, const char *path)
{
	struct elf_file *f = calloc(1, sizeof(*f));
	struct stat st;
	int r = 0;

	if (!f)
		return err_nomem();
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0)
		r = err_errno(errno, "cannot open %s", path);
	else if (fstat(f->fd, &st) < 0)
		r = err_errno(errno, "cannot read %s", path);
	else if (!S_ISREG(st.st_mode))
		r = err_set(-EINVAL, "%s is not a regular file", path);
	else if (!(f->path = strdup(path)))
		r = err_nomem();
	if (r < 0) {
		elf_file_close(f);
		return r;
	}
	f->size = (uint64_t)st.st_size;
	file_elf_identify(f, &st);
	return file_elf_finish(f, ret);
}

void elf_file_rest(struct elf_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

int elf_file_wake(struct elf_file *f)
{
	struct elf_file now = { 0 };
	struct stat st;

	if (f->fd >= 0 || f->image)
		return 0;
	f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0 && errno_no_descriptor(errno))
		return err_errno(errno, "cannot open %s", f->path);
	if (f->fd >= 0 && !fstat(f->fd, &st)) {
		file_elf_identify(&now, &st);
		if (now.dev == f->dev && now.ino == f->ino && now.mtime_ns == f->mtime_ns)
			return 0;
	}
	elf_file_rest(f);
	return err_set(-ESTALE, "%s has changed since it was opened", f->path);
}

int elf_file_from_memory(struct elf_file **ret, uint8_t *take_image, size_t len, const char *name)
{
	struct elf_file *f = calloc(1, sizeof(*f));

	if (!f || !(f->path = strdup(name))) {
		free(take_image);
		free(f);
		return err_nomem();
	}
	f->fd = -1;
	f->image = take_image;
	f->size = len;
	return file_elf_finish(f, ret);
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	free(f->image);
	free((char *)f->path);
	free(f->segments);
	free(f->sections);
	free(f->names);
	free(f);
}

/* ---- lookups --------------------------------------------------------------------------------- */

const struct elf_section *elf_file_section(const struct elf_file *f, const char *name)
{
	for (size_t i = 1; i < f->nr_sections; i++) {
		if (!strcmp(f->sections[i].name, name))
			return &f->sections[i];
	}
	return NULL;
}

static struct build_id file_build_id_at(const struct elf_file *f, uint64_t offset, uint64_t size)
{
	struct build_id id = { 0 };
	uint8_t *notes;

	if (!size || size > MAX_NOTES_BYTES || file_elf_load(f, offset, size, "a note", &notes) < 0)
		return id;
	id = elf_notes_build_id(notes, (size_t)size, f->swap);
	free(notes);
	return id;
}

struct build_id elf_file_build_id(const struct elf_file *f)
{
	struct build_id id = { 0 };
	size_t notes = 0;

	for (size_t i = 0; i < f->nr_sections && !id.len; i++) {
		const struct elf_section *s = &f->sections[i];

		if (s->type == SHT_NOTE && notes++ < MAX_NOTES)
			id = file_build_id_at(f, s->offset, s->size);
	}
	for (size_t i = 0; i < f->nr_segments && !id.len; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->type == PT_NOTE && notes++ < 2 * MAX_NOTES)
			id = file_build_id_at(f, s->offset, s->filesz);
	}
	return id;
}

const struct elf_segment *elf_file_segment_at(const struct elf_file *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->nr_segments; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t size = s->memsz > s->filesz ? s->memsz : s->filesz;

		if (s->type == PT_LOAD && vaddr >= s->vaddr && vaddr - s->vaddr < size)
			return s;
	}
	return NULL;
}

/*
 * The kernel maps complete pages: a segment's mapping begins with the page of its first byte and
 * ends with the page of its last byte. If two segments share a page of the file, the code segment
 * is meant.
 */
bool elf_file_address(struct elf_file *f, uint64_t offset, uint64_t *ret_vaddr)
{
	const struct elf_segment *best = f->last_code;
	int best_rank = 0;

	/* No segment is a better match than code that contains the offset. */
	if (best && offset >= best->offset && offset - best->offset < best->filesz) {
		*ret_vaddr = offset - best->offset + best->vaddr;
		return true;
	}
	best = NULL;
	for (size_t i = 0; i < f->nr_segments; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t begin = s->offset & ~(uint64_t)(PAGE_BYTES - 1);
		bool inside = offset >= s->offset && offset - s->offset < s->filesz;
		int rank = (inside ? 2 : 1) * 2 + !!(s->flags & PF_X);

		if (s->type != PT_LOAD || !s->filesz || rank <= best_rank)
			continue;
		if (!inside && (offset < begin || offset - begin >= s->filesz + 2 * PAGE_BYTES ||
				offset > ((s->offset + s->filesz) | (PAGE_BYTES - 1))))
			continue;
		best = s;
		best_rank = rank;
	}
	if (!best)
		return false;
	if (best_rank == 5)
		f->last_code = best;
	*ret_vaddr = offset - best->offset + best->vaddr;
	return true;
}
