/* SPDX-License-Identifier: MIT */
#include "sinks/perf/records.h"

#include <linux/perf_event.h>

#include "base/bytes.h"
#include "base/err.h"
#include "formats/perfdata/layout.h"
#include "model/callchain.h"
#include "recording/locate.h"
#include "sinks/perf/need.h"
#include "sinks/sink.h"
#include "sinks/text/options.h"
#include "sources/perfdata/view.h"

enum {
	HEADER_BYTES = 8,
	MISC_EXEC = 0x2000,     /* COMM */
	MISC_DATA = 0x2000,     /* MMAP */
	MISC_OUT = 0x2000,      /* SWITCH */
	MISC_BUILD_ID = 0x4000, /* MMAP2 */
	MISC_PREEMPT = 0x4000   /* SWITCH */
};

/* ---- what is shown --------------------------------------------------------------------------- */

static bool records_is_shown(const struct line_options *o, uint32_t type)
{
	switch (type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return o->show_task;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return o->show_mmap;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return o->show_switch;
	case PERF_RECORD_NAMESPACES:
		return o->show_namespace;
	case PERF_RECORD_CGROUP:
		return o->show_cgroup;
	case PERF_RECORD_LOST:
		return o->show_lost;
	case PERF_RECORD_KSYMBOL:
		return o->show_bpf || o->show_text_poke;
	case PERF_RECORD_BPF_EVENT:
		return o->show_bpf;
	case PERF_RECORD_TEXT_POKE:
		return o->show_text_poke;
	case RECORD_FINISHED_ROUND:
		return o->show_round;
	default:
		return false;
	}
}

/* False if the recording is not perf.data. */
static bool record_read(const struct event *ev, struct perfdata_view_record *ret)
{
	struct perfdata_view *view = perfdata_view_of(ev->source);

	if (view)
		perfdata_view_record(view, ev, ret);
	return view != NULL;
}

int perf_records_check(const struct recording *rec, const struct text_options *o)
{
	struct perfdata_view *view;

	if (o->dump)
		return perf_view_need(rec, "a dump of the records (-D)", &view);
	if (line_options_show_any(&o->lines))
		return perf_view_need(rec, "showing records (--show-...-events)", &view);
	return 0;
}

int perf_records_read(const struct sink_record *record, struct event *ret)
{
	ret->recording = record->recording;
	ret->source = ret->recording->source;
	return perfdata_view_raw(perfdata_view_of(ret->source), record->cut, ret);
}

/* ---- the head -------------------------------------------------------------------------------- */

static void records_make_head(const struct event *ev, const struct perfdata_view_record *rec,
			      struct text_record_head *ret)
{
	const struct perf_event_attr *attr = rec->schema ? rec->schema->attr : NULL;
	const struct sonde_event *pub = &ev->pub;
	struct sonde_event *head = &ret->event.pub;
	bool swap = rec->swap, is_task, names_task;
	uint64_t time_ns = 0;

	ret->schema = NULL;
	if (!attr || rec->type >= RECORD_HEADER_ATTR)
		return;
	ret->schema = rec->schema;
	is_task = rec->type == PERF_RECORD_FORK || rec->type == PERF_RECORD_EXIT;
	names_task = is_task || rec->type == PERF_RECORD_COMM || rec->type == PERF_RECORD_MMAP ||
		     rec->type == PERF_RECORD_MMAP2 || rec->type == PERF_RECORD_NAMESPACES;
	ret->pid = rec->pid;
	ret->tid = rec->tid;
	if (names_task && pub->bytes_len >= 16) {
		ret->pid = (int32_t)get_u32(pub->bytes, swap);
		ret->tid = (int32_t)get_u32(pub->bytes + (is_task ? 8 : 4), swap);
	}
	ret->event = *ev;
	head->pid = rec->pid;
	head->tid = rec->tid;
	head->cpu = (int32_t)rec->cpu;
	head->time_ns = recording_shown_time(ev->recording, rec->time_ns);
	if (!attr->sample_id_all) {
		/* Old recordings have only the ids in the record itself. */
		if (is_task && pub->bytes_len >= 24)
			time_ns = get_u64(pub->bytes + 16, swap);
		head->pid = ret->pid;
		head->tid = ret->tid;
		head->cpu = 0;
		head->time_ns = recording_shown_time(ev->recording, time_ns);
	}
}

