/* SPDX-License-Identifier: MIT */
/*
 * perf's binary interface of filters in shared objects, as facts: names and layouts. A filter
 * exports any of
 *
 *	int start(void **data, void *ctx), stop(void *data, void *ctx)
 *	int filter_event_early(void *data, const struct dlf_sample *, void *ctx), filter_event(...)
 *	struct dlf_fns perf_dlfilter_fns         filled before start()
 *	const char *filter_description(const char **long_description)
 *
 * A filter returns 0 for an event to keep, 1 for one to leave out, a negative number to end the
 * run.
 */
#ifndef SONDE_FILTERS_DLFILTER_ABI_H
#define SONDE_FILTERS_DLFILTER_ABI_H

#include <stddef.h>
#include <stdint.h>

/* A sample. Absent values are 0, except ids, time, cpu, pid and tid, which are -1. */
struct dlf_sample {
	uint32_t size; /* of this struct */
	uint16_t ins_lat, p_stage_cyc;
	uint64_t ip;
	int32_t pid, tid;
	uint64_t time_ns, addr, id, stream_id, period, weight, transaction;
	uint64_t insn_cnt, cyc_cnt;
	int32_t cpu;
	uint32_t flags;
	uint64_t data_src, phys_addr, data_page_size, code_page_size, cgroup;
	uint8_t cpumode;
	uint8_t addr_correlates_sym; /* resolve_addr() has a result */
	uint16_t misc;               /* from the record's header */
	uint32_t raw_size;
	const void *raw_data;
	uint64_t brstack_nr;
	const void *brstack; /* struct perf_branch_entry */
	uint64_t raw_callchain_nr;
	const uint64_t *raw_callchain; /* includes its markers */
	const char *event;
	int32_t machine_pid, vcpu;
};
_Static_assert(sizeof(struct dlf_sample) == 208, "perf's layout");
_Static_assert(offsetof(struct dlf_sample, data_src) == 104, "perf's layout");

enum { DLF_BUILD_ID_BYTES = 20 }; /* the longest build id that a filter gets */

/* The place of an address. */
struct dlf_location {
	uint32_t size; /* of this struct; for resolve_address(): the size of the caller's struct */
	uint32_t symoff;
	const char *sym;
	uint64_t addr; /* in the file */
	uint64_t sym_start, sym_end;
	const char *dso;
	uint8_t sym_binding;
	uint8_t is_64_bit;
	uint8_t is_kernel_ip;
	uint32_t buildid_size;
	uint8_t *buildid;
	/* only for resolve_ip() */
	uint8_t filtered; /* other filters of the session drop the sample */
	const char *comm;
	void *priv; /* since perf 6.12 */
};
_Static_assert(sizeof(struct dlf_location) == 88, "perf's layout");
#define DLF_LOCATION_BYTES_BEFORE_PRIV offsetof(struct dlf_location, priv)

/* The functions that a filter may call, with the ctx that was passed to it. */
struct dlf_fns {
	const struct dlf_location *(*resolve_ip)(void *ctx);
	const struct dlf_location *(*resolve_addr)(void *ctx);
	char **(*args)(void *ctx, int *ret_nr);
	int32_t (*resolve_address)(void *ctx, uint64_t addr, struct dlf_location *ret);
	const uint8_t *(*insn)(void *ctx, uint32_t *ret_len);
	const char *(*srcline)(void *ctx, uint32_t *ret_line);
	void *(*attr)(void *ctx); /* struct perf_event_attr */
	int32_t (*object_code)(void *ctx, uint64_t addr, void *buf, uint32_t len);
	void (*al_cleanup)(void *ctx, struct dlf_location *); /* since perf 6.12, otherwise NULL */
	void *(*reserved[119])(void *);
};
_Static_assert(sizeof(struct dlf_fns) == 128 * sizeof(void *), "perf's layout");

#endif
