/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/outbuf.h"
#include "formats/blktrace/record.h"
#include "formats/perfdata/layout.h"
#include "formats/tracedat/buffers.h"
#include "formats/tracedat/head.h"
#include "formats/tracedat/page.h"
#include "sonde/sonde.h"

enum {
	RECORD_HEADER_BYTES = 8,
	ATTR_SIZE_AT = 4,
	AT_ONCE = 700, /* bytes compressed into one record: a few records, the last cut in two */
	PACKED_ROOM = 64 * 1024
};

void recording_done(struct recording *r)
{
	for (unsigned i = 0; i < r->nr; i++) {
		free(r->files[i].bytes);
		free(r->files[i].seen);
		vec_done(&r->files[i].places);
	}
	*r = (struct recording){ 0 };
}

uint64_t recording_seen_before(const struct sweep_file *f, uint64_t at)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < f->places.n && f->places.v[i].end <= at; i++)
		seen = f->places.v[i].seen_end;
	return seen;
}

const struct place *recording_place_of(const struct sweep_file *f, uint64_t at)
{
	for (size_t i = 0; i < f->places.n; i++) {
		if (at >= f->places.v[i].begin && at < f->places.v[i].end)
			return &f->places.v[i];
	}
	return NULL;
}

uint16_t recording_file_of(const struct recording *r, const struct sonde_event *ev)
{
	for (unsigned i = 0; i < r->nr; i++) {
		const struct sweep_file *f = &r->files[i];
		const uint8_t *bytes = f->seen ? f->seen : f->bytes;
		const size_t len = f->seen ? f->seen_len : f->len;

		if (ev->file_off <= len && ev->record_len <= len - ev->file_off &&
		    !memcmp(bytes + ev->file_off, ev->record, ev->record_len))
			return (uint16_t)i;
	}
	return 0;
}

/* ---- a file ---------------------------------------------------------------------------------- */

/* The size of a record with the data that belongs to it; 0 if it is not complete. */
static uint64_t record_size(const uint8_t *p, uint64_t left, bool swap)
{
	uint64_t len = left >= RECORD_HEADER_BYTES ? get_u16(p + 6, swap) : 0;

	if (len < RECORD_HEADER_BYTES || len > left)
		return 0;
	if (get_u32(p, swap) == RECORD_HEADER_TRACING_DATA && len >= 16)
		len += (get_u32(p + 8, swap) + 7) & ~7u;
	return len <= left ? len : 0;
}

static bool belongs_to_header(uint32_t type)
{
	return type == RECORD_HEADER_ATTR || type == RECORD_HEADER_FEATURE ||
	       type == RECORD_HEADER_TRACING_DATA || type == RECORD_HEADER_BUILD_ID ||
	       type == RECORD_EVENT_UPDATE;
}

/* In pipe mode the data begins after the last record of the header. */
static int find_places(struct sweep_file *f, bool is_pipe, bool swap)
{
	uint64_t len, at = f->data_begin;

	for (; at < f->data_end; at += len) {
		len = record_size(f->bytes + at, f->data_end - at, swap);
		if (!len)
			break;
		if (is_pipe && belongs_to_header(get_u32(f->bytes + at, swap)))
			f->data_begin = at + len;
		TRY(vec_push(&f->places, (struct place){ at, at + len, at, at + len }));
	}
	return 0;
}

int recording_read_file(struct sweep_file *f, const char *path)
{
	FILE *in = fopen(path, "rbe");
	struct outbuf all = { 0 };
	char piece[4096];
	size_t n;

	if (!in) {
		perror(path);
		return -1;
	}
	while ((n = fread(piece, 1, sizeof(piece), in)) > 0)
		outbuf_put(&all, piece, n);
	fclose(in);
	f->bytes = (uint8_t *)all.data;
	f->len = all.len;
	return 0;
}

static struct perfdata_header header_of(const struct sweep_file *f, bool swap)
{
	struct perfdata_header h;
	uint64_t *words = (uint64_t *)&h;

	memcpy(&h, f->bytes, sizeof(h));
	for (size_t i = 0; swap && i < sizeof(h) / sizeof(*words); i++)
		words[i] = __builtin_bswap64(words[i]);
	return h;
}

