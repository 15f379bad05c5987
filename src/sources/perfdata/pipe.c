/* SPDX-License-Identifier: MIT */
/*
 * perf.data in pipe mode: the data that are in the header in file mode are in records, in any
 * order.
 *
 *	16 bytes of header | ATTR FEATURE TRACING_DATA + blob ... | tasks, mappings | samples ...
 *	                   '-- the prelude, read when the recording is opened -'
 *
 * The prelude ends where the first samples may begin and an event type is known. Later records of
 * these kinds are CUT_HEADER: order/ passes them on before it cuts any record after them.
 */

#include <stdlib.h>
#include <unistd.h>

#include "sources/perfdata/perfdata.h"

enum {
	RECORD_HEADER_BYTES = 8,
	FEATURE_HEADER_BYTES = 16,
	UPDATE_HEADER_BYTES = 24,
	UPDATE_NAME = 2,
	EARLY_NAMES_MAX = 64 << 10,
	READ_BYTES = 1 << 20
};

static struct bytes pipe_body_of(const struct perfdata_source *s, const uint8_t *rec, size_t len,
				 size_t skip, uint64_t off, const char *what)
{
	const size_t begin = skip < len ? skip : len; /* a record may be shorter than the struct of
							 its kind */
	struct bytes b =
		bytes_init(rec + begin, len - begin, off + begin, s->file.path, s->file.swap);

	b.what = what;
	return b;
}

static void pipe_rename_event(struct perfdata_event *e, const char *name)
{
	if (e->name && !strcmp(e->name, name))
		return;
	e->name = name;
	e->is_renamed |= e->schema != NULL;
}

int perfdata_pipe_name(struct perfdata_source *s, uint64_t id, const char *name)
{
	const uint64_t at = hash64_find(&s->by_id, id);

	if (at != HASH64_EMPTY)
		pipe_rename_event(&s->events.v[s->ids.v[at].event], name);
	else if (s->early_names.n < EARLY_NAMES_MAX)
		return vec_push(&s->early_names, (struct perfdata_early_name){ id, name });
	return 0;
}

/* Descriptions of an event type that preceded its attr; the last one is valid. */
static void pipe_take_early_names(struct perfdata_source *s, uint32_t event)
{
	vec_foreach(early, &s->early_names) {
		const uint64_t at = hash64_find(&s->by_id, early->id);

		if (at != HASH64_EMPTY && s->ids.v[at].event == event)
			pipe_rename_event(&s->events.v[event], early->name);
	}
}

/* { attr (its size is in it) | u64 ids ... } */
static int pipe_take_attr(struct perfdata_source *s, const uint8_t *rec, size_t len, uint64_t off)
{
	struct bytes b = pipe_body_of(s, rec, len, RECORD_HEADER_BYTES, off, "an attr record");
	uint32_t event = (uint32_t)s->events.n, attr_bytes;
	const uint8_t *attr = b.pos;
	uint64_t id = 0;

	if (!event)
		s->first_attr_off = off;
	TRY(bytes_skip(&b, "attr", PERFDATA_ATTR_MIN_BYTES));
	attr_bytes = get_u32(attr + 4, s->file.swap);
	if (attr_bytes > PERFDATA_ATTR_MIN_BYTES)
		TRY(bytes_skip(&b, "attr", attr_bytes - PERFDATA_ATTR_MIN_BYTES));
	TRY(perfdata_event_add(s, attr, (size_t)(b.pos - attr)));
	while (bytes_left(&b) >= 8) {
		TRY(bytes_u64(&b, "id", &id));
		TRY(perfdata_id_add(s, id, event));
	}
	pipe_take_early_names(s, event);
	return 0;
}

/* { u64 feature | body as in file mode } */
static int pipe_take_feature(struct perfdata_source *s, const uint8_t *rec, size_t len,
			     uint64_t off)
{
	struct bytes b = pipe_body_of(s, rec, len, RECORD_HEADER_BYTES, off, "a feature record");
	uint64_t feature = 0;
	uint8_t *copy;

	TRY(bytes_u64(&b, "feature", &feature));
	if (feature >= NR_FEATURES || !bytes_left(&b))
		return 0; /* the mark after the last one */
	copy = arena_alloc(&s->arena, bytes_left(&b));
	if (!copy)
		return err_nomem();
	memcpy(copy, b.pos, bytes_left(&b));
	b = pipe_body_of(s, copy, bytes_left(&b), 0, off + FEATURE_HEADER_BYTES,
			 "a feature record");
	TRY(perfdata_sections_make(s));
	s->sections[feature] = b;
	s->file.feature_bits[feature / 64] |= UINT64_C(1) << feature % 64;
	return perfdata_feature_take(s, (enum perfdata_feature)feature, b);
}

