/* SPDX-License-Identifier: MIT */
/* The view (view.h). */

#include <stdlib.h>

#include "model/callchain.h"
#include "model/schema_table.h"
#include "sources/perfdata/perfdata.h"
#include "sources/perfdata/unzip.h"
#include "sources/perfdata/view.h"

enum { FIRST_TOOL_RECORD = 64, MAX_SECTION_BYTES = 256 << 20 };

/* Reads the members of a sample that have fixed offsets. */
static void listing_sample_ids(const struct perfdata_layout *l, const uint8_t *rec, bool swap,
			       struct perfdata_view_record *ret)
{
	if (l->tid) {
		ret->pid = (int32_t)get_u32(rec + l->tid, swap);
		ret->tid = (int32_t)get_u32(rec + l->tid + 4, swap);
	}
	if (l->time)
		ret->time_ns = get_u64(rec + l->time, swap);
	if (l->cpu)
		ret->cpu = get_u32(rec + l->cpu, swap);
	if (l->id)
		ret->id = get_u64(rec + l->id, swap);
}

/* Reads the trailer of a record of the kernel that is not a sample. */
static void listing_trailer_ids(const struct perfdata_layout *l, const uint8_t *end, bool swap,
				struct perfdata_view_record *ret)
{
	if (l->end_tid) {
		ret->pid = (int32_t)get_u32(end - l->end_tid, swap);
		ret->tid = (int32_t)get_u32(end - l->end_tid + 4, swap);
	}
	if (l->end_time)
		ret->time_ns = get_u64(end - l->end_time, swap);
	if (l->end_cpu)
		ret->cpu = get_u32(end - l->end_cpu, swap);
	if (l->end_id)
		ret->id = get_u64(end - l->end_id, swap);
	ret->trailer_bytes = l->trailer_bytes;
}

/*
 * perfdata_event_of() writes to its cache of recent ids, so the source of a view cannot be const.
 */
static struct perfdata_source *listing_source_of_view(const struct perfdata_view *v)
{
	return (struct perfdata_source *)v;
}

struct perfdata_view *perfdata_view_of(struct source *s)
{
	return s && s->ops == &perfdata_source_ops ? (struct perfdata_view *)s : NULL;
}

int perfdata_view_raw(struct perfdata_view *v, const struct cut *cut, struct event *ret)
{
	struct perfdata_source *s = listing_source_of_view(v);
	const struct unzip *unzip = perfdata_unzip_of(s, cut->file);
	const struct perfdata_event *e = NULL;
	bool swap = s->file.swap;

	/* Events of header records that were taken since have no schema so far, or an older one. */
	if (__builtin_expect(atomic_load_explicit(&s->is_unsettled, memory_order_relaxed), 0))
		TRY(perfdata_pipe_settle(s));
	if (get_u32(cut->bytes, swap) < FIRST_TOOL_RECORD)
		e = perfdata_event_of(s, cut->bytes, cut->len, NULL);
	if (!s->raw_schema.name)
		s->raw_schema = (struct sonde_schema){
			.kind = SONDE_RECORD,
			.abi = s->abi,
			.system = "",
			.event = "record",
			.name = "record",
		};
	ret->schema = &s->raw_schema;
	ret->pub.flags =
		(swap ? SONDE_EVENT_SWAPPED : 0) | (cut->flags & CUT_LATE ? SONDE_EVENT_LATE : 0);
	ret->pub.record = ret->pub.bytes = cut->bytes;
	ret->pub.record_len = ret->pub.bytes_len = cut->len;
	ret->pub.file_off = unzip ? unzip_place(unzip, cut->file_off) : cut->file_off;
	ret->pub.cpumode = get_u16(cut->bytes + 4, swap) & CPUMODE_MASK;
	ret->pub.time_ns = SONDE_NO_TIME;
	ret->pub.cpu = ret->pub.pid = ret->pub.tid = -1;
	ret->attr = ret->member = e ? e->index : 0;
	ret->cut = cut;
	return 0;
}

