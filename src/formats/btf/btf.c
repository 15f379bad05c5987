/* SPDX-License-Identifier: MIT */
#include "formats/btf/btf.h"

#include <linux/btf.h>

/* Kinds that are missing in the headers of kernels before 6.0. */
#ifndef HAVE_BTF_KIND_ENUM64
enum { BTF_KIND_ENUM64 = 19 };
#endif

enum { ENUM64_BYTES = 12 }; /* u32 name, low half, high half */

/* The number of bytes after struct btf_type in a type of this kind. */
static uint64_t btf_bytes_behind(uint32_t info)
{
	const uint64_t members = BTF_INFO_VLEN(info);

	switch (BTF_INFO_KIND(info)) {
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return members * sizeof(struct btf_member);
	case BTF_KIND_DATASEC:
		return members * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM:
		return members * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return members * ENUM64_BYTES;
	case BTF_KIND_FUNC_PROTO:
		return members * sizeof(struct btf_param);
	}
	return 0;
}

/*
 * u16 magic, u8 version, u8 flags, u32 header_bytes | u32 types, types_bytes, strings,
 * strings_bytes (struct btf_header); offsets count from the end of the header. A type is u32 name,
 * u32 info, u32 size or type, then bytes that depend on its kind.
 */
int btf_type_name(struct bytes btf, uint32_t type, const char **ret)
{
	uint32_t header = 0, types = 0, types_bytes = 0, strings = 0, name = 0, info = 0;
	struct bytes b = btf;

	TRY(bytes_skip(&b, "magic", 4));
	TRY(bytes_u32(&b, "header", &header));
	TRY(bytes_u32(&b, "types", &types));
	TRY(bytes_u32(&b, "types", &types_bytes));
	TRY(bytes_u32(&b, "strings", &strings));
	b = btf;
	TRY(bytes_skip(&b, "types", (uint64_t)header + types));
	if (types_bytes < bytes_left(&b))
		b.end = b.pos + types_bytes;
	for (uint32_t i = 1; i <= type; i++) {
		TRY(bytes_u32(&b, "name", &name));
		TRY(bytes_u32(&b, "info", &info));
		TRY(bytes_skip(&b, "type", sizeof(uint32_t) + btf_bytes_behind(info)));
	}
	TRY(bytes_skip(&btf, "strings", (uint64_t)header + strings + name));
	return bytes_cstr(&btf, "name", ret);
}
