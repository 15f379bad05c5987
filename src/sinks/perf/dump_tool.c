/* SPDX-License-Identifier: MIT */
/* The text of the recorder's records in a dump. */
#include <inttypes.h>
#include <linux/perf_event.h>

#include "base/bytes.h"
#include "formats/perfdata/cpu_map.h"
#include "formats/perfdata/layout.h"
#include "recording/recording.h"
#include "sinks/perf/counts.h"
#include "sinks/perf/dump.h"
#include "sources/perfdata/view.h"

enum { HEADER_BYTES = 8 };

static void dump_tool_put_0x(struct outbuf *out, const char *before, uint64_t v)
{
	outbuf_fmt(out, v ? "%s0x%" PRIx64 : "%s%" PRIx64, before, v);
}

static int dump_tool_put_id_index(struct bytes *b, struct outbuf *out)
{
	uint64_t nr = 0, entry[4] = { 0 };

	TRY(bytes_u64(b, "number of ids", &nr));
	if (nr > bytes_left(b) / sizeof(entry))
		return bytes_fail(b, -EBADMSG, "%" PRIu64 " ids do not fit", nr);
	outbuf_fmt(out, " nr: %" PRIu64 "\n", nr);
	for (uint64_t i = 0; i < nr; i++) {
		for (int k = 0; k < 4; k++)
			TRY(bytes_u64(b, "id", &entry[k]));
		outbuf_fmt(out,
			   " ... id: %" PRId64 "  idx: %" PRId64 "  cpu: %" PRId64 "  tid: %" PRId64
			   "\n",
			   (int64_t)entry[0], (int64_t)entry[1], (int64_t)entry[2],
			   (int64_t)entry[3]);
	}
	return 0;
}

static int dump_tool_put_thread_map(struct bytes *b, struct outbuf *out)
{
	uint64_t nr = 0, tid = 0;

	TRY(bytes_u64(b, "number of threads", &nr));
	if (nr > bytes_left(b) / 24)
		return bytes_fail(b, -EBADMSG, "%" PRIu64 " threads do not fit", nr);
	outbuf_fmt(out, " nr: %" PRIu64 " %s", nr, nr > 1 ? "threads: " : "thread: ");
	for (uint64_t i = 0; i < nr; i++) {
		TRY(bytes_u64(b, "tid", &tid));
		TRY(bytes_skip(b, "comm", 16));
		outbuf_fmt(out, "%s%d", i ? ", " : "", (int)tid);
	}
	outbuf_char(out, '\n');
	return 0;
}

/* ---- sets of cpus ---------------------------------------------------------------------------- */

/* Makes "0,2-3" from cpus in ascending order. */
struct cpu_text {
	struct outbuf *out;
	int64_t first, last; /* the range that may still grow; -2 if none */
	bool begun;
};

static void dump_tool_end_range(struct cpu_text *t)
{
	if (t->first == -2)
		return;
	outbuf_fmt(t->out, "%s%d", t->begun ? "," : "", (int)t->first);
	if (t->last > t->first)
		outbuf_fmt(t->out, "-%d", (int)t->last);
	t->begun = true;
	t->first = -2;
}

static int dump_tool_add_cpu(void *ctx, int64_t cpu)
{
	struct cpu_text *t = ctx;

	if (t->first != -2 && cpu == t->last + 1) {
		t->last = cpu;
		return 0;
	}
	dump_tool_end_range(t);
	t->first = t->last = cpu;
	return 0;
}

static int dump_tool_put_cpus(struct bytes *b, struct outbuf *out)
{
	struct cpu_text t = { .out = out, .first = -2 };

	TRY(perfdata_cpus_read(b, dump_tool_add_cpu, &t));
	dump_tool_end_range(&t);
	outbuf_char(out, '\n');
	return 0;
}

/* ---- others ---------------------------------------------------------------------------------- */

