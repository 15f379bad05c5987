/* SPDX-License-Identifier: MIT */
#include "model/defects.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *advice;
	enum sonde_severity severity;
} kinds[NR_DEFECTS] = {
#define DEFECT(id, n, s, a) [DEFECT_##id] = { .name = n, .advice = a, .severity = s },
#include "model/defects.def"
#undef DEFECT
};

/* Joins the lines of a chain of causes, such as "at OFFSET", because the closing line is one. */
static void defects_put_first(char to[DEFECT_FIRST_BYTES], const char *fmt, va_list ap)
{
	char text[DEFECT_FIRST_BYTES];
	int len = vsnprintf(text, sizeof(text), fmt, ap);
	size_t at = 0;

	for (const char *p = text; *p && at + 2 < DEFECT_FIRST_BYTES; p++) {
		if (*p == '\n' && p[1] && strncmp(p + 1, "at ", 3) != 0)
			to[at++] = ',';
		to[at++] = *p == '\n' ? ' ' : *p;
	}
	to[at] = '\0';
	if (len >= DEFECT_FIRST_BYTES || at + 2 >= DEFECT_FIRST_BYTES)
		memcpy(to + DEFECT_FIRST_BYTES - 4, "...", 4);
}

void defects_add(struct defects *d, enum defect kind, uint64_t n, const char *fmt, ...)
{
	va_list ap;

	if (!d->count[kind] && fmt) {
		va_start(ap, fmt);
		defects_put_first(d->first[kind], fmt, ap);
		va_end(ap);
	}
	d->count[kind] += n;
	d->changes++;
}

void defects_correct(struct defects *d, enum defect kind, uint64_t from, uint64_t to)
{
	d->count[kind] += to - from;
	d->changes++;
}

void defects_move(struct defects *to, struct defects *from)
{
	if (!from->changes)
		return;
	for (size_t kind = 0; kind < NR_DEFECTS; kind++) {
		if (!to->count[kind] && from->count[kind])
			memcpy(to->first[kind], from->first[kind], DEFECT_FIRST_BYTES);
		to->count[kind] += from->count[kind];
	}
	to->changes += from->changes;
	defects_clear(from);
}

void defects_clear(struct defects *d)
{
	for (size_t kind = 0; kind < NR_DEFECTS; kind++) {
		if (d->count[kind])
			d->first[kind][0] = '\0';
	}
	memset(d->count, 0, sizeof(d->count));
	d->changes = 0;
}

bool defects_get(const struct defects *d, size_t i, struct sonde_defect *ret)
{
	for (size_t kind = 0; kind < NR_DEFECTS; kind++) {
		if (!d->count[kind] || i--)
			continue;
		*ret = (struct sonde_defect){
			.size = sizeof(*ret),
			.severity = kinds[kind].severity,
			.count = d->count[kind],
			.name = kinds[kind].name,
			.advice = kinds[kind].advice,
			.first = d->first[kind],
		};
		return true;
	}
	return false;
}

void defects_line(const struct defects *d, struct outbuf *out)
{
	struct sonde_defect defect;

	for (size_t i = 0; defects_get(d, i, &defect); i++) {
		outbuf_fmt(out, "%s%s: %llu", i ? ". " : "", defect.name,
			   (unsigned long long)defect.count);
		if (defect.first[0])
			outbuf_fmt(out, " (first %s)", defect.first);
		outbuf_fmt(out, "; %s", defect.advice);
	}
}
