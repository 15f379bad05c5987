/* SPDX-License-Identifier: MIT */
/*
 * Reads the header sections of a perf.data: names of events, the host, formats of tracepoints, the
 * kernel.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/outbuf.h"
#include "formats/perfdata/tracing_data.h"
#include "formats/tracefs/eventformat.h"
#include "model/callchain.h"
#include "model/schema_table.h"
#include "sources/perfdata/perfdata.h"

enum { MAX_FEATURE_BYTES = 256 << 20, MAX_KALLSYMS_BYTES = 32 << 20 };

static int features_read_string(struct perfdata_source *s, struct bytes *b, const char **ret)
{
	const char *text = NULL;
	size_t len = 0;

	TRY(perfdata_string_read(b, "text", &text, &len));
	text = arena_strndup(&s->arena, text, len);
	if (!text)
		return err_nomem();
	*ret = text;
	return 0;
}

static char *features_number_text(struct perfdata_source *s, uint32_t n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	return arena_strdup(&s->arena, text);
}

static int features_read_nrcpus(struct perfdata_source *s, struct bytes *b)
{
	uint32_t available = 0, online = 0;

	TRY(bytes_u32(b, "available", &available));
	TRY(bytes_u32(b, "online", &online));
	s->info.cpus_available = features_number_text(s, available);
	s->info.cpus_online = features_number_text(s, online);
	return s->info.cpus_available && s->info.cpus_online ? 0 : err_nomem();
}

static int features_skip_list(struct bytes *b)
{
	const char *text = NULL;
	uint32_t nr = 0;
	size_t len = 0;

	TRY(bytes_u32(b, "number of texts", &nr));
	while (nr--)
		TRY(perfdata_string_read(b, "text", &text, &len));
	return 0;
}

/* list of cores | list of threads | nr x { core, socket } ...: "0,0,1,1". Old recorders leave out
 * the pairs. */
static int features_read_topology(struct perfdata_source *s, struct bytes *b)
{
	const unsigned long nr =
		s->info.cpus_available ? strtoul(s->info.cpus_available, NULL, 10) : 0;
	struct outbuf text = { 0 };
	uint32_t core = 0, socket = 0;

	TRY(features_skip_list(b));
	TRY(features_skip_list(b));
	if (!nr || nr > bytes_left(b) / 8)
		return 0;
	for (unsigned long i = 0; i < nr; i++) {
		bytes_u32(b, "core", &core);
		bytes_u32(b, "socket", &socket);
		outbuf_fmt(&text, "%s%d", i ? "," : "", (int)socket);
	}
	if (!text.failed)
		s->info.cpu_sockets = arena_strndup(&s->arena, text.data, text.len);
	outbuf_done(&text);
	return s->info.cpu_sockets ? 0 : err_nomem();
}

/* Reads the number of branch registers from the capabilities of the cpu's pmu: names and values. */
static int features_read_caps(struct perfdata_source *s, struct bytes *b)
{
	static const char wanted[] = "branches";
	const char *name = NULL, *value = NULL;
	size_t name_len = 0, len = 0;
	uint32_t nr = 0;

	TRY(bytes_u32(b, "number of capabilities", &nr));
	while (nr--) {
		TRY(perfdata_string_read(b, "name", &name, &name_len));
		TRY(perfdata_string_read(b, "value", &value, &len));
		if (name_len != strlen(wanted) || memcmp(name, wanted, name_len))
			continue;
		s->info.branch_registers = arena_strndup(&s->arena, value, len);
		if (!s->info.branch_registers)
			return err_nomem();
	}
	return 0;
}

static int features_read_cmdline(struct perfdata_source *s, struct bytes *b)
{
	struct outbuf line = { 0 };
	uint32_t n = 0;
	int r = bytes_u32(b, "number of words", &n);

	for (uint32_t i = 0; i < n && r >= 0; i++) {
		const char *word = NULL;
		size_t len = 0;

		r = perfdata_string_read(b, "word", &word, &len);
		if (r >= 0) {
			if (i)
				outbuf_char(&line, ' ');
			if (len)
				outbuf_put(&line, word, len);
		}
	}
	if (line.failed)
		r = err_nomem();
	if (r >= 0)
		s->info.cmdline = arena_strndup(&s->arena, line.len ? line.data : "", line.len);
	if (r >= 0 && !s->info.cmdline)
		r = err_nomem();
	outbuf_done(&line);
	return r;
}

