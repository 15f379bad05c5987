/* SPDX-License-Identifier: MIT */
/* Prints the text of an event. */
#ifndef SONDE_RECORDING_TEXT_H
#define SONDE_RECORDING_TEXT_H

#include "base/outbuf.h"
#include "model/event.h"

/*
 * Uses the schema's print format, else its put_text, else name=value pairs. A tracepoint whose
 * fields are unknown is printed as hex bytes. A tracepoint without payload has no text, unless the
 * schema has put_text.
 */
void recording_event_text(const struct event *ev, struct outbuf *out);
/* Writes perf's text of a tracepoint's field; f is NULL: " name=value" for all of them. */
void recording_event_fields(const struct event *ev, const struct sonde_field *f,
			    struct outbuf *out);

/* The string at an address of the recorded kernel, from printk_formats; NULL if unknown. */
const char *recording_printk(struct recording *rec, uint64_t addr);

#endif
