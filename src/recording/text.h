/* SPDX-License-Identifier: MIT */
/* The text of an event. */
#ifndef SONDE_RECORDING_TEXT_H
#define SONDE_RECORDING_TEXT_H

#include "base/outbuf.h"
#include "model/event.h"

/*
 * By the schema's print format or put_text; name=value pairs if it has neither; the bytes as hex if
 * its fields are not known; nothing without payload, unless put_text writes something.
 */
void recording_event_text(const struct event *ev, struct outbuf *out);

#endif
