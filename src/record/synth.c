/* SPDX-License-Identifier: MIT */
#include "record/synth.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/perfdata/layout.h"
#include "record/cgroups.h"

enum {
	COMM_BYTES = 16,
	RECORD_MAX = UINT16_MAX & ~7,
	FORK_EXEC_MISC = 1 << 13, /* "made by the tool, fork and exec in one" */
	ID_INDEX_ENTRY = 32,
};

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* A record is begun with its header, filled, and ended: padded to 8, with the trailer, its size patched in. */
static size_t begin(struct synth *s, uint32_t type, uint16_t misc)
{
	struct perfdata_record_header h = { .type = type, .misc = misc };
	size_t at = s->out.len;

	outbuf_put(&s->out, &h, sizeof(h));
	return at;
}

static void end(struct synth *s, size_t at)
{
	uint16_t size;

	if (s->out.failed)
		return;
	outbuf_pad(&s->out, '\0', (size_t) - (s->out.len - at) & 7);
	if (((struct perfdata_record_header *)(s->out.data + at))->type < RECORD_HEADER_ATTR)
		outbuf_pad(&s->out, '\0', s->trailer_bytes);
	if (s->out.failed)
		return;
	size = (uint16_t)(s->out.len - at);
	memcpy(s->out.data + at + offsetof(struct perfdata_record_header, size), &size,
	       sizeof(size));
}

static void put_u16(struct synth *s, uint16_t v)
{
	outbuf_put(&s->out, &v, sizeof(v));
}

static void put_u32(struct synth *s, uint32_t v)
{
	outbuf_put(&s->out, &v, sizeof(v));
}

static void put_u64(struct synth *s, uint64_t v)
{
	outbuf_put(&s->out, &v, sizeof(v));
}

void synth_plain(struct synth *s, uint32_t type)
{
	end(s, begin(s, type, 0));
}

void synth_id_index(struct synth *s, const struct counters *c)
{
	const size_t per_record = (RECORD_MAX - 16) / ID_INDEX_ENTRY;

	for (size_t i = 0; i < c->list.n;) {
		size_t nr = c->list.n - i < per_record ? c->list.n - i : per_record;
		size_t at = begin(s, RECORD_ID_INDEX, 0);

		put_u64(s, nr);
		for (size_t last = i + nr; i < last; i++) {
			const struct counter *n = &c->list.v[i];

			put_u64(s, n->id);
			put_u64(s, n->buffer);
			put_u64(s, (uint64_t)n->cpu);
			put_u64(s, (uint64_t)(int64_t)n->tid);
		}
		end(s, at);
	}
}

/* u8 bytes, u8, u16, id[20]: in MMAP2 in the place of u32 major, minor, u64 inode, generation */
static void put_build_id(struct synth *s, const struct build_id *id)
{
	put_u32(s, (uint32_t)id->len);
	outbuf_put(&s->out, id->bytes, sizeof(id->bytes));
}

/*
 * u32 pid, tid | u64 addr, len, page offset | [MMAP2: build id, u32 prot, flags] | name. Kernel maps: pid -1, tid 0. id NULL
 * or without a length: none is told.
 */
static void kernel_mmap(struct synth *s, uint64_t addr, uint64_t len, uint64_t pgoff,
			const char *name, const struct build_id *id)
{
	const bool tell = id && id->len;
	size_t at = begin(s, tell ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP,
			  PERF_RECORD_MISC_KERNEL | (tell ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));

	put_u32(s, UINT32_MAX);
	put_u32(s, 0);
	put_u64(s, addr);
	put_u64(s, len);
	put_u64(s, pgoff);
	if (tell) {
		put_build_id(s, id);
		put_u64(s, 0);
	}
	outbuf_put(&s->out, name, strlen(name) + 1);
	end(s, at);
}

void synth_kernel_map(struct synth *s, const struct kernel_map *k)
{
	struct build_id id = { 0 };
	char name[64];

	if (!k->reference_addr)
		return;
	if (s->ids)
		id = build_id_of_kernel();
	snprintf(name, sizeof(name), "[kernel.kallsyms]%s", k->reference);
	kernel_mmap(s, k->start, k->end - k->start, k->reference_addr, name, &id);
}

