/* SPDX-License-Identifier: MIT */
/* What events of a kernel trace, and contexts of any event, say about tasks. */

#include "base/err.h"
#include "model/value.h"
#include "sources/ctf/ctf.h"

enum { MOST_TASKS = 1 << 20 };

enum ctf_task_rule ctf_task_rule_of(const char *name)
{
	static const struct {
		const char *name;
		enum ctf_task_rule rule;
	} rules[] = { { "sched_switch", TASK_SWITCH },
		      { "sched_process_fork", TASK_FORK },
		      { "sched_process_exec", TASK_EXEC },
		      { "lttng_statedump_process_state", TASK_STATE } };

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (!strcmp(name, rules[i].name))
			return rules[i].rule;
	return TASK_NONE;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Rows of one field are in the order of preference. */
static const struct {
	enum ctf_known known;
	const char *name;
	bool is_context;
} names[] = {
	{ KNOWN_PID, "pid", true },
	{ KNOWN_PID, "vpid", true },
	{ KNOWN_PID, "perf_pid", true },
	{ KNOWN_TID, "tid", true },
	{ KNOWN_TID, "vtid", true },
	{ KNOWN_TID, "perf_tid", true },
	{ KNOWN_COMM, "procname", true },
	{ KNOWN_CPU, "cpu_id", true },
	{ KNOWN_CPU, "perf_cpu", true },
	{ KNOWN_PREV_TID, "prev_pid", false },
	{ KNOWN_PREV_COMM, "prev_comm", false },
	{ KNOWN_NEXT_TID, "next_pid", false },
	{ KNOWN_NEXT_COMM, "next_comm", false },
	{ KNOWN_CHILD_TID, "child_pid", false },
	{ KNOWN_CHILD_PID, "child_tgid", false },
	{ KNOWN_PARENT_TID, "parent_pid", false },
	{ KNOWN_PARENT_PID, "parent_tgid", false },
	{ KNOWN_FILENAME, "filename", false },
	{ KNOWN_TASK_TID, "tid", false }, /* of a dump */
	{ KNOWN_TASK_TID, "pid", false }, /* of sched events */
	{ KNOWN_TASK_PID, "pid", false },
	{ KNOWN_TASK_NAME, "name", false },
};

static const struct sonde_field *tasks_find(const struct sonde_field *fields, size_t nr,
					    const char *name, bool is_context)
{
	for (size_t i = 0; i < nr; i++) {
		const struct sonde_field *f = &fields[i];
		const char *own = f->name;

		if (f->is_common != is_context)
			continue;
		if (is_context && !strncmp(own, "ctx_", 4))
			own += 4;
		if (!strcmp(own, name))
			return f;
	}
	return NULL;
}

static bool tasks_fits(enum ctf_known known, const struct sonde_field *f)
{
	const bool is_text = known == KNOWN_COMM || known == KNOWN_PREV_COMM ||
			     known == KNOWN_NEXT_COMM || known == KNOWN_FILENAME ||
			     known == KNOWN_TASK_NAME;

	return is_text ? f->kind == SONDE_FIELD_STRING : f->kind == SONDE_FIELD_INT;
}

static void tasks_find_fields(struct ctf_event_type *type)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct sonde_schema *sc = type->schema;
		const struct sonde_field *f =
			tasks_find(type->added, type->nr_added, names[i].name, names[i].is_context);

		if (!f)
			f = tasks_find(sc->fields, sc->nr_fields, names[i].name,
				       names[i].is_context);
		if (f && !type->known[names[i].known] && tasks_fits(names[i].known, f))
			type->known[names[i].known] = f;
	}
}

static bool tasks_is_fixed(const struct ctf_event_type *type, enum ctf_known known, uint32_t width)
{
	const struct sonde_field *f = type->known[known];

	return f && f->width == width && !f->is_dynamic && !field_is_special(f) &&
	       field_is_inside(f, type->fixed);
}

void ctf_task_find_fields(struct ctf_event_type *type)
{
	tasks_find_fields(type);
	type->is_plain_switch = type->rule == TASK_SWITCH &&
				tasks_is_fixed(type, KNOWN_PREV_TID, sizeof(int32_t)) &&
				tasks_is_fixed(type, KNOWN_NEXT_TID, sizeof(int32_t)) &&
				tasks_is_fixed(type, KNOWN_PREV_COMM, CTF_COMM_BYTES) &&
				tasks_is_fixed(type, KNOWN_NEXT_COMM, CTF_COMM_BYTES);
}