/* In pipe mode attrs may be in another order, or follow later. */
static int features_read_piped_desc(struct perfdata_source *s, struct bytes *b)
{
	uint32_t nr = 0, attr_bytes = 0, nr_ids = 0;
	const char *name = NULL;
	uint64_t id = 0;

	TRY(bytes_u32(b, "number of events", &nr));
	TRY(bytes_u32(b, "attr size", &attr_bytes));
	for (uint32_t i = 0; i < nr; i++) {
		TRY(bytes_skip(b, "attr", attr_bytes));
		TRY(bytes_u32(b, "number of ids", &nr_ids));
		TRY(features_read_string(s, b, &name));
		/* every id of an event identifies it, so one is enough */
		for (uint32_t k = 0; k < nr_ids; k++) {
			TRY(bytes_u64(b, "id", &id));
			if (!k && *name)
				TRY(perfdata_pipe_name(s, id, name));
		}
		if (!nr_ids && *name && i < s->events.n)
			s->events.v[i].name = name;
	}
	return 0;
}

/* nr x { attr, u32 nr_ids, name, ids }: the i-th belongs to the i-th attr. */
static int features_read_event_desc(struct perfdata_source *s, struct bytes *b)
{
	uint32_t nr = 0, attr_bytes = 0, nr_ids = 0;
	const char *name = NULL;
	uint64_t id = 0;

	TRY(bytes_u32(b, "number of events", &nr));
	TRY(bytes_u32(b, "attr size", &attr_bytes));
	for (uint32_t i = 0; i < nr && i < s->events.n; i++) {
		TRY(bytes_skip(b, "attr", attr_bytes));
		TRY(bytes_u32(b, "number of ids", &nr_ids));
		TRY(features_read_string(s, b, &name));
		if (*name)
			s->events.v[i].name = name;
		while (nr_ids--) {
			TRY(bytes_u64(b, "id", &id));
			if (hash64_find(&s->by_id, id) == HASH64_EMPTY)
				TRY(perfdata_id_add(s, id, i));
		}
	}
	return 0;
}

static bool features_is_module(const char *name)
{
	const char *base = strrchr(name, '/'), *ko;

	base = base ? base + 1 : name;
	ko = strstr(base, ".ko");
	return *base == '[' || (ko && (!ko[3] || ko[3] == '.'));
}

/* The index of the first build id of a path. If there is none, returns HASH64_EMPTY, and *ret_key
 * is a free key for it. */
static uint64_t features_find_build_id(const struct perfdata_source *s, const char *path,
				       uint64_t *ret_key)
{
	uint64_t i;

	*ret_key = hash_bytes(path, strlen(path));
	while ((i = hash64_find(&s->info.build_id_by_path, *ret_key)) != HASH64_EMPTY &&
	       strcmp(s->info.build_ids.v[i].path, path) != 0)
		++*ret_key;
	return i;
}

static int features_keep_build_id(struct perfdata_source *s, const struct source_build_id *entry)
{
	uint64_t key;

	TRY(vec_push(&s->info.build_ids, *entry));
	if (features_find_build_id(s, entry->path, &key) != HASH64_EMPTY)
		return 0;
	return hash64_put(&s->info.build_id_by_path, key, s->info.build_ids.n - 1);
}

/* A build id of the kernel, of which the first is kept, or of a kernel module. */
static void features_keep_kernel_build_id(struct perfdata_source *s,
					  const struct source_build_id *entry)
{
	static const char kernel[] = "[kernel.kallsyms]";
	bool usual = !strncmp(entry->path, kernel, strlen(kernel));

	if ((!usual && features_is_module(entry->path)) || s->info.has_kernel)
		return;
	s->info.has_kernel = true;
	s->info.kernel_build_id = entry->id;
	s->info.kernel_name = usual ? NULL : entry->path;
}

/*
 * { u32 type, u16 misc, u16 size | s32 pid | 20 bytes id | u8 id size, pad | name }: only the
 * host's are kept.
 */
