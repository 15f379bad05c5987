/* SPDX-License-Identifier: MIT */
#include "flame_path.h"

#include "flame_fill.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODE_KERNEL = 1, MODE_GUEST_KERNEL = 4 };
/* Frames of answers with larger numbers are looked up each time. */
enum { MOST_ANSWERS = 1 << 24 };

static size_t flame_path_word(const char *by, const char *word)
{
	const size_t len = strlen(word);

	return !strncmp(by, word, len) && (!by[len] || by[len] == ',') ? len : 0;
}

bool flame_path_can_group(const char *by)
{
	static const char *const words[] = { "comm", "pid", "cpu" };

	while (*by) {
		size_t len = 0;

		for (size_t i = 0; !len && i < sizeof(words) / sizeof(*words); i++)
			len = flame_path_word(by, words[i]);
		if (!len)
			return false;
		by += len + (by[len] == ',');
	}
	return true;
}

static const char *flame_path_group(const struct sonde_event *ev, const char *by, char *buf,
				    size_t size)
{
	const char *comm = sonde_session_string(sonde_event_session(ev), ev->comm);

	if (flame_path_word(by, "comm"))
		return comm;
	if (flame_path_word(by, "pid")) /* a thread, as in a profile */
		snprintf(buf, size, "%" PRId32 ":%s", ev->tid, comm);
	else if (ev->cpu < 0)
		snprintf(buf, size, "cpu unknown");
	else
		snprintf(buf, size, "cpu %" PRId32, ev->cpu);
	return buf;
}

int flame_path_groups(struct flame_path *p, const struct sonde_event *ev, uint32_t *node)
{
	for (const char *by = p->by; *by; by += strcspn(by, ","), by += *by == ',') {
		char room[64];
		uint32_t frame;

		if (flame_frame(p->f, flame_path_group(ev, by, room, sizeof(room)), NULL,
				FLAME_GROUP, &frame) < 0 ||
		    flame_callee(p->f, *node, frame, node) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The frame of an address. */
static int flame_path_frame(struct flame_path *p, const struct sonde_event *ev,
			    const struct sonde_frame *at, uint32_t *ret)
{
	const struct sonde_location *l = sonde_event_located(ev, at->ip, at->cpumode);
	const bool is_kernel = at->cpumode == MODE_KERNEL || at->cpumode == MODE_GUEST_KERNEL;

	return flame_fill_frame(p->f, at->sym ? at->sym : l->sym, l->dso, l->unknown, is_kernel,
				at->flags & SONDE_FRAME_INLINED, ret);
}

/* The answers of a session have consecutive numbers, so most frames are found by their number. */
static int flame_path_place(struct flame_path *p, const struct sonde_event *ev,
			    const struct sonde_frame *at, uint32_t *ret)
{
	const uint64_t answer = at->sym ? 0 : sonde_event_located(ev, at->ip, at->cpumode)->answer;
	uint64_t room = p->room ? p->room : 1024;
	uint32_t *more;

	if (answer && answer < p->room && p->frames[answer]) {
		*ret = p->frames[answer] - 1;
		return 0;
	}
	if (flame_path_frame(p, ev, at, ret) < 0)
		return -ENOMEM;
	if (!answer || answer >= MOST_ANSWERS)
		return 0;
	while (answer >= room)
		room *= 2;
	if (room > p->room) {
		more = reallocarray(p->frames, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + p->room, 0, (room - p->room) * sizeof(*more));
		p->frames = more;
		p->room = room;
	}
	p->frames[answer] = *ret + 1;
	return 0;
}

int flame_path_calls(struct flame_path *p, const struct sonde_event *ev, uint32_t *node)
{
	struct sonde_sample sample = { .size = sizeof(sample) };
	struct sonde_frame own;
	const struct sonde_frame *frames;
	int nr = sonde_event_callchain(ev, &frames);
	uint32_t frame;

	if (nr == -ENOMEM)
		return nr;
	if (nr <= 0) {
		if (sonde_event_sample(ev, &sample) < 0 || !(sample.present & 1)) /* no ip */
			return 0;
		own = (struct sonde_frame){ .ip = sample.ip, .cpumode = ev->cpumode };
		frames = &own;
		nr = 1;
	}
	while (nr--) {
		if (flame_path_place(p, ev, &frames[nr], &frame) < 0 ||
		    flame_callee(p->f, *node, frame, node) < 0)
			return -ENOMEM;
	}
	return 0;
}

void flame_path_done(struct flame_path *p)
{
	free(p->frames);
}
