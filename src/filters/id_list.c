/* SPDX-License-Identifier: MIT */
#include "filters/id_list.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/vec.h"

static int id_list_compare(const void *pa, const void *pb)
{
	int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;

	return a < b ? -1 : a > b;
}

/* Blanks may precede a number. -1 is the id of records without a process. */
static bool id_list_parse_one(const char **p, int32_t *ret)
{
	bool negative;
	int64_t id = 0;

	while (**p == ' ')
		(*p)++;
	negative = **p == '-';
	*p += negative;
	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		id = id * 10 + (**p - '0');
		if (id > INT32_MAX)
			return false;
	}
	*ret = (int32_t)(negative ? -id : id);
	return true;
}

int id_list_parse(const char *text, const char *what, struct id_list *ret)
{
	VEC(int32_t) ids = { 0 };
	const char *p = text;
	int r = 0;

	for (;;) {
		int32_t id;

		if (!id_list_parse_one(&p, &id) || (*p && *p != ','))
			r = err_set(
				-EINVAL,
				"Invalid %s list '%s': numbers separated by commas are expected",
				what, text);
		else
			r = vec_push(&ids, id);
		if (r < 0) {
			vec_done(&ids);
			return r;
		}
		if (!*p)
			break;
		p++;
	}
	qsort(ids.v, ids.n, sizeof(*ids.v), id_list_compare);
	*ret = (struct id_list){ .ids = ids.v, .nr = ids.n };
	return 0;
}

void id_list_done(struct id_list *l)
{
	free(l->ids);
	*l = (struct id_list){ 0 };
}
