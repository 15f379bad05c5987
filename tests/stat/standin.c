/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for perf_event_open(): counters that this machine does not have, for sonde and for
 * perf. Loaded with LD_PRELOAD.
 *
 *	STANDIN='0:0=2000000 0:1=3000000,4000000,3000000 0:5=!22 3:65536=1000'
 *
 * TYPE:CONFIG=VALUE[,ENABLED_NS,RUNNING_NS] is an event that counts VALUE between two readings;
 * TYPE:CONFIG=!ERRNO one that is refused. Other events are the kernel's.
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

enum { FDS = 4096, DEFAULT_NS = 1000000 };

static struct standin {
	int is_open;
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

		at += strspn(at, " ");
		if (!strncmp(at, key, len)) {
			if (at[len] == '!') {
				*ret_errno = atoi(at + len + 1);
				return 1;
			}
			sscanf(at + len, "%llu,%llu,%llu", &value, &enabled, &running);
			*ret_errno = 0;
			*ret = (struct standin){ 1, value, enabled, running, a->read_format, 0 };
			return 1;
		}
		at += strcspn(at, " ");
	}
	return 0;
}

static int open_standin(const struct perf_event_attr *a, int *ret)
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
	if (number == SYS_perf_event_open && open_standin((void *)words[0], &fd))
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

STANDS_IN ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*next)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
	struct standin *s = fd >= 0 && fd < FDS ? &standins[fd] : NULL;
	uint64_t words[8];
	size_t n = 0;

	if (!s || !s->is_open)
		return next(fd, buf, size);
	s->reads++;
	if (s->read_format & PERF_FORMAT_GROUP)
		words[n++] = 1;
	else
		words[n++] = s->value * s->reads;
	if (s->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[n++] = s->enabled_ns * s->reads;
	if (s->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[n++] = s->running_ns * s->reads;
	if (s->read_format & PERF_FORMAT_GROUP)
		words[n++] = s->value * s->reads;
	if (s->read_format & PERF_FORMAT_ID)
		words[n++] = 1000 + (uint64_t)fd;
	if (s->read_format & PERF_FORMAT_LOST)
		words[n++] = 0;
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
