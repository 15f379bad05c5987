/* SPDX-License-Identifier: MIT */
/*
 * Prints the tasks that the records of a recording name as a tree of parents and children. With
 * mmaps=1 it also prints the mappings of each task at the end. The layout is that of perf report
 * --tasks and --mmaps:
 *
 *	#      pid      tid     ppid  comm
 *	         0        0       -1 |swapper
 *	      7585     7585       -1 |make
 *	      7587     7587     7585 | cc
 *	                                 55c2e000-55c2f000 r-xp 00001000 110921 /usr/bin/cc
 *
 * The state (state/state.h) forgets tasks that ended long ago and does not keep protections, so
 * this sink keeps both itself.
 *
 * With the rule tasks_by_thread each task refers to mappings from the moment it is made: to those
 * that the first thread of its process has then. Otherwise these are looked up when they are used.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/err.h"
#include "formats/perfdata/layout.h"
#include "recording/recording.h"
#include "sinks/fd_writer.h"
#include "sinks/perf/inodes.h"
#include "sinks/perf/need.h"
#include "sinks/perf/records.h"
#include "sinks/sink.h"
#include "sinks/text/terminal.h"
#include "sources/perfdata/view.h"
#include "state/state.h"

enum { MMAP2_FILE_OFF = 40, MMAP2_PROT_OFF = 64, COMM_COLUMN = 30, PERF_BUCKETS = 256 };
#define TASKS_IDLE "swapper"
/* mapping.dso holds no dso here, but these bits: PROT_* and MAPPED_SHARED. */
enum { MAPPED_SHARED = 8 };

struct tasks_options {
	uint32_t mmaps; /* flag */
};

/* Indexes of tasks, counted from 1; 0 means none. */
struct task_list {
	size_t first, last;
};

struct listed_task {
	int32_t pid, tid, ppid;
	bool is_linked;
	size_t next; /* sibling */
	struct task_list children;
	uint32_t comm; /* id in the string pool; 0 if none */
	size_t maps;   /* index in spaces */
};

struct tasks_sink {
	struct sink base;
	struct recording *rec;
	struct perfdata_view *view;
	const struct rules *rules;
	struct fd_writer writer;
	struct event raw;
	struct hash64 by_tid; /* index in tasks */
	VEC(struct listed_task) tasks;
	VEC(struct address_space *) spaces; /* NULL: without mappings */
	struct perf_inodes inodes;          /* with inodes_by_file */
	struct task_list roots;
	uint64_t stamp; /* number of the last change of mappings */
	bool shows_maps, on_terminal;
};

static const struct key keys[] = { KEY_FLAG("mmaps", struct tasks_options, mmaps) };

/* ---- the tasks ------------------------------------------------------------------------------- */

static int tasks_find_or_add(struct tasks_sink *s, int32_t pid, int32_t tid, size_t *ret);

/* The task that has the mappings of a process. */
static int tasks_first_thread(struct tasks_sink *s, int32_t pid, size_t *ret)
{
	return tasks_find_or_add(s, pid, pid, ret);
}

static void tasks_set_space(struct tasks_sink *s, size_t task, struct address_space *space)
{
	struct address_space **at = &s->spaces.v[s->tasks.v[task].maps];

	address_space_unref(*at);
	*at = space;
}

/* Makes a task of a process, or makes it again: without a name, and with the process's mappings. */
static int tasks_make(struct tasks_sink *s, int32_t pid, size_t i)
{
	const int32_t tid = s->tasks.v[i].tid;
	struct listed_task *t;
	size_t first;

	if (s->rules->tasks_by_thread && pid != -1 && pid != tid) {
		TRY(tasks_first_thread(s, pid, &first));
		s->tasks.v[i].maps = s->tasks.v[first].maps;
	} else {
		TRY(vec_push(&s->spaces, NULL));
		s->tasks.v[i].maps = s->spaces.n - 1;
	}
	t = &s->tasks.v[i];
	t->pid = pid;
	t->ppid = -1;
	t->comm = 0;
	return 0;
}

/* A task whose process was not known is in this one. */
static int tasks_join(struct tasks_sink *s, int32_t pid, size_t i)
{
	size_t first;

	s->tasks.v[i].pid = pid;
	if (s->tasks.v[i].tid == pid)
		return 0;
	TRY(tasks_first_thread(s, pid, &first));
	s->tasks.v[i].maps = s->tasks.v[first].maps;
	return 0;
}

static int tasks_find_or_add(struct tasks_sink *s, int32_t pid, int32_t tid, size_t *ret)
{
	const uint64_t i = hash64_find(&s->by_tid, (uint32_t)tid);

	if (i != HASH64_EMPTY) {
		*ret = (size_t)i;
		if (s->rules->tasks_by_thread && pid != -1 && s->tasks.v[i].pid == -1)
			return tasks_join(s, pid, (size_t)i);
		return 0;
	}
	*ret = s->tasks.n;
	TRY(vec_push(&s->tasks, (struct listed_task){ .tid = tid }));
	TRY(hash64_put(&s->by_tid, (uint32_t)tid, *ret));
	return tasks_make(s, pid, *ret);
}

