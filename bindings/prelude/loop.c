/* SPDX-License-Identifier: MIT */
/* The parts of a script's loop that do not run for each event. */
#include "loop.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

enum { SCRIPT_BATCH = 256 };

/* ---- event types ----------------------------------------------------------------------------- */

static void loop_slot_free(struct script_run *r, const struct script_lang *lang,
			   struct script_slot *slot)
{
	lang->slot_done(r, slot);
	free(slot);
}

static bool loop_has_callchain(const struct sonde_schema *sc)
{
	return sonde_schema_sampled(sc) & PERF_SAMPLE_CALLCHAIN;
}

static struct script_slot *loop_slot_new(struct script_run *r, const struct script_lang *lang,
					 const struct sonde_schema *sc)
{
	struct script_slot *slot = sc ? calloc(1, lang->slot_size) : NULL;

	if (!slot) {
		lang->failed(r, sc ? -ENOMEM : -EINVAL);
		return NULL;
	}
	slot->sc = sc;
	slot->kind = sonde_schema_kind(sc);
	slot->callback = prelude_callback_of(sc);
	slot->has_callchain = loop_has_callchain(sc);
	slot->is_defined = slot->kind != SONDE_TRACEPOINT; /* other events have no definitions */
	if (lang->slot_init(r, slot) < 0) {
		loop_slot_free(r, lang, slot);
		return NULL;
	}
	return slot;
}

