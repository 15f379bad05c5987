/* SPDX-License-Identifier: MIT */
#include "model/defects.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *name, *advice;
	enum sonde_severity severity;
} kinds[NR_DEFECTS] = {
#define DEFECT(id, n, s, a) [DEFECT_##id] = { .name = n, .advice = a, .severity = s },
#include "model/defects.def"
#undef DEFECT
};

void defects_add(struct defects *d, enum defect kind, uint64_t n, const char *fmt, ...)
{
	va_list ap;

	if (!d->count[kind] && fmt) {
		va_start(ap, fmt);
		vsnprintf(d->first[kind], sizeof(d->first[kind]), fmt, ap);
		va_end(ap);
		/* A chain of causes has several lines; the closing line is one. */
		for (char *p = d->first[kind]; *p; p++)
			*p = *p == '\n' ? ' ' : *p;
	}
	d->count[kind] += n;
	d->changes++;
}

void defects_correct(struct defects *d, enum defect kind, uint64_t from, uint64_t to)
{
	d->count[kind] += to - from;
	d->changes++;
}

bool defects_get(const struct defects *d, size_t i, struct sonde_defect *ret)
{
	for (size_t kind = 0; kind < NR_DEFECTS; kind++) {
		if (!d->count[kind] || i--)
			continue;
		*ret = (struct sonde_defect){ .size = sizeof(*ret),
					      .severity = kinds[kind].severity,
					      .count = d->count[kind],
					      .name = kinds[kind].name,
					      .advice = kinds[kind].advice,
					      .first = d->first[kind] };
		return true;
	}
	return false;
}

void defects_line(const struct defects *d, struct outbuf *out)
{
	struct sonde_defect defect, gravest = { 0 };
	size_t nr = 0;

	for (; defects_get(d, nr, &defect); nr++) {
		outbuf_fmt(out, "%s%s: %llu", nr ? ", " : "", defect.name,
			   (unsigned long long)defect.count);
		if (defect.first[0])
			outbuf_fmt(out, " (first %s)", defect.first);
		if (!nr || defect.severity > gravest.severity)
			gravest = defect;
	}
	if (nr > 1)
		outbuf_fmt(out, "; %s: %s", gravest.name, gravest.advice);
	else if (nr)
		outbuf_fmt(out, "; %s", gravest.advice);
}
