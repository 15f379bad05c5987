/* SPDX-License-Identifier: MIT */
#include "sinks/perf/part.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rename_new.h"
#include "formats/perfdata/layout.h"
#include "formats/perfdata/writer.h"
#include "sources/perfdata/view.h"

enum {
	OUT_BYTES = 1 << 20,
	ROUND_BYTES = 1 << 20, /* bytes of records between two rounds */
	ATTR_SIZE_AT = 4       /* u32 in struct perf_event_attr */
};

/* ---- the header ------------------------------------------------------------------------------ */

struct header_content {
	VEC(struct perfdata_writer_event) events;
	VEC(struct perfdata_writer_feature) features;
	VEC(uint64_t) ids;
	struct outbuf attrs, event_desc;
	uint32_t attr_bytes;
	bool has_names; /* the recorder named at least one event */
};

static void part_header_done(struct header_content *h)
{
	vec_done(&h->events);
	vec_done(&h->features);
	vec_done(&h->ids);
	outbuf_done(&h->attrs);
	outbuf_done(&h->event_desc);
}

static void part_put_u32(struct outbuf *o, uint32_t v, bool swap)
{
	perfdata_put_u32(o, get_u32(&v, swap));
}

static void part_put_u64(struct outbuf *o, uint64_t v, bool swap)
{
	perfdata_put_u64(o, get_u64(&v, swap));
}

/*
 * A perf refuses a file whose attrs are longer than it knows, even if the additional bytes are
 * zeros. So attrs with zeros there are truncated to the length that every perf since 5.13 accepts.
 */
static size_t part_attr_bytes(const struct perfdata_view_event *e)
{
	size_t len = e->attr_bytes;

	while (len > PERFDATA_WRITER_ATTR_SIZE && !e->attr[len - 1])
		len--;
	return len > PERFDATA_WRITER_ATTR_SIZE ? e->attr_bytes : len;
}

/*
 * Brings attrs to one size, which file mode requires. In pipe mode each attr has its own size;
 * smaller ones are padded with zeros.
 */
static int part_take_events(struct header_content *h, struct perfdata_view *v, bool swap)
{
	struct perfdata_view_event e;
	size_t nr = 0, event, at = 0;
	bool has_names = false;
	uint64_t id;

	for (; perfdata_view_event_at(v, nr, &e); nr++) {
		size_t len = part_attr_bytes(&e);

		if (len > h->attr_bytes)
			h->attr_bytes = (uint32_t)len;
	}
	for (size_t i = 0; i < nr && perfdata_view_event_at(v, i, &e); i++) {
		size_t before = h->attrs.len;
		size_t len = e.attr_bytes < h->attr_bytes ? e.attr_bytes : h->attr_bytes;

		outbuf_put(&h->attrs, e.attr, len);
		outbuf_pad(&h->attrs, '\0', h->attr_bytes - len);
		if (!h->attrs.failed && e.attr_bytes != h->attr_bytes) {
			uint32_t size = get_u32(&h->attr_bytes, swap);

			memcpy(h->attrs.data + before + ATTR_SIZE_AT, &size, sizeof(size));
		}
		has_names |= e.is_named;
		TRY(vec_push(&h->events, (struct perfdata_writer_event){ .name = e.name }));
	}
	for (size_t i = 0; perfdata_view_id_at(v, i, &id, &event); i++)
		h->events.v[event].nr_ids++;
	for (size_t i = 0; i < nr; i++)
		at += h->events.v[i].nr_ids;
	h->has_names = has_names;
	TRY(vec_reserve(&h->ids, at));
	at = 0;
	for (size_t i = 0; i < nr; i++) {
		h->events.v[i].attr = h->attrs.data + i * h->attr_bytes;
		h->events.v[i].ids = at < h->ids.capacity ? h->ids.v + at : NULL;
		at += h->events.v[i].nr_ids;
		h->events.v[i].nr_ids = 0;
	}
	for (size_t i = 0; perfdata_view_id_at(v, i, &id, &event); i++) {
		struct perfdata_writer_event *w = &h->events.v[event];

		((uint64_t *)w->ids)[w->nr_ids++] = id;
	}
	return h->attrs.failed ? err_nomem() : 0;
}

/*
 * Makes the section of event names, which pipe mode stores in separate records:
 *
 *	u32 events, size of attrs | attr, u32 ids, name, ids | ...
 */
