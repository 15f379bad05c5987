/* SPDX-License-Identifier: MIT */
/* Metadata of CTF 2: a sequence of JSON objects, each after a byte 0x1e. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/ctf/json_types.h"
#include "formats/ctf/layout.h"

int json_metadata_fail(const struct json_metadata *m, const char *at, const char *fmt, ...)
{
	char text[300];
	unsigned line = 1, column = 1;
	va_list ap;

	for (const char *p = m->text; p < at; p++) {
		column = *p == '\n' ? 1 : column + 1;
		line += *p == '\n';
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(-EBADMSG, "%s:%u:%u: %s", m->trace->path, line, column, text);
}

int json_metadata_unsigned(const struct json_metadata *m, const struct json_value *of,
			   const char *name, uint64_t missing, uint64_t *ret)
{
	const struct json_value *v = json_member(of, name);

	*ret = missing;
	if (!v)
		return 0;
	if (v->kind != JSON_INTEGER || v->is_negative)
		return json_metadata_fail(m, v->at, "'%s' must be an integer that is not negative",
					  name);
	*ret = v->number;
	return 0;
}

int json_metadata_text(const struct json_metadata *m, const struct json_value *of, const char *name,
		       const char **ret)
{
	const struct json_value *v = json_member(of, name);

	*ret = NULL;
	if (!v)
		return 0;
	if (v->kind != JSON_TEXT)
		return json_metadata_fail(m, v->at, "'%s' must be a string", name);
	*ret = v->text;
	return 0;
}

static int json_metadata_signed(const struct json_metadata *m, const struct json_value *of,
				const char *name, int64_t *ret)
{
	const struct json_value *v = json_member(of, name);

	*ret = 0;
	if (!v)
		return 0;
	if (v->kind != JSON_INTEGER || (!v->is_negative && v->number > INT64_MAX))
		return json_metadata_fail(m, v->at, "'%s' must be an integer", name);
	*ret = (int64_t)v->number;
	return 0;
}

/* A scope's field class, which must be a structure. */
static int json_metadata_scope(struct json_metadata *m, const struct json_value *fragment,
			       const char *name, const struct ctf_type **ret)
{
	const struct json_value *v = json_member(fragment, name);

	if (!v)
		return 0;
	TRY(json_type(m, v, ret));
	return (*ret)->kind == CTF_STRUCT
		       ? 0
		       : json_metadata_fail(m, v->at, "'%s' must be a structure", name);
}

static int json_metadata_uuid(struct json_metadata *m, const struct json_value *of,
			      const char *name, uint8_t ret[16], bool *ret_has)
{
	const struct json_value *v = json_member(of, name);
	size_t i = 0;

	if (!v || v->kind != JSON_ARRAY)
		return 0;
	if (v->nr != 16)
		return json_metadata_fail(m, v->at, "a UUID has 16 bytes");
	for (const struct json_value *b = v->first; b; b = b->next)
		ret[i++] = (uint8_t)b->number;
	*ret_has = true;
	return 0;
}

/* ---- fragments ------------------------------------------------------------------------------- */

static int json_metadata_preamble(struct json_metadata *m, const struct json_value *f)
{
	uint64_t version;

	TRY(json_metadata_unsigned(m, f, "version", 0, &version));
	if (version != 2)
		return json_metadata_fail(m, f->at,
					  "the version is %llu; sonde reads CTF 1.8 and "
					  "CTF 2",
					  (unsigned long long)version);
	return json_metadata_uuid(m, f, "uuid", m->trace->uuid, &m->trace->has_uuid);
}

static int json_metadata_alias(struct json_metadata *m, const struct json_value *f)
{
	struct json_alias alias = { 0 };
	const struct json_value *v = json_member(f, "field-class");

	TRY(json_metadata_text(m, f, "name", &alias.name));
	if (!alias.name || !v)
		return json_metadata_fail(m, f->at, "an alias has a name and a field-class");
	TRY(json_type(m, v, &alias.type));
	if (m->aliases.n >= CTF_MOST_STREAMS)
		return json_metadata_fail(m, f->at, "there are more than %d aliases",
					  CTF_MOST_STREAMS);
	return vec_push(&m->aliases, alias) < 0 ? err_nomem() : 0;
}

static int json_metadata_trace(struct json_metadata *m, const struct json_value *f)
{
	const struct json_value *env = json_member(f, "environment");

	TRY(json_metadata_scope(m, f, "packet-header-field-class", &m->trace->packet_header));
	for (const struct json_value *v = env ? env->first : NULL; v; v = v->next) {
		const struct ctf_env e = {
			.name = v->name ? v->name : "",
			.text = v->kind == JSON_TEXT ? v->text : NULL,
			.number = (int64_t)v->number,
		};

		if (vec_push(&m->trace->env, e) < 0)
			return err_nomem();
	}
	return json_metadata_uuid(m, f, "uuid", m->trace->uuid, &m->trace->has_uuid);
}

static int json_metadata_clock(struct json_metadata *m, const struct json_value *f)
{
	struct ctf_clock *clock = arena_alloc(&m->trace->arena, sizeof(*clock));
	const struct json_value *origin = json_member(f, "origin"),
				*offset = json_member(f, "offset-from-origin");

	if (!clock)
		return err_nomem();
	offset = offset ? offset : json_member(f, "offset");
	TRY(json_metadata_text(m, f, "id", &clock->name));
	if (!clock->name)
		TRY(json_metadata_text(m, f, "name", &clock->name));
	if (!clock->name)
		return json_metadata_fail(m, f->at, "the clock class has no id");
	TRY(json_metadata_unsigned(m, f, "frequency", 1000000000, &clock->freq));
	if (!clock->freq)
		return json_metadata_fail(m, f->at, "the frequency of the clock is 0");
	TRY(json_metadata_signed(m, offset, "seconds", &clock->offset_s));
	TRY(json_metadata_signed(m, offset, "cycles", &clock->offset_cycles));
	clock->is_absolute =
		origin && origin->kind == JSON_TEXT && !strcmp(origin->text, "unix-epoch");
	if (m->trace->clocks.n >= CTF_MOST_DEPTH)
		return json_metadata_fail(m, f->at, "there are more than %d clocks",
					  CTF_MOST_DEPTH);
	return vec_push(&m->trace->clocks, clock) < 0 ? err_nomem() : 0;
}

