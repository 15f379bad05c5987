/* SPDX-License-Identifier: MIT */
#include "record/describe/dsos_internal.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum {
	PENDING_MANY = 8 << 10, /* looked up between two passes, whose buffers bound them */
	PROCESSES_MANY = 4096,  /* those that are gone are forgotten then */
	RANGES_MOST = 1 << 20,
	FILES_MOST = 64 << 10,
	ANCESTORS_MOST = 16,
	/* of MMAP2 */
	MMAP2_START_AT = 16,
	MMAP2_LEN_AT = 24,
	MMAP2_INODE_AT = 48,
	MMAP2_NAME_AT = 72,
};

static bool takes_all(const struct dsos *d)
{
	return atomic_load_explicit(&d->all, memory_order_relaxed);
}

/* ---- what is mapped ---------------------------------------------------------------------------------------------- */

static int init(struct dsos *d, const struct capture_events *events,
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
	r = init(d, events, counters);
	if (r < 0) {
		dsos_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

void dsos_free(struct dsos *d)
{
	if (!d)
		return;
	vec_foreach(p, &d->processes)
		vec_done(&p->ranges);
	vec_done(&d->processes);
	vec_done(&d->files);
	vec_done(&d->chains);
	hash64_done(&d->file_by_key);
	hash64_done(&d->process_by_pid);
	hash64_done(&d->event_by_id);
	strpool_done(&d->names);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static struct dso_process *find_process(const struct dsos *d, int32_t pid)
{
	const uint64_t at = hash64_find(&d->process_by_pid, (uint32_t)pid);

	return at == HASH64_EMPTY ? NULL : &d->processes.v[at];
}

static struct dso_process *get_process(struct dsos *d, int32_t pid)
{
	struct dso_process *p = find_process(d, pid);

	if (p)
		return p;
	if (vec_push(&d->processes, (struct dso_process){ .pid = pid }) < 0)
		return NULL;
	if (hash64_put(&d->process_by_pid, (uint32_t)pid, d->processes.n - 1) < 0) {
		d->processes.n--;
		return NULL;
	}
	return &d->processes.v[d->processes.n - 1];
}

static void forget_processes(struct dsos *d)
{
	vec_foreach(p, &d->processes)
		vec_done(&p->ranges);
	vec_clear(&d->processes);
	hash64_done(&d->process_by_pid);
	d->process_by_pid = (struct hash64){ 0 };
	d->nr_ranges = 0;
}

/* More than can be told apart: from here on every file that is mapped counts. */
static void take_all(struct dsos *d)
{
	atomic_store_explicit(&d->all, true, memory_order_relaxed);
	vec_foreach(f, &d->files)
		f->is_hit = true;
	forget_processes(d);
}

static bool counts(const char *name, size_t len)
{
	static const char deleted[] = " (deleted)";

	if (name[0] == '[')
		return len > 2 && name[len - 1] == ']' && strcmp(name, "[heap]") != 0 &&
		       strncmp(name, "[stack", 6) != 0 && strcmp(name, "[vsyscall]") != 0 &&
		       strcmp(name, "[uprobes]") != 0 && strncmp(name, "[anon", 5) != 0;
	return name[0] == '/' && name[1] != '/' &&
	       (len < sizeof(deleted) || strcmp(name + len - (sizeof(deleted) - 1), deleted) != 0);
}

static int find_file(struct dsos *d, const char *name, size_t len, uint64_t inode, uint32_t *ret)
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
		TRY(vec_push(&d->files, (struct dso_file){ .name = strpool_text(&d->names, id),
							   .inode = inode }));
		TRY(hash64_put(&d->file_by_key, key, at));
	}
	*ret = (uint32_t)at;
	return 0;
}

static bool has_range(const struct dso_process *p, uint64_t start, uint32_t file)
{
	for (size_t i = 0; i < p->ranges.n; i++)
		if (p->ranges.v[i].start == start && p->ranges.v[i].file == file)
			return true;
	return false;
}

/* is_told_again: each file of a recording describes what is there, so it may be known. */
static void note_mapping(struct dsos *d, int32_t pid, uint64_t start, uint64_t len, uint64_t inode,
			 const char *name, size_t name_len, bool is_told_again)
{
	struct dso_process *p;
	uint32_t file;

	if (!counts(name, name_len) || find_file(d, name, name_len, inode, &file) < 0)
		return;
	d->files.v[file].pid = pid;
	/* the vdso is so small that most samples miss it, and its code can be had from nowhere else later */
	if (takes_all(d) || !strcmp(name, "[vdso]"))
		d->files.v[file].is_hit = true;
	if (takes_all(d))
		return;
	p = get_process(d, pid);
	if (!p || (is_told_again && has_range(p, start, file)))
		return;
	if (vec_push(&p->ranges, (struct dso_range){ start, start + len, file }) < 0)
		return;
	if (++d->nr_ranges > RANGES_MOST)
		take_all(d);
}

void dsos_note_mapping(struct dsos *d, int32_t pid, uint64_t start, uint64_t len, uint64_t inode,
		       const char *name, size_t name_len)
{
	pthread_mutex_lock(&d->lock);
	if (pid == DSOS_KERNEL_PID)
		atomic_store_explicit(&d->has_modules, true, memory_order_relaxed);
	note_mapping(d, pid, start, len, inode, name, name_len, true);
	pthread_mutex_unlock(&d->lock);
}

/* The name in a record of the ring; NULL when there is none. */
static const char *mapped_name(const struct ring *r, uint64_t pos, size_t size, char *room,
			       size_t room_size, size_t *ret_len)
{
	size_t len = size > MMAP2_NAME_AT ? size - MMAP2_NAME_AT : 0;

	len = (len < room_size ? len : room_size) & ~(size_t)7;
	if (!len)
		return NULL;
	for (size_t i = 0; i < len; i += 8) {
		const uint64_t w = dso_word(r, pos + MMAP2_NAME_AT + i);

		memcpy(room + i, &w, sizeof(w));
	}
	*ret_len = strnlen(room, len - 1);
	room[*ret_len] = '\0';
	return room;
}

static void forked(struct dsos *d, int32_t pid, int32_t parent)
{
	struct dso_process *p = get_process(d, pid);

	if (!p)
		return;
	if (p->is_gone) /* the number is used again */
		p->has_execed = p->is_gone = false;
	if (!p->has_execed)
		p->parent = parent;
}

static void ended(struct dsos *d, int32_t pid)
{
	struct dso_process *p = find_process(d, pid);

	if (p)
		p->is_gone = true;
}

static void execed(struct dsos *d, int32_t pid)
{
	struct dso_process *p = get_process(d, pid);

	if (!p)
		return;
	p->has_execed = true;
	p->parent = 0;
}

void dsos_record(struct dsos *d, const struct ring *r, uint64_t pos,
		 const struct perfdata_record_header *h)
{
	const uint64_t first = dso_word(r, pos + 8);
	const int32_t pid = (int32_t)first, second = (int32_t)(first >> 32);
	char room[4096 + 8];
	const char *name;
	size_t len;

	if (takes_all(d) && h->type != PERF_RECORD_MMAP2)
		return;
	pthread_mutex_lock(&d->lock);
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		if (h->misc & PERF_RECORD_MISC_MMAP_DATA)
			break;
		name = mapped_name(r, pos, h->size, room, sizeof(room), &len);
		if (name)
			note_mapping(d, pid, dso_word(r, pos + MMAP2_START_AT),
				     dso_word(r, pos + MMAP2_LEN_AT),
				     h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID
					     ? 0
					     : dso_word(r, pos + MMAP2_INODE_AT),
				     name, len, false);
		break;
	case PERF_RECORD_FORK: /* u32 pid, ppid, tid, ptid */
		if (pid != second)
			forked(d, pid, second);
		break;
	case PERF_RECORD_EXIT:
		if (pid == (int32_t)dso_word(r, pos + 16))
			ended(d, pid);
		break;
	case PERF_RECORD_COMM:
		if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
			execed(d, pid);
		break;
	}
	pthread_mutex_unlock(&d->lock);
}