/*
 * The thread that the child is forked from, and the task that has the mappings it inherits. With
 * tasks_by_thread both the child and a thread that was in another process are made again.
 */
static int tasks_find_forked(struct tasks_sink *s, const struct change *c, size_t *ret_parent,
			     size_t *ret_process, size_t *ret_child)
{
	const bool is_there = hash64_find(&s->by_tid, (uint32_t)c->tid) != HASH64_EMPTY;

	TRY(tasks_find_or_add(s, c->ppid, c->ptid, ret_parent));
	if (!s->rules->tasks_by_thread) {
		TRY(tasks_first_thread(s, c->ppid, ret_process));
		return tasks_find_or_add(s, c->pid, c->tid, ret_child);
	}
	if (s->tasks.v[*ret_parent].pid != c->ppid)
		TRY(tasks_make(s, c->ppid, *ret_parent));
	*ret_process = *ret_parent;
	TRY(tasks_find_or_add(s, c->pid, c->tid, ret_child));
	return is_there ? tasks_make(s, c->pid, *ret_child) : 0;
}

static int tasks_fork(void *user, const struct change *c, enum lineage_maps maps)
{
	struct tasks_sink *s = user;
	struct listed_task *task;
	size_t parent, process, child;
	struct address_space *space;

	TRY(tasks_find_forked(s, c, &parent, &process, &child));
	task = &s->tasks.v[child];
	task->pid = c->pid;
	task->ppid = c->ptid;
	task->comm = s->tasks.v[parent].comm;
	if (maps == LINEAGE_INHERITS && child != process) {
		space = s->spaces.v[s->tasks.v[process].maps];
		tasks_set_space(s, child, space ? address_space_ref(space) : NULL);
	}
	return 0;
}

static int tasks_name(void *user, const struct change *c)
{
	struct tasks_sink *s = user;
	size_t i;

	TRY(tasks_find_or_add(s, c->pid, c->tid, &i));
	return strpool_intern(s->rec->strings, c->text, strlen(c->text), &s->tasks.v[i].comm);
}

static int tasks_exec(void *user, const struct change *c)
{
	struct tasks_sink *s = user;
	size_t i;

	if (s->rules->keeps_maps_at_exec)
		return 0;
	TRY(tasks_first_thread(s, c->pid, &i));
	tasks_set_space(s, i, NULL);
	return 0;
}

/*
 * Reads what the change of a mapping does not have: its protection, as bits of mapping.dso, and the
 * id of its file.
 */
static uint32_t tasks_read_mapping(const struct tasks_sink *s, struct perf_file_id *ret_id)
{
	const struct sonde_event *raw = &s->raw.pub;
	struct perfdata_view_record rec;
	uint32_t prot, flags;
	struct bytes b;

	*ret_id = (struct perf_file_id){ 0 };
	perfdata_view_record(s->view, &s->raw, &rec);
	if (rec.type == PERF_RECORD_MMAP)
		return rec.misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC;
	if (rec.type != PERF_RECORD_MMAP2 || raw->record_len < MMAP2_PROT_OFF + 8)
		return 0;
	b = bytes_init(raw->record, raw->record_len, raw->file_off, "", rec.swap);
	b.pos += MMAP2_FILE_OFF;
	/* A build id is in the file's place. Its bytes have no order that could be swapped. */
	b.swap = rec.swap && !(rec.misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
	if (bytes_u32(&b, "maj", &ret_id->major) < 0 || bytes_u32(&b, "min", &ret_id->minor) < 0 ||
	    bytes_u64(&b, "ino", &ret_id->inode) < 0 ||
	    bytes_u64(&b, "ino_generation", &ret_id->generation) < 0)
		err_clear();
	b.swap = rec.swap;
	if (bytes_u32(&b, "prot", &prot) < 0 || bytes_u32(&b, "flags", &flags) < 0) {
		err_clear();
		return 0;
	}
	return (prot & (PROT_READ | PROT_WRITE | PROT_EXEC)) |
	       (flags & MAP_SHARED ? MAPPED_SHARED : 0);
}

/*
 * Names code without a file. It is JIT code, and the JIT lists its functions in a file of this
 * name.
 */
static int tasks_name_of_code(struct tasks_sink *s, const struct change *c, int32_t pid,
			      struct mapping *m)
{
	static const char *const beginnings[] = {
		"//anon", "/dev/zero", "/anon_hugepage", "[stack", "[heap]", "/SYSV",
	};
	bool has_no_file = false;
	char name[32];
	int n;

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		has_no_file |= !strncmp(c->text, beginnings[i], strlen(beginnings[i]));
	if (!c->executable || !has_no_file)
		return 0;
	n = snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)pid);
	return strpool_intern(s->rec->strings, name, (size_t)n, &m->name);
}

