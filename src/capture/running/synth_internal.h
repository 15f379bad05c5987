/* SPDX-License-Identifier: MIT */
/* How records are put together, for the files of synth.h. */
#ifndef SONDE_CAPTURE_RUNNING_SYNTH_INTERNAL_H
#define SONDE_CAPTURE_RUNNING_SYNTH_INTERNAL_H

#include "capture/running/synth.h"

/* A record is begun with its header, filled, and ended: padded to 8, with the trailer, its size patched in. */
size_t synth_begin(struct synth *s, uint32_t type, uint16_t misc);
void synth_end(struct synth *s, size_t at);
void synth_put_u16(struct synth *s, uint16_t v);
void synth_put_u32(struct synth *s, uint32_t v);
void synth_put_u64(struct synth *s, uint64_t v);
/* u8 bytes, u8, u16, id[20]: in MMAP2 in the place of u32 major, minor, u64 inode, generation */
void synth_put_build_id(struct synth *s, const struct build_id *id);

#endif
