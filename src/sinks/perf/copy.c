/* SPDX-License-Identifier: MIT */
/*
 * Copies a recording: writes the events that pass the session's filters, as they were recorded, to
 * one file or several. Each file has the header and the state that its events need (liveness.h).
 *
 * A sample is kept if any of its events passes the filters. A record of state is kept until an
 * event needs it. Losses, throttling and similar records are kept in their place.
 */

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/perfdata/layout.h"
#include "recording/recording.h"
#include "sinks/perf/liveness.h"
#include "sinks/perf/part_size.h"
#include "sinks/perf/need.h"
#include "sinks/perf/part.h"
#include "sinks/perf/counter_reads.h"
#include "sinks/perf/text_provider.h"
#include "sinks/sink.h"

enum { FIRST_TOOL_RECORD = 64, MAX_PARTS = 99999, MAX_SUMS = 1 << 20 };

struct copy_options {
	char *output; /* the file to write; with `every`, the prefix of the parts' names */
	char *every;  /* size or duration of a part; NULL means one file */
};

struct copy_sink {
	struct sink base;
	const struct copy_options *o;
	struct recording *rec;
	const struct filters *filters;
	struct liveness liveness;
	struct counter_reads counter_reads;
	struct part part;
	bool is_open; /* `part` is open */
	/* The next members are for a split. */
	struct part_size part_size; /* both 0 if there is one file */
	char *prefix;               /* "DIR/perf.data": parts are PREFIX.0001 ... */
	unsigned nr_parts, finished;
	bool has_sample;  /* the part has a sample or a count */
	uint64_t bytes;   /* bytes in the part, without the state at its start */
	uint64_t next_ns; /* start time of the next part; 0 if there was no event with a time yet */
	uint64_t lost;    /* losses in LOST records of the part */
	/* Losses in LOST records of earlier parts not yet subtracted from a LOST_SAMPLES count. */
	uint64_t lost_before;
	struct outbuf sums; /* LOST_SAMPLES without a time, written to the last part */
	struct event raw;   /* the current record as it is stored */
	/* the bytes of `raw`, which may be changed; len is 0 once they are handled */
	struct outbuf record;
	uint32_t type;
	uint32_t event; /* index of a sample's event, as recorded */
	bool swap;
	uint64_t time_ns;        /* 0 if the record acts when it is read */
	struct outbuf build_ids; /* build ids recorded in pipe mode */
};

