/* SPDX-License-Identifier: MIT */
#include "stat_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int stat_series_push(struct stat_series *s, double value)
{
	double *more = reallocarray(s->values, s->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->values = more;
	more[s->n++] = value;
	return 0;
}

void stat_series_done(struct stat_series *s)
{
	free(s->event);
	free(s->cgroup);
	free(s->place);
	free(s->unit);
	free(s->values);
}

int stat_runs_push(struct stat_runs *r, struct stat_series *s)
{
	struct stat_series *more = reallocarray(r->list, r->n + 1, sizeof(*more));

	if (!more || !s->event || !s->cgroup || !s->place || !s->unit) {
		r->list = more ? more : r->list;
		stat_series_done(s);
		return -ENOMEM;
	}
	r->list = more;
	more[r->n++] = *s;
	return 0;
}

int stat_runs_push_time(struct stat_runs *r, double ns)
{
	double *more = reallocarray(r->elapsed_ns, r->nr_runs + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	r->elapsed_ns = more;
	more[r->nr_runs++] = ns;
	return 0;
}

bool stat_series_same(const struct stat_series *a, const struct stat_series *b)
{
	return !strcmp(a->event, b->event) && !strcmp(a->cgroup, b->cgroup) &&
	       !strcmp(a->place, b->place);
}

const struct stat_series *stat_runs_find(const struct stat_runs *of, const struct stat_runs *r,
					 size_t i)
{
	size_t before = 0;

	for (size_t k = 0; k < i; k++)
		before += stat_series_same(&r->list[k], &r->list[i]);
	for (size_t k = 0; k < of->n; k++)
		if (stat_series_same(&of->list[k], &r->list[i]) && before-- == 0)
			return &of->list[k];
	return NULL;
}

void stat_runs_done(struct stat_runs *r)
{
	for (size_t i = 0; i < r->n; i++)
		stat_series_done(&r->list[i]);
	free(r->list);
	free(r->elapsed_ns);
	*r = (struct stat_runs){ 0 };
}
