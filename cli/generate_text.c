/* SPDX-License-Identifier: MIT */
#include "generate_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void wrapped_put(struct wrapped *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vfprintf(w->out, fmt, ap);
	va_end(ap);
	w->column += n > 0 ? (size_t)n : 0;
}

void wrapped_put_blank(struct wrapped *w, size_t next)
{
	if (w->column + 1 + next <= WRAPPED_COLUMNS) {
		wrapped_put(w, " ");
	} else {
		fprintf(w->out, "\n%s", w->indent);
		w->column = strlen(w->indent);
	}
}

void wrapped_put_quoted(struct wrapped *w, const char *text, const char *escaped, bool in_format)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (strchr(escaped, c))
			wrapped_put(w, "\\%c", c);
		else if (c == '%' && in_format)
			wrapped_put(w, "%%%%");
		else if (c < ' ' || c > '~')
			wrapped_put(w, "\\x%02x", c);
		else
			wrapped_put(w, "%c", c);
	}
}

void wrapped_put_values(struct wrapped *w, const struct sonde_schema *sc,
			const struct sonde_define *names, const char *escaped)
{
	bool flags = names->kind == SONDE_DEFINE_FLAG_FIELD;
	uint32_t kind = flags ? SONDE_DEFINE_FLAG_VALUE : SONDE_DEFINE_SYMBOLIC_VALUE;
	size_t nr;
	const struct sonde_define *d = sonde_schema_defines(sc, &nr);
	const char *comma = "";

	wrapped_put(w, flags ? "; flags:" : "; symbols:");
	for (; nr; nr--, d++) {
		if (d->kind != kind || strcmp(d->field, names->field))
			continue;
		wrapped_put(w, "%s", comma);
		wrapped_put_blank(w, strlen(d->text) + 20);
		if (flags || d->value > INT32_MAX)
			wrapped_put(w, "0x%" PRIx64 " ", d->value);
		else
			wrapped_put(w, "%" PRIu64 " ", d->value);
		wrapped_put_quoted(w, d->text, escaped, false);
		comma = ",";
	}
}
