/* SPDX-License-Identifier: MIT */
#include "capture/running/synth.h"

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
#include "capture/running/synth_internal.h"
#include "capture/running/cgroups.h"

enum {
	COMM_BYTES = 16,
	RECORD_MAX = UINT16_MAX & ~7,
	ID_INDEX_ENTRY = 32,
};

/* ---- records --------------------------------------------------------------------------------- */

size_t synth_begin(struct synth *s, uint32_t type, uint16_t misc)
{
	struct perfdata_record_header h = { .type = type, .misc = misc };
	size_t at = s->out.len;

	outbuf_put(&s->out, &h, sizeof(h));
	return at;
}

void synth_end(struct synth *s, size_t at)
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

void synth_put_u16(struct synth *s, uint16_t v)
{
	outbuf_put(&s->out, &v, sizeof(v));
}

void synth_put_u32(struct synth *s, uint32_t v)
{
	outbuf_put(&s->out, &v, sizeof(v));
}

void synth_put_u64(struct synth *s, uint64_t v)
{
	outbuf_put(&s->out, &v, sizeof(v));
}

void synth_plain(struct synth *s, uint32_t type)
{
	synth_end(s, synth_begin(s, type, 0));
}

void synth_id_index(struct synth *s, const struct counters *c)
{
	const size_t per_record = (RECORD_MAX - 16) / ID_INDEX_ENTRY;

	for (size_t i = 0; i < c->list.n;) {
		size_t nr = c->list.n - i < per_record ? c->list.n - i : per_record;
		size_t at = synth_begin(s, RECORD_ID_INDEX, 0);

		synth_put_u64(s, nr);
		for (size_t last = i + nr; i < last; i++) {
			const struct counter *n = &c->list.v[i];

			synth_put_u64(s, n->id);
			synth_put_u64(s, n->buffer);
			synth_put_u64(s, (uint64_t)n->cpu);
			synth_put_u64(s, (uint64_t)(int64_t)n->tid);
		}
		synth_end(s, at);
	}
}

void synth_put_build_id(struct synth *s, const struct build_id *id)
{
	synth_put_u32(s, id->len);
	outbuf_put(&s->out, id->bytes, PERFDATA_BUILD_ID_BYTES);
}

/*
 * u32 pid, tid | u64 addr, len, page offset | [MMAP2: build id, u32 prot, flags] | name. Kernel
 * maps: pid -1, tid 0. If id is NULL or unknown, the record has none.
 */
static void synth_kernel_mmap(struct synth *s, uint64_t addr, uint64_t len, uint64_t pgoff,
			      const char *name, const struct build_id *id)
{
	const bool has_id = id && id->len;
	size_t at = synth_begin(s, has_id ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP,
				PERF_RECORD_MISC_KERNEL |
					(has_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));

	synth_put_u32(s, UINT32_MAX);
	synth_put_u32(s, 0);
	synth_put_u64(s, addr);
	synth_put_u64(s, len);
	synth_put_u64(s, pgoff);
	if (has_id) {
		synth_put_build_id(s, id);
		synth_put_u64(s, 0);
	}
	outbuf_put(&s->out, name, strlen(name) + 1);
	synth_end(s, at);
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
	synth_kernel_mmap(s, k->start, k->end - k->start, k->reference_addr, name, &id);
}

void synth_thread_map(struct synth *s, const int32_t *tids, size_t nr_tids)
{
	const size_t per_record = (RECORD_MAX - 16) / 24;

	for (size_t i = 0; i < nr_tids;) {
		size_t nr = nr_tids - i < per_record ? nr_tids - i : per_record;
		size_t at = synth_begin(s, RECORD_THREAD_MAP, 0);

		synth_put_u64(s, nr);
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
			synth_put_u64(s, (uint64_t)(int64_t)tids[i]);
			outbuf_put(&s->out, comm, COMM_BYTES);
		}
		synth_end(s, at);
	}
}

