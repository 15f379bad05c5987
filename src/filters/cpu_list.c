/* SPDX-License-Identifier: MIT */
#include "filters/cpu_list.h"

#include <stdlib.h>

#include "base/err.h"

static bool cpu_parse(const char **p, uint32_t *ret)
{
	uint32_t cpu = 0;

	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		if (cpu < CPU_LIST_MAX)
			cpu = cpu * 10 + (unsigned)(**p - '0');
	}
	*ret = cpu;
	return true;
}

/* With set == NULL it only finds the highest cpu. *ret_repeats is set only with a set. */
static int cpu_list_walk(const char *text, uint64_t *set, uint32_t *ret_max, bool *ret_repeats)
{
	const char *p = text;

	*ret_max = 0;
	*ret_repeats = false;
	for (;;) {
		uint32_t first, last;

		if (!cpu_parse(&p, &first))
			return err_set(-EINVAL,
				       "Invalid cpu list '%s': cpu numbers and ranges like 0,2-3 "
				       "are expected",
				       text);
		last = first;
		if (*p == '-') {
			p++;
			if (!cpu_parse(&p, &last) || last < first)
				return err_set(-EINVAL,
					       "Invalid cpu list '%s': a range is FIRST-LAST",
					       text);
		}
		if (last >= CPU_LIST_MAX)
			return err_set(-EINVAL, "Invalid cpu list '%s': cpus go up to %d", text,
				       CPU_LIST_MAX - 1);
		for (uint32_t cpu = first; set && cpu <= last; cpu++) {
			*ret_repeats |= set[cpu / 64] >> cpu % 64 & 1;
			set[cpu / 64] |= UINT64_C(1) << cpu % 64;
		}
		if (last > *ret_max)
			*ret_max = last;
		if (!*p)
			return 0;
		if (*p != ',')
			return err_set(-EINVAL, "Invalid cpu list '%s': '%s' is not understood",
				       text, p);
		p++;
	}
}

int cpu_list_parse(const char *text, struct cpu_list *ret)
{
	struct cpu_list l;
	uint32_t max;

	TRY(cpu_list_walk(text, NULL, &max, &l.repeats));
	l.nr = (max / 64 + 1) * 64;
	l.bits = calloc(l.nr / 64, sizeof(*l.bits));
	if (!l.bits)
		return err_nomem();
	cpu_list_walk(text, l.bits, &max, &l.repeats);
	*ret = l;
	return 0;
}

void cpu_list_done(struct cpu_list *l)
{
	free(l->bits);
	*l = (struct cpu_list){ 0 };
}

int32_t cpu_list_max(const struct cpu_list *l)
{
	for (uint32_t i = l->bits ? l->nr / 64 : 0; i-- > 0;) {
		if (l->bits[i])
			return (int32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(l->bits[i]));
	}
	return -1;
}
