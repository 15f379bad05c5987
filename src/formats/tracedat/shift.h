/* SPDX-License-Identifier: MIT */
/*
 * Times of a guest become times of its host: at some moments the recorder measured the distance of
 * both clocks, for each cpu of the guest.
 */
#ifndef SONDE_FORMATS_TRACEDAT_SHIFT_H
#define SONDE_FORMATS_TRACEDAT_SHIFT_H

#include "base/arena.h"
#include "base/bytes.h"

struct tracedat_moment {
	uint64_t time; /* of the guest */
	int64_t offset;
	int64_t scaling; /* a factor, after which fraction bits are dropped */
	uint32_t fraction;
};

/* A cpu of the guest. */
struct tracedat_shift {
	struct tracedat_moment *moments; /* ascending */
	uint32_t nr;
	bool interpolates;
};

struct tracedat_shifts {
	uint64_t peer; /* id of the host's recording */
	struct tracedat_shift *cpus;
	uint32_t nr_cpus;
};

/* Reads the option TRACEDAT_TIME_SHIFT to memory of the arena. */
int tracedat_shifts_read(struct bytes *b, struct arena *a, struct tracedat_shifts *ret);
uint64_t tracedat_shift_time(const struct tracedat_shift *shift, uint64_t time);

#endif
