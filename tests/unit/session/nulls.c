/* SPDX-License-Identifier: MIT */
/*
 * Every function of sonde.h with NULL for each of its pointers in turn, one call per child process:
 * no crash, the stated result, a cause that names the function and the parameter, and outputs that
 * say "nothing". null_calls.py makes the calls out of the header. The program is linked with the
 * shared library, as programs of users are.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sonde/sonde.h"

enum expected {
	REFUSED, /* -EINVAL */
	ZERO,    /* NULL, 0 */
	EMPTY,   /* "" */
	NOTHING, /* returns nothing */
	NOWHERE, /* an unknown location */
	ALLOWED, /* anything but -EINVAL */
};

struct call {
	const char *name, *cause;
	enum expected expected;
	intptr_t (*run)(void);
};

enum { UNTOUCHED = 77 };

static struct sonde_session *session, *opened;
static const struct sonde_event *event, *next, *const *batch;
static const struct sonde_schema *schema;
static const struct sonde_field *field;
static const struct sonde_frame *frames;
static struct sonde_sample sample;
static struct sonde_location location;
static struct sonde_dso dso;
static struct sonde_pair pair;
static struct sonde_task task;
static struct sonde_code code;
static struct sonde_recorder *recorder, *recorder_opened;
static struct sonde_record_options record_options = { .size = sizeof(record_options) };
static struct sonde_record_result record_result = { .size = sizeof(record_result) };
static struct sonde_live *live, *live_opened;
static struct sonde_live_options live_options = { .size = sizeof(live_options) };
static struct sonde_filter *filter, *filter_made;
static struct sonde_stat *stat_count, *stat_opened;
static struct sonde_stat_options stat_options = { .size = sizeof(stat_options) };
static struct sonde_stat_round stat_round = { .size = sizeof(stat_round) };
static int stat_status;
static struct sonde_nearest nearest = { .size = sizeof(nearest), .wanted = "a" };
static struct sonde_tracepoint *tracepoint_opened;
static struct sonde_list_options list_options = { .size = sizeof(list_options) };
static struct sonde_aggregate *aggregate, *aggregate_made;
static struct sonde_aggregate_options aggregate_options = {
	.size = sizeof(aggregate_options),
	.kind = "count",
	.events = "*",
};
static struct sonde_aggregate_facts aggregate_facts = { .size = sizeof(aggregate_facts) };
static struct sonde_aggregate_row aggregate_row = { .size = sizeof(aggregate_row) };
static struct sonde_aggregate_print_options aggregate_print_options = {
	.size = sizeof(aggregate_print_options),
};
static struct sonde_columns *columns, *columns_made;
static struct sonde_columns_options columns_options = { .size = sizeof(columns_options) };
static struct sonde_columns_table columns_table = { .size = sizeof(columns_table) };
static struct ArrowSchema arrow_schema;
static struct ArrowArray arrow_array;
static struct ArrowArrayStream arrow_stream;
static struct sonde_profile *profile, *profile_made;
static struct sonde_profile_facts profile_facts = { .size = sizeof(profile_facts) };
static struct sonde_profile_table profile_table = { .size = sizeof(profile_table) };
static struct sonde_profile_row profile_row = { .size = sizeof(profile_row) };
static struct sonde_profile_value profile_value = { .size = sizeof(profile_value) };
static struct sonde_profile_place profile_place = { .size = sizeof(profile_place) };
static struct sonde_profile_node profile_node = { .size = sizeof(profile_node) };
static struct sonde_profile_branches profile_branches = { .size = sizeof(profile_branches) };
static struct sonde_profile_block profile_block = { .size = sizeof(profile_block) };
static struct sonde_profile_path profile_path = { .size = sizeof(profile_path) };
static struct sonde_profile_read profile_read = { .size = sizeof(profile_read) };
static const char *title;
static uint32_t number;
static size_t length = UNTOUCHED;
static char session_text[4096], room[64] = "untouched", *parsed;
static int context;

