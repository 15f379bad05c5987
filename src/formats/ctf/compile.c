/* SPDX-License-Identifier: MIT */
#include "formats/ctf/compile.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

enum scope {
	SCOPE_PACKET_HEADER,
	SCOPE_PACKET_CONTEXT,
	SCOPE_EVENT_HEADER,
	SCOPE_STREAM_CONTEXT,
	SCOPE_EVENT_CONTEXT,
	SCOPE_FIELDS,
	NR_SCOPES
};

static const char *const scope_names[NR_SCOPES] = {
	"trace.packet.header",  "stream.packet.context", "stream.event.header",
	"stream.event.context", "event.context",         "event.fields",
};

struct compiler {
	struct ctf_trace *t;
	struct ctf_stream_class *stream;
	struct ctf_event_class *event;
	enum scope scope;
	VEC(struct ctf_step) steps; /* of the program being made */
	VEC(uint32_t) open;         /* steps that contain the one being made, outermost first */
	VEC(struct ctf_choice) choices;
	uint32_t names_left; /* to compare, so that hostile metadata end */
};

enum { MOST_COMPARED = 1 << 26 };

static bool compile_is_same(struct compiler *c, const char *a, const char *b)
{
	c->names_left -= c->names_left > 0;
	return c->names_left && !strcmp(a, b);
}

static int compile_fail(const struct compiler *c, const struct ctf_path *at, const char *name,
			const char *what)
{
	const char *event = c->event && c->scope >= SCOPE_EVENT_CONTEXT ? c->event->name : NULL;
	char place[32] = "";

	if (at && at->line)
		snprintf(place, sizeof(place), ":%u:%u", at->line, at->column);
	return err_set(-EBADMSG, "%s%s: %s%s%s%s: '%.80s' %s", c->t->path, place,
		       event ? "event '" : "", event ? event : "", event ? "', " : "",
		       scope_names[c->scope], name ? name : "", what);
}

/* ---- references ------------------------------------------------------------------------------ */

static struct ctf_program *compile_program_of(struct compiler *c, enum scope scope)
{
	switch (scope) {
	case SCOPE_PACKET_HEADER:
		return &c->t->packet_header_program;
	case SCOPE_PACKET_CONTEXT:
		return c->stream ? &c->stream->packet_context_program : NULL;
	case SCOPE_EVENT_HEADER:
		return c->stream ? &c->stream->event_header_program : NULL;
	case SCOPE_STREAM_CONTEXT:
		return c->stream ? &c->stream->event_context_program : NULL;
	case SCOPE_EVENT_CONTEXT:
		return c->event ? &c->event->context_program : NULL;
	case SCOPE_FIELDS:
		return c->event ? &c->event->fields_program : NULL;
	case NR_SCOPES:
		break;
	}
	return NULL;
}

/* The member `name` of the struct or variant at step `in`, before the step `limit`. 0 if none. */
static uint32_t compile_member(struct compiler *c, const struct ctf_step *steps, uint32_t in,
			       uint32_t limit, const char *name)
{
	const uint32_t end = steps[in].next && steps[in].next < limit ? steps[in].next : limit;

	for (uint32_t i = in + 1; i < end && c->names_left; i = steps[i].next) {
		if (steps[i].name && compile_is_same(c, steps[i].name, name))
			return i;
		if (!steps[i].next) /* contains the step being made */
			return 0;
	}
	return 0;
}

/* Follows the words of a path from step `at` down. 0 if there is no such field. */
static uint32_t compile_descend(struct compiler *c, const struct ctf_step *steps, uint32_t at,
				uint32_t limit, const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr && at; i++) {
		while (steps[at].kind == CTF_ARRAY || steps[at].kind == CTF_SEQUENCE)
			at++; /* the current element */
		if (steps[at].kind != CTF_STRUCT && steps[at].kind != CTF_VARIANT)
			return 0;
		at = compile_member(c, steps, at, limit, words[i]);
	}
	return at;
}

/* Splits an absolute path: "stream.packet.context.x". Returns the words of the scope; 0: none. */
static size_t compile_scope_of(const struct ctf_path *path, enum scope *ret)
{
	for (enum scope scope = 0; scope < NR_SCOPES; scope++) {
		const char *p = scope_names[scope];
		size_t i = 0;

		for (; i < path->nr; i++) {
			const size_t n = strlen(path->words[i]);

			if (strncmp(p, path->words[i], n) != 0 || (p[n] && p[n] != '.'))
				break;
			p += n;
			if (!*p) {
				*ret = scope;
				return i + 1 < path->nr ? i + 1 : 0;
			}
			p++;
		}
	}
	return 0;
}