static int loop_grow_slots(struct script_run *r, uint32_t id)
{
	const size_t known = sonde_session_schemas(r->s), nr = known > id ? known : (size_t)id + 1;
	struct script_slot **bigger = realloc(r->slots, nr * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	memset(bigger + r->nr_slots, 0, (nr - r->nr_slots) * sizeof(*bigger));
	r->slots = bigger;
	r->nr_slots = nr;
	return 0;
}

struct script_slot *script_slot(struct script_run *r, const struct script_lang *lang, uint32_t id)
{
	if (id >= r->nr_slots && loop_grow_slots(r, id) < 0) {
		lang->failed(r, -ENOMEM);
		return NULL;
	}
	if (!r->slots[id])
		r->slots[id] = loop_slot_new(r, lang, sonde_session_schema(r->s, id));
	return r->slots[id];
}

void script_done(struct script_run *r, const struct script_lang *lang)
{
	for (size_t i = 0; i < r->nr_slots; i++)
		if (r->slots[i])
			loop_slot_free(r, lang, r->slots[i]);
	free(r->slots);
	r->slots = NULL;
	r->nr_slots = 0;
}

/*
 * Passes the handlers of new event types to the language, so that wrong parameters are reported
 * before the first event.
 */
static int loop_bind_new(struct script_run *r, const struct script_lang *lang)
{
	const size_t nr = sonde_session_schemas(r->s);

	for (; lang->bind && r->nr_bound < nr; r->nr_bound++) {
		const struct sonde_schema *sc = sonde_session_schema(r->s, (uint32_t)r->nr_bound);
		struct script_slot *slot;
		char name[512];
		void *function;
		int code;

		if (!sc || sonde_schema_kind(sc) != SONDE_TRACEPOINT ||
		    prelude_handler_name(sc, lang->separator, name, sizeof(name)) < 0)
			continue;
		code = lang->find_function(r, NULL, name, &function);
		if (code < 0)
			return code;
		if (!code)
			continue;
		slot = script_slot(r, lang, (uint32_t)r->nr_bound);
		if (!slot)
			return -ENOMEM;
		code = lang->bind(r, slot, function);
		if (code < 0)
			return code;
	}
	return 0;
}

int script_begin(struct script_run *r, const struct script_lang *lang)
{
	void *function;
	const int code = lang->find_function(r, NULL, prelude_trace_defect->name, &function);

	if (code < 0)
		return code;
	/*
	 * With one event per batch, a defect that a function causes is reported before the next
	 * event.
	 */
	r->max_batch = code ? 1 : SCRIPT_BATCH;
	return loop_bind_new(r, lang);
}

int script_read(struct script_run *r, const struct script_lang *lang)
{
	int code;

	r->batch_at = 0;
	r->nr_batch = r->max_batch;
	code = sonde_session_next_batch_pending(r->s, &r->batch, &r->nr_batch);
	if (code > 0)
		return code;
	r->nr_batch = 0;
	return code < 0 ? lang->failed(r, code) : 0;
}

void script_stop(struct script_run *r)
{
	sonde_session_stop(r->s);
	r->nr_batch = r->batch_at;
}

int script_fill(struct script_run *r, const struct script_lang *lang)
{
	int code, bound;

	script_want_all(r); /* other threads of the script may run while it waits */
	code = lang->fill(r);
	bound = code < 0 ? 0 : loop_bind_new(r, lang);
	return bound < 0 ? bound : code;
}

/* ---- definitions before the first event of a type -------------------------------------------- */

static bool loop_is_family_defined(const struct script_run *r, const struct script_slot *slot)
{
	const uint32_t family = sonde_schema_family(slot->sc);

	for (size_t i = 0; i < r->nr_slots; i++)
		if (r->slots[i] && r->slots[i] != slot && r->slots[i]->is_defined &&
		    sonde_schema_family(r->slots[i]->sc) == family)
			return true;
	return false;
}

int script_define(struct script_run *r, const struct script_lang *lang, struct script_slot *slot)
{
	struct prelude_defines state = { 0 };
	const struct sonde_define *d;
	size_t nr;

	if (!r->redefines) {
		slot->is_defined = true;
		if (loop_is_family_defined(r, slot))
			return 0;
	}
	d = sonde_schema_defines(slot->sc, &nr);
	for (size_t i = 0; i < nr; i++) {
		int code;

		if (d[i].kind > SONDE_DEFINE_SYMBOLIC_VALUE || !d[i].field || !d[i].text ||
		    !prelude_define_wanted(&state, &d[i], r->rules))
			continue;
		code = lang->define(r, slot, &d[i]);
		if (code < 0)
			return code;
	}
	script_ran(r, lang);
	return 0;
}

/* ---- events without a function --------------------------------------------------------------- */

void script_want_all(struct script_run *r)
{
	/* The session may have dropped events after the current one. */
	if (r->nr_refused && r->nr_batch > r->batch_at &&
	    sonde_session_unread(r->s, r->nr_batch - r->batch_at) >= 0)
		r->nr_batch = r->batch_at;
	for (size_t i = 0; r->nr_refused && i < r->nr_slots; i++) {
		if (!r->slots[i] || !r->slots[i]->is_refused)
			continue;
		sonde_session_want(r->s, (uint32_t)i, 1);
		r->slots[i]->is_refused = false;
		r->nr_refused--;
	}
}

/* Makes the session drop events of this type until code of the script has run. */
static void loop_script_refuse(struct script_run *r, const struct script_lang *lang,
			       struct script_slot *slot)
{
	if (lang->refused)
		lang->refused(r, slot);
	sonde_session_want(r->s, sonde_schema_id(slot->sc), 0);
	slot->is_refused = true;
	r->nr_refused++;
}

void script_pass_over(struct script_run *r, const struct script_lang *lang,
		      struct script_slot *slot)
{
	r->has_passed_over = true;
	if (!r->redefines || slot->kind != SONDE_TRACEPOINT)
		loop_script_refuse(r, lang, slot);
}

/* ---- defects and losses ---------------------------------------------------------------------- */

static int loop_call_callback(struct script_run *r, const struct script_lang *lang,
			      const struct prelude_callback *cb, void *function,
			      const struct prelude_record_value *values)
{
	int code = lang->call_callback(r, cb, function, values);

	r->has_called |= cb != prelude_trace_lost && cb != prelude_trace_defect;
	script_ran(r, lang);
	return code;
}

/*
 * Delivers a defect unless it was delivered with this count. Returns 1, or 0 if no function takes
 * defects.
 */
static int loop_script_deliver_defect(struct script_run *r, const struct script_lang *lang,
				      const struct sonde_defect *d)
{
	struct prelude_record_value values[PRELUDE_CALLBACK_ARGS];
	void *function;
	int code = lang->find_function(r, NULL, prelude_trace_defect->name, &function);
	size_t i = 0;

	if (code <= 0)
		return code;
	while (i < r->nr_delivered && r->delivered[i].name != d->name)
		i++;
	if (i == SCRIPT_DELIVERED || (i < r->nr_delivered && r->delivered[i].count == d->count))
		return 1;
	r->delivered[i] = (struct script_delivered){ d->name, d->count };
	r->nr_delivered += i == r->nr_delivered;
	prelude_defect_values(d, values);
	code = loop_call_callback(r, lang, prelude_trace_defect, function, values);
	return code < 0 ? code : 1;
}

/*
 * Delivers the defects so far. The script's function may cause further defects and may replace
 * itself, so it is looked up for each one.
 */
static int loop_script_deliver_defects(struct script_run *r, const struct script_lang *lang)
{
	const struct sonde_defect *d;
	int code = 1;

	for (size_t i = 0; code > 0 && (d = sonde_session_defect(r->s, i)); i++)
		code = loop_script_deliver_defect(r, lang, d);
	return code < 0 ? code : 0;
}

/*
 * The kernel reports losses by records, which have a time. Newer kernels report them again as sums
 * at the end of the recording. Delivers only the part of the sums that no record reported; its time
 * is unknown.
 */
static int loop_script_deliver_rest_of_losses(struct script_run *r, const struct script_lang *lang)
{
	struct prelude_record_value values[PRELUDE_CALLBACK_ARGS];
	const struct sonde_defect *d;
	void *function;
	int code = lang->find_function(r, NULL, prelude_trace_lost->name, &function);

	for (size_t i = 0; code > 0 && (d = sonde_session_defect(r->s, i)); i++) {
		if (strcmp(d->name, "lost-events") != 0 || d->count <= r->nr_lost)
			continue;
		prelude_loss_values(d->count - r->nr_lost, values);
		return loop_call_callback(r, lang, prelude_trace_lost, function, values);
	}
	return code < 0 ? code : 0;
}

int script_end(struct script_run *r, const struct script_lang *lang)
{
	int code = loop_script_deliver_rest_of_losses(r, lang);

	return code < 0 ? code : loop_script_deliver_defects(r, lang);
}

/* ---- records --------------------------------------------------------------------------------- */

int script_record(struct script_run *r, const struct script_lang *lang, struct script_slot *slot)
{
	struct prelude_record_value values[PRELUDE_CALLBACK_ARGS];
	const struct prelude_callback *cb = slot->callback;
	const struct sonde_field *lost;
	char text[512];
	const char *name = text;
	void *function;
	int code;

	if (!cb) {
		sonde_session_want(r->s, sonde_schema_id(slot->sc), 0);
		return 0;
	}
	if (cb == prelude_trace_defect)
		return loop_script_deliver_defects(r, lang);
	lost = cb == prelude_trace_lost ? sonde_schema_field(slot->sc, "lost") : NULL;
	if (lost)
		r->nr_lost += sonde_event_u64(r->ev, lost);
	if (cb->name)
		name = cb->name;
	else if (prelude_callback_name(cb, slot->sc, r->ev, text, sizeof(text)) < 0)
		return 0; /* a name of this length matches no function */
	code = lang->find_function(r, cb->name ? slot : NULL, name, &function);
	if (code > 0) {
		prelude_callback_values(cb, slot->sc, r->ev, values);
		return loop_call_callback(r, lang, cb, function, values);
	}
	/*
	 * Refuses events without a function, except stat events, whose next one may have a
	 * function, and losses, which are added up.
	 */
	if (!code && cb->name && cb != prelude_trace_lost)
		loop_script_refuse(r, lang, slot);
	return code;
}