bool perf_record_shown(const struct line_options *o, const struct event *ev, bool is_raw,
		       struct text_record_head *ret)
{
	struct perfdata_view_record rec;

	if (!record_read(ev, &rec) || !records_is_shown(o, rec.type) ||
	    is_raw != (rec.type >= RECORD_HEADER_ATTR))
		return false;
	records_make_head(ev, &rec, ret);
	return true;
}

const char *perf_record_misc(const struct event *ev)
{
	struct perfdata_view_record rec;

	if (!record_read(ev, &rec))
		return "";
	switch (rec.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return rec.misc & MISC_DATA ? "M" : "";
	case PERF_RECORD_COMM:
		return rec.misc & MISC_EXEC ? "E" : "";
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return !(rec.misc & MISC_OUT) ? "" : rec.misc & MISC_PREEMPT ? "Sp" : "S";
	default:
		return "";
	}
}

/* ---- the text -------------------------------------------------------------------------------- */

const char *perf_record_name(uint32_t type)
{
	static const char *const kernel[] = {
		"TOTAL",
		"MMAP",
		"LOST",
		"COMM",
		"EXIT",
		"THROTTLE",
		"UNTHROTTLE",
		"FORK",
		"READ",
		"SAMPLE",
		"MMAP2",
		"AUX",
		"ITRACE_START",
		"LOST_SAMPLES",
		"SWITCH",
		"SWITCH_CPU_WIDE",
		"NAMESPACES",
		"KSYMBOL",
		"BPF_EVENT",
		"CGROUP",
		"TEXT_POKE",
		"AUX_OUTPUT_HW_ID",
		"CALLCHAIN_DEFERRED",
	};
	static const char *const recorder[] = {
		"ATTR",           "EVENT_TYPE",    "TRACING_DATA",     "BUILD_ID",
		"FINISHED_ROUND", "ID_INDEX",      "AUXTRACE_INFO",    "AUXTRACE",
		"AUXTRACE_ERROR", "THREAD_MAP",    "CPU_MAP",          "STAT_CONFIG",
		"STAT",           "STAT_ROUND",    "EVENT_UPDATE",     "TIME_CONV",
		"FEATURE",        "COMPRESSED",    "FINISHED_INIT",    "COMPRESSED2",
		"BPF_METADATA",   "SCHEDSTAT_CPU", "SCHEDSTAT_DOMAIN",
	};

	if (type < sizeof(kernel) / sizeof(kernel[0]))
		return kernel[type];
	if (type >= RECORD_HEADER_ATTR &&
	    type - RECORD_HEADER_ATTR < sizeof(recorder) / sizeof(recorder[0]))
		return recorder[type - RECORD_HEADER_ATTR];
	return "UNKNOWN";
}

/* Prints like printf's "%#llx", which has no 0x before 0. */
static void records_put_0x(struct outbuf *out, uint64_t v)
{
	outbuf_fmt(out, v ? "0x%llx" : "0", (unsigned long long)v);
}

/* Prints text up to its NUL or the end of the record. */
static void records_put_text(struct outbuf *out, const struct bytes *b)
{
	outbuf_put(out, b->pos, strnlen((const char *)b->pos, bytes_left(b)));
}

struct ids {
	uint32_t a, b;
};

static int records_read_ids(struct bytes *b, struct ids *ret)
{
	TRY(bytes_u32(b, "pid", &ret->a));
	return bytes_u32(b, "tid", &ret->b);
}

/* The fields after the length in MMAP2. */
struct mmap2 {
	struct build_id build_id; /* if unknown, device and inode are in its place */
	struct ids device;
	uint64_t inode, generation;
	uint32_t prot, flags;
};

static int records_read_file(struct bytes *b, const struct perfdata_view_record *rec,
			     struct mmap2 *ret)
{
	if (rec->misc & MISC_BUILD_ID)
		ret->build_id = perfdata_mmap2_build_id(b->pos, b->end);
	if (build_id_is_known(&ret->build_id))
		return bytes_skip(b, "build id", PERFDATA_MMAP2_BUILD_ID_BYTES);
	TRY(records_read_ids(b, &ret->device));
	TRY(bytes_u64(b, "inode", &ret->inode));
	return bytes_u64(b, "generation", &ret->generation);
}

