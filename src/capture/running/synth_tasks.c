/* SPDX-License-Identifier: MIT */
/* Tasks that are already running: parent, name, namespaces and mappings of each, from /proc. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/now.h"
#include "base/thread.h"
#include "base/vec.h"
#include "capture/running/synth_internal.h"

enum {
	COMM_BYTES = 16,
	FORK_EXEC_MISC = 1 << 13, /* "made by the tool, fork and exec in one" */
	SLICE_PIDS = 32
};

/* Reads a small file of proc, NUL-terminated. Returns its length, or -1. */
static ssize_t synth_read_proc(int dir, const char *path, char *buf, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

struct synth_task {
	int32_t pid, tid, parent; /* parent of the process */
	char comm[COMM_BYTES];
};

/* "TID (COMM) STATE PPID ...": the name may itself contain parentheses. */
static bool synth_read_stat(int proc, int32_t pid, int32_t tid, struct synth_task *ret)
{
	char path[64], text[512], *name, *name_end;
	size_t len;

	snprintf(path, sizeof(path), "%d/task/%d/stat", pid, tid);
	if (synth_read_proc(proc, path, text, sizeof(text)) <= 0)
		return false;
	name = strchr(text, '(');
	name_end = strrchr(text, ')');
	if (!name || !name_end || name_end < name || strlen(name_end) < 4)
		return false;
	*ret = (struct synth_task){ .pid = pid, .tid = tid, .parent = atoi(name_end + 4) };
	len = (size_t)(name_end - name - 1);
	memcpy(ret->comm, name + 1, len < COMM_BYTES - 1 ? len : COMM_BYTES - 1);
	return true;
}

static void synth_put_fork(struct synth *s, const struct synth_task *t)
{
	size_t at = synth_begin(s, PERF_RECORD_FORK, FORK_EXEC_MISC);
	const int32_t parent = t->tid == t->pid ? t->parent : t->pid;

	synth_put_u32(s, (uint32_t)t->pid);
	synth_put_u32(s, (uint32_t)parent);
	synth_put_u32(s, (uint32_t)t->tid);
	synth_put_u32(s, (uint32_t)parent);
	synth_put_u64(s, 0);
	synth_end(s, at);
}

/*
 * u32 pid, tid | u64 nr | nr x { u64 device, inode }, in the kernel's order; zeros if we may not
 * read them
 */
static void synth_put_namespaces(struct synth *s, int proc, const struct synth_task *t)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	enum { NR_NAMES = sizeof(names) / sizeof(names[0]) };
	char path[64];
	size_t at;

	if (!s->namespaces)
		return;
	at = synth_begin(s, PERF_RECORD_NAMESPACES, 0);
	synth_put_u32(s, (uint32_t)t->pid);
	synth_put_u32(s, (uint32_t)t->tid);
	synth_put_u64(s, NR_NAMES);
	for (size_t i = 0; i < NR_NAMES; i++) {
		struct stat st = { 0 };

		snprintf(path, sizeof(path), "%d/ns/%s", t->tid, names[i]);
		if (fstatat(proc, path, &st, 0) < 0)
			st = (struct stat){ 0 };
		synth_put_u64(s, st.st_dev);
		synth_put_u64(s, st.st_ino);
	}
	synth_end(s, at);
}

static void synth_put_comm(struct synth *s, const struct synth_task *t)
{
	size_t at = synth_begin(s, PERF_RECORD_COMM, 0);

	synth_put_u32(s, (uint32_t)t->pid);
	synth_put_u32(s, (uint32_t)t->tid);
	outbuf_put(&s->out, t->comm, strlen(t->comm) + 1);
	synth_end(s, at);
}

/*
 * START-END PERM OFFSET MAJOR:MINOR INODE PATH. A mapping that is not executable is data; it is
 * recorded if it is readable.
 */