void perfdata_view_record(const struct perfdata_view *v, const struct event *ev,
			  struct perfdata_view_record *ret)
{
	struct perfdata_source *s = listing_source_of_view(v);
	const uint8_t *rec = ev->pub.record;
	uint32_t len = ev->pub.record_len;
	bool swap = s->file.swap;
	struct perfdata_view_record r = {
		.type = get_u32(rec, swap),
		.misc = get_u16(rec + 4, swap),
		.swap = swap,
	};
	const struct perfdata_event *e;
	bool is_known;

	vec_foreach(each, &s->events)
		r.sample_types |= each->attr.sample_type;
	/* In pipe mode no event type is known before the record of the first one. */
	is_known = !s->first_attr_off || ev->pub.file_off > s->first_attr_off;
	if (!is_known)
		r.sample_types = 0;
	r.has_ids = r.type == PERF_RECORD_SAMPLE || (is_known && s->events.v[0].attr.sample_id_all);
	if (r.type >= FIRST_TOOL_RECORD) {
		/* A count names its event by an id. */
		if (r.type == RECORD_STAT && len >= 16) {
			uint64_t at = hash64_find(&s->by_id, get_u64(rec + 8, swap));

			r.schema =
				at == HASH64_EMPTY ? NULL : s->events.v[s->ids.v[at].event].schema;
		}
		*ret = r;
		return;
	}
	r.pid = r.tid = -1;
	r.cpu = UINT32_MAX;
	r.time_ns = r.id = UINT64_MAX;
	e = perfdata_event_of(s, rec, len, NULL);
	if (e) {
		const struct perfdata_layout *l = &e->layout;

		r.schema = e->schema;
		if (r.type == PERF_RECORD_SAMPLE && len >= l->first_variable)
			listing_sample_ids(l, rec, swap, &r);
		else if (r.type != PERF_RECORD_SAMPLE && len >= 8u + l->trailer_bytes)
			listing_trailer_ids(l, rec + len, swap, &r);
		else
			r.is_damaged = true;
	}
	*ret = r;
}

void perfdata_view_header(const struct perfdata_view *v, struct perfdata_view_header *ret)
{
	const struct perfdata_source *s = listing_source_of_view(v);
	bool says_by_bits;

	*ret = (struct perfdata_view_header){
		.changed_s = s->changed_s,
		.version = perfdata_header_version(&s->file),
		.is_pipe = s->file.is_pipe,
		.swap = s->file.swap,
		.compressed = { s->unpacked.records[0], s->unpacked.records[1] },
	};
	if (!s->file.is_pipe) {
		ret->data_off = s->file.data.offset;
		ret->data_bytes = s->file.data.size;
		ret->features_off = s->file.data.offset + s->file.data.size;
	}
	/* Recorders set the bits at the beginning and write the sections at the end. */
	says_by_bits = s->file.is_pipe || !s->file.unfinished;
	for (unsigned i = 0; i < NR_FEATURES; i++) {
		if (s->file.features[i].offset ||
		    (says_by_bits && s->file.feature_bits[i / 64] >> i % 64 & 1))
			ret->features[i / 64] |= UINT64_C(1) << i % 64;
	}
	ret->marks = (ret->features[0] | s->file.feature_bits[0]) & PERFDATA_MARKS;
}

/* u32 pid, tid | u64 value */
static int listing_read_counter(struct bytes *b, struct source_report *ret)
{
	uint32_t pid, tid;

	TRY(bytes_u32(b, "pid", &pid));
	TRY(bytes_u32(b, "tid", &tid));
	TRY(bytes_u64(b, "value", &ret->value));
	ret->pid = (int32_t)pid;
	ret->tid = (int32_t)tid;
	return 0;
}

/* LOST: u64 id, lost. LOST_SAMPLES: u64 lost. */
static int listing_read_report(struct bytes *b, uint32_t type, struct source_report *ret)
{
	if (type == PERF_RECORD_READ) {
		ret->kind = REPORT_READ;
		return listing_read_counter(b, ret);
	}
	ret->kind = type == PERF_RECORD_LOST ? REPORT_LOST : REPORT_LOST_EXACT;
	if (ret->kind == REPORT_LOST)
		TRY(bytes_skip(b, "id", 8));
	return bytes_u64(b, "lost", &ret->lost);
}

