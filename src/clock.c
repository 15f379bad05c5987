/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "session.h"

enum { NS_IN_S = 1000000000 };

/* Sleep and steps of the time of day part a clock from it; two recordings of one boot differ by less, if nothing happened. */
#define SAME_BOOT_NS INT64_C(2000000000)
#define LATEST_NS    (UINT64_C(1) << 62) /* in 2116; what is said beyond is damage */

static struct source_clock clock_of(const struct sonde_session *s)
{
	struct source_clock c = { .id = -1 };

	if (s->source->ops->clock)
		s->source->ops->clock(s->source, &c);
	return c;
}

/* What is to be added to a recorded time for the time of day. */
static bool find_wall(const struct sonde_session *s, int64_t *ret_ns)
{
	const struct source_clock c = clock_of(s);

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

int clock_no_wall(struct sonde_session *s)
{
	const struct source_clock c = clock_of(s);
	char room[32];

	if (!c.is_known)
		return err_set(-ETIME,
			       "%s: the time of day of its events is not known: it does not say "
			       "by which clock they were timed",
			       s->opts.input);
	if (c.has_reference && c.reference_id == c.id)
		return err_set(-ETIME,
			       "%s: the time of day of its events is not known: its clock data are "
			       "damaged",
			       s->opts.input);
	if (c.has_reference)
		return err_set(-ETIME,
			       "%s: the time of day of its events is not known: they were timed by "
			       "%s, but its clock data are of another clock (number %d)",
			       s->opts.input, clock_word(c.id, room), c.reference_id);
	return err_set(-ETIME,
		       "%s: the time of day of its events is not known: they were timed by %s, and "
		       "it holds no clock data (record with -k CLOCK_MONOTONIC to have it; raw and "
		       "relative times are known)",
		       s->opts.input, clock_word(c.id, room));
}

/* ---- two recordings ------------------------------------------------------------------------------------------------ */

static const char *said(const struct sonde_session *s, const char *key)
{
	return s->source->ops->info(s->source, key);
}

/* What else the user can do, as far as it is possible. */
static const char *remedy(const struct sonde_session *a, const struct sonde_session *b)
{
	int64_t ns;

	return find_wall(a, &ns) && find_wall(b, &ns)
		       ? "--clock utc lists them by the time of day, which both tell; or say how "
			 "far "
			 "their clocks are apart: --offset SECONDS behind the second"
		       : "say how far their clocks are apart: --offset SECONDS behind the second "
			 "(0: "
			 "they are one)";
}

static int unrelated(const struct sonde_session *a, const struct sonde_session *b, const char *why,
		     const char *of_a, const char *of_b)
{
	return err_set(
		-ETIME,
		"%s and %s cannot be listed together: %s (%s and %s), so that their times do not "
		"tell what came first; %s",
		a->opts.input, b->opts.input, why, of_a, of_b, remedy(a, b));
}

static int check_kernels(struct sonde_session *a, struct sonde_session *b)
{
	struct source_kernel ka = { 0 }, kb = { 0 };

	a->source->ops->kernel(a->source, &ka);
	b->source->ops->kernel(b->source, &kb);
	if (!ka.build_id_len || !kb.build_id_len ||
	    (ka.build_id_len == kb.build_id_len &&
	     !memcmp(ka.build_id, kb.build_id, ka.build_id_len)))
		return 0;
	return unrelated(a, b, "they are of two kernels",
			 session_hex(a, ka.build_id, ka.build_id_len),
			 session_hex(b, kb.build_id, kb.build_id_len));
}

/* "2026-11-22 21:15:58" */
static void moment_text(int64_t ns, char room[40])
{
	time_t seconds = (time_t)(ns / NS_IN_S);
	struct tm tm;

	room[0] = '\0';
	if (gmtime_r(&seconds, &tm))
		strftime(room, 40, "%F %TZ", &tm);
}

/* The events of both were timed by one clock of one machine, as far as they tell; else -ETIME and why not. */
static int check_same_clock(struct sonde_session *a, struct sonde_session *b)
{
	const struct source_clock ca = clock_of(a), cb = clock_of(b);
	const char *host_a = said(a, "hostname"), *host_b = said(b, "hostname"),
		   *release_a = said(a, "osrelease"), *release_b = said(b, "osrelease");
	char room_a[40], room_b[40];
	int64_t wall_a, wall_b;

	if (!ca.is_known || !cb.is_known)
		return unrelated(a, b, "it is not known by which clocks they were timed",
				 ca.is_known ? "known" : "not known",
				 cb.is_known ? "known" : "not known");
	if (ca.id != cb.id)
		return unrelated(a, b, "they were timed by two clocks", clock_word(ca.id, room_a),
				 clock_word(cb.id, room_b));
	if (ca.id == CLOCK_REALTIME && host_a && host_b && !strcmp(host_a, host_b))
		return 0; /* which outlives the kernel */
	if (!host_a || !host_b)
		return unrelated(a, b, "it is not known whether they are of one host",
				 host_a ? host_a : "not told", host_b ? host_b : "not told");
	if (strcmp(host_a, host_b))
		return unrelated(a, b, "they are of two hosts", host_a, host_b);
	if (release_a && release_b && strcmp(release_a, release_b))
		return unrelated(a, b, "they are of two kernels", release_a, release_b);
	TRY(check_kernels(a, b));
	if (!find_wall(a, &wall_a) || !find_wall(b, &wall_b) ||
	    (wall_a - wall_b < SAME_BOOT_NS && wall_b - wall_a < SAME_BOOT_NS))
		return 0;
	moment_text(wall_a, room_a);
	moment_text(wall_b, room_b);
	return unrelated(
		a, b,
		"their clock began at two times of day: another boot, or the machine slept "
		"or its time was set in between",
		room_a, room_b);
}

/* The kernel's mapping is told before anything else. Its place is another one in each boot, where the kernel is asked for that. */
static const struct mapping *kernel_mapping(const struct sonde_session *s)
{
	const struct mapping *m = address_space_behind(s->state.kernel, 0);

	while (m && strncmp(strpool_text(s->strings, m->name), "[kernel.kallsyms]", 17) != 0)
		m = address_space_behind(s->state.kernel, m->end);
	return m;
}

int clock_check_boot(struct sonde_session *s, const struct sonde_session *first)
{
	const struct mapping *a = kernel_mapping(first), *b = kernel_mapping(s);
	char room_a[40], room_b[40];

	/* It holds where the symbol lies by which it is named. Hidden addresses are 0. */
	if (!a || !b || a->name != b->name || !a->pgoff || !b->pgoff || a->pgoff == b->pgoff)
		return 0;
	snprintf(room_a, sizeof(room_a), "0x%" PRIx64, a->pgoff);
	snprintf(room_b, sizeof(room_b), "0x%" PRIx64, b->pgoff);
	return unrelated(first, s, "they are of two boots, whose kernels lie at different places",
			 room_a, room_b);
}

/* ---- the line ------------------------------------------------------------------------------------------------------ */

static bool shows_wall(const struct sonde_session *s)
{
	return s->opts.clock == CLOCK_SHOWN_UTC || s->opts.clock == CLOCK_SHOWN_LOCAL;
}

int clock_place(struct sonde_session *s, const struct sonde_session *first)
{
	/* Nothing of the first one is changed; what it says of itself is read when it is asked. */
	struct sonde_session *other = (struct sonde_session *)first;
	struct session_clock *c = &s->clock;
	int64_t own_wall, offset = 0;
	bool has_wall = find_wall(s, &own_wall);

	if (s->opts.offset)
		TRY(session_options_offset(s->opts.offset, &offset));
	c->shift_ns = offset;
	if (!shows_wall(s)) {
		if (s != first && !s->opts.offset) {
			TRY(check_same_clock(other, s));
			s->checks_boot = clock_of(s).id != CLOCK_REALTIME;
		}
		c->has_wall = has_wall;
		c->wall_ns = own_wall - offset;
		c->waits = s->opts.clock == CLOCK_SHOWN_RELATIVE;
		c->is_shifted = c->shift_ns || c->waits;
		return 0;
	}
	/* Recordings of one clock are shown by one word of it, so that they stay in its order. */
	if (s != first && find_wall(first, &own_wall) &&
	    ((s->opts.offset && !has_wall) || check_same_clock(other, s) >= 0))
		has_wall = true;
	else
		has_wall = find_wall(s, &own_wall);
	err_clear();
	if (!has_wall)
		return clock_no_wall(s);
	c->shift_ns = own_wall + offset;
	c->has_wall = c->is_shifted = true;
	c->wall_ns = 0;
	return 0;
}
