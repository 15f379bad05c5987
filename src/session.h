/* SPDX-License-Identifier: MIT */
/* What the files that implement sonde.h know of a session; sinks may use the functions below. */
#ifndef SONDE_SESSION_H
#define SONDE_SESSION_H

#include "model/defects.h"
#include "model/event.h"
#include "model/printfmt/printfmt.h"

/* The recording's perf_event_attr sample_type of a schema's event, and whether any tracepoint has call chains, are asked
 * through the schema's attr (sonde_schema_attr). */

/* Surroundings for print formats: kernel symbols, printk texts, the division defect. */
const struct printfmt_env *session_printfmt_env(struct sonde_session *s);
/* Writes the event's print-format text; raw bytes as hex when it has no format. */
void session_event_text(const struct event *ev, struct outbuf *out);
/* Kernel symbol at addr, NULL unknown; *ret_off = distance from its start. Lent as long as the session. */
const char *session_kernel_symbol(struct sonde_session *s, uint64_t addr, uint64_t *ret_off);

#endif
