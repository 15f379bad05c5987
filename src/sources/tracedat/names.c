/* SPDX-License-Identifier: MIT */
/* Names of tasks: the saved command lines, and those that events give. */

#include <stdlib.h>

#include "sources/tracedat/tracedat.h"
#include "sources/tracedat/view.h"

enum { MOST_NAMES = 1 << 22 }; /* damaged records may name any task */

bool tracedat_name_parse(const uint8_t *line, size_t len, int32_t *ret_pid,
			 char ret[TRACEDAT_COMM_BYTES])
{
	uint64_t pid = 0;
	size_t at = 0;

	while (at < len && line[at] == ' ')
		at++;
	if (at == len || line[at] < '0' || line[at] > '9')
		return false;
	for (; at < len && line[at] >= '0' && line[at] <= '9' && pid <= INT32_MAX; at++)
		pid = pid * 10 + (uint64_t)(line[at] - '0');
	if (pid > INT32_MAX || at == len || line[at] != ' ')
		return false;
	at++;
	while (len > at && (line[len - 1] == '\n' || !line[len - 1]))
		len--;
	len -= at;
	if (!len || memchr(line + at, '\0', len))
		return false;
	if (len > TRACEDAT_COMM_BYTES - 1)
		len = TRACEDAT_COMM_BYTES - 1;
	memset(ret, 0, TRACEDAT_COMM_BYTES);
	memcpy(ret, line + at, len);
	*ret_pid = (int32_t)pid;
	return true;
}

/* ---- names that are known while events are read ---------------------------------------------- */

bool tracedat_name_is_known(const struct tracedat_source *s, int32_t pid, const uint8_t *comm,
			    size_t len)
{
	const uint64_t i = hash64_find(&s->comm_of_pid, (uint32_t)pid);
	const char *known;

	if (i == HASH64_EMPTY)
		return false;
	known = s->comms.v[i].text;
	len = len < TRACEDAT_COMM_BYTES - 1 ? len : TRACEDAT_COMM_BYTES - 1;
	return !memcmp(known, comm, len) && !known[len];
}

int tracedat_name_learn(struct tracedat_source *s, int32_t pid, const char *comm)
{
	uint64_t i = hash64_find(&s->comm_of_pid, (uint32_t)pid);
	struct tracedat_comm name = { 0 };
	const size_t len = strnlen(comm, sizeof(name.text) - 1);

	memcpy(name.text, comm, len);
	if (i != HASH64_EMPTY) {
		s->comms.v[i] = name;
		return 0;
	}
	if (s->comms.n == MOST_NAMES)
		return 0;
	TRY(vec_push(&s->comms, name));
	return hash64_put(&s->comm_of_pid, (uint32_t)pid, s->comms.n - 1);
}

/* ---- saved command lines --------------------------------------------------------------------- */

static int names_save(struct tracedat_source *s, const uint8_t *line, size_t len)
{
	char comm[TRACEDAT_COMM_BYTES];
	const char *kept;
	int32_t pid;

	if (!tracedat_name_parse(line, len, &pid, comm))
		return 0;
	kept = arena_strdup(&s->arena, comm);
	if (!kept || vec_push(&s->saved, kept) < 0)
		return err_nomem();
	TRY(tracedat_name_learn(s, pid, comm));
	return hash64_put(&s->saved_of_pid, (uint32_t)pid, s->saved.n - 1);
}

int tracedat_names_open(struct tracedat_source *s)
{
	const struct bytes text = s->sections.cmdlines;
	struct tracedat_range range = { .fd = s->fd, .begin = s->cmdlines_off, .cpu = -1 };
	const uint8_t *nl;

	if (!bytes_left(&text))
		return 0;
	for (const uint8_t *at = text.pos; at < text.end; at = nl) {
		nl = memchr(at, '\n', (size_t)(text.end - at));
		nl = nl ? nl + 1 : text.end;
		TRY(names_save(s, at, (size_t)(nl - at)));
	}
	if (!s->has_cmdlines_section) {
		range.begin = 0;
		TRY(tracedat_unpacked_append(s, text.pos, bytes_left(&text)));
		range.fd = s->unpacked;
	}
	range.end = range.begin + bytes_left(&text);
	return vec_push(&s->ranges, range);
}

const char *tracedat_saved_comm(const struct tracedat_source *s, int32_t pid)
{
	const uint64_t i = hash64_find(&s->saved_of_pid, (uint32_t)pid);

	return i == HASH64_EMPTY ? NULL : s->saved.v[i];
}
