/* SPDX-License-Identifier: MIT */
#include "sinks/perf/header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "formats/perfdata/feature_names.h"
#include "formats/perfdata/groups.h"
#include "formats/perfdata/header.h"
#include "recording/recording.h"
#include "sinks/perf/need.h"
#include "sinks/text/options.h"
#include "sources/perfdata/view.h"

enum {
	MAX_PMUS = 4096,          /* limit of a search for an event's pmu; no machine has as many */
	SMALLEST_ATTR_BYTES = 64, /* size in the first kernel that had attrs */
};

/* A header being written. */
struct header {
	struct recording *rec;
	struct perfdata_view *view;
	struct perfdata_view_header head;
	uint32_t nr_cpus; /* cpus present in the machine */
	struct outbuf *out;
};

static bool header_has(const struct header *h, unsigned feature)
{
	return h->head.features[feature / 64] >> feature % 64 & 1;
}

static struct bytes header_section(const struct header *h, unsigned feature)
{
	struct bytes b = { 0 };

	if (perfdata_view_section(h->view, feature, &b) <= 0)
		b = (struct bytes){ 0 };
	return b;
}

static int header_put_nrcpus(struct header *h, struct bytes *b)
{
	uint32_t online = 0;

	TRY(bytes_u32(b, "available", &h->nr_cpus));
	TRY(bytes_u32(b, "online", &online));
	outbuf_fmt(h->out, "# nrcpus online : %u\n# nrcpus avail : %u\n", online, h->nr_cpus);
	return 0;
}

static int header_put_u64(struct header *h, struct bytes *b, const char *fmt_before,
			  uint64_t factor, const char *behind)
{
	uint64_t v = 0;

	TRY(bytes_u64(b, "value", &v));
	outbuf_fmt(h->out, "%s%" PRIu64 "%s", fmt_before, v * factor, behind);
	return 0;
}

/* Prints a blank after each word, and a backslash in front of a quote. */
static int header_put_cmdline(struct header *h, struct bytes *b)
{
	uint32_t nr = 0;

	TRY(bytes_u32(b, "number of words", &nr));
	outbuf_str(h->out, "# cmdline : ");
	while (nr--) {
		const char *word = NULL;
		size_t len = 0;

		TRY(perfdata_string_read(b, "word", &word, &len));
		for (size_t i = 0; i < len; i++) {
			if (word[i] == '\'')
				outbuf_char(h->out, '\\');
			outbuf_char(h->out, word[i]);
		}
		outbuf_char(h->out, ' ');
	}
	outbuf_char(h->out, '\n');
	return 0;
}

const char *perf_header_pmu_name(struct recording *rec, uint32_t wanted, char room[64])
{
	static const char *const kernel[] = { "PERF_TYPE_HARDWARE", "software", "tracepoint",
					      "PERF_TYPE_HW_CACHE", "cpu",      "breakpoint" };
	struct perfdata_view *view = perfdata_view_of(rec->source);
	struct bytes b = { 0 };
	uint32_t nr = 0, type = 0;
	const char *name = NULL;
	size_t len = 0;

	/* The kernel's own types are the same everywhere. */
	if (wanted < sizeof(kernel) / sizeof(kernel[0]))
		return kernel[wanted];
	if (!view || perfdata_view_section(view, FEAT_PMU_MAPPINGS, &b) <= 0 ||
	    bytes_u32(&b, "number of pmus", &nr) < 0)
		return NULL;
	if (nr > MAX_PMUS)
		nr = MAX_PMUS;
	while (nr--) {
		if (bytes_u32(&b, "type", &type) < 0 ||
		    perfdata_string_read(&b, "name", &name, &len) < 0)
			break;
		if (type != wanted || len >= 64)
			continue;
		memcpy(room, name, len);
		room[len] = '\0';
		return room;
	}
	err_clear();
	return NULL;
}

