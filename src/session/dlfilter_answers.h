/* SPDX-License-Identifier: MIT */
/* Answers about the current sample, borrowed by a filter in a shared object. */
#ifndef SONDE_SESSION_DLFILTER_ANSWERS_H
#define SONDE_SESSION_DLFILTER_ANSWERS_H

#include "filters/dlfilter/dlfilter.h"
#include "model/event.h"

/* Valid until the next sample. */
struct dlfilter_answers {
	const struct event *ev;
	const struct dlf_sample *sample;
	bool has_ip, has_addr, has_insn;
	struct dlf_location ip, addr;
	uint8_t insn[16];
	uint32_t insn_len;
	VEC(uint64_t) chain; /* used if the recorded chain has another form than filters expect */
};

#endif
