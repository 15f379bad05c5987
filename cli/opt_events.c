/* SPDX-License-Identifier: MIT */
#include "opt_events.h"

#include "pfm_events.h"

#include <stdlib.h>

static int opt_events_push(struct opt_parser *p, struct opt_events *l,
			   const struct sonde_record_event *e)
{
	struct sonde_record_event *more = reallocarray(l->list, l->n + 1, sizeof(*more));

	if (!more)
		return opt_error(p, "out of memory");
	l->list = more;
	more[l->n++] = *e;
	return 0;
}

int opt_events_add(struct opt_parser *p, struct opt_events *l, const char *events)
{
	return opt_events_push(p, l, &(struct sonde_record_event){ .events = events });
}

int opt_events_add_pfm(struct opt_parser *p, struct opt_events *l, const char *events)
{
	char **more = reallocarray(l->texts, l->nr_texts + 1, sizeof(*more));

	if (!more)
		return opt_error(p, "out of memory");
	l->texts = more;
	more[l->nr_texts] = pfm_events_text(events);
	if (!more[l->nr_texts])
		return opt_error(p, "out of memory");
	return opt_events_add(p, l, more[l->nr_texts++]);
}

int opt_events_filter(struct opt_parser *p, struct opt_events *l, const char *filter)
{
	if (!l->n)
		return opt_error(p, "--filter belongs to the -e before it, and there is none");
	return opt_events_push(p, l, &(struct sonde_record_event){ .filter = filter });
}

int opt_events_cgroup(struct opt_parser *p, struct opt_events *l, const char *cgroups)
{
	if (!l->n)
		return opt_error(p, "-G belongs to the -e before it, and there is none");
	return opt_events_push(p, l, &(struct sonde_record_event){ .cgroup = cgroups });
}

int opt_events_trigger(struct opt_parser *p, struct opt_events *l, const char *trigger)
{
	if (!l->n)
		return opt_error(p, "--trigger belongs to the -e before it, and there is none");
	return opt_events_push(p, l, &(struct sonde_record_event){ .trigger = trigger });
}

void opt_events_done(struct opt_events *l)
{
	free(l->list);
	for (size_t i = 0; i < l->nr_texts; i++)
		free(l->texts[i]);
	free(l->texts);
	*l = (struct opt_events){ 0 };
}
