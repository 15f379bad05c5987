/* SPDX-License-Identifier: MIT */
/* sonde.h: questions about one event. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "model/value.h"
#include "recording/code.h"
#include "recording/keep.h"
#include "recording/locate.h"
#include "recording/text.h"
#include "session/session.h"

static bool event_is_swapped(const struct sonde_event *ev)
{
	return ev->flags & SONDE_EVENT_SWAPPED;
}

struct sonde_session *sonde_event_session(const struct sonde_event *ev)
{
	NOT_NULL(ev, NULL);
	return event_of(ev)->recording->session;
}

uint32_t sonde_event_input(const struct sonde_event *ev)
{
	NOT_NULL(ev, 0);
	return event_of(ev)->recording->nr;
}

struct sonde_event *sonde_event_dup(const struct sonde_event *ev)
{
	struct event *dup;

	NOT_NULL(ev, NULL);
	dup = recording_keep(event_of(ev));
	if (!dup)
		return NULL;
	session_ref(dup->recording->session);
	return &dup->pub;
}

void sonde_event_free(struct sonde_event *ev)
{
	struct sonde_session *s;

	if (!ev || !event_of(ev)->owned)
		return;
	s = event_of(ev)->recording->session;
	recording_keep_done((struct event *)ev);
	session_unref(s);
}

uint64_t sonde_event_u64(const struct sonde_event *ev, const struct sonde_field *f)
{
	NOT_NULL(ev, 0);
	NOT_NULL(f, 0);
	return field_number(f, ev->bytes, ev->bytes_len, event_is_swapped(ev));
}

int64_t sonde_event_i64(const struct sonde_event *ev, const struct sonde_field *f)
{
	uint64_t v;

	NOT_NULL(ev, 0);
	NOT_NULL(f, 0);
	v = field_number(f, ev->bytes, ev->bytes_len, event_is_swapped(ev));
	if (__builtin_expect(f->bit_width, 0))
		return (int64_t)field_sign_extend(f, v);
	return f->is_signed ? value_sign_extend(v, f->width) : (int64_t)v;
}

double sonde_event_double(const struct sonde_event *ev, const struct sonde_field *f)
{
	NOT_NULL(ev, 0);
	NOT_NULL(f, 0);
	return field_double(f, ev->bytes, ev->bytes_len, event_is_swapped(ev));
}

const char *sonde_field_label(const struct sonde_field *f, uint64_t value)
{
	NOT_NULL(f, NULL);
	return field_label(f, value);
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
	p = field_bytes(f, ev->bytes, ev->bytes_len, event_is_swapped(ev), &len);
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
	return source_sample(ev->source, ev, ret);
}

int sonde_event_callchain(const struct sonde_event *pub, const struct sonde_frame **ret)
{
	const struct event *ev = event_of(pub);

	NOT_NULL_NAMED(pub, "ev", -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (!ev->recording->opts->callchain) {
		*ret = NULL;
		return 0;
	}
	return recording_chain(ev, ret);
}

static struct sonde_task_name event_name_of(const struct recording *rec, const struct task_name *n)
{
	return (struct sonde_task_name){
		.id = n->id,
		.since_ns = recording_shown_time(rec, n->since_ns),
		.comm = n->comm,
		.by_exec = n->by_exec,
	};
}

/*
 * Kernels since 3.16 record, if requested, that exec set a name. perf does not look for this in a
 * pipe's attrs.
 */
static void event_ask_marks_exec(struct recording *rec)
{
	const struct schema_table *schemas = &rec->all->schemas;

	for (; rec->schemas_asked < schemas->schemas.n; rec->schemas_asked++) {
		if (schemas->schemas.v[rec->schemas_asked]->traits & SCHEMA_MARKS_EXEC &&
		    !(rec->opts->rules->learns_of_events_late && rec->is_stream))
			rec->state.marks_exec = true;
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
	state = &ev->recording->state;
	if (ev->owned)
		return err_set(-ESTALE,
			       "tasks are known only at the time of the session's current event");
	event_ask_marks_exec(ev->recording);
	TRY(state_task(state, pid, tid, &t));
	*ret = (struct sonde_task){
		.size = sizeof(*ret),
		.flags = (t->has_comm ? SONDE_TASK_NAMED : 0) |
			 (t->is_gone && tid != pub->tid ? SONDE_TASK_GONE : 0),
		.pid = t->pid,
		.tid = tid,
		.id = t->id,
		.name = event_name_of(ev->recording, &t->name),
		.program = event_name_of(ev->recording, state_program(state, t, tid)),
	};
	return 0;
}

const struct sonde_location *sonde_event_located(const struct sonde_event *ev, uint64_t addr,
						 uint32_t cpumode)
{
	static const struct sonde_location nowhere = {
		.size = sizeof(nowhere),
		.unknown = SONDE_UNKNOWN_NO_MAPPING,
		.dso_build_id = "",
	};

	NOT_NULL(ev, &nowhere);
	return recording_located(event_of(ev), addr, cpumode);
}

int sonde_event_locate(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode,
		       struct sonde_location *ret)
{
	NOT_NULL(ev, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	*ret = *recording_located(event_of(ev), addr, cpumode);
	return 0;
}

int sonde_event_dso(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode,
		    struct sonde_dso *ret)
{
	NOT_NULL(ev, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	return recording_dso(event_of(ev), addr, cpumode, ret);
}

const char *sonde_unknown_text(uint32_t reason)
{
	return locate_unknown_text(reason);
}

int sonde_event_code(const struct sonde_event *pub, uint64_t addr, uint32_t cpumode, unsigned parts,
		     struct sonde_code *ret)
{
	const struct event *ev = event_of(pub);
	struct sonde_code c = { .size = sizeof(c) };
	const struct line_place *places;
	struct code_insn insn;

	NOT_NULL_NAMED(pub, "ev", -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (parts & (SONDE_CODE_LINE | SONDE_CODE_TEXT) &&
	    recording_lines(ev, addr, cpumode, false, &places)) {
		c.file = places[0].file;
		c.line = places[0].line;
	}
	if (parts & SONDE_CODE_TEXT && c.file &&
	    !recording_source_line(ev->recording, c.file, c.line, &c.text, &c.text_len))
		c.text = NULL;
	if (parts & SONDE_CODE_INSN) {
		_Static_assert(sizeof(insn.bytes) <= sizeof(c.insn), "room for an instruction");
		recording_insn(ev, addr, cpumode, &insn);
		c.insn_len = insn.len;
		memcpy(c.insn, insn.bytes, insn.len);
	}
	*ret = c;
	return 0;
}

const char *sonde_event_text(const struct sonde_event *ev, size_t *ret_len)
{
	struct outbuf *text;

	NOT_NULL(ret_len, "");
	*ret_len = 0;
	NOT_NULL(ev, "");
	text = &event_of(ev)->recording->session->text;
	text->len = 0;
	text->failed = false; /* a failure for an earlier event */
	if (!outbuf_room(text, 1))
		return "";
	recording_event_text(event_of(ev), text);
	*ret_len = text->failed ? 0 : text->len;
	outbuf_char(text, '\0');
	return text->failed ? "" : text->data;
}
