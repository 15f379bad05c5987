/* SPDX-License-Identifier: MIT */
/* Answers about the sample at hand, borrowed by a filter in a shared object. */
#ifndef SONDE_SESSION_DLFILTER_ANSWERS_H
#define SONDE_SESSION_DLFILTER_ANSWERS_H

#include "filters/dlfilter/dlfilter.h"
#include "model/event.h"

/* The answers given about the sample at hand; they live until the next one. */
struct dlfilter_answers {
	const struct event *ev;
	const struct dlf_sample *sample;
	bool has_ip, has_addr, has_insn;
	struct dlf_location ip, addr;
	uint8_t insn[16];
	uint32_t insn_len;
	VEC(uint64_t) chain; /* used if the recorded one has another form than a filter expects */
};

#endif