void synth_thread_map(struct synth *s, const int32_t *tids, size_t nr_tids)
{
	const size_t per_record = (RECORD_MAX - 16) / 24;

	for (size_t i = 0; i < nr_tids;) {
		size_t nr = nr_tids - i < per_record ? nr_tids - i : per_record;
		size_t at = begin(s, RECORD_THREAD_MAP, 0);

		put_u64(s, nr);
		for (size_t last = i + nr; i < last; i++) {
			char comm[COMM_BYTES + 1] = "", path[64];
			FILE *f;

			snprintf(path, sizeof(path), "/proc/%d/comm", tids[i]);
			f = tids[i] > 0 ? fopen(path, "re") : NULL;
			if (f) {
				if (fgets(comm, sizeof(comm), f))
					comm[strcspn(comm, "\n")] = '\0';
				fclose(f);
			}
			put_u64(s, (uint64_t)(int64_t)tids[i]);
			outbuf_put(&s->out, comm, COMM_BYTES);
		}
		end(s, at);
	}
}

/* u16 type: 2 range: u8 any, u8 pad, u16 first, last; 0 list: u16 nr, nr x u16 */
void synth_cpu_map(struct synth *s, const int *cpus, size_t nr_cpus)
{
	size_t at = begin(s, RECORD_CPU_MAP, 0);
	bool is_range = cpus[0] >= 0 && cpus[nr_cpus - 1] - cpus[0] + 1 == (int)nr_cpus;

	put_u16(s, is_range ? 2 : 0);
	if (is_range) {
		put_u16(s, 0);
		put_u16(s, (uint16_t)cpus[0]);
		put_u16(s, (uint16_t)cpus[nr_cpus - 1]);
	} else {
		put_u16(s, (uint16_t)nr_cpus);
		for (size_t i = 0; i < nr_cpus; i++)
			put_u16(s, (uint16_t)cpus[i]);
	}
	end(s, at);
}

void synth_lost_samples(struct synth *s, const struct perf_event_attr *a, uint64_t id, int cpu,
			uint64_t lost)
{
	const uint64_t cpu_word = (uint32_t)cpu;
	size_t trailer;

	size_t at = begin(s, PERF_RECORD_LOST_SAMPLES, 0);

	put_u64(s, lost);
	end(s, at);
	if (s->out.failed || !(a->sample_type & PERF_SAMPLE_IDENTIFIER) || s->trailer_bytes < 8)
		return;
	/* id and cpu are what is not zero in this trailer: ..., cpu, id */
	trailer = s->out.len - 8;
	memcpy(s->out.data + trailer, &id, sizeof(id));
	if (a->sample_type & PERF_SAMPLE_CPU && s->trailer_bytes >= 16)
		memcpy(s->out.data + trailer - 8, &cpu_word, sizeof(cpu_word));
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* NAME SIZE REFCOUNT USERS STATE ADDRESS */
void synth_modules(struct synth *s)
{
	FILE *f = fopen("/proc/modules", "re");
	char line[1024], name[128], file[PATH_MAX];
	unsigned long long size, addr;
	struct build_id id = { 0 };

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 || !addr)
			continue;
		/* Readers take the name in brackets as "the module of that name", wherever its file is. */
		snprintf(file, sizeof(file), "[%s]", name);
		if (s->ids)
			id = build_id_of_module("", name);
		kernel_mmap(s, addr, size, 0, file, &id);
		if (s->dsos)
			dsos_note_mapping(s->dsos, DSOS_KERNEL_PID, addr, size, 0, file,
					  strlen(file));
	}
	fclose(f);
}

/* ---- BPF --------------------------------------------------------------------------------------------------------- */

/* u64 addr, u32 len, u16 type, u16 flags, name */
static void put_ksymbol(struct synth *s, uint64_t addr, uint32_t len, const char *name)
{
	size_t at = begin(s, PERF_RECORD_KSYMBOL, 0);

	put_u64(s, addr);
	put_u32(s, len);
	put_u16(s, PERF_RECORD_KSYMBOL_TYPE_BPF);
	put_u16(s, 0);
	outbuf_put(&s->out, name, strlen(name) + 1);
	end(s, at);
}

static void put_bpf(void *ctx, const struct bpf_function *f)
{
	struct synth *s = ctx;
	size_t at;

	if (f->name) {
		put_ksymbol(s, f->addr, f->len, f->name);
		return;
	}
	at = begin(s, PERF_RECORD_BPF_EVENT, 0);
	put_u16(s, PERF_BPF_EVENT_PROG_LOAD);
	put_u16(s, 0);
	put_u32(s, f->program);
	outbuf_put(&s->out, f->tag, BPF_TAG_BYTES);
	end(s, at);
}