static struct ctf_step *compile_find_absolute(struct compiler *c, const struct ctf_path *path)
{
	enum scope scope = c->scope;
	const size_t words = compile_scope_of(path, &scope);
	const struct ctf_program *program = compile_program_of(c, scope);
	struct ctf_step *steps = c->steps.v;
	uint32_t limit = (uint32_t)c->steps.n, at = 0;

	if (!words || scope > c->scope || !program)
		return NULL;
	if (scope != c->scope) {
		c->stream->is_header_needed |= scope == SCOPE_EVENT_HEADER;
		steps = program->steps;
		limit = program->nr;
	}
	if (!limit)
		return NULL;
	at = compile_member(c, steps, 0, limit, path->words[words]);
	at = at ? compile_descend(c, steps, at, limit, path->words + words + 1,
				  path->nr - words - 1)
		: 0;
	return at ? &steps[at] : NULL;
}

static struct ctf_step *compile_find_relative(struct compiler *c, const struct ctf_path *path)
{
	struct ctf_step *steps = c->steps.v;
	const uint32_t limit = (uint32_t)c->steps.n - 1; /* the last one refers */

	for (size_t i = c->open.n; i--;) {
		const uint32_t in = c->open.v[i];
		uint32_t at;

		if (steps[in].kind != CTF_STRUCT)
			continue;
		at = compile_member(c, steps, in, limit, path->words[0]);
		if (at)
			at = compile_descend(c, steps, at, limit, path->words + 1, path->nr - 1);
		if (at)
			return &steps[at];
	}
	return NULL;
}

static int compile_ref(struct compiler *c, const struct ctf_type *type, const char *name,
		       struct ctf_step **ret)
{
	struct ctf_step *to = type->path.nr ? compile_find_absolute(c, &type->path) : NULL;

	if (!to && type->path.nr && !type->path.is_absolute)
		to = compile_find_relative(c, &type->path);
	if (!to)
		return compile_fail(c, &type->path, type->path.nr ? type->path.words[0] : name,
				    "is no field in front of the one that refers to it");
	if ((to->kind != CTF_INT && to->kind != CTF_ENUM) ||
	    (type->kind == CTF_SEQUENCE && to->is_signed))
		return compile_fail(c, &type->path, type->path.words[0],
				    type->kind == CTF_SEQUENCE
					    ? "is no unsigned integer, as a length must be"
					    : "is no integer, as a tag must be");
	if (to->slot == CTF_NO_SLOT)
		to->slot = c->t->nr_slots++;
	c->steps.v[c->steps.n - 1].ref = to->slot;
	*ret = to;
	return 0;
}

/* ---- roles ----------------------------------------------------------------------------------- */

/* CTF 1.8 knows the fields that describe packets and events by their names. */
static enum ctf_role compile_role_of(const struct compiler *c, const char *name)
{
	static const struct {
		const char *name;
		enum scope scope;
		enum ctf_role role;
	} roles[] = {
		{ "magic", SCOPE_PACKET_HEADER, CTF_ROLE_MAGIC },
		{ "uuid", SCOPE_PACKET_HEADER, CTF_ROLE_UUID },
		{ "stream_id", SCOPE_PACKET_HEADER, CTF_ROLE_STREAM_ID },
		{ "stream_instance_id", SCOPE_PACKET_HEADER, CTF_ROLE_INSTANCE_ID },
		{ "content_size", SCOPE_PACKET_CONTEXT, CTF_ROLE_CONTENT_SIZE },
		{ "packet_size", SCOPE_PACKET_CONTEXT, CTF_ROLE_PACKET_SIZE },
		{ "timestamp_begin", SCOPE_PACKET_CONTEXT, CTF_ROLE_BEGIN },
		{ "timestamp_end", SCOPE_PACKET_CONTEXT, CTF_ROLE_END },
		{ "events_discarded", SCOPE_PACKET_CONTEXT, CTF_ROLE_DISCARDED },
		{ "packet_seq_num", SCOPE_PACKET_CONTEXT, CTF_ROLE_PACKET_NUMBER },
		{ "id", SCOPE_EVENT_HEADER, CTF_ROLE_EVENT_ID },
	};

	for (size_t i = 0; name && i < sizeof(roles) / sizeof(*roles); i++) {
		if (c->scope == roles[i].scope && !strcmp(name, roles[i].name) &&
		    (c->open.n == 1 || c->scope == SCOPE_EVENT_HEADER))
			return roles[i].role;
	}
	return CTF_ROLE_NONE;
}