/* ---- which files that are -------------------------------------------------------------------------------------- */

/* Marks the files at this place, of the process or of whom it has its mappings from; false when there is none. */
static bool mark(struct dsos *d, const struct dso_place *at)
{
	const struct dso_process *p = find_process(d, at->pid);
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
		p = find_process(d, p->parent);
	}
	return found;
}

/* What is left of a process that is gone is what those have that it made. */
static int hand_down(struct dsos *d)
{
	/* Parents stand before their children: chains of those that have nothing to hand down become short. */
	vec_foreach(p, &d->processes) {
		const struct dso_process *parent = p->parent ? find_process(d, p->parent) : NULL;

		if (parent && parent->is_gone && !parent->ranges.n)
			p->parent = parent->parent;
	}
	vec_foreach(p, &d->processes) {
		struct dso_process *parent;

		for (int i = 0; i < ANCESTORS_MOST; i++) {
			parent = p->is_gone || !p->parent ? NULL : find_process(d, p->parent);
			if (!parent || !parent->is_gone)
				break;
			vec_foreach(range, &parent->ranges)
				TRY(vec_push(&p->ranges, *range));
			p->parent = parent->parent;
		}
	}
	return 0;
}

static int forget_gone(struct dsos *d)
{
	size_t n = 0;

	TRY(hand_down(d));
	d->nr_ranges = 0;
	vec_foreach(p, &d->processes) {
		if (p->is_gone) {
			vec_done(&p->ranges);
			continue;
		}
		d->nr_ranges += p->ranges.n;
		d->processes.v[n++] = *p;
	}
	d->processes.n = n;
	d->many_processes = n < PROCESSES_MANY / 2 ? PROCESSES_MANY : 2 * n;
	hash64_done(&d->process_by_pid);
	d->process_by_pid = (struct hash64){ 0 };
	for (size_t i = 0; i < n; i++)
		TRY(hash64_put(&d->process_by_pid, (uint32_t)d->processes.v[i].pid, i));
	return 0;
}

void dsos_settle(struct dsos *d, struct dso_hits *h)
{
	size_t kept = 0;

	pthread_mutex_lock(&d->lock);
	/* What is not found may be in a buffer that is looked at later: it is tried once more. */
	for (size_t i = 0; i < h->pending.n; i++)
		if (!takes_all(d) && !mark(d, &h->pending.v[i]) && i >= h->nr_old)
			h->pending.v[kept++] = h->pending.v[i];
	h->pending.n = h->nr_old = kept;
	if (d->processes.n > d->many_processes && forget_gone(d) < 0)
		take_all(d);
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
			f->is_hit = takes_all(d); /* mapped, it stays so in the files to come */
		}
	pthread_mutex_unlock(&d->lock);
	return r;
}

void dsos_relieve(struct dsos *d, struct dso_hits *h)
{
	bool many;

	pthread_mutex_lock(&d->lock);
	many = d->processes.n > d->many_processes;
	pthread_mutex_unlock(&d->lock);
	if (many || h->pending.n > PENDING_MANY)
		dsos_settle(d, h);
}
