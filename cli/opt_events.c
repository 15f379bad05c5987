/* SPDX-License-Identifier: MIT */
#include "opt_events.h"

#include <stdlib.h>

int opt_add_event(struct opt_parser *p, struct sonde_record_event **events, size_t *nr,
		  const struct sonde_record_event *e)
{
	struct sonde_record_event *more = reallocarray(*events, *nr + 1, sizeof(*more));

	if (!more)
		return opt_error(p, "out of memory");
	*events = more;
	more[(*nr)++] = *e;
	return 0;
}

int opt_add_to_event(struct opt_parser *p, const char *option, struct sonde_record_event **events,
		     size_t *nr, const struct sonde_record_event *e)
{
	if (!*nr)
		return opt_error(p, "%s belongs to the -e before it, and there is none", option);
	return opt_add_event(p, events, nr, e);
}
