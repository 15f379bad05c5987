/* SPDX-License-Identifier: MIT */
/* Tables of the recorded machine: its cpus, nodes, caches, memory. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/perfdata/header.h"
#include "sinks/perf/header.h"

int perf_header_str_put(struct bytes *b, const char *before, const char *behind, struct outbuf *out)
{
	const char *text = NULL;
	size_t len = 0;

	TRY(perfdata_string_read(b, "text", &text, &len));
	outbuf_str(out, before);
	outbuf_put(out, text, len);
	outbuf_str(out, behind);
	return 0;
}

static int header_put_list(struct bytes *b, const char *before, struct outbuf *out)
{
	uint32_t nr = 0;

	TRY(bytes_u32(b, "number of texts", &nr));
	while (nr--)
		TRY(perf_header_str_put(b, before, "\n", out));
	return 0;
}

struct cpu_place {
	uint32_t core, socket, die;
};

/*
 * perf ignores socket ids if a socket number is larger than the number of cpus; on some machines it
 * accepts them.
 */
static bool header_believes(struct bytes ids, unsigned nr_cpus, const char *arch)
{
	uint32_t core = 0, socket = 0;

	if (arch && (!strncmp(arch, "s390", 4) || !strncmp(arch, "aarch64", 7)))
		return true;
	for (unsigned i = 0; i < nr_cpus; i++) {
		if (bytes_u32(&ids, "core", &core) < 0 || bytes_u32(&ids, "socket", &socket) < 0 ||
		    (socket != UINT32_MAX && socket > nr_cpus))
			return false;
	}
	return true;
}

/* The length that perf assumes for a list: as if all its texts were padded to 64 bytes. */
static int header_padded_bytes(struct bytes *b, uint64_t *ret)
{
	const char *text = NULL;
	uint32_t nr = 0;
	size_t len = 0;

	TRY(bytes_u32(b, "number of texts", &nr));
	*ret += 4;
	while (nr--) {
		TRY(perfdata_string_read(b, "text", &text, &len));
		*ret += 4 + (len + 64) / 64 * 64;
	}
	return 0;
}

/*
 *	list of cores | list of threads | nr_cpus x { core, socket } | list of dies | nr_cpus x die
 *
 * Old recordings end after the first lists, newer ones in front of the dies. In the text the dies
 * are between the lists.
 */
int perf_header_cpus_put(struct bytes *b, unsigned nr_cpus, const char *arch,
			 const struct rules *rules, struct outbuf *out)
{
	const char *dies = "";
	struct bytes ids, die_ids = { 0 }, threads;
	struct cpu_place at = { 0 };
	uint64_t perf_bytes = 0;
	bool has_dies;

	threads = *b;
	TRY(header_padded_bytes(&threads, &perf_bytes));
	TRY(header_put_list(b, "# sibling sockets : ", out));
	threads = *b;
	TRY(header_padded_bytes(b, &perf_bytes));
	ids = *b;
	if (bytes_left(b) >= 8 * (size_t)nr_cpus)
		TRY(bytes_skip(b, "ids", 8 * (uint64_t)nr_cpus));
	else
		ids.pos = ids.end;
	if (rules->cores_by_cpu_number && ids.pos != ids.end &&
	    (perf_bytes >= (uint64_t)(b->end - b->start) || !header_believes(ids, nr_cpus, arch)))
		ids.pos = ids.end;
	has_dies = ids.pos != ids.end && bytes_left(b) >= 4;
	if (has_dies) {
		TRY(header_put_list(b, "# sibling dies    : ", out));
		die_ids = *b;
	}
	TRY(header_put_list(&threads, "# sibling threads : ", out));
	if (has_dies)
		dies = "Die ID and ";
	if (ids.pos == ids.end) {
		outbuf_fmt(out, "# Core ID%s%sSocket ID information is not available\n",
			   has_dies ? ", " : " and ", dies);
		return 0;
	}
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		TRY(bytes_u32(&ids, "core", &at.core));
		TRY(bytes_u32(&ids, "socket", &at.socket));
		outbuf_fmt(out, "# CPU %u: Core ID %d, ", cpu, (int)at.core);
		if (has_dies) {
			TRY(bytes_u32(&die_ids, "die", &at.die));
			outbuf_fmt(out, "Die ID %d, ", (int)at.die);
		}
		outbuf_fmt(out, "Socket ID %d\n", (int)at.socket);
	}
	return 0;
}

