/* SPDX-License-Identifier: MIT */
/*
 * The code at an address of an event's process, as of the event: source line, inlined functions,
 * bytes. For sinks; addr and cpumode as in sonde_event_locate(). Borrowed results live as
 * long as the session.
 */
#ifndef SONDE_CODE_H
#define SONDE_CODE_H

#include "model/event.h"
#include "symbols/insn.h"
#include "symbols/lines.h"

/*
 * Functions and source lines at an address, innermost first (symbols/lines.h); returns how many, 0
 * unknown. `called`: the address is one that a call returns to, so the place asked for is that of
 * the call.
 */
size_t recording_lines(const struct event *ev, uint64_t addr, uint32_t cpumode, bool called,
		       const struct line_place **ret);
/* A line of a source file: see lines_source(). */
bool recording_source_line(struct recording *rec, const char *file, uint32_t line, const char **ret,
			   size_t *ret_len);

struct code_insn {
	uint8_t bytes[INSN_MAX_BYTES];
	unsigned len; /* 0 unknown */
};
/* The instruction at an address; ret->len 0 when its bytes cannot be had or are no instruction. */
void recording_insn(const struct event *ev, uint64_t addr, uint32_t cpumode, struct code_insn *ret);
/*
 * Bytes of the instruction that code begins with, 0 none; whether it may go on elsewhere than
 * behind itself. addr: any address of the file that the code is from.
 */
unsigned recording_insn_length(const struct event *ev, uint64_t addr, uint32_t cpumode,
			       const uint8_t *code, size_t len);
bool recording_insn_branches(const struct event *ev, uint64_t addr, uint32_t cpumode,
			     const uint8_t *code, size_t len);
/* Bytes of code at an address: how many of len could be read. */
size_t recording_code_bytes(const struct event *ev, uint64_t addr, uint32_t cpumode, void *buf,
			    size_t len);

/*
 * The call chain as sonde_event_callchain() gives it, whether or not the session wants chains.
 * max-stack limits the recorded frames, and the unwound ones; functions inlined do not count.
 * Borrowed until the next call on the session. recording.chain_is_cut says whether it ended at a
 * limit, or could not be unwound to its end. <0: out of memory.
 */
int recording_chain(const struct event *ev, const struct sonde_frame **ret);
/*
 * The entries of the recorded chain, as source_callchain() gives them, if the frames follow from
 * them and from what is mapped. -1 if they do not: the stack is unwound, for instance.
 */
int recording_plain_chain(const struct event *ev, const uint8_t **ret);
/* Whether a chain is to end with the frame of a function of that name (stop-bt). */
bool recording_stops_chain(const struct recording *rec, const char *sym);

#endif
