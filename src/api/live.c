/* SPDX-License-Identifier: MIT */
/* sonde.h: live sessions. */

#include <string.h>

#include "base/err.h"
#include "live/live.h"
#include "live/serve.h"

int sonde_live_open(struct sonde_live **ret, const struct sonde_live_options *opts)
{
	struct sonde_live_options known = { 0 };

	NOT_NULL(ret, -EINVAL);
	NOT_NULL(opts, -EINVAL);
	err_clear();
	if (!opts->size)
		return err_set(-EINVAL, "sonde_live_options.size is not set");
	/* a caller built with an older header knows fewer options, one with a newer header more */
	memcpy(&known, opts, opts->size < sizeof(known) ? opts->size : sizeof(known));
	return live_open(ret, &known);
}

int sonde_live_session(struct sonde_live *l, const char *text, struct sonde_session **ret)
{
	NOT_NULL(l, -EINVAL);
	NOT_NULL(text, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	err_clear();
	return live_session(l, text, ret);
}

int sonde_live_start(struct sonde_live *l)
{
	NOT_NULL(l, -EINVAL);
	return live_start(l);
}

void sonde_live_stop(struct sonde_live *l)
{
	if (l) /* without a cause: signal handlers call this */
		live_stop(l);
}

const char *sonde_live_line(struct sonde_live *l, int *ret_level)
{
	NOT_NULL(l, NULL);
	NOT_NULL(ret_level, NULL);
	return live_next_line(l, ret_level);
}

int sonde_live_result(struct sonde_live *l, struct sonde_record_result *ret)
{
	struct sonde_record_result result;
	size_t ret_size;
	int e;

	NOT_NULL(l, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	ret_size = ret->size && ret->size < sizeof(result) ? ret->size : sizeof(result);
	e = live_result(l, &result);
	memcpy(ret, &result, ret_size);
	return e;
}

int sonde_live_serve(int in_fd, int out_fd, int say_fd)
{
	err_clear();
	return live_serve(in_fd, out_fd, say_fd);
}

void sonde_live_close(struct sonde_live *l)
{
	if (l)
		live_close(l);
}
