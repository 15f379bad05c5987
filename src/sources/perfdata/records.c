/* SPDX-License-Identifier: MIT */
/*
 * Decodes the changes of records of state (COMM, FORK, EXIT, MMAP, KSYMBOL), and counts losses.
 */

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "formats/perfdata/shape.h"
#include "model/callchain.h"
#include "sources/perfdata/counts.h"
#include "sources/perfdata/perfdata.h"

enum { RECORD_HEADER_BYTES = 8, FIRST_TOOL_RECORD = 64, MISC_AT = 4, TRACE_ERROR_FORMAT_AT = 28 };

/* Payload of the schema auxtrace_error (schemas.c). */
struct trace_error {
	uint32_t type, code, cpu, pid, tid, cpumode;
	uint64_t ip, time_ns;
	uint32_t machine_pid, vcpu;
	char msg[64];
};
_Static_assert(sizeof(struct trace_error) == TRACE_ERROR_BYTES, "room in the source");

/* misc bits whose meaning depends on the record's type */
enum {
	MISC_COMM_EXEC = 0x2000,
	MISC_FORK_EXEC = 0x2000,
	MISC_MMAP_DATA = 0x2000,
	MISC_MMAP_BUILD_ID = 0x4000
};

static int records_read_tasks(struct bytes *b, bool has_parent, struct change *ret)
{
	uint32_t pid = 0, tid = 0, ppid = 0, ptid = 0;

	TRY(bytes_u32(b, "pid", &pid));
	if (has_parent)
		TRY(bytes_u32(b, "ppid", &ppid));
	TRY(bytes_u32(b, "tid", &tid));
	if (has_parent)
		TRY(bytes_u32(b, "ptid", &ptid));
	ret->pid = (int32_t)pid;
	ret->tid = (int32_t)tid;
	ret->ppid = (int32_t)ppid;
	ret->ptid = (int32_t)ptid;
	return 0;
}

static int records_read_mmap(struct bytes *b, uint16_t misc, bool is_mmap2,
			     const struct rules *rules, struct change *ret)
{
	/* PROT_EXEC, MAP_PRIVATE; MMAP records have a misc bit for prot */
	uint32_t prot = 4, flags = 2;

	TRY(records_read_tasks(b, false, ret));
	TRY(bytes_u64(b, "addr", &ret->start));
	TRY(bytes_u64(b, "len", &ret->len));
	TRY(bytes_u64(b, "pgoff", &ret->pgoff));
	if (is_mmap2) {
		if (misc & MISC_MMAP_BUILD_ID)
			ret->build_id = perfdata_mmap2_build_id(b->pos, b->end);
		if (build_id_is_known(&ret->build_id)) {
			TRY(bytes_skip(b, "build id", PERFDATA_MMAP2_BUILD_ID_BYTES));
		} else {
			TRY(bytes_u32(b, "major", &ret->major));
			TRY(bytes_u32(b, "minor", &ret->minor));
			TRY(bytes_u64(b, "inode", &ret->inode));
			TRY(bytes_skip(b, "generation", 8));
		}
		TRY(bytes_u32(b, "prot", &prot));
		if (!rules->misreads_old_mmap2 && perfdata_is_name(b->pos - 4)) {
			/* Kernels before 3.16 wrote neither prot nor flags, so the name is here. */
			b->pos -= 4;
			prot = 4;
		} else {
			TRY(bytes_u32(b, "flags", &flags));
		}
	}
	ret->executable = is_mmap2 ? !!(prot & 4) : !(misc & MISC_MMAP_DATA);
	ret->shared = flags & 1; /* MAP_SHARED */
	ret->kernel = (misc & CPUMODE_MASK) == CPUMODE_KERNEL;
	/* Mappings of a guest are not those of the host, but may have the same addresses. */
	ret->kind = (misc & CPUMODE_MASK) < CPUMODE_GUEST_KERNEL ? CHANGE_MMAP : CHANGE_NONE;
	return bytes_cstr(b, "filename", &ret->text);
}

