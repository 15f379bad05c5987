/* SPDX-License-Identifier: MIT */
/*
 * perf.data, file mode: opens the bytes as a recording, reads all events and asks each everything that can be asked.
 * The bytes go through a memfd, since sessions open paths. Which keys the session has depends on the bytes too.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sonde/sonde.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEPT_EVENTS = 8, MAX_EVENTS = 20000, SMALLEST_HEADER = 72 };

static uint64_t sink; /* so that nothing read is left out as unused */

static void touch(const void *p, size_t len)
{
	const uint8_t *bytes = p;

	for (size_t i = 0; i < len; i++)
		sink += bytes[i];
}

static void touch_text(const char *s)
{
	touch(s, strlen(s));
}

static void ask_sample(const struct sonde_event *ev)
{
	const struct sonde_frame *frames = NULL;
	struct sonde_location loc;
	struct sonde_sample s;
	int n;

	if (sonde_event_sample(ev, &s) >= 0) {
		touch(s.reads, s.nr_reads * sizeof(*s.reads));
		touch(s.branches, s.nr_branches * sizeof(*s.branches));
		touch(s.user_stack, s.user_stack_len);
		if (s.user_regs_abi)
			touch(s.user_regs, 8u * (unsigned)__builtin_popcountll(s.user_regs_mask));
		if (s.intr_regs_abi)
			touch(s.intr_regs, 8u * (unsigned)__builtin_popcountll(s.intr_regs_mask));
		if (sonde_event_locate(ev, s.ip, ev->cpumode, &loc) >= 0 && loc.dso)
			touch_text(loc.dso);
	}
	n = sonde_event_callchain(ev, &frames);
	for (int i = 0; i < n; i++)
		sink += (uint64_t)sonde_event_locate(ev, frames[i].ip, 2, &loc);
}

static void ask(struct sonde_session *s, const struct sonde_event *ev)
{
	const struct sonde_schema *sc = sonde_event_schema(s, ev);
	const struct sonde_field *f;
	size_t n, len;

	touch_text(sonde_schema_name(sc));
	touch_text(sonde_session_string(s, ev->comm));
	touch(ev->bytes, ev->bytes_len);
	touch(ev->record, ev->record_len);
	f = sonde_schema_fields(sc, &n);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = sonde_event_bytes(ev, &f[i], &len);

		touch(p, len);
		sink += sonde_event_u64(ev, &f[i]) + (uint64_t)sonde_event_i64(ev, &f[i]);
	}
	ask_sample(ev);
	touch_text(sonde_event_text(ev, &len));
	sonde_schema_defines(sc, &n);
}

static void read_events(const char *text)
{
	struct sonde_event *kept[KEPT_EVENTS] = { NULL };
	const struct sonde_event *ev;
	struct sonde_session *s;
	const struct sonde_defect *d;

	if (sonde_session_open(&s, text, "fuzz") < 0)
		return;
	for (int i = 0; i < MAX_EVENTS && sonde_session_next(s, &ev) > 0; i++) {
		struct sonde_event **slot =
			&kept[(unsigned)i * 2654435761u >> 16 & (KEPT_EVENTS - 1)];

		ask(s, ev);
		if (*slot)
			ask(s, *slot);
		sonde_event_free(*slot);
		*slot = sonde_event_dup(ev);
	}
	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++)
		touch_text(d->first);
	touch_text(sonde_session_defects_line(s));
	touch_text(sonde_session_print(s));
	if (sonde_session_info(s, "cmdline"))
		touch_text(sonde_session_info(s, "cmdline"));
	sonde_session_close(s);
	for (int i = 0; i < KEPT_EVENTS; i++) {
		if (kept[i])
			ask(sonde_event_session(kept[i]), kept[i]);
		sonde_event_free(kept[i]);
	}
}

static void write_text(const char *text)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct sonde_session *s;

	if (sonde_session_open(&s, text, "fuzz") >= 0) {
		sonde_session_write_text(s, fd);
		sonde_session_close(s);
	}
	close(fd);
}

/* What is told of the recording as a whole. */
static void write_summary(const char *text, unsigned choice)
{
	static const char *const formats[] = { "info", "info-json", "buildids\nhits=1", "evlist" };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct sonde_session *s;
	char all[512];

	snprintf(all, sizeof(all), "%sformat=%s\n", text, formats[choice % 4]);
	if (sonde_session_open(&s, all, "fuzz") >= 0) {
		sonde_session_write(s, fd);
		sonde_session_close(s);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char text[256];
	unsigned choice = 0;

	if (fd < 0)
		fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	for (size_t i = 0; i < size && i < SMALLEST_HEADER; i++)
		choice = choice * 31 + data[i];
	if (size)
		choice += data[size - 1];
	/* No file of this machine may be read: results would depend on it. */
	snprintf(text, sizeof(text),
		 "input=/proc/self/fd/%d\nforce=1\nkallsyms=/dev/null\nbuildid-dir=/"
		 "nonexistent\nevents=%s\nwindow=%s\ncompat=%s\n",
		 fd, choice & 1 ? "samples" : "all", choice & 2 ? "4096" : "65536",
		 choice & 4 ? "perf-6.1" : "none");
	read_events(text);
	write_text(text);
	write_summary(text, choice >> 3);
	return 0;
}
