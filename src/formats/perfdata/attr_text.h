/* SPDX-License-Identifier: MIT */
/* An event's attr as text: ", type = 1, size = 128, ...", as headers of recordings and lists of events have it. */
#ifndef SONDE_FORMATS_PERFDATA_ATTR_TEXT_H
#define SONDE_FORMATS_PERFDATA_ATTR_TEXT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

struct perfdata_attr_style {
	bool is_json;     /* `,"name":value`; values of bits are strings, others numbers */
	const char *is;   /* between name and value: " = ", ": " */
	bool as_perf;     /* bits of which no perf knows the name are left out */
	bool as_perf_6_1; /* those of branches that perf 6.1 does not know */
};

/* type, size and config as numbers. */
void perfdata_attr_put_kind(struct outbuf *out, const struct perf_event_attr *attr,
			    uint32_t attr_bytes, const struct perfdata_attr_style *style);
/* What follows, in perf's order. */
void perfdata_attr_put_members(struct outbuf *out, const struct perf_event_attr *attr,
			       const struct perfdata_attr_style *style);

#endif
