/* SPDX-License-Identifier: MIT */
#include "base/vec.h"

#include <stdint.h>

#include "base/err.h"

int vec_reserve_bytes(void **v, size_t *capacity, size_t want, size_t elem_size)
{
	size_t n = *capacity ? *capacity : 8, size;
	void *grown;

	while (n < want) {
		if (n > SIZE_MAX / 2)
			return err_nomem();
		n *= 2;
	}
	if (__builtin_mul_overflow(n, elem_size, &size))
		return err_nomem();
	grown = realloc(*v, size);
	if (!grown)
		return err_nomem();
	*v = grown;
	*capacity = n;
	return 0;
}
