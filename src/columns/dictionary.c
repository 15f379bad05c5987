/* SPDX-License-Identifier: MIT */
#include "columns/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "columns/arrow.h"

enum { DICTIONARY_FIRST_SLOTS = 64, DICTIONARY_FIRST_BYTES = 1024 };

static int dictionary_grow_slots(struct dictionary *d)
{
	const size_t nr = d->slots ? 2 * (d->mask + 1) : DICTIONARY_FIRST_SLOTS;
	struct dictionary_slot *slots = reallocarray(NULL, nr, sizeof(*slots));

	if (!slots)
		return err_nomem();
	memset(slots, 0xff, nr * sizeof(*slots));
	for (size_t i = 0; d->slots && i <= d->mask; i++) {
		size_t at = d->slots[i].hash & (nr - 1);

		if (d->slots[i].code < 0)
			continue;
		while (slots[at].code >= 0)
			at = (at + 1) & (nr - 1);
		slots[at] = d->slots[i];
	}
	free(d->slots);
	d->slots = slots;
	d->mask = nr - 1;
	return 0;
}

int dictionary_init(struct dictionary *d, uint32_t elem_bytes)
{
	*d = (struct dictionary){ .elem_bytes = elem_bytes };
	TRY(shared_new(&d->offsets, DICTIONARY_FIRST_BYTES));
	TRY(shared_new(&d->values, DICTIONARY_FIRST_BYTES));
	TRY(dictionary_grow_slots(d));
	memset(d->offsets->bytes, 0, sizeof(int32_t));
	return 0;
}

void dictionary_done(struct dictionary *d)
{
	shared_unref(d->offsets);
	shared_unref(d->values);
	free(d->slots);
	*d = (struct dictionary){ 0 };
}

/* FNV over words of eight bytes; the last word is padded with zeroes. */
static uint32_t dictionary_hash(const uint8_t *p, size_t len)
{
	uint64_t h = len, word;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = hash_u64(h ^ word) * 0x100000001b3u;
	}
	word = 0;
	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)p[i] << 8 * i;
	h = hash_u64(h ^ word) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

static int dictionary_add(struct dictionary *d, const void *value, size_t nr)
{
	const size_t used = d->nr_elems * d->elem_bytes, more = nr * d->elem_bytes;
	int32_t *offsets;

	if (nr > INT32_MAX - d->nr_elems || d->nr >= INT32_MAX - 1)
		return err_set(-EFBIG, "the distinct values of a column exceed 2 GiB");
	if (used + more > d->values->room)
		TRY(shared_reserve(&d->values, used, 2 * (used + more)));
	if (((size_t)d->nr + 2) * sizeof(int32_t) > d->offsets->room)
		TRY(shared_reserve(&d->offsets, d->offsets->room, 2 * d->offsets->room));
	if (more)
		memcpy(d->values->bytes + used, value, more);
	d->nr_elems += nr;
	offsets = (int32_t *)d->offsets->bytes;
	offsets[++d->nr] = (int32_t)d->nr_elems;
	return 0;
}

int dictionary_code(struct dictionary *d, const void *value, size_t nr, int32_t *ret)
{
	const int32_t *offsets = (const int32_t *)d->offsets->bytes;
	const size_t bytes = nr * d->elem_bytes;
	const uint32_t hash = dictionary_hash(value, bytes);
	size_t i;

	for (i = hash & d->mask; d->slots[i].code >= 0; i = (i + 1) & d->mask) {
		const int32_t code = d->slots[i].code;

		if (d->slots[i].hash == hash && (size_t)(offsets[code + 1] - offsets[code]) == nr &&
		    !memcmp(d->values->bytes + (size_t)offsets[code] * d->elem_bytes, value,
			    bytes)) {
			*ret = code;
			return 0;
		}
	}
	if ((size_t)d->nr * 2 > d->mask) {
		TRY(dictionary_grow_slots(d));
		for (i = hash & d->mask; d->slots[i].code >= 0;)
			i = (i + 1) & d->mask;
	}
	TRY(dictionary_add(d, value, nr));
	*ret = d->nr - 1;
	d->slots[i] = (struct dictionary_slot){ hash, *ret };
	return 0;
}

int dictionary_array(const struct dictionary *d, struct ArrowArray *ret)
{
	const bool is_list = d->elem_bytes > 1;
	const struct arrow_content content = {
		.length = d->nr,
		.nr_buffers = is_list ? 2 : 3,
		.buffers = { NULL, d->offsets, is_list ? NULL : d->values },
		.nr_children = is_list,
	};
	const struct arrow_content elems = {
		.length = (int64_t)d->nr_elems,
		.nr_buffers = 2,
		.buffers = { NULL, d->values },
	};
	int r;

	TRY(arrow_array(ret, &content));
	r = is_list ? arrow_array(ret->children[0], &elems) : 0;
	if (r < 0)
		arrow_array_done(ret);
	return r;
}
