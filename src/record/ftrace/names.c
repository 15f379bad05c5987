/* SPDX-License-Identifier: MIT */
/*
 * Names of tasks. The kernel saves the last 128 that recorded an event, for all tracers of the
 * machine; the tasks that run are in /proc.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash_sorted.h"
#include "base/sysfile.h"
#include "capture/setup/target.h"
#include "record/ftrace/ftrace.h"

/* If there is no memory, the task has no name. */
static void names_note(struct ftrace *f, uint64_t pid, const char *name, size_t len)
{
	const size_t at = f->names.len;

	outbuf_put(&f->names, name, len);
	outbuf_char(&f->names, '\0');
	if (!f->names.failed)
		hash64_put(&f->tasks, pid, at);
}

static int names_note_thread(void *ctx, int32_t pid, int32_t tid)
{
	char name[64];

	(void)pid;
	if (sysfile_line(name, sizeof(name), "/proc/%d/task/%d/comm", pid, tid))
		names_note(ctx, (uint32_t)tid, name, strlen(name));
	return 0;
}

void ftrace_names_note_running(struct ftrace *f)
{
	target_each_thread(names_note_thread, f);
}

static void names_note_line(struct ftrace *f, const char *line, size_t len)
{
	char *name;
	const uint64_t pid = strtoull(line, &name, 10);
	const size_t taken = (size_t)(name - line) + 1;
	uint64_t known;

	if (*name != ' ' || taken >= len)
		return;
	known = hash64_find(&f->tasks, pid);
	if (known == HASH64_EMPTY || strncmp(f->names.data + known, name + 1, len - taken) != 0 ||
	    f->names.data[known + len - taken])
		names_note(f, pid, name + 1, len - taken);
}

void ftrace_names_note_saved(struct ftrace *f, const struct tracefs *top)
{
	char *text;
	size_t len;

	if (f->names.failed || tracefs_read(top, "saved_cmdlines", &text, &len) < 0)
		return;
	for (const char *at = text; *at; at += strspn(at, "\n")) {
		const size_t n = strcspn(at, "\n");

		names_note_line(f, at, n);
		at += n;
	}
	free(text);
}

int ftrace_names_put(const struct ftrace *f, struct outbuf *ret)
{
	struct hash64_slot *list;
	size_t n;

	TRY(hash64_sorted(&f->tasks, &list, &n));
	for (size_t i = 0; i < n; i++)
		outbuf_fmt(ret, "%" PRIu64 " %s\n", list[i].key, f->names.data + list[i].value);
	free(list);
	return ret->failed ? err_nomem() : 0;
}
