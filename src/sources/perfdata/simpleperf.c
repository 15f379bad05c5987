/* SPDX-License-Identifier: MIT */
/*
 * Android's simpleperf writes its own records, with types from 32768 on, and its own header
 * sections, from number 128 on, to perf.data. docs/formats/perf-data.md lists those that are read:
 *
 *	KERNEL_SYMBOL  u32 bytes | text as of /proc/kallsyms
 *	TRACING_DATA   u32 bytes | as the header section of that name; older versions use perf's
 *	               number for it, 66
 *	EVENT_ID       u64 n | n x { u64 index of an attr, u64 id }: of later threads and cpus
 *	CALLCHAIN      u32 pid, tid | u64 kind, time, n | n x u64 addr | n x u64 stack pointer
 *	SPLIT ...      a piece of a record that is too large for one, with the record's header in
 *	               the first piece; SPLIT_END: the record is complete
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/outbuf.h"
#include "sources/perfdata/perfdata.h"

enum { RECORD_HEADER_BYTES = 8, MAX_RECORDS_LOOKED_AT = 4096, MAX_RECORD_BYTES = 65536 };

bool perfdata_is_simpleperf(uint32_t type, uint32_t len)
{
	switch (type) {
	case RECORD_SIMPLEPERF_KERNEL_SYMBOL:
	case RECORD_SIMPLEPERF_SPLIT:
	case RECORD_SIMPLEPERF_SPLIT_END:
	case RECORD_SIMPLEPERF_EVENT_ID:
	case RECORD_SIMPLEPERF_TRACING_DATA:
		return true;
	case RECORD_HEADER_TRACING_DATA:
		return len > TRACING_DATA_RECORD_MAX;
	default:
		return false;
	}
}

/* u32 number of bytes | the bytes. Returns a copy that lives as long as the session. */
static int simpleperf_take_sized(struct perfdata_source *s, struct bytes *b, struct bytes *ret)
{
	const uint8_t *p = NULL;
	uint32_t n = 0;
	uint8_t *copy;

	TRY(bytes_u32(b, "bytes", &n));
	TRY(bytes_take(b, "data", n, &p));
	copy = arena_alloc(&s->arena, n ? n : 1);
	if (!copy)
		return err_nomem();
	memcpy(copy, p, n);
	*ret = bytes_init(copy, n, b->file_off + (uint64_t)(p - b->start), s->file.path,
			  s->file.swap);
	ret->what = b->what;
	return 0;
}

static int simpleperf_take_event_ids(struct perfdata_source *s, struct bytes *b)
{
	uint64_t n = 0, event = 0, id = 0;

	TRY(bytes_u64(b, "number of ids", &n));
	while (n-- && bytes_left(b)) {
		TRY(bytes_u64(b, "attr", &event));
		TRY(bytes_u64(b, "id", &id));
		if (event < s->events.n)
			TRY(perfdata_id_add(s, id, (uint32_t)event));
	}
	return 0;
}

static int simpleperf_take_formats(struct perfdata_source *s, struct bytes *b)
{
	struct bytes data;

	TRY(simpleperf_take_sized(s, b, &data));
	TRY(perfdata_feature_take(s, FEAT_TRACING_DATA, data));
	vec_foreach(e, &s->events)
		e->is_renamed |= e->schema && e->attr.type == PERF_TYPE_TRACEPOINT;
	return 0;
}

