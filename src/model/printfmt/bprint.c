/* SPDX-License-Identifier: MIT */
/*
 * ftrace:bprint, the event of trace_printk(): the address of a format string, then the packed
 * arguments.
 *
 *	numbers of 4 or 8 bytes, each at a multiple of 4 | strings with their NUL, not aligned
 *
 * The format string itself is in printk_formats; the event's own print format only shows its
 * address.
 */
#include "model/printfmt/printfmt_internal.h"

#include <string.h>

#include "model/printfmt/digits.h"
#include "model/value.h"

#define MAX_WIDTH 4096u

struct packed {
	const struct pf_run *r;
	uint32_t at; /* offset of the next argument */
	bool ended;
};

static uint64_t bprint_take_number(struct packed *p, uint32_t width)
{
	uint32_t at = (p->at + 3) & ~3u;

	if (at > p->r->len || width > p->r->len - at) {
		p->ended = true;
		return 0;
	}
	p->at = at + width;
	return value_u64(p->r->bytes + at, width, p->r->swap);
}

static void bprint_put_string(struct packed *p, const struct pf_spec *spec)
{
	const char *s = (const char *)p->r->bytes + p->at;
	size_t n;

	if (p->at >= p->r->len) {
		p->ended = true;
		return;
	}
	n = strnlen(s, p->r->len - p->at);
	pf_put_str(p->r->out, s, n, spec);
	p->at += (uint32_t)n + 1;
}

static void bprint_put_symbol(const struct pf_run *r, uint64_t addr, bool with_offset)
{
	struct pf_expr e = { .code = PF_E_CONST, .value = addr };
	struct pf_spec spec = { .conv = 'p' };
	struct pf_pointer_spec ps = { .kind = PF_P_FUNC, .with_offset = with_offset };
	struct pf_step s = { .code = PF_S_POINTER, .num = &e, .spec = &spec, .pointer = &ps };

	pf_put_pointer(r, &s, -1);
}

/* s is after the 'p'; returns how many letters belong to it. */
static size_t bprint_put_pointer(struct packed *p, const char *s, const struct pf_spec *spec)
{
	const struct pf_run *r = p->r;
	bool is_symbol = *s == 's' || *s == 'S' || ((*s == 'f' || *s == 'F') && s[1] != 'w');
	bool has_letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
	uint64_t v;

	/* The kernel stored the text of the pointer's target in the buffer. */
	if (has_letter && !is_symbol && *s != 'x' && p->at < r->len && r->bytes[p->at] >= ' ' &&
	    r->bytes[p->at] < 127) {
		size_t n = 0;

		bprint_put_string(p, r->perf ? NULL : spec);
		while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
		       (s[n] >= '0' && s[n] <= '9'))
			n++;
		return n;
	}
	v = bprint_take_number(p, r->long_bytes);
	if (p->ended)
		return 0;
	if (is_symbol) {
		bprint_put_symbol(r, v, *s == 'S' || *s == 'F');
		return 1;
	}
	if (v)
		pf_put_0x(r->out, v);
	else
		outbuf_str(r->out, "(nil)");
	return *s == 'x' && !r->perf;
}

/* s is after a '%'; returns how many characters belong to the conversion. */
static size_t bprint_put_conversion(struct packed *p, const char *start)
{
	const char *s = start;
	struct pf_spec spec = { .bits = 32 };
	uint32_t *number = &spec.width;
	int longs = 0, shorts = 0;

	for (; *s && strchr("-+ #0", *s); s++) {
		spec.left |= *s == '-';
		spec.plus |= *s == '+';
		spec.space |= *s == ' ';
		spec.alt |= *s == '#';
		spec.zero |= *s == '0';
	}
	for (; *s && strchr("0123456789.*hlLzZt", *s); s++) {
		if (*s == '.') {
			spec.has_prec = true;
			number = &spec.prec;
		} else if (*s == '*') {
			int32_t v = (int32_t)bprint_take_number(p, 4);

			spec.left |= v < 0 && !spec.has_prec;
			*number = v < 0 ? (spec.has_prec ? 0 : -(uint32_t)v) : (uint32_t)v;
			*number = *number > MAX_WIDTH ? MAX_WIDTH : *number;
		} else if (*s >= '0' && *s <= '9') {
			*number = *number * 10 + (uint32_t)(*s - '0');
			*number = *number > MAX_WIDTH ? MAX_WIDTH : *number;
		} else if (*s == 'h') {
			shorts++;
		} else {
			longs = *s == 'L' ? 2 : *s == 'l' ? longs + 1 : 1;
		}
	}
	spec.conv = *s;
	switch (*s) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
	case 'c': {
		uint32_t width = longs > 1 ? 8 : longs ? p->r->long_bytes : 4;
		uint64_t v = bprint_take_number(p, width);

		if (p->ended)
			break;
		spec.bits = (uint8_t)(shorts > 1 ? 8 : shorts ? 16 : 8 * width);
		if (*s == 'c')
			pf_put_str(p->r->out, &(char){ (char)v }, 1, &spec);
		else
			pf_put_number(p->r->out, v, &spec);
		break;
	}
	case 's':
		bprint_put_string(p, &spec);
		break;
	case 'p':
		s += bprint_put_pointer(p, s + 1, &spec);
		break;
	case 0:
		return (size_t)(s - start);
	default:
		outbuf_char(p->r->out, '%');
		outbuf_put(p->r->out, start, (size_t)(s + 1 - start));
	}
	return (size_t)(s + 1 - start);
}

bool pf_bprint_find(struct printfmt *pf)
{
	const struct sonde_schema *sc = pf->schema;

	if (strcmp(sc->system, "ftrace") || strcmp(sc->event, "bprint"))
		return false;
	pf->bprint_ip = schema_find_field(sc, "ip", 2);
	pf->bprint_fmt = schema_find_field(sc, "fmt", 3);
	pf->bprint_buf = schema_find_field(sc, "buf", 3);
	return pf->bprint_ip && pf->bprint_fmt && pf->bprint_buf;
}

void pf_put_bprint(const struct printfmt *pf, const struct pf_run *r)
{
	struct packed p = { .r = r, .at = pf->bprint_buf->offset };
	uint64_t addr = field_u64(pf->bprint_fmt, r->bytes, r->len, r->swap);
	const char *s = r->env && r->env->printk ? r->env->printk(r->env->ctx, addr) : NULL;
	size_t len = s ? strlen(s) : 0;

	bprint_put_symbol(r, field_u64(pf->bprint_ip, r->bytes, r->len, r->swap), false);
	if (!s) {
		outbuf_str(r->out, ": (NO FORMAT FOUND at ");
		outbuf_hex(r->out, addr);
		outbuf_str(r->out, ")\n");
		return;
	}
	outbuf_str(r->out, ": ");
	if (len && s[len - 1] == '\n')
		len--;
	for (const char *end = s + len; s < end && !p.ended;) {
		if (*s != '%') {
			outbuf_char(r->out, *s++);
		} else if (s[1] == '%') {
			outbuf_char(r->out, '%');
			s += 2;
		} else {
			s++;
			s += bprint_put_conversion(&p, s);
		}
	}
}
