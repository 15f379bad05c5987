/* SPDX-License-Identifier: MIT */
/* The topology of cpus, caches and memory, from /sys/devices/system. */

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysfile.h"
#include "base/strpool.h"
#include "capture/cpus.h"
#include "record/describe/features.h"

#define CPUS  "%s/sys/devices/system/cpu"
#define NODES "%s/sys/devices/system/node"

enum { LIST_BYTES = 4096 };

/*
 * strlist of the different texts of one topology file over all cpus: one line for each package, die
 * or core
 */
static bool features_put_distinct(struct outbuf *o, const char *root, struct capture_cpus *cpus,
				  const char *file, const char *older_file)
{
	struct outbuf lines = { 0 };
	struct strpool seen = { 0 };
	char text[LIST_BYTES];
	uint32_t nr = 0, id;

	if (strpool_init(&seen) < 0) {
		o->failed = true;
		return false;
	}
	vec_foreach(cpu, &cpus->list) {
		size_t before = seen.entries.n;

		if (!sysfile_line(text, sizeof(text), CPUS "/cpu%d/topology/%s", root, *cpu,
				  file) &&
		    (!older_file || !sysfile_line(text, sizeof(text), CPUS "/cpu%d/topology/%s",
						  root, *cpu, older_file)))
			continue;
		if (strpool_intern(&seen, text, strlen(text), &id) < 0) {
			o->failed = true;
			break;
		}
		if (seen.entries.n == before)
			continue;
		perfdata_put_string(&lines, text);
		nr++;
	}
	if (nr) {
		perfdata_put_u32(o, nr);
		outbuf_put(o, lines.data, lines.len);
		o->failed |= lines.failed;
	}
	outbuf_done(&lines);
	strpool_done(&seen);
	return nr != 0;
}

/* strlist packages, strlist cores, nr x { core, package }, strlist dies, nr x die */
static int features_add_cpu_topology(struct features *f, struct capture_cpus *cpus)
{
	const int nr = cpus->list.n ? cpus->list.v[cpus->list.n - 1] + 1 : 0;
	struct outbuf o = { 0 };

	if (!features_put_distinct(&o, features_root(f), cpus, "package_cpus_list",
				   "core_siblings_list") ||
	    !features_put_distinct(&o, features_root(f), cpus, "core_cpus_list",
				   "thread_siblings_list")) {
		outbuf_done(&o);
		return 0;
	}
	for (int cpu = 0; cpu < nr; cpu++) {
		perfdata_put_u32(&o, (uint32_t)sysfile_number(-1, CPUS "/cpu%d/topology/core_id",
							      features_root(f), cpu));
		perfdata_put_u32(
			&o, (uint32_t)sysfile_number(-1, CPUS "/cpu%d/topology/physical_package_id",
						     features_root(f), cpu));
	}
	if (features_put_distinct(&o, features_root(f), cpus, "die_cpus_list", NULL))
		for (int cpu = 0; cpu < nr; cpu++)
			perfdata_put_u32(&o,
					 (uint32_t)sysfile_number(-1, CPUS "/cpu%d/topology/die_id",
								  features_root(f), cpu));
	return features_add(f, FEAT_CPU_TOPOLOGY, &o);
}

/* "Node 0 MemTotal:  4155604 kB" */
static uint64_t features_node_kib(const char *root, int node, const char *what)
{
	char path[PATH_MAX], key[64], text[64];

	snprintf(path, sizeof(path), NODES "/node%d/meminfo", root, node);
	snprintf(key, sizeof(key), "Node %d %s", node, what);
	return sysfile_value(text, sizeof(text), path, key) ? strtoull(text, NULL, 10) : 0;
}

static int features_add_numa_topology(struct features *f, struct capture_cpus *nodes)
{
	struct outbuf o = { 0 };
	char cpus[LIST_BYTES];

	perfdata_put_u32(&o, (uint32_t)nodes->list.n);
	vec_foreach(node, &nodes->list) {
		if (!sysfile_line(cpus, sizeof(cpus), NODES "/node%d/cpulist", features_root(f),
				  *node))
			*cpus = '\0';
		perfdata_put_u32(&o, (uint32_t)*node);
		perfdata_put_u64(&o, features_node_kib(features_root(f), *node, "MemTotal"));
		perfdata_put_u64(&o, features_node_kib(features_root(f), *node, "MemFree"));
		perfdata_put_string(&o, cpus);
	}
	return features_add(f, FEAT_NUMA_TOPOLOGY, &o);
}

struct cache {
	uint32_t level, line_size, sets, ways;
	char type[32], size[32], cpus[256];
};

static bool features_read_cache(const char *root, int cpu, int index, struct cache *ret)
{
	const char *const dir = CPUS "/cpu%d/cache/index%d/%s";
	struct cache c = { 0 };

	c.level = (uint32_t)sysfile_number(0, dir, root, cpu, index, "level");
	c.line_size = (uint32_t)sysfile_number(0, dir, root, cpu, index, "coherency_line_size");
	c.sets = (uint32_t)sysfile_number(0, dir, root, cpu, index, "number_of_sets");
	c.ways = (uint32_t)sysfile_number(0, dir, root, cpu, index, "ways_of_associativity");
	if (!c.level || !sysfile_line(c.type, sizeof(c.type), dir, root, cpu, index, "type") ||
	    !sysfile_line(c.size, sizeof(c.size), dir, root, cpu, index, "size") ||
	    !sysfile_line(c.cpus, sizeof(c.cpus), dir, root, cpu, index, "shared_cpu_list"))
		return false;
	*ret = c;
	return true;
}

