/* SPDX-License-Identifier: MIT */
#include "record/drain/follow.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"

enum { PIDS_MAX = 1 << 22, /* the kernel's own limit */ FORK_PID_AT = 8 };

int follow_init(struct follow *f)
{
	*f = (struct follow){ .nr_pids = PIDS_MAX };
	/* 512 KiB, but only pages that are written to use memory */
	f->forked = calloc(PIDS_MAX / 64, sizeof(*f->forked));
	return f->forked ? 0 : err_nomem();
}

void follow_record(struct follow *f, const struct ring *r, uint64_t pos,
		   struct perfdata_record_header h)
{
	char *to;

	if (h.type == PERF_RECORD_FORK) {
		const uint64_t ids = load_u64(r->data + ((pos + FORK_PID_AT) & r->mask));
		uint32_t pid;

		memcpy(&pid, &ids, sizeof(pid));
		if (pid < f->nr_pids)
			atomic_fetch_or_explicit(&f->forked[pid / 64], UINT64_C(1) << pid % 64,
						 memory_order_relaxed);
	}
	if (!f->keeps || !perfdata_is_state(h.type))
		return;
	to = outbuf_room(&f->kept, h.size);
	if (!to)
		return; /* kept.failed reports it */
	for (size_t i = 0; i + 8 <= h.size; i += 8)
		memcpy(to + i, r->data + ((pos + i) & r->mask), 8);
	outbuf_advance(&f->kept, h.size);
}

int follow_list(struct follow *f, struct follow_pids *pids)
{
	for (uint32_t i = 0; i < f->nr_pids / 64; i++)
		for (uint64_t left = atomic_load_explicit(&f->forked[i], memory_order_relaxed);
		     left; left &= left - 1) {
			const int bit = __builtin_ctzll(left);
			const int32_t pid = (int32_t)(i * 64 + (uint32_t)bit);

			if (kill(pid, 0) < 0 && errno == ESRCH)
				atomic_fetch_and_explicit(&f->forked[i], ~(UINT64_C(1) << bit),
							  memory_order_relaxed);
			else
				TRY(vec_push(&pids->list, pid));
		}
	return 0;
}

void follow_done(struct follow *f)
{
	free(f->forked);
	outbuf_done(&f->kept);
	*f = (struct follow){ 0 };
}