static int dump_tool_put_event_update(struct bytes *b, struct outbuf *out)
{
	enum { UNIT, SCALE, NAME, CPUS };
	uint64_t what = 0, id = 0, bits = 0;
	size_t len;
	double scale;

	TRY(bytes_u64(b, "kind", &what));
	TRY(bytes_u64(b, "id", &id));
	outbuf_fmt(out, "\n... id:    %" PRIu64 "\n", id);
	len = strnlen((const char *)b->pos, bytes_left(b));
	switch (what) {
	case UNIT:
		outbuf_fmt(out, "... unit:  %.*s\n", (int)len, (const char *)b->pos);
		return 0;
	case NAME:
		outbuf_fmt(out, "... name:  %.*s\n", (int)len, (const char *)b->pos);
		return 0;
	case SCALE:
		TRY(bytes_u64(b, "scale", &bits));
		memcpy(&scale, &bits, sizeof(scale));
		outbuf_fmt(out, "... scale: %f\n", scale);
		return 0;
	case CPUS:
		outbuf_str(out, "... ");
		return dump_tool_put_cpus(b, out);
	default:
		outbuf_str(out, "... unknown type\n");
		return 0;
	}
}

static int dump_tool_put_time_conv(const struct event *ev, struct bytes *b, struct outbuf *out)
{
	uint64_t shift = 0, mult = 0, zero = 0, cycles = 0, mask = 0;
	uint8_t cap_zero = 0, cap_short = 0;

	TRY(bytes_u64(b, "shift", &shift));
	TRY(bytes_u64(b, "multiplier", &mult));
	TRY(bytes_u64(b, "zero", &zero));
	/* The misspelling is perf's. */
	outbuf_fmt(out,
		   "\n... Time Shift      %" PRIu64 "\n... Time Muliplier  %" PRIu64
		   "\n... Time Zero       %" PRIu64 "\n",
		   shift, mult, zero);
	if (ev->pub.record_len >= 56) {
		TRY(bytes_u64(b, "cycles", &cycles));
		TRY(bytes_u64(b, "mask", &mask));
		TRY(bytes_u8(b, "cap", &cap_zero));
		TRY(bytes_u8(b, "cap", &cap_short));
		outbuf_fmt(out, "... Time Cycles     %" PRIu64 "\n", cycles);
		dump_tool_put_0x(out, "... Time Mask       ", mask);
		outbuf_fmt(out, "\n... Cap Time Zero   %d\n... Cap Time Short  %d\n", cap_zero,
			   cap_short);
	}
	outbuf_str(out, ": unhandled!\n");
	return 0;
}

static int dump_tool_put_auxtrace(struct bytes *b, struct outbuf *out)
{
	uint64_t size = 0, off = 0, reference = 0;
	uint32_t idx = 0, tid = 0, cpu = 0;

	TRY(bytes_u64(b, "size", &size));
	TRY(bytes_u64(b, "offset", &off));
	TRY(bytes_u64(b, "reference", &reference));
	TRY(bytes_u32(b, "idx", &idx));
	TRY(bytes_u32(b, "tid", &tid));
	TRY(bytes_u32(b, "cpu", &cpu));
	dump_tool_put_0x(out, " size: ", size);
	dump_tool_put_0x(out, "  offset: ", off);
	dump_tool_put_0x(out, "  ref: ", reference);
	outbuf_fmt(out, "  idx: %u  tid: %d  cpu: %d\n", idx, (int)tid, (int)cpu);
	return 0;
}

