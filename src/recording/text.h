/* SPDX-License-Identifier: MIT */
/* The text of an event: its print format run over its fields. */
#ifndef SONDE_RECORDING_TEXT_H
#define SONDE_RECORDING_TEXT_H

#include "base/outbuf.h"
#include "model/event.h"

/* By its print format; raw bytes as hex when its format is unknown; nothing without payload. */
void recording_event_text(const struct event *ev, struct outbuf *out);

#endif
