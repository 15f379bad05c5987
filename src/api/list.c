/* SPDX-License-Identifier: MIT */
/* sonde.h: the events that can be recorded here. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/list.h"
#include "capture/running/markers.h"
#include "capture/tracepoint.h"

int sonde_list_events(const struct sonde_list_options *opts,
		      void (*event)(void *ctx, const struct sonde_listed_event *event), void *ctx)
{
	struct sonde_list_options known = { 0 };
	int r = 0;

	NOT_NULL(event, -EINVAL);
	if (opts && !opts->size)
		return err_set(-EINVAL, "sonde_list_options.size is not set");
	if (opts)
		memcpy(&known, opts, opts->size < sizeof(known) ? opts->size : sizeof(known));
	if (known.kinds != SONDE_EVENT_SDT)
		r = capture_list(NULL, &known, event, ctx);
	if (!known.kinds || known.kinds & SONDE_EVENT_SDT) {
		const int e = markers_each(known.buildid_dir, event, ctx);

		r = r < 0 ? r : e;
	}
	return r;
}

int sonde_list_sources(void (*source)(void *ctx, const struct sonde_event_source *source),
		       void *ctx)
{
	NOT_NULL(source, -EINVAL);
	return capture_list_sources(NULL, source, ctx);
}

int sonde_tracepoint_open(struct sonde_tracepoint **ret, const char *name)
{
	struct sonde_tracepoint *t;
	struct tracefs tracefs;
	int r;

	NOT_NULL(ret, -EINVAL);
	NOT_NULL(name, -EINVAL);
	TRY(tracefs_open(&tracefs));
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_nomem();
	r = tracepoint_read(&tracefs, name, t);
	if (r < 0) {
		free(t);
		return r;
	}
	*ret = t;
	return 0;
}

const struct sonde_schema *sonde_tracepoint_schema(const struct sonde_tracepoint *t)
{
	NOT_NULL(t, NULL);
	return t->schema;
}

void sonde_tracepoint_close(struct sonde_tracepoint *t)
{
	if (!t)
		return;
	tracepoint_done(t);
	free(t);
}
