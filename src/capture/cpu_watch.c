/* SPDX-License-Identifier: MIT */
#include "capture/cpu_watch.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/limits.h"

static int cpu_watch_open_on(int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

void cpu_watch_open(struct cpu_watch *w, const struct capture_cpus *cpus)
{
	enum { SPARE_DESCRIPTORS = 16 }; /* kept free for more important uses */

	for (size_t i = 0; i < cpus->list.n; i++) {
		struct watched_cpu c = { cpus->list.v[i], cpu_watch_open_on(cpus->list.v[i]) };

		if (c.fd < 0 && errno == EMFILE && raise_file_limit())
			c.fd = cpu_watch_open_on(c.cpu);
		if (c.fd >= 0 && vec_push(&w->list, c) < 0)
			close(c.fd);
	}
	if (need_descriptors(SPARE_DESCRIPTORS) < 0) {
		err_clear();
		cpu_watch_close(w);
	}
}

/* The time in ns for which a counter was enabled; UINT64_MAX if it cannot be read. */
static uint64_t cpu_watch_enabled_ns(const struct watched_cpu *c)
{
	struct {
		uint64_t count, enabled_ns;
	} v;

	return read(c->fd, &v, sizeof(v)) == sizeof(v) ? v.enabled_ns : UINT64_MAX;
}

struct still {
	const struct watched_cpu *cpu;
	uint64_t enabled_ns;
};

static bool cpu_watch_stands_still(const struct watched_cpu *c)
{
	const uint64_t before = cpu_watch_enabled_ns(c);

	return before != UINT64_MAX && cpu_watch_enabled_ns(c) == before;
}

void cpu_watch_find(struct cpu_watch *w, void (*each)(void *ctx, int cpu), void *ctx)
{
	/* two ticks of the coarsest clock that a kernel may use for its events */
	const struct timespec ticks = { .tv_nsec = 20000000 };
	VEC(struct still) still = { 0 };

	vec_foreach(c, &w->list)
		if (cpu_watch_stands_still(c) &&
		    vec_push(&still, ((struct still){ c, cpu_watch_enabled_ns(c) })) < 0)
			break;
	if (still.n)
		nanosleep(&ticks, NULL);
	vec_foreach(s, &still)
		if (cpu_watch_enabled_ns(s->cpu) == s->enabled_ns)
			each(ctx, s->cpu->cpu);
	vec_done(&still);
}

void cpu_watch_listen(struct cpu_watch *w)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	const int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			      NETLINK_KOBJECT_UEVENT);

	if (fd < 0)
		return;
	if (bind(fd, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0) {
		close(fd);
		return;
	}
	w->uevents = fd;
	w->listens = true;
}

void cpu_watch_came(struct cpu_watch *w, void (*each)(void *ctx, int cpu), void *ctx)
{
	char text[256];
	ssize_t n;
	int cpu;

	while (w->listens) {
		n = recv(w->uevents, text, sizeof(text) - 1, MSG_DONTWAIT);
		if (n < 0 && errno != EINTR && errno != ENOBUFS) /* ENOBUFS: some were dropped */
			return;
		if (n <= 0)
			continue;
		text[n] = '\0';
		if (sscanf(text, "online@/devices/system/cpu/cpu%d", &cpu) == 1 && cpu >= 0)
			each(ctx, cpu);
	}
}

void cpu_watch_close(struct cpu_watch *w)
{
	if (w->listens)
		close(w->uevents);
	w->listens = false;
	vec_foreach(c, &w->list)
		close(c->fd);
	vec_done(&w->list);
}