/* u64 address | u32 bytes | u16 type | u16 flags | name */
static int records_read_ksymbol(struct bytes *b, struct change *ret)
{
	const uint8_t *words = NULL;
	uint32_t len = 0;

	TRY(bytes_u64(b, "addr", &ret->start));
	TRY(bytes_u32(b, "len", &len));
	TRY(bytes_take(b, "type and flags", 4, &words));
	ret->len = len;
	ret->out_of_line = get_u16(words, b->swap) == PERF_RECORD_KSYMBOL_TYPE_OOL;
	ret->unregister = get_u16(words + 2, b->swap) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	ret->kind = CHANGE_KSYMBOL;
	return bytes_cstr(b, "name", &ret->text);
}

/*
 * u64 address | u16 old bytes | u16 new bytes | old code | new code. If there is no new code, the
 * old code was removed; perf keeps it, and reads only records of the host's kernel.
 */
static int records_read_text_poke(struct bytes *b, uint16_t misc, const struct rules *rules,
				  struct change *ret)
{
	const uint8_t *lens = NULL, *code = NULL;
	unsigned old_len, new_len;

	TRY(bytes_u64(b, "addr", &ret->start));
	TRY(bytes_take(b, "lengths", 4, &lens));
	old_len = get_u16(lens, b->swap);
	new_len = get_u16(lens + 2, b->swap);
	TRY(bytes_skip(b, "old bytes", old_len));
	TRY(bytes_take(b, "new bytes", new_len, &code));
	if ((misc & CPUMODE_MASK) != CPUMODE_KERNEL || (!new_len && rules->keeps_freed_code))
		return 0;
	ret->code = new_len ? code : NULL;
	ret->len = new_len ? new_len : old_len;
	ret->kind = CHANGE_TEXT_POKE;
	return 0;
}

static bool records_is_dummy(const struct perfdata_event *e)
{
	return e && e->attr.type == PERF_TYPE_SOFTWARE && e->attr.config == PERF_COUNT_SW_DUMMY;
}

/*
 * Newer kernels report a loss twice. LOST is written when the ring has room again, and counts
 * records of all kinds. At the end the recorder adds one LOST_SAMPLES for each event, from the
 * event's own count. If the recording has LOST_SAMPLES, they count the lost events. Lost records of
 * state are the losses of dummy events and, after all LOST_SAMPLES were read, the losses that LOST
 * counts in excess of the events.
 */
static void records_report_lost(struct perfdata_source *s, bool all_met)
{
	struct perfdata_losses *l = &s->losses;
	const uint64_t samples = l->samples > l->unwritten ? l->samples - l->unwritten : 0;
	uint64_t events = l->records, state = l->state;

	if (l->has_samples && !l->only_unwritten) {
		events = events > state ? events - state : 0;
		if (all_met || samples > events)
			events = samples;
		if (all_met && l->records > events + state)
			state = l->records - events;
	}
	defects_correct(s->opts.defects, DEFECT_LOST_EVENTS, l->events_reported, events);
	defects_correct(s->opts.defects, DEFECT_LOST_STATE, l->state_reported, state);
	l->events_reported = events;
	l->state_reported = state;
}

static void records_count_lost(struct perfdata_source *s, uint64_t *sum, uint64_t n)
{
	*sum = *sum + n < *sum ? UINT64_MAX : *sum + n;
	records_report_lost(s, false);
}

const char *perfdata_lost_samples(struct perfdata_source *s)
{
	struct perfdata_losses *l = &s->losses;

	if (!l->has_samples)
		return NULL;
	snprintf(l->text, sizeof(l->text), "%" PRIu64, l->samples + l->state);
	return l->text;
}

void perfdata_ended(struct source *source)
{
	struct perfdata_source *s = perfdata_of(source);

	if (s->losses.has_samples)
		records_report_lost(s, true);
}

/* u32 pid, tid | u64 nr | nr x { u64 device, inode } */
static int records_read_namespaces(struct bytes *b, struct change *ret)
{
	enum { CGROUP_NAMESPACE = 6 };
	uint64_t nr;

	TRY(records_read_tasks(b, false, ret));
	TRY(bytes_u64(b, "nr", &nr));
	ret->kind = CHANGE_NAMESPACES;
	if (nr <= CGROUP_NAMESPACE)
		return 0;
	TRY(bytes_skip(b, "namespaces", CGROUP_NAMESPACE * 2 * sizeof(uint64_t)));
	TRY(bytes_u64(b, "device", &ret->namespace_device));
	return bytes_u64(b, "inode", &ret->namespace_inode);
}

