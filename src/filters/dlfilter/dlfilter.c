/* SPDX-License-Identifier: MIT */
#include "filters/dlfilter/dlfilter.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* ---- loading --------------------------------------------------------------------------------- */

static void dlfilter_free(struct dlfilter *f)
{
	if (f->handle)
		dlclose(f->handle);
	vec_foreach(arg, &f->args)
		free(*arg);
	vec_done(&f->args);
	free(f->file);
	free(f);
}

static int dlfilter_add_filter(struct dlfilters *l, const char *file, size_t len, void *ctx)
{
	struct dlfilter *f = calloc(1, sizeof(*f));

	if (f)
		f->file = strndup(file, len);
	if (!f || !f->file || vec_push(&l->filters, f) < 0) {
		if (f)
			dlfilter_free(f);
		return err_nomem();
	}
	f->ctx = ctx;
	return 0;
}

static int dlfilter_add_arg(struct dlfilter *f, const char *arg, size_t len)
{
	char *copy = strndup(arg, len);

	if (!copy || vec_push(&f->args, copy) < 0) {
		free(copy);
		return err_nomem();
	}
	return 0;
}

/* The value of a line with that key; otherwise NULL. */
static const char *dlfilter_value_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	return strncmp(line, key, len) || line[len] != '=' ? NULL : line + len + 1;
}

/* Reads filters first, so that arguments before the first filter belong to it. */
static int dlfilter_read_lines(struct dlfilters *l, const char *lines, bool only_last, void *ctx)
{
	const char *last = NULL, *value;
	size_t at = 0;

	for (const char *p = lines; *p; p += strcspn(p, "\n") + 1) {
		if (!(value = dlfilter_value_of(p, "dlfilter")))
			continue;
		last = value;
		if (!only_last)
			TRY(dlfilter_add_filter(l, value, strcspn(value, "\n"), ctx));
	}
	if (only_last && last)
		TRY(dlfilter_add_filter(l, last, strcspn(last, "\n"), ctx));
	for (const char *p = lines; *p && l->filters.n; p += strcspn(p, "\n") + 1) {
		if (dlfilter_value_of(p, "dlfilter"))
			at++;
		else if ((value = dlfilter_value_of(p, "dlarg")))
			TRY(dlfilter_add_arg(l->filters.v[at && !only_last ? at - 1 : 0], value,
					     strcspn(value, "\n")));
	}
	return 0;
}

static int dlfilter_open_filter(struct dlfilter *f, const struct dlf_fns *fns)
{
	struct dlf_fns *slots;

	f->handle = dlopen(f->file, RTLD_NOW);
	if (!f->handle)
		return err_set(-ENOEXEC, "cannot load the dlfilter %s: %s", f->file, dlerror());
	*(void **)&f->start = dlsym(f->handle, "start");
	*(void **)&f->stop = dlsym(f->handle, "stop");
	*(void **)&f->early = dlsym(f->handle, "filter_event_early");
	*(void **)&f->late = dlsym(f->handle, "filter_event");
	slots = dlsym(f->handle, "perf_dlfilter_fns");
	if (slots)
		memcpy(slots, fns, sizeof(*slots));
	return 0;
}

int dlfilters_load(struct dlfilters *l, const char *lines, bool only_last,
		   const struct dlf_fns *fns, void *ctx)
{
	TRY(dlfilter_read_lines(l, lines, only_last, ctx));
	vec_foreach(f, &l->filters) {
		TRY(dlfilter_open_filter(*f, fns));
		l->has_early |= (*f)->early != NULL;
		l->has_late |= (*f)->late != NULL;
	}
	return 0;
}

/* ---- running --------------------------------------------------------------------------------- */

static void dlfilter_begin_call(const struct dlfilters *l)
{
	if (l->before)
		l->before(l->order_ctx);
}

static void dlfilter_end_call(const struct dlfilters *l)
{
	if (l->after)
		l->after(l->order_ctx);
}

int dlfilters_start(struct dlfilters *l)
{
	vec_foreach(it, &l->filters) {
		struct dlfilter *f = *it;
		int r = 0;

		if (f->start) {
			f->starts_or_stops = true;
			dlfilter_begin_call(l);
			r = f->start(&f->data, f);
			dlfilter_end_call(l);
			f->starts_or_stops = false;
		}
		if (r)
			return err_set(-ECANCELED,
				       "the dlfilter %s failed to start (it returned %d)", f->file,
				       r);
	}
	return 0;
}

int dlfilters_ask(struct dlfilters *l, bool early, const struct dlf_sample *sample)
{
	vec_foreach(it, &l->filters) {
		struct dlfilter *f = *it;
		int r;

		if (early ? !f->early : !f->late)
			continue;
		f->called = true;
		dlfilter_begin_call(l);
		r = (early ? f->early : f->late)(f->data, sample, f);
		dlfilter_end_call(l);
		f->called = false;
		if (r < 0)
			return err_set(
				-ECANCELED,
				"the dlfilter %s stopped sonde at a sample of %s (it returned %d)",
				f->file, sample->event, r);
		if (r)
			return 0;
	}
	return 1;
}

void dlfilters_done(struct dlfilters *l)
{
	vec_foreach(it, &l->filters) {
		struct dlfilter *f = *it;

		if (f->stop) {
			f->starts_or_stops = true;
			dlfilter_begin_call(l);
			f->stop(f->data, f);
			dlfilter_end_call(l);
		}
		dlfilter_free(f);
	}
	vec_done(&l->filters);
	*l = (struct dlfilters){ 0 };
}
