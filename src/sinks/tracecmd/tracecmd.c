/* SPDX-License-Identifier: MIT */
/* The sink: event types, lines, losses, options. */

#include "sinks/tracecmd/tracecmd.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "recording/locate.h"
#include "recording/text.h"
#include "sinks/text/terminal.h"
#include "sinks/text_only.h"
#include "sources/ftracetext/view.h"

static struct tracecmd_sink *tracecmd_sink_of(struct sink *s)
{
	return (struct tracecmd_sink *)s;
}

/* ---- event types ----------------------------------------------------------------------------- */

static const struct sonde_field *tracecmd_find_field(const struct sonde_schema *sc,
						     const char *name)
{
	return schema_find_field(sc, name, strlen(name));
}

/* The handler needs its fields; without one of them the print format is used. */
static void tracecmd_find_handler(struct tracecmd_type *type, const struct sonde_schema *sc)
{
	const struct tracecmd_handler *h = tracecmd_handler_find(sc->system, sc->event);

	if (!h)
		return;
	for (unsigned i = 0; i < TRACECMD_MOST_FIELDS && h->fields[i]; i++) {
		const bool may_miss = *h->fields[i] == '?';

		type->fields[i] = tracecmd_find_field(sc, h->fields[i] + may_miss);
		if (!type->fields[i] && !may_miss)
			return;
	}
	type->handler = h;
}

