/* SPDX-License-Identifier: MIT */
#include "keys.h"

void keys_free(struct keys *k)
{
	PyObject **all = (PyObject **)k;

	for (size_t i = 0; k && i < sizeof(*k) / sizeof(*all); i++)
		Py_XDECREF(all[i]);
	free(k);
}

struct keys *keys_new(void)
{
	struct keys *k = calloc(1, sizeof(*k));

	if (!k)
		return (struct keys *)PyErr_NoMemory();
#define K(key)                                     \
	k->key = PyUnicode_InternFromString(#key); \
	if (!k->key)                               \
		goto fail;
	KEYS(K)
#undef K
	for (size_t i = 0; i < PRELUDE_DICT_KEYS; i++)
		if (!(k->dict[i] = PyUnicode_InternFromString(prelude_dict_keys[i].name)))
			goto fail;
	for (size_t i = 0; i < PRELUDE_SAMPLE_KEYS; i++)
		if (!(k->sample[i] = PyUnicode_InternFromString(prelude_sample_keys[i].name)))
			goto fail;
	return k;
fail:
	keys_free(k);
	return NULL;
}