static int part_make_event_desc(struct header_content *h, bool swap)
{
	struct outbuf *o = &h->event_desc, name = { 0 };

	part_put_u32(o, (uint32_t)h->events.n, swap);
	part_put_u32(o, h->attr_bytes, swap);
	vec_foreach(e, &h->events) {
		outbuf_put(o, e->attr, h->attr_bytes);
		part_put_u32(o, (uint32_t)e->nr_ids, swap);
		name.len = 0;
		perfdata_put_string(&name, e->name);
		part_put_u32(o, (uint32_t)(name.len - sizeof(uint32_t)), swap);
		outbuf_put(o, name.data + sizeof(uint32_t), name.len - sizeof(uint32_t));
		for (size_t i = 0; i < e->nr_ids; i++)
			part_put_u64(o, e->ids[i], swap);
	}
	o->failed |= name.failed;
	outbuf_done(&name);
	if (o->failed)
		return err_nomem();
	return vec_push(&h->features,
			(struct perfdata_writer_feature){ FEAT_EVENT_DESC, o->data, o->len });
}

/*
 * False for sections that are wrong for the copy (compression, number of files) and for sections
 * that the copy makes itself (time span, trace data).
 */
static bool part_is_carried(uint64_t feature)
{
	return feature != FEAT_COMPRESSED && feature != FEAT_DIR_FORMAT &&
	       feature != FEAT_SAMPLE_TIME && feature != FEAT_AUXTRACE;
}

static int part_take_features(struct header_content *h, struct perfdata_view *v,
			      const struct perfdata_view_header *head)
{
	struct bytes b;
	bool has_names = false;

	for (uint64_t feature = 0; feature < NR_FEATURES; feature++) {
		int r;

		if (!part_is_carried(feature))
			continue;
		r = perfdata_view_section(v, feature, &b);
		if (r < 0)
			return r;
		if (r)
			TRY(vec_push(&h->features,
				     (struct perfdata_writer_feature){
					     feature, b.start, (size_t)(b.end - b.start) }));
		else if (feature < 64 && head->marks >> feature & 1)
			TRY(vec_push(&h->features,
				     (struct perfdata_writer_feature){ feature, "", 0 }));
		has_names |= r && feature == FEAT_EVENT_DESC;
	}
	if (perfdata_view_section(v, PERFDATA_PRIVATE_KALLSYMS, &b) > 0)
		TRY(vec_push(&h->features,
			     (struct perfdata_writer_feature){ PERFDATA_PRIVATE_KALLSYMS, b.start,
							       (size_t)(b.end - b.start) }));
	return has_names || !h->has_names || !head->is_pipe ? 0
							    : part_make_event_desc(h, head->swap);
}

