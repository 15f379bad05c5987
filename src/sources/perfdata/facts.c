/* SPDX-License-Identifier: MIT */
/* Facts for sonde info: those of the header, and those that the header has about the host. */

#include "formats/perfdata/feature_names.h"
#include "sources/perfdata/perfdata.h"
#include "sources/perfdata/view.h"

/* u32 version, type, level, ratio, mmap_len. Recorders write the section before they compress. */
static bool facts_is_compressed(struct perfdata_source *s, bool is_pipe)
{
	struct bytes b;
	uint32_t ratio;

	if (perfdata_section(s, FEAT_COMPRESSED, &b) <= 0)
		return false;
	return is_pipe || bytes_skip(&b, "version, type and level", 12) < 0 ||
	       bytes_u32(&b, "ratio", &ratio) < 0 || ratio > 0;
}

static uint64_t facts_memory_kb(struct perfdata_source *s)
{
	struct bytes b;
	uint64_t kb = 0;

	if (perfdata_section(s, FEAT_TOTAL_MEM, &b) > 0 && bytes_u64(&b, "memory", &kb) < 0) {
		err_clear();
		return 0;
	}
	return kb;
}

static void facts_list_features(struct perfdata_source *s, struct outbuf *out)
{
	struct perfdata_view_header head;

	perfdata_view_header(perfdata_view_of(&s->source), &head);
	for (unsigned feature = 0; feature < NR_FEATURES; feature++) {
		const char *name = perfdata_feature_name(feature);

		if (!(head.features[feature / 64] >> feature % 64 & 1))
			continue;
		if (out->len)
			outbuf_char(out, ' ');
		if (name)
			outbuf_str(out, name);
		else
			outbuf_u64(out, feature);
	}
}

enum file_fact { KIND, DATA_OFFSET, HEADER_VERSION, CHANGED, COMPRESSED, FEATURES, MEMORY };

static const struct source_fact file_facts[] = {
	[KIND] = { "kind", .form = FACT_TEXT },
	[DATA_OFFSET] = { "data_offset", .form = FACT_NUMBER },
	[HEADER_VERSION] = { "header_version", .form = FACT_NUMBER },
	[CHANGED] = { "changed", .form = FACT_NUMBER },
	[COMPRESSED] = { "compressed", .form = FACT_FLAG },
	[FEATURES] = { "features", .form = FACT_WORDS },
	[MEMORY] = { "memory_kb", .form = FACT_NUMBER, .about = FACT_TEXT_ONLY },
};

enum { NR_FILE_FACTS = sizeof(file_facts) / sizeof(*file_facts) };

/* False if the recording does not say. */
static bool fact_put_file(struct perfdata_source *s, enum file_fact fact, struct outbuf *out)
{
	const struct perfdata_file *f = &s->file;
	uint64_t kb;

	switch (fact) {
	case KIND:
		outbuf_str(out, "pipe");
		return f->is_pipe;
	case DATA_OFFSET:
		outbuf_u64(out, f->is_pipe ? 0 : f->data.offset);
		return true;
	case HEADER_VERSION:
		outbuf_u64(out, perfdata_header_version(f));
		return true;
	case CHANGED:
		outbuf_i64(out, s->changed_s);
		return true;
	case COMPRESSED:
		outbuf_str(out, facts_is_compressed(s, f->is_pipe) ? "true" : "false");
		return true;
	case FEATURES:
		facts_list_features(s, out);
		return true;
	case MEMORY:
		kb = facts_memory_kb(s);
		outbuf_u64(out, kb);
		return kb;
	}
	return false;
}

/* A number that can be written to JSON unchanged. */
static bool facts_is_number(const char *text)
{
	return *text && *text != '0' && text[strspn(text, "0123456789")] == '\0';
}

static bool fact_of_host(struct perfdata_source *s, size_t i, struct source_fact *ret)
{
	static const struct {
		const char *key, *info;
		bool is_number;
	} host[] = {
		{ "hostname", "hostname" },
		{ "osrelease", "osrelease" },
		{ "recorder", "version" },
		{ "arch", "arch" },
		{ "cpudesc", "cpudesc" },
		{ "cmdline", "cmdline" },
		{ "nrcpus_online", "nrcpus-online", true },
		{ "nrcpus_available", "nrcpus-available", true },
		{ "byte_order", "byte-order" },
		{ "long_bytes", "long-bytes", true },
	};

	if (i >= sizeof(host) / sizeof(*host))
		return false;
	*ret = (struct source_fact){
		.key = host[i].key,
		.value = perfdata_info(&s->source, host[i].info),
		.about = FACT_HOST,
	};
	if (ret->value && !*ret->value)
		ret->value = NULL;
	if (ret->value && host[i].is_number && facts_is_number(ret->value))
		ret->form = FACT_NUMBER;
	return true;
}

bool perfdata_fact_at(struct source *source, size_t i, struct source_fact *ret)
{
	struct perfdata_source *s = perfdata_of(source);
	struct outbuf *value = &s->fact;
	bool is_said;

	if (i >= NR_FILE_FACTS)
		return fact_of_host(s, i - NR_FILE_FACTS, ret);
	value->len = 0;
	is_said = fact_put_file(s, (enum file_fact)i, value);
	outbuf_char(value, '\0');
	*ret = file_facts[i];
	ret->value = is_said && !value->failed ? value->data : NULL;
	return true;
}
