/* SPDX-License-Identifier: MIT */
#include "capture/rings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/explain.h"
#include "capture/limits.h"

static int ring_map(struct rings *r, const struct counter *n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* The kernel overwrites a ring that is mapped read-only. */
	const int prot = n->backward ? PROT_READ : PROT_READ | PROT_WRITE;
	void *map = mmap(NULL, r->mapped_bytes, prot, MAP_SHARED, n->fd, 0);
	struct ring ring;

	if (map == MAP_FAILED)
		return err_errno(errno, "cannot map a buffer for the events of %s %d",
				 n->cpu < 0 ? "thread" : "cpu", n->cpu < 0 ? (int)n->tid : n->cpu);
	ring = (struct ring){
		.control = map,
		.data = (const uint8_t *)map + page,
		.mask = r->mapped_bytes - page - 1,
		.buffer = n->buffer,
		.fd = n->fd,
	};
	if ((n->backward ? vec_push(&r->backward, ring) : vec_push(&r->list, ring)) < 0) {
		munmap(map, r->mapped_bytes);
		return err_nomem();
	}
	return 0;
}

/* owners: twice nr_buffers descriptors, all -1. */
static int rings_map_all(struct rings *r, const struct counter *counters, size_t nr_counters,
			 int *owners, uint32_t nr_buffers)
{
	for (const struct counter *n = counters; n < counters + nr_counters; n++) {
		int *owner = &owners[n->buffer + (n->backward ? nr_buffers : 0)];

		if (n->fd < 0)
			continue;
		if (*owner < 0) {
			TRY(ring_map(r, n));
			*owner = n->fd;
		} else if (ioctl(n->fd, PERF_EVENT_IOC_SET_OUTPUT, *owner) < 0) {
			return err_errno(errno, "cannot join the events of %s %d in one buffer",
					 n->cpu < 0 ? "thread" : "cpu",
					 n->cpu < 0 ? (int)n->tid : n->cpu);
		}
	}
	return 0;
}

static void rings_unmap_all(struct rings *r)
{
	vec_foreach(ring, &r->list)
		munmap(ring->control, r->mapped_bytes);
	vec_foreach(ring, &r->backward)
		munmap(ring->control, r->mapped_bytes);
	vec_clear(&r->list);
	vec_clear(&r->backward);
}

static void rings_report_shrunk(const struct say *to, size_t data_pages, size_t wanted, int refused)
{
	if (refused == -ENOMEM)
		say(to, SAY_NORMAL,
		    "buffers of %zu instead of %zu pages each: there is no memory for larger ones",
		    data_pages, wanted);
	if (refused == -EPERM)
		say(to, SAY_NORMAL,
		    "buffers of %zu instead of %zu pages each: more locked memory is not allowed "
		    "(kernel.perf_event_mlock_kb is %ld)",
		    data_pages, wanted, kernel_setting("perf_event_mlock_kb", 516));
}

int rings_map(struct rings *r, const struct counter *counters, size_t nr_counters,
	      size_t data_pages, bool may_shrink, const struct say *to)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t wanted = data_pages;
	uint32_t nr_buffers = 0;
	int *owners, refused = 0, error;

	for (size_t i = 0; i < nr_counters; i++)
		if (counters[i].buffer >= nr_buffers)
			nr_buffers = counters[i].buffer + 1;
	owners = malloc(2 * nr_buffers * sizeof(*owners));
	if (!owners)
		return err_nomem();
	for (;; data_pages /= 2) {
		r->mapped_bytes = (data_pages + 1) * page;
		memset(owners, -1, 2 * nr_buffers * sizeof(*owners));
		error = rings_map_all(r, counters, nr_counters, owners, nr_buffers);
		if (error == 0)
			break;
		rings_unmap_all(r);
		if ((error != -EPERM && error != -ENOMEM) || !may_shrink || data_pages == 1)
			break;
		refused = error;
	}
	free(owners);
	if (error == -EPERM || error == -ENOMEM)
		return explain_map(data_pages, nr_buffers, -error);
	TRY(error);
	rings_report_shrunk(to, data_pages, wanted, refused);
	say(to, SAY_VERBOSE, "%zu buffers of %zu KiB, %zu pages", r->list.n,
	    data_pages * page / 1024, data_pages);
	return 0;
}

void rings_pause(struct rings *r, bool pause)
{
	/* Kernels before 4.7 have neither this ioctl nor overwriting rings. */
	vec_foreach(ring, &r->backward)
		ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause);
}

void rings_done(struct rings *r)
{
	rings_unmap_all(r);
	vec_done(&r->list);
	vec_done(&r->backward);
}
