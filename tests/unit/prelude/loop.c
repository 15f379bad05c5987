/* SPDX-License-Identifier: MIT */
/* The loop that runs a script, with a language that only counts calls. */
#include "unittest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prelude/loop.h"

/* Events of demo.data. */
enum { READS = 219, SWITCHES = 155, WRITES = 65, WAKEUPS = 35, ALL = 474 };

/* Settings of the script, and the counts of the language. */
struct counting {
	struct script_run base;
	const char *handled;              /* a part of the name: such events have a handler */
	bool changes, wants, keeps_event; /* has_changed(), may_want(); call() returns 1 */
	bool takes_defects;
	int fails_at; /* number of the call that fails; 0: none */
	int inits, dones, binds, defines, looks, args, calls, events, defects, ends;
	int defines_at_call; /* definitions before the first call */
	char defect[64];
};

static struct counting *counting_of(struct script_run *r)
{
	return (struct counting *)r;
}

static bool is_handled(const struct counting *c, const struct sonde_schema *sc)
{
	return c->handled && strstr(sonde_schema_name(sc), c->handled);
}

static int count_init(struct script_run *r, struct script_slot *slot)
{
	assert_non_null(slot->sc);
	counting_of(r)->inits++;
	return 0;
}

static void count_done(struct script_run *r, struct script_slot *slot)
{
	counting_of(r)->dones++;
}

static int count_find_function(struct script_run *r, const struct script_slot *slot,
			       const char *name, void **ret)
{
	struct counting *c = counting_of(r);
	const char *event = strstr(name, "__");

	*ret = c;
	return event ? c->handled && !strcmp(event + 2, c->handled)
		     : c->takes_defects && !strcmp(name, "trace_defect");
}

static int count_bind(struct script_run *r, struct script_slot *slot, void *function)
{
	assert_ptr_equal(function, r);
	assert_true(is_handled(counting_of(r), slot->sc));
	counting_of(r)->binds++;
	return 0;
}

static int count_define(struct script_run *r, struct script_slot *slot,
			const struct sonde_define *d)
{
	counting_of(r)->defines++;
	return 0;
}

static int count_callback(struct script_run *r, const struct prelude_callback *cb, void *function,
			  const struct prelude_record_value *values)
{
	struct counting *c = counting_of(r);

	assert_ptr_equal(cb, prelude_trace_defect);
	c->defects++;
	snprintf(c->defect, sizeof(c->defect), "%.*s", (int)values[0].len, values[0].text);
	return 0;
}

static int count_fill(struct script_run *r)
{
	assert_null(r->ev);
	return sonde_session_fill(r->s);
}

static int count_failed(struct script_run *r, int code)
{
	return code;
}

static int count_event(struct script_run *r, struct script_slot *slot)
{
	counting_of(r)->events += slot->kind <= SONDE_SAMPLE;
	return 0;
}

static bool count_has_changed(struct script_run *r, struct script_slot *slot)
{
	return counting_of(r)->changes ||
	       (!slot->has_handler && is_handled(counting_of(r), slot->sc));
}

static int count_find_handler(struct script_run *r, struct script_slot *slot)
{
	counting_of(r)->looks++;
	return is_handled(counting_of(r), slot->sc);
}

static int count_args(struct script_run *r, struct script_slot *slot)
{
	counting_of(r)->args++;
	return 0;
}

static int count_call(struct script_run *r, struct script_slot *slot)
{
	struct counting *c = counting_of(r);

	assert_ptr_equal(r->slots[r->ev->schema], slot);
	assert_true(is_handled(c, slot->sc));
	if (!c->calls++)
		c->defines_at_call = c->defines;
	if (c->calls == c->fails_at)
		return -EPROTO;
	return c->keeps_event;
}

static bool count_may_want(struct script_run *r)
{
	assert_true(r->nr_refused > 0);
	return counting_of(r)->wants;
}

static const struct script_lang lang = {
	.separator = "__",
	.slot_size = sizeof(struct script_slot),
	.slot_init = count_init,
	.slot_done = count_done,
	.find_function = count_find_function,
	.bind = count_bind,
	.define = count_define,
	.call_callback = count_callback,
	.fill = count_fill,
	.failed = count_failed,
	.event = count_event,
	.has_changed = count_has_changed,
	.find_handler = count_find_handler,
	.make_args = count_args,
	.call = count_call,
	.may_want = count_may_want,
};

