/* SPDX-License-Identifier: MIT */
/* An event with fields of many kinds, and how it prints. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "base/arena.h"
#include "base/err.h"
#include "formats/tracefs/eventformat.h"
#include "model/printfmt/printfmt.h"

/*
 * a=10 b=3 c=7 d=250 e=-1 g=-5 str="hello" arr={1,2,3,4} dyn="world" du={77,88} z=-9
 * int  int ulong u8  s8   short char[8]    u32[4]        char[]      u32[]      s64
 */
extern const char fixture_fields[];
#define FIXTURE_LEN 88
extern const uint8_t fixture_payload[FIXTURE_LEN];

/* Little-endian, longs of 8 bytes; fails the test on an error. */
struct sonde_schema *fixture_schema(struct arena *a, const char *fields, const char *print_fmt,
				    struct abi abi);
struct abi fixture_abi(int big_endian, uint8_t long_bytes);
/* The text of one payload, to be freed. */
char *fixture_text(const char *fields, const char *print_fmt, const void *payload, uint32_t len,
		   enum printfmt_dialect dialect);
char *fixture_text_abi(const char *fields, const char *print_fmt, const void *payload, uint32_t len,
		       enum printfmt_dialect dialect, struct abi abi,
		       const struct printfmt_env *env);

#define FIELD(decl, offset, size, is_signed) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

#endif