/* Only the kernel's list of symbols tells of them: ADDR TYPE NAME [bpf]. Each has a page. */
static void put_bpf_images(struct synth *s)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[1024], name[512], module[16];
	unsigned long long addr;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "[bpf]") ||
		    sscanf(line, "%llx %*c %511s %15s", &addr, name, module) != 3 || !addr ||
		    strcmp(module, "[bpf]"))
			continue;
		if (!strncmp(name, "bpf_trampoline_", 15) || !strncmp(name, "bpf_dispatcher_", 15))
			put_ksymbol(s, addr, (uint32_t)sysconf(_SC_PAGESIZE), name);
	}
	fclose(f);
}

void synth_bpf(struct synth *s, struct bpf_programs *programs)
{
	bpf_programs_each_function(programs, put_bpf, s);
	if (bpf_programs_have_images(programs))
		put_bpf_images(s);
}

/* ---- control groups ---------------------------------------------------------------------------------------------- */

/* u64 id | path */
static void put_cgroup(void *ctx, uint64_t id, const char *path)
{
	struct synth *s = ctx;
	size_t at = begin(s, PERF_RECORD_CGROUP, 0);

	put_u64(s, id);
	outbuf_put(&s->out, path, strlen(path) + 1);
	end(s, at);
}

void synth_cgroups(struct synth *s)
{
	cgroups_each(put_cgroup, s);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* A small file of proc, NUL-terminated; its length, or -1. */
static ssize_t slurp(int dir, const char *path, char *buf, size_t size)
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

struct task {
	int32_t pid, tid, parent; /* parent of the process */
	char comm[COMM_BYTES];
};

/* "TID (COMM) STATE PPID ...": the name may hold parentheses itself */
static bool read_stat(int proc, int32_t pid, int32_t tid, struct task *ret)
{
	char path[64], text[512], *open, *close;
	size_t len;

	snprintf(path, sizeof(path), "%d/task/%d/stat", pid, tid);
	if (slurp(proc, path, text, sizeof(text)) <= 0)
		return false;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open || strlen(close) < 4)
		return false;
	*ret = (struct task){ .pid = pid, .tid = tid, .parent = atoi(close + 4) };
	len = (size_t)(close - open - 1);
	memcpy(ret->comm, open + 1, len < COMM_BYTES - 1 ? len : COMM_BYTES - 1);
	return true;
}

static void put_fork(struct synth *s, const struct task *t)
{
	size_t at = begin(s, PERF_RECORD_FORK, FORK_EXEC_MISC);
	const int32_t parent = t->tid == t->pid ? t->parent : t->pid;

	put_u32(s, (uint32_t)t->pid);
	put_u32(s, (uint32_t)parent);
	put_u32(s, (uint32_t)t->tid);
	put_u32(s, (uint32_t)parent);
	put_u64(s, 0);
	end(s, at);
}

/* u32 pid, tid | u64 nr | nr x { u64 device, inode }, in the kernel's order; zeros where they may not be read */
static void put_namespaces(struct synth *s, int proc, const struct task *t)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	enum { NR_NAMES = sizeof(names) / sizeof(names[0]) };
	char path[64];
	size_t at;

	if (!s->namespaces)
		return;
	at = begin(s, PERF_RECORD_NAMESPACES, 0);
	put_u32(s, (uint32_t)t->pid);
	put_u32(s, (uint32_t)t->tid);
	put_u64(s, NR_NAMES);
	for (size_t i = 0; i < NR_NAMES; i++) {
		struct stat st = { 0 };

		snprintf(path, sizeof(path), "%d/ns/%s", t->tid, names[i]);
		if (fstatat(proc, path, &st, 0) < 0)
			st = (struct stat){ 0 };
		put_u64(s, st.st_dev);
		put_u64(s, st.st_ino);
	}
	end(s, at);
}

static void put_comm(struct synth *s, const struct task *t)
{
	size_t at = begin(s, PERF_RECORD_COMM, 0);

	put_u32(s, (uint32_t)t->pid);
	put_u32(s, (uint32_t)t->tid);
	outbuf_put(&s->out, t->comm, strlen(t->comm) + 1);
	end(s, at);
}