static int json_metadata_stream(struct json_metadata *m, const struct json_value *f)
{
	struct ctf_trace *t = m->trace;
	struct ctf_stream_class *stream = arena_alloc(&t->arena, sizeof(*stream));

	if (!stream)
		return err_nomem();
	stream->has_id = true;
	TRY(json_metadata_unsigned(m, f, "id", 0, &stream->id));
	TRY(json_metadata_text(m, f, "default-clock-class-id", &stream->clock_id));
	if (!stream->clock_id)
		TRY(json_metadata_text(m, f, "default-clock-class-name", &stream->clock_id));
	TRY(json_metadata_scope(m, f, "packet-context-field-class", &stream->packet_context));
	TRY(json_metadata_scope(m, f, "event-record-header-field-class", &stream->event_header));
	TRY(json_metadata_scope(m, f, "event-record-common-context-field-class",
				&stream->event_context));
	if (t->streams.n >= CTF_MOST_STREAMS)
		return json_metadata_fail(m, f->at, "there are more than %d streams",
					  CTF_MOST_STREAMS);
	for (size_t i = 0; i < t->streams.n; i++)
		if (t->streams.v[i]->id == stream->id)
			return json_metadata_fail(m, f->at, "there are two streams of id %llu",
						  (unsigned long long)stream->id);
	return vec_push(&t->streams, stream) < 0 ? err_nomem() : 0;
}

static int json_metadata_event(struct json_metadata *m, const struct json_value *f)
{
	struct ctf_trace *t = m->trace;
	struct ctf_event_class *event = arena_alloc(&t->arena, sizeof(*event));

	if (!event)
		return err_nomem();
	event->log_level = -1;
	event->has_stream_id = true;
	TRY(json_metadata_unsigned(m, f, "id", 0, &event->id));
	TRY(json_metadata_unsigned(m, f, "data-stream-class-id", 0, &event->stream_id));
	TRY(json_metadata_text(m, f, "name", &event->name));
	if (!event->name)
		event->name = "";
	TRY(json_metadata_scope(m, f, "specific-context-field-class", &event->context));
	TRY(json_metadata_scope(m, f, "payload-field-class", &event->fields));
	if (t->events.n >= CTF_MOST_EVENTS)
		return json_metadata_fail(m, f->at, "there are more than %d events",
					  CTF_MOST_EVENTS);
	return vec_push(&t->events, event) < 0 ? err_nomem() : 0;
}

static int json_metadata_fragment(struct json_metadata *m, const struct json_value *f)
{
	static const struct {
		const char *type;
		int (*read)(struct json_metadata *m, const struct json_value *f);
	} kinds[] = {
		{ "preamble", json_metadata_preamble },
		{ "field-class-alias", json_metadata_alias },
		{ "trace-class", json_metadata_trace },
		{ "clock-class", json_metadata_clock },
		{ "data-stream-class", json_metadata_stream },
		{ "event-record-class", json_metadata_event },
	};
	const struct json_value *extensions = json_member(f, "extensions");
	const char *type;

	TRY(json_metadata_text(m, f, "type", &type));
	if (extensions && extensions->nr)
		return json_metadata_fail(m, extensions->at,
					  "the trace has extensions, which sonde does not know");
	for (size_t i = 0; type && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(type, kinds[i].type))
			return kinds[i].read(m, f);
	return json_metadata_fail(m, f->at, "'%.60s' is no type of a fragment", type ? type : "");
}

/* ---- the text -------------------------------------------------------------------------------- */

static int json_metadata_read(struct json_metadata *m, const char *text, size_t len)
{
	const char *at = text, *const end = text + len;
	uint32_t nr_values = 0;
	bool is_first = true;

	while (at < end) {
		const char *record = memchr(at + 1, CTF_JSON_RECORD, (size_t)(end - at - 1));
		struct json_tree tree = { .arena = &m->trace->arena,
					  .at = at + 1,
					  .end = record ? record : end,
					  .nr_values = nr_values };
		const struct json_value *f;
		const char *type;

		at = record ? record : end;
		f = json_tree_read(&tree);
		if (!f)
			return tree.mistake
				       ? json_metadata_fail(m, tree.at, "expected %s", tree.mistake)
				       : -ENOMEM;
		nr_values = tree.nr_values;
		if (f->kind != JSON_OBJECT)
			return json_metadata_fail(m, f->at, "a fragment must be an object");
		TRY(json_metadata_text(m, f, "type", &type));
		if (is_first && (!type || strcmp(type, "preamble") != 0))
			return json_metadata_fail(m, f->at,
						  "the first fragment must be the "
						  "preamble");
		is_first = false;
		TRY(json_metadata_fragment(m, f));
	}
	return 0;
}

int ctf_json_parse(struct ctf_trace *t, const char *text, size_t len)
{
	struct json_metadata m = { .trace = t, .text = text };
	int r;

	t->major = 2;
	t->minor = 0;
	r = json_metadata_read(&m, text, len);
	vec_done(&m.aliases);
	return r;
}
