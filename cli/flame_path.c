/* SPDX-License-Identifier: MIT */
#include "flame_path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODE_KERNEL = 1, MODE_GUEST_KERNEL = 4 };
/* Answers above it are looked up each time. */
enum { MOST_ANSWERS = 1 << 24 };

static const char *const keys[] = {
	[FLAME_BY_COMM] = "comm", [FLAME_BY_PID] = "pid", [FLAME_BY_TID] = "tid",
	[FLAME_BY_CPU] = "cpu",	  [FLAME_KEYS] = NULL,
};

const char *flame_key_name(size_t key)
{
	return keys[key < FLAME_KEYS ? key : FLAME_KEYS];
}

int flame_path_groups(struct flame_path *p, const struct sonde_event *ev, uint32_t *node)
{
	const struct sonde_session *s = sonde_event_session(ev);

	for (size_t i = 0; i < p->nr_by; i++) {
		char number[32];
		const char *text = number;
		uint32_t frame;

		if (p->by[i] == FLAME_BY_COMM)
			text = sonde_session_string(s, ev->comm);
		else if (p->by[i] == FLAME_BY_CPU && ev->cpu < 0)
			text = "cpu unknown";
		else
			snprintf(number, sizeof(number), "%s %" PRId32, keys[p->by[i]],
				 p->by[i] == FLAME_BY_CPU   ? ev->cpu
				 : p->by[i] == FLAME_BY_PID ? ev->pid
							    : ev->tid);
		if (flame_frame(p->f, text, NULL, FLAME_GROUP, &frame) < 0 ||
		    flame_callee(p->f, *node, frame, node) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool flame_path_is_jit(const char *dso)
{
	const char *name = strrchr(dso, '/');

	return name && !strncmp(name, "/perf-", 6) && strlen(name) > 10 &&
	       !strcmp(name + strlen(name) - 4, ".map");
}

/* The frame of an address. sym: a name that is known already; NULL: the symbol there. */
static int flame_path_frame(struct flame_path *p, const struct sonde_event *ev,
			    const struct sonde_frame *at, uint32_t *ret)
{
	const struct sonde_location *l = sonde_event_located(ev, at->ip, at->cpumode);
	const bool is_kernel = at->cpumode == MODE_KERNEL || at->cpumode == MODE_GUEST_KERNEL;
	const char *sym = at->sym ? at->sym : l->sym;
	enum flame_kind kind = FLAME_USER;
	const char *file = l->dso ? strrchr(l->dso, '/') : NULL;
	char unknown[512];

	if (at->flags & SONDE_FRAME_INLINED)
		kind = FLAME_INLINED;
	else if (!sym)
		kind = FLAME_UNKNOWN;
	else if (is_kernel)
		kind = FLAME_KERNEL;
	else if (l->dso && flame_path_is_jit(l->dso))
		kind = FLAME_JIT;
	file = file ? file + 1 : l->dso;
	if (!sym) /* one frame for all unknown addresses of a file */
		snprintf(unknown, sizeof(unknown), "[%s: %s]", file ? file : "unknown",
			 sonde_unknown_text(l->unknown));
	return flame_frame(p->f, sym ? sym : unknown, file, kind, ret);
}

/* The answers of a session are numbered densely: most frames are known by their number. */
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
