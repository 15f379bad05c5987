/* SPDX-License-Identifier: MIT */
#include "symbols/perf_map.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* Unlike strtoull(), accepts no blanks and no signs. */
static bool perf_map_parse_hex(char **p, uint64_t *ret)
{
	char *start = *p;
	uint64_t v = 0;

	for (;; (*p)++) {
		char c = **p;

		if (c >= '0' && c <= '9')
			v = v << 4 | (uint64_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v = v << 4 | (uint64_t)((c | 0x20) - 'a' + 10);
		else
			break;
	}
	*ret = v;
	return *p > start && *(*p)++ == ' ';
}

static bool perf_map_parse_line(char *line, struct set_symbol *ret, uint64_t *ret_size)
{
	return perf_map_parse_hex(&line, &ret->start) && perf_map_parse_hex(&line, ret_size) &&
	       *(ret->raw = line);
}

/*
 * Parses like perf: any number that strtoull() accepts, any single character after it, names of
 * three characters or more. The last character of a line is dropped as its newline, even if it is
 * none.
 */
static bool map_parse_line_as_perf(char *line, size_t len, struct set_symbol *ret,
				   uint64_t *ret_size)
{
	char *end;
	size_t at;

	ret->start = strtoull(line, &end, 16);
	at = (size_t)(end - line) + 1;
	if (at + 2 >= len)
		return false;
	*ret_size = strtoull(line + at, &end, 16);
	at = (size_t)(end - line) + 1;
	if (at + 2 >= len)
		return false;
	ret->raw = line + at;
	return true;
}

int perf_map_parse(struct symbol_set *s, char *text, size_t len)
{
	char *p = text, *text_end = text + len;

	while (p < text_end) {
		char *end = memchr(p, '\n', (size_t)(text_end - p));
		struct set_symbol sym = { .binding = STB_GLOBAL };
		uint64_t size;

		if (!end)
			end = s->as_perf ? text_end - 1 : text_end;
		*end = '\0';
		if (s->as_perf ? map_parse_line_as_perf(p, (size_t)(end - p), &sym, &size)
			       : perf_map_parse_line(p, &sym, &size)) {
			sym.end = sym.start + size;
			if (sym.end < sym.start && !s->as_perf)
				sym.end = UINT64_MAX;
			TRY(symbol_set_add(s, &sym));
		}
		p = end + 1;
	}
	s->latest_wins = true;
	return symbol_set_settle(s, false);
}

int perf_map_add(struct symbol_set *s, const char *path, bool any_owner, uint64_t *left)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	size_t len = 0;
	struct stat st;
	char *text;

	if (fd < 0)
		return err_errno(errno, "cannot open %s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(-EINVAL, "%s is not a regular file", path);
	}
	if (!any_owner && st.st_uid && st.st_uid != geteuid()) {
		close(fd);
		return err_set(-EPERM, "%s belongs to another user and is not used (-f uses it)",
			       path);
	}
	if ((uint64_t)st.st_size > PERF_MAP_MAX_BYTES || (uint64_t)st.st_size > *left) {
		close(fd);
		return err_set(-EFBIG,
			       "%s: maps of functions are read up to %llu MiB each and %llu MiB "
			       "together",
			       path, (unsigned long long)PERF_MAP_MAX_BYTES >> 20,
			       (unsigned long long)PERF_MAPS_MAX_BYTES >> 20);
	}
	*left -= (uint64_t)st.st_size;
	text = malloc((size_t)st.st_size + 1);
	if (!text) {
		close(fd);
		return err_set(-ENOMEM, "%s: no memory for %lld bytes", path,
			       (long long)st.st_size);
	}
	while (len < (size_t)st.st_size) {
		ssize_t n = pread(fd, text + len, (size_t)st.st_size - len, (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	text[len] = '\0';
	TRY(symbol_set_keep(s, text));
	return perf_map_parse(s, text, len);
}