void recording_name(struct recording *r, const char *from, const char *how)
{
	const char *slash = strrchr(from, '/');

	snprintf(r->name, sizeof(r->name), "%.40s%s", slash ? slash + 1 : from, how);
}

/* A file of blktrace has only records. */
static bool find_blktrace_places(struct recording *r, const char *path)
{
	struct sweep_file *f = &r->files[0];
	struct blktrace_head head;

	if (!blktrace_head_find(f->bytes, f->len, &head))
		return false;
	r->is_pipe = true;
	r->swap = head.swap;
	f->data_end = f->len;
	for (uint64_t at = 0; blktrace_head_find(f->bytes + at, f->len - at, &head) && head.bytes;
	     at += head.bytes)
		(void)vec_push(&f->places,
			       (struct place){ at, at + head.bytes, at, at + head.bytes });
	recording_name(r, path, "");
	return true;
}

/* The places of the records of a page. */
static void find_page_places(struct sweep_file *f, const struct ring_layout *l, uint64_t begin)
{
	struct ring_record rec;
	struct ring_page page;
	uint32_t at = l->data_off;
	uint64_t time = 0;

	if (!ring_page_read(l, f->bytes + begin, l->page_bytes, &page))
		return;
	while (ring_next(l, f->bytes + begin, page.end, &at, &time, &rec) > 0)
		(void)vec_push(&f->places,
			       (struct place){ begin + rec.at, begin + rec.at + rec.len,
					       begin + rec.at, begin + rec.at + rec.len });
}

/* A trace.dat of version 6 without instances: its pages are at the end. */
static bool find_tracedat_places(struct recording *r, const char *path)
{
	struct sweep_file *f = &r->files[0];
	struct bytes b = bytes_init(f->bytes, f->len, 0, path, false);
	struct tracedat_start start;
	struct tracedat_sections sections;
	struct ring_layout l = { 0 };

	if (!tracedat_head_find(f->bytes, f->len) || tracedat_start_read(&b, &start) < 0 ||
	    tracedat_sections_read(&b, &sections) < 0 ||
	    ring_layout_read(sections.header_page, &l) < 0)
		return false;
	r->is_pipe = true;
	r->swap = l.swap = b.swap;
	l.is_big = start.is_big;
	f->data_begin = (bytes_file_off(&b) + l.page_bytes - 1) / l.page_bytes * l.page_bytes;
	f->data_end = f->len;
	for (uint64_t at = f->data_begin; at + l.page_bytes <= f->len; at += l.page_bytes)
		find_page_places(f, &l, at);
	recording_name(r, path, "");
	return true;
}

int recording_read(struct recording *ret, const char *path)
{
	struct recording r = { .nr = 1 };
	struct sweep_file *f = &r.files[0];
	struct perfdata_header h;
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return recording_read_folder(ret, path);
	TRY(recording_read_file(f, path));
	if (find_blktrace_places(&r, path) || find_tracedat_places(&r, path) ||
	    recording_find_text_places(&r, path)) {
		*ret = r;
		return 0;
	}
	if (f->len < sizeof(h)) {
		fprintf(stderr, "%s: no recording\n", path);
		return -1;
	}
	r.swap = load_u64(f->bytes) == PERFDATA_MAGIC_SWAPPED;
	h = header_of(f, r.swap);
	r.is_pipe = h.size == PERFDATA_PIPE_HEADER_BYTES;
	f->data_begin = r.is_pipe ? PERFDATA_PIPE_HEADER_BYTES : h.data.offset;
	f->data_end = r.is_pipe ? f->len : h.data.offset + h.data.size;
	recording_name(&r, path, "");
	TRY(find_places(f, r.is_pipe, r.swap));
	*ret = r;
	return 0;
}

/* ---- others out of it ------------------------------------------------------------------------ */

static void take(struct sweep_file *f, struct outbuf *o)
{
	f->bytes = (uint8_t *)o->data;
	f->len = o->len;
	if (!f->data_end)
		f->data_end = o->len;
}