static int features_read_build_ids(struct perfdata_source *s, struct bytes *b)
{
	enum { ENTRY_BYTES = 36 };

	while (bytes_left(b) >= ENTRY_BYTES) {
		const uint8_t *p = b->pos;
		uint16_t misc = get_u16(p + 4, b->swap), size = get_u16(p + 6, b->swap);
		uint32_t len = misc & PERFDATA_MISC_BUILD_ID_SIZE ? p[32] : PERFDATA_BUILD_ID_BYTES;
		struct source_build_id entry;

		if (size < ENTRY_BYTES)
			return bytes_fail(b, -EBADMSG, "a build id entry of %u bytes", size);
		TRY(bytes_skip(b, "build id entry", size));
		if (((misc & CPUMODE_MASK) != CPUMODE_KERNEL &&
		     (misc & CPUMODE_MASK) != CPUMODE_USER) ||
		    len > PERFDATA_BUILD_ID_BYTES || size == ENTRY_BYTES)
			continue;
		entry = (struct source_build_id){
			.path = arena_strndup(
				&s->arena, (const char *)p + ENTRY_BYTES,
				strnlen((const char *)p + ENTRY_BYTES, (size_t)size - ENTRY_BYTES)),
			.id = build_id_of(p + 12, len),
			.is_kernel = (misc & CPUMODE_MASK) == CPUMODE_KERNEL,
		};
		if (!entry.path)
			return err_nomem();
		TRY(features_keep_build_id(s, &entry));
		if (entry.is_kernel)
			features_keep_kernel_build_id(s, &entry);
	}
	return 0;
}

static bool features_format_is_used(struct perfdata_source *s, const struct bytes *text)
{
	const uint8_t *line = memmem(text->start, bytes_left(text), "\nID:", 4);
	uint64_t id = 0;

	if (!line || s->file.is_pipe)
		return true; /* the events may follow their formats later */
	for (line += 4; line < text->end && *line == ' '; line++)
		;
	for (; line < text->end && *line >= '0' && *line <= '9' && id < UINT32_MAX; line++)
		id = id * 10 + (uint64_t)(*line - '0');
	return hash64_find(&s->tracepoints_used, id) != HASH64_EMPTY;
}

static int features_note_tracepoints(struct perfdata_source *s)
{
	vec_foreach(e, &s->events)
		if (e->attr.type == PERF_TYPE_TRACEPOINT)
			TRY(hash64_put(&s->tracepoints_used, e->attr.config, 1));
	return 0;
}

static int features_take_format(void *ctx, const char *system, struct bytes text)
{
	struct perfdata_source *s = ctx;
	struct sonde_schema *sc;
	int r;

	if (!features_format_is_used(s, &text))
		return 0;
	text.what = "a tracepoint's format";
	r = eventformat_parse(&s->opts.schemas->arena, text, system, s->abi, &sc);
	if (r >= 0) {
		TRY(vec_push(&s->formats, sc));
		return hash64_put(&s->format_by_id, sc->tracepoint_id, s->formats.n - 1);
	}
	if (r == -ENOMEM)
		return r;
	defects_add(s->opts.defects, DEFECT_BAD_FORMAT, 1, "%s", err_text());
	err_clear();
	return 0;
}

/* Reads the section twice: the first time for the byte order and the size of the kernel's long,
 * which the formats need. */
static int features_read_tracing_data(struct perfdata_source *s, struct bytes *b)
{
	struct tracing_data td = { .ctx = s, .format = features_take_format };

	TRY(tracing_data_abi(*b, &s->abi.big_endian, &s->abi.long_bytes));
	s->abi.swap = s->abi.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	TRY(features_note_tracepoints(s));
	TRY(tracing_data_read(*b, &td));
	s->kallsyms = td.kallsyms;
	s->printk = td.printk;
	return 0;
}

static int features_read_sample_times(struct perfdata_source *s, struct bytes *b)
{
	uint64_t first = 0, last = 0;

	TRY(bytes_u64(b, "first sample", &first));
	TRY(bytes_u64(b, "last sample", &last));
	if (last < first)
		return bytes_fail(b, -EBADMSG, "the last sample's time is before the first's");
	s->info.first_sample_ns = first;
	s->info.last_sample_ns = last;
	return 0;
}