/* The clock that a field without a map shows all the same; NULL if none. */
static const struct ctf_clock *compile_implied_clock(struct compiler *c,
						     const struct ctf_step *step)
{
	struct ctf_trace *t = c->t;
	const bool is_time =
		step->role == CTF_ROLE_BEGIN || step->role == CTF_ROLE_END ||
		(c->scope == SCOPE_EVENT_HEADER && step->name && !strcmp(step->name, "timestamp"));

	if (!is_time || t->clocks.n > 1)
		return NULL;
	return t->clocks.n ? t->clocks.v[0] : &t->implicit_clock;
}

/* CTF 2: the stream names its clock. */
static int compile_default_clock(struct compiler *c, struct ctf_step *step)
{
	const char *id = c->stream ? c->stream->clock_id : NULL;

	vec_foreach(clock, &c->t->clocks) {
		if (id && !strcmp((*clock)->name, id))
			step->clock = *clock;
	}
	if (!step->clock)
		return compile_fail(c, NULL, step->name,
				    "shows the default clock of a stream that has none");
	if (c->scope == SCOPE_PACKET_CONTEXT && !step->role)
		step->role = CTF_ROLE_BEGIN;
	return 0;
}

static int compile_take_clock(struct compiler *c, struct ctf_step *step)
{
	if (step->is_signed || step->kind == CTF_FLOAT)
		step->clock = NULL;
	if (!step->clock)
		return 0;
	step->is_hidden = true;
	if (!c->stream)
		return 0;
	if (c->stream->clock && c->stream->clock != step->clock)
		return compile_fail(c, NULL, step->name,
				    "is of another clock than earlier fields of its stream");
	c->stream->clock = step->clock;
	return 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int compile_type(struct compiler *c, const struct ctf_type *type,
			const struct ctf_member *as);

static int compile_number(struct compiler *c, struct ctf_step *step)
{
	const struct ctf_type *type = step->type;

	step->bits = (uint8_t)type->bits;
	step->base = type->base;
	step->is_signed = type->is_signed;
	step->is_text = type->is_text;
	step->is_leb = type->is_leb;
	step->is_big = (type->order ? type->order : c->t->order) == SONDE_ORDER_BIG;
	step->clock = type->clock;
	step->role = (uint8_t)(c->t->major == 1 && !type->is_signed ? compile_role_of(c, step->name)
								    : type->role);
	if (!step->clock && c->t->major == 1)
		step->clock = compile_implied_clock(c, step);
	if (type->is_default_clock)
		TRY(compile_default_clock(c, step));
	step->is_hidden = step->role != CTF_ROLE_NONE;
	if (step->role == CTF_ROLE_DISCARDED && c->stream)
		c->stream->discarded_bits = step->bits;
	if (c->scope == SCOPE_PACKET_CONTEXT && c->open.n == 1 && step->name &&
	    !strcmp(step->name, "cpu_id") && step->kind != CTF_FLOAT)
		c->stream->cpu_slot = step->slot = c->t->nr_slots++;
	return compile_take_clock(c, step);
}

static int compile_enter(struct compiler *c, uint32_t step)
{
	if (c->open.n >= CTF_MOST_DEPTH)
		return compile_fail(c, NULL, c->steps.v[step].name, "is nested more than 64 deep");
	return vec_push(&c->open, step) < 0 ? err_nomem() : 0;
}

static uint32_t compile_widest(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static int compile_struct(struct compiler *c, uint32_t at)
{
	const struct ctf_type *type = c->steps.v[at].type;

	TRY(compile_enter(c, at));
	for (uint32_t i = 0; i < type->nr_members; i++) {
		const uint32_t member = (uint32_t)c->steps.n;

		TRY(compile_type(c, type->members[i].type, &type->members[i]));
		c->steps.v[at].align =
			compile_widest(c->steps.v[at].align, c->steps.v[member].align);
	}
	c->open.n--;
	return 0;
}

static int compile_array(struct compiler *c, uint32_t at)
{
	const struct ctf_type *type = c->steps.v[at].type;
	struct ctf_step *ref;

	if (c->t->major == 1 && compile_role_of(c, c->steps.v[at].name) == CTF_ROLE_UUID)
		c->steps.v[at].is_hidden = true;
	if (type->role == CTF_ROLE_UUID)
		c->steps.v[at].is_hidden = true;
	c->steps.v[at].count = type->length;
	if (type->length_env) {
		const struct ctf_env *env = ctf_env_find(c->t, type->length_env);

		if (!env || env->text || env->number < 0 ||
		    (uint64_t)env->number > CTF_MOST_ELEMENTS)
			return compile_fail(c, &type->path, type->length_env,
					    "is no number of env that can be a length");
		c->steps.v[at].count = (uint64_t)env->number;
	}
	if (type->kind == CTF_SEQUENCE)
		TRY(compile_ref(c, type, c->steps.v[at].name, &ref));
	TRY(compile_enter(c, at));
	TRY(compile_type(c, type->of, NULL));
	c->open.n--;
	c->steps.v[at].align = compile_widest(type->align, c->steps.v[at + 1].align);
	return 0;
}

static int compile_add_choice(struct compiler *c, uint64_t from, uint64_t to, uint32_t step)
{
	return vec_push(&c->choices, (struct ctf_choice){ from, to, step }) < 0 ? err_nomem() : 0;
}

/* Which values of the tag choose the option that was compiled last. */
static int compile_choices(struct compiler *c, const struct ctf_type *tag,
			   const struct ctf_member *option, uint32_t step)
{
	for (size_t i = 0; i < option->nr_ranges; i++)
		TRY(compile_add_choice(c, option->ranges[i].from, option->ranges[i].to, step));
	if (option->ranges)
		return 0;
	for (uint32_t i = 0; tag->kind == CTF_ENUM && i < tag->nr_labels; i++)
		if (compile_is_same(c, tag->labels[i].text, option->name))
			TRY(compile_add_choice(c, tag->labels[i].from, tag->labels[i].to, step));
	return 0; /* an option that no label chooses is never present */
}

static int compile_variant(struct compiler *c, uint32_t at)
{
	const struct ctf_type *type = c->steps.v[at].type, *tag_type;
	struct ctf_step *tag;
	const size_t first = c->choices.n;
	struct ctf_choice *choices;

	if (!type->has_tag)
		return compile_fail(c, NULL, c->steps.v[at].name, "is a variant without a tag");
	TRY(compile_ref(c, type, c->steps.v[at].name, &tag));
	if (c->t->major == 1 && tag->kind != CTF_ENUM)
		return compile_fail(c, &type->path, type->path.words[0],
				    "is no enum, as the tag of a variant must be");
	c->steps.v[at].is_tag_signed = tag->is_signed;
	c->steps.v[at].is_optional = type->is_optional;
	tag_type = tag->type;
	TRY(compile_enter(c, at));
	for (uint32_t i = 0; i < type->nr_members; i++) {
		const uint32_t option = (uint32_t)c->steps.n;

		TRY(compile_type(c, type->members[i].type, &type->members[i]));
		TRY(compile_choices(c, tag_type, &type->members[i], option));
	}
	c->open.n--;
	choices = ctf_copy(c->t, c->choices.v ? c->choices.v + first : NULL, c->choices.n - first,
			   sizeof(*choices));
	if (!choices)
		return err_nomem();
	c->steps.v[at].choices = choices;
	c->steps.v[at].nr_choices = (uint32_t)(c->choices.n - first);
	c->choices.n = first;
	return 0;
}

/* The name as text shows it. */
static int compile_label(struct compiler *c, struct ctf_step *step)
{
	const size_t n = strlen(step->shown);
	char *label = arena_alloc(&c->t->arena, n + 6 + CTF_LABEL_SLACK);

	if (!label)
		return err_nomem();
	memcpy(label, ", ", 2);
	memcpy(label + 2, step->shown, n);
	memcpy(label + 2 + n, " = ", 3);
	step->label = label;
	step->label_len = (uint32_t)n + 5;
	return 0;
}

static int compile_type(struct compiler *c, const struct ctf_type *type,
			const struct ctf_member *as)
{
	const uint32_t at = (uint32_t)c->steps.n;
	struct ctf_step step = {
		.kind = (uint8_t)type->kind,
		.align = type->align,
		.slot = CTF_NO_SLOT,
		.ref = CTF_NO_SLOT,
		.type = type,
		.name = as ? as->name : NULL,
		.shown = as ? as->shown : NULL,
	};
	int r = 0;

	if (as)
		TRY(compile_label(c, &step));
	if (c->t->nr_steps >= CTF_MOST_STEPS)
		return err_set(-E2BIG, "%s: the types have more than %d fields", c->t->path,
			       CTF_MOST_STEPS);
	c->t->nr_steps++;
	if (type->kind == CTF_INT || type->kind == CTF_ENUM || type->kind == CTF_FLOAT)
		TRY(compile_number(c, &step));
	if (vec_push(&c->steps, step) < 0)
		return err_nomem();
	if (type->kind == CTF_STRUCT)
		r = compile_struct(c, at);
	else if (type->kind == CTF_ARRAY || type->kind == CTF_SEQUENCE)
		r = compile_array(c, at);
	else if (type->kind == CTF_VARIANT)
		r = compile_variant(c, at);
	c->steps.v[at].next = (uint32_t)c->steps.n;
	return r;
}

static int compile_scope(struct compiler *c, enum scope scope, const struct ctf_type *type)
{
	struct ctf_program *to;

	c->scope = scope;
	to = compile_program_of(c, scope);
	if (!type || !to)
		return 0;
	c->steps.n = c->open.n = c->choices.n = 0;
	TRY(compile_type(c, type, NULL));
	to->steps = ctf_copy(c->t, c->steps.v, c->steps.n, sizeof(*c->steps.v));
	to->nr = (uint32_t)c->steps.n;
	return to->steps ? 0 : err_nomem();
}

/* ---- classes --------------------------------------------------------------------------------- */

static int compile_events(struct compiler *c)
{
	struct ctf_stream_class *stream = c->stream;

	for (size_t i = 0; i < stream->events.n; i++) {
		c->event = stream->events.v[i];
		if (hash64_find(&stream->event_of_id, c->event->id) != HASH64_EMPTY)
			return err_set(-EBADMSG,
				       "%s: two events of stream %llu have the id %llu ('%.80s')",
				       c->t->path, (unsigned long long)stream->id,
				       (unsigned long long)c->event->id, c->event->name);
		if (hash64_put(&stream->event_of_id, c->event->id, i) < 0)
			return err_nomem();
		TRY(compile_scope(c, SCOPE_EVENT_CONTEXT, c->event->context));
		TRY(compile_scope(c, SCOPE_FIELDS, c->event->fields));
	}
	c->event = NULL;
	return 0;
}

/* Gives each event to its stream. */
static int compile_assign_events(struct ctf_trace *t)
{
	if (!t->streams.n) {
		struct ctf_stream_class *stream = arena_alloc(&t->arena, sizeof(*stream));

		if (!stream || vec_push(&t->streams, stream) < 0)
			return err_nomem();
	}
	vec_foreach(e, &t->events) {
		struct ctf_event_class *event = *e;
		struct ctf_stream_class *to = NULL;

		vec_foreach(s, &t->streams) {
			if (event->has_stream_id ? (*s)->id == event->stream_id : t->streams.n == 1)
				to = *s;
		}
		if (!to)
			return err_set(-EBADMSG, "%s: the event '%.100s' belongs to no stream",
				       t->path, event->name);
		if (vec_push(&to->events, event) < 0)
			return err_nomem();
	}
	return 0;
}

static int compile_all(struct compiler *c)
{
	struct ctf_trace *t = c->t;

	TRY(compile_assign_events(t));
	TRY(compile_scope(c, SCOPE_PACKET_HEADER, t->packet_header));
	for (size_t i = 0; i < t->streams.n; i++) {
		c->stream = t->streams.v[i];
		c->stream->place = (uint32_t)i;
		c->stream->cpu_slot = c->stream->compact_slot = CTF_NO_SLOT;
		TRY(compile_scope(c, SCOPE_PACKET_CONTEXT, c->stream->packet_context));
		TRY(compile_scope(c, SCOPE_EVENT_HEADER, c->stream->event_header));
		TRY(compile_scope(c, SCOPE_STREAM_CONTEXT, c->stream->event_context));
		TRY(compile_events(c));
	}
	for (size_t i = 0; i < t->events.n; i++)
		t->events.v[i]->place = (uint32_t)i;
	return 0;
}

#define NS_IN_S INT64_C(1000000000)

/* Complete seconds of the offset in cycles are carried, so that its rest is less than one. */
static void compile_clock(struct ctf_clock *clock)
{
	const int64_t freq = clock->freq > INT64_MAX ? INT64_MAX : (int64_t)clock->freq;
	const __int128 ns = ((__int128)clock->offset_s + clock->offset_cycles / freq) * NS_IN_S +
			    (__int128)(clock->offset_cycles % freq) * NS_IN_S / freq;

	clock->base_ns = ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

int ctf_compile(struct ctf_trace *t)
{
	struct compiler c = { .t = t, .names_left = MOST_COMPARED };
	int r;

	t->implicit_clock = (struct ctf_clock){ .name = "", .freq = 1000000000 };
	vec_foreach(clock, &t->clocks)
		compile_clock(*clock);
	r = compile_all(&c);
	if (!c.names_left)
		r = err_set(-E2BIG, "%s: lengths and tags refer to more fields than sonde compares",
			    t->path);
	vec_done(&c.steps);
	vec_done(&c.open);
	vec_done(&c.choices);
	return r < 0 ? r : ctf_finish(t);
}
