/* SPDX-License-Identifier: MIT */
/* The keys of the dicts that scripts are given, interned once per run. */
#ifndef SONDE_KEYS_H
#define SONDE_KEYS_H

#include "pysonde.h"
#include "sample.h"

/* clang-format off */
#define KEYS(K)                                                                                    \
	K(ip) K(sym) K(sym_off) K(sym_srcline) K(dso) K(start) K(end) K(binding) K(name)           \
	K(from) K(to) K(mispred) K(predicted) K(in_tx) K(abort) K(cycles) K(from_dsoname) K(to_dsoname) K(pred) \
	K(common_cpu) K(common_s) K(common_ns) K(common_pid) K(common_comm) K(common_callchain)
/* clang-format on */

struct keys {
#define K(name) PyObject *name;
	KEYS(K)
#undef K
	PyObject *dict[PRELUDE_DICT_KEYS];     /* of prelude_dict_keys */
	PyObject *sample[PRELUDE_SAMPLE_KEYS]; /* of prelude_sample_keys */
};

#endif