static struct copy_sink *copy_sink_of(struct sink *s)
{
	return (struct copy_sink *)s;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static bool copy_is_split(const struct copy_sink *s)
{
	return s->part_size.bytes || s->part_size.ns;
}

static int copy_open_part(struct copy_sink *s)
{
	const char *path = s->o->output;
	char *name = NULL;
	int r;

	if (copy_is_split(s)) {
		if (s->nr_parts == MAX_PARTS)
			return err_set(-E2BIG,
				       "--every %s makes more than %d parts: choose a larger one",
				       s->o->every, MAX_PARTS);
		if (asprintf(&name, "%s.%04u", s->prefix, s->nr_parts + 1) < 0)
			return err_nomem();
		path = name;
	}
	r = part_open(&s->part, s->rec, path, !copy_is_split(s));
	free(name);
	if (r < 0)
		return r;
	s->is_open = true;
	s->nr_parts++;
	s->bytes = 0;
	liveness_rewind(&s->liveness);
	return 0;
}

static int copy_close_part(struct copy_sink *s)
{
	s->is_open = false;
	TRY(part_finish(&s->part, &s->build_ids));
	s->finished++;
	s->lost_before = s->lost_before + s->lost < s->lost ? UINT64_MAX : s->lost_before + s->lost;
	s->lost = 0;
	return 0;
}

static int copy_write_state(struct copy_sink *s)
{
	const struct liveness_record *r;

	while ((r = liveness_next(&s->liveness)) != NULL)
		TRY(part_put(&s->part, r->bytes, r->len, r->time_ns, false));
	return 0;
}

/* True for sums of perf stat since its start. A reader prints their growth since the last sums. */
static bool copy_is_count(uint32_t type)
{
	return type == RECORD_STAT || type == RECORD_STAT_ROUND;
}

/* True if this record is the first of another part. */
static bool copy_begins_part(struct copy_sink *s, uint32_t len)
{
	if (copy_is_count(s->type))
		return false;
	if (s->part_size.bytes)
		return s->bytes && s->bytes + len > s->part_size.bytes;
	if (!s->part_size.ns || !s->time_ns)
		return false;
	if (!s->next_ns) {
		s->next_ns = s->time_ns > UINT64_MAX - s->part_size.ns
				     ? UINT64_MAX
				     : s->time_ns + s->part_size.ns;
		return false;
	}
	if (s->time_ns < s->next_ns)
		return false;
	s->next_ns += (s->time_ns - s->next_ns) / s->part_size.ns * s->part_size.ns;
	s->next_ns = s->next_ns > UINT64_MAX - s->part_size.ns ? UINT64_MAX
							       : s->next_ns + s->part_size.ns;
	return true;
}

/* Opens the part for the record, and writes the state that the record needs. */
static int copy_prepare_part(struct copy_sink *s, uint32_t len)
{
	if (copy_begins_part(s, len) && s->is_open)
		TRY(copy_close_part(s));
	if (!s->is_open)
		TRY(copy_open_part(s));
	s->bytes += len;
	return copy_write_state(s);
}

/*
 * LOST reports a loss where it was noticed. LOST_SAMPLES reports it again in the sums at the end (a
 * reader that finds both knows that). Losses reported in earlier parts are subtracted from the
 * sums, so that the losses of all parts add up to those of the recording.
 *
 *	u32 type | u16 misc | u16 size | LOST: u64 id | u64 lost;  LOST_SAMPLES: u64 lost
 */
static void copy_share_loss(struct copy_sink *s, uint8_t *record, uint32_t len)
{
	const uint32_t at = s->type == PERF_RECORD_LOST ? 16 : 8;
	uint64_t lost, taken;

	if (len < at + 8)
		return;
	lost = get_u64(record + at, s->swap);
	if (s->type == PERF_RECORD_LOST) {
		s->lost = s->lost + lost < lost ? UINT64_MAX : s->lost + lost;
		return;
	}
	if (get_u16(record + 4, s->swap) & PERFDATA_MISC_LOST_SAMPLES_BPF)
		return;
	taken = lost < s->lost_before ? lost : s->lost_before;
	s->lost_before -= taken;
	lost -= taken;
	lost = get_u64(&lost, s->swap);
	memcpy(record + at, &lost, sizeof(lost));
}

static int copy_keep_record(struct copy_sink *s)
{
	uint32_t len = (uint32_t)s->record.len;
	int r = copy_prepare_part(s, len);

	if (r == 0 && (s->type == PERF_RECORD_LOST || s->type == PERF_RECORD_LOST_SAMPLES))
		copy_share_loss(s, (uint8_t *)s->record.data, len);
	s->has_sample |= s->type == PERF_RECORD_SAMPLE || copy_is_count(s->type);
	if (r == 0 && s->type == PERF_RECORD_SAMPLE)
		r = counter_reads_take(&s->counter_reads, s->event, (uint8_t *)s->record.data, len,
				       s->swap, s->nr_parts);
	if (r == 0)
		r = part_put(&s->part, (const uint8_t *)s->record.data, len, s->time_ns,
			     s->type == PERF_RECORD_SAMPLE);
	s->record.len = 0;
	return r;
}

/*
 * Writes the recorder's sums at the end. They act when they are read, which may be before the
 * losses that they sum up.
 */
static int copy_take_sums(struct copy_sink *s)
{
	uint32_t at = 0, len;

	s->type = PERF_RECORD_LOST_SAMPLES;
	s->time_ns = 0;
	for (; at < s->sums.len; at += len) {
		len = get_u16(s->sums.data + at + 6, s->swap);
		s->record.len = 0;
		outbuf_put(&s->record, s->sums.data + at, len);
		if (s->record.failed)
			return err_nomem();
		TRY(copy_keep_record(s));
	}
	s->sums.len = 0;
	return 0;
}

static bool copy_is_sum(const struct copy_sink *s)
{
	return copy_is_split(s) && s->type == PERF_RECORD_LOST_SAMPLES && !s->time_ns &&
	       s->sums.len < MAX_SUMS;
}

static int copy_keep_or_wait(struct copy_sink *s)
{
	if (!copy_is_sum(s))
		return copy_keep_record(s);
	outbuf_put(&s->sums, s->record.data, s->record.len);
	s->record.len = 0;
	return s->sums.failed ? err_nomem() : 0;
}

/* ---- records --------------------------------------------------------------------------------- */

/*
 * True for perf's record of trace data, whose data is after the record. simpleperf's record
 * contains its data.
 */
static bool copy_has_data_behind(uint32_t type, uint32_t len)
{
	return type == RECORD_HEADER_TRACING_DATA && len <= TRACING_DATA_RECORD_MAX;
}

/* True for a header record of pipe mode. It is not copied, because the copy has its own header. */
static bool copy_is_of_header(uint32_t type, uint32_t len)
{
	return type == RECORD_HEADER_ATTR || type == RECORD_HEADER_FEATURE ||
	       type == RECORD_HEADER_BUILD_ID || copy_has_data_behind(type, len);
}

/* True for a record that the recorder writes once about the complete recording. */
static bool copy_is_of_recorder(uint32_t type)
{
	/* simpleperf's records: symbols, files, ids, possibly in pieces */
	if (type >= RECORD_SIMPLEPERF_KERNEL_SYMBOL && type <= RECORD_SIMPLEPERF_EVENT_ID)
		return true;
	switch (type) {
	case RECORD_SIMPLEPERF_TRACING_DATA:
	case RECORD_HEADER_TRACING_DATA:
	case RECORD_HEADER_EVENT_TYPE:
	case RECORD_ID_INDEX:
	case RECORD_AUXTRACE_INFO:
	case RECORD_THREAD_MAP:
	case RECORD_CPU_MAP:
	case RECORD_STAT_CONFIG:
	case RECORD_EVENT_UPDATE:
	case RECORD_TIME_CONV:
	case RECORD_FINISHED_INIT:
	case RECORD_BPF_METADATA:
		return true;
	default:
		return false;
	}
}

/*
 * A record between the events is kept if the filters choose its time, and its cpu and task if
 * recorded. A loss is always kept, because chosen events might have been lost.
 */
static bool copy_is_chosen(const struct copy_sink *s, const struct sonde_event *ev)
{
	const struct recording *from = s->rec;

	if (s->time_ns && !time_windows_hold(&from->early.time, s->time_ns))
		return false;
	if (s->type == PERF_RECORD_LOST || s->type == PERF_RECORD_LOST_SAMPLES || !ev)
		return true;
	return cpu_list_holds(&from->early.cpus, ev->cpu) &&
	       (ev->pid < 0 || late_filter_pass(&s->filters->late, ev));
}

/*
 * Keeps or drops a record without a chosen event: it is refused, damaged, of an unknown kind, or
 * only counted.
 */
static int copy_settle(struct copy_sink *s)
{
	bool keep;

	/*
	 * Filters cannot judge a sample of an unknown event, so it is kept only if there are no
	 * filters.
	 */
	keep = s->type == PERF_RECORD_SAMPLE ? !s->filters->is_set : copy_is_chosen(s, NULL);
	if (keep)
		return copy_keep_or_wait(s);
	if (s->type == PERF_RECORD_SAMPLE)
		TRY(counter_reads_take(&s->counter_reads, s->event, (uint8_t *)s->record.data,
				       (uint32_t)s->record.len, s->swap, 0));
	s->record.len = 0;
	return 0;
}

static int copy_keep_aux(struct copy_sink *s, const struct cut *rec, bool swap)
{
	struct source *source = s->rec->source;
	struct source_file file;
	uint64_t bytes;

	enum { SIZE_AT = 8 };

	if (rec->len < SIZE_AT + 8 || !source->ops->file(source, rec->file, &file))
		return 0;
	bytes = get_u64(rec->bytes + SIZE_AT, swap);
	if (rec->file_off + rec->len > file.end || bytes > file.end - rec->file_off - rec->len)
		return 0; /* truncated; the walk counts it */
	TRY(copy_prepare_part(s, rec->len));
	s->bytes += bytes;
	return part_put_aux(&s->part, rec->bytes, rec->len, &file, rec->file_off + rec->len, bytes);
}

/* The subject of a record of state that belongs to no process. */
static struct liveness_subject copy_subject_of(const struct copy_sink *s, const struct change *c)
{
	const uint8_t *record = (const uint8_t *)s->record.data;
	struct liveness_subject ret = { .adds = true };

