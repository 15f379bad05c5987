/* SPDX-License-Identifier: MIT */
/*
 * The list of a recording's event types, as perf evlist prints it: a line each, without looking at the events. Those of a
 * stream come as records between them, so a stream is read to its end first.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/attr_text.h"
#include "formats/perfdata/groups.h"
#include "formats/perfdata/header.h"
#include "session.h"
#include "sinks/fd_writer.h"
#include "sinks/jsonl/json.h"
#include "sinks/sink.h"
#include "sinks/text/evlist.h"
#include "sinks/text/header.h"
#include "sinks/text/terminal.h"

enum detail { DETAIL_ATTR = 1, DETAIL_FREQ = 2, DETAIL_GROUPS = 4, DETAIL_FIELDS = 8 };

struct evlist_sink {
	struct sink base;
	struct sonde_session *session;
	struct fd_writer writer;
	unsigned details; /* enum detail */
	bool as_perf_reads_streams;
	/* Groups not met yet, of the section that tells of them. */
	struct bytes groups;
	uint32_t nr_groups;
	struct perfdata_group group; /* the next; members 0: none is left */
	uint32_t nr_members;         /* how many of the group begun are still to come */
};

/* ---- what stands in a line ---------------------------------------------------------------------------------------- */

int evlist_details_parse(const char *text, unsigned *ret)
{
	static const char *const words[] = { "attr", "freq", "groups", "fields" };
	unsigned details = 0;

	while (text && *text) {
		size_t len = strcspn(text, ","), i = 0;

		while (i < 4 && (strlen(words[i]) != len || strncmp(words[i], text, len)))
			i++;
		if (i == 4)
			return err_set(-EINVAL,
				       "evlist: knows attr, freq, groups and fields, not '%.*s'",
				       (int)len, text);
		details |= 1u << i;
		text += len + (text[len] == ',');
	}
	if (details & DETAIL_GROUPS && details & (DETAIL_ATTR | DETAIL_FREQ))
		return err_set(-EINVAL, "evlist: groups cannot stand beside attr and freq");
	*ret = details;
	return 0;
}

/* perf 6.1 and 6.12 do not look at the records of a stream that name its events. */
static void put_name(struct evlist_sink *s, const struct sonde_schema *sc, struct outbuf *out)
{
	const struct perf_event_attr *attr = sc->attr;
	char name[128] = "unknown tracepoint";

	if (!s->as_perf_reads_streams) {
		outbuf_str(out, sc->name);
		return;
	}
	if (attr->type != PERF_TYPE_TRACEPOINT)
		perfdata_attr_name(attr, name, sizeof(name));
	outbuf_str(out, *name ? name : sc->name);
}

static void put_attr(struct evlist_sink *s, const struct sonde_schema *sc, struct outbuf *out)
{
	const struct perf_event_attr *attr = sc->attr;
	char room[64];
	struct text_header_event event = { sc->name,
					   text_header_pmu_name(s->session, attr->type, room) };

	text_header_attr_put(attr, ": ", &event, s->session->opts.compat, out);
}

static void put_freq(const struct sonde_schema *sc, struct outbuf *out)
{
	const struct perf_event_attr *attr = sc->attr;

	outbuf_fmt(out, ", %s=%" PRIu64, attr->freq ? "sample_freq" : "sample_period",
		   (uint64_t)attr->sample_freq);
}

static void put_fields(const struct sonde_schema *sc, struct outbuf *out)
{
	const struct perf_event_attr *attr = sc->attr;

	if (attr->type != PERF_TYPE_TRACEPOINT) {
		outbuf_str(out, ", (not a tracepoint)");
		return;
	}
	if (sc->nr_fields <= sc->nr_common)
		outbuf_str(out, ", (no trace field)");
	for (size_t i = sc->nr_common; i < sc->nr_fields; i++)
		outbuf_fmt(out, "%s%s", i == sc->nr_common ? ", trace_fields: " : ",",
			   sc->fields[i].name);
}