static void synth_put_mapping(struct synth *s, int32_t pid, char *line)
{
	unsigned long long start, stop, offset, inode;
	unsigned major, minor;
	char perm[5];
	const char *name;
	struct build_id id = { 0 };
	int name_at = 0;
	bool is_data;
	size_t at;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &stop, perm, &offset, &major,
		   &minor, &inode, &name_at) < 7 ||
	    !name_at)
		return;
	is_data = perm[2] != 'x';
	if (is_data && (!s->data_maps || perm[0] != 'r'))
		return;
	name = line[name_at] ? line + name_at : "//anon";
	if (s->ids)
		id = build_ids_of_mapping(s->ids, name, (uint64_t)major << 32 | minor, inode, pid);
	at = synth_begin(s, PERF_RECORD_MMAP2,
			 PERF_RECORD_MISC_USER | (is_data ? PERF_RECORD_MISC_MMAP_DATA : 0) |
				 (id.len ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
	synth_put_u32(s, (uint32_t)pid);
	synth_put_u32(s, (uint32_t)pid);
	synth_put_u64(s, start);
	synth_put_u64(s, stop - start);
	synth_put_u64(s, offset);
	if (id.len) {
		synth_put_build_id(s, &id);
	} else {
		synth_put_u32(s, major);
		synth_put_u32(s, minor);
		synth_put_u64(s, inode);
		synth_put_u64(s, 0);
	}
	synth_put_u32(s, (perm[0] == 'r' ? PROT_READ : 0) | (perm[1] == 'w' ? PROT_WRITE : 0) |
				 (is_data ? 0 : PROT_EXEC));
	synth_put_u32(s, perm[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
	outbuf_put(&s->out, name, strlen(name) + 1);
	synth_end(s, at);
	if (s->mapped && !is_data)
		s->mapped(s->mapped_ctx, pid, start, stop - start, inode, name, strlen(name));
}

static void synth_put_mappings(struct synth *s, int proc, int32_t pid)
{
	enum { CHUNK = 64 << 10 };
	const uint64_t end_ms = s->maps_limited ? now_ms() + s->maps_ms : UINT64_MAX;
	char path[64], *buf;
	size_t have = 0;
	ssize_t n;
	int fd;

	if (s->no_maps)
		return;
	snprintf(path, sizeof(path), "%d/maps", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	buf = malloc(CHUNK + 1);
	while (buf && (n = read(fd, buf + have, CHUNK - have)) > 0) {
		char *p = buf, *nl;

		if (s->maps_limited && now_ms() >= end_ms) {
			if (s->truncated)
				atomic_fetch_add(s->truncated, 1);
			break;
		}
		have += (size_t)n;
		buf[have] = '\0';
		while ((nl = memchr(p, '\n', have - (size_t)(p - buf)))) {
			*nl = '\0';
			synth_put_mapping(s, pid, p);
			p = nl + 1;
		}
		have -= (size_t)(p - buf);
		memmove(buf, p, have);
		if (have == CHUNK)
			break;
	}
	free(buf);
	close(fd);
}

/* Calls visit for each number among the entries of a directory. */
static void synth_each_number(int dir, const char *path, void (*visit)(void *, int32_t), void *ctx)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			visit(ctx, atoi(e->d_name));
	closedir(d);
}

struct synth_walk {
	struct synth *synth;
	int proc;
	int32_t pid;
};

static void synth_thread_of(void *ctx, int32_t tid)
{
	const struct synth_walk *w = ctx;
	struct synth_task t;

	if (tid == w->pid || !synth_read_stat(w->proc, w->pid, tid, &t))
		return;
	synth_put_fork(w->synth, &t);
	synth_put_namespaces(w->synth, w->proc, &t);
	synth_put_comm(w->synth, &t);
}

static void synth_process(void *ctx, int32_t pid)
{
	struct synth_walk w = *(const struct synth_walk *)ctx;
	struct synth_task t;
	char path[64];

	if (!synth_read_stat(w.proc, pid, pid, &t))
		return;
	synth_put_fork(w.synth, &t);
	synth_put_namespaces(w.synth, w.proc, &t);
	synth_put_comm(w.synth, &t);
	synth_put_mappings(w.synth, w.proc, pid);
	w.pid = pid;
	snprintf(path, sizeof(path), "%d/task", pid);
	synth_each_number(w.proc, path, synth_thread_of, &w);
}

/* ---- all tasks, by several threads ----------------------------------------------------------- */

struct crew {
	const struct synth *like; /* settings of the records */
	int proc;
	const int32_t *pids;
	size_t nr_pids;
	struct outbuf *slices; /* one buffer per SLICE_PIDS processes, in the order of pids */
	size_t nr_slices;
	atomic_size_t next; /* the next free slice */
};

static void *synth_describe_slices(void *arg)
{
	struct crew *c = arg;
	struct build_ids ids = { 0 };
	size_t slice;

	while ((slice = atomic_fetch_add(&c->next, 1)) < c->nr_slices) {
		struct synth s = *c->like;
		struct synth_walk w = { .synth = &s, .proc = c->proc };
		const size_t first = slice * SLICE_PIDS;
		const size_t end =
			c->nr_pids - first < SLICE_PIDS ? c->nr_pids : first + SLICE_PIDS;

		s.out = (struct outbuf){ 0 };
		s.ids = c->like->ids ? &ids : NULL;
		for (size_t i = first; i < end; i++)
			synth_process(&w, c->pids[i]);
		c->slices[slice] = s.out;
	}
	build_ids_done(&ids);
	return NULL;
}

/* The caller is one of the threads. */
static void synth_run_crew(struct crew *c, unsigned nr_threads)
{
	pthread_t *threads;
	unsigned n = 0;

	if (nr_threads > c->nr_slices)
		nr_threads = (unsigned)c->nr_slices;
	threads = nr_threads > 1 ? calloc(nr_threads - 1, sizeof(*threads)) : NULL;
	while (threads && n < nr_threads - 1 &&
	       thread_start(&threads[n], NULL, synth_describe_slices, c) == 0)
		n++;
	synth_describe_slices(c);
	while (n)
		pthread_join(threads[--n], NULL);
	free(threads);
}

void synth_processes(struct synth *s, const int32_t *pids, size_t nr_pids, unsigned nr_threads)
{
	struct crew c = { .like = s, .pids = pids, .nr_pids = nr_pids };

	if (s->no_tasks || !nr_pids)
		return;
	c.nr_slices = (nr_pids + SLICE_PIDS - 1) / SLICE_PIDS;
	c.slices = calloc(c.nr_slices, sizeof(*c.slices));
	c.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!c.slices)
		s->out.failed = true;
	else if (c.proc >= 0)
		synth_run_crew(&c, nr_threads);
	for (size_t i = 0; c.slices && i < c.nr_slices; i++) {
		s->out.failed |= c.slices[i].failed;
		outbuf_put(&s->out, c.slices[i].data, c.slices[i].len);
		outbuf_done(&c.slices[i]);
	}
	if (c.proc >= 0)
		close(c.proc);
	free(c.slices);
}

struct found_pids {
	VEC(int32_t) pids;
	bool failed;
};

static void synth_note_pid(void *ctx, int32_t pid)
{
	struct found_pids *f = ctx;

	f->failed |= vec_push(&f->pids, pid) < 0;
}

void synth_all_tasks(struct synth *s, unsigned nr_threads)
{
	struct found_pids found = { 0 };

	synth_each_number(AT_FDCWD, "/proc", synth_note_pid, &found);
	s->out.failed |= found.failed;
	synth_processes(s, found.pids.v, found.pids.n, nr_threads);
	vec_done(&found.pids);
}

/* ---- single tasks ---------------------------------------------------------------------------- */

/* The process of a thread: its Tgid. */
static int32_t synth_process_of(int proc, int32_t tid)
{
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "%d/status", tid);
	if (synth_read_proc(proc, path, text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, "\nTgid:");
	return at ? atoi(at + 6) : 0;
}

void synth_threads(struct synth *s, const int32_t *tids, size_t nr_tids)
{
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int32_t described = 0;

	for (size_t i = 0; proc >= 0 && !s->no_tasks && i < nr_tids; i++) {
		int32_t pid = synth_process_of(proc, tids[i]);
		struct synth_task t;

		/* the threads of a process are adjacent; the first one gets the mappings */
		if (!pid || !synth_read_stat(proc, pid, tids[i], &t))
			continue;
		if (pid != described && tids[i] != pid) {
			struct synth_task leader;

			if (synth_read_stat(proc, pid, pid, &leader))
				synth_put_comm(s, &leader);
		}
		synth_put_comm(s, &t);
		synth_put_namespaces(s, proc, &t);
		if (pid != described)
			synth_put_mappings(s, proc, pid);
		described = pid;
	}
	if (proc >= 0)
		close(proc);
}

void synth_name(struct synth *s, int32_t pid)
{
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct synth_task t;

	if (proc < 0)
		return;
	if (!s->no_tasks && synth_read_stat(proc, pid, pid, &t)) {
		synth_put_comm(s, &t);
		synth_put_namespaces(s, proc, &t);
	}
	close(proc);
}