	enum { HEAD = 24 };

	if (s->record.len < HEAD)
		return ret; /* damaged */
	ret.adds = false;
	switch (s->type) {
	case PERF_RECORD_KSYMBOL: /* u64 address | u32 bytes | u16 type | u16 flags */
		ret.id = get_u64(record + 8, s->swap);
		ret.ends = get_u16(record + 22, s->swap) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
		break;
	case PERF_RECORD_BPF_EVENT: /* u16 type | u16 flags | u32 id */
		ret.id = get_u32(record + 12, s->swap);
		ret.ends = get_u16(record + 8, s->swap) == PERF_BPF_EVENT_PROG_UNLOAD;
		break;
	case PERF_RECORD_CGROUP: /* u64 id | path; perf uses the first path of an id */
		ret.id = get_u64(record + 8, s->swap);
		ret.adds = true;
		break;
	/*
	 * u64 address | u16 old bytes | u16 new bytes. A shorter poke changes only a part of a
	 * longer one, and a guest's poke does not change the host, so the length and misc are part
	 * of the id.
	 */
	case PERF_RECORD_TEXT_POKE:
		ret.id = get_u64(record + 8, s->swap) ^
			 hash_u64((uint64_t)get_u16(record + 18, s->swap) << 16 |
				  get_u16(record + 4, s->swap));
		break;
	default: /* a mapping of the kernel or a guest: u32 pid | u32 tid | u64 address */
		ret.id = hash_bytes(record + 8, 16);
		ret.map_bytes = c->len;
	}
	ret.id = hash_u64(ret.id) ^ s->type;
	return ret;
}

/*
 * If everything is kept, state is written in its order, so that no change between two samples is
 * missed. Otherwise live state is written in front of the next chosen event.
 */
static int copy_write_state_now(struct copy_sink *s)
{
	return s->is_open && !s->filters->is_set && !s->filters->is_choosy ? copy_write_state(s)
									   : 0;
}

static int copy_keep_state(struct copy_sink *s, const struct event *ev)
{
	const uint8_t *record = (const uint8_t *)s->record.data;
	const struct change *c = ev->change;
	uint32_t len = (uint32_t)s->record.len;
	struct liveness_subject subject;

	if (s->type == PERF_RECORD_NAMESPACES) {
		TRY(liveness_add_namespaces(&s->liveness, ev->pub.pid, ev->pub.tid, record, len,
					    s->time_ns));
	} else if (c->kind == CHANGE_NONE || c->kind == CHANGE_SWITCH || c->kind == CHANGE_CGROUP ||
		   c->kind == CHANGE_KSYMBOL || c->kind == CHANGE_TEXT_POKE || c->kernel) {
		subject = copy_subject_of(s, c);
		TRY(liveness_add_subject(&s->liveness, &subject, record, len, s->time_ns));
	} else {
		TRY(liveness_add(&s->liveness, c, record, len, s->time_ns));
	}
	return copy_write_state_now(s);
}

/*
 * Handles records that are kept or dropped regardless of their events; copies the bytes of all
 * others.
 */
static int copy_take_raw(struct copy_sink *s, const struct cut *cut)
{
	const struct event *raw = &s->raw;
	bool swap;

	TRY(perfdata_view_raw(s->counter_reads.view, cut, &s->raw));
	swap = raw->pub.flags & SONDE_EVENT_SWAPPED;
	s->record.len = 0;
	s->type = get_u32(cut->bytes, swap);
	s->time_ns = cut->order == CUT_ORDERED ? cut->time_ns : 0;
	s->event = raw->attr;
	s->swap = swap;
	if (s->type == RECORD_HEADER_BUILD_ID)
		outbuf_put(&s->build_ids, cut->bytes, cut->len);
	if (copy_is_of_header(s->type, cut->len) || s->type == RECORD_FINISHED_ROUND ||
	    s->type == RECORD_COMPRESSED || s->type == RECORD_COMPRESSED2)
		return 0;
	if (s->type == RECORD_AUXTRACE)
		return copy_keep_aux(s, cut, swap);
	if (copy_is_of_recorder(s->type)) {
		TRY(liveness_add_subject(&s->liveness,
					 &(struct liveness_subject){ .id = s->type, .adds = true },
					 cut->bytes, cut->len, s->time_ns));
		return copy_write_state_now(s);
	}
	outbuf_put(&s->record, cut->bytes, cut->len);
	return s->record.failed ? err_nomem() : 0;
}

/* Keeps the record when its first chosen event arrives. */
static int copy_take_event(struct copy_sink *s, const struct event *ev)
{
	int r = 0;

	if (ev->schema->kind <= SONDE_SAMPLE || !perfdata_is_state(s->type)) {
		if (ev->schema->kind <= SONDE_SAMPLE || copy_is_chosen(s, &ev->pub))
			return copy_keep_or_wait(s);
	} else {
		r = copy_keep_state(s, ev);
	}
	s->record.len = 0;
	return r;
}

static int copy_record(struct sink *sink, struct sink_record *record)
{
	struct copy_sink *s = copy_sink_of(sink);
	const struct event *ev;
	enum verdict verdict;
	int r = 1;

	TRY(copy_take_raw(s, record->cut));
	while (s->record.len && (r = record->next(record, &ev, &verdict)) > 0)
		TRY(copy_take_event(s, ev));
	if (r < 0)
		return r;
	return s->record.len ? copy_settle(s) : 0;
}

/* ---- the sink -------------------------------------------------------------------------------- */

/* Removes finished parts after a failure, because they are not a complete copy of the input. */
static void copy_remove_parts(struct copy_sink *s)
{
	char *name;

	for (unsigned i = 1; copy_is_split(s) && i <= s->finished; i++) {
		if (asprintf(&name, "%s.%04u", s->prefix, i) < 0)
			break;
		unlink(name);
		free(name);
	}
	if (s->is_open)
		part_discard(&s->part);
	s->is_open = false;
}

static int copy_finish(struct sink *sink, bool complete)
{
	struct copy_sink *s = copy_sink_of(sink);
	int r = 0;

	if (complete)
		r = copy_take_sums(s);
	/* If nothing was kept, write a recording without events. */
	if (complete && r == 0 && !s->is_open && !s->nr_parts)
		r = copy_open_part(s);
	if (complete && r == 0 && s->is_open)
		r = copy_write_state(s);
	if (complete && r == 0 && s->is_open)
		r = copy_close_part(s);
	if (!complete || r < 0)
		copy_remove_parts(s);
	else
		s->base.wrote_none = !s->has_sample;
	return r;
}

static int copy_flush(struct sink *sink)
{
	return 0;
}

static void copy_close(struct sink *sink)
{
	struct copy_sink *s = copy_sink_of(sink);

	if (!s)
		return;
	if (s->is_open)
		part_discard(&s->part);
	liveness_done(&s->liveness);
	counter_reads_done(&s->counter_reads);
	outbuf_done(&s->record);
	outbuf_done(&s->build_ids);
	outbuf_done(&s->sums);
	free(s->prefix);
	free(s);
}

/* Chooses the prefix of the parts: next to the input, in a folder, or as given by the user. */
static int copy_choose_prefix(struct copy_sink *s, const char *input)
{
	const struct copy_options *o = s->o;
	const char *slash, *base;
	size_t len = strlen(input);
	struct stat st;
	char *first;
	int r = 0;

	while (len > 1 && input[len - 1] == '/')
		len--;
	slash = memrchr(input, '/', len);
	base = slash ? slash + 1 : input;
	if (!o->output)
		r = asprintf(&s->prefix, "%.*s", (int)len, input);
	else if (o->output[strlen(o->output) - 1] == '/' ||
		 (stat(o->output, &st) == 0 && S_ISDIR(st.st_mode)))
		r = asprintf(&s->prefix, "%s/%.*s", o->output, (int)(len - (size_t)(base - input)),
			     base);
	else
		r = asprintf(&s->prefix, "%s", o->output);
	if (r < 0) {
		s->prefix = NULL;
		return err_nomem();
	}
	if (asprintf(&first, "%s.0001", s->prefix) < 0)
		return err_nomem();
	r = part_check_free(first);
	free(first);
	return r;
}

static const struct key keys[] = {
	KEY_TEXT("output", struct copy_options, output),
	KEY_TEXT("every", struct copy_options, every),
};

static int copy_check(const struct sink_options *opts)
{
	const struct copy_options *o = opts->own;
	struct part_size size;

	return o->every ? part_size_parse(o->every, &size) : 0;
}

static struct sink_wants copy_wants(const struct sink_options *opts)
{
	return (struct sink_wants){
		.samples = true,
		.records = true,
		.raw_records = true,
		.all_records = true,
	};
}

static int copy_open(struct sink **ret, const struct sink_options *opts)
{
	const struct copy_options *o = opts->own;
	struct perfdata_view *view;
	struct copy_sink *s;
	int r = 0;

	r = perf_view_need(opts->recordings->v, "cutting or splitting", &view);
	if (r < 0)
		return err_add(r, "sonde convert writes the events of any recording");
	if (!o->output && !o->every)
		return err_set(-EINVAL, "format=perfdata needs the name of the file to write "
					"(output)");
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->base.ops = &perfdata_sink_ops;
	s->rec = opts->recordings->v;
	s->filters = opts->filters;
	s->o = o;
	s->counter_reads.view = view;
	s->raw.recording = s->rec;
	s->raw.source = s->rec->source;
	s->liveness.once = !o->every;
	if (o->every) {
		r = part_size_parse(o->every, &s->part_size);
		if (r >= 0)
			r = copy_choose_prefix(s, strcmp(opts->input, "-") ? opts->input
									   : "perf.data");
	}
	/*
	 * Open the output before anything is read, so that an output that cannot be written fails
	 * at once. In pipe mode more facts about the events may arrive before the first event, so
	 * the output is only checked.
	 */
	if (r >= 0 && !source_read_traits(s->rec->source).describes_late)
		r = copy_open_part(s);
	else if (r >= 0 && !copy_is_split(s))
		r = part_check(s->rec, s->o->output);
	if (r < 0) {
		copy_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}

const struct sink_ops perfdata_sink_ops = {
	.name = "perfdata",
	.summary = "a recording of the chosen events",
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct copy_options),
	.check = copy_check,
	.wants = copy_wants,
	.open = copy_open,
	.record = copy_record,
	.finish = copy_finish,
	.flush = copy_flush,
	.close = copy_close,
	.text_provider = &perf_text_provider,
};
