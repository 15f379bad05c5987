/* SPDX-License-Identifier: MIT */
#include "profile/weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/schema_table.h"
#include "model/value.h"
#include "profile/counts.h"
#include "recording/recording.h"

struct weight {
	const char *name; /* borrowed from the options */
	size_t len;
	size_t value_at; /* offset in struct sonde_sample; 0 if the weight is a field */
	/* Indexed by schema id: the field; NULL if the schema's events do not have it. */
	VEC(const struct sonde_field *) fields;
};

struct weights {
	struct weight of[PROFILE_WEIGHTS];
	size_t nr;
	bool needs_sample;
	uint64_t values[PROFILE_WEIGHTS]; /* of the current sample */
};

static size_t weights_find_value(const char *name, size_t len)
{
	static const struct {
		const char *name;
		size_t at;
	} values[] = {
		{ "weight", offsetof(struct sonde_sample, weight) },
		{ "period", offsetof(struct sonde_sample, period) },
		{ "addr", offsetof(struct sonde_sample, addr) },
		{ "phys_addr", offsetof(struct sonde_sample, phys_addr) },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (strlen(values[i].name) == len && !memcmp(values[i].name, name, len))
			return values[i].at;
	}
	return 0;
}

int weights_init(struct profile *p)
{
	const char *line = p->opts.weights;
	struct weights *w;

	if (!line)
		return 0;
	w = p->weights = calloc(1, sizeof(*w));
	if (!w)
		return err_nomem();
	for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct weight *weight = &w->of[w->nr];

		if (w->nr++ == PROFILE_WEIGHTS)
			return err_set(-EINVAL, "more than %d weights", PROFILE_WEIGHTS);
		line += strlen("weight=");
		weight->name = line;
		weight->len = strcspn(line, "\n");
		weight->value_at = weights_find_value(line, weight->len);
		w->needs_sample |= weight->value_at != 0;
	}
	return 0;
}

void weights_done(struct profile *p)
{
	for (size_t i = 0; p->weights && i < PROFILE_WEIGHTS; i++)
		vec_done(&p->weights->of[i].fields);
	free(p->weights);
	p->weights = NULL;
}

void weights_begin(struct profile *p)
{
	for (size_t i = 0; p->weights && i < p->weights->nr; i++)
		vec_clear(&p->weights->of[i].fields);
}

static int weights_field(struct weight *w, const struct event *ev, const struct sonde_field **ret)
{
	const struct schema_table *schemas = &ev->recording->all->schemas;

	while (w->fields.n <= ev->schema->id) {
		const struct sonde_schema *sc = schema_at(schemas, (uint32_t)w->fields.n);

		TRY(vec_push(&w->fields, schema_find_field(sc, w->name, w->len)));
	}
	*ret = w->fields.v[ev->schema->id];
	return 0;
}

int weights_read(struct profile *p, const struct event *ev)
{
	const bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;
	struct sonde_sample sample = { 0 };

	if (p->weights->needs_sample && source_sample(ev->source, ev, &sample) < 0) {
		err_clear();
		sample = (struct sonde_sample){ 0 };
	}
	for (size_t i = 0; i < p->weights->nr; i++) {
		struct weight *w = &p->weights->of[i];
		const struct sonde_field *f = NULL;
		uint64_t v = 0;

		if (w->value_at)
			memcpy(&v, (const char *)&sample + w->value_at, sizeof(v));
		else
			TRY(weights_field(w, ev, &f));
		if (f)
			v = field_number(f, ev->pub.bytes, ev->pub.bytes_len, swap);
		if (f && f->is_signed && (int64_t)v < 0)
			v = 0;
		p->weights->values[i] = v;
	}
	return 0;
}

void weights_add(struct profile *p, uint64_t *to)
{
	for (size_t i = 0; i < p->weights->nr; i++)
		counts_sum(p, &to[i], p->weights->values[i]);
}