int perf_header_numa_put(struct bytes *b, struct outbuf *out)
{
	uint32_t nr = 0, node = 0;
	uint64_t total = 0, unused = 0;
	char before[40];

	TRY(bytes_u32(b, "number of nodes", &nr));
	while (nr--) {
		TRY(bytes_u32(b, "node", &node));
		TRY(bytes_u64(b, "memory", &total));
		TRY(bytes_u64(b, "free memory", &unused));
		outbuf_fmt(out,
			   "# node%u meminfo  : total = %" PRIu64 " kB, free = %" PRIu64 " kB\n",
			   node, total, unused);
		snprintf(before, sizeof(before), "# node%u cpu list : ", node);
		TRY(perf_header_str_put(b, before, "\n", out));
	}
	return 0;
}

int perf_header_caches_put(struct bytes *b, struct outbuf *out)
{
	uint32_t version = 0, nr = 0, level = 0;
	const char *text[3] = { 0 };
	size_t len[3] = { 0 };

	TRY(bytes_u32(b, "version", &version));
	if (version != 1)
		return bytes_fail(b, -EBADMSG, "caches of version %u", version);
	TRY(bytes_u32(b, "number of caches", &nr));
	outbuf_str(out, "# CPU cache info:\n");
	while (nr--) {
		TRY(bytes_u32(b, "level", &level));
		TRY(bytes_skip(b, "line size, sets, ways", 12));
		for (int i = 0; i < 3; i++)
			TRY(perfdata_string_read(b, "type, size, cpus", &text[i], &len[i]));
		outbuf_fmt(out, "#  L%d %-15.*s %8.*s [%.*s]\n", (int)level, (int)len[0], text[0],
			   (int)len[1], text[1], (int)len[2], text[2]);
	}
	return 0;
}

/* Prints the numbers of the set bits, "0-23,32-199". *ret_set is how many bits are set. */
static int header_put_bitmap(struct bytes *b, uint64_t nr_bits, struct outbuf *out,
			     uint64_t *ret_set)
{
	uint64_t word = 0, first = UINT64_MAX, set = 0;
	const char *comma = "";

	for (uint64_t bit = 0; bit <= nr_bits; bit++) {
		bool is_set;

		if (bit % 64 == 0 && bit < nr_bits)
			TRY(bytes_u64(b, "bits", &word));
		is_set = bit < nr_bits && word >> bit % 64 & 1;
		set += is_set;
		if (is_set && first == UINT64_MAX)
			first = bit;
		if (is_set || first == UINT64_MAX)
			continue;
		outbuf_fmt(out, bit - first > 1 ? "%s%" PRIu64 "-%" PRIu64 : "%s%" PRIu64, comma,
			   first, bit - 1);
		comma = ",";
		first = UINT64_MAX;
	}
	*ret_set = set;
	return 0;
}

int perf_header_memory_put(struct bytes *b, struct outbuf *out)
{
	static const char units[] = "BKMG";
	uint64_t version = 0, block_bytes = 0, nr = 0, node = 0, size = 0, nr_bits = 0, set;
	struct outbuf blocks = { 0 };
	int r = 0;

	TRY(bytes_u64(b, "version", &version));
	if (version != 1)
		return bytes_fail(b, -EBADMSG, "memory of version %" PRIu64, version);
	TRY(bytes_u64(b, "block size", &block_bytes));
	TRY(bytes_u64(b, "number of nodes", &nr));
	outbuf_fmt(out, "# memory nodes (nr %d, block size 0x%" PRIx64 "):\n", (int)nr,
		   block_bytes);
	while (nr-- && r >= 0) {
		int unit = 0;

		r = bytes_u64(b, "node", &node);
		if (r >= 0)
			r = bytes_u64(b, "size", &size);
		if (r >= 0)
			r = bytes_u64(b, "number of bits", &nr_bits);
		if (r >= 0 && nr_bits / 8 > bytes_left(b))
			r = bytes_fail(b, -EBADMSG, "%" PRIu64 " bits do not fit", nr_bits);
		blocks.len = 0;
		if (r >= 0)
			r = header_put_bitmap(b, nr_bits, &blocks, &set);
		if (r < 0)
			break;
		for (size = set * block_bytes; size / 1024 > 1 && unit < 3; unit++)
			size /= 1024;
		outbuf_fmt(out, "#  %3" PRIu64 " [%" PRIu64 "%c]: ", node, size, units[unit]);
		outbuf_put(out, blocks.data, blocks.len);
		outbuf_char(out, '\n');
	}
	outbuf_done(&blocks);
	return r;
}
