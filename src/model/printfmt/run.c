/* SPDX-License-Identifier: MIT */
/*
 * Running a program. The usual steps write straight into the output buffer: each says beforehand how much room it may
 * take, and fixed fields need no check, because a record that ends too early is first copied in front of zeroes.
 */
#include "model/printfmt/printfmt_internal.h"

#include "base/bytes.h"

static const char pairs[201] = "0001020304050607080910111213141516171819"
			       "2021222324252627282930313233343536373839"
			       "4041424344454647484950515253545556575859"
			       "6061626364656667686970717273747576777879"
			       "8081828384858687888990919293949596979899";

static inline char *put_u64(char *to, uint64_t v)
{
	char digits[24], *p;
	size_t n;

	if (v < 10) {
		*to = (char)('0' + v);
		return to + 1;
	}
	if (v < 100) {
		memcpy(to, pairs + 2 * v, 2);
		return to + 2;
	}
	if (v < 1000) {
		*to = (char)('0' + v / 100);
		memcpy(to + 1, pairs + 2 * (v % 100), 2);
		return to + 3;
	}
	p = digits_u64(digits + sizeof(digits), v);
	n = (size_t)(digits + sizeof(digits) - p);
	memcpy(to, p, n);
	return to + n;
}

static inline char *put_i64(char *to, int64_t v)
{
	if (v >= 0)
		return put_u64(to, (uint64_t)v);
	*to = '-';
	return put_u64(to + 1, -(uint64_t)v);
}

/* Eight hexadecimal digits of v, the highest first in memory, all at once. */
static inline uint64_t hex_digits(uint32_t v)
{
	uint64_t x = v, over_nine;

	x = ((x & 0xffff0000) << 16) | (x & 0xffff);
	x = ((x & 0x0000ff000000ff00) << 8) | (x & 0x000000ff000000ff);
	x = ((x & 0x00f000f000f000f0) << 4) | (x & 0x000f000f000f000f);
	over_nine = ((x + 0x0606060606060606) >> 4) & 0x0101010101010101;
	return __builtin_bswap64(x + 0x3030303030303030 + over_nine * ('a' - '0' - 10));
}

/* May write 16 bytes, whatever the number of digits. */
static inline char *put_hex(char *to, uint64_t v)
{
	uint64_t digits[3] = { 0 };
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	digits[0] = hex_digits((uint32_t)(v >> 32));
	digits[1] = hex_digits((uint32_t)v);
	memcpy(to, (const char *)digits + 16 - n, 16 - 8);
	memcpy(to + 8, (const char *)digits + 24 - n, 8);
#else
	(void)digits;
	digits_hex(to + n, v);
#endif
	return to + n;
}

/* Bytes before the first NUL of 16. */
static inline unsigned comm_len(const uint8_t *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (unsigned i = 0; i < 16; i += 8) {
		uint64_t v = load_u64(p + i), zero = (v - 0x0101010101010101) & ~v & 0x8080808080808080;

		if (zero)
			return i + (unsigned)__builtin_ctzll(zero) / 8;
	}
	return 16;
#else
	return (unsigned)strnlen((const char *)p, 16);
#endif
}

/* Copies whole portions; 32 bytes behind the source's end are there, and as many at the target. */
static inline char *put_prefix(char *to, const char *from, uint32_t len)
{
	memcpy(to, from, 16);
	memcpy(to + 16, from + 16, 16);
	if (__builtin_expect(len > 32, 0))
		memcpy(to + 32, from + 32, len - 32);
	return to + len;
}

static void put_char(struct outbuf *o, uint64_t v, const struct pf_spec *spec)
{
	char c = (char)v;
	size_t pad = spec->width > 1 ? spec->width - 1 : 0;

	if (!spec->left)
		outbuf_pad(o, ' ', pad);
	if (c)
		outbuf_char(o, c);
	if (spec->left)
		outbuf_pad(o, ' ', pad);
}

/* The length given as an argument goes into the spec: C's rules for negative ones. */
static struct pf_spec with_star(const struct pf_spec *spec, int32_t star)
{
	struct pf_spec s = *spec;

	if (s.star_prec) {
		s.has_prec = star >= 0;
		s.prec = star < 0 ? 0 : (uint32_t)star;
	} else {
		s.left |= star < 0;
		s.width = star < 0 ? -(uint32_t)star : (uint32_t)star;
		if (s.width > 65536)
			s.width = 65536;
	}
	if (s.has_prec && s.conv != 's' && s.prec > 65536)
		s.prec = 65536;
	return s;
}

