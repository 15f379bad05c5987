/* SPDX-License-Identifier: MIT */
/*
 * An event's attr as text: ", type = 1, size = 128, ...", for headers of recordings and lists of
 * events.
 */
#ifndef SONDE_FORMATS_PERFDATA_ATTR_TEXT_H
#define SONDE_FORMATS_PERFDATA_ATTR_TEXT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "compat/rules.h"

struct perfdata_attr_style {
	/* Receives an object's members, with bits as strings. NULL for text in the style below. */
	struct json *json;
	const char *is; /* between name and value: " = ", ": " */
	const struct rules *rules;
};

/* Prints type, size and config as numbers. */
void perfdata_attr_put_kind(struct outbuf *out, const struct perf_event_attr *attr,
			    uint32_t attr_bytes, const struct perfdata_attr_style *style);
/* Prints the other members, in perf's order. */
void perfdata_attr_put_members(struct outbuf *out, const struct perf_event_attr *attr,
			       const struct perfdata_attr_style *style);

#endif