static int records_read_change(struct perfdata_source *s, uint32_t type, uint16_t misc,
			       const struct perfdata_event *e, struct bytes *b, struct change *ret)
{
	uint64_t n = 0;

	switch (type) {
	case PERF_RECORD_COMM:
		TRY(records_read_tasks(b, false, ret));
		TRY(bytes_cstr(b, "comm", &ret->text));
		ret->kind = CHANGE_COMM;
		ret->exec = misc & MISC_COMM_EXEC;
		return 0;
	case PERF_RECORD_FORK:
		TRY(records_read_tasks(b, true, ret));
		ret->kind = CHANGE_FORK;
		ret->exec = misc & MISC_FORK_EXEC;
		return 0;
	case PERF_RECORD_EXIT:
		TRY(records_read_tasks(b, true, ret));
		ret->kind = CHANGE_EXIT;
		return 0;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return records_read_mmap(b, misc, type == PERF_RECORD_MMAP2, s->opts.rules, ret);
	case PERF_RECORD_CGROUP:
		TRY(bytes_u64(b, "id", &ret->id));
		TRY(bytes_cstr(b, "path", &ret->text));
		ret->kind = CHANGE_CGROUP;
		return 0;
	case PERF_RECORD_NAMESPACES:
		return records_read_namespaces(b, ret);
	case PERF_RECORD_KSYMBOL:
		return records_read_ksymbol(b, ret);
	case PERF_RECORD_TEXT_POKE:
		return records_read_text_poke(b, misc, s->opts.rules, ret);
	case PERF_RECORD_LOST:
		TRY(bytes_skip(b, "id", 8));
		TRY(bytes_u64(b, "lost", &n));
		records_count_lost(s, &s->losses.records, n);
		return 0;
	case PERF_RECORD_LOST_SAMPLES:
		TRY(bytes_u64(b, "lost", &n));
		s->losses.has_samples = true;
		records_count_lost(s, records_is_dummy(e) ? &s->losses.state : &s->losses.samples,
				   n);
		return 0;
	case PERF_RECORD_THROTTLE:
		defects_add(s->opts.defects, DEFECT_THROTTLED, 1, NULL);
		return 0;
	default:
		return 0;
	}
}

/* Reads pid, tid, time and cpu from the sample_id trailer. */
static void records_read_trailer(const struct perfdata_layout *l, const uint8_t *rec, uint32_t len,
				 bool swap, struct sonde_event *ret)
{
	const uint8_t *end = rec + len;

	if (!l->trailer_bytes || len < RECORD_HEADER_BYTES + l->trailer_bytes)
		return;
	if (l->end_tid) {
		ret->pid = (int32_t)get_u32(end - l->end_tid, swap);
		ret->tid = (int32_t)get_u32(end - l->end_tid + 4, swap);
	}
	if (l->end_time)
		ret->time_ns = get_u64(end - l->end_time, swap);
	if (l->end_cpu)
		ret->cpu = (int32_t)get_u32(end - l->end_cpu, swap);
}

/*
 * u32 type, code, cpu, pid, tid, format | u64 ip | from format 1 on: u64 time | char msg[64] | from
 * format 2 on: u32 machine_pid, vcpu. The payload is the same for all formats, in this machine's
 * byte order.
 */
static int records_read_trace_error(struct bytes *b, uint16_t misc, struct trace_error *ret)
{
	struct trace_error e = { .cpumode = misc & CPUMODE_MASK, .vcpu = UINT32_MAX };
	uint32_t format = 0;
	const uint8_t *msg = NULL;
	size_t len;

	TRY(bytes_u32(b, "type", &e.type));
	TRY(bytes_u32(b, "code", &e.code));
	TRY(bytes_u32(b, "cpu", &e.cpu));
	TRY(bytes_u32(b, "pid", &e.pid));
	TRY(bytes_u32(b, "tid", &e.tid));
	TRY(bytes_u32(b, "format", &format));
	TRY(bytes_u64(b, "ip", &e.ip));
	if (format)
		TRY(bytes_u64(b, "time", &e.time_ns));
	len = bytes_left(b) < sizeof(e.msg) ? bytes_left(b) : sizeof(e.msg);
	TRY(bytes_take(b, "message", len, &msg));
	memcpy(e.msg, msg, len < sizeof(e.msg) ? len : sizeof(e.msg) - 1);
	if (format >= 2 && bytes_left(b) >= 8) {
		TRY(bytes_u32(b, "machine pid", &e.machine_pid));
		TRY(bytes_u32(b, "vcpu", &e.vcpu));
	}
	*ret = e;
	return 0;
}