void perfdata_report(struct source *source, const struct event *ev, struct source_report *ret)
{
	struct perfdata_view *view = (struct perfdata_view *)source;
	uint32_t type = ev->schema->record_type;
	struct perfdata_view_record rec;
	struct source_report r = { 0 };
	struct bytes b;

	if (type != PERF_RECORD_LOST && type != PERF_RECORD_LOST_SAMPLES &&
	    type != PERF_RECORD_THROTTLE && type != PERF_RECORD_READ)
		return;
	perfdata_view_record(view, ev, &rec);
	r.schema = rec.schema;
	if (type == PERF_RECORD_THROTTLE) {
		r.kind = REPORT_THROTTLED;
		*ret = r;
		return;
	}
	b = bytes_init(ev->pub.bytes, ev->pub.bytes_len, ev->pub.file_off, "",
		       ev->pub.flags & SONDE_EVENT_SWAPPED);
	if (listing_read_report(&b, type, &r) < 0)
		err_clear(); /* counted as a bad record when it was decoded */
	else
		*ret = r;
}

void perfdata_traits(struct source *source, struct source_traits *ret)
{
	struct perfdata_view_header head;

	perfdata_view_header((struct perfdata_view *)source, &head);
	*ret = (struct source_traits){
		.describes_late = head.is_pipe,
		.has_cpu_traces = head.marks >> FEAT_AUXTRACE & 1,
		.has_counts = head.marks >> FEAT_STAT & 1,
		.reports_types = true,
	};
}

int perfdata_sections_make(struct perfdata_source *s)
{
	if (!s->sections)
		s->sections = calloc(NR_FEATURES, sizeof(*s->sections));
	return s->sections ? 0 : err_nomem();
}

bool perfdata_view_event_at(const struct perfdata_view *v, size_t i,
			    struct perfdata_view_event *ret)
{
	const struct perfdata_source *s = listing_source_of_view(v);
	const struct perfdata_event *e = s->events.v + i;

	if (i >= s->events.n || s->has_no_events)
		return false;
	*ret = (struct perfdata_view_event){
		.attr = e->recorded,
		.attr_bytes = e->recorded_bytes,
		.name = e->schema ? e->schema->name
			: e->name ? e->name
				  : "",
		.is_named = e->name != NULL,
	};
	return true;
}

bool perfdata_view_id_at(const struct perfdata_view *v, size_t i, uint64_t *ret_id,
			 size_t *ret_event)
{
	const struct perfdata_source *s = listing_source_of_view(v);

	if (i >= s->ids.n)
		return false;
	*ret_id = s->ids.v[i].id;
	*ret_event = s->ids.v[i].event;
	return true;
}

static int listing_private_section(struct perfdata_source *s, struct perfdata_section section,
				   const char *what, struct bytes *ret)
{
	const int r = section.size ? perfdata_section_read(&s->file, &s->arena, section, what,
							   MAX_SECTION_BYTES, ret)
				   : -ENOENT;

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		err_clear();
	return r == 0;
}

int perfdata_section(struct perfdata_source *s, uint64_t feature, struct bytes *ret)
{
	int r;

	if (feature == PERFDATA_PRIVATE_KALLSYMS)
		return listing_private_section(s, s->file.kallsyms, "the kernel's symbols", ret);
	if (feature == PERFDATA_PRIVATE_CGROUPS)
		return listing_private_section(s, s->file.cgroups, "the control groups", ret);
	if (feature < NR_FEATURES && s->sections && bytes_left(&s->sections[feature])) {
		*ret = s->sections[feature];
		return 1;
	}
	if (feature >= NR_FEATURES || !s->file.features[feature].size)
		return 0;
	TRY(perfdata_sections_make(s));
	r = perfdata_section_read(&s->file, &s->arena, s->file.features[feature],
				  "a header section", MAX_SECTION_BYTES, ret);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		err_clear();                        /* reported on opening, or not needed */
		s->file.features[feature].size = 0; /* nor is it read again */
		return 0;
	}
	s->sections[feature] = *ret; /* kept, so that a second call makes no second copy */
	return 1;
}

int perfdata_view_section(struct perfdata_view *v, uint64_t feature, struct bytes *ret)
{
	return perfdata_section(listing_source_of_view(v), feature, ret);
}
