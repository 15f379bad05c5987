/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/named_files.h"

/* simpleperf's numbers for kinds of files. */
enum {
	KIND_KERNEL = 0,
	KIND_MODULE = 1,
	KIND_ELF = 2,
	KIND_DEX = 3,
	KIND_SYMBOL_MAP = 4,
	KIND_UNKNOWN = 5
};

/* A file while it is read. */
struct reading {
	struct arena *arena;
	VEC(struct named_symbol) symbols;
	const char *path;
	uint64_t kind, first_addr, first_off;
	bool has_first_off;
};

static int named_files_add_symbol(struct reading *r, struct named_symbol sym)
{
	if (!sym.len || !sym.name || !*sym.name)
		return 0;
	return vec_push(&r->symbols, sym) < 0 ? err_nomem() : 0;
}

/*
 * The code of a JIT is in a file stored next to the recording, but its functions have addresses of
 * the process.
 */
static bool named_is_jit_cache(const char *path)
{
	return strstr(path, "jit_app_cache:") || strstr(path, "jit_zygote_cache:");
}

static enum named_addresses named_addresses_of(const struct reading *r)
{
	switch (r->kind) {
	case KIND_ELF:
	case KIND_MODULE:
		if (named_is_jit_cache(r->path))
			return NAMED_BY_MEMORY;
		return r->has_first_off ? NAMED_BY_OFFSET : NAMED_BY_MAP;
	case KIND_DEX: /* its symbols have offsets as addresses */
		return NAMED_BY_OFFSET;
	default:
		return NAMED_BY_MEMORY;
	}
}

static int named_files_compare(const void *pa, const void *pb)
{
	const struct named_symbol *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->len < b->len ? -1 : a->len > b->len;
}

static int named_files_add_file(struct reading *r, struct named_files *files)
{
	struct named_file f = { .path = r->path, .nr = r->symbols.n };
	struct named_symbol *copy;

	if (!f.path || !*f.path || !f.nr)
		return 0;
	f.addresses = named_addresses_of(r);
	if (r->kind != KIND_DEX && f.addresses != NAMED_BY_MEMORY) {
		f.first_addr = r->first_addr;
		f.first_off = r->first_off;
	}
	copy = arena_array(r->arena, f.nr, sizeof(*copy));
	if (!copy)
		return err_nomem();
	memcpy(copy, r->symbols.v, f.nr * sizeof(*copy));
	qsort(copy, f.nr, sizeof(*copy), named_files_compare);
	f.symbols = copy;
	return vec_push(files, f) < 0 ? err_nomem() : 0;
}

/* Reads the files of a section in order. `read` reads one file, whose bytes are all there. */
static int files_read_list(struct bytes *b, struct arena *a, struct named_files *files,
			   int (*read)(struct reading *r, struct bytes *file))
{
	struct reading r = { .arena = a };
	int result = 0;

	while (bytes_left(b) && result >= 0) {
		struct bytes file;
		uint32_t size = 0;

		result = bytes_u32(b, "size of a file", &size);
		if (result >= 0)
			result = bytes_sub(b, "file", size, &file);
		if (result < 0)
			break;
		vec_clear(&r.symbols);
		r.path = NULL;
		r.kind = r.first_addr = r.first_off = 0;
		r.has_first_off = false;
		result = read(&r, &file);
		if (result >= 0)
			result = named_files_add_file(&r, files);
	}
	vec_done(&r.symbols);
	return result;
}

/* ---- FILE ------------------------------------------------------------------------------------ */

static int named_read_binary(struct reading *r, struct bytes *b)
{
	uint32_t kind = 0, n = 0;

	TRY(bytes_cstr(b, "path", &r->path));
	TRY(bytes_u32(b, "kind", &kind));
	TRY(bytes_u64(b, "first address", &r->first_addr));
	TRY(bytes_u32(b, "number of symbols", &n));
	r->kind = kind;
	while (n--) {
		struct named_symbol sym = { 0 };

		TRY(bytes_u64(b, "address", &sym.addr));
		TRY(bytes_u32(b, "length", &sym.len));
		TRY(bytes_cstr(b, "name", &sym.name));
		TRY(named_files_add_symbol(r, sym));
	}
	if (kind == KIND_DEX) {
		TRY(bytes_u32(b, "number of dex files", &n));
		TRY(bytes_skip(b, "offsets of dex files", (uint64_t)n * 8));
	} else if ((kind == KIND_ELF || kind == KIND_MODULE) && bytes_left(b)) {
		TRY(bytes_u64(b, "offset of the first address", &r->first_off));
		r->has_first_off = true;
	}
	return 0;
}

