/* SPDX-License-Identifier: MIT */
/*
 * Prints the BPF programs that ran while recording. The sections contain struct bpf_prog_info with
 * its arrays, and the type information (BTF) with the names of the programs' functions.
 *
 *	section   u32 nr, nr x { u32 info_len, u32 data_len, u64 arrays, info, data }
 *	          (pointers in info: offsets in data)
 *	BTF       u32 nr, nr x { u32 id, u32 size, bytes }
 */
#include <inttypes.h>
#include <stdio.h>

#include "formats/btf/btf.h"
#include "sinks/perf/header.h"

/*
 * Offsets of members of struct bpf_prog_info. A shorter struct of an older kernel is padded with
 * zeros.
 */
enum {
	INFO_ID = 4,
	INFO_NAME = 64,
	INFO_NR_KSYMS = 104,
	INFO_NR_LENS = 108,
	INFO_KSYMS = 112,
	INFO_LENS = 120,
	INFO_BTF_ID = 128,
	INFO_FUNC_SIZE = 132,
	INFO_FUNCS = 136,
	INFO_NR_FUNCS = 144,
	INFO_NR_TAGS = 180,
	INFO_TAGS = 184,
	INFO_BYTES = 192,
	NAME_BYTES = 16,
	TAG_BYTES = 8
};

struct recorded_program {
	uint8_t info[INFO_BYTES]; /* the part of the struct that is known here */
	const uint8_t *data;
	uint32_t data_len;
	struct bytes btf; /* the program's type information; empty if none */
};

static uint32_t header_bpf_info_u32(const struct recorded_program *p, unsigned at)
{
	return load_u32(p->info + at);
}

/* Element i of an array in data; NULL if it is outside. */
static const uint8_t *header_bpf_element(const struct recorded_program *p, unsigned pointer,
					 uint32_t i, uint32_t size)
{
	uint64_t off = load_u64(p->info + pointer), at = (uint64_t)i * size;

	return off <= p->data_len && at + size <= p->data_len - off ? p->data + off + at : NULL;
}

/* Finds the program's type information in the section; empty if it is not recorded. */
static struct bytes header_bpf_find_btf(struct bytes b, uint32_t wanted)
{
	struct bytes none = { 0 }, body;
	uint32_t nr = 0, id = 0, size = 0;

	if (!wanted || bytes_u32(&b, "number", &nr) < 0)
		return none;
	while (nr--) {
		if (bytes_u32(&b, "id", &id) < 0 || bytes_u32(&b, "size", &size) < 0 ||
		    bytes_sub(&b, "type information", size, &body) < 0)
			return none;
		if (id == wanted)
			return body;
	}
	return none;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Prints "bpf_prog_TAG_NAME" for function i of nr. */
static void header_bpf_put_name(const struct recorded_program *p, uint32_t i, uint32_t nr,
				struct outbuf *out)
{
	const uint8_t *tag = header_bpf_element(p, INFO_TAGS, i, TAG_BYTES), *func;
	const char *name = NULL;
	uint32_t func_size = header_bpf_info_u32(p, INFO_FUNC_SIZE);

	outbuf_str(out, "bpf_prog_");
	for (int k = 0; tag && k < TAG_BYTES; k++)
		outbuf_fmt(out, "%02x", tag[k]);
	if (p->btf.start) {
		func = func_size >= 8 ? header_bpf_element(p, INFO_FUNCS, i, func_size) : NULL;
		if (func && btf_type_name(p->btf, load_u32(func + 4), &name) < 0)
			name = NULL;
	} else if (nr == 1) {
		const char *own = (const char *)p->info + INFO_NAME;

		if (*own)
			outbuf_fmt(out, "_%.*s", (int)strnlen(own, NAME_BYTES), own);
	} else {
		name = "F";
	}
	if (name)
		outbuf_fmt(out, "_%s", name);
}

static void header_bpf_put_place(const struct recorded_program *p, uint32_t i, struct outbuf *out)
{
	const uint8_t *addr = header_bpf_element(p, INFO_KSYMS, i, 8),
		      *len = header_bpf_element(p, INFO_LENS, i, 4);

	outbuf_fmt(out, " addr 0x%" PRIx64 " size %u\n", addr ? load_u64(addr) : 0,
		   len ? load_u32(len) : 0);
}

static void header_bpf_put_program(const struct recorded_program *p, struct outbuf *out)
{
	uint32_t id = header_bpf_info_u32(p, INFO_ID), nr = header_bpf_info_u32(p, INFO_NR_KSYMS);

	if (nr != header_bpf_info_u32(p, INFO_NR_TAGS) ||
	    nr != header_bpf_info_u32(p, INFO_NR_LENS) || nr > p->data_len / TAG_BYTES)
		return;
	if (nr == 1) {
		outbuf_fmt(out, "# bpf_prog_info %u: ", id);
		header_bpf_put_name(p, 0, nr, out);
		header_bpf_put_place(p, 0, out);
		return;
	}
	outbuf_fmt(out, "# bpf_prog_info %u:\n", id);
	for (uint32_t i = 0; i < nr; i++) {
		outbuf_fmt(out, "# \tsub_prog %u: ", i);
		header_bpf_put_name(p, i, nr, out);
		header_bpf_put_place(p, i, out);
	}
}

int perf_header_bpf_put(struct bytes *b, struct bytes btf, struct outbuf *out)
{
	uint32_t nr = 0, info_len = 0;

	if (b->swap) /* the section's bytes cannot be swapped */
		return 0;
	TRY(bytes_u32(b, "number of programs", &nr));
	while (nr--) {
		struct recorded_program p = { 0 };
		const uint8_t *info = NULL;

		TRY(bytes_u32(b, "size of the description", &info_len));
		TRY(bytes_u32(b, "size of the data", &p.data_len));
		TRY(bytes_skip(b, "arrays", 8));
		TRY(bytes_take(b, "the description", info_len, &info));
		TRY(bytes_take(b, "the data", p.data_len, &p.data));
		memcpy(p.info, info, info_len < INFO_BYTES ? info_len : INFO_BYTES);
		p.btf = header_bpf_find_btf(btf, header_bpf_info_u32(&p, INFO_BTF_ID));
		header_bpf_put_program(&p, out);
	}
	return 0;
}

int perf_header_btf_put(struct bytes *b, struct outbuf *out)
{
	uint32_t nr = 0, id = 0, size = 0;

	if (b->swap)
		return 0;
	TRY(bytes_u32(b, "number", &nr));
	while (nr--) {
		TRY(bytes_u32(b, "id", &id));
		TRY(bytes_u32(b, "size", &size));
		TRY(bytes_skip(b, "type information", size));
		outbuf_fmt(out, "# btf info of id %u\n", id);
	}
	return 0;
}
