/* SPDX-License-Identifier: MIT */
/* %p and the letters after it. */
#include "model/printfmt/printfmt_internal.h"

#include "model/printfmt/digits.h"

#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

static size_t pointer_ip_letters(const char *s, const struct pf_dialect *d, const struct abi *abi,
				 struct pf_pointer_spec *ret)
{
	size_t n = 2;
	bool order;

	ret->lower = s[0] == 'i';
	switch (s[1]) {
	case '4':
		ret->kind = PF_P_IP4;
		break;
	case '6':
		ret->kind = PF_P_IP6;
		ret->compressed = s[2] == 'c' && (s[0] == 'I' || d->c_conversions);
		return n + (s[2] == 'c');
	case 'S':
		ret->kind = PF_P_SOCKADDR;
		break;
	default:
		return 0;
	}
	if (ret->kind == PF_P_SOCKADDR && d->c_conversions) {
		for (; s[n] && strchr("pfschnbl", s[n]); n++) {
			ret->port |= s[n] == 'p';
			ret->flow |= s[n] == 'f';
			ret->scope |= s[n] == 's';
			ret->compressed |= s[n] == 'c';
			ret->reverse |= s[n] == 'l' || (s[n] == 'h' && !abi->big_endian);
		}
		return n;
	}
	if (ret->kind == PF_P_SOCKADDR) {
		/*
		 * perf skips more letters than it obeys: `p` counts only in front, `c` only in
		 * front or after `p`.
		 */
		if (s[0] == 'I') {
			ret->port = s[n] == 'p';
			ret->compressed = s[n + ret->port] == 'c';
		}
		while (s[n] == 'p' || s[n] == 'f' || s[n] == 's')
			n++;
	}
	order = s[n] && strchr("hnbl", s[n]);
	if (order)
		ret->reverse = s[n] == 'l' || (s[n] == 'h' && !abi->big_endian);
	n += order;
	if (ret->kind == PF_P_SOCKADDR)
		n += s[n] == 'c';
	return n;
}

/* Skips letters whose output needs the recorded kernel. The address is printed without them. */
static size_t pointer_kernel_letters(const char *s, struct pf_pointer_spec *ret)
{
	static const char *const known[] = { "OFfullname", "OFf", "OFn", "OFp", "OFP", "OFc", "OFC",
					     "OF",         "fwf", "fwP", "dD",  "tT",  "tR",  "tS",
					     "tsp",        "ap",  "ad",  "Cn",  "Cr",  "C",   "d2",
					     "d3",         "d4",  "d",   "D",   "V",   "e",   "t",
					     "A",          "GF",  "Gp",  "Gg",  "Gv",  "Gf",  "g",
					     "NF",         "r",   "R",   "K",   "x",   "E",   "a" };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strncmp(s, known[i], strlen(known[i]))) {
			ret->hex_zero = true;
			return strlen(known[i]);
		}
	return 0;
}

size_t pf_pointer_parse(const char *s, bool star, const struct pf_dialect *d, const struct abi *abi,
			struct pf_pointer_spec *ret)
{
	*ret = (struct pf_pointer_spec){ .kind = PF_P_ADDRESS };
	switch (*s) {
	case 'F':
	case 'f':
	case 'S':
	case 's':
		if (d->c_conversions && (!strncmp(s, "fw", 2)))
			break;
		ret->kind = PF_P_FUNC;
		ret->with_offset = *s == 'F' || *s == 'S';
		return d->c_conversions && (s[1] == 'R' || s[1] == 'b') && *s == 'S' ? 2 : 1;
	case 'B':
		if (!d->c_conversions)
			return 0;
		ret->kind = PF_P_FUNC;
		ret->with_offset = ret->back_one = true;
		return 1 + (s[1] == 'b');
	case 'M':
	case 'm':
		ret->kind = PF_P_MAC;
		ret->lower = *s == 'm';
		ret->dash = s[1] == 'F' && *s == 'M';
		ret->reverse = s[1] == 'R';
		return 1 + (s[1] == 'R' || s[1] == 'F');
	case 'I':
	case 'i':
		return pointer_ip_letters(s, d, abi, ret);
	case 'U':
		ret->kind = PF_P_UUID;
		ret->upper = s[1] == 'B' || s[1] == 'L';
		ret->little = s[1] == 'l' || s[1] == 'L';
		return 1 + (s[1] && strchr("bBlL", s[1]));
	case 'h':
		ret->kind = PF_P_BUFFER;
		ret->delim = s[1] == 'C' ? ':' : s[1] == 'D' ? '-' : s[1] == 'N' ? 0 : ' ';
		return 1 + (s[1] && strchr("CDN", s[1]));
	case 'b':
		if (!d->c_conversions)
			return 0;
		ret->kind = PF_P_BITMAP;
		ret->is_list = s[1] == 'l';
		return 1 + ret->is_list;
	}
	return d->c_conversions ? pointer_kernel_letters(s, ret) : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void pointer_put_ip4(struct outbuf *o, const uint8_t *p, const struct pf_pointer_spec *ps)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			outbuf_char(o, '.');
		outbuf_u64_width(o, p[ps->reverse ? 3 - i : i], ps->lower ? 3 : 0, '0');
	}
}