/* Makes new schemas for event types whose name or format is newer than their schema. */
static int pipe_renew_schemas(struct perfdata_source *s)
{
	vec_foreach(e, &s->events) {
		if (!e->schema || e->is_renamed)
			TRY(perfdata_schema_make(s, e));
	}
	return 0;
}

/* The data begin at the end of the record, whatever its size is. len: of the record and the data.
 */
static int pipe_take_tracing_data(struct perfdata_source *s, const uint8_t *rec, size_t len,
				  uint64_t off)
{
	uint8_t *copy = arena_alloc(&s->arena, len);
	struct bytes b;

	if (!copy)
		return err_nomem();
	memcpy(copy, rec, len);
	b = pipe_body_of(s, copy, len, get_u16(rec + 6, s->file.swap), off,
			 "the formats of tracepoints");
	TRY(perfdata_sections_make(s));
	s->sections[FEAT_TRACING_DATA] = b;
	TRY(perfdata_feature_take(s, FEAT_TRACING_DATA, b));
	vec_foreach(e, &s->events)
		e->is_renamed |= e->attr.type == PERF_TYPE_TRACEPOINT;
	return 0;
}

/* { u64 kind | u64 id | for a name: text } */
static int pipe_take_update(struct perfdata_source *s, const uint8_t *rec, size_t len, uint64_t off)
{
	struct bytes b = pipe_body_of(s, rec, len, RECORD_HEADER_BYTES, off, "an event update");
	uint64_t kind = 0, id = 0;
	const char *name = NULL;

	TRY(bytes_u64(&b, "kind", &kind));
	TRY(bytes_u64(&b, "id", &id));
	if (kind != UPDATE_NAME)
		return 0;
	TRY(bytes_cstr(&b, "name", &name));
	if (!*name)
		return 0;
	name = arena_strdup(&s->arena, name);
	return name ? perfdata_pipe_name(s, id, name) : err_nomem();
}

static int pipe_take(struct perfdata_source *s, const uint8_t *rec, size_t len, uint64_t off)
{
	uint32_t type = get_u32(rec, s->file.swap);

	if (type == RECORD_ID_INDEX && s->behind_first)
		perfdata_directory_ids_look(s, rec, len);
	if (perfdata_is_simpleperf(type, (uint32_t)len) && !s->file.is_pipe)
		return perfdata_simpleperf_take(s, rec, len, off);
	if (!s->file.is_pipe)
		return 0;
	switch (type) {
	case RECORD_HEADER_ATTR:
		return pipe_take_attr(s, rec, len, off);
	case RECORD_HEADER_FEATURE:
		return pipe_take_feature(s, rec, len, off);
	case RECORD_HEADER_TRACING_DATA:
		return pipe_take_tracing_data(s, rec, len, off);
	case RECORD_EVENT_UPDATE:
		return pipe_take_update(s, rec, len, off);
	case RECORD_HEADER_BUILD_ID:
		return perfdata_feature_take(s, FEAT_BUILD_ID,
					     pipe_body_of(s, rec, len, 0, off, "a build id"));
	default:
		return 0;
	}
}

uint64_t perfdata_pipe_record_bytes(const struct perfdata_source *s, const uint8_t *rec,
				    uint16_t size)
{
	if (get_u32(rec, s->file.swap) == RECORD_HEADER_TRACING_DATA)
		return perfdata_record_bytes(rec, size, s->file.swap);
	return size;
}

int perfdata_pipe_settle(struct perfdata_source *s)
{
	const int r = pipe_renew_schemas(s);

	atomic_store_explicit(&s->is_unsettled, false, memory_order_release);
	return r;
}

int perfdata_take_header(struct source *source, const struct cut *cuts, int nr)
{
	struct perfdata_source *s = perfdata_of(source);

	for (int i = 0; i < nr; i++) {
		const struct cut *cut = &cuts[i];

		TRY(perfdata_pipe_take(
			s, cut->bytes,
			perfdata_pipe_record_bytes(s, cut->bytes, (uint16_t)cut->len),
			cut->file_off));
	}
	/* From here on times and ids may have other offsets. */
	perfdata_rules_choose(s);
	return 0;
}

