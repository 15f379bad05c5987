/* SPDX-License-Identifier: MIT */
/* The callbacks for records of state, counts, losses and defects, and their arguments. */
#include "prelude.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bits of misc in records of context switches. */
enum { MISC_OUT = 0x2000, MISC_OUT_PREEMPT = 0x4000 };

#define EVENT(name, from)           \
	{                           \
		name, from, NULL, 0 \
	}
#define FIELD(name)                               \
	{                                         \
		name, PRELUDE_FROM_FIELD, name, 0 \
	}
#define CONSTANT(name, n)                            \
	{                                            \
		name, PRELUDE_FROM_CONSTANT, NULL, n \
	}

#define THROTTLE_ARGS                                                                           \
	6,                                                                                      \
	{                                                                                       \
		FIELD("time"), FIELD("id"), FIELD("stream_id"), EVENT("cpu", PRELUDE_FROM_CPU), \
			EVENT("pid", PRELUDE_FROM_PID), EVENT("tid", PRELUDE_FROM_TID)          \
	}

static const struct prelude_callback callbacks[] = {
	{ "context_switch",
	  { "switch", "switch_cpu_wide" },
	  11,
	  { EVENT("ts", PRELUDE_FROM_TIME),
	    EVENT("cpu", PRELUDE_FROM_CPU),
	    EVENT("pid", PRELUDE_FROM_PID),
	    EVENT("tid", PRELUDE_FROM_TID),
	    { "np_pid", PRELUDE_FROM_FIELD, "next_prev_pid", -1 },
	    { "np_tid", PRELUDE_FROM_FIELD, "next_prev_tid", -1 },
	    CONSTANT("machine_pid", -1), /* the host, because switches of guests are not reported */
	    { "out", PRELUDE_FROM_MISC, NULL, MISC_OUT },
	    { "out_preempt", PRELUDE_FROM_MISC, NULL, MISC_OUT_PREEMPT },
	    CONSTANT("guest_machine_pid", 0),
	    CONSTANT("vcpu", -1) } },
	{ "throttle", { "throttle" }, THROTTLE_ARGS },
	{ "unthrottle", { "unthrottle" }, THROTTLE_ARGS },
	{ "auxtrace_error",
	  { "auxtrace_error" },
	  11,
	  { FIELD("type"), FIELD("code"), FIELD("cpu"), FIELD("pid"), FIELD("tid"), FIELD("ip"),
	    FIELD("time"), FIELD("msg"), FIELD("cpumode"), FIELD("machine_pid"), FIELD("vcpu") } },
	{ NULL, /* stat__EVENT */
	  { "stat" },
	  6,
	  { FIELD("cpu"), FIELD("thread"), FIELD("time"), FIELD("val"), FIELD("ena"),
	    FIELD("run") } },
	{ "stat__interval", { "stat_round" }, 1, { FIELD("time") } },
	{ "trace_lost",
	  { "lost" },
	  3,
	  { EVENT("cpu", PRELUDE_FROM_CPU),
	    EVENT("time", PRELUDE_FROM_TIME_IF_ANY),
	    { "count", PRELUDE_FROM_FIELD, "lost", 0 } } },
	{ "trace_defect", { NULL }, 4, { { "name" }, { "severity" }, { "count" }, { "advice" } } },
};

const struct prelude_callback *const prelude_trace_lost = &callbacks[6];
const struct prelude_callback *const prelude_trace_defect = &callbacks[7];

const struct prelude_callback *prelude_callback_of(const struct sonde_schema *sc)
{
	const char *name = sonde_schema_name(sc);

	if (sonde_schema_kind(sc) == SONDE_DEFECT)
		return prelude_trace_defect;
	if (sonde_schema_kind(sc) != SONDE_RECORD)
		return NULL;
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		for (size_t k = 0; k < 2 && callbacks[i].records[k]; k++)
			if (!strcmp(callbacks[i].records[k], name))
				return &callbacks[i];
	return NULL;
}

