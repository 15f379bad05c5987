/* SPDX-License-Identifier: MIT */
#include "sinks/perf/dump.h"

#include <linux/perf_event.h>

#include "base/bytes.h"
#include "formats/perfdata/layout.h"
#include "model/callchain.h"
#include "recording/locate.h"
#include "sinks/perf/records.h"
#include "sources/perfdata/view.h"

enum { ROW_BYTES = 16, HEADER_BYTES = 8, PIPE_HEAD_BYTES = 16 };

static void dump_put_row(const uint8_t *p, uint32_t at, uint32_t len, struct outbuf *out)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t n = len - at < ROW_BYTES ? len - at : ROW_BYTES;
	/* " 7f" for each | two spaces | letters | line feed */
	char row[3 * ROW_BYTES + 2 + ROW_BYTES + 1];
	char *letters = row + 3 * ROW_BYTES + 2;

	memset(row, ' ', sizeof(row));
	for (uint32_t i = 0; i < n; i++) {
		uint8_t byte = p[at + i];

		row[3 * i + 1] = digits[byte >> 4];
		row[3 * i + 2] = digits[byte & 15];
		letters[i] = byte >= ' ' && byte <= '~' ? (char)byte : '.';
	}
	row[sizeof(row) - 1] = '\n';
	outbuf_str(out, ".  ");
	outbuf_hex_width(out, at, 4, '0');
	outbuf_str(out, ": ");
	outbuf_put(out, row, sizeof(row));
}

/* perf's "%#llx" has no 0x before 0. */
static void dump_put_offset(uint64_t off, struct outbuf *out)
{
	outbuf_fmt(out, off ? "0x%llx" : "%llx", (unsigned long long)off);
}

static void dump_put_bytes(const struct event *ev, uint32_t type, uint64_t off, const char *path,
			   struct outbuf *out)
{
	uint32_t len = ev->pub.record_len;

	outbuf_char(out, '\n');
	dump_put_offset(off, out);
	outbuf_fmt(out, "@%s [0x%x]: event: %d\n.\n. ... raw event: size %u bytes\n", path, len,
		   (int)type, len);
	for (uint32_t at = 0; at < len; at += ROW_BYTES)
		dump_put_row(ev->pub.record, at, len, out);
	outbuf_char(out, '\n');
}

/* Prints the cpu and the time if the record has them. */
static void dump_put_when(const struct perfdata_view_record *rec, struct outbuf *out)
{
	if (!rec->has_ids) {
		outbuf_str(out, "-1 -1 ");
		return;
	}
	if (rec->sample_types & PERF_SAMPLE_CPU)
		outbuf_fmt(out, "%u ", rec->cpu);
	if (rec->sample_types & PERF_SAMPLE_TIME)
		outbuf_fmt(out, "%llu ", (unsigned long long)rec->time_ns);
}

/* READ: prints the task, the event, the value and the values that read_format adds. */
static int dump_put_read(const struct perfdata_view_record *rec, struct bytes *b, bool is_report,
			 struct outbuf *out)
{
	const struct perf_event_attr *attr = rec->schema ? rec->schema->attr : NULL;
	uint64_t format = attr ? attr->read_format : 0, v = 0;
	uint32_t pid = 0, tid = 0;
	static const struct {
		uint64_t bit;
		const char *text;
	} more[] = {
		{ PERF_FORMAT_TOTAL_TIME_ENABLED, "... time enabled : %llu\n" },
		{ PERF_FORMAT_TOTAL_TIME_RUNNING, "... time running : %llu\n" },
		{ PERF_FORMAT_ID, "... id           : %llu\n" },
		{ PERF_FORMAT_LOST, "... lost         : %llu\n" },
	};

	TRY(bytes_u32(b, "pid", &pid));
	TRY(bytes_u32(b, "tid", &tid));
	TRY(bytes_u64(b, "value", &v));
	outbuf_fmt(out, ": %d %d %s %llu\n", (int)pid, (int)tid,
		   rec->schema ? rec->schema->name : "unknown", (unsigned long long)v);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (!(format & more[i].bit))
			continue;
		TRY(bytes_u64(b, "value", &v));
		outbuf_fmt(out, more[i].text, (unsigned long long)v);
	}
	if (!is_report)
		outbuf_str(out, ": unhandled!\n");
	return 0;
}

static int dump_put_lost(const struct perfdata_view_record *rec, struct bytes *b,
			 struct outbuf *out)
{
	uint64_t id = rec->id, lost = 0;

	if (rec->type == PERF_RECORD_LOST)
		TRY(bytes_u64(b, "id", &id));
	TRY(bytes_u64(b, "lost", &lost));
	outbuf_fmt(out,
		   rec->type == PERF_RECORD_LOST ? ": id:%llu: lost:%llu\n"
						 : ": id:%llu: lost samples :%llu\n",
		   (unsigned long long)id, (unsigned long long)lost);
	return 0;
}

/*
 * Prints a kernel record whose text in a dump differs from that in its own line. Returns 0 if the
 * text is the same.
 */
