/* SPDX-License-Identifier: MIT */
/*
 * Prints the recording's event types like perf evlist: one line each, without reading the events.
 * The event types of a stream are records between the events, so a stream is first read to its end.
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
#include "recording/recording.h"
#include "sinks/fd_writer.h"
#include "sinks/sink_json.h"
#include "sinks/perf/header.h"
#include "sinks/perf/need.h"
#include "sinks/sink.h"
#include "sinks/text/terminal.h"
#include "sources/perfdata/view.h"

enum detail { DETAIL_ATTR = 1, DETAIL_FREQ = 2, DETAIL_GROUPS = 4, DETAIL_FIELDS = 8 };

struct evlist_sink {
	struct sink base;
	struct recording *rec;
	struct perfdata_view *view;
	const char *input;
	const struct rules *rules;
	struct fd_writer writer;
	unsigned details; /* enum detail */
	bool on_terminal;
	bool forgets_names;
	/* The groups of the section that are not printed yet. */
	struct bytes groups;
	uint32_t nr_groups;
	struct perfdata_group group; /* the next group; its `members` is 0 if none is left */
	uint32_t nr_members;         /* members of the current group that are still to be printed */
};

/* ---- parts of a line ------------------------------------------------------------------------- */

/* Parses words separated by commas; NULL means no words. */
static int evlist_details_parse(const char *text, unsigned *ret)
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
		return err_set(-EINVAL, "evlist: groups cannot be combined with attr and freq");
	*ret = details;
	return 0;
}

/* perf 6.1 and 6.12 ignore the records of a stream that name its events. */
static void evlist_put_name(struct evlist_sink *s, const struct sonde_schema *sc,
			    struct outbuf *out)
{
	const struct perf_event_attr *attr = sc->attr;
	char name[128] = "unknown tracepoint";

	if (!s->forgets_names) {
		outbuf_str(out, sc->name);
		return;
	}
	if (attr->type != PERF_TYPE_TRACEPOINT)
		perfdata_attr_name(attr, name, sizeof(name));
	outbuf_str(out, *name ? name : sc->name);
}

static void evlist_put_attr(struct evlist_sink *s, const struct sonde_schema *sc,
			    struct outbuf *out)
{
	const struct perf_event_attr *attr = sc->attr;
	char room[64];
	struct perf_header_event event = { sc->name,
					   perf_header_pmu_name(s->rec, attr->type, room) };

	perf_header_attr_put(attr, ": ", &event, s->rules, out);
}

static void evlist_put_freq(const struct sonde_schema *sc, struct outbuf *out)
{
	const struct perf_event_attr *attr = sc->attr;

	outbuf_fmt(out, ", %s=%" PRIu64, attr->freq ? "sample_freq" : "sample_period",
		   (uint64_t)attr->sample_freq);
}

static void evlist_put_fields(const struct sonde_schema *sc, struct outbuf *out)
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

static void evlist_put_details(struct evlist_sink *s, const struct sonde_schema *sc,
			       struct outbuf *out)
{
	size_t start = out->len;

	if (s->details & DETAIL_ATTR)
		evlist_put_attr(s, sc, out);
	else if (s->details & DETAIL_FREQ)
		evlist_put_freq(sc, out);
	if (s->details & DETAIL_FIELDS)
		evlist_put_fields(sc, out);
	/* Each detail begins with a comma; the first one follows the name, so it gets a colon. */
	if (out->len > start)
		out->data[start] = ':';
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void evlist_next_group(struct evlist_sink *s)
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

static void evlist_read_groups(struct evlist_sink *s)
{
	if (s->forgets_names || perfdata_view_section(s->view, FEAT_GROUP_DESC, &s->groups) <= 0 ||
	    bytes_u32(&s->groups, "number of groups", &s->nr_groups) < 0) {
		err_clear();
		return;
	}
	evlist_next_group(s);
}

/* Prints one line for a complete group: "NAME{first,second}". */
static void evlist_put_in_group(struct evlist_sink *s, const struct sonde_schema *sc,
				uint32_t index, struct outbuf *out)
{
	if (s->nr_members) {
		outbuf_char(out, ',');
		evlist_put_name(s, sc, out);
		if (!--s->nr_members)
			outbuf_str(out, "}\n");
		return;
	}
	if (s->group.members && s->group.leader == index) {
		outbuf_fmt(out, "%.*s{", (int)s->group.name_len, s->group.name);
		s->nr_members = s->group.members - 1;
		evlist_next_group(s);
		evlist_put_name(s, sc, out);
		return;
	}
	evlist_put_name(s, sc, out);
	outbuf_char(out, '\n');
}

/* ---- the sink -------------------------------------------------------------------------------- */

static void evlist_put_tips(struct evlist_sink *s, bool has_tracepoint, bool has_group,
			    struct outbuf *out)
{
	const char *tool = s->rules->calls_itself_perf ? "perf" : "sonde";

