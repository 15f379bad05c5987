/* SPDX-License-Identifier: MIT */
#include "convert_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Facts of the header: keys in the output, and for sonde_session_info(). */
static const struct {
	const char *key, *info;
} convert_header[] = {
	{ "host", "hostname" },   { "kernel", "osrelease" },   { "arch", "arch" },
	{ "cpu", "cpudesc" },     { "cpus", "nrcpus-online" }, { "recorder", "version" },
	{ "command", "cmdline" },
};

enum { CONVERT_MOST_FIXED = 16 };

/* There is room for it. Copies the texts. */
static int convert_facts_add(struct convert_facts *f, const char *key, const char *value)
{
	char *k = strdup(key), *v = strdup(value);

	f->texts[2 * f->nr] = k;
	f->texts[2 * f->nr + 1] = v;
	f->items[f->nr++] = (struct table_fact){ k, v };
	return k && v ? 0 : -ENOMEM;
}

static int convert_facts_add_number(struct convert_facts *f, const char *key, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	return convert_facts_add(f, key, digits);
}

static int convert_facts_add_all(struct convert_facts *f, struct sonde_session *s,
				 const char *clock)
{
	const struct sonde_defect *d;
	uint64_t lost = 0;
	int r = convert_facts_add(f, "sonde", sonde_version());

	for (size_t i = 0; i < sizeof(convert_header) / sizeof(*convert_header) && !r; i++) {
		const char *value = sonde_session_info(s, convert_header[i].info);

		if (value)
			r = convert_facts_add(f, convert_header[i].key, value);
	}
	if (!r)
		r = convert_facts_add(f, "clock", clock);
	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++)
		if (!strcmp(d->name, "lost-events"))
			lost = d->count;
	if (!r)
		r = convert_facts_add_number(f, "lost", lost);
	for (size_t i = 0; (d = sonde_session_defect(s, i)) && !r; i++) {
		char key[80];

		snprintf(key, sizeof(key), "defect.%s", d->name);
		r = convert_facts_add_number(f, key, d->count);
	}
	return r;
}

int convert_facts_new(struct convert_facts *ret, struct sonde_session *s, const char *clock)
{
	struct convert_facts f = { .room = CONVERT_MOST_FIXED };
	int r = -ENOMEM;

	for (size_t i = 0; sonde_session_defect(s, i); i++)
		f.room++;
	f.items = calloc(f.room + 1, sizeof(*f.items));
	f.texts = calloc(2 * f.room, sizeof(*f.texts));
	if (f.items && f.texts)
		r = convert_facts_add_all(&f, s, clock);
	if (r < 0)
		convert_facts_done(&f);
	else
		*ret = f;
	return r;
}

void convert_facts_done(struct convert_facts *f)
{
	for (size_t i = 0; i < 2 * f->nr; i++)
		free(f->texts[i]);
	free(f->items);
	free(f->texts);
	*f = (struct convert_facts){ 0 };
}