static int dump_put_special(const struct event *ev, const struct perf_dump *d,
			    const struct perfdata_view_record *rec, struct outbuf *out)
{
	struct bytes b = bytes_init(ev->pub.record, ev->pub.record_len - rec->trailer_bytes,
				    ev->pub.file_off, "", rec->swap);

	b.pos += HEADER_BYTES;
	switch (rec->type) {
	case PERF_RECORD_EXIT:
		return d->lines->show_task; /* its own line follows here */
	case PERF_RECORD_LOST:
		if (d->lines->show_lost)
			return 1; /* its own line follows here, too */
		TRY(dump_put_lost(rec, &b, out));
		return 1;
	case PERF_RECORD_LOST_SAMPLES:
		TRY(dump_put_lost(rec, &b, out));
		return 1;
	case PERF_RECORD_READ:
		TRY(dump_put_read(rec, &b, d->is_report, out));
		return 1;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		if (d->is_report)
			outbuf_str(out, ": unhandled!\n");
		return 1; /* nothing follows, not even a line feed */
	default:
		return 0;
	}
}

/*
 * perf does not use rounds if it does not sort. If lines of rounds are shown, the line prints the
 * rest.
 */
static void dump_put_round(const struct perf_dump *d, const struct perfdata_view_record *rec,
			   struct outbuf *out)
{
	if (!d->lines->show_round)
		outbuf_str(out, d->is_unsorted || !rec->has_ids ? ": unhandled!\n" : "\n");
}

/* Records of state have a time only with sample_id_all. perf does not check for it in pipe mode. */
bool perf_dump_is_ordered(const struct perf_dump *d, const struct sonde_schema *first)
{
	const struct perf_event_attr *attr = first ? first->attr : NULL;

	return d->is_pipe || !attr || attr->sample_id_all;
}

/* True for recorder records that perf script handles and perf report does not. */
static bool dump_is_unhandled(uint32_t type)
{
	return type == RECORD_THREAD_MAP || type == RECORD_CPU_MAP;
}

void perf_dump_put(const struct event *ev, const struct perf_dump *d, const char *path,
		   struct outbuf *out)
{
	/* In a pipe, offsets count from the end of its head. */
	uint64_t off = ev->pub.file_off - (d->is_pipe ? PIPE_HEAD_BYTES : 0);
	struct perfdata_view *view = perfdata_view_of(ev->source);
	struct perfdata_view_record rec;
	size_t before;
	int r;

	if (!view)
		return;
	perfdata_view_record(view, ev, &rec);
	dump_put_bytes(ev, rec.type, off, d->is_pipe ? "pipe" : path, out);
	dump_put_when(&rec, out);
	dump_put_offset(off, out);
	outbuf_fmt(out, " [0x%x]: PERF_RECORD_%s", ev->pub.record_len, perf_record_name(rec.type));
	before = out->len;
	if (rec.type == RECORD_FINISHED_ROUND) {
		dump_put_round(d, &rec, out);
		return;
	}
	if (rec.type >= RECORD_HEADER_ATTR) {
		if (perf_dump_tool_put(ev, &rec, out)) {
			if (d->is_report && dump_is_unhandled(rec.type))
				outbuf_str(out, ": unhandled!\n");
			return;
		}
	} else if (rec.type == PERF_RECORD_SAMPLE && !rec.is_damaged) {
		perf_dump_sample_put(ev, &rec, out);
		return;
	} else if (!rec.is_damaged) {
		/*
		 * If lines of BPF events are shown, perf dumps BPF programs as if they were
		 * symbols.
		 */
		if (rec.type == PERF_RECORD_BPF_EVENT &&
		    ev->recording->opts->rules->dumps_bpf_as_symbols && d->lines->show_bpf)
			rec.type = PERF_RECORD_KSYMBOL;
		r = dump_put_special(ev, d, &rec, out);
		if (r > 0 || (!r && perf_record_body(ev, &rec, out)))
			return;
	}
	err_clear();
	out->len = before;
	outbuf_str(out, " (damaged)\n");
}

void perf_dump_thread_put(const struct event *ev, struct outbuf *out)
{
	struct sonde_sample sample = { .size = sizeof(sample) };
	const char *dso = NULL;
	bool ip_known = source_sample(ev->source, ev, &sample) >= 0;
	uint32_t mode = ev->pub.cpumode;

	outbuf_fmt(out, " ... thread: %s:%d\n", strpool_text(ev->recording->strings, ev->pub.comm),
		   ev->pub.tid);
	if (mode != CPUMODE_KERNEL && mode != CPUMODE_USER) {
		outbuf_str(out, " ...... dso: [hypervisor]\n");
		return;
	}
	if (ip_known && mode == CPUMODE_KERNEL && ev->recording->opts->rules->dumps_located_dso)
		dso = locate_dumped_dso(ev, sample.ip);
	else if (ip_known)
		dso = recording_located(ev, sample.ip, mode)->dso;
	outbuf_fmt(out, " ...... dso: %s\n", dso ? dso : "<not found>");
	err_clear();
}
