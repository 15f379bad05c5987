/* SPDX-License-Identifier: MIT */
#include "columns/shared.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

int shared_new(struct shared **ret, size_t room)
{
	const size_t mask = SHARED_ALIGNMENT - 1;
	struct shared *s;

	if (room > SIZE_MAX / 4)
		return err_nomem();
	room = room ? (room + mask) & ~mask : SHARED_ALIGNMENT;
	s = malloc(sizeof(*s) + mask + room);
	if (!s)
		return err_nomem();
	atomic_init(&s->refs, 1);
	s->room = room;
	s->bytes = (uint8_t *)(((uintptr_t)(s + 1) + mask) & ~(uintptr_t)mask);
	*ret = s;
	return 0;
}

struct shared *shared_ref(struct shared *s)
{
	if (s)
		atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

void shared_unref(struct shared *s)
{
	if (s && atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1)
		free(s);
}

void shared_take_spare(struct shared **s, struct shared **spare)
{
	if (*s || !*spare || atomic_load_explicit(&(*spare)->refs, memory_order_acquire) != 1)
		return;
	*s = *spare;
	*spare = NULL;
}

int shared_reserve(struct shared **s, size_t used, size_t room)
{
	struct shared *larger;

	if (*s && (*s)->room >= room)
		return 0;
	TRY(shared_new(&larger, room));
	if (used)
		memcpy(larger->bytes, (*s)->bytes, used);
	shared_unref(*s);
	*s = larger;
	return 0;
}
