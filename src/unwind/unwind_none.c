/* SPDX-License-Identifier: MIT */
/* unwind.h without libdw: all chains are empty. */
#include "unwind/unwind.h"

#include "base/err.h"

bool unwind_supported(void)
{
	return false;
}

int unwind_new(struct unwinder **ret, const struct rules *rules)
{
	(void)ret;
	(void)rules;
	return err_set(-ENOTSUP, "this build has no libdw, which reads unwind tables");
}

void unwind_free(struct unwinder *u)
{
	(void)u;
}

int unwind_walk(struct unwinder *u, const struct unwind_input *in, size_t max,
		struct unwind_result *ret)
{
	(void)u;
	(void)in;
	(void)max;
	*ret = (struct unwind_result){ .end = UNWIND_NO_FILE };
	return 0;
}

const char *unwind_end_text(enum unwind_end end)
{
	(void)end;
	return "this build has no libdw";
}
