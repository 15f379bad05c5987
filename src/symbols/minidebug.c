/* SPDX-License-Identifier: MIT */
#include "symbols/elf_symbols.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/packers.h"

#ifdef HAVE_LZMA

#define MAX_UNPACKED_BYTES (256u << 20)
#define MAX_UNPACK_MEMORY  (128u << 20)

static int minidebug_unpack(const uint8_t *packed, size_t len, uint8_t **ret, size_t *ret_len)
{
	size_t size = len < MAX_UNPACKED_BYTES / 4 ? 4 * len + 4096 : MAX_UNPACKED_BYTES, used = 0,
	       at = 0;
	uint64_t memory = MAX_UNPACK_MEMORY;
	uint8_t *out = NULL;

	for (;;) {
		uint8_t *larger = realloc(out, size);
		lzma_ret r;

		if (!larger) {
			free(out);
			return err_nomem();
		}
		out = larger;
		used = at = 0;
		r = lzma_stream_buffer_decode(&memory, 0, NULL, packed, &at, len, out, &used, size);
		if (r == LZMA_OK)
			break;
		if (r != LZMA_BUF_ERROR || at == len || size >= MAX_UNPACKED_BYTES) {
			free(out);
			return err_set(-EBADMSG, "a packed symbol table is damaged or too large");
		}
		size = size < MAX_UNPACKED_BYTES / 2 ? 2 * size : MAX_UNPACKED_BYTES;
	}
	*ret = out;
	*ret_len = used;
	return 0;
}

int elf_symbols_unpack(struct elf_file **ret, const struct elf_file *f)
{
	const struct elf_section *s = elf_file_section(f, ".gnu_debugdata");
	uint8_t *packed, *image = NULL;
	size_t len = 0;
	int r;

	if (!s)
		return err_set(-ENODATA, "%s has no packed symbols", f->path);
	TRY(packers_need_lzma());
	TRY(elf_file_load(f, s, &packed));
	r = minidebug_unpack(packed, s->size, &image, &len);
	free(packed);
	TRY(r);
	return elf_file_from_memory(ret, image, len, f->path);
}

#else

int elf_symbols_unpack(struct elf_file **ret, const struct elf_file *f)
{
	return err_set(-ENODATA, "%s: this build cannot unpack symbols (liblzma)", f->path);
}

#endif
