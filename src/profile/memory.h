/* SPDX-License-Identifier: MIT */
/* Memory accesses as keys: the place of the data, its cache line, and the words of data_src. */
#ifndef SONDE_PROFILE_MEMORY_H
#define SONDE_PROFILE_MEMORY_H

#include "model/event.h"
#include "profile/types.h"

/*
 * The number of a key about a memory access (types.h: RAW_DATA to RAW_BLOCKED) for a sample of that
 * ip.
 */
int memory_raw(struct profile *p, const struct event *ev, enum profile_raw raw,
	       const struct sonde_sample *s, uint64_t *ret);
/* Adds a cache line of another profile. place: the own number of its place. */
int memory_copy_line(struct profile *p, const struct profile_cache_line *line, uint32_t place,
		     uint64_t *ret);

int value_data_sym(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_cache_line(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_phys(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_mem_level(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_mem_snoop(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_mem_tlb(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_mem_lock(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_mem_blocked(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);

extern const struct value_order order_cache_line, order_mem_word;

#endif