int perfdata_named_files_read(struct bytes *b, struct arena *a, struct named_files *files)
{
	return files_read_list(b, a, files, named_read_binary);
}

/* ---- FILE2: protobuf ------------------------------------------------------------------------- */

/* A field of a message: a number, or bytes. */
struct wire_field {
	uint64_t number, value;
	bool is_bytes;
	struct bytes bytes;
};

static int named_read_varint(struct bytes *b, const char *name, uint64_t *ret)
{
	uint64_t value = 0;
	uint8_t byte = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		TRY(bytes_u8(b, name, &byte));
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return 0;
		}
	}
	return bytes_fail(b, -EBADMSG, "field %s: a number of more than 10 bytes", name);
}

static int named_read_field(struct bytes *b, struct wire_field *ret)
{
	enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
	uint64_t tag = 0, len = 0;

	*ret = (struct wire_field){ 0 };
	TRY(named_read_varint(b, "tag", &tag));
	ret->number = tag >> 3;
	switch (tag & 7) {
	case VARINT:
		return named_read_varint(b, "value", &ret->value);
	case BYTES:
		TRY(named_read_varint(b, "length", &len));
		ret->is_bytes = true;
		return bytes_sub(b, "bytes", len, &ret->bytes);
	/* unknown fields are skipped: */
	case FIXED64:
		ret->number = 0;
		return bytes_skip(b, "value", 8);
	case FIXED32:
		ret->number = 0;
		return bytes_skip(b, "value", 4);
	default:
		return bytes_fail(b, -EBADMSG, "a field of protobuf's kind %u",
				  (unsigned)(tag & 7));
	}
}

static int named_take_text(struct arena *a, const struct bytes *text, const char **ret)
{
	*ret = arena_strndup(a, (const char *)text->start, bytes_left(text));
	return *ret ? 0 : err_nomem();
}

static int named_read_symbol2(struct reading *r, struct bytes *b)
{
	struct named_symbol sym = { 0 };
	struct bytes name = { 0 };
	struct wire_field f;

	while (bytes_left(b)) {
		TRY(named_read_field(b, &f));
		if (f.number == 1 && !f.is_bytes)
			sym.addr = f.value;
		else if (f.number == 2 && !f.is_bytes)
			sym.len = (uint32_t)f.value;
		else if (f.number == 3 && f.is_bytes)
			name = f.bytes;
	}
	if (!sym.len || !bytes_left(&name))
		return 0;
	TRY(named_take_text(r->arena, &name, &sym.name));
	return named_files_add_symbol(r, sym);
}

static int named_read_first_off2(struct reading *r, struct bytes *b)
{
	struct wire_field f;

	r->has_first_off = true; /* protobuf omits a zero */
	while (bytes_left(b)) {
		TRY(named_read_field(b, &f));
		if (f.number == 1 && !f.is_bytes)
			r->first_off = f.value;
	}
	return 0;
}

static int named_read_message(struct reading *r, struct bytes *b)
{
	enum { PATH = 1, KIND, FIRST_ADDR, SYMBOL, DEX, ELF, MODULE };
	struct bytes path = { 0 };
	struct wire_field f;

	while (bytes_left(b)) {
		TRY(named_read_field(b, &f));
		switch (f.number) {
		case PATH:
			if (f.is_bytes)
				path = f.bytes;
			break;
		case KIND:
			r->kind = f.is_bytes ? r->kind : f.value;
			break;
		case FIRST_ADDR:
			r->first_addr = f.is_bytes ? r->first_addr : f.value;
			break;
		case SYMBOL:
			if (f.is_bytes)
				TRY(named_read_symbol2(r, &f.bytes));
			break;
		case ELF:
		case MODULE:
			if (f.is_bytes)
				TRY(named_read_first_off2(r, &f.bytes));
			break;
		default:
			break;
		}
	}
	return bytes_left(&path) ? named_take_text(r->arena, &path, &r->path) : 0;
}

int perfdata_named_files2_read(struct bytes *b, struct arena *a, struct named_files *files)
{
	return files_read_list(b, a, files, named_read_message);
}
