/* SPDX-License-Identifier: MIT */
/*
 * Names of processors' vendors. libpfm detects the processor once in a process, so each processor
 * is tried in a child, with the library's own variable LIBPFM_FORCE_PMU. A library of one
 * architecture has no tables of the others.
 */

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/events.h"
#include "capture/pfm.h"
#include "unittest.h"

#ifndef HAVE_LIBPFM

TEST(without_the_library_its_package_is_named)
{
	struct capture_events l = { 0 };

	assert_int_equal(capture_events_add(&l, "pfm:INST_RETIRED"), -EBADR);
	assert_non_null(strstr(err_text(), "libpfm4-dev"));
	assert_int_equal(capture_pfm_each(NULL, NULL, NULL), -ENOTSUP);
	assert_non_null(strstr(err_text(), "libpfm4-dev"));
	capture_events_done(&l);
}

#else

#include <perfmon/pfmlib.h>

/* Codes out of the vendors' manuals: event, and unit mask << 8. */
static const struct {
	const char *processor, *event;
	uint64_t config;
} manual[] = {
#if defined(__x86_64__) || defined(__i386__)
	{ "skl", "INST_RETIRED:ANY_P", 0xc0 },
	{ "skl", "skl::MEM_LOAD_RETIRED:L1_HIT", 0x1d1 },
	{ "skl", "UOPS_ISSUED:ANY:c=1:i", 0x180010e | 1 << 24 },
	{ "hsw", "MEM_LOAD_UOPS_RETIRED.L1_HIT", 0x1d1 },
	{ "icx", "BR_MISP_RETIRED:ALL_BRANCHES", 0xc5 },
	{ "spr", "INST_RETIRED:ANY_P", 0xc0 },
	{ "amd64_fam17h_zen2", "RETIRED_INSTRUCTIONS", 0xc0 },
	{ "amd64_fam19h_zen4", "RETIRED_BRANCH_INSTRUCTIONS", 0xc2 },
#elif defined(__aarch64__)
	{ "arm_n1", "CPU_CYCLES", 0x11 },      { "arm_n2", "INST_RETIRED", 0x8 },
	{ "arm_v1", "L1D_CACHE_REFILL", 0x3 }, { "arm_ac72", "BR_MIS_PRED", 0x10 },
	{ "arm_a64fx", "INST_RETIRED", 0x8 },
#endif
};

/* Runs body(arg) in a child with the processor forced; "" for none. */
static void in_child(const char *processor, void (*body)(const void *arg), const void *arg)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		unsetenv("LIBPFM_FORCE_PMU");
		if (*processor)
			setenv("LIBPFM_FORCE_PMU", processor, 1);
		body(arg);
		fflush(NULL);
		_exit(0);
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("%s: see above", *processor ? processor : "this processor");
}

#define CHILD_CHECK(what, ...)                                      \
	do {                                                        \
		if (!(what)) {                                      \
			printf("# line %d: " #what ": ", __LINE__); \
			printf(__VA_ARGS__);                        \
			printf("\n");                               \
			fflush(stdout);                             \
			_exit(1);                                   \
		}                                                   \
	} while (0)

/* ---- one event ------------------------------------------------------------------------------- */

static void check_manual(const void *arg)
{
	const size_t i = *(const size_t *)arg;
	struct capture_events l = { .sources = "/nonexistent" };
	char text[256];

	snprintf(text, sizeof(text), "cs,{pfm:%s,pfm:%s/period=7,name=mine/k}", manual[i].event,
		 manual[i].event);
	CHILD_CHECK(capture_events_add(&l, text) == 0, "%s: %s", text, err_text());
	CHILD_CHECK(l.list.n == 3, "%zu events", l.list.n);
	CHILD_CHECK(!strcmp(l.list.v[1].name, manual[i].event), "%s", l.list.v[1].name);
	CHILD_CHECK(!strcmp(l.list.v[2].name, "mine"), "%s", l.list.v[2].name);
	CHILD_CHECK(l.list.v[2].terms.rate_value == 7 && l.list.v[2].attr.exclude_user, "terms");
	for (int k = 1; k < 3; k++) {
		const struct perf_event_attr *a = &l.list.v[k].attr;

		CHILD_CHECK(a->type == PERF_TYPE_RAW ||
				    !access("/sys/bus/event_source/devices/cpu", F_OK),
			    "type %u", a->type);
		CHILD_CHECK(a->config == manual[i].config, "%s: %#llx, not %#llx", manual[i].event,
			    (unsigned long long)a->config, (unsigned long long)manual[i].config);
	}
	capture_events_done(&l);
}

TEST(codes_of_the_vendors_manuals)
{
	for (size_t i = 0; i < sizeof(manual) / sizeof(*manual); i++)
		in_child(manual[i].processor, check_manual, &i);
}

/* ---- all events of a processor, compared with the library -------------------------------------
 */

/* The library's own code of an event, for the registers of the processor; 0 if it has none. */
static uint64_t code_of_library(const char *name)
{
	pfm_pmu_encode_arg_t arg = { .size = sizeof(arg) };
	uint64_t code = 0;

	if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg) ==
		    PFM_SUCCESS &&
	    arg.count)
		code = arg.codes[0];
	free(arg.codes);
	return code;
}

