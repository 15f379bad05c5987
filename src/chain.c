/* SPDX-License-Identifier: MIT */
/* The frames of an event's call chain: see code.h. */

#include "base/bytes.h"
#include "base/err.h"
#include "code.h"
#include "model/callchain.h"
#include "session.h"

static int recorded_frames(struct sonde_session *s, const struct event *ev, unsigned max_frames)
{
	const uint8_t *chain = NULL;
	bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;
	uint32_t cpumode = CPUMODE_USER;
	int n = ev->source->ops->callchain(ev->source, ev, &chain);

	if (n <= 0)
		return n;
	TRY(vec_reserve(&s->frames, n));
	for (int i = 0; i < n && s->frames.n < max_frames; i++) {
		uint64_t ip = get_u64(chain + 8 * (size_t)i, swap);

		if (ip < CALLCHAIN_MARKERS) {
			s->frames.v[s->frames.n++] =
				(struct sonde_frame){ .ip = ip, .cpumode = cpumode };
		} else if (s->opts.compat && !callchain_perf_knows(ip)) {
			vec_clear(&s->frames); /* perf shows nothing of such a chain */
			return 0;
		} else {
			cpumode = callchain_cpumode(ip);
			i += ip == CALLCHAIN_USER_DEFERRED;
		}
	}
	return 0;
}

int session_chain(const struct event *ev, unsigned max_frames, const struct sonde_frame **ret)
{
	struct sonde_session *s = ev->session;

	vec_clear(&s->frames);
	TRY(recorded_frames(s, ev, max_frames));
	*ret = s->frames.v;
	return (int)s->frames.n;
}
