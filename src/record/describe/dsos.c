/* SPDX-License-Identifier: MIT */
#include "record/describe/dsos_internal.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum {
	/* more are looked up between two passes; the size of the buffers limits their number */
	PENDING_MANY = 8 << 10,
	PROCESSES_MANY = 4096, /* above this number, processes that ended are forgotten */
	RANGES_MOST = 1 << 20,
	FILES_MOST = 64 << 10,
	ANCESTORS_MOST = 16,
	/* offsets in MMAP2 */
	MMAP2_START_AT = 16,
	MMAP2_LEN_AT = 24,
	MMAP2_INODE_AT = 48,
	MMAP2_NAME_AT = 72,
};

static bool dsos_takes_all(const struct dsos *d)
{
	return atomic_load_explicit(&d->all, memory_order_relaxed);
}

/* ---- what is mapped ------------------------------------------------------------------------- */

static int dsos_init(struct dsos *d, const struct capture_events *events,
		     const struct counters *counters)
{
	TRY(strpool_init(&d->names));
	for (size_t i = 0; i < events->list.n; i++) {
		struct dso_chain c = dso_chain_of(&events->list.v[i].attr);

		TRY(vec_push(&d->chains, c));
		d->any_chain |= c.is_recorded || c.has_stack;
	}
	for (size_t i = 0; d->any_chain && i < counters->list.n; i++)
		TRY(hash64_put(&d->event_by_id, counters->list.v[i].id, counters->list.v[i].event));
	return 0;
}

