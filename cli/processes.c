/* SPDX-License-Identifier: MIT */
#include "processes.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static pid_t processes_parent_of(const char *pid)
{
	char path[64], text[512] = "", *comm_end;
	FILE *f;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	/* PID (COMM) STATE PARENT; a name may contain any bytes. */
	comm_end = strrchr(text, ')');
	if (!comm_end || sscanf(comm_end + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static void processes_append(struct processes *p, pid_t pid)
{
	pid_t *grown = realloc(p->v, (p->nr + 1) * sizeof(*grown));

	if (grown) {
		p->v = grown;
		p->v[p->nr++] = pid;
	}
}

void processes_below(pid_t root, struct processes *ret)
{
	struct processes found = { 0 };

	processes_append(&found, root);
	/* Each round finds one level of children. */
	for (size_t i = 0, end; i < found.nr; i = end) {
		DIR *dir = opendir("/proc");
		struct dirent *entry;

		end = found.nr;
		while (dir && (entry = readdir(dir))) {
			pid_t parent =
				atoi(entry->d_name) > 0 ? processes_parent_of(entry->d_name) : 0;

			for (size_t k = i; parent && k < end; k++)
				if (found.v[k] == parent)
					processes_append(&found, atoi(entry->d_name));
		}
		if (dir)
			closedir(dir);
	}
	*ret = found;
}

void processes_signal(const struct processes *p, int signo)
{
	for (size_t i = 0; i < p->nr; i++)
		kill(p->v[i], signo);
}

size_t processes_wait(struct processes *p, int timeout_ms)
{
	enum { LOOK_MS = 5 };
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000 };

	for (int waited_ms = 0;; waited_ms += LOOK_MS) {
		size_t left = 0;

		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		for (size_t i = 0; i < p->nr; i++)
			if (!kill(p->v[i], 0) || errno == EPERM)
				p->v[left++] = p->v[i];
		p->nr = left;
		if (!left || waited_ms >= timeout_ms)
			return left;
		nanosleep(&pause, NULL);
	}
}

void processes_done(struct processes *p)
{
	free(p->v);
	*p = (struct processes){ 0 };
}
