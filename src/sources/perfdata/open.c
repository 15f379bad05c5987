/* SPDX-License-Identifier: MIT */
/* Opening a perf.data in file mode: header, attrs and ids, features, schemas. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sources/perfdata/counts.h"
#include "sources/perfdata/perfdata.h"
#include "sources/perfdata/unzip.h"

enum { MAX_EVENTS = 65536, MAX_ATTRS_BYTES = 64 << 20, MAX_IDS_BYTES = 256 << 20 };

int perfdata_id_add(struct perfdata_source *s, uint64_t id, uint32_t event)
{
	uint64_t known = hash64_find(&s->by_id, id);

	if (known != HASH64_EMPTY) {
		s->ids.v[known].event = event;
		return 0;
	}
	TRY(vec_push(&s->ids, (struct perfdata_id){ .id = id, .event = event }));
	return hash64_put(&s->by_id, id, s->ids.n - 1);
}

static int open_check_file(struct perfdata_source *s)
{
	struct stat st;

	TRY(source_check_file(s->file.fd, s->file.path, s->opts.force, &st));
	s->file.size_bytes = (uint64_t)st.st_size;
	s->changed_s = st.st_mtime;
	return perfdata_header_read(&s->file, s->opts.defects);
}

static int open_file(struct perfdata_source *s)
{
	struct stat st;
	int dir, r;

	s->file.path = s->opts.path;
	if (s->opts.is_copied) {
		s->file.fd = s->opts.fd;
		return open_check_file(s);
	}
	s->file.fd = open(s->opts.path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (s->file.fd < 0)
		return err_errno(errno, "cannot open %s", s->opts.path);
	if (fstat(s->file.fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return open_check_file(s);
	dir = s->file.fd;
	s->file.fd = -1;
	r = perfdata_directory_open(s, dir);
	if (r == 0)
		r = open_check_file(s);
	if (r == 0)
		r = perfdata_directory_files(s, dir);
	close(dir);
	return r;
}

static int open_stream(struct perfdata_source *s)
{
	struct stream *stream = s->opts.stream;
	uint8_t head[PERFDATA_PIPE_HEADER_BYTES];
	int64_t n = 0;

	s->file.path = s->opts.path;
	s->file.size_bytes = UINT64_MAX;
	for (size_t got = 0; got < sizeof(head); got += (size_t)n) {
		n = stream_read(stream, got, head + got, sizeof(head) - got);
		if (n < 0)
			return (int)n;
		if (!n)
			return err_set(-EBADMSG, "%s ends after %zu bytes, in its header",
				       s->opts.path, got);
	}
	return perfdata_pipe_header_read(&s->file, head);
}

static int open_read_ids(struct perfdata_source *s, uint32_t event, struct perfdata_section sec)
{
	struct arena temp = { 0 };
	struct bytes b;
	uint64_t id = 0;
	int r = perfdata_section_read(&s->file, &temp, sec, "ids", MAX_IDS_BYTES, &b);

	while (r >= 0 && bytes_left(&b) >= 8) {
		r = bytes_u64(&b, "id", &id);
		if (r >= 0)
			r = perfdata_id_add(s, id, event);
	}
	arena_done(&temp);
	return r;
}

/* Decides on opening how ids and times are found, so that it need not be decided for each record.
 */
void perfdata_rules_choose(struct perfdata_source *s)
{
	const struct perfdata_layout *first = &s->events.v[0].layout;

	s->id_rule = s->events.n == 1 ? ID_ONE_EVENT : ID_SAME_PLACE;
	/*
	 * If records of state have no times, perf sorts only in pipe mode. sonde always sorts,
	 * because it promises samples in time order.
	 */
	s->unordered =
		s->opts.unordered || (s->opts.rules->sorts_with_ids_only && !s->file.is_pipe &&
				      !s->events.v[0].attr.sample_id_all);
	s->same_time_off = true;
	s->time_off = first->time;
	s->time_from_end = first->end_time;
	vec_foreach(e, &s->events) {
		const struct perfdata_layout *l = &e->layout;

		e->index = (uint32_t)(e - s->events.v);
		s->has_reads |= l->has_read;
		if (e->layout.id != first->id || e->layout.end_id != first->end_id)
			s->id_rule = ID_MIXED;
		if (e->layout.time != first->time || e->layout.end_time != first->end_time)
			s->same_time_off = false;
	}
	memset(s->recent, 0, sizeof(s->recent)); /* they point to event types, which have moved */
	memset(s->recent_ahead, 0, sizeof(s->recent_ahead));
	s->same_id_off = UINT32_MAX - 8;
	if (s->id_rule != ID_MIXED && first->id)
		s->same_id_off = first->id;
}