static char names[4096][128];
static size_t nr_names;

/* Events are encoded after the walk, which holds the library's lock. */
static int note_name(void *ctx, const struct pfm_event *e)
{
	CHILD_CHECK(nr_names < sizeof(names) / sizeof(*names), "more than %zu events", nr_names);
	CHILD_CHECK(*e->description && !strncmp(e->name, "pfm:", 4) && strchr(e->modifiers, 'u'),
		    "%s: %s, %s", e->name, e->description, e->modifiers);
	snprintf(names[nr_names++], sizeof(names[0]), "%s", e->name);
	return 0;
}

/* Returns 1 if the event has the library's code, 0 if both refuse it. */
static size_t compare_event(const char *name)
{
	struct capture_events l = { .sources = "/nonexistent" };
	uint64_t code = code_of_library(name + strlen("pfm:"));
	const int r = capture_events_add(&l, name);
	const struct perf_event_attr *a = r == 0 ? &l.list.v[0].attr : NULL;

#if defined(__x86_64__) || defined(__i386__)
	/* the kernel sets these bits itself: user, kernel, interrupt, enable */
	code &= ~(uint64_t)0x530000;
#endif
	CHILD_CHECK(a || !code, "%s: %s", name, err_text());
	CHILD_CHECK(!a || a->config == code, "%s: %#llx, not %#llx", name,
		    (unsigned long long)a->config, (unsigned long long)code);
	capture_events_done(&l);
	return a != NULL;
}

static void check_all(const void *arg)
{
	size_t same = 0;

	CHILD_CHECK(capture_pfm_each(NULL, note_name, NULL) == 0, "%s", err_text());
	for (size_t i = 0; i < nr_names; i++)
		same += compare_event(names[i]);
	printf("# %s: %zu events, %zu of them encoded as by the library\n", (const char *)arg,
	       nr_names, same);
	CHILD_CHECK(same > 20 && same > nr_names * 9 / 10, "%zu of %zu", same, nr_names);
}

TEST(all_events_of_processors)
{
	const char *last = "";

	for (size_t i = 0; i < sizeof(manual) / sizeof(*manual); i++)
		if (strcmp(last, manual[i].processor)) {
			last = manual[i].processor;
			in_child(last, check_all, last);
		}
}

/* ---- modifiers and mistakes ------------------------------------------------------------------ */

#if defined(__x86_64__) || defined(__i386__)

