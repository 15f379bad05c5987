/* SPDX-License-Identifier: MIT */
/*
 * The code at an address of an event's process, as of the event: source line, inlined functions,
 * bytes. For sinks. addr and cpumode have the same meaning as in sonde_event_locate(). Borrowed
 * results live as long as the session.
 */
#ifndef SONDE_CODE_H
#define SONDE_CODE_H

#include "model/event.h"
#include "symbols/insn.h"
#include "symbols/lines.h"

/*
 * Finds the functions and source lines at an address, innermost first (symbols/lines.h). Returns
 * their number; 0 if unknown. `called`: addr is a return address, and the place of the call is
 * wanted.
 */
size_t recording_lines(const struct event *ev, uint64_t addr, uint32_t cpumode, bool called,
		       const struct line_place **ret);
/* A line of a source file: see lines_source(). */
bool recording_source_line(struct recording *rec, const char *file, uint32_t line, const char **ret,
			   size_t *ret_len);

struct code_insn {
	uint8_t bytes[INSN_MAX_BYTES];
	unsigned len; /* 0 if unknown */
};
/* The instruction at an address; ret->len is 0 if its bytes are unavailable or no instruction. */
void recording_insn(const struct event *ev, uint64_t addr, uint32_t cpumode, struct code_insn *ret);
/*
 * The length in bytes of the first instruction in code; 0 if there is none. addr: any address in
 * the file that contains the code.
 */
unsigned recording_insn_length(const struct event *ev, uint64_t addr, uint32_t cpumode,
			       const uint8_t *code, size_t len);
/* True if the first instruction may continue elsewhere than at the next one. */
bool recording_insn_branches(const struct event *ev, uint64_t addr, uint32_t cpumode,
			     const uint8_t *code, size_t len);
/* Reads up to len bytes of code at an address. Returns the number of bytes read. */
size_t recording_code_bytes(const struct event *ev, uint64_t addr, uint32_t cpumode, void *buf,
			    size_t len);

/*
 * The same call chain as from sonde_event_callchain(), even if the session does not want chains.
 * max-stack limits the recorded frames and the unwound frames separately; inlined functions do not
 * count. Borrowed until the next call on the session. recording.chain_is_cut is set if the chain
 * ended at a limit or was not unwound to its end. Returns <0 if memory ran out.
 */
int recording_chain(const struct event *ev, const struct sonde_frame **ret);
/*
 * The same for call graphs that begin at the outermost caller (from_caller): perf's rule
 * limits_callees depends on it.
 */
int recording_chain_as(const struct event *ev, bool from_caller, const struct sonde_frame **ret);
/*
 * The entries of the recorded chain in the form of source_callchain(), if the entries and the
 * mappings alone determine the frames. Otherwise -1, for example if the stack is unwound.
 */
int recording_plain_chain(const struct event *ev, const uint8_t **ret);
/* True if a chain of nr frames has reached a limit of the recorder or of the session. */
bool recording_chain_is_full(const struct event *ev, unsigned nr);
/* True if a chain must end with the frame of a function named sym (stop-bt). */
bool recording_stops_chain(const struct recording *rec, const char *sym);

#endif
