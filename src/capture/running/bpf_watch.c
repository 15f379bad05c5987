/* SPDX-License-Identifier: MIT */
#include "capture/running/bpf_watch.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "formats/perfdata/layout.h"

static size_t bpf_watch_mapped_bytes(void)
{
	return 2 * (size_t)sysconf(_SC_PAGESIZE);
}

static int bpf_watch_open_on(int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_DUMMY,
		.watermark = 1,
		.wakeup_watermark = 1,
		.bpf_event = 1,
	};

	return (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool bpf_watch_cpu(struct bpf_watch *w, int cpu)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ring r = { .fd = bpf_watch_open_on(cpu), .mask = page - 1 };
	struct epoll_event e = { .events = EPOLLIN };

	if (r.fd < 0)
		return false;
	r.control =
		mmap(NULL, bpf_watch_mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, 0);
	if (r.control == MAP_FAILED) {
		close(r.fd);
		return false;
	}
	r.data = (const uint8_t *)r.control + page;
	if (vec_push(&w->rings, r) < 0) {
		munmap(r.control, bpf_watch_mapped_bytes());
		close(r.fd);
		return false;
	}
	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, r.fd, &e) == 0)
		return true;
	w->rings.n--;
	munmap(r.control, bpf_watch_mapped_bytes());
	close(r.fd);
	return false;
}

void bpf_watch_open(struct bpf_watch *w, const int *cpus, size_t nr_cpus)
{
	*w = (struct bpf_watch){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	if (w->epoll_fd < 0)
		return;
	for (size_t i = 0; i < nr_cpus; i++)
		if (!bpf_watch_cpu(w, cpus[i]))
			break;
	if (w->rings.n < nr_cpus)
		bpf_watch_close(w);
}

int bpf_watch_fd(const struct bpf_watch *w)
{
	return w->rings.n ? w->epoll_fd : -1;
}

void bpf_watch_read(struct bpf_watch *w, struct bpf_programs *programs)
{
	vec_foreach(r, &w->rings) {
		const uint64_t head = ring_head(r);
		uint64_t pos = r->tail;

		while (pos < head) {
			const uint64_t first = load_u64(r->data + (pos & r->mask));
			const uint64_t body = load_u64(r->data + ((pos + 8) & r->mask));
			struct perfdata_record_header h;

			memcpy(&h, &first, sizeof(h));
			if (h.size < sizeof(h))
				break;
			/* u16 type, u16 flags, u32 id */
			if (h.type == PERF_RECORD_BPF_EVENT &&
			    (uint16_t)body == PERF_BPF_EVENT_PROG_LOAD)
				bpf_programs_add(programs, (uint32_t)(body >> 32));
			pos += h.size;
		}
		if (head != r->tail)
			ring_release(r, head);
	}
}

void bpf_watch_close(struct bpf_watch *w)
{
	if (!w->rings.n && w->epoll_fd <= 0)
		return;
	vec_foreach(r, &w->rings) {
		munmap(r->control, bpf_watch_mapped_bytes());
		close(r->fd);
	}
	vec_done(&w->rings);
	close(w->epoll_fd);
	w->epoll_fd = -1;
}
