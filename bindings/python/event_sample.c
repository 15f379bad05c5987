/* SPDX-License-Identifier: MIT */
/* Sample: the values of a sample beside its fields, Event.sample. */
#include "event_sample.h"

#include <errno.h>

#include "values.h"

/* Names of PERF_SAMPLE_* by bit, for Sample.present. */
static const char *const event_sample_present_names[] = {
	"ip",
	"tid",
	"time",
	"addr",
	"read",
	"callchain",
	"id",
	"cpu",
	"period",
	"stream_id",
	"raw",
	"branches",
	"user_regs",
	"user_stack",
	"weight",
	"data_src",
	"identifier",
	"transaction",
	"intr_regs",
	"phys_addr",
	"aux",
	"cgroup",
	"data_page_size",
	"code_page_size",
	"weight",
};

PyObject *event_sample_present(uint64_t present)
{
	PyObject *names = PyList_New(0), *set = NULL;

	for (size_t i = 0; names && i < sizeof(event_sample_present_names) / sizeof(char *); i++) {
		PyObject *name;

		if (!(present >> i & 1))
			continue;
		name = PyUnicode_FromString(event_sample_present_names[i]);
		if (!name || PyList_Append(names, name) < 0)
			Py_CLEAR(names);
		Py_XDECREF(name);
	}
	if (names)
		set = PyFrozenSet_New(names);
	Py_XDECREF(names);
	return set;
}

/* Tuple of (from, to, flags). */
static PyObject *event_sample_branches(const struct sonde_sample *sample)
{
	PyObject *t = PyTuple_New((Py_ssize_t)sample->nr_branches);

	for (uint64_t i = 0; t && i < sample->nr_branches; i++) {
		const struct sonde_branch *b = &sample->branches[i];
		PyObject *item =
			Py_BuildValue("(KKK)", (unsigned long long)b->from,
				      (unsigned long long)b->to, (unsigned long long)b->flags);

		if (!item)
			Py_CLEAR(t);
		else
			PyTuple_SetItem(t, (Py_ssize_t)i, item);
	}
	return t;
}

PyObject *event_sample(struct py_event *e, void *unused)
{
	struct sonde_sample sample = { .size = sizeof(sample) };
	PyObject *values[8];
	int r;

	(void)unused;
	if (session_check_event(e) < 0)
		return NULL;
	r = sonde_event_sample(e->ev, &sample);
	if (r == -ENODATA) /* a record of state */
		Py_RETURN_NONE;
	if (r < 0)
		return module_error(e->session->m, r);
	values[0] = u64_object(sample.ip);
	values[1] = u64_object(sample.addr);
	values[2] = u64_object(sample.period);
	values[3] = u64_object(sample.weight);
	values[4] = u64_object(sample.data_src);
	values[5] = u64_object(sample.phys_addr);
	values[6] = event_sample_branches(&sample);
	values[7] = event_sample_present(sample.present);
	return sequence_object(e->session->m->sample, values, sizeof(values) / sizeof(values[0]));
}

PyTypeObject *event_sample_type_new(void)
{
	static PyStructSequence_Field members[] = {
		{ "ip", "int: the sampled address" },
		{ "addr", "int: the address of data, or the target of a branch" },
		{ "period", "int: events since the last sample; ns for clocks" },
		{ "weight", "int: cost in cycles; its meaning depends on the event" },
		{ "data_src", "int: where data came from: PERF_MEM_* bits" },
		{ "phys_addr", "int: the physical address of addr" },
		{ "branches", "tuple of (from, to, flags), the most recent branch first" },
		{ "present", "frozenset of str: which values the sample has; the others are 0" },
		{ NULL, NULL },
	};
	static PyStructSequence_Desc desc = {
		"sonde.Sample", "The values that the kernel stored beside the fields.", members, 8
	};

	return PyStructSequence_NewType(&desc);
}
