/* SPDX-License-Identifier: MIT */
/* Header features of other machines, from copies of their /proc and /sys. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "capture/running/build_ids.h"
#include "record/describe/features.h"
#include "tree.h"
#include "unittest.h"

static void put_text(const char *root, const char *path, const char *text)
{
	tree_put(root, path, text, strlen(text));
}

static const struct perfdata_writer_feature *find(const struct features *f, uint64_t feature)
{
	for (size_t i = 0; i < f->list.n; i++)
		if (f->list.v[i].feature == feature)
			return &f->list.v[i];
	return NULL;
}

/* The strings of a body that begin at a multiple of four, '|' between them. */
static void strings(const struct features *f, uint64_t feature, char *ret, size_t size)
{
	const struct perfdata_writer_feature *one = find(f, feature);
	size_t len = 0;

	*ret = '\0';
	assert_non_null(one);
	for (size_t at = 0; at + 4 < one->len;) {
		const char *text = (const char *)one->body + at + 4;
		const uint32_t bytes = load_u32((const uint8_t *)one->body + at);

		if (!bytes || bytes % 64 || bytes > one->len - at - 4 || *text < ' ') {
			at += 4;
			continue;
		}
		len += (size_t)snprintf(ret + len, size - len, "%s%s", len ? "|" : "", text);
		at += 4 + bytes;
	}
}

/*
 * Two packages, two dies in the second, pairs of threads, no cpu 5, two nodes, cores of two kinds.
 */
static void make_machine(const char *root)
{
	static const struct {
		int cpu, core, package, die;
		const char *core_cpus, *package_cpus, *die_cpus;
	} cpus[] = {
		{ 0, 0, 0, 0, "0-1", "0-1", "0-1" }, { 1, 0, 0, 0, "0-1", "0-1", "0-1" },
		{ 2, 0, 1, 0, "2-3", "2-4", "2-3" }, { 3, 0, 1, 0, "2-3", "2-4", "2-3" },
		{ 4, 4, 1, 1, "4", "2-4", "4" },
	};
	char path[256], text[64];

	put_text(root, "/sys/devices/system/cpu/present", "0-4\n");
	put_text(root, "/sys/devices/system/cpu/online", "0-2,4\n");
	for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
		const struct {
			const char *file, *text;
			int number;
		} files[] = {
			{ "topology/core_id", NULL, cpus[i].core },
			{ "topology/physical_package_id", NULL, cpus[i].package },
			{ "topology/die_id", NULL, cpus[i].die },
			{ "topology/core_cpus_list", cpus[i].core_cpus, 0 },
			{ "topology/package_cpus_list", cpus[i].package_cpus, 0 },
			{ "topology/die_cpus_list", cpus[i].die_cpus, 0 },
			{ "cache/index0/level", NULL, 2 },
			{ "cache/index0/coherency_line_size", NULL, 64 },
			{ "cache/index0/number_of_sets", NULL, 1024 },
			{ "cache/index0/ways_of_associativity", NULL, 8 },
			{ "cache/index0/type", "Unified", 0 },
			{ "cache/index0/size", "512K", 0 },
			{ "cache/index0/shared_cpu_list", cpus[i].core_cpus, 0 },
		};

		for (size_t n = 0; n < sizeof(files) / sizeof(*files); n++) {
			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s",
				 cpus[i].cpu, files[n].file);
			snprintf(text, sizeof(text), "%d\n", files[n].number);
			put_text(root, path, files[n].text ? files[n].text : text);
		}
	}
	put_text(root, "/sys/devices/system/node/online", "0,2\n");
	put_text(root, "/sys/devices/system/node/node0/cpulist", "0-1\n");
	put_text(root, "/sys/devices/system/node/node2/cpulist", "2-4\n");
	put_text(root, "/sys/devices/system/node/node2/meminfo",
		 "Node 2 MemTotal:       4096 kB\nNode 2 MemFree:        1024 kB\n");
	put_text(root, "/sys/devices/system/node/node2/memory65/x", "");
	put_text(root, "/sys/devices/system/memory/block_size_bytes", "8000000\n");
	put_text(root, "/sys/bus/event_source/devices/cpu_core/type", "4\n");
	put_text(root, "/sys/bus/event_source/devices/cpu_core/cpus", "0-3\n");
	put_text(root, "/sys/bus/event_source/devices/cpu_core/caps/max_precise", "3\n");
	put_text(root, "/sys/bus/event_source/devices/uncore/type", "20\n");
	put_text(root, "/proc/cpuinfo",
		 "processor\t: 0\nvendor_id\t: Maker\ncpu family\t: 6\nmodel\t\t: 151\n"
		 "model name\t: A  Processor\nstepping\t: 2\n");
	put_text(root, "/proc/meminfo", "MemTotal:       12345 kB\n");
}

