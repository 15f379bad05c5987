/* SPDX-License-Identifier: MIT */
#include "record/dsos.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/strpool.h"
#include "formats/perfdata/attr.h"

enum {
	PAGE_SHIFT = 12,
	RECENT = 4096,
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
	/* of a sample: all our attrs have IDENTIFIER, IP, TID */
	SAMPLE_ID_AT = 8,
	SAMPLE_IP_AT = 16,
	SAMPLE_PID_AT = 24,
};
#define WHOLE_PROCESS (UINT64_MAX >> PAGE_SHIFT) /* in the place of a page */

struct dso_range {
	uint64_t start, end;
	uint32_t file;
};

struct dso_process {
	int32_t pid, parent; /* parent: whose mappings it has, too; 0 when it has called exec */
	bool has_execed, is_gone;
	VEC(struct dso_range) ranges;
};

/* Where the call chain of an event's samples lies. */
struct dso_chain {
	bool is_recorded, has_stack, has_read, read_group;
	uint32_t read_at;
	uint32_t read_head, read_each; /* words before the values of a READ, and of each */
};

struct dsos {
	/* as it was when it was made */
	bool any_chain;
	struct hash64 event_by_id;
	VEC(struct dso_chain) chains;
	/* flags that only rise: read without the lock */
	atomic_bool all; /* every file mapped counts: asked for, or too much to tell them apart */
	atomic_bool has_modules;
	/* the rest with this */
	pthread_mutex_t lock;
	struct strpool names;
	struct hash64 file_by_key, process_by_pid;
	struct dso_files files;
	VEC(struct dso_process) processes;
	size_t nr_ranges, many_processes;
};

static bool takes_all(const struct dsos *d)
{
	return atomic_load_explicit(&d->all, memory_order_relaxed);
}

static bool has_modules(const struct dsos *d)
{
	return atomic_load_explicit(&d->has_modules, memory_order_relaxed);
}

/* Records and rings are multiples of 8: a word never runs over the end of a ring. */
static uint64_t word(const struct ring *r, uint64_t pos)
{
	return load_u64(r->data + (pos & r->mask));
}

/* ---- what is mapped ---------------------------------------------------------------------------------------------- */

static struct dso_chain chain_of(const struct perf_event_attr *a)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const uint64_t format = a->read_format;
	struct perfdata_layout layout;
	struct dso_chain c = { .is_recorded = a->sample_type & PERF_SAMPLE_CALLCHAIN,
			       .has_stack = a->sample_type & PERF_SAMPLE_STACK_USER,
			       .has_read = a->sample_type & PERF_SAMPLE_READ,
			       .read_group = format & PERF_FORMAT_GROUP };

	perfdata_layout_of(a, &layout);
	c.read_at = (uint32_t)layout.first_variable;
	c.read_each = 1 + (uint32_t)__builtin_popcountll(format & ~times & ~PERF_FORMAT_GROUP);
	c.read_head = (uint32_t)__builtin_popcountll(format & times) + c.read_group;
	return c;
}

static int init(struct dsos *d, const struct capture_events *events,
		const struct counters *counters)
{
	TRY(strpool_init(&d->names));
	for (size_t i = 0; i < events->list.n; i++) {
		struct dso_chain c = chain_of(&events->list.v[i].attr);

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
		const uint64_t w = word(r, pos + MMAP2_NAME_AT + i);

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
	const uint64_t first = word(r, pos + 8);
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
			note_mapping(d, pid, word(r, pos + MMAP2_START_AT),
				     word(r, pos + MMAP2_LEN_AT),
				     h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID
					     ? 0
					     : word(r, pos + MMAP2_INODE_AT),
				     name, len, false);
		break;
	case PERF_RECORD_FORK: /* u32 pid, ppid, tid, ptid */
		if (pid != second)
			forked(d, pid, second);
		break;
	case PERF_RECORD_EXIT:
		if (pid == (int32_t)word(r, pos + 16))
			ended(d, pid);
		break;
	case PERF_RECORD_COMM:
		if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
			execed(d, pid);
		break;
	}
	pthread_mutex_unlock(&d->lock);
}

