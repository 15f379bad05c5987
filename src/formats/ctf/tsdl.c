/* SPDX-License-Identifier: MIT */
/* Blocks of TSDL: trace, env, clock, stream, event, callsite. */
#include <string.h>

#include "formats/ctf/tsdl.h"

/* The attribute of a block: "a.b = value;" or "a.b := type;". */
struct attribute {
	const char *name;
	struct tsdl_token at;
	const struct ctf_type *type; /* after := */
	struct tsdl_value value;
};

static bool tsdl_is_named(const struct attribute *a, const char *name)
{
	return !strcmp(a->name, name);
}

static int tsdl_attribute(struct tsdl *p, struct attribute *ret)
{
	char room[80];

	*ret = (struct attribute){ .at = p->token };
	if (p->token.kind == TOKEN_TEXT) { /* env { "name" = ... } */
		ret->name = p->token.text;
		TRY(tsdl_advance(p));
	} else {
		TRY(tsdl_dotted(p, &ret->name));
	}
	if (p->token.kind == TOKEN_ASSIGN) {
		TRY(tsdl_advance(p));
		TRY(tsdl_scope_type(p, &ret->type));
	} else if (tsdl_is_sign(p, '=')) {
		TRY(tsdl_advance(p));
		TRY(tsdl_value(p, &ret->value));
	} else {
		return tsdl_fail(p, "expected '=' or ':=', found %s", tsdl_found(p, room));
	}
	return tsdl_expect(p, ';');
}

static int tsdl_number_of(struct tsdl *p, const struct attribute *a, uint64_t *ret)
{
	return tsdl_value_unsigned(p, &a->value, a->name, ret);
}

static int tsdl_signed_of(struct tsdl *p, const struct attribute *a, int64_t *ret)
{
	const struct tsdl_value *v = &a->value;

	if (!v->is_number || (v->is_negative && v->number > UINT64_C(1) << 63))
		return tsdl_fail_at(p, a->at.line, a->at.column, "'%s' must be a number of 64 bits",
				    a->name);
	/* Tracers write negative numbers as unsigned ones, too. */
	*ret = (int64_t)(v->is_negative ? -v->number : v->number);
	return 0;
}

static int tsdl_text_of(struct tsdl *p, const struct attribute *a, const char **ret)
{
	if (!a->value.text)
		return tsdl_fail_at(p, a->at.line, a->at.column, "'%s' must be a text", a->name);
	*ret = a->value.text;
	return 0;
}

static int tsdl_uuid_of(struct tsdl *p, const struct attribute *a, uint8_t ret[16], bool *ret_has)
{
	if (!a->value.text || !ctf_uuid_parse(a->value.text, ret))
		return tsdl_fail_at(p, a->at.line, a->at.column, "'%s' is no UUID",
				    a->value.text ? a->value.text : "");
	*ret_has = true;
	return 0;
}

/* The type after ':='; the attribute must not have been given before. */
static int tsdl_type_of(struct tsdl *p, const struct attribute *a, const struct ctf_type **to)
{
	if (!a->type || *to)
		return tsdl_fail_at(p, a->at.line, a->at.column,
				    a->type ? "'%s' is given twice" : "'%s' must be a type (:=)",
				    a->name);
	*to = a->type;
	return 0;
}

/* Calls take() for each attribute of a block, which begins with '{'. */
static int tsdl_block(struct tsdl *p, void *ctx,
		      int (*take)(struct tsdl *p, void *ctx, const struct attribute *a))
{
	tsdl_scope_begin(p);
	TRY(tsdl_expect(p, '{'));
	while (!tsdl_is_sign(p, '}')) {
		struct attribute a;
		const struct ctf_type *type;
		int r = tsdl_declaration(p);

		if (r < 0)
			return r;
		if (r)
			continue;
		if (tsdl_is_word(p, "struct") || tsdl_is_word(p, "variant") ||
		    tsdl_is_word(p, "enum")) {
			TRY(tsdl_specifier(p, &type));
			TRY(tsdl_expect(p, ';'));
			continue;
		}
		TRY(tsdl_attribute(p, &a));
		TRY(take(p, ctx, &a));
	}
	tsdl_scope_end(p);
	TRY(tsdl_expect(p, '}'));
	return tsdl_expect(p, ';');
}

/* ---- trace, env, clock ----------------------------------------------------------------------- */