/* nr x { attr, u32 nr_ids, name, ids } */
static int header_put_events(struct header *h, struct bytes *b)
{
	uint32_t nr = 0, attr_bytes = 0, nr_ids = 0, size = 0;
	struct perf_header_event event;
	struct perf_event_attr attr;
	char room[64];
	const uint8_t *raw = NULL;
	const char *name = NULL;
	char *copy;
	uint64_t id = 0;
	size_t len = 0;

	TRY(bytes_u32(b, "number of events", &nr));
	TRY(bytes_u32(b, "attr size", &attr_bytes));
	if (attr_bytes < SMALLEST_ATTR_BYTES)
		return err_set(-EBADMSG, "the section of events has attrs of %u bytes", attr_bytes);
	while (nr--) {
		TRY(bytes_take(b, "attr", attr_bytes, &raw));
		perfdata_attr_read(raw, attr_bytes, b->swap, &attr, &size);
		TRY(bytes_u32(b, "number of ids", &nr_ids));
		TRY(perfdata_string_read(b, "name", &name, &len));
		outbuf_fmt(h->out, "# event : name = %.*s, ", (int)len, name);
		for (uint32_t i = 0; i < nr_ids; i++) {
			TRY(bytes_u64(b, "id", &id));
			outbuf_fmt(h->out, "%s %" PRIu64, i ? "," : ", id = {", id);
		}
		if (nr_ids)
			outbuf_str(h->out, " }");
		copy = strndup(name, len);
		if (!copy)
			return err_nomem();
		event = (struct perf_header_event){ copy,
						    perf_header_pmu_name(h->rec, attr.type, room) };
		perf_header_attr_put(&attr, " = ", &event, h->rec->opts->rules, h->out);
		free(copy);
		outbuf_char(h->out, '\n');
	}
	return 0;
}

static int header_put_pmus(struct header *h, struct bytes *b)
{
	uint32_t nr = 0, type = 0;
	const char *name = NULL, *before = "# pmu mappings: ";
	size_t len = 0;

	TRY(bytes_u32(b, "number of pmus", &nr));
	if (!nr) {
		outbuf_str(h->out, "# pmu mappings: not available\n");
		return 0;
	}
	while (nr--) {
		TRY(bytes_u32(b, "type", &type));
		TRY(perfdata_string_read(b, "name", &name, &len));
		outbuf_fmt(h->out, "%s%.*s = %u", before, (int)len, name, type);
		before = ", ";
	}
	outbuf_char(h->out, '\n');
	return 0;
}

/* The number of event types in the recording. They have the first ids, in the recording's order. */
static uint32_t header_nr_events(const struct header *h)
{
	const struct sonde_schema *sc;
	uint32_t nr = 0;

	while ((sc = schema_at(&h->rec->all->schemas, nr)) && sc->attr)
		nr++;
	return nr;
}

static int header_put_groups(struct header *h, struct bytes *b)
{
	uint32_t nr = 0, nr_left = header_nr_events(h);
	struct perfdata_group g;

	TRY(bytes_u32(b, "number of groups", &nr));
	while (nr--) {
		TRY(perfdata_group_read(b, &g));
		if (g.members < 2)
			continue;
		if (g.members > nr_left)
			return err_set(-EBADMSG,
				       "the groups have more members than there are events");
		nr_left -= g.members;
		outbuf_fmt(h->out, "# group: %.*s{", (int)g.name_len, g.name);
		for (uint32_t i = 0; i < g.members; i++) {
			const struct sonde_schema *sc =
				i <= UINT32_MAX - g.leader
					? schema_at(&h->rec->all->schemas, g.leader + i)
					: NULL;

			if (!sc || !sc->attr)
				break;
			outbuf_fmt(h->out, "%s%s", i ? "," : "", sc->name);
		}
		outbuf_str(h->out, "}\n");
	}
	return 0;
}

static int header_put_sample_time(struct header *h, struct bytes *b)
{
	uint64_t first = 0, last = 0;

	TRY(bytes_u64(b, "first", &first));
	TRY(bytes_u64(b, "last", &last));
	outbuf_fmt(h->out, "# time of first sample : %" PRIu64 ".%06" PRIu64 "\n",
		   first / 1000000000, first % 1000000000 / 1000);
	outbuf_fmt(h->out, "# time of last sample : %" PRIu64 ".%06" PRIu64 "\n", last / 1000000000,
		   last % 1000000000 / 1000);
	outbuf_fmt(h->out, "# sample duration : %10.3f ms\n", (double)(last - first) / 1e6);
	return 0;
}