static unsigned pointer_group_of(const uint8_t *p, int i)
{
	return (unsigned)p[2 * i] << 8 | p[2 * i + 1];
}

/* ::ffff:a.b.c.d and ISATAP addresses end in dotted form. */
static bool pointer_has_ip4_tail(const uint8_t *p)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(p, mapped, 12) ||
	       ((p[8] | 2) == 2 && p[9] == 0 && p[10] == 0x5e && p[11] == 0xfe);
}

static void pointer_put_ip6_compressed(struct outbuf *o, const uint8_t *p)
{
	static const struct pf_pointer_spec dotted = { 0 };
	bool tail = pointer_has_ip4_tail(p), need_colon = false;
	int groups = tail ? 6 : 8, at = -1, longest = 1;

	for (int i = 0; i < groups; i++) {
		int n = 0;

		while (i + n < groups && !pointer_group_of(p, i + n))
			n++;
		if (n > longest) {
			longest = n;
			at = i;
		}
	}
	for (int i = 0; i < groups; i++) {
		if (i == at) {
			outbuf_str(o, need_colon || i == 0 ? "::" : ":");
			need_colon = false;
			i += longest - 1;
			continue;
		}
		if (need_colon)
			outbuf_char(o, ':');
		outbuf_hex(o, pointer_group_of(p, i));
		need_colon = true;
	}
	if (tail) {
		if (need_colon)
			outbuf_char(o, ':');
		pointer_put_ip4(o, p + 12, &dotted);
	}
}

static void pointer_put_ip6(struct outbuf *o, const uint8_t *p, const struct pf_pointer_spec *ps)
{
	if (ps->compressed) {
		pointer_put_ip6_compressed(o, p);
		return;
	}
	for (int i = 0; i < 8; i++) {
		if (i && !ps->lower)
			outbuf_char(o, ':');
		outbuf_hex_width(o, pointer_group_of(p, i), 4, '0');
	}
}

/*
 * sockaddr_in:  u16 family | be16 port | 4 bytes address
 * sockaddr_in6: u16 family | be16 port | be32 flow | 16 bytes address | u32 scope
 */
static void pointer_put_sockaddr(const struct pf_run *r, const uint8_t *p, uint32_t n,
				 const struct pf_pointer_spec *ps)
{
	struct outbuf *o = r->out;
	unsigned family = n < 2                       ? 0
			  : r->big_endian && !r->perf ? (unsigned)p[0] << 8 | p[1]
						      : (unsigned)p[1] << 8 | p[0];

	if (family == 2 && n >= (r->perf ? 16 : 8)) {
		pointer_put_ip4(o, p + 4, ps);
		if (ps->port) {
			outbuf_char(o, ':');
			outbuf_u64(o, pointer_group_of(p, 1));
		}
	} else if (family == 10 && n >= (r->perf ? 28 : 24)) {
		if (ps->port)
			outbuf_char(o, '[');
		pointer_put_ip6(o, p + 8, ps);
		if (ps->port) {
			outbuf_str(o, "]:");
			outbuf_u64(o, pointer_group_of(p, 1));
		}
		if (ps->flow) {
			outbuf_char(o, '/');
			outbuf_u64(o, ((uint64_t)pointer_group_of(p, 2) << 16 |
				       pointer_group_of(p, 3)) &
					      0x0fffffff);
		}
		if (ps->scope && n >= 28) {
			outbuf_char(o, '%');
			outbuf_u64(o, r->big_endian ? (uint64_t)pointer_group_of(p, 12) << 16 |
							      pointer_group_of(p, 13)
						    : (uint64_t)p[24] | (uint64_t)p[25] << 8 |
							      (uint64_t)p[26] << 16 |
							      (uint64_t)p[27] << 24);
		}
	} else if (family == 2 || family == 10) {
		outbuf_str(o, family == 2 ? "INVALIDIPv4" : "INVALIDIPv6");
	}
}

