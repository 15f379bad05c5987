/* SPDX-License-Identifier: MIT */
/* Filters in shared objects, as stages of a session: what they are given and what they may ask. */
#ifndef SONDE_DLFILTER_H
#define SONDE_DLFILTER_H

#include "filters/dlfilter/dlfilter.h"
#include "model/event.h"

struct sink;

/* The answers given about the sample at hand; they live until the next one. */
struct dlfilter_answers {
	const struct event *ev;
	const struct dlf_sample *sample;
	bool has_ip, has_addr, has_insn;
	struct dlf_location ip, addr;
	uint8_t insn[16];
	uint32_t insn_len;
	VEC(uint64_t) chain; /* when it does not lie as a filter wants it */
};

/* Loads what the session's options name. */
int session_dlfilters_load(struct sonde_session *s);
/* 1: the filters keep the sample, 0: one leaves it out, <0: one ended the run. */
int session_dlfilters_ask(struct sonde_session *s, const struct event *ev, bool early);
/* Text goes to this sink from now on: what filters write to stdout is kept in order with it. NULL: no more. */
void session_dlfilters_text(struct sonde_session *s, struct sink *sink);
void session_dlfilters_done(struct sonde_session *s);

#endif
