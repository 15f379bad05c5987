/* SPDX-License-Identifier: MIT */
/*
 * perf.data on disk: structs and constants, for readers and writers. Facts:
 * docs/formats/perf-data.md. Scalars are in the byte order of the recording machine and may be
 * unaligned: read them with load_ and get_, or copy them into these structs first.
 */
#ifndef SONDE_FORMATS_PERFDATA_LAYOUT_H
#define SONDE_FORMATS_PERFDATA_LAYOUT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/build_id.h"

/* "PERFILE2" as a little-endian u64; swapped in a file of the other byte order. */
#define PERFDATA_MAGIC         0x32454c4946524550u
#define PERFDATA_MAGIC_SWAPPED 0x50455246494c4532u

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_header {
	uint64_t magic;
	uint64_t size;      /* 104 or more; 72 without feature bits; 16 = pipe mode */
	uint64_t attr_size; /* size of an entry of the attr section: attr + section */
	struct perfdata_section attrs, data, event_types;
	uint64_t features[4]; /* feature n is bit n % 64 of word n / 64 */
};
_Static_assert(sizeof(struct perfdata_header) == 104, "layout");
enum { PERFDATA_HEADER_MAX_BYTES = 4096 }; /* leaves room for future recorders */

/* In pipe mode: magic and size, then records. */
enum { PERFDATA_PIPE_HEADER_BYTES = 16 };

/*
 * Our own index of feature bodies that are written before the data section. With it a file whose
 * recorder was killed (data.size 0, no feature table) still has its names and formats. It follows
 * the 104-byte header, in the file's byte order:
 *
 *	u64 magic | u32 nr | u32 reserved (0) | nr x { u64 feature, u64 offset, u64 size }
 */
#define PERFDATA_INDEX_MAGIC 0x5844492d45444e53u /* "SNDE-IDX" */
/* Our own bodies in that index. Their numbers are out of the range of perf features. */
#define PERFDATA_PRIVATE_KALLSYMS \
	0x100000001u                      /* zstd frame of a kallsyms text: only t T w W symbols */
#define PERFDATA_PRIVATE_END 0x100000002u /* how the recording ended: struct perfdata_end */
/* For counts. u32 nr, nr x string: the control group of each event, "" if none. */
#define PERFDATA_PRIVATE_CGROUPS 0x100000003u

/* Zeros until the recording ends. Overwritten in place at the end, when the disk may be full. */
struct perfdata_end {
	uint64_t reason;    /* enum perfdata_end_reason */
	uint64_t unwritten; /* samples of LOST_SAMPLES records that could not be written */
	uint64_t flags;     /* PERFDATA_END_* */
	/* number of cpus that came online or went offline, so their events are incomplete */
	uint64_t missed_cpus;
	uint64_t first_cpu; /* the lowest of these cpus */
	uint64_t reserved[3];
};
enum perfdata_end_reason {
	PERFDATA_END_NONE, /* the recorder was killed, or ended normally */
	PERFDATA_END_DISK_FULL,
	PERFDATA_END_QUOTA,
	PERFDATA_END_FILE_LIMIT,
	PERFDATA_END_FAILED
};
/* LOST_SAMPLES records also count samples that the kernel dropped. */
#define PERFDATA_END_KERNEL_COUNTS 1u

enum perfdata_feature {
	FEAT_TRACING_DATA = 1,
	FEAT_BUILD_ID = 2,
	FEAT_HOSTNAME = 3,
	FEAT_OSRELEASE = 4,
	FEAT_VERSION = 5,
	FEAT_ARCH = 6,
	FEAT_NRCPUS = 7,
	FEAT_CPUDESC = 8,
	FEAT_CPUID = 9,
	FEAT_TOTAL_MEM = 10,
	FEAT_CMDLINE = 11,
	FEAT_EVENT_DESC = 12,
	FEAT_CPU_TOPOLOGY = 13,
	FEAT_NUMA_TOPOLOGY = 14,
	FEAT_BRANCH_STACK = 15,
	FEAT_PMU_MAPPINGS = 16,
	FEAT_GROUP_DESC = 17,
	FEAT_AUXTRACE = 18,
	FEAT_STAT = 19,
	FEAT_CACHE = 20,
	FEAT_SAMPLE_TIME = 21,
	FEAT_MEM_TOPOLOGY = 22,
	FEAT_CLOCKID = 23,
	FEAT_DIR_FORMAT = 24,
	FEAT_BPF_PROG_INFO = 25,
	FEAT_BPF_BTF = 26,
	FEAT_COMPRESSED = 27,
	FEAT_CPU_PMU_CAPS = 28,
	FEAT_CLOCK_DATA = 29,
	FEAT_HYBRID_TOPOLOGY = 30,
	FEAT_PMU_CAPS = 31,
	FEAT_CPU_DOMAIN_INFO = 32,
	FEAT_SIMPLEPERF_FILE = 128,
	FEAT_SIMPLEPERF_META_INFO = 129,
	FEAT_SIMPLEPERF_FILE2 = 132,
	NR_FEATURES = 256
};