int perfdata_event_add(struct perfdata_source *s, const uint8_t *attr, size_t len)
{
	struct perfdata_event e = { .recorded_bytes = len };
	uint8_t *recorded;

	if (s->events.n >= MAX_EVENTS)
		return err_set(-E2BIG, "%s: at most %d events are accepted", s->file.path,
			       MAX_EVENTS);
	recorded = arena_alloc(&s->arena, len);
	if (!recorded)
		return err_nomem();
	memcpy(recorded, attr, len);
	e.recorded = recorded;
	perfdata_attr_read(attr, len, s->file.swap, &e.attr, &e.attr_size);
	perfdata_layout_of(&e.attr, &e.layout);
	return vec_push(&s->events, e);
}

int perfdata_event_add_none(struct perfdata_source *s)
{
	static const uint8_t attr[PERF_ATTR_SIZE_VER0];

	s->has_no_events = true;
	return perfdata_event_add(s, attr, sizeof(attr));
}

static int open_read_attrs(struct perfdata_source *s)
{
	uint64_t entry_bytes = s->file.attr_entry_bytes, n = s->file.attrs.size / entry_bytes;
	uint64_t ids_left = s->file.size_bytes; /* lists of ids do not overlap */
	struct arena temp = { 0 };
	struct bytes b;
	int r;

	if (n > MAX_EVENTS)
		return err_set(-E2BIG, "%s: %llu events; at most %d are accepted", s->file.path,
			       (unsigned long long)n, MAX_EVENTS);
	if (!n && s->opts.takes_no_events)
		return perfdata_event_add_none(s);
	if (!n)
		return err_set(-EBADMSG, "%s: the recording describes no event", s->file.path);
	r = perfdata_section_read(&s->file, &temp, s->file.attrs, "the attr section",
				  MAX_ATTRS_BYTES, &b);
	for (uint64_t i = 0; i < n && r >= 0; i++) {
		const uint8_t *entry = b.start + i * entry_bytes, *ids = entry + entry_bytes - 16;
		struct perfdata_section sec = { get_u64(ids, s->file.swap),
						get_u64(ids + 8, s->file.swap) };

		r = perfdata_event_add(s, entry, entry_bytes - 16);
		if (r < 0 || !sec.size)
			continue;
		r = open_read_ids(s, (uint32_t)i, sec);
		if (r >= 0 && sec.size > ids_left)
			r = err_set(-EBADMSG, "%s: the lists of ids are larger than the file",
				    s->file.path);
		ids_left -= sec.size;
	}
	arena_done(&temp);
	return r;
}

/* The text by which sonde's recorder marks the end of a recording. */
static int open_read_end(struct perfdata_source *s)
{
	static const char *const reasons[] = { [PERFDATA_END_DISK_FULL] = "the disk was full",
					       [PERFDATA_END_QUOTA] = "the disk quota was used up",
					       [PERFDATA_END_FILE_LIMIT] =
						       "the file size limit was reached",
					       [PERFDATA_END_FAILED] = "the recorder failed" };
	struct perfdata_end end = { 0 };
	struct arena temp = { 0 };
	struct bytes b;
	int r;

	if (s->file.end.size != sizeof(end))
		return 0;
	r = perfdata_section_read(&s->file, &temp, s->file.end, "the recording's end", sizeof(end),
				  &b);
	if (r == 0)
		r = bytes_u64(&b, "reason", &end.reason);
	if (r == 0)
		r = bytes_u64(&b, "unwritten", &end.unwritten);
	if (r == 0)
		r = bytes_u64(&b, "flags", &end.flags);
	if (r == 0)
		r = bytes_u64(&b, "missed cpus", &end.missed_cpus);
	if (r == 0)
		r = bytes_u64(&b, "first of them", &end.first_cpu);
	arena_done(&temp);
	TRY(r);
	if (end.missed_cpus)
		defects_add(s->opts.defects, DEFECT_MISSED_CPUS, end.missed_cpus, "cpu %llu",
			    (unsigned long long)end.first_cpu);
	if (!end.reason)
		return 0;
	s->has_ended_early = true;
	if (end.reason > PERFDATA_END_FAILED)
		end.reason = PERFDATA_END_FAILED;
	s->losses.unwritten = end.unwritten;
	s->losses.only_unwritten = !(end.flags & PERFDATA_END_KERNEL_COUNTS);
	defects_add(s->opts.defects, DEFECT_ENDED_EARLY, end.unwritten ? end.unwritten : 1,
		    "%s; recorded events that could not be written: %llu", reasons[end.reason],
		    (unsigned long long)end.unwritten);
	return 0;
}

/* The size of the bytes that may hold compressed records; for a pipe, unzip counts them. */
static uint64_t open_packed_bytes(struct perfdata_source *s)
{
	uint64_t bytes = s->file.data.size;

	if (s->opts.stream)
		return 0;
	if (s->opts.packed_bytes)
		return s->opts.packed_bytes;
	vec_foreach(f, &s->data_files)
		bytes += f->bytes;
	return bytes;
}

