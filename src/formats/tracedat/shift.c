/* SPDX-License-Identifier: MIT */
#include "formats/tracedat/shift.h"

#include "formats/tracedat/buffers.h"

enum { FLAG_INTERPOLATE = 1, MOMENT_BYTES = 3 * 8, LARGEST_FRACTION = 63 };

static int shift_read_cpu(struct bytes *b, struct arena *a, struct tracedat_shift *ret)
{
	uint32_t n = 0;

	TRY(bytes_u32(b, "number of moments", &n));
	if (n > bytes_left(b) / MOMENT_BYTES)
		return bytes_fail(b, -EBADMSG, "%u moments need more than the %zu bytes left", n,
				  bytes_left(b));
	ret->nr = n;
	ret->moments = arena_array(a, n ? n : 1, sizeof(*ret->moments));
	if (!ret->moments)
		return err_nomem();
	for (uint32_t i = 0; i < n; i++)
		TRY(bytes_u64(b, "time", &ret->moments[i].time));
	for (uint32_t i = 0; i < n; i++)
		TRY(bytes_u64(b, "offset", (uint64_t *)&ret->moments[i].offset));
	for (uint32_t i = 0; i < n; i++)
		TRY(bytes_u64(b, "scaling", (uint64_t *)&ret->moments[i].scaling));
	return 0;
}

/* Newer recorders add the bits of fractions, after all cpus. */
static int shift_read_fractions(struct bytes *b, struct tracedat_shifts *shifts)
{
	for (uint32_t cpu = 0; cpu < shifts->nr_cpus; cpu++) {
		for (uint32_t i = 0; i < shifts->cpus[cpu].nr; i++) {
			uint64_t bits = 0;

			TRY(bytes_u64(b, "bits of fractions", &bits));
			if (bits > LARGEST_FRACTION)
				return bytes_fail(b, -EBADMSG, "%llu bits of fractions",
						  (unsigned long long)bits);
			shifts->cpus[cpu].moments[i].fraction = (uint32_t)bits;
		}
	}
	return 0;
}

int tracedat_shifts_read(struct bytes *b, struct arena *a, struct tracedat_shifts *ret)
{
	struct tracedat_shifts shifts = { 0 };
	uint32_t flags = 0;

	b->what = "option of time shifts";
	TRY(bytes_u64(b, "id of the host's recording", &shifts.peer));
	TRY(bytes_u32(b, "flags", &flags));
	TRY(bytes_u32(b, "number of cpus", &shifts.nr_cpus));
	if (shifts.nr_cpus > TRACEDAT_MOST_CPUS)
		return bytes_fail(b, -EBADMSG, "%u cpus: at most %d can be read", shifts.nr_cpus,
				  TRACEDAT_MOST_CPUS);
	shifts.cpus = arena_array(a, shifts.nr_cpus ? shifts.nr_cpus : 1, sizeof(*shifts.cpus));
	if (!shifts.cpus)
		return err_nomem();
	for (uint32_t i = 0; i < shifts.nr_cpus; i++) {
		shifts.cpus[i].interpolates = flags & FLAG_INTERPOLATE;
		TRY(shift_read_cpu(b, a, &shifts.cpus[i]));
	}
	if (bytes_left(b))
		TRY(shift_read_fractions(b, &shifts));
	*ret = shifts;
	return 0;
}

static uint64_t shift_scale(uint64_t time, int64_t scaling, uint32_t fraction)
{
	return (uint64_t)((__int128)(int64_t)time * scaling >> fraction);
}

/* The offset between two moments, rounded as trace-cmd rounds it. */
static int64_t shift_between(uint64_t time, const struct tracedat_moment *a,
			     const struct tracedat_moment *b)
{
	const int64_t span = (int64_t)(b->time - a->time);
	__int128 part = (__int128)(int64_t)(time - a->time) *
			(int64_t)((uint64_t)b->offset - (uint64_t)a->offset);

	return span ? (int64_t)((part + span / 2) / span) : 0;
}

uint64_t tracedat_shift_time(const struct tracedat_shift *shift, uint64_t time)
{
	const struct tracedat_moment *m = shift->moments;
	uint32_t lo = 0, hi = shift->nr;

	if (!shift->nr)
		return time;
	if (shift->nr == 1) /* a single moment shows no difference of speed */
		return time + (uint64_t)m->offset;
	while (lo + 1 < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (m[mid].time <= time)
			lo = mid;
		else
			hi = mid;
	}
	/* Behind the last moment, the last two count. */
	m += lo < shift->nr - 1 ? lo : shift->nr - 2;
	if (!shift->interpolates)
		return shift_scale(time, m->scaling, m->fraction) + (uint64_t)m->offset;
	return shift_scale(time, (m[0].scaling + m[1].scaling) / 2, m->fraction) +
	       (uint64_t)m->offset + (uint64_t)shift_between(time, &m[0], &m[1]);
}