static void check_modifiers(const void *arg)
{
	struct capture_events l = { .sources = "/nonexistent" };
	const struct capture_event *e;

	CHILD_CHECK(capture_events_add(&l, "pfm:INST_RETIRED:ANY_P:u:precise=2,"
					   "pfm:inst_retired.any_p:period=1000,"
					   "pfm:UOPS_ISSUED:freq=99:k") == 0,
		    "%s", err_text());
	e = l.list.v;
	CHILD_CHECK(e[0].attr.precise_ip == 2 && e[0].attr.exclude_kernel && e[0].chose_levels &&
			    !e[0].attr.exclude_user,
		    "u and precise");
	CHILD_CHECK(e[0].terms.rate == RATE_UNSAID && !e[0].attr.sample_period, "no rate");
	CHILD_CHECK(e[1].terms.rate == RATE_PERIOD && e[1].terms.rate_value == 1000 &&
			    !e[1].attr.sample_period && !e[1].chose_levels,
		    "period");
	CHILD_CHECK(e[2].terms.rate == RATE_FREQ && e[2].terms.rate_value == 99 &&
			    !e[2].attr.freq && e[2].attr.exclude_user,
		    "freq and k");
	capture_events_done(&l);
}

TEST(modifiers_of_the_library)
{
	in_child("skl", check_modifiers, NULL);
}

static void check_mistakes(const void *arg)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "pfm:", "no event ''" },
		{ "pfm:INST_RETIRD:ANY_P", "did you mean INST_RETIRED or" },
		{ "pfm:nhm::INST_RETIRED:ANY_P", "'sonde list pfm' lists them" },
		{ "pfm:INST_RETIRED:NOPE", "INST_RETIRED takes ANY_P" },
		{ "pfm:INST_RETIRED:ANY_P:c=x", "INST_RETIRED takes" },
		{ "pfm:INST_RETIRED:ANY_P:cpu=1", "-C chooses the cpus" },
		{ "pfm:INST_RETIRED:ANY_P/u", "not closed" },
		{ "pfm:INST_RETIRED:ANY_P/perod=1/", "did you mean period" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct capture_events l = { .sources = "/nonexistent" };

		CHILD_CHECK(capture_events_add(&l, bad[i].text) == -EBADR, "%s", bad[i].text);
		CHILD_CHECK(strstr(err_text(), bad[i].says), "%s: %s", bad[i].text, err_text());
		CHILD_CHECK(strstr(err_text(), bad[i].text), "%s: %s", bad[i].text, err_text());
		capture_events_done(&l);
	}
}

TEST(mistakes_in_vendors_names)
{
	in_child("skl", check_mistakes, NULL);
}

static int count_event(void *ctx, const struct pfm_event *e)
{
	++*(size_t *)ctx;
	return 0;
}

static void check_other_processor(const void *arg)
{
	size_t zen = 0, all_zen = 0;

	CHILD_CHECK(capture_pfm_each("amd64_fam19h_zen4", count_event, &zen) == 0, "%s",
		    err_text());
	CHILD_CHECK(capture_pfm_each("AMD64_FAM*", count_event, &all_zen) == 0, "%s", err_text());
	CHILD_CHECK(zen && all_zen > 3 * zen, "%zu, %zu", zen, all_zen);
	CHILD_CHECK(capture_pfm_each("amd64_fam19h_zen", count_event, &zen) == -ENODEV, "found");
	CHILD_CHECK(strstr(err_text(), "did you mean amd64_fam19h_zen"), "%s", err_text());
}

TEST(names_of_another_processor)
{
	in_child("skl", check_other_processor, NULL);
}

/* This variable leaves only the kernel's own names, as on a processor without a table. */
static void check_unknown_processor(const void *arg)
{
	struct capture_events l = { .sources = "/nonexistent" };
	size_t nr = 0;

	CHILD_CHECK(capture_pfm_each(NULL, count_event, &nr) == -ENODEV && !nr, "%zu events", nr);
	CHILD_CHECK(strstr(err_text(), "no table of events for this processor"), "%s", err_text());
	CHILD_CHECK(strstr(err_text(), "perf_raw"), "%s", err_text());
	CHILD_CHECK(capture_events_add(&l, "pfm:INST_RETIRED") == -EBADR, "taken");
	CHILD_CHECK(strstr(err_text(), "no table of events for this processor"), "%s", err_text());
	CHILD_CHECK(strstr(err_text(), "event 'pfm:INST_RETIRED'"), "%s", err_text());
	capture_events_done(&l);
}

TEST(an_unknown_processor_is_described)
{
	in_child("perf_raw", check_unknown_processor, NULL);
}

#endif
#endif