static int part_write_beginning(struct part *p)
{
	struct perfdata_view *v = perfdata_view_of(p->rec->source);
	struct perfdata_view_header head;
	struct header_content h = { 0 };
	int r;

	perfdata_view_header(v, &head);
	p->swap = head.swap;
	r = part_take_events(&h, v, p->swap);
	if (r >= 0)
		r = part_take_features(&h, v, &head);
	if (r >= 0) {
		perfdata_writer_set_layout(p->writer, p->swap, h.attr_bytes);
		r = perfdata_writer_begin(p->writer, h.events.v, h.events.n, h.features.v,
					  h.features.n);
	}
	part_header_done(&h);
	return r;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool part_is_same_file(int fd, const char *path)
{
	struct stat a, b;

	return stat(path, &a) == 0 && fstat(fd, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int part_check_free(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? err_set(-EEXIST,
					       "%s is there already: remove the parts of another "
					       "split, or choose "
					       "other names with -o PREFIX",
					       path)
				     : 0;
}

/*
 * Refuses a path in the directory of the recording, because the file would be read as a part of the
 * recording.
 */
static int part_check_folder(const struct recording *rec, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat st, input;
	char *folder;

	if (stat(rec->input, &input) < 0 || !S_ISDIR(input.st_mode))
		return 0;
	if (asprintf(&folder, "%.*s.", slash ? (int)(slash - path) + 1 : 0, path) < 0)
		return err_nomem();
	if (stat(folder, &st) < 0)
		st.st_ino = 0;
	free(folder);
	return st.st_ino == input.st_ino && st.st_dev == input.st_dev
		       ? err_set(-EEXIST,
				 "%s is part of the input, the directory %s: choose another place "
				 "with -o",
				 path, rec->input)
		       : 0;
}

/* The input must still exist when the copy gets its name, and afterwards. */
int part_check(const struct recording *rec, const char *path)
{
	struct source *s = rec->source;
	char old[PATH_MAX];
	const char *const names[] = { path, old };
	struct source_file file;
	struct stat st, input;

	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old))
		return err_set(-ENAMETOOLONG, "%s: the name is too long", path);
	TRY(part_check_folder(rec, path));
	for (size_t i = 0; i < 2; i++) {
		bool is_input = stat(rec->input, &input) == 0 && stat(names[i], &st) == 0 &&
				st.st_dev == input.st_dev && st.st_ino == input.st_ino;

		for (unsigned f = 0; !is_input && s->ops->file(s, f, &file); f++)
			is_input = file.fd >= 0 && part_is_same_file(file.fd, names[i]);
		if (is_input)
			return err_set(-EEXIST, "%s is the input%s: name another file with -o",
				       names[i],
				       i ? ", and would be replaced by the file at the "
					   "output's place"
					 : "");
	}
	if (stat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return err_set(-EISDIR, "%s is a directory: name a file with -o", path);
	if (!S_ISREG(st.st_mode))
		return err_set(-ESPIPE,
			       "%s is not a regular file, and a recording's header is written at "
			       "its end: name a file with -o",
			       path);
	return 0;
}

/*
 * Opens a file without a name if the file system supports it. Then no file remains, however the
 * process ends.
 */
static int part_open_file(struct part *p)
{
	const char *slash = strrchr(p->path, '/');
	int dir_len = slash ? (int)(slash - p->path) + 1 : 0;
	char *dir;
	int error;

	if (asprintf(&dir, "%.*s.", dir_len, p->path) < 0)
		return err_nomem();
	p->fd = access("/proc/self/fd", X_OK) == 0 ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
						   : -1;
	free(dir);
	if (p->fd >= 0)
		return 0;
	if (asprintf(&p->temp_path, "%.*s.%s.XXXXXX", dir_len, p->path, p->path + dir_len) < 0) {
		p->temp_path = NULL;
		return err_nomem();
	}
	p->fd = mkostemp(p->temp_path, O_CLOEXEC);
	if (p->fd >= 0)
		return 0;
	error = errno;
	free(p->temp_path);
	p->temp_path = NULL;
	return err_errno(error, "%s: cannot create it%s", p->path,
			 errno_no_descriptor(error) ? "" : "; choose another place with -o FILE");
}

static int part_name_file(struct part *p)
{
	char old[PATH_MAX], own[64];
	struct stat st;
	bool kept = false;
	int r;

	snprintf(old, sizeof(old), "%s.old", p->path);
	TRY(part_check(p->rec, p->path));
	if (!p->takes_place)
		TRY(part_check_free(p->path));
	if (p->takes_place && lstat(p->path, &st) == 0) {
		if (rename(p->path, old) < 0)
			return err_errno(errno, "%s: cannot keep it as %s", p->path, old);
		kept = true;
	}
	snprintf(own, sizeof(own), "/proc/self/fd/%d", p->fd);
	if (p->temp_path)
		r = rename_new(p->temp_path, p->path);
	else
		r = linkat(AT_FDCWD, own, AT_FDCWD, p->path, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
	if (r < 0) {
		r = err_errno(-r, "%s: cannot give the finished file this name", p->path);
		if (kept && rename(old, p->path) < 0)
			err_add(r, "the file that had this name is now %s", old);
		return r;
	}
	return 0;
}

int part_open(struct part *p, struct recording *rec, const char *path, bool takes_place)
{
	int r;

	*p = (struct part){
		.rec = rec,
		.fd = -1,
		.is_settled = true,
		.takes_place = takes_place,
	};
	TRY(part_check(rec, path));
	if (!takes_place)
		TRY(part_check_free(path));
	p->path = strdup(path);
	r = p->path ? part_open_file(p) : err_nomem();
	if (r == 0)
		r = perfdata_writer_open(&p->writer, p->fd, p->path, false);
	if (r == 0)
		r = part_write_beginning(p);
	if (r < 0)
		part_discard(p);
	return r;
}

static void part_close_file(struct part *p)
{
	perfdata_writer_close(p->writer);
	free(p->path);
	free(p->temp_path);
	outbuf_done(&p->out);
	vec_done(&p->aux);
	*p = (struct part){ .fd = -1 };
}

void part_discard(struct part *p)
{
	if (p->temp_path)
		unlink(p->temp_path);
	part_close_file(p);
}

/* ---- records --------------------------------------------------------------------------------- */

static int part_flush(struct part *p)
{
	int r;

	if (p->out.failed)
		return err_nomem();
	if (!p->out.len)
		return 0;
	r = perfdata_writer_append(p->writer, &(struct iovec){ p->out.data, p->out.len }, 1);
	p->out.len = 0;
	return r;
}

static void part_put_round(struct part *p)
{
	struct perfdata_record_header round = {
		.type = get_u32(&(uint32_t){ RECORD_FINISHED_ROUND }, p->swap),
		.size = get_u16(&(uint16_t){ sizeof(round) }, p->swap),
	};

	outbuf_put(&p->out, &round, sizeof(round));
	p->since_round = 0;
}

int part_put(struct part *p, const uint8_t *record, uint32_t len, uint64_t time_ns, bool is_sample)
{
	bool acts_at_once = !time_ns || time_ns < p->newest_ns;

	if (acts_at_once && !p->is_settled) {
		part_put_round(p);
		part_put_round(p);
		p->is_settled = true;
	} else if (p->since_round >= ROUND_BYTES) {
		part_put_round(p);
	}
	outbuf_put(&p->out, record, len);
	p->since_round += len;
	if (time_ns) {
		p->is_settled = false;
		if (time_ns > p->newest_ns)
			p->newest_ns = time_ns;
	}
	if (is_sample) {
		if (time_ns && (!p->last_ns || time_ns < p->first_ns))
			p->first_ns = time_ns;
		if (time_ns > p->last_ns)
			p->last_ns = time_ns;
		p->has_samples = true;
	}
	return p->out.len >= OUT_BYTES || p->out.failed ? part_flush(p) : 0;
}

int part_put_aux(struct part *p, const uint8_t *record, uint32_t len,
		 const struct source_file *file, uint64_t from, uint64_t bytes)
{
	struct part_aux entry;

	TRY(part_flush(p));
	entry = (struct part_aux){ perfdata_writer_place(p->writer), len };
	TRY(vec_push(&p->aux, entry));
	outbuf_put(&p->out, record, len);
	while (bytes) {
		size_t want = bytes < OUT_BYTES ? (size_t)bytes : OUT_BYTES;
		char *to = outbuf_room(&p->out, want);
		int64_t n;

		if (!to)
			return err_nomem();
		n = file->stream ? stream_read(file->stream, from, to, want)
				 : pread(file->fd, to, want, (off_t)from);
		if (n < 0)
			return file->stream ? (int)n
					    : err_errno(errno, "cannot read %s", file->path);
		if (!n)
			return err_set(-EBADMSG,
				       "%s ends at 0x%llx, in trace data: a part of them would "
				       "not be readable",
				       file->path, (unsigned long long)from);
		outbuf_advance(&p->out, (size_t)n);
		from += (uint64_t)n;
		bytes -= (uint64_t)n;
		TRY(part_flush(p));
	}
	return part_flush(p);
}

int part_finish(struct part *p, const struct outbuf *build_ids)
{
	struct perfdata_view *view = perfdata_view_of(p->rec->source);
	struct perfdata_writer_feature late[3];
	struct outbuf span = { 0 }, aux = { 0 }, ids = { 0 };
	struct bytes b;
	size_t nr = 0;
	int r;

	/* A file without records would look like the output of a killed recorder. */
	if (!p->out.len && perfdata_writer_data_size(p->writer) == 0)
		part_put_round(p);
	r = part_flush(p);

	if (p->last_ns) {
		part_put_u64(&span, p->first_ns, p->swap);
		part_put_u64(&span, p->last_ns, p->swap);
		late[nr++] =
			(struct perfdata_writer_feature){ FEAT_SAMPLE_TIME, span.data, span.len };
	}
	if (p->aux.n) {
		part_put_u64(&aux, p->aux.n, p->swap);
		vec_foreach(each, &p->aux) {
			part_put_u64(&aux, each->offset, p->swap);
			part_put_u64(&aux, each->size, p->swap);
		}
		late[nr++] = (struct perfdata_writer_feature){ FEAT_AUXTRACE, aux.data, aux.len };
	}
	if (build_ids->len) {
		if (perfdata_view_section(view, FEAT_BUILD_ID, &b) > 0)
			outbuf_put(&ids, b.start, (size_t)(b.end - b.start));
		outbuf_put(&ids, build_ids->data, build_ids->len);
		late[nr++] = (struct perfdata_writer_feature){ FEAT_BUILD_ID, ids.data, ids.len };
	}
	if (r == 0 && (span.failed || aux.failed || ids.failed || build_ids->failed))
		r = err_nomem();
	if (r == 0)
		r = perfdata_writer_finish(p->writer, late, nr, NULL);
	outbuf_done(&span);
	outbuf_done(&aux);
	outbuf_done(&ids);
	if (r > 0)
		/*
		 * no record is dropped to make room for the header; the error chain has the cause
		 */
		r = -ENOSPC;
	if (r == 0)
		r = part_name_file(p);
	if (r < 0)
		part_discard(p);
	else
		part_close_file(p);
	return r;
}
