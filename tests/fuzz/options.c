/* SPDX-License-Identifier: MIT */
/*
 * Values of options with grammars of their own. The input is
 *
 *	u8 kind | u8 variant | text
 *
 *	kind	0 -F of script: writes the text of a recording that has all parts of samples
 *		1 --time
 *		2 lists of cpus, pids, names, --itrace: writes the text, too
 *		3 -F, -c, -j, --call-graph, -k, registers of record; variant 128 and above: the
 *		  settings of a count; 192 and above: of counts in a file
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asking.h"
#include "base/err.h"
#include "filters/time_window.h"
#include "formats/perfdata/layout.h"
#include "capture/setup/sampling.h"
#include "sonde/sonde.h"
#include "stat/options.h"
#include "stat/read_options.h"

enum { SAMPLES = 3 };

/* ---- a small recording, in pipe mode --------------------------------------------------------- */

/* IP TID TIME ADDR ID CPU PERIOD, a call chain of two, weight, data source. */
struct small {
	uint64_t header[2];
	struct {
		struct perfdata_record_header h;
		struct perf_event_attr attr;
		uint64_t id;
	} attr;
	struct {
		struct perfdata_record_header h;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time, addr, id;
		uint32_t cpu, reserved;
		uint64_t period, frames, chain[2], weight, data_src;
	} samples[SAMPLES];
};

static const char *small_recording(void)
{
	static struct fuzz_file file;
	struct small r = { .header = { PERFDATA_MAGIC, PERFDATA_PIPE_HEADER_BYTES } };

	if (*file.path)
		return file.path;
	r.attr.h = (struct perfdata_record_header){ RECORD_HEADER_ATTR, 0, sizeof(r.attr) };
	r.attr.attr = (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(r.attr.attr),
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT |
			       PERF_SAMPLE_DATA_SRC,
		.sample_id_all = 1,
	};
	r.attr.id = 7;
	for (unsigned i = 0; i < SAMPLES; i++) {
		r.samples[i].h =
			(struct perfdata_record_header){ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
							 sizeof(r.samples[i]) };
		r.samples[i].ip = r.samples[i].chain[0] = 0x401000 + i;
		r.samples[i].chain[1] = 0x402000;
		r.samples[i].pid = r.samples[i].tid = 100 + i;
		r.samples[i].time = 1000000000u * (i + 1);
		r.samples[i].addr = 0x7f0000001000;
		r.samples[i].id = 7;
		r.samples[i].cpu = i;
		r.samples[i].period = r.samples[i].frames = 2;
		r.samples[i].data_src = 0x68100142;
	}
	return fuzz_file_put(&file, &r, sizeof(r)) < 0 ? NULL : file.path;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* Reads and writes the recording with key=text. If the text is refused, there must be a message. */
static void ask_session(const char *key, const char *text, uint8_t variant)
{
	static const char *const compat[] = { "none", "perf-6.1", "perf-6.12", "none" };
	static int nowhere = -1;
	struct sonde_session *s;
	char *keys = NULL;

	if (nowhere < 0)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (strchr(text, '\n') ||
	    asprintf(&keys,
		     "input=%s\nforce=1\nkallsyms=/dev/null\nbuildid-dir=/nonexistent\n"
		     "symfs=/nonexistent\nwindow=4096\ncompat=%s\nreltime=%d\n%s=%s\n",
		     small_recording(), compat[variant & 3], variant >> 2 & 1, key, text) < 0)
		return;
	if (sonde_session_open(&s, keys, "fuzz") >= 0) {
		sonde_session_write(s, nowhere);
		sonde_session_close(s);
	} else if (!*sonde_error_text()) {
		abort();
	}
	free(keys);
}

/* Each window is inside the bounds. */
static void ask_time(const char *text, uint8_t variant)
{
	const struct time_span span = {
		.first_ns = UINT64_C(1) << (variant >> 2),
		.last_ns = UINT64_C(3) << (variant >> 2),
		.wall_ns = INT64_C(1700000000000000000),
		.is_utc = variant >> 6,
	};
	const struct rules *rules =
		rules_of(variant & 1 ? SONDE_COMPAT_PERF_6_1 : SONDE_COMPAT_NONE);
	struct time_windows w;

	time_windows_need_span(text, variant & 2);
	time_windows_need_wall(text);
	if (time_windows_parse(text, &span, variant & 2, rules, &w) < 0) {
		if (!*err_text())
			abort();
		return;
	}
	for (size_t i = 0; w.list && i < w.nr; i++) {
		if (w.list[i].from_ns < w.bounds.from_ns || w.list[i].to_ns > w.bounds.to_ns)
			abort();
	}
	time_windows_hold(&w, span.first_ns);
	time_windows_hold(&w, span.last_ns);
	time_windows_shift(&w, -INT64_C(1000));
	time_windows_done(&w);
}

/* -F of record and its neighbours. */
static void ask_record(char *text, uint8_t variant)
{
	static const struct say nobody;
	struct capture_options o = { 0 };
	struct sampling s;
	char **const members[] = { &o.freq,    &o.count,     &o.branch_filter, &o.call_graph,
				   &o.clockid, &o.intr_regs, &o.user_regs };

	*members[variant % (sizeof(members) / sizeof(members[0]))] = text;
	if (sampling_parse(&s, &o, &nobody) < 0 && !*err_text())
		abort();
}

static void ask_stat(const char *text)
{
	struct stat_options o;

	if (stat_options_parse(&o, text) >= 0)
		stat_options_done(&o);
	else if (!*err_text())
		abort();
}

static void ask_stat_file(const char *text)
{
	struct stat_read_options o;

	if (stat_read_options_parse(&o, text) < 0 && !*err_text())
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lists[] = {
		"cpu",   "pid",    "tid",    "comm",    "symbols",
		"dsos",  "itrace", "evlist", "stop-bt", "graph-function",
		"clock", "offset", "event"
	};
	char *text;

	if (size < 2 || !small_recording())
		return 0;
	text = fuzz_text(data + 2, size - 2);
	if (data[0] % 4 == 0)
		ask_session("fields", text, data[1]);
	else if (data[0] % 4 == 1 && data[1] & 0x80)
		ask_session("time", text, data[1]);
	else if (data[0] % 4 == 1)
		ask_time(text, data[1] & 0x7f);
	else if (data[0] % 4 == 2)
		ask_session(lists[data[1] / 8 % (sizeof(lists) / sizeof(lists[0]))], text, data[1]);
	else if (data[1] >= 192)
		ask_stat_file(text);
	else if (data[1] & 0x80)
		ask_stat(text);
	else
		ask_record(text, data[1]);
	free(text);
	return 0;
}