/* Runs all events. Returns the result of the last script_next(). */
static int run(struct counting *c, const char *path)
{
	char text[512];
	int code;

	snprintf(text, sizeof(text), "input=%s\nkallsyms=/dev/null\nevents=all\n", path);
	if (sonde_session_open(&c->base.s, text, NULL) < 0)
		fail_msg("%s", sonde_error_text());
	c->base.rules = sonde_session_rules(c->base.s);
	assert_int_equal(script_begin(&c->base, &lang), 0);
	while ((code = script_next(&c->base, &lang)) > 0) {
		assert_true(c->keeps_event);
		assert_non_null(c->base.ev);
		c->ends++;
	}
	if (!code) {
		assert_null(c->base.ev);
		assert_int_equal(script_end(&c->base, &lang), 0);
	}
	return code;
}

static void done(struct counting *c)
{
	script_done(&c->base, &lang);
	assert_int_equal(c->inits, c->dones);
	sonde_session_close(c->base.s);
}

static const char *demo(void)
{
	return getenv("SONDE_DEMO_DATA");
}

TEST(each_event_of_a_handler_is_one_call)
{
	struct counting c = { .handled = "sched_switch" };

	assert_int_equal(run(&c, demo()), 0);
	assert_int_equal(c.calls, SWITCHES);
	assert_int_equal(c.args, SWITCHES);
	assert_int_equal(c.looks, 1); /* there was no change since */
	assert_int_equal(c.binds, 1);
	assert_true(c.base.has_called);
	assert_true(c.base.has_passed_over);
	done(&c);
}

TEST(events_without_a_handler_are_refused)
{
	struct counting c = { .handled = "sched_switch" },
			w = { .handled = "sched_switch", .wants = true }, n = { 0 };

	assert_int_equal(run(&c, demo()), 0);
	assert_in_range(c.events, SWITCHES + 3, ALL - 1);
	done(&c);
	/* Code of the script may have defined a handler after each call. */
	assert_int_equal(run(&w, demo()), 0);
	assert_in_range(w.events, c.events + 1, ALL);
	assert_int_equal(w.calls, SWITCHES);
	done(&w);
	assert_int_equal(run(&n, demo()), 0);
	assert_int_equal(n.calls, 0);
	assert_false(n.base.has_called);
	assert_true(n.base.has_passed_over);
	done(&n);
}

TEST(a_handler_is_looked_up_again_when_it_may_have_changed)
{
	struct counting c = { .handled = "sched_wakeup", .changes = true };

	assert_int_equal(run(&c, demo()), 0);
	assert_int_equal(c.calls, WAKEUPS);
	assert_int_equal(c.looks, c.events);
	done(&c);
}

TEST(definitions_come_before_the_first_call)
{
	struct counting c = { .handled = "sched_switch" }, e = { .handled = "sched_switch" };

	assert_int_equal(run(&c, demo()), 0);
	assert_true(c.defines_at_call > 0);
	done(&c);
	e.base.redefines = true;
	assert_int_equal(run(&e, demo()), 0);
	/* Definitions are made for events without a handler, too. */
	assert_int_equal(e.events, ALL);
	assert_true(e.defines >= SWITCHES * c.defines_at_call);
	done(&e);
}

TEST(a_language_may_call_outside_of_the_loop)
{
	struct counting c = { .handled = "sys_enter_", .keeps_event = true };

	assert_int_equal(run(&c, demo()), 0);
	assert_int_equal(c.ends, READS + WRITES);
	done(&c);
}

TEST(a_call_that_fails_ends_the_run)
{
	struct counting c = { .handled = "sched_switch", .fails_at = 7 };

	assert_int_equal(run(&c, demo()), -EPROTO);
	assert_int_equal(c.calls, 7);
	assert_non_null(c.base.ev); /* the failure is reported with its event */
	done(&c);
}

TEST(a_defect_is_passed_on_once)
{
	struct counting c = { .takes_defects = true }, without = { 0 };
	char path[] = "/tmp/sonde-unit-XXXXXX", bytes[70000];
	FILE *in = fopen(demo(), "rb");
	int fd = mkstemp(path);

	assert_non_null(in);
	assert_true(fd >= 0);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), in), sizeof(bytes));
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	fclose(in);
	close(fd);
	assert_int_equal(run(&c, path), 0);
	assert_int_equal(c.defects, 1); /* its count did not grow */
	assert_string_equal(c.defect, "bad-feature");
	assert_false(c.base.has_called); /* no event of the recording */
	done(&c);
	assert_int_equal(run(&without, path), 0);
	assert_int_equal(without.defects, 0);
	done(&without);
	unlink(path);
}