int prelude_callback_name(const struct prelude_callback *cb, const struct sonde_schema *sc,
			  const struct sonde_event *ev, char *buf, size_t size)
{
	const struct sonde_field *f = cb->name ? NULL : sonde_schema_field(sc, "event");
	size_t len = 0;
	const char *event = f ? (const char *)sonde_event_bytes(ev, f, &len) : NULL;
	int n;

	if (cb->name)
		n = snprintf(buf, size, "%s", cb->name);
	else
		n = snprintf(buf, size, "stat__%.*s", (int)len, event ? event : "");
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	for (char *colon = buf; !cb->name && (colon = strchr(colon, ':'));)
		*colon = '_';
	return 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct prelude_record_value record_number(int64_t n)
{
	return (struct prelude_record_value){ .kind = PRELUDE_RECORD_INT, .i = n };
}

static struct prelude_record_value record_large(uint64_t n)
{
	return (struct prelude_record_value){ .kind = PRELUDE_RECORD_UINT, .u = n };
}

static struct prelude_record_value record_text(const char *t, size_t len)
{
	return (struct prelude_record_value){
		.kind = PRELUDE_RECORD_TEXT,
		.text = t ? t : "",
		.len = t ? strnlen(t, len) : 0,
	};
}

static struct prelude_record_value records_field_value(const struct prelude_callback_arg *arg,
						       const struct sonde_schema *sc,
						       const struct sonde_event *ev)
{
	const struct sonde_field *f = sonde_schema_field(sc, arg->field);
	size_t len = 0;
	const uint8_t *bytes;

	if (!f)
		return record_number(arg->constant);
	if (f->is_text) {
		bytes = sonde_event_bytes(ev, f, &len);
		return record_text((const char *)bytes, len);
	}
	return f->is_signed ? record_number(sonde_event_i64(ev, f))
			    : record_large(sonde_event_u64(ev, f));
}

static bool records_misc_bit(const struct sonde_schema *sc, const struct sonde_event *ev,
			     int64_t bit)
{
	const struct sonde_field *f = sonde_schema_field(sc, "misc");

	return f && sonde_event_u64(ev, f) & (uint64_t)bit;
}

static struct prelude_record_value record_value(const struct prelude_callback_arg *arg,
						const struct sonde_schema *sc,
						const struct sonde_event *ev)
{
	switch (arg->from) {
	case PRELUDE_FROM_FIELD:
		return records_field_value(arg, sc, ev);
	case PRELUDE_FROM_TIME:
		return record_large(ev->time_ns);
	case PRELUDE_FROM_TIME_IF_ANY:
		return ev->time_ns == SONDE_NO_TIME ? record_number(-1) : record_large(ev->time_ns);
	case PRELUDE_FROM_CPU:
		return record_number(ev->cpu);
	case PRELUDE_FROM_PID:
		return record_number(ev->pid);
	case PRELUDE_FROM_TID:
		return record_number(ev->tid);
	case PRELUDE_FROM_MISC:
		return (struct prelude_record_value){
			.kind = PRELUDE_RECORD_BOOL,
			.i = records_misc_bit(sc, ev, arg->constant),
		};
	case PRELUDE_FROM_CONSTANT:
		break;
	}
	return record_number(arg->constant);
}

void prelude_callback_values(const struct prelude_callback *cb, const struct sonde_schema *sc,
			     const struct sonde_event *ev,
			     struct prelude_record_value ret[PRELUDE_CALLBACK_ARGS])
{
	for (size_t i = 0; i < cb->nr_args; i++)
		ret[i] = record_value(&cb->args[i], sc, ev);
}

void prelude_defect_values(const struct sonde_defect *d,
			   struct prelude_record_value ret[PRELUDE_CALLBACK_ARGS])
{
	static const char *const severities[] = {
		[SONDE_INFO] = "info", [SONDE_DATA_LOSS] = "data-loss", [SONDE_ERROR] = "error"
	};

	const char *severity = severities[d->severity];

	ret[0] = record_text(d->name, strlen(d->name));
	ret[1] = record_text(severity, strlen(severity));
	ret[2] = record_large(d->count);
	ret[3] = record_text(d->advice, strlen(d->advice));
}

void prelude_loss_values(uint64_t count, struct prelude_record_value ret[PRELUDE_CALLBACK_ARGS])
{
	ret[0] = ret[1] = record_number(-1);
	ret[2] = record_large(count);
}

/* ---- binding --------------------------------------------------------------------------------- */

static int records_arg_index(const struct prelude_callback *cb, const char *name)
{
	for (size_t i = 0; i < cb->nr_args; i++)
		if (!strcmp(cb->args[i].name, name))
			return (int)i;
	return -1;
}

static bool records_bind_by_name(struct prelude_bind *b, const struct prelude_callback *cb,
				 const struct prelude_callee *c)
{
	for (size_t i = 0; i < c->nr_names; i++) {
		int at = records_arg_index(cb, c->names[i]);

		if (at < 0)
			return false;
		b->slots[i] = (struct prelude_slot){ .arg = PRELUDE_FIELD, .field = (uint32_t)at };
	}
	b->nr = c->nr_names;
	return true;
}

int prelude_callback_bind(const struct prelude_callback *cb, const struct prelude_callee *c,
			  const struct sonde_rules *rules, struct prelude_bind *ret)
{
	size_t due = cb->nr_args, nr = due, most = c->nr_names > due ? c->nr_names : due;
	struct prelude_bind b = { .slots = calloc(most + 1, sizeof(*b.slots)) };

	if (!b.slots)
		return -ENOMEM;
	if (c->has_names && !(c->rest && c->nr_names < due)) {
		if ((c->nr_names != due || !rules->binds_by_place) &&
		    records_bind_by_name(&b, cb, c)) {
			*ret = b;
			return 0;
		}
		/* defaults fill surplus parameters */
		if (c->nr_names < due || c->nr_names - c->nr_defaults > due)
			nr = c->nr_names;
	}
	for (size_t i = 0; i < nr; i++)
		b.slots[i] = i < due ? (struct prelude_slot){ .arg = PRELUDE_FIELD,
							      .field = (uint32_t)i }
				     : (struct prelude_slot){ .arg = PRELUDE_NOTHING };
	b.nr = nr;
	*ret = b;
	return 0;
}
