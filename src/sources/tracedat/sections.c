/* SPDX-License-Identifier: MIT */
/* Reads sections of the file to memory, and unpacks those that are compressed. */

#include <stdlib.h>
#include <unistd.h>

#include "base/temp_file.h"
#include "base/write_all.h"
#include "formats/tracedat/layout.h"
#include "sources/codecs.h"
#include "sources/tracedat/tracedat.h"
#include "sources/unpacked.h"

enum { LARGEST_CHUNK = 64 << 20 };

/* ---- memory ---------------------------------------------------------------------------------- */

static int sections_add_block(struct tracedat_source *s, uint64_t n, uint8_t **ret)
{
	*ret = malloc(n ? n : 1);
	if (!*ret || vec_push(&s->blocks, *ret) < 0) {
		free(*ret);
		return err_nomem();
	}
	return 0;
}

int tracedat_read(const struct tracedat_source *s, uint64_t off, uint64_t n, const char *what,
		  uint8_t *to)
{
	if (off > s->file_bytes || n > s->file_bytes - off)
		return err_set(-EBADMSG,
			       "%s: %s needs %llu bytes at 0x%llx, the file ends at 0x%llx: it was "
			       "cut off, or never finished",
			       s->opts.path, what, (unsigned long long)n, (unsigned long long)off,
			       (unsigned long long)s->file_bytes);
	while (n) {
		const ssize_t got = pread(s->fd, to, n, (off_t)off);

		if (got < 0)
			return err_errno(errno, "cannot read %s", s->opts.path);
		if (!got)
			return err_set(-EBADMSG, "%s shrank while it was read", s->opts.path);
		to += got;
		off += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

int tracedat_block_read(struct tracedat_source *s, uint64_t off, uint64_t n, const char *what,
			struct bytes *ret)
{
	uint8_t *block;

	if (n > TRACEDAT_LARGEST_PART)
		return err_set(-EBADMSG, "%s: %s at 0x%llx has %llu bytes, at most %d can be read",
			       s->opts.path, what, (unsigned long long)off, (unsigned long long)n,
			       TRACEDAT_LARGEST_PART);
	if (off > s->file_bytes || n > s->file_bytes - off) /* before the memory is taken */
		return tracedat_read(s, off, n, what, NULL);
	TRY(sections_add_block(s, n, &block));
	TRY(tracedat_read(s, off, n, what, block));
	*ret = bytes_init(block, n, off, s->opts.path, s->is_swapped);
	ret->what = what;
	return 0;
}

/* ---- compressed sections --------------------------------------------------------------------- */

static int sections_find_codec(const struct tracedat_source *s, const struct codec_ops **ret)
{
	const char *name = s->start.compression;

	*ret = codec_named(name);
	if (!*ret)
		return err_set(-EBADMSG,
			       "%s is compressed with %.40s, which sonde cannot read: trace-cmd "
			       "convert --compression none makes a file without compression",
			       s->opts.path, name);
	if (!(*ret)->open)
		return err_set(-ENOTSUP, "%s is compressed with %s: this build of sonde has no %s",
			       s->opts.path, (*ret)->name, (*ret)->library);
	return 0;
}

/* Reads the two sizes in front of compressed bytes. */
static int sections_read_sizes(struct tracedat_source *s, uint64_t off, const char *what,
			       uint32_t *ret_packed, uint32_t *ret_bytes)
{
	uint8_t sizes[8];

	TRY(tracedat_read(s, off, sizeof(sizes), what, sizes));
	*ret_packed = get_u32(sizes, s->is_swapped);
	*ret_bytes = get_u32(sizes + 4, s->is_swapped);
	return 0;
}

static int sections_count_unpacked(struct tracedat_source *s, uint64_t bytes)
{
	struct unpacked limit = {
		.max_bytes = s->opts.max_unpacked,
		.packed_bytes = s->file_bytes,
		.bytes = s->unpacked_bytes,
	};

	TRY(unpacked_add(&limit, bytes, s->opts.path));
	s->unpacked_bytes = limit.bytes;
	return 0;
}

/* Unpacks `packed` bytes at off of the file to exactly `bytes` bytes at to. */
static int sections_unpack(struct tracedat_source *s, uint64_t off, uint32_t packed, uint32_t bytes,
			   const char *what, uint8_t *to)
{
	const struct codec_ops *codec;
	uint8_t *from;
	int r;

	TRY(sections_find_codec(s, &codec));
	TRY(sections_count_unpacked(s, bytes));
	if (packed > s->file_bytes) /* before the memory is taken */
		return tracedat_read(s, off, packed, what, NULL);
	from = malloc(packed ? packed : 1);
	if (!from)
		return err_nomem();
	r = tracedat_read(s, off, packed, what, from);
	if (r >= 0)
		r = codec_unpack(codec, from, packed, to, bytes);
	free(from);
	return r == -EBADMSG && packed <= s->file_bytes
		       ? err_add(r, "%s: %s at 0x%llx cannot be unpacked (%s)", s->opts.path, what,
				 (unsigned long long)off, codec->name)
		       : r;
}

int tracedat_section_load(struct tracedat_source *s, uint64_t off, unsigned id, const char *what,
			  struct bytes *ret, uint64_t *ret_off)
{
	uint8_t head[TRACEDAT_SECTION_HEADER_BYTES], *block;
	struct tracedat_section section = { 0 };
	struct bytes b;
	uint32_t packed, bytes;

	TRY(tracedat_read(s, off, sizeof(head), what, head));
	b = bytes_init(head, sizeof(head), off, s->opts.path, s->is_swapped);
	b.what = what;
	TRY(tracedat_section_read(&b, &section));
	if (section.id != id)
		return bytes_fail(&b, -EBADMSG, "the section has the id %u instead of %u",
				  section.id, id);
	off += sizeof(head);
	*ret_off = section.is_compressed ? 0 : off;
	if (!section.is_compressed)
		return tracedat_block_read(s, off, section.size, what, ret);
	TRY(sections_read_sizes(s, off, what, &packed, &bytes));
	if (bytes > TRACEDAT_LARGEST_PART)
		return bytes_fail(&b, -EBADMSG, "the section has %u bytes, at most %d can be read",
				  bytes, TRACEDAT_LARGEST_PART);
	TRY(sections_add_block(s, bytes, &block));
	TRY(sections_unpack(s, off + 8, packed, bytes, what, block));
	*ret = bytes_init(block, bytes, 0, s->opts.path, s->is_swapped);
	ret->what = what;
	return 0;
}

/* ---- pages ----------------------------------------------------------------------------------- */

int tracedat_unpacked_append(struct tracedat_source *s, const void *p, size_t n)
{
	int r;

	if (s->unpacked < 0)
		s->unpacked = temp_file_open();
	if (s->unpacked < 0)
		return s->unpacked;
	r = write_all(s->unpacked, p, n);
	return r < 0 ? err_errno(-r, "cannot write the unpacked sections of %s (TMPDIR)",
				 s->opts.path)
		     : 0;
}

static int sections_unpack_chunk(struct tracedat_source *s, uint64_t *off, uint32_t page_bytes,
				 uint64_t *bytes_of_cpu)
{
	static const char what[] = "a chunk of pages";
	uint32_t packed, bytes;
	uint8_t *to;
	int r;

	TRY(sections_read_sizes(s, *off, what, &packed, &bytes));
	if (bytes > LARGEST_CHUNK || packed > LARGEST_CHUNK || bytes % page_bytes)
		return err_set(
			-EBADMSG,
			"%s: a chunk of pages at 0x%llx has %u bytes, unpacked %u: not pages "
			"of %u bytes, or more than %d",
			s->opts.path, (unsigned long long)*off, packed, bytes, page_bytes,
			LARGEST_CHUNK);
	to = malloc(bytes ? bytes : 1);
	if (!to)
		return err_nomem();
	r = sections_unpack(s, *off + 8, packed, bytes, what, to);
	if (r >= 0)
		r = tracedat_unpacked_append(s, to, bytes);
	free(to);
	TRY(r);
	*off += 8 + (uint64_t)packed;
	*bytes_of_cpu += bytes;
	return 0;
}

/*
 * The size in the table is only a hint. Bytes that were unpacked in front of damage are kept.
 */
int tracedat_pages_unpack(struct tracedat_source *s, struct tracedat_cpu *cpu, uint32_t page_bytes)
{
	uint64_t off = cpu->off + 4, bytes = 0;
	uint8_t word[4];
	int64_t begin;
	uint32_t n;
	int r;

	TRY(tracedat_read(s, cpu->off, sizeof(word), "the pages of a cpu", word));
	TRY(tracedat_unpacked_append(s, NULL, 0));
	begin = lseek(s->unpacked, 0, SEEK_CUR);
	if (begin < 0)
		return err_errno(errno, "cannot write the unpacked sections of %s", s->opts.path);
	n = get_u32(word, s->is_swapped);
	for (r = 0; n && r >= 0; n--)
		r = sections_unpack_chunk(s, &off, page_bytes, &bytes);
	if (r == -EBADMSG) {
		defects_add(s->opts.defects, DEFECT_COMPRESSED, 1, "cpu %u of %.120s: %s", cpu->cpu,
			    s->opts.path, err_text());
		err_clear();
		r = 0;
	}
	cpu->off = (uint64_t)begin;
	cpu->size = bytes;
	return r;
}
