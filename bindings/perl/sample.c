/* SPDX-License-Identifier: MIT */
/*
 * The strings that process_event() gets besides the record and its payload, for unpack(). They have
 * the layout of perf 6.1's memory. The layout of the second string is not a file format, but there
 * are scripts that unpack it.
 */
#include "plsonde.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

/*
 * perf 6.1's sizes. After the last member declared here perf's struct has pointers and branch
 * copies.
 */
enum { PERF_SAMPLE_BYTES = 1368, PERF_ATTR_BYTES = 128 };

struct packed_sample {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time, addr, id, stream_id, period, weight, transaction, insn_cnt, cyc_cnt;
	uint32_t cpu, raw_size;
	uint64_t data_src, phys_addr, data_page_size, code_page_size;
};
_Static_assert(offsetof(struct packed_sample, cpu) == 88 &&
		       offsetof(struct packed_sample, code_page_size) == 120,
	       "the layout that scripts unpack");

static void sample_swap_bytes(char *bytes, size_t nr, size_t width)
{
	for (size_t i = 0; i + width <= nr; i += width)
		for (size_t k = 0; k < width / 2; k++) {
			const char c = bytes[i + k];

			bytes[i + k] = bytes[i + width - 1 - k];
			bytes[i + width - 1 - k] = c;
		}
}

/*
 * Sets the record as perf has it in memory. For a recording in the other byte order perf swaps the
 * header and the numbers of 8 bytes but not the payload. This also exchanges pairs of 4 bytes.
 */
void sample_set_record(pTHX_ SV *sv, const struct sonde_event *ev)
{
	enum { HEADER = 8 };
	size_t numbers = ev->record_len;
	char *bytes;

	sv_setpvn(sv, (const char *)ev->record, ev->record_len);
	if (!(ev->flags & SONDE_EVENT_SWAPPED) || ev->record_len < HEADER)
		return;
	if (ev->bytes_len && ev->bytes > ev->record && ev->bytes < ev->record + ev->record_len)
		numbers = (size_t)(ev->bytes - ev->record);
	bytes = SvPV_nolen(sv);
	sample_swap_bytes(bytes, 4, 4);
	sample_swap_bytes(bytes + 4, 4, 2);
	sample_swap_bytes(bytes + HEADER, numbers - HEADER, 8);
}

void sample_set_attr(pTHX_ SV *sv, const struct sonde_schema *sc)
{
	char attr[PERF_ATTR_BYTES] = { 0 };
	size_t len = 0;
	const void *bytes = sonde_schema_attr(sc, &len);

	if (bytes)
		memcpy(attr, bytes, len < sizeof(attr) ? len : sizeof(attr));
	sv_setpvn(sv, attr, bytes ? sizeof(attr) : 0);
}

void sample_set_sample(pTHX_ SV *sv, const struct sonde_event *ev)
{
	struct sonde_sample s = { .size = sizeof(s) };
	char bytes[PERF_SAMPLE_BYTES] = { 0 };
	struct packed_sample p;

	if (sonde_event_sample(ev, &s) < 0)
		s = (struct sonde_sample){ 0 };
	p = (struct packed_sample){
		.ip = s.ip,
		.pid = (uint32_t)ev->pid,
		.tid = (uint32_t)ev->tid,
		.time = ev->time_ns,
		.addr = s.addr,
		.id = s.present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? s.id : UINT64_MAX,
		.stream_id = s.present & PERF_SAMPLE_STREAM_ID ? s.stream_id : UINT64_MAX,
		.period = s.period,
		/* if the value packs three numbers, the latency, as perf extracts it on x86 */
		.weight = s.present & PERF_SAMPLE_WEIGHT_STRUCT ? (uint32_t)s.weight : s.weight,
		.transaction = s.transaction,
		.cpu = (uint32_t)ev->cpu,
		.raw_size = (uint32_t)s.raw_len,
		.data_src = s.present & PERF_SAMPLE_DATA_SRC ? s.data_src : PRELUDE_NO_DATA_SRC,
		.phys_addr = s.phys_addr,
		.data_page_size = s.data_page_size,
		.code_page_size = s.code_page_size,
	};
	memcpy(bytes, &p, sizeof(p));
	sv_setpvn(sv, bytes, sizeof(bytes));
}
