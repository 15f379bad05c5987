/* SPDX-License-Identifier: MIT */
/* sonde.h: counting. */

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "stat/stat.h"

int sonde_stat_open(struct sonde_stat **ret, const struct sonde_stat_options *opts)
{
	struct sonde_stat_options known = { 0 };

	NOT_NULL(ret, -EINVAL);
	NOT_NULL(opts, -EINVAL);
	if (!opts->size)
		return err_set(-EINVAL, "sonde_stat_options.size is not set");
	/* a caller built with an older header knows fewer options, one with a newer header more */
	memcpy(&known, opts, opts->size < sizeof(known) ? opts->size : sizeof(known));
	return stat_open(ret, &known);
}

int sonde_stat_read(struct sonde_stat **ret, const char *path, const char *settings)
{
	NOT_NULL(ret, -EINVAL);
	NOT_NULL(path, -EINVAL);
	return stat_read(ret, path, settings);
}

const char *sonde_stat_info(const struct sonde_stat *s, const char *key)
{
	NOT_NULL(s, NULL);
	NOT_NULL(key, NULL);
	return s->is_from_file ? stat_from_file_info(s, key) : NULL;
}

int sonde_stat_start(struct sonde_stat *s, int *ret_status)
{
	NOT_NULL(s, -EINVAL);
	NOT_NULL(ret_status, -EINVAL);
	return stat_start(s, ret_status);
}

int sonde_stat_next(struct sonde_stat *s, struct sonde_stat_round *ret)
{
	NOT_NULL(s, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	return stat_next(s, ret);
}

int sonde_stat_status(const struct sonde_stat *s)
{
	NOT_NULL(s, -EINVAL);
	return s->status;
}

void sonde_stat_stop(struct sonde_stat *s)
{
	if (s) /* without a cause: signal handlers call this */
		stat_stop(s);
}

const struct sonde_stat_event *sonde_stat_event(const struct sonde_stat *s, size_t event)
{
	NOT_NULL(s, NULL);
	return event < s->shown.n ? &s->shown.v[event] : NULL;
}

void sonde_stat_close(struct sonde_stat *s)
{
	if (s)
		stat_close(s);
}