static int open_unzips(struct perfdata_source *s)
{
	const struct unzip_options o = {
		.from = s->opts.stream,
		.fd = s->file.fd,
		.begin = s->file.data.offset,
		.end = s->file.data.offset + s->file.data.size,
		.path = s->file.path,
		.behind_offset = s->behind_first,
		.swap = s->file.swap,
		.is_complete = !s->file.is_pipe && !s->file.unfinished && !s->has_ended_early,
		.keeps_places = s->opts.raw_records,
		.unpacked = &s->unpacked,
		.defects = s->opts.read_defects,
	};

	s->unpacked = (struct unpacked){
		.max_bytes = s->opts.max_unpacked,
		.packed_bytes = open_packed_bytes(s),
	};
	TRY(unzip_open(&s->unzip, &o));
	return perfdata_directory_unzip(s, &o);
}

static int open_steps(struct perfdata_source *s)
{
	TRY(s->opts.stream ? open_stream(s) : open_file(s));
	TRY(s->file.is_pipe ? perfdata_pipe_open(s) : open_read_attrs(s));
	perfdata_rules_choose(s);
	s->abi = (struct abi){
		.swap = s->file.swap,
		.big_endian = s->file.big_endian,
		.long_bytes = 8,
	};
	if (!s->file.is_pipe) {
		TRY(open_read_end(s));
		TRY(perfdata_features_read(s));
		TRY(perfdata_first_records_look(s));
	}
	TRY(perfdata_schemas_make(s));
	if (!s->meets_compressed && !(s->file.feature_bits[0] >> FEAT_COMPRESSED & 1) &&
	    !s->file.features[FEAT_COMPRESSED].size) /* of a killed recorder */
		return 0;
	return open_unzips(s);
}

int perfdata_open(struct source **ret, const struct source_options *opts)
{
	struct perfdata_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return source_refuse_without_memory(opts);
	s->source.ops = &perfdata_source_ops;
	s->opts = *opts;
	s->file.fd = -1;
	r = open_steps(s);
	if (r < 0) {
		perfdata_close(&s->source);
		return r;
	}
	*ret = &s->source;
	return 0;
}

void perfdata_close(struct source *source)
{
	struct perfdata_source *s = perfdata_of(source);

	if (s->file.fd >= 0)
		close(s->file.fd);
	unzip_close(s->unzip);
	perfdata_directory_close(s);
	stream_free(s->opts.stream);
	free(s->unwanted_ids);
	free(s->sections);
	perfdata_counts_free(s->counts);
	sample_scratch_done(&s->scratch);
	sample_scratch_done(&s->group_scratch);
	outbuf_done(&s->fact);
	outbuf_done(&s->split);
	vec_done(&s->events);
	vec_done(&s->ids);
	vec_done(&s->early_names);
	vec_done(&s->formats);
	hash64_done(&s->format_by_id);
	hash64_done(&s->tracepoints_used);
	vec_done(&s->info.build_ids);
	hash64_done(&s->info.build_id_by_path);
	hash64_done(&s->by_id);
	vec_done(&s->named_files);
	hash64_done(&s->named_by_path);
	free(s->chain_record);
	arena_done(&s->arena);
	free(s);
}

static bool open_perfdata_streams(const uint8_t *head, size_t len)
{
	struct perfdata_file f = { .path = "" };
	bool yes = len >= PERFDATA_PIPE_HEADER_BYTES && perfdata_pipe_header_read(&f, head) >= 0;

	err_clear();
	return yes;
}

static bool open_perfdata_file(struct source *source, unsigned i, struct source_file *ret)
{
	struct perfdata_source *s = perfdata_of(source);

	if (i)
		return perfdata_directory_file(s, i - 1, ret);
	*ret = (struct source_file){
		.fd = s->file.fd,
		.stream = s->unzip ? unzip_stream(s->unzip) : s->opts.stream,
		.path = s->file.path,
		.begin = s->file.data.offset,
		.end = s->unzip ? UINT64_MAX : s->file.data.offset + s->file.data.size,
	};
	return true;
}

const struct source_ops perfdata_source_ops = {
	.name = "perf.data",
	.summary = "recordings of perf and sonde, file mode",
	.probe = perfdata_probe,
	.head_file = perfdata_directory_head,
	.open = perfdata_open,
	.streams = open_perfdata_streams,
	.file = open_perfdata_file,
	.cut = perfdata_cut,
	.mark_unwanted = perfdata_mark_unwanted,
	.take_header = perfdata_take_header,
	.decode = perfdata_decode,
	.decode_ahead = perfdata_decode_ahead,
	.sample = perfdata_sample,
	.weigh = perfdata_weigh,
	.group_at = perfdata_group_at,
	.callchain = perfdata_callchain,
	.user_chain = perfdata_simpleperf_chain,
	.kernel = perfdata_kernel,
	.kallsyms = perfdata_kallsyms,
	.build_id = perfdata_build_id,
	.build_id_at = perfdata_build_id_at,
	.span = perfdata_span,
	.named_file = perfdata_named_file,
	.traces = perfdata_traces,
	.ended = perfdata_ended,
	.clock = perfdata_clock,
	.traits = perfdata_traits,
	.report = perfdata_report,
	.fact_at = perfdata_fact_at,
	.info = perfdata_info,
	.close = perfdata_close,
};
