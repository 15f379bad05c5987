/* SPDX-License-Identifier: MIT */
/* Building of records, for the files that implement synth.h. */
#ifndef SONDE_CAPTURE_RUNNING_SYNTH_INTERNAL_H
#define SONDE_CAPTURE_RUNNING_SYNTH_INTERNAL_H

#include "capture/running/synth.h"

/*
 * Begins a record with its header. synth_end() pads it to 8, appends the trailer and sets its size.
 */
size_t synth_begin(struct synth *s, uint32_t type, uint16_t misc);
void synth_end(struct synth *s, size_t at);
void synth_put_u16(struct synth *s, uint16_t v);
void synth_put_u32(struct synth *s, uint32_t v);
void synth_put_u64(struct synth *s, uint64_t v);
/* u8 bytes, u8, u16, id[20]: replaces MMAP2's u32 major, minor, u64 inode, generation */
void synth_put_build_id(struct synth *s, const struct build_id *id);

#endif
