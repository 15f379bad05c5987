/* SPDX-License-Identifier: MIT */
/* Writes numbers with flags, width and precision like C's printf(). */
#include "model/printfmt/printfmt_internal.h"

#include "model/printfmt/digits.h"

static char *number_write_octal(char *to, uint64_t v)
{
	unsigned n = v ? (66u - (unsigned)__builtin_clzll(v)) / 3 : 1;

	for (unsigned i = n; i-- > 0; v >>= 3)
		to[i] = (char)('0' + (v & 7));
	return to + n;
}

void pf_put_number(struct outbuf *o, uint64_t v, const struct pf_spec *spec)
{
	char digits[48], lead[2], *to;
	size_t n, zeros = 0, nr_lead = 0, pad;
	unsigned unused = 64u - spec->bits;

	switch (spec->conv) {
	case 'd':
	case 'i': {
		int64_t s = (int64_t)(v << unused) >> unused;

		if (s < 0 || spec->plus || spec->space)
			lead[nr_lead++] = s < 0 ? '-' : spec->plus ? '+' : ' ';
		v = s < 0 ? -(uint64_t)s : (uint64_t)s;
		n = (size_t)(pf_write_u64(digits, v) - digits);
		break;
	}
	case 'u':
		v = v << unused >> unused;
		n = (size_t)(pf_write_u64(digits, v) - digits);
		break;
	case 'o':
		v = v << unused >> unused;
		n = (size_t)(number_write_octal(digits, v) - digits);
		break;
	default:
		v = v << unused >> unused;
		n = (size_t)(pf_write_hex(digits, v) - digits);
		if (spec->conv == 'X')
			for (size_t i = 0; i < n; i++)
				digits[i] = digits[i] >= 'a' ? (char)(digits[i] - 32) : digits[i];
		if (spec->alt && v) {
			lead[nr_lead++] = '0';
			lead[nr_lead++] = spec->conv;
		}
	}
	if (spec->has_prec && !spec->prec && !v)
		n = 0;
	if (spec->has_prec && spec->prec > n)
		zeros = spec->prec - n;
	if (spec->conv == 'o' && spec->alt && !zeros && (v || !n))
		zeros = 1;
	pad = spec->width > nr_lead + zeros + n ? spec->width - nr_lead - zeros - n : 0;
	if (spec->zero && !spec->left && !spec->has_prec) {
		zeros += pad;
		pad = 0;
	}
	to = outbuf_room(o, pad + nr_lead + zeros + n);
	if (!to)
		return;
	if (!spec->left) {
		memset(to, ' ', pad);
		to += pad;
	}
	memcpy(to, lead, nr_lead);
	to += nr_lead;
	memset(to, '0', zeros);
	to += zeros;
	memcpy(to, digits, n);
	if (spec->left)
		memset(to + n, ' ', pad);
	o->len += pad + nr_lead + zeros + n;
}