int perfdata_pipe_take(struct perfdata_source *s, const uint8_t *rec, size_t len, uint64_t off)
{
	int r;

	if (off < s->taken_to)
		return 0;
	s->taken_to = off + len;
	r = pipe_take(s, rec, len, off);
	s->is_unsettled = s->schemas_made;
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1, "%s", err_text());
		err_clear();
	}
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Reads len bytes at off into s->prelude. Returns 1, or 0 if the input ends before them. */
static int pipe_read_at(struct perfdata_source *s, uint64_t off, size_t len, struct outbuf *out)
{
	out->len = 0;
	while (out->len < len) {
		/* The buffer grows with the bytes that arrive, because the length is not trusted.
		 */
		size_t want = len - out->len < READ_BYTES ? len - out->len : READ_BYTES;
		char *to = outbuf_room(out, want);
		int64_t n;

		if (!to)
			return err_nomem();
		n = s->opts.stream ? stream_read(s->opts.stream, off + out->len, to, want)
				   : pread(s->file.fd, to, want, (off_t)(off + out->len));
		if (n < 0 && !s->opts.stream) {
			if (errno == EINTR)
				continue;
			return err_errno(errno, "cannot read %s", s->file.path);
		}
		if (n < 0)
			return (int)n;
		if (!n)
			return 0;
		out->len += (size_t)n;
	}
	return 1;
}

static bool pipe_is_compressed(uint32_t type)
{
	return type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

static bool pipe_ends_prelude(uint32_t type)
{
	return type == PERF_RECORD_SAMPLE || type == RECORD_FINISHED_ROUND || type == RECORD_STAT ||
	       type == RECORD_FINISHED_INIT || type == RECORD_AUXTRACE || pipe_is_compressed(type);
}

static int pipe_read_prelude(struct perfdata_source *s, struct outbuf *record)
{
	uint64_t off = PERFDATA_PIPE_HEADER_BYTES;

	for (;;) {
		const uint8_t *rec;
		uint32_t type;
		uint64_t len;
		uint16_t size;
		int r = pipe_read_at(s, off, RECORD_HEADER_BYTES, record);

		if (r <= 0)
			return r;
		rec = (const uint8_t *)record->data;
		size = get_u16(rec + 6, s->file.swap);
		type = get_u32(rec, s->file.swap);
		s->meets_compressed |= size >= RECORD_HEADER_BYTES && pipe_is_compressed(type);
		/*
		 * cut() reports bytes that are not a record. Attrs may follow all samples
		 * (--tail-synthesize), but they follow each other.
		 */
		if (size < RECORD_HEADER_BYTES || (s->events.n && pipe_ends_prelude(type)))
			return 0;
		r = pipe_read_at(s, off, size, record);
		if (r <= 0)
			return r;
		len = perfdata_pipe_record_bytes(s, (const uint8_t *)record->data, size);
		if (len > MAX_TRACING_BYTES)
			return err_set(-EFBIG, "%s: the formats of tracepoints have %llu bytes",
				       s->file.path, (unsigned long long)len);
		if (len > size) {
			r = pipe_read_at(s, off, (size_t)len, record);
			if (r <= 0)
				return r;
		}
		TRY(perfdata_pipe_take(s, (const uint8_t *)record->data, (size_t)len, off));
		off += type == RECORD_AUXTRACE
			       ? perfdata_record_bytes((const uint8_t *)record->data, size,
						       s->file.swap)
			       : len;
	}
}

int perfdata_pipe_open(struct perfdata_source *s)
{
	struct outbuf record = { 0 };
	int r;

	s->file.data =
		(struct perfdata_section){ PERFDATA_PIPE_HEADER_BYTES,
					   s->opts.stream ? UINT64_MAX - PERFDATA_PIPE_HEADER_BYTES
							  : s->file.size_bytes -
								    PERFDATA_PIPE_HEADER_BYTES };
	r = pipe_read_prelude(s, &record);
	outbuf_done(&record);
	if (r >= 0 && !s->events.n && s->opts.takes_no_events)
		r = perfdata_event_add_none(s);
	else if (r >= 0 && !s->events.n)
		r = err_set(-EBADMSG,
			    "%s: the recording describes no event before it ends or is damaged: it "
			    "may be cut off, or its recorder was killed",
			    s->file.path);
	return r;
}