static int simpleperf_take_whole(struct perfdata_source *s, const uint8_t *rec, size_t len,
				 uint64_t off)
{
	struct bytes b = bytes_init(rec, len, off, s->file.path, s->file.swap), symbols;

	b.what = "a record of simpleperf";
	TRY(bytes_skip(&b, "header", RECORD_HEADER_BYTES));
	switch (get_u32(rec, s->file.swap)) {
	case RECORD_SIMPLEPERF_KERNEL_SYMBOL:
		TRY(simpleperf_take_sized(s, &b, &symbols));
		if (!bytes_left(&s->kallsyms))
			s->kallsyms = symbols;
		return 0;
	case RECORD_SIMPLEPERF_EVENT_ID:
		return simpleperf_take_event_ids(s, &b);
	case RECORD_SIMPLEPERF_TRACING_DATA:
	case RECORD_HEADER_TRACING_DATA:
		return simpleperf_take_formats(s, &b);
	default:
		defects_add(s->opts.defects, DEFECT_UNKNOWN_RECORD, 1,
			    "type %u in pieces at 0x%llx", get_u32(rec, s->file.swap),
			    (unsigned long long)off);
		return 0;
	}
}

int perfdata_simpleperf_take(struct perfdata_source *s, const uint8_t *rec, size_t len,
			     uint64_t off)
{
	uint32_t type = get_u32(rec, s->file.swap);
	int r = 0;

	if (type == RECORD_SIMPLEPERF_SPLIT) {
		if (s->split.len + len > MAX_TRACING_BYTES)
			return err_set(-EFBIG, "%s: a record in pieces of more than %d bytes",
				       s->file.path, MAX_TRACING_BYTES);
		outbuf_put(&s->split, rec + RECORD_HEADER_BYTES, len - RECORD_HEADER_BYTES);
		return s->split.failed ? err_nomem() : 0;
	}
	if (type != RECORD_SIMPLEPERF_SPLIT_END)
		return simpleperf_take_whole(s, rec, len, off);
	if (s->split.len >= RECORD_HEADER_BYTES)
		r = simpleperf_take_whole(s, (const uint8_t *)s->split.data, s->split.len, off);
	outbuf_done(&s->split);
	return r;
}

/* ---- call chains ----------------------------------------------------------------------------- */

/*
 * `simpleperf debug-unwind` keeps a copied stack and adds the chains that its unwinder found, in
 * records of the same pid, tid and time. A joined chain also has callers beyond the end of the
 * copied stack, from another sample of the thread.
 *
 *	SAMPLE regs, stack | CALLCHAIN original | CALLCHAIN joined | SAMPLE chain
 *
 * A chain belongs to the samples directly before or after it that have its pid, tid and time and no
 * user frames of their own. The source keeps the offset of the last chain before a sample. It reads
 * the chains after the sample from the file when frames are requested. One record is in memory at a
 * time.
 */
enum { KIND_JOINED_OFFLINE = 2, KIND_JOINED_REMOTE = 3, MAX_CHAINS_OF_SAMPLE = 4 };

/* rec: len bytes with the header. */
static int simpleperf_read_chain(const struct perfdata_source *s, const uint8_t *rec, size_t len,
				 uint64_t off, struct simpleperf_chain *ret)
{
	struct bytes b = bytes_init(rec, len, off, s->file.path, s->file.swap);
	uint64_t kind = 0, nr = 0;

	b.what = "a record of simpleperf";
	ret->off = off;
	TRY(bytes_skip(&b, "header", RECORD_HEADER_BYTES));
	TRY(bytes_u32(&b, "pid", &ret->pid));
	TRY(bytes_u32(&b, "tid", &ret->tid));
	TRY(bytes_u64(&b, "kind", &kind));
	TRY(bytes_u64(&b, "time", &ret->time_ns));
	TRY(bytes_u64(&b, "number of addresses", &nr));
	if (nr > bytes_left(&b) / 16)
		return bytes_fail(&b, -EBADMSG, "%llu addresses in a chain of %zu bytes",
				  (unsigned long long)nr, bytes_left(&b));
	ret->nr = (uint32_t)nr;
	ret->is_joined = kind == KIND_JOINED_OFFLINE || kind == KIND_JOINED_REMOTE;
	return 0;
}

static bool simpleperf_is_of(const struct simpleperf_chain *c, uint32_t pid, uint32_t tid,
			     uint64_t time_ns)
{
	return c->off && c->pid == pid && c->tid == tid && c->time_ns == time_ns;
}

