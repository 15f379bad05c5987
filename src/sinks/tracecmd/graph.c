/* SPDX-License-Identifier: MIT */
/* Functions: nested by the names of their callers, or by the depth that the event has. */

#include "sinks/tracecmd/tracecmd.h"

enum { MARK_COLUMNS = 13, NUMBER_COLUMNS = 7, MOST_CPUS = 8192, MOST_DEPTH = 4096 };

/* prefix: in front of an address without a name. */
static void graph_put_symbol(struct tracecmd_sink *s, const struct recording *rec, uint64_t addr,
			     const char *prefix, struct outbuf *out)
{
	uint64_t off;
	const char *name = tracecmd_symbol(s, rec, addr, &off);

	if (name) {
		outbuf_str(out, name);
		return;
	}
	outbuf_str(out, prefix);
	outbuf_hex(out, addr);
}

/* ---- function -------------------------------------------------------------------------------- */

/* The stack of the event's cpu; NULL if there is no memory for it. */
static struct tracecmd_stack *graph_stack_of(struct tracecmd_input *in, int32_t cpu)
{
	const size_t want = (size_t)(uint32_t)cpu % MOST_CPUS;

	while (in->stacks.n <= want)
		if (vec_push(&in->stacks, (struct tracecmd_stack){ 0 }) < 0)
			return NULL;
	return &in->stacks.v[want];
}

/* Puts the name at a depth. Deeper names stay until a call at their depth overwrites them. */
static void graph_stack_set(struct tracecmd_stack *stack, size_t depth, uint32_t name)
{
	if (depth < stack->names.n)
		stack->names.v[depth] = name;
	else if (depth < MOST_DEPTH && vec_push(&stack->names, name) < 0)
		err_clear();
}

/*
 * The depth of the child of a function, by its name: one below the first place of that name. A
 * child without a name (NULL) is not kept.
 */
static size_t graph_find_depth(struct tracecmd_stack *stack, uint32_t parent, const uint32_t *child)
{
	for (size_t i = 0; i < stack->names.n; i++) {
		if (stack->names.v[i] == parent) {
			if (child)
				graph_stack_set(stack, i + 1, *child);
			return i;
		}
	}
	graph_stack_set(stack, 0, parent);
	if (child)
		graph_stack_set(stack, 1, *child);
	return 0;
}

/* Fields: ip, parent_ip. */
bool tracecmd_function_text(struct tracecmd_sink *s, const struct tracecmd_type *type,
			    const struct event *ev, struct outbuf *out)
{
	struct tracecmd_input *in = &s->inputs.v[ev->recording->nr];
	const uint64_t ip = tracecmd_number(type, 0, ev), parent_ip = tracecmd_number(type, 1, ev);
	struct tracecmd_stack *stack = graph_stack_of(in, ev->pub.cpu);
	uint32_t child = 0, parent = 0;
	uint64_t off;
	size_t depth = 0;

	if (stack && tracecmd_symbol_id(s, ev->recording, parent_ip, &parent, &off)) {
		const bool has_name = tracecmd_symbol_id(s, ev->recording, ip, &child, &off);

		depth = graph_find_depth(stack, parent, has_name ? &child : NULL);
	}
	outbuf_pad(out, ' ', 3 * depth);
	graph_put_symbol(s, ev->recording, ip, "0x", out);
	return true;
}

/* ---- function_graph -------------------------------------------------------------------------- */

/* "! 201.200 us |  ": a number of seven digits has no fraction. */
static void graph_put_duration(struct outbuf *out, uint64_t ns)
{
	const uint64_t us = ns / 1000;
	size_t start;

	outbuf_str(out, ns > 1000000000 ? "$ "
			: ns > 1000000  ? "# "
			: ns > 100000   ? "! "
			: ns > 10000    ? "+ "
					: "  ");
	start = out->len;
	outbuf_u64(out, us);
	if (out->len - start < NUMBER_COLUMNS) {
		outbuf_char(out, '.');
		outbuf_u64_width(out, ns % 1000, 3, '0');
	}
	start = out->len - start;
	outbuf_str(out, " us ");
	if (start < NUMBER_COLUMNS)
		outbuf_pad(out, ' ', NUMBER_COLUMNS - start);
	outbuf_str(out, "|  ");
}

static void graph_put_indent(struct outbuf *out, uint64_t depth)
{
	outbuf_pad(out, ' ', 2 * (size_t)(depth < MOST_DEPTH ? depth : MOST_DEPTH));
}

/* Fields: func, depth. The text is written when the next event is known. */
bool tracecmd_entry_text(struct tracecmd_sink *s, const struct tracecmd_type *type,
			 const struct event *ev, struct outbuf *out)
{
	const struct tracecmd_input *in = &s->inputs.v[ev->recording->nr];

	s->entry = (struct tracecmd_entry){
		.is_waiting = true,
		.recording = ev->recording,
		.buffer = in->view ? tracedat_buffer_of(in->view, ev) : "",
		.pid = ev->pub.tid,
		.func = tracecmd_number(type, 0, ev),
		.depth = (unsigned)tracecmd_number(type, 1, ev),
		.at = out->len,
	};
	return true;
}

/* Fields: func, depth, calltime, rettime. */
bool tracecmd_exit_text(struct tracecmd_sink *s, const struct tracecmd_type *type,
			const struct event *ev, struct outbuf *out)
{
	(void)s;
	graph_put_duration(out, tracecmd_number(type, 3, ev) - tracecmd_number(type, 2, ev));
	graph_put_indent(out, tracecmd_number(type, 1, ev));
	outbuf_char(out, '}');
	return true;
}

/* True if the event is the exit that belongs to the entry. The function is a leaf then. */
static bool graph_is_exit_of(const struct tracecmd_sink *s, const struct event *ev)
{
	const struct tracecmd_type *type;

	if (!ev)
		return false;
	type = &s->types.v[ev->schema->id];
	return type->handler && type->handler->text == tracecmd_exit_text &&
	       ev->pub.tid == s->entry.pid && tracecmd_number(type, 0, ev) == s->entry.func;
}

bool tracecmd_entry_end(struct tracecmd_sink *s, const struct event *ev)
{
	struct tracecmd_entry *e = &s->entry;
	const struct tracecmd_input *in = &s->inputs.v[e->recording->nr];
	struct outbuf *out = &s->writer.out, text = { 0 };
	bool is_leaf;

	if (ev && (ev->recording != e->recording ||
		   (in->view && strcmp(tracedat_buffer_of(in->view, ev), e->buffer) != 0)))
		return false;
	e->is_waiting = false;
	is_leaf = graph_is_exit_of(s, ev);
	if (is_leaf) {
		const struct tracecmd_type *type = &s->types.v[ev->schema->id];

		graph_put_duration(&text,
				   tracecmd_number(type, 3, ev) - tracecmd_number(type, 2, ev));
	} else {
		outbuf_pad(&text, ' ', MARK_COLUMNS);
		outbuf_str(&text, "|  ");
	}
	graph_put_indent(&text, e->depth);
	graph_put_symbol(s, e->recording, e->func, "", &text);
	outbuf_str(&text, is_leaf ? "();" : "() {");
	/* Lines of other buffers may have been written after the entry's. */
	if (!text.failed && outbuf_room(out, text.len)) {
		memmove(out->data + e->at + text.len, out->data + e->at, out->len - e->at);
		memcpy(out->data + e->at, text.data, text.len);
		outbuf_advance(out, text.len);
	} else {
		out->failed = true;
	}
	outbuf_done(&text);
	return is_leaf;
}
