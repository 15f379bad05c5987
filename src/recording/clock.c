/* SPDX-License-Identifier: MIT */
#include "recording/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "recording/recording.h"

enum { NS_IN_S = 1000000000 };

/*
 * The distance between a clock and the time of day changes when the machine sleeps or its time is
 * set. Without that it differs by less than this between two recordings of one boot.
 */
#define SAME_BOOT_NS INT64_C(2000000000)
#define LATEST_NS    (UINT64_C(1) << 62) /* in 2116; later times are damage */

/* Finds the difference that turns a recorded time into the time of day. */
static bool clock_find_wall(const struct recording *rec, int64_t *ret_ns)
{
	const struct source_clock c = source_read_clock(rec->source);

	*ret_ns = 0;
	if (c.is_known && c.id == CLOCK_REALTIME)
		return true;
	if (!c.is_known || c.id < 0 || !c.has_reference || c.reference_id != c.id ||
	    c.wall_ns > LATEST_NS || c.clock_ns > LATEST_NS)
		return false;
	*ret_ns = (int64_t)(c.wall_ns - c.clock_ns);
	return true;
}

static const char *clock_word(int32_t id, char room[32])
{
	static const char *const words[] = { [CLOCK_REALTIME] = "CLOCK_REALTIME",
					     [CLOCK_MONOTONIC] = "CLOCK_MONOTONIC",
					     [CLOCK_MONOTONIC_RAW] = "CLOCK_MONOTONIC_RAW",
					     [CLOCK_BOOTTIME] = "CLOCK_BOOTTIME",
					     [CLOCK_TAI] = "CLOCK_TAI" };

	if (id < 0)
		return "the kernel's own clock";
	if ((size_t)id < sizeof(words) / sizeof(*words) && words[id])
		return words[id];
	snprintf(room, 32, "clock %d", id);
	return room;
}

int clock_no_wall(struct recording *rec)
{
	const struct source_clock c = source_read_clock(rec->source);
	char room[32];

	if (!c.is_known)
		return err_set(-ETIME,
			       "%s: the time of day of its events is not known: it does not say "
			       "by which clock they were timed",
			       rec->input);
	if (c.has_reference && c.reference_id == c.id)
		return err_set(-ETIME,
			       "%s: the time of day of its events is not known: its clock data are "
			       "damaged",
			       rec->input);
	if (c.has_reference)
		return err_set(-ETIME,
			       "%s: the time of day of its events is not known: they were timed by "
			       "%s, but its clock data are of another clock (number %d)",
			       rec->input, clock_word(c.id, room), c.reference_id);
	return err_set(-ETIME,
		       "%s: the time of day of its events is not known: they were timed by %s, and "
		       "it holds no clock data (record with -k CLOCK_MONOTONIC to have it; raw and "
		       "relative times are known)",
		       rec->input, clock_word(c.id, room));
}

/* ---- two recordings -------------------------------------------------------------------------- */

static const char *clock_said(const struct recording *rec, const char *key)
{
	return source_info(rec->source, key);
}

/* The advice for the user: another way to list both recordings. */
static const char *clock_remedy(const struct recording *a, const struct recording *b)
{
	int64_t ns;

	return clock_find_wall(a, &ns) && clock_find_wall(b, &ns)
		       ? "--clock utc lists them by the time of day, which both record; or give "
			 "the difference of their clocks: --offset SECONDS after the second"
		       : "give the difference of their clocks: --offset SECONDS after the second "
			 "(0: "
			 "they are one)";
}

static int clock_unrelated(const struct recording *a, const struct recording *b, const char *why,
			   const char *of_a, const char *of_b)
{
	return err_set(-EXDEV,
		       "%s and %s cannot be merged: %s (%s and %s), so their times do not "
		       "show which event was first; %s",
		       a->input, b->input, why, of_a, of_b, clock_remedy(a, b));
}

