/* SPDX-License-Identifier: MIT */
/*
 * Growable arrays. A vec is any struct { T *v; size_t n, capacity; }; declare one with VEC(T).
 *
 *	VEC(uint64_t) ids = { 0 };
 *	TRY(vec_push(&ids, id));        // 0 or -ENOMEM
 *	vec_done(&ids);
 */
#ifndef SONDE_BASE_VEC_H
#define SONDE_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#include "base/err.h"

#define VEC(T)                      \
	struct {                    \
		T *v;               \
		size_t n, capacity; \
	}

int vec_reserve_bytes(void **v, size_t *capacity, size_t want, size_t elem_size);

/* Makes room for `more` elements after the n that exist. */
#define vec_reserve(vec, more)                                                                \
	((vec)->capacity - (vec)->n >= (size_t)(more)                                         \
		 ? 0                                                                          \
		 : vec_reserve_bytes((void **)&(vec)->v, &(vec)->capacity, (vec)->n + (more), \
				     sizeof(*(vec)->v)))
#define vec_push(vec, ...) \
	(vec_reserve(vec, 1) < 0 ? -ENOMEM : ((vec)->v[(vec)->n++] = (__VA_ARGS__), 0))
#define vec_clear(vec) ((vec)->n = 0)
#define vec_done(vec)  (free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->capacity = 0)
#define vec_foreach(it, vec) \
	for (__typeof__((vec)->v) it = (vec)->v; (vec)->n && it < (vec)->v + (vec)->n; it++)

#endif
