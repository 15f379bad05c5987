/* SPDX-License-Identifier: MIT */
/* The keys of the dicts that scripts get, interned once per run. */
#ifndef SONDE_PY_KEYS_H
#define SONDE_PY_KEYS_H

#include "cpython.h"
#include "prelude/prelude.h"
#include "prelude/sample.h"

#define KEYS(K)                \
	PRELUDE_FRAME_KEYS(K)  \
	PRELUDE_SYMBOL_KEYS(K) \
	PRELUDE_BRANCH_KEYS(K) \
	K(common_cpu) K(common_s) K(common_ns) K(common_pid) K(common_comm) K(common_callchain)

struct keys {
#define K(name) PyObject *name;
	KEYS(K)
#undef K
	PyObject *dict[PRELUDE_DICT_KEYS];     /* keys of prelude_dict_keys */
	PyObject *sample[PRELUDE_SAMPLE_KEYS]; /* keys of prelude_sample_keys */
};

struct keys *keys_new(void);
void keys_free(struct keys *k);

#endif