/*
 * For records of all formats perf reads machine_pid and vcpu at their offsets in the newest one. A
 * record of an older format ends before them, so perf reads the bytes of the next record in the
 * file.
 */
static void records_read_behind_trace_error(const struct perfdata_source *s, const struct cut *rec,
					    struct trace_error *e)
{
	enum { AT = 112 };
	uint32_t words[2] = { 0 }; /* zeros after the end of the file, as in a mapping of it */

	if (s->file.is_pipe || rec->file || s->unzip)
		return; /* the bytes that perf reads there depend on its buffers */
	if (pread(s->file.fd, words, sizeof(words), (off_t)(rec->file_off + AT)) < 0)
		return;
	e->machine_pid = words[0];
	e->vcpu = words[1];
}

static int records_trace_error(struct perfdata_source *s, const struct cut *rec, struct event *ret)
{
	struct bytes b =
		bytes_init(rec->bytes, rec->len, rec->file_off, s->file.path, s->file.swap);
	struct sonde_schema *sc;
	struct trace_error e;

	TRY(perfdata_record_schema(s, RECORD_AUXTRACE_ERROR, &sc));
	b.what = sc->name;
	b.pos += RECORD_HEADER_BYTES;
	if (records_read_trace_error(&b, get_u16(rec->bytes + 4, s->file.swap), &e) < 0) {
		defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1, "%s at 0x%llx%s", sc->name,
			    (unsigned long long)rec->file_off,
			    perfdata_behind_offset(s, rec->file));
		err_clear();
		return 0;
	}
	if (s->opts.rules->trace_errors_read_on &&
	    get_u32(rec->bytes + TRACE_ERROR_FORMAT_AT, s->file.swap) < 2)
		records_read_behind_trace_error(s, rec, &e);
	memcpy(s->trace_error, &e, sizeof(e));
	ret->schema = sc;
	ret->attr = ret->member = 0;
	ret->pub.schema = sc->id;
	ret->pub.flags &= ~(uint32_t)SONDE_EVENT_SWAPPED;
	ret->pub.cpu = (int32_t)e.cpu;
	ret->pub.pid = (int32_t)e.pid;
	ret->pub.tid = (int32_t)e.tid;
	ret->pub.cpumode = e.cpumode;
	if (e.time_ns)
		ret->pub.time_ns = e.time_ns;
	ret->pub.bytes = s->trace_error;
	ret->pub.bytes_len = sizeof(e);
	return 1;
}

static int record_decode_tool(struct perfdata_source *s, const struct cut *rec, uint32_t type,
			      struct event *ret)
{
	switch (type) {
	case RECORD_AUXTRACE_ERROR:
		return records_trace_error(s, rec, ret);
	case RECORD_CPU_MAP:
	case RECORD_THREAD_MAP:
	case RECORD_STAT_CONFIG:
	case RECORD_STAT:
		return perfdata_counts_take(s, rec, type);
	case RECORD_AUXTRACE:
		s->traces++;
		s->trace_bytes +=
			perfdata_record_bytes(rec->bytes, (uint16_t)rec->len, s->file.swap) -
			rec->len;
		defects_add(s->opts.defects, DEFECT_NOT_DECODED, 1, "at 0x%llx%s",
			    (unsigned long long)rec->file_off,
			    perfdata_behind_offset(s, rec->file));
		return 0;
	case RECORD_SIMPLEPERF_CALLCHAIN:
		return perfdata_simpleperf_chain_take(s, rec);
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		defects_add(s->opts.defects, DEFECT_COMPRESSED, 1, "at 0x%llx%s",
			    (unsigned long long)rec->file_off,
			    perfdata_behind_offset(s, rec->file));
		return 0;
	default:
		if (type > RECORD_SCHEDSTAT_DOMAIN && !perfdata_is_simpleperf(type, rec->len))
			defects_add(s->opts.defects, DEFECT_UNKNOWN_RECORD, 1,
				    "type %u at 0x%llx%s", type, (unsigned long long)rec->file_off,
				    perfdata_behind_offset(s, rec->file));
		return 0;
	}
}

void perfdata_traces(struct source *source, uint64_t *ret_records, uint64_t *ret_bytes)
{
	*ret_records = perfdata_of(source)->traces;
	*ret_bytes = perfdata_of(source)->trace_bytes;
}

