/* SPDX-License-Identifier: MIT */
/* sonde.h: questions about one event. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "code.h"
#include "model/callchain.h"
#include "model/value.h"
#include "session.h"

static bool is_swapped(const struct sonde_event *ev)
{
	return ev->flags & SONDE_EVENT_SWAPPED;
}

struct sonde_session *sonde_event_session(const struct sonde_event *ev)
{
	NOT_NULL(ev, NULL);
	return event_of(ev)->session;
}

struct sonde_event *sonde_event_dup(const struct sonde_event *pub)
{
	const struct event *ev = event_of(pub);
	struct address_space *space;
	struct event *dup;
	uint8_t *bytes;
	bool inside;
	size_t len;

	NOT_NULL_NAMED(pub, "ev", NULL);
	space = ev->space;
	/* The record, and the payload where it is not part of it (defects). */
	inside = pub->record && pub->bytes >= pub->record &&
		 pub->bytes <= pub->record + pub->record_len;
	len = inside ? pub->record_len : pub->bytes_len;
	dup = malloc(sizeof(*dup) + len);
	if (!dup) {
		err_nomem();
		return NULL;
	}
	bytes = (uint8_t *)(dup + 1);
	*dup = *ev;
	memcpy(bytes, inside ? pub->record : pub->bytes, len);
	dup->pub.bytes = inside ? bytes + (pub->bytes - pub->record) : bytes;
	dup->pub.record = inside ? bytes : NULL;
	if (!inside)
		dup->pub.record_len = 0;
	dup->change = (struct change){ 0 };
	if (!ev->owned) /* a reference is taken */
		space = (struct address_space *)session_space(ev, CPUMODE_USER);
	dup->space = space ? address_space_ref(space) : NULL;
	dup->kernel_space =
		address_space_ref(ev->owned ? ev->kernel_space : ev->session->state.kernel);
	dup->owned = true;
	session_ref(ev->session);
	return &dup->pub;
}

void sonde_event_free(struct sonde_event *pub)
{
	struct event *ev = (struct event *)pub;

	if (!ev || !ev->owned)
		return;
	address_space_unref(ev->space);
	address_space_unref(ev->kernel_space);
	session_unref(ev->session);
	free(ev);
}

uint64_t sonde_event_u64(const struct sonde_event *ev, const struct sonde_field *f)
{
	NOT_NULL(ev, 0);
	NOT_NULL(f, 0);
	return field_u64(f, ev->bytes, ev->bytes_len, is_swapped(ev));
}

int64_t sonde_event_i64(const struct sonde_event *ev, const struct sonde_field *f)
{
	uint64_t v;

	NOT_NULL(ev, 0);
	NOT_NULL(f, 0);
	v = field_u64(f, ev->bytes, ev->bytes_len, is_swapped(ev));
	return f->is_signed ? value_sign_extend(v, f->width) : (int64_t)v;
}

const uint8_t *sonde_event_bytes(const struct sonde_event *ev, const struct sonde_field *f,
				 size_t *ret_len)
{
	const uint8_t *p;
	uint32_t len;

	NOT_NULL(ret_len, NULL);
	*ret_len = 0;
	NOT_NULL(ev, NULL);
	NOT_NULL(f, NULL);
	p = field_bytes(f, ev->bytes, ev->bytes_len, is_swapped(ev), &len);
	*ret_len = len;
	return p;
}