int perfdata_simpleperf_chain_take(struct perfdata_source *s, const struct cut *rec)
{
	struct simpleperf_chain c, *last = &s->last_chain;

	s->has_chains = true;
	if (simpleperf_read_chain(s, rec->bytes, rec->len, rec->file_off, &c) < 0) {
		defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1, "%s", err_text());
		err_clear();
		return 0;
	}
	if (!simpleperf_is_of(last, c.pid, c.tid, c.time_ns) || c.is_joined || !last->is_joined)
		*last = c;
	return 0;
}

uint64_t perfdata_simpleperf_chain_before(const struct perfdata_source *s,
					  const struct sonde_event *ev)
{
	const struct simpleperf_chain *last = &s->last_chain;

	return simpleperf_is_of(last, (uint32_t)ev->pid, (uint32_t)ev->tid, ev->time_ns) ? last->off
											 : 0;
}

/* Reads the record at an offset into s->chain_record: 1, 0 if there is no such record. */
static int simpleperf_load_chain(struct perfdata_source *s, uint64_t off,
				 struct simpleperf_chain *ret, uint64_t *ret_end)
{
	uint64_t end = s->file.data.offset + s->file.data.size;
	uint8_t header[RECORD_HEADER_BYTES];
	uint16_t size;

	if (!s->chain_record)
		s->chain_record = malloc(MAX_RECORD_BYTES);
	if (!s->chain_record)
		return err_nomem();
	if (off >= end || end - off < sizeof(header) ||
	    pread(s->file.fd, header, sizeof(header), (off_t)off) < (ssize_t)sizeof(header) ||
	    get_u32(header, s->file.swap) != RECORD_SIMPLEPERF_CALLCHAIN)
		return 0;
	size = get_u16(header + 6, s->file.swap);
	if (size > end - off || pread(s->file.fd, s->chain_record, size, (off_t)off) < size)
		return 0;
	*ret_end = off + size;
	if (simpleperf_read_chain(s, s->chain_record, size, off, ret) < 0) {
		err_clear(); /* counted as a defect when it is decoded */
		return 0;
	}
	return 1;
}

/* The offset of the best chain after a sample; 0 if there is none. */
static int simpleperf_find_behind(struct perfdata_source *s, const struct event *ev, uint64_t *ret)
{
	uint64_t off = ev->pub.file_off + ev->pub.record_len;
	struct simpleperf_chain c;

	*ret = 0;
	for (int i = 0; i < MAX_CHAINS_OF_SAMPLE; i++) {
		int r = simpleperf_load_chain(s, off, &c, &off);

		if (r <= 0 || !simpleperf_is_of(&c, (uint32_t)ev->pub.pid, (uint32_t)ev->pub.tid,
						ev->pub.time_ns))
			return r < 0 ? r : 0;
		*ret = c.off;
		if (c.is_joined)
			return 0;
	}
	return 0;
}

int perfdata_simpleperf_chain(struct source *source, const struct event *ev, const uint8_t **ret)
{
	struct perfdata_source *s = perfdata_of(source);
	uint64_t off = ev->chain_off, end;
	struct simpleperf_chain c;
	int r;

	/* simpleperf writes such records only to a plain file. */
	if (!s->has_chains || s->file.is_pipe || s->opts.stream || s->unzip || s->data_files.n)
		return 0;
	if (!off)
		TRY(simpleperf_find_behind(s, ev, &off));
	if (!off)
		return 0;
	r = simpleperf_load_chain(s, off, &c, &end);
	if (r <= 0)
		return r;
	*ret = s->chain_record + SIMPLEPERF_CHAIN_BYTES;
	return (int)c.nr;
}

/* ---- opening the recording ------------------------------------------------------------ */

