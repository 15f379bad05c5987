/* SPDX-License-Identifier: MIT */
/*
 * Definitions of flags and symbols for scripts, from the print format and from the labels of
 * fields.
 */
#include <string.h>

#include "base/err.h"
#include "model/schema_table.h"

enum { MAX_VALUES_OF_LABEL = 256, MAX_DEFINES = 1 << 20 };

/* Returns the number of definitions. Only counts them if `to` is NULL. */
static size_t defines_put_labels(const struct sonde_schema *sc, struct sonde_define *to)
{
	size_t n = 0;

#define PUT(k, ...)                                                                             \
	do {                                                                                    \
		if (to)                                                                         \
			to[n] = (struct sonde_define){                                          \
				.size = sizeof(*to), .kind = k, .field = f->name, ##__VA_ARGS__ \
			};                                                                      \
		n++;                                                                            \
	} while (0)

	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];

		if (f->kind != SONDE_FIELD_ENUM)
			continue;
		PUT(SONDE_DEFINE_SYMBOLIC_FIELD, .text = "");
		for (uint32_t k = 0; k < f->nr_labels; k++) {
			const struct sonde_label *l = &f->labels[k];

			if (l->to - l->from >= MAX_VALUES_OF_LABEL)
				continue;
			for (uint64_t v = l->from; n < MAX_DEFINES; v++) {
				PUT(SONDE_DEFINE_SYMBOLIC_VALUE, .value = v, .text = l->text);
				if (v == l->to)
					break;
			}
		}
	}
#undef PUT
	return n;
}

static int defines_make(struct sonde_schema *sc)
{
	const struct sonde_define *own = NULL;
	size_t nr_own = 0, nr_labels = defines_put_labels(sc, NULL);
	struct sonde_define *all;

	if (schema_printfmt(sc) && printfmt_defines(sc->print, sc->arena, &own, &nr_own) < 0)
		nr_own = 0;
	if (!nr_labels) {
		sc->defines = own;
		sc->nr_defines = nr_own;
		return 0;
	}
	all = arena_array(sc->arena, nr_own + nr_labels, sizeof(*all));
	if (!all)
		return err_nomem();
	if (nr_own)
		memcpy(all, own, nr_own * sizeof(*all));
	defines_put_labels(sc, all + nr_own);
	sc->defines = all;
	sc->nr_defines = nr_own + nr_labels;
	return 0;
}

const struct sonde_define *schema_defines(struct sonde_schema *sc, size_t *ret_nr)
{
	if (!sc->defines_made && defines_make(sc) < 0)
		sc->nr_defines = 0;
	sc->defines_made = true;
	*ret_nr = sc->nr_defines;
	return sc->defines;
}