static int records_read_mmap2(struct bytes *b, const struct perfdata_view_record *rec,
			      const struct rules *rules, struct mmap2 *ret)
{
	*ret = (struct mmap2){ 0 };
	TRY(records_read_file(b, rec, ret));
	TRY(bytes_u32(b, "prot", &ret->prot));
	TRY(bytes_u32(b, "flags", &ret->flags));
	/* in kernels before 3.16 the name begins here */
	if (!rules->misreads_old_mmap2 && perfdata_is_name(b->pos - 8)) {
		b->pos -= 8;
		ret->prot = ret->flags = 0;
	}
	/* perf does not swap these two */
	if (rules->keeps_swapped_protections && rec->swap) {
		ret->prot = __builtin_bswap32(ret->prot);
		ret->flags = __builtin_bswap32(ret->flags);
	}
	return 0;
}

static void records_put_mmap2(const struct mmap2 *m, struct outbuf *out)
{
	char hex[BUILD_ID_HEX_CHARS];

	if (build_id_is_known(&m->build_id))
		outbuf_fmt(out, " <%s>]: ", build_id_hex(&m->build_id, hex));
	else
		outbuf_fmt(out, " %02x:%02x %llu %llu]: ", m->device.a, m->device.b,
			   (unsigned long long)m->inode, (unsigned long long)m->generation);
	outbuf_fmt(out, "%c%c%c%c ", m->prot & 1 ? 'r' : '-', m->prot & 2 ? 'w' : '-',
		   m->prot & 4 ? 'x' : '-', m->flags & 1 ? 's' : 'p');
}

static int records_put_mmap(struct bytes *b, const struct perfdata_view_record *rec,
			    const struct rules *rules, struct outbuf *out)
{
	bool is_mmap2 = rec->type == PERF_RECORD_MMAP2;
	uint64_t start = 0, len = 0, pgoff = 0;
	struct mmap2 m;
	struct ids task;

	TRY(records_read_ids(b, &task));
	TRY(bytes_u64(b, "addr", &start));
	TRY(bytes_u64(b, "len", &len));
	TRY(bytes_u64(b, "pgoff", &pgoff));
	if (is_mmap2)
		TRY(records_read_mmap2(b, rec, rules, &m));
	outbuf_fmt(out, " %d/%d: [", (int)task.a, (int)task.b);
	records_put_0x(out, start);
	outbuf_char(out, '(');
	records_put_0x(out, len);
	outbuf_str(out, ") @ ");
	records_put_0x(out, pgoff);
	if (is_mmap2)
		records_put_mmap2(&m, out);
	else
		outbuf_fmt(out, "]: %c ", rec->misc & MISC_DATA ? 'r' : 'x');
	records_put_text(out, b);
	outbuf_char(out, '\n');
	return 0;
}

static int records_put_comm(struct bytes *b, const struct perfdata_view_record *rec,
			    struct outbuf *out)
{
	struct ids task;

	TRY(records_read_ids(b, &task));
	outbuf_str(out, rec->misc & MISC_EXEC ? " exec: " : ": ");
	records_put_text(out, b);
	outbuf_fmt(out, ":%d/%d\n", (int)task.a, (int)task.b);
	return 0;
}

static int records_put_task(struct bytes *b, struct outbuf *out)
{
	struct ids pids, tids;

	TRY(records_read_ids(b, &pids));
	TRY(records_read_ids(b, &tids));
	outbuf_fmt(out, "(%d:%d):(%d:%d)\n", (int)pids.a, (int)tids.a, (int)pids.b, (int)tids.b);
	return 0;
}

static int records_put_switch(struct bytes *b, const struct perfdata_view_record *rec,
			      struct outbuf *out)
{
	bool is_out = rec->misc & MISC_OUT;
	struct ids task;