/* "sched:sched_switch,2,47\n...": name, type, config. */
static int simpleperf_take_event_names(struct perfdata_source *s, const char *text)
{
	unsigned long long type, config;
	int end;

	for (const char *line = text; *line; line = strchrnul(line, '\n'), line += *line == '\n') {
		size_t len = strcspn(line, ",\n");

		if (line[len] != ',' ||
		    sscanf(line + len, ",%llu,%llu%n", &type, &config, &end) != 2)
			continue;
		vec_foreach(e, &s->events) {
			/* Other events are named by perf's rule. */
			if (e->name || e->attr.type != PERF_TYPE_TRACEPOINT ||
			    e->attr.type != type || e->attr.config != config)
				continue;
			e->name = arena_strndup(&s->arena, line, len);
			if (!e->name)
				return err_nomem();
		}
	}
	return 0;
}

int perfdata_simpleperf_meta_read(struct perfdata_source *s, struct bytes *b)
{
	const char *key = NULL, *value = NULL;

	while (bytes_left(b)) {
		TRY(bytes_cstr(b, "key", &key));
		TRY(bytes_cstr(b, "value", &value));
		if (!strcmp(key, "event_type_info"))
			TRY(simpleperf_take_event_names(s, value));
	}
	return 0;
}

/* If a path is listed twice, the first entry is used. */
static int simpleperf_index_files(struct perfdata_source *s, size_t from)
{
	for (size_t i = from; i < s->named_files.n; i++) {
		const char *path = s->named_files.v[i].path;
		uint64_t key = hash_bytes(path, strlen(path));

		if (hash64_find(&s->named_by_path, key) == HASH64_EMPTY)
			TRY(hash64_put(&s->named_by_path, key, i));
	}
	return 0;
}

int perfdata_simpleperf_files_read(struct perfdata_source *s, enum perfdata_feature feature,
				   struct bytes *b)
{
	size_t from = s->named_files.n;
	int r;

	if (feature == FEAT_SIMPLEPERF_FILE)
		r = perfdata_named_files_read(b, &s->arena, &s->named_files);
	else
		r = perfdata_named_files2_read(b, &s->arena, &s->named_files);
	TRY(simpleperf_index_files(s, from));
	return r;
}

const struct named_file *perfdata_named_file(struct source *source, const char *path)
{
	struct perfdata_source *s = perfdata_of(source);
	uint64_t i = hash64_find(&s->named_by_path, hash_bytes(path, strlen(path)));

	if (i == HASH64_EMPTY || strcmp(s->named_files.v[i].path, path) != 0)
		return NULL;
	return &s->named_files.v[i];
}

int perfdata_first_records_look(struct perfdata_source *s)
{
	uint64_t off = s->file.data.offset, end = off + s->file.data.size;
	uint8_t *rec = malloc(MAX_RECORD_BYTES);
	int r = 0;

	if (!rec)
		return err_nomem();
	/* Any recording with a header section of simpleperf may have been processed by
	 * debug-unwind. */
	s->has_chains = s->file.feature_bits[FEAT_SIMPLEPERF_FILE / 64];
	for (int i = 0; i < MAX_RECORDS_LOOKED_AT && end - off >= RECORD_HEADER_BYTES; i++) {
		ssize_t got = pread(s->file.fd, rec, RECORD_HEADER_BYTES, (off_t)off);
		uint32_t type;
		uint16_t size;

		if (got < RECORD_HEADER_BYTES)
			break;
		type = get_u32(rec, s->file.swap);
		size = get_u16(rec + 6, s->file.swap);
		s->meets_compressed |= type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
		if (size < RECORD_HEADER_BYTES || !perfdata_is_simpleperf(type, size))
			break;
		if (size > end - off || pread(s->file.fd, rec, size, (off_t)off) < size)
			break;
		r = perfdata_pipe_take(s, rec, size, off);
		if (r < 0)
			break;
		off += size;
	}
	free(rec);
	return r;
}
