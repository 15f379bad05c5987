/* SPDX-License-Identifier: MIT */
#include "sinks/perf/need.h"

#include "base/err.h"
#include "recording/recording.h"
#include "sources/perfdata/view.h"

int perf_view_need(const struct recording *rec, const char *what, struct perfdata_view **ret)
{
	*ret = perfdata_view_of(rec->source);
	if (*ret)
		return 0;
	return err_set(-EINVAL, "%s needs a recording in perf.data's format; %s is a %s recording",
		       what, rec->input, rec->source->ops->name);
}