static void put_details(struct evlist_sink *s, const struct sonde_schema *sc, struct outbuf *out)
{
	size_t start = out->len;

	if (s->details & DETAIL_ATTR)
		put_attr(s, sc, out);
	else if (s->details & DETAIL_FREQ)
		put_freq(sc, out);
	if (s->details & DETAIL_FIELDS)
		put_fields(sc, out);
	/* Each begins with a comma; the first of a line follows the name. */
	if (out->len > start)
		out->data[start] = ':';
}

/* ---- groups ------------------------------------------------------------------------------------------------------- */

static void next_group(struct evlist_sink *s)
{
	s->group = (struct perfdata_group){ 0 };
	while (s->nr_groups && perfdata_group_read(&s->groups, &s->group) >= 0) {
		s->nr_groups--;
		if (s->group.members > 1)
			return;
	}
	s->nr_groups = 0;
	s->group.members = 0;
	err_clear();
}

static void read_groups(struct evlist_sink *s)
{
	struct source *source = s->session->source;

	if (s->as_perf_reads_streams ||
	    source->ops->section(source, FEAT_GROUP_DESC, &s->groups) <= 0 ||
	    bytes_u32(&s->groups, "number of groups", &s->nr_groups) < 0) {
		err_clear();
		return;
	}
	next_group(s);
}

/* A line for a whole group: "NAME{first,second}". */
static void put_in_group(struct evlist_sink *s, const struct sonde_schema *sc, uint32_t index,
			 struct outbuf *out)
{
	if (s->nr_members) {
		outbuf_char(out, ',');
		put_name(s, sc, out);
		if (!--s->nr_members)
			outbuf_str(out, "}\n");
		return;
	}
	if (s->group.members && s->group.leader == index) {
		outbuf_fmt(out, "%.*s{", (int)s->group.name_len, s->group.name);
		s->nr_members = s->group.members - 1;
		next_group(s);
		put_name(s, sc, out);
		return;
	}
	put_name(s, sc, out);
	outbuf_char(out, '\n');
}

/* ---- the sink ----------------------------------------------------------------------------------------------------- */

static void put_tips(struct evlist_sink *s, bool has_tracepoint, bool has_group, struct outbuf *out)
{
	int compat = s->session->opts.compat;
	const char *tool = compat ? "perf" : "sonde";

	if (has_tracepoint && !(s->details & DETAIL_FIELDS))
		outbuf_fmt(out,
			   "# Tip: use '%s evlist --trace-fields' to show fields for tracepoint "
			   "events\n",
			   tool);
	if (has_group && !(s->details & DETAIL_GROUPS) && compat == SONDE_COMPAT_PERF_6_12)
		outbuf_fmt(out, "# Tip: use '%s evlist -g' to show group information\n", tool);
}

static int open_as(const struct sink_ops *ops, struct sink **ret, const struct sink_options *opts)
{
	struct evlist_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem();
	s->base.ops = ops;
	s->session = opts->session;
	s->as_perf_reads_streams = opts->session->opts.compat && session_in_pipe_mode(s->session);
	r = evlist_details_parse(opts->session->opts.evlist, &s->details);
	if (r >= 0)
		r = fd_writer_init(&s->writer, opts->fd);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = &s->base;
	return 0;
}

static int evlist_open(struct sink **ret, const struct sink_options *opts)
{
	return open_as(&evlist_sink_ops, ret, opts);
}

static int evlist_json_open(struct sink **ret, const struct sink_options *opts)
{
	return open_as(&evlist_json_sink_ops, ret, opts);
}

static int evlist_finish(struct sink *sink, bool complete)
{
	struct evlist_sink *s = (struct evlist_sink *)sink;
	struct outbuf *out = &s->writer.out;
	bool has_tracepoint = false, has_group;
	const struct sonde_schema *sc;
	uint32_t index = 0;

	read_groups(s);
	has_group = s->group.members > 1;
	for (uint32_t id = 0; (sc = sonde_session_schema(s->session, id)); id++) {
		const struct perf_event_attr *attr = sc->attr;

		if (!attr || sc->is_newer)
			continue;
		sc = schema_newest(sc);
		has_tracepoint |= attr->type == PERF_TYPE_TRACEPOINT;
		if (s->details & DETAIL_GROUPS) {
			put_in_group(s, sc, index++, out);
			continue;
		}
		put_name(s, sc, out);
		put_details(s, sc, out);
		outbuf_char(out, '\n');
	}
	if (s->nr_members) /* the recording has fewer events than its groups */
		outbuf_str(out, "}\n");
	put_tips(s, has_tracepoint, has_group, out);
	if (s->session->opts.terminal || isatty(s->writer.fd))
		text_terminal_quiet(out, 0, true);
	return fd_writer_flush(&s->writer);
}

