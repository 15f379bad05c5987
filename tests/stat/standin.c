/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for perf_event_open(): counters that this machine does not have, for sonde and for
 * perf. Loaded with LD_PRELOAD.
 *
 *	STANDIN='0:0=2000000 0:1=3000000,4000000,3000000 0:5=!22 3:65536=1000'
 *
 * TYPE:CONFIG=VALUE[,ENABLED_NS,RUNNING_NS] is an event that counts VALUE between two readings;
 * TYPE:CONFIG=!ERRNO one that is refused. With /CPU behind the value the event is refused as a
 *member of a group on that cpu. Other events are the kernel's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STANDS_IN __attribute__((visibility("default")))

enum { FDS = 4096, DEFAULT_NS = 1000000, GROUP_MAX = 64 };

static struct standin {
	int is_open;
	int refusing_cpu; /* -1 if none */
	int leader;       /* fd; -1 if it leads its group */
	uint64_t value, enabled_ns, running_ns, read_format, reads;
} standins[FDS];

/* Returns 1 if the table has the event; its answer is in *ret, or its errno in *ret_errno. */
static int find(const struct perf_event_attr *a, struct standin *ret, int *ret_errno)
{
	const char *at = getenv("STANDIN");
	char key[64];
	size_t len;

	snprintf(key, sizeof(key), "%u:%llu=", a->type, (unsigned long long)a->config);
	len = strlen(key);
	while (at && *at) {
		unsigned long long value, enabled = DEFAULT_NS, running = DEFAULT_NS;
		const char *refusing;

		at += strspn(at, " ");
		if (!strncmp(at, key, len)) {
			if (at[len] == '!') {
				*ret_errno = atoi(at + len + 1);
				return 1;
			}
			sscanf(at + len, "%llu,%llu,%llu", &value, &enabled, &running);
			refusing = strcspn(at + len, " /") + at + len;
			*ret_errno = 0;
			*ret = (struct standin){
				.is_open = 1,
				.refusing_cpu = *refusing == '/' ? atoi(refusing + 1) : -1,
				.leader = -1,
				.value = value,
				.enabled_ns = enabled,
				.running_ns = running,
				.read_format = a->read_format,
			};
			return 1;
		}
		at += strcspn(at, " ");
	}
	return 0;
}

static int open_standin(const struct perf_event_attr *a, int cpu, int leader, int *ret)
{
	struct standin s;
	int error;

	if (!find(a, &s, &error))
		return 0;
	*ret = -1;
	if (error) {
		errno = error;
		return 1;
	}
	if (leader >= 0 && cpu >= 0 && cpu == s.refusing_cpu) {
		errno = EINVAL;
		return 1;
	}
	s.leader = leader;
	*ret = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (*ret >= 0 && *ret < FDS)
		standins[*ret] = s;
	return 1;
}

STANDS_IN long syscall(long number, ...)
{
	long (*next)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	long words[6];
	va_list ap;
	int fd;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_perf_event_open &&
	    open_standin((void *)words[0], (int)words[2], (int)words[3], &fd))
		return fd;
	return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

STANDS_IN int ioctl(int fd, unsigned long request, ...)
{
	int (*next)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fd < 0 || fd >= FDS || !standins[fd].is_open)
		return next(fd, request, arg);
	if (request == PERF_EVENT_IOC_ID)
		*(uint64_t *)arg = 1000 + (uint64_t)fd;
	return 0;
}

/* The value with what follows it; returns how many words there are. */
static size_t put_value(const struct standin *s, int fd, uint64_t reads, uint64_t *words)
{
	size_t n = 0;

	words[n++] = s->value * reads;
	if (s->read_format & PERF_FORMAT_ID)
		words[n++] = 1000 + (uint64_t)fd;
	if (s->read_format & PERF_FORMAT_LOST)
		words[n++] = 0;
	return n;
}

static size_t put_times(const struct standin *s, uint64_t *words)
{
	size_t n = 0;

	if (s->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[n++] = s->enabled_ns * s->reads;
	if (s->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[n++] = s->running_ns * s->reads;
	return n;
}

/* A leader is read with its group. */
static size_t put_group(const struct standin *s, int fd, uint64_t *words)
{
	size_t n = 1 + put_times(s, words + 1);

	words[0] = 1;
	n += put_value(s, fd, s->reads, words + n);
	for (int i = 0; i < FDS && words[0] < GROUP_MAX; i++)
		if (standins[i].is_open && standins[i].leader == fd) {
			n += put_value(&standins[i], i, s->reads, words + n);
			words[0]++;
		}
	return n;
}

STANDS_IN ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*next)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
	struct standin *s = fd >= 0 && fd < FDS ? &standins[fd] : NULL;
	uint64_t words[3 + 3 * GROUP_MAX], value[3];
	size_t n, values;

	if (!s || !s->is_open)
		return next(fd, buf, size);
	s->reads++;
	if (s->read_format & PERF_FORMAT_GROUP) {
		n = put_group(s, fd, words);
	} else {
		/* the times are between the value and what follows it */
		values = put_value(s, fd, s->reads, value);
		words[0] = value[0];
		n = 1 + put_times(s, words + 1);
		memcpy(words + n, value + 1, (values - 1) * sizeof(*words));
		n += values - 1;
	}
	n = n * sizeof(*words) < size ? n * sizeof(*words) : size;
	memcpy(buf, words, n);
	return (ssize_t)n;
}

STANDS_IN int close(int fd)
{
	int (*next)(int) = dlsym(RTLD_NEXT, "close");

	if (fd >= 0 && fd < FDS)
		standins[fd].is_open = 0;
	return next(fd);
}