static int clock_check_kernels(struct recording *a, struct recording *b)
{
	struct source_kernel ka = { 0 }, kb = { 0 };
	char hex_a[BUILD_ID_HEX_CHARS], hex_b[BUILD_ID_HEX_CHARS];

	source_read_kernel(a->source, &ka);
	source_read_kernel(b->source, &kb);
	if (!build_id_is_known(&ka.build_id) || !build_id_is_known(&kb.build_id) ||
	    build_id_equal(&ka.build_id, &kb.build_id))
		return 0;
	return clock_unrelated(a, b, "they are of different kernels",
			       build_id_hex(&ka.build_id, hex_a),
			       build_id_hex(&kb.build_id, hex_b));
}

/* "2026-11-22 21:15:58" */
static void clock_moment_text(int64_t ns, char room[40])
{
	time_t seconds = (time_t)(ns / NS_IN_S);
	struct tm tm;

	room[0] = '\0';
	if (gmtime_r(&seconds, &tm))
		strftime(room, 40, "%F %TZ", &tm);
}

static const char *clock_name(const struct source_clock *c, char room[40])
{
	if (c->name)
		return c->name;
	return c->is_known ? clock_word(c->id, room) : "not recorded";
}

/*
 * 0 if one clock of one machine timed the events of both, according to the recordings; else -EXDEV
 * and the reason.
 */
static int clock_check_same(struct recording *a, struct recording *b)
{
	const struct source_clock ca = source_read_clock(a->source),
				  cb = source_read_clock(b->source);
	const char *host_a = clock_said(a, "hostname"), *host_b = clock_said(b, "hostname"),
		   *release_a = clock_said(a, "osrelease"), *release_b = clock_said(b, "osrelease");
	char room_a[40], room_b[40];
	int64_t wall_a, wall_b;

	if (ca.group && ca.group == cb.group)
		return 0;
	if (!ca.is_known || !cb.is_known)
		return clock_unrelated(a, b, "their clocks cannot be related",
				       clock_name(&ca, room_a), clock_name(&cb, room_b));
	if (ca.id != cb.id || strcmp(ca.name ? ca.name : "", cb.name ? cb.name : "") != 0)
		return clock_unrelated(a, b, "they were timed by different clocks",
				       clock_name(&ca, room_a), clock_name(&cb, room_b));
	if (ca.id == CLOCK_REALTIME && host_a && host_b && !strcmp(host_a, host_b))
		return 0; /* this clock continues across boots */
	if (!host_a || !host_b)
		return clock_unrelated(a, b, "it is not known whether they are of one host",
				       host_a ? host_a : "not recorded",
				       host_b ? host_b : "not recorded");
	if (strcmp(host_a, host_b))
		return clock_unrelated(a, b, "they are of different hosts", host_a, host_b);
	if (release_a && release_b && strcmp(release_a, release_b))
		return clock_unrelated(a, b, "they are of different kernels", release_a, release_b);
	TRY(clock_check_kernels(a, b));
	if (!clock_find_wall(a, &wall_a) || !clock_find_wall(b, &wall_b) ||
	    (wall_a - wall_b < SAME_BOOT_NS && wall_b - wall_a < SAME_BOOT_NS))
		return 0;
	clock_moment_text(wall_a, room_a);
	clock_moment_text(wall_b, room_b);
	return clock_unrelated(
		a, b,
		"their clock began at different times of day: another boot, or the machine slept "
		"or its time was set in between",
		room_a, room_b);
}

/*
 * The kernel's mapping is recorded before anything else. A kernel that randomizes its address has
 * another address after each boot.
 */
static const struct mapping *clock_kernel_mapping(const struct recording *rec)
{
	const struct mapping *m = address_space_behind(rec->state.kernel, 0);

	while (m && strncmp(strpool_text(rec->strings, m->name), "[kernel.kallsyms]", 17) != 0)
		m = address_space_behind(rec->state.kernel, m->end);
	return m;
}