int sonde_event_sample(const struct sonde_event *pub, struct sonde_sample *ret)
{
	const struct event *ev = event_of(pub);

	NOT_NULL_NAMED(pub, "ev", -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (ev->schema->kind > SONDE_SAMPLE)
		return err_set(-ENODATA, "%s is not a sample", ev->schema->name);
	return ev->source->ops->sample(ev->source, ev, ret);
}

int sonde_event_callchain(const struct sonde_event *pub, const struct sonde_frame **ret)
{
	const struct event *ev = event_of(pub);

	NOT_NULL_NAMED(pub, "ev", -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (!ev->session->opts.callchain) {
		*ret = NULL;
		return 0;
	}
	return session_chain(ev, ret);
}

static struct sonde_task_name name_of(const struct sonde_session *s, const struct task_name *n)
{
	return (struct sonde_task_name){ .id = n->id,
					 .since_ns = session_shown_time(s, n->since_ns),
					 .comm = n->comm,
					 .by_exec = n->by_exec };
}

/* Kernels since 3.16 tell which names exec gave, when asked. perf does not look for it in what it reads out of a pipe. */
static void ask_tells_exec(struct sonde_session *s)
{
	for (; s->schemas_asked < s->schemas->schemas.n; s->schemas_asked++) {
		const struct perf_event_attr *attr = s->schemas->schemas.v[s->schemas_asked]->attr;

		if (attr && attr->comm_exec && !(s->opts.compat && s->is_stream))
			s->state.tells_exec = true;
	}
}

int sonde_event_task(const struct sonde_event *pub, int32_t pid, int32_t tid,
		     struct sonde_task *ret)
{
	const struct event *ev = event_of(pub);
	struct state *state;
	const struct task *t;

	NOT_NULL_NAMED(pub, "ev", -EINVAL);
	NOT_NULL(ret, -EINVAL);
	state = &ev->session->state;
	if (ev->owned)
		return err_set(-ESTALE, "tasks are known as of the session's current event only");
	ask_tells_exec(ev->session);
	TRY(state_task(state, pid, tid, &t));
	*ret = (struct sonde_task){ .size = sizeof(*ret),
				    .flags = (t->comm_told ? SONDE_TASK_NAMED : 0) |
					     (t->is_gone && tid != pub->tid ? SONDE_TASK_GONE : 0),
				    .pid = t->pid,
				    .tid = tid,
				    .id = t->id,
				    .name = name_of(ev->session, &t->name),
				    .program = name_of(ev->session, state_program(state, t, tid)) };
	return 0;
}

/* ---- text ---- */

static const char *env_symbol(void *ctx, uint64_t addr, uint64_t *ret_off)
{
	return session_kernel_symbol(ctx, addr, ret_off);
}

static const char *env_printk(void *ctx, uint64_t addr)
{
	struct sonde_session *s = ctx;

	if (!s->printk_tried) {
		struct source_kernel k = { 0 };

		s->printk_tried = true;
		s->source->ops->kernel(s->source, &k);
		if (k.printk)
			printk_formats_read(&s->printk, k.printk, k.printk_len);
	}
	return printk_formats_find(&s->printk, addr);
}

static void env_divided_by_zero(void *ctx)
{
	struct sonde_session *s = ctx;

	defects_add(&s->defects, DEFECT_DIVISION_BY_ZERO, 1, "in %s",
		    s->printing ? s->printing->schema->name : "");
}

static void hex_bytes(const uint8_t *p, uint32_t len, struct outbuf *out)
{
	for (uint32_t i = 0; i < len; i++) {
		if (i)
			outbuf_char(out, ' ');
		outbuf_hex_width(out, p[i], 2, '0');
	}
}

/* Records of state: "pid=1 tid=1 comm=init". */
static void record_text(const struct event *ev, struct outbuf *out)
{
	const struct sonde_schema *sc = ev->schema;

	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];

		outbuf_fmt(out, "%s%s=", i ? " " : "", f->name);
		if (f->kind == SONDE_FIELD_STRING) {
			uint32_t len;
			const uint8_t *p = field_bytes(f, ev->pub.bytes, ev->pub.bytes_len,
						       is_swapped(&ev->pub), &len);

			if (p)
				outbuf_put(out, p, strnlen((const char *)p, len));
		} else if (f->is_signed) {
			outbuf_i64(out, sonde_event_i64(&ev->pub, f));
		} else {
			outbuf_fmt(out, f->width == 8 ? "0x%llx" : "%llu",
				   (unsigned long long)sonde_event_u64(&ev->pub, f));
		}
	}
}

void session_event_text(const struct event *ev, struct outbuf *out)
{
	struct sonde_session *s = ev->session;
	const struct printfmt *pf = ev->schema->print;

	/* an event out of a group's counts: no fields were recorded */
	if (__builtin_expect(ev->schema->kind == SONDE_TRACEPOINT && !ev->pub.bytes_len, 0))
		return;
	if (__builtin_expect(!pf, 0)) {
		if (!s->printfmt_env.ctx)
			s->printfmt_env =
				(struct printfmt_env){ .ctx = s,
						       .symbol = env_symbol,
						       .printk = env_printk,
						       .divided_by_zero = env_divided_by_zero };
		pf = schema_printfmt((struct sonde_schema *)ev->schema);
	}
	s->printing = ev;
	if (pf)
		printfmt_run(pf, &s->printfmt_env, ev->pub.bytes, ev->pub.bytes_len, out);
	else if (ev->schema->kind >= SONDE_RECORD)
		record_text(ev, out);
	else if (ev->schema->kind == SONDE_TRACEPOINT)
		hex_bytes(ev->pub.bytes, ev->pub.bytes_len, out);
}

const char *sonde_event_text(const struct sonde_event *pub, size_t *ret_len)
{
	struct sonde_session *s;

	NOT_NULL(ret_len, "");
	*ret_len = 0;
	NOT_NULL_NAMED(pub, "ev", "");
	s = event_of(pub)->session;
	s->text.len = 0;
	s->text.failed = false; /* of an earlier event */
	if (!outbuf_room(&s->text, 1))
		return "";
	session_event_text(event_of(pub), &s->text);
	*ret_len = s->text.failed ? 0 : s->text.len;
	outbuf_char(&s->text, '\0');
	return s->text.failed ? "" : s->text.data;
}