/* Features whose bit in the header describes samples, even if no section was written. */
#define PERFDATA_MARKS \
	(UINT64_C(1) << FEAT_BRANCH_STACK | UINT64_C(1) << FEAT_AUXTRACE | UINT64_C(1) << FEAT_STAT)

struct perfdata_record_header {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* size of the record, header included */
};

/* Record types of the tool, in addition to the kernel's PERF_RECORD_*. */
enum perfdata_tool_record {
	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_EVENT_TYPE = 65,
	RECORD_HEADER_TRACING_DATA = 66,
	RECORD_HEADER_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE_INFO = 70,
	RECORD_AUXTRACE = 71,
	RECORD_AUXTRACE_ERROR = 72,
	RECORD_THREAD_MAP = 73,
	RECORD_CPU_MAP = 74,
	RECORD_STAT_CONFIG = 75,
	RECORD_STAT = 76,
	RECORD_STAT_ROUND = 77,
	RECORD_EVENT_UPDATE = 78,
	RECORD_TIME_CONV = 79,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_FINISHED_INIT = 82,
	RECORD_COMPRESSED2 = 83,
	RECORD_BPF_METADATA = 84,
	RECORD_SCHEDSTAT_CPU = 85,
	RECORD_SCHEDSTAT_DOMAIN = 86,
	/* record types of Android's simpleperf that are read */
	RECORD_SIMPLEPERF_KERNEL_SYMBOL = 32769,
	RECORD_SIMPLEPERF_SPLIT = 32772,
	RECORD_SIMPLEPERF_SPLIT_END = 32773,
	RECORD_SIMPLEPERF_EVENT_ID = 32774,
	RECORD_SIMPLEPERF_CALLCHAIN = 32775,
	RECORD_SIMPLEPERF_TRACING_DATA = 32777
};

/*
 * HEADER_TRACING_DATA in pipe mode: u32 size after the header, then size bytes after the record.
 * Older perf writes a record of 12 bytes, newer perf pads it to 16. A longer record is simpleperf's
 * and contains the data itself.
 */
enum { TRACING_DATA_RECORD_MIN = 12, TRACING_DATA_RECORD_MAX = 16 };

/* True if a record of this type changes processes, mappings or code. */
static inline bool perfdata_is_state(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_COMM:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_TEXT_POKE:
		return true;
	default:
		return false;
	}
}

/*
 * True if the four bytes at the place of MMAP2's prot are the first letters of a name: kernels
 * before 3.16 wrote neither prot nor flags. A protection has few bits and never looks like letters.
 */
static inline bool perfdata_is_name(const uint8_t *p)
{
	int letters = 0;

	while (letters < 4 && p[letters] >= ' ' && p[letters] <= '~')
		letters++;
	return letters == 4 || (letters > 1 && (p[0] == '/' || p[0] == '['));
}

/* The room for a build id in entries of FEAT_BUILD_ID and in MMAP2. */
enum { PERFDATA_BUILD_ID_BYTES = 20 };
/*
 * The build id in an MMAP2 that is marked as having one: u8 size, u8, u16, u8 id[20]. If another
 * recorder wants build ids, kernels also mark records with device, inode and generation: then part
 * of the device's number is at the place of the size, and the build id is unknown.
 */
enum { PERFDATA_MMAP2_BUILD_ID_BYTES = 4 + PERFDATA_BUILD_ID_BYTES };
static inline struct build_id perfdata_mmap2_build_id(const uint8_t *p, const uint8_t *end)
{
	const struct build_id none = { 0 };

	if (end - p < PERFDATA_MMAP2_BUILD_ID_BYTES || !p[0] || p[0] > PERFDATA_BUILD_ID_BYTES)
		return none;
	for (int i = p[0]; i < PERFDATA_BUILD_ID_BYTES; i++) {
		if (p[4 + i])
			return none;
	}
	return build_id_of(p + 4, p[0]);
}

/* The build-id bit of a BUILD_ID entry's misc: its size byte is valid. */
#define PERFDATA_MISC_BUILD_ID_SIZE 0x8000
/* In LOST_SAMPLES: counts samples that a BPF filter dropped, for which the ring had room. */
#define PERFDATA_MISC_LOST_SAMPLES_BPF 0x8000

#endif