static int tsdl_take_trace(struct tsdl *p, void *ctx __attribute__((unused)),
			   const struct attribute *a)
{
	struct ctf_trace *t = p->trace;
	uint64_t n;

	if (tsdl_is_named(a, "major") || tsdl_is_named(a, "minor")) {
		const bool is_major = tsdl_is_named(a, "major");

		TRY(tsdl_number_of(p, a, &n));
		if (n != (is_major ? 1 : 8))
			return tsdl_fail_at(p, a->at.line, a->at.column,
					    "the %s version is %llu; sonde reads CTF 1.8 and CTF 2",
					    a->name, (unsigned long long)n);
		*(is_major ? &t->major : &t->minor) = (unsigned)n;
		return 0;
	}
	if (tsdl_is_named(a, "byte_order")) {
		TRY(tsdl_order(p, &a->value, &t->order));
		return t->order ? 0
				: tsdl_fail_at(p, a->at.line, a->at.column,
					       "the byte order of the trace must be le or be");
	}
	if (tsdl_is_named(a, "uuid"))
		return tsdl_uuid_of(p, a, t->uuid, &t->has_uuid);
	if (tsdl_is_named(a, "packet.header"))
		return tsdl_type_of(p, a, &t->packet_header);
	t->nr_ignored++;
	return 0;
}

static int tsdl_trace(struct tsdl *p)
{
	const struct tsdl_token at = p->token;

	if (p->has_trace)
		return tsdl_fail(p, "there is a second block 'trace'");
	p->has_trace = true;
	TRY(tsdl_block(p, NULL, tsdl_take_trace));
	if (!p->trace->order)
		return tsdl_fail_at(p, at.line, at.column, "the trace has no byte_order");
	return 0;
}

static int tsdl_take_env(struct tsdl *p, void *ctx __attribute__((unused)),
			 const struct attribute *a)
{
	struct ctf_env env = { .name = a->name };

	if (a->type)
		return tsdl_fail_at(p, a->at.line, a->at.column, "a value of env is no type");
	if (a->value.is_number)
		TRY(tsdl_signed_of(p, a, &env.number));
	else
		env.text = a->value.text;
	vec_foreach(old, &p->trace->env) {
		if (!strcmp(old->name, env.name)) { /* the later one counts */
			*old = env;
			return 0;
		}
	}
	if (p->trace->env.n >= CTF_MOST_DEPTH * 16)
		return tsdl_fail(p, "env has more than %d values", CTF_MOST_DEPTH * 16);
	return vec_push(&p->trace->env, env) < 0 ? err_nomem() : 0;
}

static int tsdl_take_clock(struct tsdl *p, void *ctx, const struct attribute *a)
{
	struct ctf_clock *clock = ctx;

	if (tsdl_is_named(a, "name"))
		return tsdl_text_of(p, a, &clock->name);
	if (tsdl_is_named(a, "freq"))
		return tsdl_number_of(p, a, &clock->freq);
	if (tsdl_is_named(a, "offset_s"))
		return tsdl_signed_of(p, a, &clock->offset_s);
	if (tsdl_is_named(a, "offset"))
		return tsdl_signed_of(p, a, &clock->offset_cycles);
	if (tsdl_is_named(a, "uuid"))
		return tsdl_uuid_of(p, a, clock->uuid, &clock->has_uuid);
	if (tsdl_is_named(a, "absolute"))
		clock->is_absolute = a->value.is_number
					     ? a->value.number
					     : a->value.text && (!strcmp(a->value.text, "true") ||
								 !strcmp(a->value.text, "TRUE"));
	else if (!tsdl_is_named(a, "precision") && !tsdl_is_named(a, "description"))
		p->trace->nr_ignored++;
	return 0;
}

static int tsdl_clock(struct tsdl *p)
{
	const struct tsdl_token at = p->token;
	struct ctf_clock *clock = arena_alloc(&p->trace->arena, sizeof(*clock));

	if (!clock)
		return err_nomem();
	clock->freq = 1000000000;
	TRY(tsdl_block(p, clock, tsdl_take_clock));
	if (!clock->name)
		return tsdl_fail_at(p, at.line, at.column, "the clock has no name");
	if (!clock->freq)
		return tsdl_fail_at(p, at.line, at.column, "the frequency of the clock is 0");
	if (p->trace->clocks.n >= CTF_MOST_DEPTH)
		return tsdl_fail_at(p, at.line, at.column, "there are more than %d clocks",
				    CTF_MOST_DEPTH);
	return vec_push(&p->trace->clocks, clock) < 0 ? err_nomem() : 0;
}

/* ---- stream, event --------------------------------------------------------------------------- */

static int tsdl_take_stream(struct tsdl *p, void *ctx, const struct attribute *a)
{
	struct ctf_stream_class *stream = ctx;

	if (tsdl_is_named(a, "id")) {
		stream->has_id = true;
		return tsdl_number_of(p, a, &stream->id);
	}
	if (tsdl_is_named(a, "packet.context"))
		return tsdl_type_of(p, a, &stream->packet_context);
	if (tsdl_is_named(a, "event.header"))
		return tsdl_type_of(p, a, &stream->event_header);
	if (tsdl_is_named(a, "event.context"))
		return tsdl_type_of(p, a, &stream->event_context);
	p->trace->nr_ignored++;
	return 0;
}

