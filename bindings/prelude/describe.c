/* SPDX-License-Identifier: MIT */
/* One line about an event, for the message about a handler that failed. */
#include "prelude.h"

#include <stdio.h>

int prelude_describe(const struct sonde_session *s, const struct sonde_event *ev, char *buf,
		     size_t size)
{
	const char *name = sonde_schema_name(sonde_session_schema(s, ev->schema));
	const char *comm = sonde_session_string(s, ev->comm);
	char when[64] = "";
	const char *text;
	size_t len = 0;
	int n;

	if (ev->time_ns != SONDE_NO_TIME)
		snprintf(when, sizeof(when), " time %llu.%09u",
			 (unsigned long long)(ev->time_ns / 1000000000),
			 (unsigned int)(ev->time_ns % 1000000000));
	text = sonde_event_text(ev, &len);
	n = snprintf(buf, size, "%s%s cpu %d pid %d tid %d comm %s: %.*s", name, when, (int)ev->cpu,
		     (int)ev->pid, (int)ev->tid, comm ? comm : "", (int)len, text ? text : "");
	return n < 0 || (size_t)n < size ? n : (int)size - 1;
}