static int feature_read(struct perfdata_source *s, enum perfdata_feature feature, struct bytes *b)
{
	switch (feature) {
	case FEAT_HOSTNAME:
		return features_read_string(s, b, &s->info.hostname);
	case FEAT_OSRELEASE:
		return features_read_string(s, b, &s->info.osrelease);
	case FEAT_VERSION:
		return features_read_string(s, b, &s->info.version);
	case FEAT_ARCH:
		return features_read_string(s, b, &s->info.arch);
	case FEAT_CPUDESC:
		return features_read_string(s, b, &s->info.cpudesc);
	case FEAT_NRCPUS:
		return features_read_nrcpus(s, b);
	case FEAT_CPU_TOPOLOGY:
		return features_read_topology(s, b);
	case FEAT_CPU_PMU_CAPS:
		return features_read_caps(s, b);
	case FEAT_CMDLINE:
		return features_read_cmdline(s, b);
	case FEAT_EVENT_DESC:
		return s->file.is_pipe ? features_read_piped_desc(s, b)
				       : features_read_event_desc(s, b);
	case FEAT_BUILD_ID:
		return features_read_build_ids(s, b);
	case FEAT_TRACING_DATA:
		return features_read_tracing_data(s, b);
	case FEAT_SAMPLE_TIME:
		return features_read_sample_times(s, b);
	case FEAT_DIR_FORMAT:
		return perfdata_directory_format_read(s, b);
	case FEAT_SIMPLEPERF_META_INFO:
		return s->file.is_pipe ? 0 : perfdata_simpleperf_meta_read(s, b);
	case FEAT_SIMPLEPERF_FILE:
	case FEAT_SIMPLEPERF_FILE2:
		return s->file.is_pipe ? 0 : perfdata_simpleperf_files_read(s, feature, b);
	default:
		return 0;
	}
}

static int features_unpack_kallsyms(const struct perfdata_source *s, struct source_kallsyms *ret)
{
	struct arena temp = { 0 };
	unsigned long long size;
	struct bytes b;
	char *text;
	int r = perfdata_section_read(&s->file, &temp, s->file.kallsyms, "the kernel's symbols",
				      MAX_KALLSYMS_BYTES, &b);

	if (r < 0) {
		arena_done(&temp);
		return r;
	}
	size = ZSTD_getFrameContentSize(b.start, bytes_left(&b));
	if (size > MAX_KALLSYMS_BYTES || size / UNPACKED_TIMES > bytes_left(&b)) {
		arena_done(&temp);
		return bytes_fail(&b, -EBADMSG, "the kernel's symbols are damaged or too many");
	}
	text = malloc(size + 1);
	if (!text)
		r = err_nomem();
	else if (ZSTD_decompress(text, size, b.start, bytes_left(&b)) != size)
		r = bytes_fail(&b, -EBADMSG, "the kernel's symbols are damaged");
	arena_done(&temp);
	if (r < 0) {
		free(text);
		return r;
	}
	*ret = (struct source_kallsyms){ .text = text, .len = size, .unpacked = text };
	return 0;
}

bool perfdata_build_id(struct source *source, const char *path, struct source_build_id *ret)
{
	const struct perfdata_source *s = perfdata_of(source);
	uint64_t key, i = features_find_build_id(s, path, &key);

	if (i == HASH64_EMPTY)
		return false;
	*ret = s->info.build_ids.v[i];
	return true;
}

bool perfdata_build_id_at(struct source *source, size_t i, struct source_build_id *ret)
{
	struct perfdata_source *s = perfdata_of(source);

	if (i >= s->info.build_ids.n)
		return false;
	*ret = s->info.build_ids.v[i];
	return true;
}

bool perfdata_span(struct source *source, uint64_t *ret_first_ns, uint64_t *ret_last_ns)
{
	struct perfdata_source *s = perfdata_of(source);

	*ret_first_ns = s->info.first_sample_ns;
	*ret_last_ns = s->info.last_sample_ns;
	return *ret_first_ns || *ret_last_ns;
}

int perfdata_kernel(struct source *source, struct source_kernel *ret)
{
	struct perfdata_source *s = perfdata_of(source);

	*ret = (struct source_kernel){
		.build_id = s->info.kernel_build_id,
		.name = s->info.kernel_name,
		.printk = (const char *)s->printk.start,
		.printk_len = bytes_left(&s->printk),
	};
	return 0;
}

