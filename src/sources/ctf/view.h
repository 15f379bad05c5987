/* SPDX-License-Identifier: MIT */
/* What only CTF traces have: the fields of an event in their scopes, as the metadata state them. */
#ifndef SONDE_SOURCES_CTF_VIEW_H
#define SONDE_SOURCES_CTF_VIEW_H

#include "base/outbuf.h"
#include "model/event.h"

struct source;

/* NULL if the source is no CTF trace. */
struct ctf_source *ctf_view_of(struct source *s);
/* Names of the host, the process and its id in env; NULL and -1 if the trace has none. */
struct ctf_view_env {
	const char *hostname, *procname;
	int64_t vpid;
};
void ctf_view_env(const struct ctf_source *s, struct ctf_view_env *ret);
/* The recorded name of the event; NULL if it is not of the trace (a record of losses). */
const char *ctf_view_name(const struct ctf_source *s, const struct event *ev);
/* A number of the event's class in its trace, below ctf_view_classes(). */
static inline uint32_t ctf_view_class(const struct event *ev)
{
	return ev->attr;
}
uint32_t ctf_view_classes(const struct ctf_source *s);
/* The file and offset of the event's packet: its context is the same for all events in it. */
void ctf_view_packet(const struct ctf_source *s, const struct event *ev, uint64_t *ret_file,
		     uint64_t *ret_off);
/*
 * Writes the packet's context, or the event's contexts and fields, as babeltrace2 does. Scopes with
 * fields are separated by ", "; *has_any is set when one is written. <0 if the bytes do not fit.
 */
int ctf_view_put_packet(struct ctf_source *s, const struct event *ev, bool *has_any,
			struct outbuf *out);
int ctf_view_put_fields(struct ctf_source *s, const struct event *ev, bool *has_any,
			struct outbuf *out);

#endif