static int tasks_map(void *user, const struct change *c)
{
	struct tasks_sink *s = user;
	const bool by_thread = s->rules->tasks_by_thread;
	struct address_space **space;
	struct perf_file_id id;
	struct mapping m;
	size_t task, process;

	if (by_thread && !s->shows_maps)
		return 0;
	TRY(tasks_find_or_add(s, c->pid, c->tid, &task));
	if (!by_thread)
		TRY(tasks_first_thread(s, c->pid, &process));
	if (!s->shows_maps)
		return 0;
	TRY(state_mapping(s->rec->strings, c, &m));
	TRY(tasks_name_of_code(s, c, by_thread ? s->tasks.v[task].pid : c->pid, &m));
	if (m.end <= m.start)
		return 0;
	m.dso = tasks_read_mapping(s, &id);
	if (s->rules->inodes_by_file) {
		m.inode = 0;
		if (strcmp(c->text, "[vdso]") != 0)
			TRY(perf_inodes_find_or_add(&s->inodes, m.name, &id, &m.inode));
	}
	space = &s->spaces.v[s->tasks.v[by_thread ? task : process].maps];
	if (!*space)
		TRY(address_space_new(space, ++s->stamp));
	return address_space_add(space, &m, ++s->stamp);
}

static int tasks_record(struct sink *sink, struct sink_record *record)
{
	static const struct lineage_ops ops = {
		.fork = tasks_fork,
		.name = tasks_name,
		.exec = tasks_exec,
		.map = tasks_map,
	};
	struct tasks_sink *s = (struct tasks_sink *)sink;
	const struct event *ev;
	enum verdict verdict;
	int r;

	TRY(perf_records_read(record, &s->raw));
	while ((r = record->next(record, &ev, &verdict)) > 0)
		if (ev->change)
			TRY(lineage_apply(&ops, s, ev->change));
	return r;
}

/* ---- the list -------------------------------------------------------------------------------- */