int clock_check_boot(struct recording *rec)
{
	const struct recording *first = &rec->all->v[0];
	const struct mapping *a = clock_kernel_mapping(first), *b = clock_kernel_mapping(rec);
	char room_a[40], room_b[40];

	/* pgoff is the address of the symbol in the mapping's name. A hidden address is 0. */
	if (!a || !b || a->name != b->name || !a->pgoff || !b->pgoff || a->pgoff == b->pgoff)
		return 0;
	snprintf(room_a, sizeof(room_a), "0x%" PRIx64, a->pgoff);
	snprintf(room_b, sizeof(room_b), "0x%" PRIx64, b->pgoff);
	return clock_unrelated(
		first, rec,
		"they are of different boots, because their kernels have different addresses",
		room_a, room_b);
}

/* ---- the line -------------------------------------------------------------------------------- */

int clock_offset_parse(const char *text, int64_t *ret_ns)
{
	/* so that sums with times of day stay far from overflow */
	static const uint64_t MOST_S = 4000000000;
	const char *p = text;
	bool negative = *p == '-';
	uint64_t s = 0, ns = 0;
	unsigned unit = NS_IN_S, digits = 0;

	p += *p == '-' || *p == '+';
	for (; *p >= '0' && *p <= '9' && s < MOST_S; p++, digits++)
		s = s * 10 + (unsigned)(*p - '0');
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9' && unit > 1; p++, digits++)
			ns += (unsigned)(*p - '0') * (unit /= 10);
	}
	if (*p || !digits || s >= MOST_S)
		return err_set(-EINVAL,
			       "--offset %s: seconds with up to 9 decimals are expected, as 1.5 or "
			       "-0.25",
			       text);
	*ret_ns = (int64_t)(s * NS_IN_S + ns) * (negative ? -1 : 1);
	return 0;
}

static bool clock_shows_wall(const struct recording *rec)
{
	return rec->opts->clock == CLOCK_SHOWN_UTC || rec->opts->clock == CLOCK_SHOWN_LOCAL;
}

/*
 * Places rec by its recorded clock plus its offset. Without an offset the clock must be the first
 * recording's clock.
 */
static int clock_place_inputs(struct recording *rec, int64_t offset_ns)
{
	struct recording_clock *c = &rec->clock;

	if (rec->nr && !rec->offset) {
		TRY(clock_check_same(&rec->all->v[0], rec));
		rec->checks_boot = source_read_clock(rec->source).id != CLOCK_REALTIME;
	}
	c->shift_ns = offset_ns;
	c->is_shifted = offset_ns || rec->opts->clock == CLOCK_SHOWN_RELATIVE;
	c->has_wall = clock_find_wall(rec, &c->wall_ns);
	c->wall_ns -= offset_ns;
	return 0;
}

/*
 * Places rec by the time of day. If its clock is the first recording's clock, both use the first
 * recording's time of day, so that their events stay in the order of that clock.
 */
static int clock_place_by_wall(struct recording *rec, int64_t offset_ns)
{
	struct recording *first = &rec->all->v[0];
	struct recording_clock *c = &rec->clock;
	int64_t wall_ns, own_ns;
	bool has_wall = clock_find_wall(rec, &own_ns);

	if (rec->nr && clock_find_wall(first, &wall_ns) &&
	    ((rec->offset && !has_wall) || clock_check_same(first, rec) >= 0))
		own_ns = wall_ns;
	else if (!has_wall)
		return clock_no_wall(rec);
	err_clear();
	c->shift_ns = own_ns + offset_ns;
	c->has_wall = c->is_shifted = true;
	c->wall_ns = 0;
	return 0;
}

int clock_place(struct recording *rec)
{
	struct timeline *line = &rec->all->line;
	int64_t offset_ns = 0;

	if (rec->offset)
		TRY(clock_offset_parse(rec->offset, &offset_ns));
	TRY(clock_shows_wall(rec) ? clock_place_by_wall(rec, offset_ns)
				  : clock_place_inputs(rec, offset_ns));
	line->waits = rec->opts->clock == CLOCK_SHOWN_RELATIVE;
	if (rec->clock.has_wall && !line->has_wall) {
		line->has_wall = true;
		line->wall_ns = rec->clock.wall_ns;
	}
	return 0;
}
