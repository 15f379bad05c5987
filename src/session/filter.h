/* SPDX-License-Identifier: MIT */
/* Conditions that a caller asks about single events: sonde_filter_new() and others in sonde.h. */
#ifndef SONDE_SESSION_FILTER_H
#define SONDE_SESSION_FILTER_H

#include "session/session.h"

int session_filter_new(struct sonde_filter **ret, struct sonde_session *s, const char *text);
int session_filter_matches(struct sonde_filter *f, const struct sonde_event *ev, bool is_named);
const char *session_filter_field(const struct sonde_filter *f, size_t i);
void session_filter_free(struct sonde_filter *f);

#endif