static int tracecmd_meet(struct tracecmd_sink *s, uint32_t schema)
{
	while (s->types.n <= schema) {
		const struct sonde_schema *sc =
			schema_at(&s->recordings->schemas, (uint32_t)s->types.n);
		struct tracecmd_type type = { 0 };

		if (sc && sc->kind == SONDE_TRACEPOINT) {
			tracecmd_find_handler(&type, sc);
			type.flags = tracecmd_find_field(sc, "common_flags");
			type.preempt = tracecmd_find_field(sc, "common_preempt_count");
			type.migrate = tracecmd_find_field(sc, "common_migrate_disable");
			type.lock_depth = tracecmd_find_field(sc, "common_lock_depth");
		}
		TRY(vec_push(&s->types, type));
	}
	return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char *tracecmd_buffer_of(const struct tracecmd_input *in, const struct event *ev)
{
	return in->view ? tracedat_buffer_of(in->view, ev) : "";
}

static int tracecmd_put_loss(struct tracecmd_sink *s, struct tracecmd_input *in,
			     const struct event *ev)
{
	const struct source_report report = source_read_report(in->rec->source, ev);
	const struct sonde_field *counted = tracecmd_find_field(ev->schema, "is_counted");
	struct outbuf *out = &s->writer.out;

	if (report.kind != REPORT_LOST || !cpu_list_holds(&in->rec->early.cpus, ev->pub.cpu))
		return 0;
	tracecmd_put_prefix(s, in, tracecmd_buffer_of(in, ev), out);
	outbuf_fmt(out, "CPU:%d [", ev->pub.cpu);
	if (!counted || field_u64(counted, ev->pub.bytes, ev->pub.bytes_len, false)) {
		outbuf_u64(out, report.lost);
		outbuf_char(out, ' ');
	}
	outbuf_str(out, "EVENTS DROPPED]\n");
	in->has_no_prefix = in->view != NULL;
	return 0;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int tracecmd_read_symbols(struct tracecmd_input *in)
{
	in->symbols_tried = true;
	TRY(source_read_kallsyms(in->rec->source, &in->kallsyms));
	return in->kallsyms.text
		       ? tracecmd_symbols_read(&in->symbols, in->kallsyms.text, in->kallsyms.len)
		       : 0;
}

bool tracecmd_symbol_id(struct tracecmd_sink *s, const struct recording *rec, uint64_t addr,
			uint32_t *ret_id, uint64_t *ret_off)
{
	struct tracecmd_input *in = &s->inputs.v[rec->nr];
	struct tracecmd_symbol *symbol;

	if (!in->view) {
		const char *name = recording_kernel_symbol(in->rec, addr, ret_off);

		return name && strpool_intern(&s->names, name, strlen(name), ret_id) >= 0;
	}
	if (!in->symbols_tried && tracecmd_read_symbols(in) < 0)
		err_clear();
	symbol = tracecmd_symbols_find(&in->symbols, addr);
	if (!symbol ||
	    (!symbol->id && strpool_intern(&s->names, symbol->name, symbol->len, &symbol->id) < 0))
		return false;
	*ret_off = addr - symbol->addr;
	*ret_id = symbol->id;
	return true;
}

const char *tracecmd_symbol(struct tracecmd_sink *s, const struct recording *rec, uint64_t addr,
			    uint64_t *ret_off)
{
	uint32_t id;

	return tracecmd_symbol_id(s, rec, addr, &id, ret_off) ? strpool_text(&s->names, id) : NULL;
}

static const char *tracecmd_env_symbol(void *ctx, uint64_t addr, uint64_t *ret_off)
{
	struct tracecmd_sink *s = ctx;

	return tracecmd_symbol(s, s->printing, addr, ret_off);
}

static const char *tracecmd_env_printk(void *ctx, uint64_t addr)
{
	struct tracecmd_sink *s = ctx;

	return recording_printk(s->printing, addr);
}

/* Print formats as libtraceevent 1.7 runs them. */
static void tracecmd_put_print(struct tracecmd_sink *s, struct tracecmd_type *type,
			       const struct event *ev, struct outbuf *out)
{
	const struct printfmt_env env = {
		.ctx = s,
		.symbol = tracecmd_env_symbol,
		.printk = tracecmd_env_printk,
	};

	if (!type->print_tried && (ev->schema->print_fmt || s->has_raw_fields) &&
	    printfmt_compile(&type->print, ev->schema, PRINTFMT_LIBTRACEEVENT) < 0)
		err_clear();
	type->print_tried = true;
	s->printing = ev->recording;
	if (type->print && s->has_raw_fields)
		printfmt_run_fields(type->print, &env, ev->pub.bytes, ev->pub.bytes_len, out);
	else if (type->print)
		printfmt_run(type->print, &env, ev->pub.bytes, ev->pub.bytes_len, out);
	else
		recording_event_text(ev, out);
}

static void tracecmd_put_text(struct tracecmd_sink *s, struct tracecmd_type *type,
			      const struct event *ev, struct outbuf *out)
{
	const size_t start = out->len;

	if (!type->handler || s->has_raw_fields || !type->handler->text(s, type, ev, out))
		tracecmd_put_print(s, type, ev, out);
	if (out->len > start && out->data[out->len - 1] == '\n')
		out->len--;
	if (s->on_terminal && !out->failed)
		text_terminal_quiet(out, start, true);
}

/* trace-cmd's line has neither a task nor a time. */
static bool tracecmd_is_unknown(const struct event *ev)
{
	return !ev->schema->nr_fields && !strcmp(ev->schema->system, "unknown");
}

static int tracecmd_put_event(struct sink *sink, const struct event *ev)
{
	struct tracecmd_sink *s = tracecmd_sink_of(sink);
	struct tracecmd_input *in = &s->inputs.v[ev->recording->nr];
	struct outbuf *out = &s->writer.out;
	struct tracecmd_type *type;

	if (__builtin_expect(ev->pub.schema >= s->types.n, 0))
		TRY(tracecmd_meet(s, ev->pub.schema));
	if (in->latency &&
	    (ev->schema->kind == SONDE_TRACEPOINT || ev->schema->traits & SCHEMA_LOSS))
		return tracecmd_put_latency(s, in, ev);
	if (ev->schema->kind != SONDE_TRACEPOINT)
		return ev->schema->traits & SCHEMA_LOSS ? tracecmd_put_loss(s, in, ev) : 0;
	if (__builtin_expect(s->entry.is_waiting, 0) && tracecmd_entry_end(s, ev))
		return 0;
	type = &s->types.v[ev->pub.schema];
	if (__builtin_expect(s->prefix_width, 0))
		tracecmd_put_prefix(s, in, tracecmd_buffer_of(in, ev), out);
	if (tracecmd_is_unknown(ev)) {
		outbuf_str(out, "[UNKNOWN EVENT][UNKNOWN EVENT] (NULL):               "
				"[UNKNOWN EVENT]\n");
		return 0;
	}
	if (ev->pub.tid >= 0 || ev->pub.time_ns != SONDE_NO_TIME)
		TRY(tracecmd_put_head(s, in, type, ev, out));
	tracecmd_put_text(s, type, ev, out);
	outbuf_char(out, '\n');
	return s->entry.is_waiting ? 0 : fd_writer_tick(&s->writer);
}

static int tracecmd_events(struct sink *sink, const struct event *const *events, size_t nr)
{
	return sink_each(sink, events, nr, tracecmd_put_event);
}

/* ---- options --------------------------------------------------------------------------------- */

struct tracecmd_options {
	struct one_form_options refused; /* but latency */
	uint32_t ns, raw_fields;
};

static const struct key keys[] = {
	ONE_FORM_KEYS(struct tracecmd_options, refused.),
	KEY_FLAG("ns", struct tracecmd_options, ns),
	KEY_FLAG("raw-fields", struct tracecmd_options, raw_fields),
};

static int tracecmd_check_options(const struct tracecmd_options *o)
{
	struct one_form_options refused = o->refused;

	refused.text.latency = 0;
	return one_form_refuse(&refused,
			       "the lines of format=trace-cmd have their own columns (--ns, -L and "
			       "--raw-fields change them)");
}

/* ---- the sink -------------------------------------------------------------------------------- */

static int tracecmd_flush(struct sink *sink)
{
	return fd_writer_flush(&tracecmd_sink_of(sink)->writer);
}

static int tracecmd_finish(struct sink *sink, bool complete)
{
	struct tracecmd_sink *s = tracecmd_sink_of(sink);

	(void)complete;
	vec_foreach(in, &s->inputs)
		if (in->latency)
			tracecmd_put_latency_end(s, in);
	if (s->entry.is_waiting)
		tracecmd_entry_end(s, NULL);
	return tracecmd_flush(sink);
}

static void tracecmd_close(struct sink *sink)
{
	struct tracecmd_sink *s = tracecmd_sink_of(sink);

	if (!s)
		return;
	fd_writer_done(&s->writer);
	vec_foreach(type, &s->types) {
		free(type->head);
		printfmt_free(type->print);
	}
	vec_done(&s->types);
	vec_foreach(in, &s->inputs) {
		hash64_done(&in->learned);
		vec_foreach(stack, &in->stacks)
			vec_done(&stack->names);
		vec_done(&in->stacks);
		tracecmd_symbols_done(&in->symbols);
		source_kallsyms_done(&in->kallsyms);
	}
	vec_done(&s->inputs);
	strpool_done(&s->names);
	free(s);
}

static struct sink_wants tracecmd_wants(const struct sink_options *opts)
{
	(void)opts;
	return (struct sink_wants){ .samples = true, .records = true };
}

static void tracecmd_widen(struct tracecmd_sink *s, const char *name)
{
	const size_t len = strlen(name);

	if (len > s->prefix_width)
		s->prefix_width = (unsigned)len;
}

static const char *tracecmd_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "cpus=2", for each input. */
static void tracecmd_put_cpus(struct tracecmd_sink *s, struct tracecmd_input *in)
{
	struct outbuf *out = &s->writer.out;

	if (!in->view)
		return;
	if (in->name)
		tracecmd_put_prefix(s, in, "", out);
	outbuf_fmt(out, "cpus=%u\n", tracedat_count_cpus(in->view));
}

static int tracecmd_open_inputs(struct tracecmd_sink *s, bool names_inputs)
{
	for (size_t i = 0; i < s->recordings->nr; i++) {
		struct recording *rec = &s->recordings->v[i];
		struct tracecmd_input in = {
			.rec = rec,
			.view = tracedat_view_of(rec->source),
			.latency = ftracetext_latency_view_of(rec->source),
			.name = names_inputs ? tracecmd_base_name(rec->input) : NULL,
		};

		if (names_inputs)
			tracecmd_widen(s, in.name);
		if (in.view) {
			in.has_plain_times = tracedat_has_plain_times(in.view);
			for (unsigned n = 0; tracedat_buffer_name(in.view, n); n++)
				tracecmd_widen(s, tracedat_buffer_name(in.view, n));
		}
		TRY(vec_push(&s->inputs, in));
	}
	vec_foreach(in, &s->inputs)
		if (in->latency)
			tracecmd_put_latency_head(s, in);
		else
			tracecmd_put_cpus(s, in);
	return 0;
}

static bool tracecmd_has_lines(struct recordings *all)
{
	vec_foreach(sc, &all->schemas.schemas) {
		if ((*sc)->kind == SONDE_TRACEPOINT)
			return true;
	}
	return false;
}

static int tracecmd_open_steps(struct tracecmd_sink *s, const struct sink_options *opts)
{
	TRY(fd_writer_init(&s->writer, opts->fd));
	TRY(strpool_init(&s->names));
	if (!tracecmd_has_lines(opts->recordings))
		return err_set(-EINVAL, "format trace-cmd is for tracepoints; %s has none of them",
			       opts->input);
	return tracecmd_open_inputs(s, opts->nr_inputs > 1);
}

static int tracecmd_open(struct sink **ret, const struct sink_options *opts)
{
	const struct tracecmd_options *own = opts->own;
	struct tracecmd_sink *s;
	int r;

	TRY(tracecmd_check_options(own));
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->base.ops = &tracecmd_sink_ops;
	s->recordings = opts->recordings;
	s->has_ns = own->ns;
	s->has_latency = own->refused.text.latency;
	s->has_raw_fields = own->raw_fields;
	s->on_terminal = opts->on_terminal || isatty(opts->fd);
	r = tracecmd_open_steps(s, opts);
	if (r < 0) {
		tracecmd_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}

const struct sink_ops tracecmd_sink_ops = {
	.name = "trace-cmd",
	.summary = "a line per tracepoint, as trace-cmd report prints it",
	.takes_several = true,
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct tracecmd_options),
	.wants = tracecmd_wants,
	.open = tracecmd_open,
	.events = tracecmd_events,
	.finish = tracecmd_finish,
	.flush = tracecmd_flush,
	.close = tracecmd_close,
};
