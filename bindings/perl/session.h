/* SPDX-License-Identifier: MIT */
/* The objects of Sonde and Sonde::Event, for the files that read events. */
#ifndef SONDE_PERL_SESSION_H
#define SONDE_PERL_SESSION_H

#include "plsonde.h"

struct session {
	struct sonde_session *s; /* NULL before it is first needed, and once it is closed */
	char *text;              /* owned: its text form; NULL once it is closed */
	bool is_read_once;       /* a pipe, or what happens now */
	SV *live;                /* owned: the Sonde::Live that it reads; NULL if there is none */
	struct event *borrowed;  /* the event whose bytes are the library's; NULL if none */
	/* In program.c: events that were read but not yet counted. */
	const struct sonde_event *const *batch;
	size_t at, nr_batch;
	uint64_t first_ns, last_ns; /* of the events that were counted; SONDE_NO_TIME if none */
};

struct event {
	SV *session; /* the session's object, owned */
	struct session *of;
	const struct sonde_event *ev; /* borrowed from the library, or equal to own */
	struct sonde_event *own;
};

/* These die if the object is none, or if its session is closed. method: for the message. */
struct session *session_of(pTHX_ SV *sv, const char *method);
struct event *session_event_of(pTHX_ SV *sv, const char *method);
/* Before the session reads on: an event that still exists gets its own copy. */
void session_keep_lent(pTHX_ struct session *s);
/* A new object for the event that was read last. session: the object of s. */
SV *session_lend(pTHX_ SV *session, struct session *s, const struct sonde_event *ev);
SV *session_field_value(pTHX_ const struct event *e, const struct sonde_field *f);

/* counts.c: adds events to each Sonde::Counts of an array; counts is a reference to it. */
void counts_add(pTHX_ SV *counts, struct session *s, const struct sonde_event *const *events,
		size_t nr);

#endif