int perfdata_kallsyms(struct source *source, struct source_kallsyms *ret)
{
	struct perfdata_source *s = perfdata_of(source);

	*ret = (struct source_kallsyms){
		.text = (const char *)s->kallsyms.start,
		.len = bytes_left(&s->kallsyms),
	};
	if (!s->file.kallsyms.size || s->kallsyms_damaged)
		return 0;
	if (features_unpack_kallsyms(s, ret) < 0) {
		s->kallsyms_damaged = true;
		defects_add(s->opts.defects, DEFECT_BAD_FEATURE, 1, "kallsyms");
		err_clear();
	}
	return 0;
}

int perfdata_feature_take(struct perfdata_source *s, enum perfdata_feature feature, struct bytes b)
{
	int r = feature_read(s, feature, &b);

	if (r < 0 && r != -ENOMEM) {
		defects_add(s->opts.defects, DEFECT_BAD_FEATURE, 1, "feature %d: %s", feature,
			    err_text());
		err_clear();
		r = 0;
	}
	return r;
}

static uint64_t features_max_bytes(enum perfdata_feature feature)
{
	return feature == FEAT_SIMPLEPERF_FILE || feature == FEAT_SIMPLEPERF_FILE2
		       ? PERFDATA_MAX_NAMED_BYTES
		       : MAX_FEATURE_BYTES;
}

int perfdata_features_read(struct perfdata_source *s)
{
	static const enum perfdata_feature wanted[] = {
		FEAT_HOSTNAME,        FEAT_OSRELEASE,
		FEAT_VERSION,         FEAT_ARCH,
		FEAT_CPUDESC,         FEAT_NRCPUS,
		FEAT_CPU_TOPOLOGY,    FEAT_CMDLINE,
		FEAT_EVENT_DESC,      FEAT_BUILD_ID,
		FEAT_TRACING_DATA,    FEAT_SAMPLE_TIME,
		FEAT_DIR_FORMAT,      FEAT_SIMPLEPERF_META_INFO,
		FEAT_SIMPLEPERF_FILE, FEAT_SIMPLEPERF_FILE2,
		FEAT_CPU_PMU_CAPS,
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const struct perfdata_section sec = s->file.features[wanted[i]];
		struct bytes b;
		int r;

		if (!sec.size)
			continue;
		r = perfdata_section_read(&s->file, &s->arena, sec, "a header section",
					  features_max_bytes(wanted[i]), &b);
		if (r >= 0) {
			TRY(perfdata_feature_take(s, wanted[i], b));
		} else if (r == -ENOMEM) {
			return r;
		} else {
			defects_add(s->opts.defects, DEFECT_BAD_FEATURE, 1, "feature %d: %s",
				    wanted[i], err_text());
			err_clear();
		}
	}
	return 0;
}

const char *perfdata_info(struct source *source, const char *key)
{
	struct perfdata_source *s = perfdata_of(source);
	const bool is_marked = s->file.features[FEAT_BRANCH_STACK].offset ||
			       s->file.feature_bits[0] >> FEAT_BRANCH_STACK & 1;
	struct source_group group;
	const struct {
		const char *key, *value;
	} table[] = {
		{ "hostname", s->info.hostname },
		{ "osrelease", s->info.osrelease },
		{ "version", s->info.version },
		{ "arch", s->info.arch },
		{ "cmdline", s->info.cmdline },
		{ "cpudesc", s->info.cpudesc },
		{ "nrcpus-online", s->info.cpus_online },
		{ "nrcpus-available", s->info.cpus_available },
		{ "cpu-sockets", s->info.cpu_sockets },
		{ "branch-registers", s->info.branch_registers },
		{ "branch-stacks", is_marked ? "1" : NULL },
		{ "event-groups", source_group_at(source, 0, &group) ? "1" : NULL },
		{ "byte-order", s->file.big_endian ? "big" : "little" },
		{ "long-bytes", s->abi.long_bytes == 4 ? "4" : "8" },
		{ "form", s->file.is_pipe ? "pipe" : "file" },
		{ "lost-samples", perfdata_lost_samples(s) },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!strcmp(table[i].key, key))
			return table[i].value;
	}
	return NULL;
}