	if (rec->type == PERF_RECORD_SWITCH_CPU_WIDE)
		TRY(records_read_ids(b, &task));
	outbuf_str(out, !is_out                    ? " IN         "
			: rec->misc & MISC_PREEMPT ? " OUT preempt"
						   : " OUT        ");
	if (rec->type == PERF_RECORD_SWITCH_CPU_WIDE)
		outbuf_fmt(out, "  %s pid/tid: %5d/%-5d", is_out ? "next" : "prev", (int)task.a,
			   (int)task.b);
	outbuf_char(out, '\n');
	return 0;
}

/* Prints four namespaces per line. */
static int records_put_namespaces(struct bytes *b, struct outbuf *out)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	struct ids task;
	uint64_t nr = 0, dev = 0, inode = 0;

	TRY(records_read_ids(b, &task));
	TRY(bytes_u64(b, "number of namespaces", &nr));
	if (nr > bytes_left(b) / 16)
		return bytes_fail(b, -EBADMSG, "%llu namespaces do not fit into the record",
				  (unsigned long long)nr);
	outbuf_fmt(out, " %d/%d - nr_namespaces: %u\n\t\t[", (int)task.a, (int)task.b,
		   (unsigned)nr);
	for (unsigned i = 0; i < nr; i++) {
		TRY(bytes_u64(b, "device", &dev));
		TRY(bytes_u64(b, "inode", &inode));
		outbuf_fmt(out, "%u/%s: %llu/", i,
			   i < sizeof(names) / sizeof(names[0]) ? names[i] : "UNKNOWN",
			   (unsigned long long)dev);
		records_put_0x(out, inode);
		outbuf_str(out, i + 1 == nr ? "]\n" : i % 4 == 3 ? ", \n\t\t " : ", ");
	}
	return 0;
}

static int records_put_aux(struct bytes *b, struct outbuf *out)
{
	uint64_t off = 0, size = 0, flags = 0;

	TRY(bytes_u64(b, "offset", &off));
	TRY(bytes_u64(b, "size", &size));
	TRY(bytes_u64(b, "flags", &flags));
	outbuf_str(out, " offset: ");
	records_put_0x(out, off);
	outbuf_str(out, " size: ");
	records_put_0x(out, size);
	outbuf_fmt(out, " flags: %s%llx [%s%s%s]\n", flags ? "0x" : "", (unsigned long long)flags,
		   flags & PERF_AUX_FLAG_TRUNCATED ? "T" : "",
		   flags & PERF_AUX_FLAG_OVERWRITE ? "O" : "",
		   flags & PERF_AUX_FLAG_PARTIAL ? "P" : "");
	return 0;
}

static int records_put_ksymbol(struct bytes *b, struct outbuf *out)
{
	uint64_t addr = 0;
	uint32_t len = 0;
	const uint8_t *words = NULL;

	TRY(bytes_u64(b, "addr", &addr));
	TRY(bytes_u32(b, "len", &len));
	TRY(bytes_take(b, "type and flags", 4, &words));
	outbuf_fmt(out, " addr %llx len %u type %u flags 0x%x name ", (unsigned long long)addr, len,
		   get_u16(words, b->swap), get_u16(words + 2, b->swap));
	records_put_text(out, b);
	outbuf_char(out, '\n');
	return 0;
}

static int records_put_bpf_event(struct bytes *b, struct outbuf *out)
{
	const uint8_t *words = NULL;
	uint32_t id = 0;

	TRY(bytes_take(b, "type and flags", 4, &words));
	TRY(bytes_u32(b, "id", &id));
	outbuf_fmt(out, " type %u, flags %u, id %u\n", get_u16(words, b->swap),
		   get_u16(words + 2, b->swap), id);
	return 0;
}

/* Prints instructions, 16 bytes per line. */
static void records_put_code(struct outbuf *out, const char *which, const uint8_t *code,
			     unsigned len)
{
	for (unsigned i = 0; i < len; i++) {
		if (!(i % 16))
			outbuf_fmt(out, "%s            %s bytes:", i ? "\n" : "", which);
		outbuf_fmt(out, " %02x", code[i]);
	}
	if (len)
		outbuf_char(out, '\n');
}