static int tsdl_stream(struct tsdl *p)
{
	struct ctf_trace *t = p->trace;
	const struct tsdl_token at = p->token;
	struct ctf_stream_class *stream = arena_alloc(&t->arena, sizeof(*stream));

	if (!stream)
		return err_nomem();
	if (t->streams.n >= CTF_MOST_STREAMS)
		return tsdl_fail(p, "there are more than %d streams", CTF_MOST_STREAMS);
	if (vec_push(&t->streams, stream) < 0)
		return err_nomem();
	TRY(tsdl_block(p, stream, tsdl_take_stream));
	for (size_t i = 0; i + 1 < t->streams.n; i++)
		if (t->streams.v[i]->id == stream->id)
			return tsdl_fail_at(p, at.line, at.column,
					    "there are two streams of id %llu",
					    (unsigned long long)stream->id);
	return 0;
}

static int tsdl_take_event(struct tsdl *p, void *ctx, const struct attribute *a)
{
	struct ctf_event_class *event = ctx;

	if (tsdl_is_named(a, "name"))
		return tsdl_text_of(p, a, &event->name);
	if (tsdl_is_named(a, "id"))
		return tsdl_number_of(p, a, &event->id);
	if (tsdl_is_named(a, "stream_id")) {
		event->has_stream_id = true;
		return tsdl_number_of(p, a, &event->stream_id);
	}
	if (tsdl_is_named(a, "loglevel")) {
		uint64_t level;

		TRY(tsdl_number_of(p, a, &level));
		event->log_level = level <= 14 ? (int64_t)level : -1;
		return 0;
	}
	if (tsdl_is_named(a, "model.emf.uri"))
		return tsdl_text_of(p, a, &event->uri);
	if (tsdl_is_named(a, "context"))
		return tsdl_type_of(p, a, &event->context);
	if (tsdl_is_named(a, "fields"))
		return tsdl_type_of(p, a, &event->fields);
	p->trace->nr_ignored++;
	return 0;
}

static int tsdl_event(struct tsdl *p)
{
	struct ctf_trace *t = p->trace;
	const struct tsdl_token at = p->token;
	struct ctf_event_class *event = arena_alloc(&t->arena, sizeof(*event));

	if (!event)
		return err_nomem();
	event->log_level = -1;
	if (t->events.n >= CTF_MOST_EVENTS)
		return tsdl_fail(p, "there are more than %d events", CTF_MOST_EVENTS);
	if (vec_push(&t->events, event) < 0)
		return err_nomem();
	TRY(tsdl_block(p, event, tsdl_take_event));
	if (!event->name)
		return tsdl_fail_at(p, at.line, at.column, "the event has no name");
	return 0;
}

static int tsdl_take_ignored(struct tsdl *p, void *ctx __attribute__((unused)),
			     const struct attribute *a __attribute__((unused)))
{
	p->trace->nr_ignored++;
	return 0;
}

static int tsdl_callsite(struct tsdl *p)
{
	return tsdl_block(p, NULL, tsdl_take_ignored);
}

static int tsdl_env(struct tsdl *p)
{
	return tsdl_block(p, NULL, tsdl_take_env);
}

/* ---- the text -------------------------------------------------------------------------------- */

static int tsdl_statement(struct tsdl *p)
{
	static const struct {
		const char *word;
		int (*read)(struct tsdl *p);
	} blocks[] = { { "trace", tsdl_trace }, { "env", tsdl_env },
		       { "clock", tsdl_clock }, { "stream", tsdl_stream },
		       { "event", tsdl_event }, { "callsite", tsdl_callsite } };
	const struct ctf_type *type;
	char room[80];
	int r = tsdl_declaration(p);

	if (r)
		return r;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		r = tsdl_take_word(p, blocks[i].word);
		if (r < 0)
			return r;
		if (r)
			return blocks[i].read(p);
	}
	if (!tsdl_is_word(p, "struct") && !tsdl_is_word(p, "variant") && !tsdl_is_word(p, "enum"))
		return tsdl_fail(p, "expected a block or a type, found %s", tsdl_found(p, room));
	TRY(tsdl_specifier(p, &type));
	return tsdl_expect(p, ';');
}

int ctf_tsdl_parse(struct ctf_trace *t, const char *text, size_t len)
{
	struct tsdl p = { .trace = t, .at = text, .end = text + len, .line = 1 };
	int r;

	p.line_start = text;
	r = tsdl_advance(&p);
	while (r >= 0 && p.token.kind != TOKEN_END)
		r = tsdl_statement(&p);
	vec_done(&p.names);
	hash64_done(&p.name_of);
	if (r < 0)
		return r;
	if (!p.has_trace)
		return err_set(-EBADMSG, "%s: there is no block 'trace'", t->path);
	return 0;
}