/* START-END PERM OFFSET MAJOR:MINOR INODE   PATH; what cannot be executed is data, told of if it can be read */
static void put_mapping(struct synth *s, int32_t pid, char *line)
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
	at = begin(s, PERF_RECORD_MMAP2,
		   PERF_RECORD_MISC_USER | (is_data ? PERF_RECORD_MISC_MMAP_DATA : 0) |
			   (id.len ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
	put_u32(s, (uint32_t)pid);
	put_u32(s, (uint32_t)pid);
	put_u64(s, start);
	put_u64(s, stop - start);
	put_u64(s, offset);
	if (id.len) {
		put_build_id(s, &id);
	} else {
		put_u32(s, major);
		put_u32(s, minor);
		put_u64(s, inode);
		put_u64(s, 0);
	}
	put_u32(s, (perm[0] == 'r' ? PROT_READ : 0) | (perm[1] == 'w' ? PROT_WRITE : 0) |
			   (is_data ? 0 : PROT_EXEC));
	put_u32(s, perm[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
	outbuf_put(&s->out, name, strlen(name) + 1);
	end(s, at);
	if (s->dsos && !is_data)
		dsos_note_mapping(s->dsos, pid, start, stop - start, inode, name, strlen(name));
}

static void put_mappings(struct synth *s, int proc, int32_t pid)
{
	enum { CHUNK = 64 << 10 };
	char path[64], *buf;
	size_t have = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%d/maps", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	buf = malloc(CHUNK + 1);
	while (buf && (n = read(fd, buf + have, CHUNK - have)) > 0) {
		char *p = buf, *nl;

		have += (size_t)n;
		buf[have] = '\0';
		while ((nl = memchr(p, '\n', have - (size_t)(p - buf)))) {
			*nl = '\0';
			put_mapping(s, pid, p);
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
static void each_number(int dir, const char *path, void (*visit)(void *, int32_t), void *ctx)
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

struct walk {
	struct synth *synth;
	int proc;
	int32_t pid;
};

static void thread_of(void *ctx, int32_t tid)
{
	const struct walk *w = ctx;
	struct task t;

	if (tid == w->pid || !read_stat(w->proc, w->pid, tid, &t))
		return;
	put_fork(w->synth, &t);
	put_namespaces(w->synth, w->proc, &t);
	put_comm(w->synth, &t);
}

static void process(void *ctx, int32_t pid)
{
	struct walk w = *(const struct walk *)ctx;
	struct task t;
	char path[64];

	if (!read_stat(w.proc, pid, pid, &t))
		return;
	put_fork(w.synth, &t);
	put_namespaces(w.synth, w.proc, &t);
	put_comm(w.synth, &t);
	put_mappings(w.synth, w.proc, pid);
	w.pid = pid;
	snprintf(path, sizeof(path), "%d/task", pid);
	each_number(w.proc, path, thread_of, &w);
}

void synth_all_tasks(struct synth *s)
{
	struct walk w = { .synth = s, .proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) };

	if (w.proc < 0)
		return;
	each_number(w.proc, ".", process, &w);
	close(w.proc);
}

void synth_processes(struct synth *s, const int32_t *pids, size_t nr_pids)
{
	struct walk w = { .synth = s, .proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) };

	if (w.proc < 0)
		return;
	for (size_t i = 0; i < nr_pids; i++)
		process(&w, pids[i]);
	close(w.proc);
}

/* The process of a thread: its Tgid. */
static int32_t process_of(int proc, int32_t tid)
{
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "%d/status", tid);
	if (slurp(proc, path, text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, "\nTgid:");
	return at ? atoi(at + 6) : 0;
}

void synth_threads(struct synth *s, const int32_t *tids, size_t nr_tids)
{
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int32_t described = 0;

	for (size_t i = 0; proc >= 0 && i < nr_tids; i++) {
		int32_t pid = process_of(proc, tids[i]);
		struct task t;

		/* the threads of a process come one after the other, the first of them with its mappings */
		if (!pid || !read_stat(proc, pid, tids[i], &t))
			continue;
		if (pid != described && tids[i] != pid) {
			struct task leader;

			if (read_stat(proc, pid, pid, &leader))
				put_comm(s, &leader);
		}
		put_comm(s, &t);
		put_namespaces(s, proc, &t);
		if (pid != described)
			put_mappings(s, proc, pid);
		described = pid;
	}
	if (proc >= 0)
		close(proc);
}

void synth_name(struct synth *s, int32_t pid)
{
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct task t;

	if (proc < 0)
		return;
	if (read_stat(proc, pid, pid, &t)) {
		put_comm(s, &t);
		put_namespaces(s, proc, &t);
	}
	close(proc);
}