static void on_progress(void *ctx, const struct sonde_progress *p)
{
}

static void on_event(void *ctx, const struct sonde_listed_event *e)
{
}

static void on_source(void *ctx, const struct sonde_event_source *s)
{
}

static void on_part(void *ctx, const struct sonde_kernel_part *part)
{
}

#include "null-calls.inc"

static bool is_expected(enum expected expected, intptr_t got)
{
	const struct sonde_location *loc;

	switch (expected) {
	case REFUSED:
		return got == -EINVAL;
	case ZERO:
	case NOTHING:
		return !got;
	case EMPTY:
		return got && !*(const char *)got;
	case NOWHERE:
		loc = (const struct sonde_location *)got;
		return loc && loc->size == sizeof(*loc) && !loc->dso && !loc->sym &&
		       loc->dso_build_id && loc->unknown == SONDE_UNKNOWN_NO_MAPPING;
	case ALLOWED:
		return got != -EINVAL;
	}
	return false;
}

/* Runs in a child process. The status is 0 if the result is the expected one, else 1. */
static int check(const struct call *c)
{
	const char *cause;
	intptr_t got;

	sonde_session_parse("", &parsed); /* no cause of an earlier failure */
	got = c->run();
	cause = sonde_error_text();
	if (!is_expected(c->expected, got))
		printf("# %s gives %ld\n", c->name, (long)got);
	else if (strcmp(cause, c->cause) && c->expected != ALLOWED)
		printf("# %s: the cause is '%s', not '%s'\n", c->name, cause, c->cause);
	else if (c->expected != ALLOWED && length && length != UNTOUCHED)
		printf("# %s: a length of %zu without a text\n", c->name, length);
	else
		return 0;
	return 1;
}

static bool is_ok(const struct call *c)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		status = check(c);
		fflush(stdout);
		_exit(status);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (WIFSIGNALED(status))
		printf("# %s: signal %d\n", c->name, WTERMSIG(status));
	return !status;
}

static bool find_event(void)
{
	snprintf(session_text, sizeof(session_text), "input=%s\n", getenv("SONDE_DEMO_DATA"));
	if (sonde_session_open(&session, session_text, NULL) < 0 ||
	    sonde_session_next(session, &event) <= 0)
		return false;
	schema = sonde_event_schema(session, event);
	field = sonde_schema_fields(schema, &length);
	length = UNTOUCHED;
	if (sonde_profile_new(&profile, "", NULL) < 0 || sonde_columns_new(&columns, session) < 0 ||
	    sonde_aggregate_new(&aggregate, session, &aggregate_options) < 0 ||
	    sonde_filter_new(&filter, session, "common_pid != 0") < 0)
		return false;
	recorder = calloc(1, 1 << 16); /* a call that reads it has not refused NULL */
	stat_count = calloc(1, 1 << 16);
	live = calloc(1, 1 << 16);
	return schema && field && recorder && stat_count && live;
}

int main(void)
{
	const size_t n = sizeof(calls) / sizeof(*calls);
	size_t failed = 0, faulty = 0;

	if (!find_event()) {
		printf("Bail out! %s\n", sonde_error_text());
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		bool ok = is_ok(&calls[i]);

		printf("%sok %zu - %s is NULL\n", ok ? "" : "not ", i + 1, calls[i].name);
		failed += !ok;
	}
	for (; faults[faulty]; faulty++)
		printf("# %s\n", faults[faulty]);
	printf("%sok %zu - a rule for each function, a function for each rule\n",
	       faulty ? "not " : "", n + 1);
	printf("1..%zu\n", n + 1);
	sonde_columns_free(columns);
	sonde_aggregate_free(aggregate);
	sonde_filter_free(filter);
	sonde_session_close(session);
	free(recorder);
	free(stat_count);
	free(live);
	sonde_profile_free(profile);
	return failed || faulty;
}