int64_t ctf_known_number(const struct ctf_event_type *type, enum ctf_known known,
			 const struct event *ev, int64_t missing)
{
	const struct sonde_field *f = type->known[known];

	uint64_t v;

	if (!f)
		return missing;
	v = field_number(f, ev->pub.bytes, ev->pub.bytes_len, false);
	/* the usual one, which nothing is to be asked of */
	return f->width == 4 && f->is_signed && !field_is_special(f)
		       ? (int32_t)(uint32_t)v
		       : (int64_t)field_sign_extend(f, v);
}

static int32_t tasks_id(const struct ctf_event_type *type, enum ctf_known known,
			const struct event *ev)
{
	return (int32_t)ctf_known_number(type, known, ev, -1);
}

/*
 * A text of at most `most` bytes and a NUL: that of the payload, or a copy in `room` if it is
 * longer or has no NUL.
 */
static const char *tasks_text_in(const struct ctf_event_type *type, enum ctf_known known,
				 const struct event *ev, char *room, size_t most)
{
	const struct sonde_field *f = type->known[known];
	uint32_t len = 0;
	const uint8_t *p = f ? field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, false, &len) : NULL;
	size_t n = p ? strnlen((const char *)p, len) : 0;

	if (n < len && n <= most)
		return (const char *)p;
	if (!p)
		return NULL;
	n = n < most ? n : most;
	memcpy(room, p, n);
	room[n] = '\0';
	return room;
}

static const char *tasks_text(struct ctf_source *s, const struct ctf_event_type *type,
			      enum ctf_known known, const struct event *ev, size_t most)
{
	return tasks_text_in(type, known, ev, s->change_text, most);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* The name that exec gives: the last part of the file's name, as long as a task's name may be. */
static const char *tasks_exec_name(struct ctf_source *s, const struct ctf_event_type *type,
				   const struct event *ev)
{
	const char *path = tasks_text(s, type, KNOWN_FILENAME, ev, sizeof(s->change_text) - 1);
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;

	if (!name || strlen(name) < CTF_COMM_BYTES)
		return name;
	memmove(s->change_text, name, CTF_COMM_BYTES - 1);
	s->change_text[CTF_COMM_BYTES - 1] = '\0';
	return s->change_text;
}

static bool tasks_switch_to(const struct ctf_event_type *type, const struct event *ev,
			    enum ctf_known known_tid, const char *comm, struct change *ret)
{
	const int32_t tid = tasks_id(type, known_tid, ev);

	*ret = (struct change){
		.kind = CHANGE_SWITCH,
		.cpu = ev->pub.cpu,
		.pid = tid ? -1 : 0,
		.tid = tid,
		.time_ns = ev->pub.time_ns,
		.text = comm,
	};
	return ret->cpu >= 0 && type->known[known_tid];
}

static bool tasks_switch(struct ctf_source *s, const struct ctf_event_type *type,
			 const struct event *ev, struct change *ret)
{
	const char *next = tasks_text(s, type, KNOWN_NEXT_COMM, ev, CTF_COMM_BYTES - 1),
		   *prev = tasks_text_in(type, KNOWN_PREV_COMM, ev, s->before_text,
					 CTF_COMM_BYTES - 1);

	if (!tasks_switch_to(type, ev, KNOWN_NEXT_TID, next, ret))
		return false;
	if (tasks_switch_to(type, ev, KNOWN_PREV_TID, prev, &s->before))
		ret->before = &s->before;
	return true;
}

/* tasks_switch_to() of a plain switch, for a change whose other members are 0. */
static inline bool tasks_switch_ahead(const struct ctf_event_type *type, const struct event *ev,
				      enum ctf_known known_tid, enum ctf_known known_comm,
				      struct change *ret)
{
	const uint8_t *comm = ev->pub.bytes + type->known[known_comm]->offset;
	const int32_t tid = (int32_t)get_u32(ev->pub.bytes + type->known[known_tid]->offset, false);