static void pointer_put_mac(struct outbuf *o, const uint8_t *p, const struct pf_pointer_spec *ps)
{
	for (int i = 0; i < 6; i++) {
		if (i && !ps->lower)
			outbuf_char(o, ps->dash ? '-' : ':');
		outbuf_hex_width(o, p[ps->reverse ? 5 - i : i], 2, '0');
	}
}

static void pointer_put_uuid(struct outbuf *o, const uint8_t *p, const struct pf_pointer_spec *ps)
{
	static const uint8_t little[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	const char *hex = ps->upper ? "0123456789ABCDEF" : "0123456789abcdef";

	for (int i = 0; i < 16; i++) {
		uint8_t v = p[ps->little ? little[i] : i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			outbuf_char(o, '-');
		outbuf_char(o, hex[v >> 4]);
		outbuf_char(o, hex[v & 15]);
	}
}

static void pointer_put_buffer(struct outbuf *o, const uint8_t *p, uint32_t n, char delim)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i && delim)
			outbuf_char(o, delim);
		outbuf_char(o, "0123456789abcdef"[p[i] >> 4]);
		outbuf_char(o, "0123456789abcdef"[p[i] & 15]);
	}
}

static void pointer_put_address(const struct pf_run *r, const struct pf_step *s, uint64_t v)
{
	if (!v && !s->pointer->hex_zero) {
		outbuf_str(r->out, "(nil)");
		return;
	}
	pf_put_0x(r->out, v);
}

static void pointer_put_function(const struct pf_run *r, const struct pf_step *s, uint64_t v)
{
	uint64_t off = 0, back = s->pointer->back_one && v;
	const char *name =
		r->env && r->env->symbol ? r->env->symbol(r->env->ctx, v - back, &off) : NULL;

	if (!name) {
		pf_put_0x(r->out, v);
		return;
	}
	outbuf_str(r->out, name);
	if (s->pointer->with_offset) {
		outbuf_put(r->out, "+0x", 3);
		outbuf_hex(r->out, off + back);
	}
}

static void pointer_put(const struct pf_run *r, const struct pf_step *s, int64_t star)
{
	const struct pf_pointer_spec *ps = s->pointer;
	const uint8_t *p;
	uint32_t n, wants;

	if (ps->complaint) {
		outbuf_str(r->out, ps->complaint);
		return;
	}
	if (ps->kind == PF_P_ADDRESS) {
		pointer_put_address(r, s, pf_eval(r, s->num));
		return;
	}
	if (ps->kind == PF_P_FUNC) {
		pointer_put_function(r, s, pf_eval(r, s->num));
		return;
	}
	p = pf_place_bytes(r, &s->place, &n);
	wants = ps->kind == PF_P_MAC        ? 6
		: ps->kind == PF_P_IP4      ? 4
		: ps->kind == PF_P_SOCKADDR ? 2
					    : 16;
	if (!p)
		return;
	switch (ps->kind) {
	case PF_P_BUFFER:
		pointer_put_buffer(r->out, p,
				   star < 0   ? 0
				   : star < n ? (uint32_t)star
					      : n,
				   ps->delim);
		return;
	case PF_P_BITMAP:
		pf_put_bitmask(r, p, n, star >= 0 && star < (int64_t)n * 8 ? (uint32_t)star : n * 8,
			       ps->is_list, NULL);
		return;
	case PF_P_SOCKADDR:
		pointer_put_sockaddr(r, p, n, ps);
		return;
	}
	if (n < wants)
		return;
	if (ps->kind == PF_P_MAC)
		pointer_put_mac(r->out, p, ps);
	else if (ps->kind == PF_P_IP4)
		pointer_put_ip4(r->out, p, ps);
	else if (ps->kind == PF_P_IP6)
		pointer_put_ip6(r->out, p, ps);
	else
		pointer_put_uuid(r->out, p, ps);
}

void pf_put_pointer(const struct pf_run *r, const struct pf_step *s, int64_t star)
{
	struct outbuf *o = r->out;
	size_t start = o->len, len, pad;

	/* For these kinds the width is the length of the data. */
	if (s->pointer->kind == PF_P_BUFFER || s->pointer->kind == PF_P_BITMAP) {
		pointer_put(r, s, s->star || !s->spec->width ? star : (int64_t)s->spec->width);
		return;
	}
	pointer_put(r, s, star);
	/* perf has no width for pointers. */
	len = o->len - start;
	if (r->perf || o->failed || s->spec->width <= len)
		return;
	pad = s->spec->width - len;
	outbuf_pad(o, ' ', pad);
	if (s->spec->left || o->failed)
		return;
	memmove(o->data + start + pad, o->data + start, len);
	memset(o->data + start, ' ', pad);
}