TEST(features_of_another_machine)
{
	char root[] = "/tmp/sonde-unit-XXXXXX", text[1024];
	struct features f = { .root = root };
	const uint8_t *body;

	assert_non_null(mkdtemp(root));
	make_machine(root);
	assert_int_equal(features_add_system(&f, NULL), 0);
	assert_int_equal(features_add_topology(&f), 0);
	features_sort(&f);
	for (size_t i = 1; i < f.list.n; i++)
		assert_true(f.list.v[i - 1].feature < f.list.v[i].feature);

	body = find(&f, FEAT_NRCPUS)->body;
	assert_int_equal(load_u32(body), 5);
	assert_int_equal(load_u32(body + 4), 4);
	strings(&f, FEAT_CPUDESC, text, sizeof(text));
	assert_string_equal(text, "A Processor");
#if defined(__x86_64__)
	strings(&f, FEAT_CPUID, text, sizeof(text));
	assert_string_equal(text, "Maker,6,151,2");
#endif
	assert_int_equal(load_u64(find(&f, FEAT_TOTAL_MEM)->body), 12345);
	strings(&f, FEAT_CPU_TOPOLOGY, text, sizeof(text));
	assert_string_equal(text, "0-1|2-4|0-1|2-3|4|0-1|2-3|4");
	/* after two lists of two and three strings: core and package of each cpu */
	body = find(&f, FEAT_CPU_TOPOLOGY)->body;
	body += 4 + 2 * 68 + 4 + 3 * 68;
	assert_int_equal(load_u32(body + 8 * 4), 4);
	assert_int_equal(load_u32(body + 8 * 4 + 4), 1);
	strings(&f, FEAT_CACHE, text, sizeof(text));
	assert_string_equal(text, "Unified|512K|0-1|Unified|512K|2-3|Unified|512K|4");
	strings(&f, FEAT_NUMA_TOPOLOGY, text, sizeof(text));
	assert_string_equal(text, "0-1|2-4");
	body = find(&f, FEAT_NUMA_TOPOLOGY)->body;
	body += 4 + 20 + 68;
	assert_int_equal(load_u32(body), 2);
	assert_int_equal(load_u64(body + 4), 4096);
	assert_int_equal(load_u64(body + 12), 1024);
	/* version, block size, nodes | node 0: no blocks | node 2: 66 bits, the last one set */
	body = find(&f, FEAT_MEM_TOPOLOGY)->body;
	assert_int_equal(load_u64(body + 8), 0x8000000);
	assert_int_equal(load_u64(body + 16), 2);
	assert_int_equal(load_u64(body + 24 + 32), 2);
	assert_int_equal(load_u64(body + 24 + 32 + 8), 66);
	assert_int_equal(load_u64(body + 24 + 32 + 32), 2);
	strings(&f, FEAT_HYBRID_TOPOLOGY, text, sizeof(text));
	assert_string_equal(text, "cpu_core|0-3");
	strings(&f, FEAT_PMU_CAPS, text, sizeof(text));
	assert_string_equal(text, "max_precise|3|cpu_core");
	assert_int_equal(load_u32(find(&f, FEAT_PMU_MAPPINGS)->body), 2);
	assert_null(find(&f, FEAT_CPU_PMU_CAPS));
	features_done(&f);

	/* a processor's own event source is described even if it has no caps */
	put_text(root, "/sys/bus/event_source/devices/cpu/type", "4\n");
	f = (struct features){ .root = root };
	assert_int_equal(features_add_system(&f, NULL), 0);
	assert_int_equal(find(&f, FEAT_CPU_PMU_CAPS)->len, 4);
	features_done(&f);
	put_text(root, "/sys/bus/event_source/devices/cpu/caps/branches", "32\n");
	f = (struct features){ .root = root };
	assert_int_equal(features_add_system(&f, NULL), 0);
	strings(&f, FEAT_CPU_PMU_CAPS, text, sizeof(text));
	assert_string_equal(text, "branches|32");
	features_done(&f);
	tree_remove(root);
}

TEST(features_of_an_empty_machine)
{
	char root[] = "/tmp/sonde-unit-XXXXXX";
	struct features f = { .root = root };

	assert_non_null(mkdtemp(root));
	assert_int_equal(features_add_system(&f, NULL), 0);
	assert_int_equal(features_add_topology(&f), 0);
	assert_null(find(&f, FEAT_CPU_TOPOLOGY));
	assert_null(find(&f, FEAT_HYBRID_TOPOLOGY));
	assert_non_null(find(&f, FEAT_HOSTNAME));
	features_done(&f);

	/*
	 * of a virtual machine without information about caches: there is an empty list, as by perf
	 */
	put_text(root, "/sys/devices/system/cpu/present", "0\n");
	f = (struct features){ .root = root };
	assert_int_equal(features_add_topology(&f), 0);
	assert_int_equal(find(&f, FEAT_CACHE)->len, 8);
	assert_int_equal(load_u32((const uint8_t *)find(&f, FEAT_CACHE)->body + 4), 0);
	features_done(&f);
	tree_remove(root);
}

TEST(build_id_of_a_module)
{
	static const uint8_t note[] = { 4, 0, 0,   0,   4,   0, 0, 0, 3, 0,
					0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4 };
	char root[] = "/tmp/sonde-unit-XXXXXX";
	struct build_id id;

	assert_non_null(mkdtemp(root));
	tree_put(root, "/sys/module/veth/notes/.note.gnu.build-id", note, sizeof(note));
	id = build_id_of_module(root, "veth");
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	assert_int_equal(id.len, 4);
	assert_memory_equal(id.bytes, "\1\2\3\4", 4);
#endif
	id = build_id_of_module(root, "other");
	assert_int_equal(id.len, 0);
	tree_remove(root);
}