static int header_put_compressed(struct header *h, struct bytes *b)
{
	uint32_t version = 0, type = 0, level = 0, ratio = 0;

	TRY(bytes_u32(b, "version", &version));
	TRY(bytes_u32(b, "type", &type));
	TRY(bytes_u32(b, "level", &level));
	TRY(bytes_u32(b, "ratio", &ratio));
	outbuf_fmt(h->out, "# compressed : %s, level = %d, ratio = %d\n",
		   type == 1 ? "Zstd" : "Unknown", (int)level, (int)ratio);
	return 0;
}

static const char *header_clock_name(uint32_t clockid)
{
	switch (clockid) {
	case CLOCK_REALTIME:
		return "realtime";
	case CLOCK_MONOTONIC:
		return "monotonic";
	case CLOCK_MONOTONIC_RAW:
		return "monotonic_raw";
	case CLOCK_BOOTTIME:
		return "boottime";
	case CLOCK_TAI:
		return "tai";
	default:
		return "(not found)";
	}
}

static int header_put_clock_data(struct header *h, struct bytes *b)
{
	uint32_t version = 0, clockid = 0;
	uint64_t wall_ns = 0, clock_ns = 0;
	char date[64] = "<error>";
	struct tm tm;
	time_t s;

	TRY(bytes_u32(b, "version", &version));
	TRY(bytes_u32(b, "clock", &clockid));
	TRY(bytes_u64(b, "time of day", &wall_ns));
	TRY(bytes_u64(b, "time", &clock_ns));
	s = (time_t)(wall_ns / 1000000000);
	if (localtime_r(&s, &tm))
		strftime(date, sizeof(date), "%F %T", &tm);
	outbuf_fmt(h->out, "# clockid: %s (%u)\n", header_clock_name(clockid), clockid);
	outbuf_fmt(h->out,
		   "# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = %" PRIu64
		   ".%09" PRIu64 " (%s)\n",
		   date, wall_ns % 1000000000 / 1000, wall_ns / 1000000000,
		   wall_ns % 1000000000 / 1000, clock_ns / 1000000000, clock_ns % 1000000000,
		   header_clock_name(clockid));
	return 0;
}

static int header_put_hybrid(struct header *h, struct bytes *b)
{
	uint32_t nr = 0;

	TRY(bytes_u32(b, "number of pmus", &nr));
	outbuf_str(h->out, "# hybrid cpu system:\n");
	while (nr--) {
		TRY(perf_header_str_put(b, "# ", " cpu list : ", h->out));
		TRY(perf_header_str_put(b, "", "\n", h->out));
	}
	return 0;
}

/* u32 nr, nr x { name, value }; *ret_nr is nr */
static int header_put_caps(struct bytes *b, struct outbuf *out, uint32_t *ret_nr)
{
	uint32_t nr = 0;

	TRY(bytes_u32(b, "number of capabilities", &nr));
	*ret_nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		TRY(perf_header_str_put(b, i ? ", " : "", "=", out));
		TRY(perf_header_str_put(b, "", "", out));
	}
	return 0;
}

static int header_put_cpu_caps(struct header *h, struct bytes *b)
{
	struct outbuf caps = { 0 };
	uint32_t nr = 0;
	int r = header_put_caps(b, &caps, &nr);

	if (r >= 0) {
		outbuf_str(h->out, "# cpu pmu capabilities: ");
		outbuf_put(h->out, nr ? caps.data : "not available", nr ? caps.len : 13);
		outbuf_char(h->out, '\n');
	}
	outbuf_done(&caps);
	return r;
}

/* True if the cpu's pmu reports that it has no precise events. */
static bool header_is_never_precise(const struct header *h)
{
	struct bytes b = header_section(h, FEAT_CPU_PMU_CAPS);
	const char *name = NULL, *value = NULL;
	size_t name_len = 0, len = 0;
	uint32_t nr = 0;

	if (!b.start || bytes_u32(&b, "number of capabilities", &nr) < 0)
		return false;
	while (nr-- && perfdata_string_read(&b, "name", &name, &name_len) >= 0 &&
	       perfdata_string_read(&b, "value", &value, &len) >= 0) {
		if (name_len == 11 && !memcmp(name, "max_precise", 11))
			return len == 1 && *value == '0';
	}
	err_clear();
	return false;
}