/* The offset of the event id in a record; 0 if it has none. */
static uint32_t records_event_id_at(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_LOST:
		return RECORD_HEADER_BYTES;
	case PERF_RECORD_THROTTLE: /* others have their sizes, too */
	case PERF_RECORD_UNTHROTTLE:
		return RECORD_HEADER_BYTES + 8;
	default:
		return 0;
	}
}

/*
 * False for compressed bytes that look like a record because a type or a size in a compressed
 * recording is damaged.
 */
static bool records_has_shape(struct perfdata_source *s, const struct cut *rec, uint32_t type)
{
	const bool swap = s->file.swap;
	const struct perfdata_event *e = perfdata_event_of(s, rec->bytes, rec->len, NULL);
	const uint32_t trailer = e ? e->layout.trailer_bytes : 0, at = records_event_id_at(type);
	uint64_t id;

	if (!perfdata_has_shape(rec->bytes, rec->len, trailer, swap))
		return false;
	if (!at || !s->ids.n)
		return true;
	id = get_u64(rec->bytes + at, swap);
	return !id || hash64_find(&s->by_id, id) != HASH64_EMPTY;
}

int perfdata_record_decode(struct perfdata_source *s, const struct cut *rec, struct event *ret)
{
	bool swap = s->file.swap;
	uint32_t type = get_u32(rec->bytes, swap);
	uint16_t misc = get_u16(rec->bytes + 4, swap);
	const struct perfdata_event *e;
	struct change *c = &s->change;
	struct sonde_schema *sc;
	struct bytes b;
	uint32_t trailer;
	int r;

	if (s->unzip && !records_has_shape(s, rec, type)) {
		defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1,
			    "at 0x%llx%s: %u bytes that are no record of type %u",
			    (unsigned long long)rec->file_off, perfdata_behind_offset(s, rec->file),
			    rec->len, type);
		return 0;
	}
	if (type >= FIRST_TOOL_RECORD)
		return record_decode_tool(s, rec, type, ret);
	TRY(perfdata_record_schema(s, type, &sc));
	if (!sc) {
		defects_add(s->opts.defects, DEFECT_UNKNOWN_RECORD, 1, "type %u at 0x%llx%s", type,
			    (unsigned long long)rec->file_off,
			    perfdata_behind_offset(s, rec->file));
		return 0;
	}
	e = perfdata_event_of(s, rec->bytes, rec->len, NULL);
	trailer = e ? e->layout.trailer_bytes : 0;
	if (rec->len < RECORD_HEADER_BYTES + trailer)
		trailer = 0;
	b = bytes_init(rec->bytes, rec->len - trailer, rec->file_off, s->file.path, swap);
	b.what = sc->name;
	b.pos += RECORD_HEADER_BYTES;
	*c = (struct change){ 0 };
	ret->change = c;
	ret->attr = ret->member = e ? (uint32_t)(e - s->events.v) : 0;
	ret->schema = sc;
	ret->pub.schema = sc->id;
	ret->pub.cpumode = misc & CPUMODE_MASK;
	ret->pub.bytes = b.pos;
	ret->pub.bytes_len = (uint32_t)bytes_left(&b);
	if (type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE) {
		ret->pub.bytes -= RECORD_HEADER_BYTES - MISC_AT; /* misc holds the kind of switch */
		ret->pub.bytes_len += RECORD_HEADER_BYTES - MISC_AT;
	}
	if (e)
		records_read_trailer(&e->layout, rec->bytes, rec->len, swap, &ret->pub);
	r = records_read_change(s, type, misc, e, &b, c);
	if (r < 0) {
		defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1, "%s at 0x%llx%s", sc->name,
			    (unsigned long long)rec->file_off,
			    perfdata_behind_offset(s, rec->file));
		err_clear();
		return 0;
	}
	c->time_ns = ret->pub.time_ns;
	/* Without a trailer, the event belongs to the task whose state changes. */
	if (c->kind && c->kind != CHANGE_CGROUP && c->kind != CHANGE_KSYMBOL &&
	    c->kind != CHANGE_TEXT_POKE && c->kind != CHANGE_NAMESPACES && ret->pub.tid <= 0) {
		ret->pub.pid = c->pid;
		ret->pub.tid = c->tid;
	}
	return 1;
}