/*
 * A cache that several cpus share is written once, lower levels first. The list is empty if the
 * machine reports no caches.
 */
static int features_add_caches(struct features *f, struct capture_cpus *cpus)
{
	enum { INDEXES = 10, LEVELS = 10 };
	VEC(struct cache) caches = { 0 };
	struct outbuf o = { 0 };
	struct cache c;
	int r = 0;

	vec_foreach(cpu, &cpus->list)
		for (int index = 0; index < INDEXES && r == 0 &&
				    features_read_cache(features_root(f), *cpu, index, &c);
		     index++) {
			bool known = false;

			/*
			 * cpus that share a cache are near each other, and the list of sharers
			 * begins with the lowest
			 */
			for (size_t i = 0; i < caches.n && !known; i++)
				known = !memcmp(&caches.v[i], &c, sizeof(c));
			if (!known)
				r = vec_push(&caches, c);
		}
	if (r == 0) {
		perfdata_put_u32(&o, 1);
		perfdata_put_u32(&o, (uint32_t)caches.n);
		for (uint32_t level = 1; level <= LEVELS; level++)
			vec_foreach(it, &caches) {
				if (it->level != level)
					continue;
				perfdata_put_u32(&o, it->level);
				perfdata_put_u32(&o, it->line_size);
				perfdata_put_u32(&o, it->sets);
				perfdata_put_u32(&o, it->ways);
				perfdata_put_string(&o, it->type);
				perfdata_put_string(&o, it->size);
				perfdata_put_string(&o, it->cpus);
			}
		r = features_add(f, FEAT_CACHE, &o);
	}
	vec_done(&caches);
	return r;
}

/* u64 node, u64 size, u64 bits | bitmap of the memory blocks of the node */
static int features_put_node_blocks(struct outbuf *o, const char *root, int node)
{
	VEC(unsigned long) blocks = { 0 };
	unsigned long highest = 0;
	char path[PATH_MAX];
	struct dirent *e;
	uint64_t *bits;
	DIR *d;
	int r = 0;

	snprintf(path, sizeof(path), NODES "/node%d", root, node);
	d = opendir(path);
	while (d && r == 0 && (e = readdir(d))) {
		unsigned long n;

		if (sscanf(e->d_name, "memory%lu", &n) != 1 || n > 1 << 24)
			continue;
		highest = n > highest ? n : highest;
		r = vec_push(&blocks, n);
	}
	if (d)
		closedir(d);
	bits = calloc(highest / 64 + 1, sizeof(*bits));
	if (bits && r == 0) {
		vec_foreach(b, &blocks)
			bits[*b / 64] |= UINT64_C(1) << *b % 64;
		perfdata_put_u64(o, (uint64_t)node);
		perfdata_put_u64(o, highest + 1);
		perfdata_put_u64(o, highest + 1);
		outbuf_put(o, bits, (highest / 64 + 1) * sizeof(*bits));
	}
	vec_done(&blocks);
	r = bits ? r : err_nomem();
	free(bits);
	return r;
}

static int features_add_memory(struct features *f, struct capture_cpus *nodes)
{
	struct outbuf o = { 0 };
	char text[64];
	int r = 0;

	if (!sysfile_line(text, sizeof(text), "%s/sys/devices/system/memory/block_size_bytes",
			  features_root(f)))
		return 0;
	perfdata_put_u64(&o, 1);
	perfdata_put_u64(&o, strtoull(text, NULL, 16));
	perfdata_put_u64(&o, nodes->list.n);
	vec_foreach(node, &nodes->list)
		if (r == 0)
			r = features_put_node_blocks(&o, features_root(f), *node);
	if (r < 0) {
		outbuf_done(&o);
		return r;
	}
	return features_add(f, FEAT_MEM_TOPOLOGY, &o);
}

int features_add_topology(struct features *f)
{
	struct capture_cpus cpus = { 0 }, nodes = { 0 };
	char present[PATH_MAX], online[PATH_MAX];
	int r = 0;

	snprintf(present, sizeof(present), CPUS "/present", features_root(f));
	snprintf(online, sizeof(online), NODES "/online", features_root(f));
	if (capture_cpus_read(present, &cpus) == 0) {
		r = features_add_cpu_topology(f, &cpus);
		if (r == 0)
			r = features_add_caches(f, &cpus);
	}
	/* kernels without NUMA have no nodes */
	if (r == 0 && capture_cpus_read(online, &nodes) == 0) {
		r = features_add_numa_topology(f, &nodes);
		if (r == 0)
			r = features_add_memory(f, &nodes);
	}
	vec_done(&cpus.list);
	vec_done(&nodes.list);
	return r;
}