int dsos_new(struct dsos **ret, const struct capture_events *events,
	     const struct counters *counters, bool all)
{
	struct dsos *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return err_nomem();
	atomic_init(&d->all, all);
	d->many_processes = PROCESSES_MANY;
	pthread_mutex_init(&d->lock, NULL);
	r = dsos_init(d, events, counters);
	if (r < 0) {
		dsos_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

static void dsos_free_process(struct dso_process *p)
{
	vec_done(&p->ranges);
	free(p);
}

static void dsos_forget_processes(struct dsos *d)
{
	vec_foreach(life, &d->processes.lives)
		dsos_free_process(life->payload);
	lineage_done(&d->processes);
	d->nr_ranges = 0;
}

void dsos_free(struct dsos *d)
{
	if (!d)
		return;
	dsos_forget_processes(d);
	vec_done(&d->files);
	vec_done(&d->chains);
	hash64_done(&d->file_by_key);
	hash64_done(&d->event_by_id);
	strpool_done(&d->names);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static struct dso_process *dsos_find_process(const struct dsos *d, int32_t pid)
{
	return lineage_payload(&d->processes, pid);
}

static struct dso_process *dsos_get_process(struct dsos *d, int32_t pid)
{
	struct dso_process *p = dsos_find_process(d, pid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (p && lineage_put(&d->processes, pid, p) < 0) {
		free(p);
		return NULL;
	}
	return p;
}

/* Called if there are too many mappings to look up: from now on each mapped file counts as hit. */
static void dsos_take_all(struct dsos *d)
{
	atomic_store_explicit(&d->all, true, memory_order_relaxed);
	vec_foreach(f, &d->files)
		f->is_hit = true;
	dsos_forget_processes(d);
}

static bool dsos_counts(const char *name, size_t len)
{
	static const char deleted[] = " (deleted)";

	if (name[0] == '[')
		return len > 2 && name[len - 1] == ']' && strcmp(name, "[heap]") != 0 &&
		       strncmp(name, "[stack", 6) != 0 && strcmp(name, "[vsyscall]") != 0 &&
		       strcmp(name, "[uprobes]") != 0 && strncmp(name, "[anon", 5) != 0;
	return name[0] == '/' && name[1] != '/' &&
	       (len < sizeof(deleted) || strcmp(name + len - (sizeof(deleted) - 1), deleted) != 0);
}

static int dsos_find_file(struct dsos *d, const char *name, size_t len, uint64_t inode,
			  uint32_t *ret)
{
	uint32_t id;
	uint64_t key, at;

	TRY(strpool_intern(&d->names, name, len, &id));
	key = (uint64_t)id << 32 ^ inode * UINT64_C(0x9e3779b97f4a7c15);
	at = hash64_find(&d->file_by_key, key);
	if (at == HASH64_EMPTY) {
		if (d->files.n == FILES_MOST)
			return -E2BIG;
		at = d->files.n;
		TRY(vec_push(&d->files, (struct dso_file){
						.name = strpool_text(&d->names, id),
						.inode = inode,
					}));
		TRY(hash64_put(&d->file_by_key, key, at));
	}
	*ret = (uint32_t)at;
	return 0;
}

static bool dsos_has_range(const struct dso_process *p, uint64_t start, uint32_t file)
{
	for (size_t i = 0; i < p->ranges.n; i++)
		if (p->ranges.v[i].start == start && p->ranges.v[i].file == file)
			return true;
	return false;
}

/* is_repeated: each output file describes all mappings again, so this one may be known. */
static void dsos_note_file(struct dsos *d, int32_t pid, uint64_t start, uint64_t len,
			   uint64_t inode, const char *name, size_t name_len, bool is_repeated)
{
	struct dso_process *p;
	uint32_t file;

	if (!dsos_counts(name, name_len) || dsos_find_file(d, name, name_len, inode, &file) < 0)
		return;
	d->files.v[file].pid = pid;
	/* the small vdso is rarely hit, but its code is not available anywhere else later */
	if (dsos_takes_all(d) || !strcmp(name, "[vdso]"))
		d->files.v[file].is_hit = true;
	if (dsos_takes_all(d))
		return;
	p = dsos_get_process(d, pid);
	if (!p || (is_repeated && dsos_has_range(p, start, file)))
		return;
	if (vec_push(&p->ranges, (struct dso_range){ start, start + len, file }) < 0)
		return;
	if (++d->nr_ranges > RANGES_MOST)
		dsos_take_all(d);
}

void dsos_note_mapping(struct dsos *d, int32_t pid, uint64_t start, uint64_t len, uint64_t inode,
		       const char *name, size_t name_len)
{
	pthread_mutex_lock(&d->lock);
	if (pid == DSOS_KERNEL_PID)
		atomic_store_explicit(&d->has_modules, true, memory_order_relaxed);
	dsos_note_file(d, pid, start, len, inode, name, name_len, true);
	pthread_mutex_unlock(&d->lock);
}

/* The name in a record of the ring; NULL if there is none. */
static const char *dsos_mapped_name(const struct ring *r, uint64_t pos, size_t size, char *room,
				    size_t room_size)
{
	size_t len = size > MMAP2_NAME_AT ? size - MMAP2_NAME_AT : 0;

	len = (len < room_size ? len : room_size) & ~(size_t)7;
	if (!len)
		return NULL;
	for (size_t i = 0; i < len; i += 8) {
		const uint64_t w = dso_word(r, pos + MMAP2_NAME_AT + i);

		memcpy(room + i, &w, sizeof(w));
	}
	room[len - 1] = '\0';
	return room;
}

/*
 * Buffers are drained one after the other: an EXIT, or the COMM of an exec, may be drained before
 * the FORK of its process. So a FORK keeps the known state of its pid, and an exec keeps the
 * earlier mappings. A child refers to its parent, whose mappings may be drained after the FORK.
 */
static int dsos_forked(void *user, const struct change *c, enum lineage_maps maps)
{
	struct dsos *d = user;
	struct dso_process *p;

	if (maps == LINEAGE_SHARES)
		return 0;
	p = dsos_get_process(d, c->pid);
	if (!p)
		return 0; /* if out of memory, one file may be left out */
	if (lineage_find(&d->processes, c->pid)->has_ended) { /* the pid is reused */
		lineage_begin(&d->processes, c->pid);
		p->has_execed = false;
	}
	if (!p->has_execed)
		p->parent = c->ppid;
	return 0;
}

/* dsos_forget_gone() drops processes that ended together: their samples may still be pending. */
static int dsos_ended(void *user, const struct change *c, bool is_process)
{
	struct dsos *d = user;
	struct lineage_life *life = is_process ? lineage_find(&d->processes, c->pid) : NULL;

	if (life)
		life->has_ended = true;
	return 0;
}

static int dsos_execed(void *user, const struct change *c)
{
	struct dso_process *p = dsos_get_process(user, c->pid);

	if (!p)
		return 0;
	p->has_execed = true;
	p->parent = 0;
	return 0;
}

static int dsos_mapped(void *user, const struct change *c)
{
	dsos_note_file(user, c->pid, c->start, c->len, c->inode, c->text, strlen(c->text), false);
	return 0;
}

/* room: buffer for the name in an MMAP2. */
static struct change dsos_change_of(const struct ring *r, uint64_t pos,
				    const struct perfdata_record_header *h, char *room,
				    size_t room_size)
{
	const uint64_t first = dso_word(r, pos + 8);
	struct change c = { .pid = (int32_t)first };

	switch (h->type) {
	case PERF_RECORD_MMAP2:
		if (h->misc & PERF_RECORD_MISC_MMAP_DATA)
			break;
		c.text = dsos_mapped_name(r, pos, h->size, room, room_size);
		if (!c.text)
			break;
		c.kind = CHANGE_MMAP;
		c.start = dso_word(r, pos + MMAP2_START_AT);
		c.len = dso_word(r, pos + MMAP2_LEN_AT);
		if (!(h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
			c.inode = dso_word(r, pos + MMAP2_INODE_AT);
		break;
	case PERF_RECORD_FORK: /* u32 pid, ppid, tid, ptid */
	case PERF_RECORD_EXIT:
		c.kind = h->type == PERF_RECORD_FORK ? CHANGE_FORK : CHANGE_EXIT;
		c.ppid = (int32_t)(first >> 32);
		c.tid = (int32_t)dso_word(r, pos + 16);
		break;
	case PERF_RECORD_COMM:
		c.kind = CHANGE_COMM;
		c.exec = h->misc & PERF_RECORD_MISC_COMM_EXEC;
		break;
	}
	return c;
}

void dsos_record(struct dsos *d, const struct ring *r, uint64_t pos,
		 const struct perfdata_record_header *h)
{
	static const struct lineage_ops ops = {
		.fork = dsos_forked,
		.exec = dsos_execed,
		.map = dsos_mapped,
		.exit = dsos_ended,
	};
	char room[4096 + 8];
	struct change c;

	if (dsos_takes_all(d) && h->type != PERF_RECORD_MMAP2)
		return;
	c = dsos_change_of(r, pos, h, room, sizeof(room));
	pthread_mutex_lock(&d->lock);
	lineage_apply(&ops, d, &c);
	pthread_mutex_unlock(&d->lock);
}

/* ---- which files were hit ------------------------------------------------------------------- */

/*
 * Marks the files at this page in the process or in the ancestors whose mappings it shares. False
 * if there is no such file.
 */
static bool dsos_mark(struct dsos *d, const struct dso_page *at)
{
	const struct dso_process *p = dsos_find_process(d, at->pid);
	bool found = false;

	for (int i = 0; p && i < ANCESTORS_MOST; i++) {
		for (const struct dso_range *range = p->ranges.v; range < p->ranges.v + p->ranges.n;
		     range++)
			if (at->page == WHOLE_PROCESS ||
			    (at->page >= range->start >> PAGE_SHIFT &&
			     at->page < (range->end + (1 << PAGE_SHIFT) - 1) >> PAGE_SHIFT)) {
				d->files.v[range->file].is_hit = true;
				found = true;
			}
		if (found || !p->parent)
			break;
		p = dsos_find_process(d, p->parent);
	}
	return found;
}

/*
 * Passes the mappings of ended processes on to their children, which then no longer refer to them.
 */
static int dsos_hand_down(struct dsos *d)
{
	const struct lineage_life *life;
	struct dso_process *p, *parent;

	/* Parents precede their children: chains of parents without mappings become short. */
	vec_foreach(child, &d->processes.lives) {
		p = child->payload;
		life = p->parent ? lineage_find(&d->processes, p->parent) : NULL;
		parent = life ? life->payload : NULL;
		if (parent && life->has_ended && !parent->ranges.n)
			p->parent = parent->parent;
	}
	vec_foreach(child, &d->processes.lives) {
		p = child->payload;
		for (int i = 0; i < ANCESTORS_MOST; i++) {
			if (child->has_ended || !p->parent)
				break;
			life = lineage_find(&d->processes, p->parent);
			if (!life || !life->has_ended)
				break;
			parent = life->payload;
			vec_foreach(range, &parent->ranges)
				TRY(vec_push(&p->ranges, *range));
			p->parent = parent->parent;
		}
	}
	return 0;
}

static int dsos_forget_gone(struct dsos *d)
{
	size_t n;

	TRY(dsos_hand_down(d));
	d->nr_ranges = 0;
	vec_foreach(life, &d->processes.lives) {
		struct dso_process *p = life->payload;

		if (life->has_ended) {
			dsos_free_process(p);
			life->payload = NULL;
			continue;
		}
		d->nr_ranges += p->ranges.n;
	}
	TRY(lineage_compact(&d->processes));
	n = d->processes.lives.n;
	d->many_processes = n < PROCESSES_MANY / 2 ? PROCESSES_MANY : 2 * n;
	return 0;
}

void dsos_settle(struct dsos *d, struct dso_hits *h)
{
	size_t kept = 0;

	pthread_mutex_lock(&d->lock);
	/* The mapping of an address that is not found may be drained later: try once more. */
	for (size_t i = 0; i < h->pending.n; i++)
		if (!dsos_takes_all(d) && !dsos_mark(d, &h->pending.v[i]) && i >= h->nr_old)
			h->pending.v[kept++] = h->pending.v[i];
	h->pending.n = h->nr_old = kept;
	if (d->processes.lives.n > d->many_processes && dsos_forget_gone(d) < 0)
		dsos_take_all(d);
	pthread_mutex_unlock(&d->lock);
	if (h->recent)
		memset(h->recent, 0, RECENT * sizeof(*h->recent));
}

int dsos_take_hit(struct dsos *d, struct dso_files *ret)
{
	int r = 0;

	pthread_mutex_lock(&d->lock);
	vec_foreach(f, &d->files)
		if (f->is_hit && r == 0) {
			r = vec_push(ret, *f);
			/* if all files count as hit, it also counts for later output files */
			f->is_hit = dsos_takes_all(d);
		}
	pthread_mutex_unlock(&d->lock);
	return r;
}

void dsos_relieve(struct dsos *d, struct dso_hits *h)
{
	bool many;

	pthread_mutex_lock(&d->lock);
	many = d->processes.lives.n > d->many_processes;
	pthread_mutex_unlock(&d->lock);
	if (many || h->pending.n > PENDING_MANY)
		dsos_settle(d, h);
}