static void put_record(struct outbuf *o, uint32_t type, const void *head, size_t head_len,
		       const void *body, size_t len, size_t behind)
{
	struct perfdata_record_header h = { .type = type };
	const size_t pad = -(head_len + len) % 8;

	h.size = (uint16_t)(sizeof(h) + head_len + (behind ? 0 : len + pad));
	outbuf_put(o, &h, sizeof(h));
	outbuf_put(o, head, head_len);
	outbuf_put(o, body, len);
	outbuf_pad(o, 0, pad);
}

static void put_attrs(struct outbuf *o, const struct sweep_file *f, const struct perfdata_header *h)
{
	for (uint64_t at = h->attrs.offset; at < h->attrs.offset + h->attrs.size;
	     at += h->attr_size) {
		const uint64_t attr_len = h->attr_size - sizeof(struct perfdata_section);
		struct perfdata_section ids;
		struct outbuf body = { 0 };

		memcpy(&ids, f->bytes + at + attr_len, sizeof(ids));
		outbuf_put(&body, f->bytes + at, load_u32(f->bytes + at + ATTR_SIZE_AT));
		outbuf_put(&body, f->bytes + ids.offset, ids.size);
		put_record(o, RECORD_HEADER_ATTR, NULL, 0, body.data, body.len, 0);
		outbuf_done(&body);
	}
}

static void put_features(struct outbuf *o, const struct sweep_file *f,
			 const struct perfdata_header *h)
{
	const uint8_t *table = f->bytes + h->data.offset + h->data.size;

	for (unsigned feature = 0; feature < 64; feature++) {
		struct perfdata_section sec;
		const uint64_t number = feature;

		if (!(h->features[0] >> feature & 1))
			continue;
		memcpy(&sec, table, sizeof(sec));
		table += sizeof(sec);
		if (feature == FEAT_TRACING_DATA) {
			const uint32_t size[2] = { (uint32_t)sec.size };

			put_record(o, RECORD_HEADER_TRACING_DATA, size, sizeof(size),
				   f->bytes + sec.offset, sec.size, sec.size);
		} else if (feature != FEAT_BUILD_ID && sec.size < 60000) {
			put_record(o, RECORD_HEADER_FEATURE, &number, sizeof(number),
				   f->bytes + sec.offset, sec.size, 0);
		}
	}
}

int recording_make_pipe(struct recording *ret, const struct recording *from)
{
	const struct perfdata_header h = header_of(&from->files[0], false);
	const uint64_t head[2] = { PERFDATA_MAGIC, PERFDATA_PIPE_HEADER_BYTES };
	struct recording r = { .nr = 1, .is_pipe = true };
	struct outbuf o = { 0 };

	outbuf_put(&o, head, sizeof(head));
	put_attrs(&o, &from->files[0], &h);
	put_features(&o, &from->files[0], &h);
	outbuf_put(&o, from->files[0].bytes + h.data.offset, h.data.size);
	if (o.failed)
		return -1;
	r.files[0].data_begin = sizeof(head);
	take(&r.files[0], &o);
	recording_name(&r, from->name, ", pipe mode");
	TRY(find_places(&r.files[0], true, false));
	*ret = r;
	return 0;
}

/* Each file gets every third record; the first file has the header. */
int recording_make_directory(struct recording *ret, const struct recording *from)
{
	const struct sweep_file *whole = &from->files[0];
	const uint64_t behind = whole->data_end;
	struct recording r = { .nr = MOST_FILES };
	struct outbuf o[MOST_FILES] = { 0 };
	struct perfdata_header h = header_of(whole, false);
	uint64_t moved;
	unsigned turn = 0;

	outbuf_put(&o[0], whole->bytes, whole->data_begin);
	for (const struct place *p = whole->places.v; p < whole->places.v + whole->places.n; p++)
		outbuf_put(&o[turn++ % MOST_FILES], whole->bytes + p->begin, p->end - p->begin);
	for (unsigned i = 0; i < MOST_FILES; i++) {
		r.files[i].data_begin = i ? 0 : whole->data_begin;
		r.files[i].data_end = o[i].len;
	}
	/* The bytes after the data move to a smaller offset. */
	h.data.size = o[0].len - h.data.offset;
	moved = behind - o[0].len;
	outbuf_put(&o[0], whole->bytes + behind, whole->len - behind);
	if (o[0].failed || o[1].failed || o[2].failed)
		return -1;
	memcpy(o[0].data, &h, sizeof(h));
	for (unsigned i = 0; i < (unsigned)__builtin_popcountll(h.features[0]); i++) {
		char *section = o[0].data + h.data.offset + h.data.size + 16 * i;
		const uint64_t offset = load_u64(section) - moved;

		memcpy(section, &offset, sizeof(offset));
	}
	for (unsigned i = 0; i < MOST_FILES; i++) {
		take(&r.files[i], &o[i]);
		TRY(find_places(&r.files[i], false, false));
	}
	recording_name(&r, from->name, ", directory");
	*ret = r;
	return 0;
}

