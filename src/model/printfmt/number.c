/* SPDX-License-Identifier: MIT */
/* Numbers with flags, width and precision, as C's printf writes them. */
#include "model/printfmt/printfmt_internal.h"

#include <string.h>

static char *digits_octal(char *end, uint64_t v)
{
	do {
		*--end = (char)('0' + (v & 7));
		v >>= 3;
	} while (v);
	return end;
}

void pf_put_number(struct outbuf *o, uint64_t v, const struct pf_spec *spec)
{
	char room[24], *end = room + sizeof(room), *digits;
	char sign = 0;
	const char *prefix = "";
	size_t n, zeros = 0, lead, pad;
	unsigned unused = 64u - spec->bits;

	if (spec->conv == 'd' || spec->conv == 'i') {
		int64_t s = (int64_t)(v << unused) >> unused;

		sign = s < 0 ? '-' : spec->plus ? '+' : spec->space ? ' ' : 0;
		v = s < 0 ? -(uint64_t)s : (uint64_t)s;
		digits = digits_u64(end, v);
	} else {
		v = v << unused >> unused;
		if (spec->conv == 'u') {
			digits = digits_u64(end, v);
		} else if (spec->conv == 'o') {
			digits = digits_octal(end, v);
		} else {
			digits = digits_hex(end, v);
			if (spec->conv == 'X')
				for (char *p = digits; p < end; p++)
					*p = *p >= 'a' ? (char)(*p - 32) : *p;
			if (spec->alt && v)
				prefix = spec->conv == 'X' ? "0X" : "0x";
		}
	}
	n = (size_t)(end - digits);
	if (spec->has_prec && !spec->prec && !v)
		n = 0;
	if (spec->has_prec && spec->prec > n)
		zeros = spec->prec - n;
	if (spec->conv == 'o' && spec->alt && !zeros && (v || !n))
		zeros = 1;
	lead = (sign != 0) + strlen(prefix);
	pad = spec->width > lead + zeros + n ? spec->width - lead - zeros - n : 0;
	if (spec->zero && !spec->left && !spec->has_prec) {
		zeros += pad;
		pad = 0;
	}
	if (!spec->left)
		outbuf_pad(o, ' ', pad);
	if (sign)
		outbuf_char(o, sign);
	outbuf_str(o, prefix);
	outbuf_pad(o, '0', zeros);
	outbuf_put(o, digits, n);
	if (spec->left)
		outbuf_pad(o, ' ', pad);
}
