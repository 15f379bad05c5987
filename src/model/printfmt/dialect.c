/* SPDX-License-Identifier: MIT */
#include "model/printfmt/printfmt_internal.h"

static const struct pf_dialect dialects[] = {
	[PRINTFMT_RIGHT] = { .name = "right",
			     .c_grammar = true,
			     .c_conversions = true,
			     .c_escapes = true,
			     .has_sizeof = true,
			     .has_cpumask = true,
			     .has_sockaddr = true },
	[PRINTFMT_PERF_6_1] = { .name = "perf-6.1",
				.endless_text = true,
				.sticky_text = true,
				.perf_defines = true },
	[PRINTFMT_PERF_6_12] = { .name = "perf-6.12",
				 .folds_constants = true,
				 .paren_record = true,
				 .full_arguments = true,
				 .rel_arrays = true,
				 .pointer_casts = true,
				 .size_is_long = true,
				 .strict_strings = true,
				 .empty_strings = true,
				 .has_sizeof = true,
				 .has_cpumask = true,
				 .has_sockaddr = true,
				 .endless_text = true,
				 .sticky_text = true,
				 .perf_defines = true },
};

const struct pf_dialect *pf_dialect_find(enum printfmt_dialect dialect)
{
	return &dialects[dialect <= PRINTFMT_PERF_6_12 ? dialect : PRINTFMT_RIGHT];
}