static int tasks_by_bucket(const void *a, const void *b)
{
	const struct listed_task *x = a, *y = b;
	const uint32_t i = (uint32_t)x->tid % PERF_BUCKETS, k = (uint32_t)y->tid % PERF_BUCKETS;

	if (i != k)
		return i < k ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void tasks_append(struct tasks_sink *s, struct task_list *list, size_t i)
{
	if (list->last)
		s->tasks.v[list->last - 1].next = i + 1;
	else
		list->first = i + 1;
	list->last = i + 1;
}

/*
 * Links each task to its parent, in perf's order: tasks by their bucket in a table of PERF_BUCKETS,
 * each followed by its ancestors that are not linked yet.
 */
static int tasks_link(struct tasks_sink *s)
{
	qsort(s->tasks.v, s->tasks.n, sizeof(*s->tasks.v), tasks_by_bucket);
	for (size_t i = 0; i < s->tasks.n; i++)
		TRY(hash64_put(&s->by_tid, (uint32_t)s->tasks.v[i].tid, i));
	for (size_t i = 0; i < s->tasks.n; i++) {
		uint64_t at = i;

		while (at != HASH64_EMPTY && !s->tasks.v[at].is_linked) {
			struct listed_task *t = &s->tasks.v[at];
			uint64_t parent = HASH64_EMPTY;

			t->is_linked = true;
			if (t->ppid != -1)
				parent = hash64_find(&s->by_tid, (uint32_t)t->ppid);
			tasks_append(s,
				     parent == HASH64_EMPTY ? &s->roots
							    : &s->tasks.v[parent].children,
				     (size_t)at);
			at = parent;
		}
	}
	return 0;
}

/* NULL if the task has no mappings. */
static const struct address_space *tasks_space(const struct tasks_sink *s,
					       const struct listed_task *t)
{
	uint64_t first;

	if (s->rules->tasks_by_thread)
		return s->spaces.v[t->maps];
	first = hash64_find(&s->by_tid, (uint32_t)t->pid);
	return first == HASH64_EMPTY ? NULL : s->spaces.v[s->tasks.v[first].maps];
}

static uint64_t tasks_inode(const struct tasks_sink *s, const struct mapping *m)
{
	return s->rules->inodes_by_file ? perf_inodes_get(&s->inodes, m->inode) : m->inode;
}

static void tasks_put_maps(const struct tasks_sink *s, const struct listed_task *t, size_t level,
			   struct outbuf *out)
{
	const struct address_space *space = tasks_space(s, t);
	const struct mapping *m;

	for (uint64_t at = 0; space && (m = address_space_behind(space, at)); at = m->end)
		outbuf_fmt(out,
			   "%*s%" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %" PRIu64 " %s\n",
			   (int)(COMM_COLUMN + level + 2), "", m->start, m->end,
			   m->dso & PROT_READ ? 'r' : '-', m->dso & PROT_WRITE ? 'w' : '-',
			   m->dso & PROT_EXEC ? 'x' : '-', m->dso & MAPPED_SHARED ? 's' : 'p',
			   m->pgoff, tasks_inode(s, m), strpool_text(s->rec->strings, m->name));
}

static void tasks_put(const struct tasks_sink *s, const struct listed_task *t, size_t level,
		      struct outbuf *out)
{
	outbuf_fmt(out, "  %8d %8d %8d |%*s", (int)t->pid, (int)t->tid, (int)t->ppid, (int)level,
		   "");
	if (t->comm)
		outbuf_str(out, strpool_text(s->rec->strings, t->comm));
	else if (!t->tid && !s->rules->tasks_by_thread)
		outbuf_str(out, TASKS_IDLE);
	else
		outbuf_fmt(out, ":%d", (int)t->tid);
	outbuf_char(out, '\n');
	if (s->shows_maps)
		tasks_put_maps(s, t, level, out);
}

/* Prints each task before its children. A task whose ancestors form a cycle is not printed. */
static int tasks_put_tree(struct tasks_sink *s)
{
	VEC(size_t)
	path = { 0 }; /* for each level the next task to print, counted from 1; 0 if none */
	int r = vec_push(&path, s->roots.first);

	while (r >= 0 && path.n) {
		const size_t at = path.v[path.n - 1];
		const struct listed_task *t;

		if (!at) {
			path.n--;
			continue;
		}
		t = &s->tasks.v[at - 1];
		path.v[path.n - 1] = t->next;
		tasks_put(s, t, path.n - 1, &s->writer.out);
		r = fd_writer_tick(&s->writer);
		if (r >= 0)
			r = vec_push(&path, t->children.first);
	}
	vec_done(&path);
	return r < 0 ? r : 0;
}

static int tasks_flush(struct sink *sink)
{
	return fd_writer_flush(&((struct tasks_sink *)sink)->writer);
}

static int tasks_finish(struct sink *sink, bool complete)
{
	struct tasks_sink *s = (struct tasks_sink *)sink;
	size_t start = s->writer.out.len, idle;

	TRY(tasks_find_or_add(s, 0, 0, &idle));
	TRY(tasks_link(s));
	outbuf_fmt(&s->writer.out, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	TRY(tasks_put_tree(s));
	if (s->on_terminal)
		text_terminal_quiet(&s->writer.out, start, true);
	return fd_writer_flush(&s->writer);
}

static struct sink_wants tasks_wants(const struct sink_options *opts)
{
	return (struct sink_wants){
		.samples = true,
		.records = true,
		.raw_records = true,
		.all_records = true,
	};
}

static void tasks_close(struct sink *sink)
{
	struct tasks_sink *s = (struct tasks_sink *)sink;

	if (!s)
		return;
	vec_foreach(space, &s->spaces)
		address_space_unref(*space);
	vec_done(&s->spaces);
	perf_inodes_done(&s->inodes);
	vec_done(&s->tasks);
	hash64_done(&s->by_tid);
	fd_writer_done(&s->writer);
	free(s);
}

/* The idle task has a name from the start, which tasks inherit that are forked from it. */
static int tasks_add_idle(struct tasks_sink *s)
{
	size_t i;

	TRY(tasks_find_or_add(s, 0, 0, &i));
	return strpool_intern(s->rec->strings, TASKS_IDLE, strlen(TASKS_IDLE), &s->tasks.v[i].comm);
}

static int tasks_open(struct sink **ret, const struct sink_options *opts)
{
	const struct tasks_options *o = opts->own;
	struct perfdata_view *view;
	struct tasks_sink *s;
	int r;

	TRY(perf_view_need(opts->recordings->v, "tasks", &view));
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->base.ops = &tasks_sink_ops;
	s->rec = opts->recordings->v;
	s->view = view;
	s->rules = opts->rules;
	s->shows_maps = o->mmaps;
	s->on_terminal = opts->on_terminal;
	r = fd_writer_init(&s->writer, opts->fd);
	if (r >= 0 && s->rules->tasks_by_thread)
		r = tasks_add_idle(s);
	if (r < 0) {
		tasks_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}

const struct sink_ops tasks_sink_ops = {
	.name = "tasks",
	.summary = "the tree of tasks and their mappings, as perf report --tasks prints it",
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct tasks_options),
	.wants = tasks_wants,
	.open = tasks_open,
	.record = tasks_record,
	.finish = tasks_finish,
	.flush = tasks_flush,
	.close = tasks_close,
};