/* Prints perf 6.12's note for AMD machines. */
static void header_put_ibs_note(const struct header *h)
{
	const char *arch = source_info(h->rec->source, "arch");
	struct bytes b = header_section(h, FEAT_PMU_MAPPINGS);
	uint32_t nr = 0, type = 0;
	const char *name = NULL;
	size_t len = 0;

	if (!arch || strcmp(arch, "x86_64") || !header_is_never_precise(h) || !b.start ||
	    bytes_u32(&b, "number of pmus", &nr) < 0)
		return;
	while (nr-- && bytes_u32(&b, "type", &type) >= 0 &&
	       perfdata_string_read(&b, "name", &name, &len) >= 0) {
		if (len != 6 || memcmp(name, "ibs_op", 6))
			continue;
		outbuf_str(h->out, "# AMD systems uses ibs_op// PMU for some precise events, e.g.: "
				   "cycles:p, see the 'perf list' man page for further details.\n");
		return;
	}
	err_clear();
}

/* nr x { capabilities, name of the pmu } */
static int header_put_pmu_caps(struct header *h, struct bytes *b)
{
	struct outbuf caps = { 0 };
	uint32_t nr = 0, nr_caps = 0;
	int r = bytes_u32(b, "number of pmus", &nr);

	while (r >= 0 && nr--) {
		caps.len = 0;
		r = header_put_caps(b, &caps, &nr_caps);
		if (r < 0)
			break;
		r = perf_header_str_put(b, "# ", " pmu capabilities: ", h->out);
		outbuf_put(h->out, caps.data, caps.len);
		outbuf_char(h->out, '\n');
	}
	outbuf_done(&caps);
	if (r >= 0 && h->rec->opts->rules->notes_ibs)
		header_put_ibs_note(h);
	return r;
}

static int header_put_feature(struct header *h, unsigned feature, struct bytes *b)
{
	switch (feature) {
	case FEAT_HOSTNAME:
		return perf_header_str_put(b, "# hostname : ", "\n", h->out);
	case FEAT_OSRELEASE:
		return perf_header_str_put(b, "# os release : ", "\n", h->out);
	case FEAT_VERSION:
		return perf_header_str_put(b, "# perf version : ", "\n", h->out);
	case FEAT_ARCH:
		return perf_header_str_put(b, "# arch : ", "\n", h->out);
	case FEAT_NRCPUS:
		return header_put_nrcpus(h, b);
	case FEAT_CPUDESC:
		return perf_header_str_put(b, "# cpudesc : ", "\n", h->out);
	case FEAT_CPUID:
		return perf_header_str_put(b, "# cpuid : ", "\n", h->out);
	case FEAT_TOTAL_MEM:
		return header_put_u64(h, b, "# total memory : ", 1, " kB\n");
	case FEAT_CMDLINE:
		return header_put_cmdline(h, b);
	case FEAT_EVENT_DESC:
		return header_put_events(h, b);
	case FEAT_CPU_TOPOLOGY:
		return perf_header_cpus_put(b, h->nr_cpus, source_info(h->rec->source, "arch"),
					    h->rec->opts->rules, h->out);
	case FEAT_NUMA_TOPOLOGY:
		return perf_header_numa_put(b, h->out);
	case FEAT_PMU_MAPPINGS:
		return header_put_pmus(h, b);
	case FEAT_GROUP_DESC:
		return header_put_groups(h, b);
	case FEAT_CACHE:
		return perf_header_caches_put(b, h->out);
	case FEAT_SAMPLE_TIME:
		return header_put_sample_time(h, b);
	case FEAT_MEM_TOPOLOGY:
		return perf_header_memory_put(b, h->out);
	case FEAT_CLOCKID:
		return header_put_u64(h, b, "# clockid frequency: ", 1000, " MHz\n");
	case FEAT_DIR_FORMAT:
		return header_put_u64(h, b, "# directory data version : ", 1, "\n");
	case FEAT_BPF_PROG_INFO:
		return perf_header_bpf_put(b, header_section(h, FEAT_BPF_BTF), h->out);
	case FEAT_BPF_BTF:
		return perf_header_btf_put(b, h->out);
	case FEAT_COMPRESSED:
		return header_put_compressed(h, b);
	case FEAT_CPU_PMU_CAPS:
		return header_put_cpu_caps(h, b);
	case FEAT_CLOCK_DATA:
		return header_put_clock_data(h, b);
	case FEAT_HYBRID_TOPOLOGY:
		return header_put_hybrid(h, b);
	case FEAT_PMU_CAPS:
		return header_put_pmu_caps(h, b);
	default:
		return 0;
	}
}