/* Steps that need more than a copy. */
static void run_other(const struct pf_run *r, const struct pf_step *s)
{
	int32_t star = s->star ? (int32_t)pf_eval(r, s->star) : -1;
	struct pf_spec spec;

	if (s->code == PF_S_POINTER) {
		pf_put_pointer(r, s, star);
		return;
	}
	spec = s->star ? with_star(s->spec, star) : *s->spec;
	if (s->code == PF_S_NUMBER)
		pf_put_number(r->out, pf_eval(r, s->num), &spec);
	else if (s->code == PF_S_CHAR)
		put_char(r->out, pf_eval(r, s->num), &spec);
	else
		pf_put_text(r, s->text, &spec);
}

static inline uint64_t cut(uint64_t v, const struct pf_spec *spec)
{
	unsigned unused = 64u - spec->bits;

	return v << unused >> unused;
}

static inline int64_t cut_signed(uint64_t v, const struct pf_spec *spec)
{
	unsigned unused = 64u - spec->bits;

	return (int64_t)(v << unused) >> unused;
}

static void run_steps(const struct printfmt *pf, const struct pf_run *r)
{
	const struct pf_step *s = pf->steps, *end = s + pf->nr_steps;
	struct outbuf *o = r->out;

	for (; s < end; s++) {
		char *to = outbuf_room(o, s->room);
		const uint8_t *at = r->bytes + s->offset;
		size_t n;

		if (!to)
			return;
		to = put_prefix(to, s->prefix, s->prefix_len);
		switch (s->code) {
		case PF_S_TEXT:
			break;
		case PF_S_DEC4S:
			to = put_i64(to, (int32_t)load_u32(at));
			break;
		case PF_S_DEC4U:
			to = put_u64(to, load_u32(at));
			break;
		case PF_S_DEC8S:
			to = put_i64(to, (int64_t)load_u64(at));
			break;
		case PF_S_DEC8U:
			to = put_u64(to, load_u64(at));
			break;
		case PF_S_HEX4:
			to = put_hex(to, load_u32(at));
			break;
		case PF_S_HEX8:
			to = put_hex(to, load_u64(at));
			break;
		case PF_S_COMM:
			memcpy(to, at, 16);
			to += comm_len(at);
			break;
		case PF_S_BYTES:
			n = strnlen((const char *)at, s->width);
			memcpy(to, at, n);
			to += n;
			break;
		case PF_S_DEC:
			to = put_i64(to, cut_signed(pf_eval(r, s->num), s->spec));
			break;
		case PF_S_UDEC:
			to = put_u64(to, cut(pf_eval(r, s->num), s->spec));
			break;
		case PF_S_HEX:
			to = put_hex(to, cut(pf_eval(r, s->num), s->spec));
			break;
		case PF_S_STR:
			o->len = (size_t)(to - o->data);
			pf_put_text(r, s->text, NULL);
			continue;
		default:
			o->len = (size_t)(to - o->data);
			run_other(r, s);
			continue;
		}
		o->len = (size_t)(to - o->data);
	}
}

static void run_on(const struct printfmt *pf, const struct pf_run *r)
{
	if (pf->refused)
		pf_put_fields(pf, r);
	else
		run_steps(pf, r);
}

/* A record that ends before the fields do: what it lacks reads as zero. */
static __attribute__((noinline)) void run_short(const struct printfmt *pf, struct pf_run *r)
{
	uint8_t padded[PF_MAX_OFFSET];

	if (r->len)
		memcpy(padded, r->bytes, r->len);
	memset(padded + r->len, 0, pf->need - r->len);
	r->bytes = padded;
	run_on(pf, r);
}

void printfmt_run(const struct printfmt *pf, const struct printfmt_env *env, const uint8_t *bytes, uint32_t len,
		  struct outbuf *out)
{
	struct pf_run r = {
		.bytes = bytes,
		.len = len,
		.swap = pf->schema->abi.swap,
		.big_endian = pf->schema->abi.big_endian,
		.long_bytes = pf->schema->abi.long_bytes,
		.perf = !pf->dialect->c_grammar,
		.env = env,
		.out = out,
	};

	if (__builtin_expect(len < pf->need, 0))
		run_short(pf, &r);
	else
		run_on(pf, &r);
}