/* ---- compressed ------------------------------------------------------------------------------ */

static void put_compressed(struct outbuf *o, const void *packed, size_t len, bool padded)
{
	const uint64_t bytes = len;
	struct perfdata_record_header h = { .type = RECORD_COMPRESSED };

	if (padded) {
		put_record(o, RECORD_COMPRESSED2, &bytes, sizeof(bytes), packed, len, 0);
		return;
	}
	h.size = (uint16_t)(sizeof(h) + len);
	outbuf_put(o, &h, sizeof(h));
	outbuf_put(o, packed, len);
}

/* Compresses the data into one zstd frame, which is flushed for each record. */
static int compress(struct sweep_file *f, struct outbuf *o, const uint8_t *data, size_t size,
		    bool padded)
{
	static uint8_t packed[PACKED_ROOM];
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	uint64_t seen = o->len;
	int r = zstd ? 0 : -1;

	for (size_t n; r >= 0 && size; data += n, size -= n) {
		ZSTD_inBuffer in = { .src = data, .size = size < AT_ONCE ? size : AT_ONCE };
		ZSTD_outBuffer out = { .dst = packed, .size = sizeof(packed) };
		struct place p = { .begin = o->len, .seen_begin = seen };

		ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush);
		put_compressed(o, packed, out.pos, padded);
		n = in.size;
		seen += n;
		p.end = o->len;
		p.seen_end = seen;
		r = vec_push(&f->places, p);
	}
	ZSTD_freeCCtx(zstd);
	return r;
}

int recording_make_compressed(struct recording *ret, const struct recording *from, bool padded)
{
	const uint32_t body[5] = { 1, 1, 1, 4, 528384 };
	const struct sweep_file *plain = &from->files[0];
	struct recording r = { .nr = 1, .is_pipe = from->is_pipe };
	struct sweep_file *f = &r.files[0];
	struct outbuf o = { 0 };

	f->data_begin = plain->data_begin;
	outbuf_put(&o, plain->bytes, plain->data_begin);
	if (from->is_pipe) {
		for (size_t i = 0; i < plain->places.n; i++) {
			if (plain->places.v[i].end <= plain->data_begin)
				TRY(vec_push(&f->places, plain->places.v[i]));
		}
	}
	f->seen_len = plain->data_end;
	f->seen = malloc(f->seen_len);
	if (!f->seen)
		return -1;
	memcpy(f->seen, plain->bytes, f->seen_len);
	TRY(compress(f, &o, plain->bytes + plain->data_begin, plain->data_end - plain->data_begin,
		     padded));
	f->data_end = o.len;
	if (!from->is_pipe) {
		/*
		 * The only section is that of compression. Without the others the reader has no
		 * names and formats.
		 */
		struct perfdata_header h = header_of(plain, false);
		const struct perfdata_section table = { o.len + sizeof(table), sizeof(body) };

		h.data.size = o.len - h.data.offset;
		memset(h.features, 0, sizeof(h.features));
		h.features[0] = UINT64_C(1) << FEAT_COMPRESSED;
		outbuf_put(&o, &table, sizeof(table));
		outbuf_put(&o, body, sizeof(body));
		memcpy(o.data, &h, sizeof(h));
	}
	if (o.failed)
		return -1;
	take(f, &o);
	recording_name(&r, from->name, padded ? ", COMPRESSED2" : ", compressed");
	*ret = r;
	return 0;
}