/* The text for a section whose presence is its information. */
static const char *header_said_by_presence(unsigned feature)
{
	switch (feature) {
	case FEAT_BRANCH_STACK:
		return "# contains samples with branch stack\n";
	case FEAT_AUXTRACE:
		return "# contains AUX area data (e.g. instruction trace)\n";
	case FEAT_STAT:
		return "# contains stat data\n";
	default:
		return NULL;
	}
}

static bool header_is_table(unsigned feature)
{
	return feature == FEAT_CPU_TOPOLOGY || feature == FEAT_NUMA_TOPOLOGY ||
	       feature == FEAT_CACHE || feature == FEAT_MEM_TOPOLOGY ||
	       feature == FEAT_HYBRID_TOPOLOGY;
}

/* Prints a section; a damaged one is printed as far as it can be read. */
static void header_put_section(struct header *h, unsigned feature, bool full)
{
	struct bytes b;
	size_t before = h->out->len;

	if (header_said_by_presence(feature)) {
		outbuf_str(h->out, header_said_by_presence(feature));
		return;
	}
	if (header_is_table(feature) && !full) {
		outbuf_fmt(h->out, "# %s info available, use -I to display\n",
			   perfdata_feature_name(feature));
		return;
	}
	b = header_section(h, feature);
	if (!b.start || header_put_feature(h, feature, &b) >= 0)
		return;
	err_clear();
	if (h->out->len > before && h->out->data[h->out->len - 1] != '\n')
		outbuf_char(h->out, '\n');
}

static void header_put_head(const struct header *h)
{
	time_t changed = (time_t)h->head.changed_s;
	char date[64] = "?\n";

	ctime_r(&changed, date);
	outbuf_fmt(h->out,
		   "# ========\n# captured on    : %s# header version : %u\n"
		   "# data offset    : %" PRIu64 "\n# data size      : %" PRIu64
		   "\n# feat offset    : %" PRIu64 "\n",
		   date, h->head.version, h->head.data_off, h->head.data_bytes,
		   h->head.features_off);
}

/*
 * Prints the header of pipe mode. It is nearly empty, because the sections are records, each with
 * its own lines.
 */
static void header_put_pipe(struct header *h, const struct text_options *o)
{
	if (o->lines.header != HEADER_NONE) {
		header_put_head(h);
		outbuf_str(h->out, "# ========\n#\n");
	}
	for (unsigned feature = 1; feature <= LAST_NAMED_FEATURE && o->lines.header != HEADER_ONLY;
	     feature++) {
		if (header_has(h, feature))
			header_put_section(h, feature, o->header_info);
	}
}

int perf_header_put(struct recording *rec, const struct text_options *o, struct outbuf *out)
{
	struct header h = { .rec = rec, .out = out };

	TRY(perf_view_need(rec, "the header (--header, -I)", &h.view));
	perfdata_view_header(h.view, &h.head);
	if (h.head.is_pipe) {
		header_put_pipe(&h, o);
		return 0;
	}
	if (o->lines.header == HEADER_NONE)
		return 0;
	header_put_head(&h);
	for (unsigned feature = 1; feature <= LAST_NAMED_FEATURE; feature++) {
		if (header_has(&h, feature))
			header_put_section(&h, feature, o->header_info);
	}
	outbuf_str(out, "# missing features: ");
	for (unsigned feature = 1; feature <= LAST_NAMED_FEATURE; feature++) {
		if (!header_has(&h, feature))
			outbuf_fmt(out, "%s ", perfdata_feature_name(feature));
	}
	outbuf_str(out, "\n# ========\n#\n");
	return 0;
}