	ret->kind = CHANGE_SWITCH;
	ret->cpu = ev->pub.cpu;
	ret->pid = tid ? -1 : 0;
	ret->tid = tid;
	ret->time_ns = ev->pub.time_ns;
	ret->text = (const char *)comm;
	return value_comm_len(comm) < CTF_COMM_BYTES;
}

const struct change *ctf_task_switch(struct ctf_source *s, const struct ctf_event_type *type,
				     const struct event *ev)
{
	struct ctf_switch *to = &s->switches[s->nr_switches];

	if (!type->is_plain_switch || ev->pub.cpu < 0 || s->nr_switches == CTF_MOST_SWITCHES ||
	    !tasks_switch_ahead(type, ev, KNOWN_NEXT_TID, KNOWN_NEXT_COMM, &to->change) ||
	    !tasks_switch_ahead(type, ev, KNOWN_PREV_TID, KNOWN_PREV_COMM, &to->before))
		return NULL;
	to->change.before = &to->before;
	s->nr_switches++;
	return &to->change;
}

static bool tasks_by_rule(struct ctf_source *s, const struct ctf_event_type *type,
			  const struct event *ev, struct change *ret)
{
	const int32_t tid = tasks_id(type, KNOWN_TASK_TID, ev);

	switch (type->rule) {
	case TASK_NONE:
	case TASK_SWITCH:
		return false;
	case TASK_FORK:
		ret->kind = CHANGE_FORK;
		ret->tid = tasks_id(type, KNOWN_CHILD_TID, ev);
		ret->ptid = tasks_id(type, KNOWN_PARENT_TID, ev);
		ret->pid = (int32_t)ctf_known_number(type, KNOWN_CHILD_PID, ev, ret->tid);
		ret->ppid = (int32_t)ctf_known_number(type, KNOWN_PARENT_PID, ev, ret->ptid);
		return ret->tid > 0 && ret->ptid >= 0;
	case TASK_EXEC:
		ret->kind = CHANGE_COMM;
		ret->pid = ret->tid = tid;
		ret->exec = true;
		ret->text = tasks_exec_name(s, type, ev);
		return tid > 0 && ret->text;
	case TASK_STATE:
		ret->kind = CHANGE_COMM;
		ret->tid = tid;
		ret->pid = (int32_t)ctf_known_number(type, KNOWN_TASK_PID, ev, tid);
		ret->text = tasks_text(s, type, KNOWN_TASK_NAME, ev, CTF_COMM_BYTES - 1);
		ret->is_untimed = true;
		return tid > 0 && ret->text;
	}
	return false;
}

/* ---- names in contexts ----------------------------------------------------------------------- */

static const char *tasks_context_name(const struct ctf_event_type *type, const struct event *ev,
				      char room[CTF_COMM_BYTES])
{
	const struct sonde_field *f = type->known[KNOWN_COMM];
	uint32_t len = 0;
	const uint8_t *p = f ? field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, false, &len) : NULL;
	size_t n = p ? strnlen((const char *)p, len) : 0;

	if (!n || ev->pub.tid < 0)
		return NULL;
	n = n < CTF_COMM_BYTES ? n : CTF_COMM_BYTES - 1;
	memset(room, 0, CTF_COMM_BYTES);
	memcpy(room, p, n);
	return room;
}

bool ctf_task_is_named_by(struct ctf_source *s, const struct ctf_event_type *type,
			  const struct event *ev)
{
	char room[CTF_COMM_BYTES];
	const char *name = tasks_context_name(type, ev, room);
	uint64_t i;

	if (!name)
		return s->vpid < 0 || s->has_named_vpid;
	i = hash64_find(&s->task_of_tid, (uint32_t)ev->pub.tid);
	return i != HASH64_EMPTY && !memcmp(s->tasks.v[i].comm, name, CTF_COMM_BYTES);
}

static bool tasks_by_context(struct ctf_source *s, const struct ctf_event_type *type,
			     const struct event *ev, struct change *ret)
{
	struct ctf_task task;
	const char *name = tasks_context_name(type, ev, task.comm), *process;
	uint64_t i;

	ret->kind = CHANGE_COMM;
	if (!name && s->vpid >= 0 && !s->has_named_vpid) {
		s->has_named_vpid = true;
		process = ctf_env_text(&s->trace, "procname");
		ret->pid = ret->tid = s->vpid;
		ret->text = process;
		ret->is_untimed = true;
		return process != NULL;
	}
	if (!name)
		return false;
	i = hash64_find(&s->task_of_tid, (uint32_t)ev->pub.tid);
	if (i != HASH64_EMPTY) {
		s->tasks.v[i] = task;
	} else if (s->tasks.n < MOST_TASKS) {
		if (vec_push(&s->tasks, task) < 0 ||
		    hash64_put(&s->task_of_tid, (uint32_t)ev->pub.tid, s->tasks.n - 1) < 0)
			err_nomem();
	}
	memcpy(s->change_text, task.comm, sizeof(task.comm));
	ret->pid = ev->pub.pid;
	ret->tid = ev->pub.tid;
	ret->text = s->change_text;
	return true;
}

const struct change *ctf_task_change(struct ctf_source *s, const struct ctf_event_type *type,
				     const struct event *ev)
{
	if (type->rule == TASK_SWITCH && tasks_switch(s, type, ev, &s->change))
		return &s->change;
	s->change = (struct change){ .time_ns = ev->pub.time_ns };
	if (tasks_by_rule(s, type, ev, &s->change))
		return &s->change;
	s->change = (struct change){ .time_ns = ev->pub.time_ns };
	return !ctf_task_is_named(s, type, ev) && tasks_by_context(s, type, ev, &s->change)
		       ? &s->change
		       : NULL;
}