	if (has_tracepoint && !(s->details & DETAIL_FIELDS))
		outbuf_fmt(out,
			   "# Tip: use '%s evlist --trace-fields' to show fields for tracepoint "
			   "events\n",
			   tool);
	if (has_group && !(s->details & DETAIL_GROUPS) && s->rules->tips_at_groups)
		outbuf_fmt(out, "# Tip: use '%s evlist -g' to show group information\n", tool);
}

struct evlist_options {
	char *details;
};

static const struct key keys[] = { KEY_TEXT("evlist", struct evlist_options, details) };

static int evlist_check(const struct sink_options *opts)
{
	const struct evlist_options *o = opts->own;
	unsigned details;

	return evlist_details_parse(o->details, &details);
}

static struct sink_wants evlist_wants(const struct sink_options *opts)
{
	return (struct sink_wants){ .samples = true, .header = true };
}

static struct sink_wants evlist_json_wants(const struct sink_options *opts)
{
	return (struct sink_wants){ .samples = true, .header = true, .has_verdict = true };
}

static int evlist_open_as(const struct sink_ops *ops, struct sink **ret,
			  const struct sink_options *opts)
{
	const struct evlist_options *o = opts->own;
	struct perfdata_view *view;
	struct evlist_sink *s;
	int r;

	TRY(perf_view_need(opts->recordings->v, "evlist", &view));
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->base.ops = ops;
	s->rec = opts->recordings->v;
	s->view = view;
	s->input = opts->input;
	s->rules = opts->rules;
	s->on_terminal = opts->on_terminal || isatty(opts->fd);
	s->forgets_names = opts->rules->evlist_forgets_names &&
			   source_read_traits(s->rec->source).describes_late;
	r = evlist_details_parse(o->details, &s->details);
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
	return evlist_open_as(&evlist_sink_ops, ret, opts);
}

static int evlist_json_open(struct sink **ret, const struct sink_options *opts)
{
	return evlist_open_as(&evlist_json_sink_ops, ret, opts);
}

static int evlist_finish(struct sink *sink, bool complete)
{
	struct evlist_sink *s = (struct evlist_sink *)sink;
	struct outbuf *out = &s->writer.out;
	bool has_tracepoint = false, has_group;
	const struct sonde_schema *sc;
	uint32_t index = 0;

	evlist_read_groups(s);
	has_group = s->group.members > 1;
	for (uint32_t id = 0; (sc = schema_at(&s->rec->all->schemas, id)); id++) {
		const struct perf_event_attr *attr = sc->attr;

		if (!attr || sc->is_newer)
			continue;
		sc = schema_newest(sc);
		has_tracepoint |= attr->type == PERF_TYPE_TRACEPOINT;
		if (s->details & DETAIL_GROUPS) {
			evlist_put_in_group(s, sc, index++, out);
			continue;
		}
		evlist_put_name(s, sc, out);
		evlist_put_details(s, sc, out);
		outbuf_char(out, '\n');
	}
	if (s->nr_members) /* the recording has fewer events than its groups */
		outbuf_str(out, "}\n");
	evlist_put_tips(s, has_tracepoint, has_group, out);
	if (s->on_terminal)
		text_terminal_quiet(out, 0, true);
	return fd_writer_flush(&s->writer);
}

static void evlist_put_attr_json(const struct perf_event_attr *attr, struct json *j)
{
	const struct perfdata_attr_style style = { .json = j, .rules = &default_rules };

	json_member_object(j, "attr");
	json_member_u64(j, "type", attr->type);
	json_member_u64(j, "config", attr->config);
	perfdata_attr_put_members(j->out, attr, &style);
	json_end(j);
}

static void evlist_put_fields_json(const struct sonde_schema *sc, struct json *j)
{
	json_member_array(j, "fields");
	for (size_t i = sc->nr_common; i < sc->nr_fields; i++) {
		json_object(j);
		json_member_text(j, "name", sc->fields[i].name);
		json_member_text(j, "type", sc->fields[i].type);
		json_end(j);
	}
	json_end(j);
}

/*
 * The number of the group of event `index` of the recording; -1 if it is in no group. Call it for
 * the events in order.
 */
static int64_t evlist_group_of(struct evlist_sink *s, uint32_t index, int64_t *nr_met)
{
	if (s->nr_members) {
		s->nr_members--;
		return *nr_met - 1;
	}
	if (!s->group.members || s->group.leader != index)
		return -1;
	s->nr_members = s->group.members - 1;
	evlist_next_group(s);
	return (*nr_met)++;
}

static int evlist_json_finish(struct sink *sink, bool complete)
{
	struct evlist_sink *s = (struct evlist_sink *)sink;
	struct json j = json_to(&s->writer.out);
	const struct sonde_schema *sc;
	int64_t nr_groups = 0;
	uint32_t index = 0;

	evlist_read_groups(s);
	sink_json_begin(&j, "sonde-evlist", 1, s->input, complete);
	json_member_array(&j, "events");
	for (uint32_t id = 0; (sc = schema_at(&s->rec->all->schemas, id)); id++) {
		const struct perf_event_attr *attr = sc->attr;
		int64_t group;

		if (!attr || sc->is_newer)
			continue;
		sc = schema_newest(sc);
		attr = sc->attr;
		group = evlist_group_of(s, index++, &nr_groups);
		json_newline(&j);
		json_object(&j);
		json_member_text(&j, "name", sc->name);
		if (group >= 0)
			json_member_i64(&j, "group", group);
		evlist_put_attr_json(attr, &j);
		if (attr->type == PERF_TYPE_TRACEPOINT)
			evlist_put_fields_json(sc, &j);
		json_end(&j);
	}
	json_end_line(&j);
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
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct evlist_options),
	.check = evlist_check,
	.wants = evlist_wants,
	.open = evlist_open,
	.finish = evlist_finish,
	.flush = evlist_flush,
	.close = evlist_close,
};

const struct sink_ops evlist_json_sink_ops = {
	.name = "evlist-json",
	.summary = "all that is known of each event type, as a JSON object",
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct evlist_options),
	.check = evlist_check,
	.wants = evlist_json_wants,
	.open = evlist_json_open,
	.finish = evlist_json_finish,
	.flush = evlist_flush,
	.close = evlist_close,
};