static int dump_tool_put_auxtrace_error(struct bytes *b, struct outbuf *out)
{
	uint32_t type = 0, code = 0, cpu = 0, pid = 0, tid = 0, fmt = 0, machine_pid = 0, vcpu = 0;
	uint64_t ip = 0, time_ns = 0;
	const uint8_t *message = NULL;
	size_t room;

	TRY(bytes_u32(b, "type", &type));
	TRY(bytes_u32(b, "code", &code));
	TRY(bytes_u32(b, "cpu", &cpu));
	TRY(bytes_u32(b, "pid", &pid));
	TRY(bytes_u32(b, "tid", &tid));
	TRY(bytes_u32(b, "format", &fmt));
	TRY(bytes_u64(b, "ip", &ip));
	if (fmt)
		TRY(bytes_u64(b, "time", &time_ns));
	room = bytes_left(b) < 64 ? bytes_left(b) : 64;
	TRY(bytes_take(b, "message", room, &message));
	if (fmt >= 2 && bytes_left(b) >= 8) {
		TRY(bytes_u32(b, "machine pid", &machine_pid));
		TRY(bytes_u32(b, "vcpu", &vcpu));
	}
	outbuf_fmt(out, " %s error type %u", type == 1 ? "instruction trace" : "unknown", type);
	if (time_ns)
		outbuf_fmt(out, " time %" PRIu64 ".%09" PRIu64, time_ns / 1000000000,
			   time_ns % 1000000000);
	else
		outbuf_str(out, " time 0");
	if (machine_pid)
		outbuf_fmt(out, " machine_pid %d vcpu %d", (int)machine_pid, (int)vcpu);
	outbuf_fmt(out, " cpu %d pid %d tid %d", (int)cpu, (int)pid, (int)tid);
	dump_tool_put_0x(out, " ip ", ip);
	outbuf_fmt(out, " code %u: %.*s\n", code, (int)strnlen((const char *)message, room),
		   (const char *)message);
	return 0;
}

bool perf_dump_tool_put(const struct event *ev, const struct perfdata_view_record *rec,
			struct outbuf *out)
{
	struct bytes b =
		bytes_init(ev->pub.record, ev->pub.record_len, ev->pub.file_off, "", rec->swap);
	uint32_t type = 0;
	int r = 0;

	b.pos += HEADER_BYTES;
	switch (rec->type) {
	case RECORD_ID_INDEX:
		r = dump_tool_put_id_index(&b, out);
		break;
	case RECORD_AUXTRACE_INFO:
		r = bytes_u32(&b, "type", &type);
		outbuf_fmt(out, " type: %u\n", type);
		break;
	case RECORD_AUXTRACE:
		r = dump_tool_put_auxtrace(&b, out);
		break;
	case RECORD_AUXTRACE_ERROR:
		r = dump_tool_put_auxtrace_error(&b, out);
		break;
	case RECORD_THREAD_MAP:
		r = dump_tool_put_thread_map(&b, out);
		break;
	case RECORD_CPU_MAP:
		outbuf_str(out, ": ");
		r = dump_tool_put_cpus(&b, out);
		break;
	case RECORD_EVENT_UPDATE:
		r = dump_tool_put_event_update(&b, out);
		break;
	case RECORD_TIME_CONV:
		r = dump_tool_put_time_conv(ev, &b, out);
		break;
	case RECORD_FINISHED_INIT:
		outbuf_str(out, ": unhandled!\n");
		break;
	case RECORD_HEADER_ATTR:
	case RECORD_HEADER_EVENT_TYPE:
	case RECORD_HEADER_TRACING_DATA:
	case RECORD_HEADER_BUILD_ID:
	case RECORD_STAT_CONFIG:
	case RECORD_STAT:
	case RECORD_STAT_ROUND:
	case RECORD_HEADER_FEATURE:
		break; /* perf ends these lines with the empty line of the next record */
	default:
		outbuf_char(out, '\n');
		break;
	}
	return r >= 0;
}

/* Prints the line of an error that a trace decoder reported. */
static void dump_tool_put_trace_error(const struct event *ev, struct outbuf *out)
{
	struct perfdata_view *view = perfdata_view_of(ev->source);
	struct perfdata_view_record rec;

	if (!view)
		return;
	perfdata_view_record(view, ev, &rec);
	perf_dump_tool_put(ev, &rec, out);
	err_clear();
}

bool perf_result_put(const struct event *ev, bool in_dump, bool *head_put, struct outbuf *out)
{
	switch (ev->schema->record_type) {
	case RECORD_STAT:
		perf_count_put(ev, head_put, out);
		return true;
	case RECORD_AUXTRACE_ERROR:
		if (!in_dump)
			dump_tool_put_trace_error(ev, out);
		return true;
	default:
		return false;
	}
}