/* u16 type: 2 range: u8 any, u8 pad, u16 first, last; 0 list: u16 nr, nr x u16 */
void synth_cpu_map(struct synth *s, const int *cpus, size_t nr_cpus)
{
	size_t at = synth_begin(s, RECORD_CPU_MAP, 0);
	bool is_range = cpus[0] >= 0 && cpus[nr_cpus - 1] - cpus[0] + 1 == (int)nr_cpus;

	synth_put_u16(s, is_range ? 2 : 0);
	if (is_range) {
		synth_put_u16(s, 0);
		synth_put_u16(s, (uint16_t)cpus[0]);
		synth_put_u16(s, (uint16_t)cpus[nr_cpus - 1]);
	} else {
		synth_put_u16(s, (uint16_t)nr_cpus);
		for (size_t i = 0; i < nr_cpus; i++)
			synth_put_u16(s, (uint16_t)cpus[i]);
	}
	synth_end(s, at);
}

void synth_lost_samples(struct synth *s, const struct perf_event_attr *a, uint64_t id, int cpu,
			uint64_t lost)
{
	const uint64_t cpu_word = (uint32_t)cpu;
	size_t trailer;

	size_t at = synth_begin(s, PERF_RECORD_LOST_SAMPLES, 0);

	synth_put_u64(s, lost);
	synth_end(s, at);
	if (s->out.failed || !(a->sample_type & PERF_SAMPLE_IDENTIFIER) || s->trailer_bytes < 8)
		return;
	/* `id` and `cpu` are the non-zero values in this trailer: ..., cpu, id */
	trailer = s->out.len - 8;
	memcpy(s->out.data + trailer, &id, sizeof(id));
	if (a->sample_type & PERF_SAMPLE_CPU && s->trailer_bytes >= 16)
		memcpy(s->out.data + trailer - 8, &cpu_word, sizeof(cpu_word));
}

/* ---- modules --------------------------------------------------------------------------------- */

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
		/*
		 * Readers take the name in brackets as "the module of that name", independent of
		 * the place of its file.
		 */
		snprintf(file, sizeof(file), "[%s]", name);
		if (s->ids)
			id = build_id_of_module("", name);
		synth_kernel_mmap(s, addr, size, 0, file, &id);
		if (s->mapped)
			s->mapped(s->mapped_ctx, SYNTH_KERNEL_PID, addr, size, 0, file,
				  strlen(file));
	}
	fclose(f);
}

/* ---- BPF ------------------------------------------------------------------------------------- */

/* u64 addr, u32 len, u16 type, u16 flags, name */
static void synth_put_ksymbol(struct synth *s, uint64_t addr, uint32_t len, const char *name)
{
	size_t at = synth_begin(s, PERF_RECORD_KSYMBOL, 0);

	synth_put_u64(s, addr);
	synth_put_u32(s, len);
	synth_put_u16(s, PERF_RECORD_KSYMBOL_TYPE_BPF);
	synth_put_u16(s, 0);
	outbuf_put(&s->out, name, strlen(name) + 1);
	synth_end(s, at);
}

static void synth_put_bpf(void *ctx, const struct bpf_function *f)
{
	struct synth *s = ctx;
	size_t at;

	if (f->name) {
		synth_put_ksymbol(s, f->addr, f->len, f->name);
		return;
	}
	at = synth_begin(s, PERF_RECORD_BPF_EVENT, 0);
	synth_put_u16(s, PERF_BPF_EVENT_PROG_LOAD);
	synth_put_u16(s, 0);
	synth_put_u32(s, f->program);
	outbuf_put(&s->out, f->tag, BPF_TAG_BYTES);
	synth_end(s, at);
}

/*
 * Only the kernel's list of symbols contains BPF images: ADDR TYPE NAME [bpf]. Each image has a
 * page.
 */
static void synth_put_bpf_images(struct synth *s)
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
			synth_put_ksymbol(s, addr, (uint32_t)sysconf(_SC_PAGESIZE), name);
	}
	fclose(f);
}

void synth_bpf(struct synth *s, struct bpf_programs *programs)
{
	bpf_programs_each_function(programs, synth_put_bpf, s);
	if (bpf_programs_have_images(programs))
		synth_put_bpf_images(s);
}

/* ---- control groups -------------------------------------------------------------------------- */

/* u64 id | path */
static void synth_put_cgroup(void *ctx, uint64_t id, const char *path)
{
	struct synth *s = ctx;
	size_t at = synth_begin(s, PERF_RECORD_CGROUP, 0);

	synth_put_u64(s, id);
	outbuf_put(&s->out, path, strlen(path) + 1);
	synth_end(s, at);
}

void synth_cgroups(struct synth *s)
{
	cgroups_each(synth_put_cgroup, s);
}
