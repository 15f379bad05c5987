/* SPDX-License-Identifier: MIT */
#include "profile/columns.h"

#include <string.h>

#include "base/near.h"
#include "profile/values.h"

const struct key_def key_defs[] = {
#define KEY(name, title, width, raw, value, order) { name, title, width, raw, value, &order },
#include "profile/keys.def"
#undef KEY
};
const size_t nr_key_defs = sizeof(key_defs) / sizeof(*key_defs);

static const struct key_def *columns_find_key(const char *name, size_t len)
{
	for (size_t i = 0; i < nr_key_defs; i++) {
		if (strlen(key_defs[i].name) == len && !memcmp(key_defs[i].name, name, len))
			return &key_defs[i];
	}
	return NULL;
}

static int columns_unknown_key(const char *name, size_t len)
{
	char word[NEAR_NAME + 1], meant[3 * NEAR_NAME + 40];
	struct near n;

	if (len > NEAR_NAME)
		len = NEAR_NAME;
	memcpy(word, name, len);
	word[len] = '\0';
	near_init(&n, word);
	for (size_t i = 0; i < nr_key_defs; i++)
		near_offer(&n, key_defs[i].name);
	near_text(&n, meant, sizeof(meant));
	return err_set(-EINVAL, "there is no sort key '%s'%s", word, meant);
}

static int columns_add(struct profile *p, const struct key_def *def)
{
	struct profile_column c = { .def = def, .name = def->name, .raw_at = -1 };

	if (p->columns.n == PROFILE_MAX_COLUMNS)
		return err_set(-EINVAL, "more than %d sort keys", PROFILE_MAX_COLUMNS);
	if (def->raw == RAW_PLACE)
		p->needs_place = true;
	else
		c.raw_at = (int)p->nr_raws++;
	return vec_push(&p->columns, c);
}

int columns_parse(struct profile *p, const char *text)
{
	for (;;) {
		const size_t len = strcspn(text, ",");
		const struct key_def *def = columns_find_key(text, len);

		if (!def)
			return columns_unknown_key(text, len);
		TRY(columns_add(p, def));
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

void columns_done(struct profile *p)
{
	vec_foreach (c, &p->columns) {
		vec_done(&c->values);
		vec_done(&c->by_id);
		hash64_done(&c->by_raw);
	}
	vec_done(&p->columns);
}

const struct profile_value *column_value(const struct profile *p, const struct profile_column *c,
					 uint32_t cell)
{
	const uint64_t raw = c->raw_at < 0
				     ? 2 * (uint64_t)cell_place(p, cell)
				     : wordset_key(&p->combinations,
						   cell_combination(p, cell))[1 + c->raw_at];

	return &c->values.v[hash64_find(&c->by_raw, raw)];
}