/* ---- where samples fell ------------------------------------------------------------------------------------------ */

static void push(struct dso_hits *h, int32_t pid, uint64_t page)
{
	if (!h->recent)
		h->recent = calloc(RECENT, sizeof(*h->recent));
	/* out of memory: one file may be left out */
	if (vec_push(&h->pending, (struct dso_place){ pid, page }) < 0)
		return;
}

static inline void note(struct dso_hits *h, int32_t pid, uint64_t page)
{
	const uint64_t key = page ^ (uint64_t)(uint32_t)pid << 40;

	if (h->recent) {
		uint64_t *slot = &h->recent[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 52];

		if (*slot == key)
			return;
		*slot = key;
	}
	push(h, pid, page);
}
_Static_assert(RECENT == 1 << (64 - 52), "slots are found by the highest bits");

/* u64 nr, nr x address; addresses from PERF_CONTEXT_MAX up say what the next ones are */
static void note_chain(const struct dsos *d, struct dso_hits *h, const struct ring *r, uint64_t pos,
		       uint64_t end, int32_t pid)
{
	uint64_t context = PERF_CONTEXT_USER, nr = word(r, pos);

	if (nr > (end - pos) / 8 - 1)
		return;
	while (nr--) {
		const uint64_t ip = word(r, pos += 8);

		if (ip >= PERF_CONTEXT_MAX)
			context = ip;
		else if (context == PERF_CONTEXT_USER)
			note(h, pid, ip >> PAGE_SHIFT);
		else if (context == PERF_CONTEXT_KERNEL && has_modules(d))
			note(h, DSOS_KERNEL_PID, ip >> PAGE_SHIFT);
	}
}

static const struct dso_chain *chain_by_id(const struct dsos *d, struct dso_hits *h, uint64_t id)
{
	uint64_t event;

	if (h->last_chain && h->last_id == id)
		return h->last_chain;
	event = hash64_find(&d->event_by_id, id);
	if (event >= d->chains.n)
		return NULL;
	h->last_id = id;
	h->last_chain = &d->chains.v[event];
	return h->last_chain;
}

void dso_hits_sample(const struct dsos *d, struct dso_hits *hits, const struct ring *r,
		     uint64_t pos, const struct perfdata_record_header *h)
{
	const uint64_t end = pos + h->size;
	const int mode = h->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	const struct dso_chain *c;
	uint64_t at;
	int32_t pid;

	hits->any_kernel |= mode == PERF_RECORD_MISC_KERNEL;
	if (h->size < SAMPLE_PID_AT + 8)
		return;
	pid = (int32_t)word(r, pos + SAMPLE_PID_AT);
	if (mode == PERF_RECORD_MISC_USER)
		note(hits, pid, word(r, pos + SAMPLE_IP_AT) >> PAGE_SHIFT);
	else if (mode == PERF_RECORD_MISC_KERNEL && has_modules(d))
		note(hits, DSOS_KERNEL_PID, word(r, pos + SAMPLE_IP_AT) >> PAGE_SHIFT);
	if (!d->any_chain)
		return;
	c = chain_by_id(d, hits, word(r, pos + SAMPLE_ID_AT));
	if (!c)
		return;
	/* the frames of a copied stack are found by the reader: it may need whatever is mapped */
	if (c->has_stack)
		note(hits, pid, WHOLE_PROCESS);
	if (!c->is_recorded)
		return;
	at = pos + c->read_at;
	if (c->has_read && at + 8 <= end) {
		const uint64_t nr = c->read_group ? word(r, at) : 1;

		if (nr > h->size / 8)
			return;
		at += 8 * (c->read_head + nr * c->read_each);
	}
	if (at + 8 <= end)
		note_chain(d, hits, r, at, end, pid);
}

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

void dso_hits_done(struct dso_hits *h)
{
	free(h->recent);
	vec_done(&h->pending);
}