static int records_put_text_poke(const struct event *ev, struct bytes *b, struct outbuf *out)
{
	const uint8_t *lens = NULL, *before = NULL, *after = NULL;
	unsigned before_len, after_len;
	const struct sonde_location *loc;
	uint64_t addr = 0;

	TRY(bytes_u64(b, "addr", &addr));
	TRY(bytes_take(b, "lengths", 4, &lens));
	before_len = get_u16(lens, b->swap);
	after_len = get_u16(lens + 2, b->swap);
	TRY(bytes_take(b, "old bytes", before_len, &before));
	TRY(bytes_take(b, "new bytes", after_len, &after));
	outbuf_fmt(out, " %llx ", (unsigned long long)addr);
	loc = recording_located(ev, addr, CPUMODE_KERNEL);
	if (loc->sym)
		outbuf_fmt(out, "%s+0x%llx", loc->sym, (unsigned long long)loc->sym_off);
	outbuf_fmt(out, " old len %u new len %u\n", before_len, after_len);
	records_put_code(out, "Old", before, before_len);
	records_put_code(out, "New", after, after_len);
	return 0;
}

static int records_put_body(const struct event *ev, const struct perfdata_view_record *rec,
			    struct bytes *b, struct outbuf *out)
{
	uint64_t n = 0;
	struct ids task;

	switch (rec->type) {
	case PERF_RECORD_COMM:
		return records_put_comm(b, rec, out);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return records_put_task(b, out);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return records_put_mmap(b, rec, ev->recording->opts->rules, out);
	case PERF_RECORD_NAMESPACES:
		return records_put_namespaces(b, out);
	case PERF_RECORD_CGROUP:
		TRY(bytes_u64(b, "id", &n));
		outbuf_fmt(out, " cgroup: %llu ", (unsigned long long)n);
		records_put_text(out, b);
		outbuf_char(out, '\n');
		return 0;
	case PERF_RECORD_AUX:
		return records_put_aux(b, out);
	case PERF_RECORD_ITRACE_START:
		TRY(records_read_ids(b, &task));
		outbuf_fmt(out, " pid: %d tid: %d\n", (int)task.a, (int)task.b);
		return 0;
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		TRY(bytes_u64(b, "hw_id", &n));
		outbuf_str(out, " hw_id: ");
		records_put_0x(out, n);
		outbuf_char(out, '\n');
		return 0;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return records_put_switch(b, rec, out);
	case PERF_RECORD_LOST:
		TRY(bytes_skip(b, "id", 8));
		TRY(bytes_u64(b, "lost", &n));
		outbuf_fmt(out, " lost %llu\n", (unsigned long long)n);
		return 0;
	case PERF_RECORD_KSYMBOL:
		return records_put_ksymbol(b, out);
	case PERF_RECORD_BPF_EVENT:
		return records_put_bpf_event(b, out);
	case PERF_RECORD_TEXT_POKE:
		return records_put_text_poke(ev, b, out);
	default:
		outbuf_char(out, '\n');
		return 0;
	}
}

bool perf_record_body(const struct event *ev, const struct perfdata_view_record *rec,
		      struct outbuf *out)
{
	/* In perf a text without a NUL continues into the ids. */
	uint32_t len = ev->pub.record_len -
		       (ev->recording->opts->rules->texts_run_into_ids ? 0 : rec->trailer_bytes);
	struct bytes b = bytes_init(ev->pub.record, len, ev->pub.file_off, "", rec->swap);
	size_t before = out->len;

	b.pos += HEADER_BYTES;
	if (!rec->is_damaged && records_put_body(ev, rec, &b, out) >= 0)
		return true;
	err_clear();
	out->len = before;
	return false;
}

void perf_record_put(const struct event *ev, bool in_dump, struct outbuf *out)
{
	struct perfdata_view_record rec;

	if (!record_read(ev, &rec))
		return;
	outbuf_fmt(out, "PERF_RECORD_%s", perf_record_name(rec.type));
	if (!perf_record_body(ev, &rec, out))
		outbuf_str(out, " (damaged)\n");
	else if (rec.type == PERF_RECORD_EXIT && in_dump)
		/* the dump shows the same text again after the record's own line */
		perf_record_body(ev, &rec, out);
}