static void put_attr_json(const struct perf_event_attr *attr, struct outbuf *out)
{
	const struct perfdata_attr_style style = { .is_json = true };

	outbuf_fmt(out, ",\"attr\":{\"type\":%" PRIu32, attr->type);
	json_member_u64(out, "config", attr->config);
	perfdata_attr_put_members(out, attr, &style);
	outbuf_char(out, '}');
}

static void put_fields_json(const struct sonde_schema *sc, struct outbuf *out)
{
	outbuf_str(out, ",\"fields\":[");
	for (size_t i = sc->nr_common; i < sc->nr_fields; i++) {
		outbuf_fmt(out, "%s{\"name\":", i == sc->nr_common ? "" : ",");
		json_text(out, sc->fields[i].name);
		json_member_text(out, "type", sc->fields[i].type);
		outbuf_char(out, '}');
	}
	outbuf_char(out, ']');
}

/*
 * The number of the group that event `index` of the recording is in; -1: none. Groups are met in
 * their order.
 */
static int64_t group_of(struct evlist_sink *s, uint32_t index, int64_t *nr_met)
{
	if (s->nr_members) {
		s->nr_members--;
		return *nr_met - 1;
	}
	if (!s->group.members || s->group.leader != index)
		return -1;
	s->nr_members = s->group.members - 1;
	next_group(s);
	return (*nr_met)++;
}

static int evlist_json_finish(struct sink *sink, bool complete)
{
	struct evlist_sink *s = (struct evlist_sink *)sink;
	struct outbuf *out = &s->writer.out;
	const struct sonde_schema *sc;
	int64_t nr_groups = 0;
	uint32_t index = 0;

	read_groups(s);
	outbuf_str(out, "{\"schema\":\"sonde-evlist\",\"version\":1");
	json_member_text(out, "sonde", sonde_version());
	json_member_text(out, "input", s->session->opts.input);
	outbuf_fmt(out, ",\"complete\":%s,\"events\":[", complete ? "true" : "false");
	for (uint32_t id = 0; (sc = sonde_session_schema(s->session, id)); id++) {
		int64_t group;

		if (!sc->attr || sc->is_newer)
			continue;
		sc = schema_newest(sc);
		group = group_of(s, index, &nr_groups);
		outbuf_str(out, index++ ? ",\n{\"name\":" : "\n{\"name\":");
		json_text(out, sc->name);
		if (group >= 0)
			json_member_i64(out, "group", group);
		put_attr_json(sc->attr, out);
		if (((const struct perf_event_attr *)sc->attr)->type == PERF_TYPE_TRACEPOINT)
			put_fields_json(sc, out);
		outbuf_char(out, '}');
	}
	outbuf_str(out, "]}\n");
	return fd_writer_flush(&s->writer);
}

static int evlist_flush(struct sink *sink)
{
	return 0;
}

static void evlist_close(struct sink *sink)
{
	struct evlist_sink *s = (struct evlist_sink *)sink;

	if (!s)
		return;
	fd_writer_done(&s->writer);
	free(s);
}

const struct sink_ops evlist_sink_ops = {
	.name = "evlist",
	.summary = "a line per event type of the recording, as perf evlist prints it",
	.lists_header = true,
	.open = evlist_open,
	.finish = evlist_finish,
	.flush = evlist_flush,
	.close = evlist_close,
};

const struct sink_ops evlist_json_sink_ops = {
	.name = "evlist-json",
	.summary = "all that is known of each event type, as a JSON object",
	.lists_header = true,
	.reports_complete = true,
	.open = evlist_json_open,
	.finish = evlist_json_finish,
	.flush = evlist_flush,
	.close = evlist_close,
};
