/* SPDX-License-Identifier: MIT */
#include "capture/running/kernel_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/err.h"

enum { CHUNK_BYTES = 256 << 10, ZSTD_LEVEL = 1 };

struct scan {
	struct kernel_map *map;
	uint64_t stext, text;
	struct outbuf kept; /* lines of functions */
	bool with_symbols, done;
};

/* ADDR TYPE NAME [module] */
static void kernel_map_add_line(struct scan *s, const char *p, size_t len)
{
	char *end;
	uint64_t addr;
	const char *name;
	size_t name_len;
	char type;

	/*
	 * the text ends with a NUL after the last line, so strtoull stops at the blank at the
	 * latest
	 */
	addr = strtoull(p, &end, 16);
	if ((size_t)(end - p) + 3 >= len || *end != ' ')
		return;
	type = end[1];
	if (!strchr("tTwW", type))
		return;
	name = end + 3;
	name_len = len - (size_t)(name - p);
	if (s->with_symbols) {
		outbuf_put(&s->kept, p, len);
		outbuf_char(&s->kept, '\n');
	}
	if (name[0] != '_')
		return;
	if (name_len == 5 && !memcmp(name, "_text", 5))
		s->text = addr;
	else if (name_len == 6 && !memcmp(name, "_stext", 6))
		s->stext = addr;
	else if (name_len == 6 && !memcmp(name, "_etext", 6))
		s->map->end = addr;
}

#if defined(__x86_64__) || defined(__i386__)
/*
 * The length of the text from _text to _etext, from the line of /proc/iomem with its physical range
 * (see the setup code of the kernel's arch/x86). _etext follows a hundred thousand symbols, whose
 * lines the kernel generates as they are read. 0 if unknown.
 */
static uint64_t kernel_map_text_bytes(void)
{
	FILE *f = fopen("/proc/iomem", "re");
	unsigned long long first, last;
	uint64_t ret = 0;
	char text[128];

	while (f && !ret && fgets(text, sizeof(text), f)) {
		if (strstr(text, ": Kernel code\n") &&
		    sscanf(text, "%llx-%llx", &first, &last) == 2 && first && last > first)
			ret = last - first + 1;
	}
	if (f)
		fclose(f);
	return ret;
}
#else
static uint64_t kernel_map_text_bytes(void)
{
	return 0;
}
#endif

/* Both symbols are in the first lines. */
static bool kernel_map_has_beginning(const struct scan *s)
{
	return s->text && s->stext;
}

static int kernel_map_scan_file(struct scan *s, int fd, uint64_t text_bytes)
{
	char *buf = malloc(CHUNK_BYTES + 1);
	size_t have = 0;
	ssize_t n = 0;

	if (!buf)
		return err_nomem();
	while (s->with_symbols || !(s->map->end && (s->text || s->stext))) {
		char *p = buf, *nl;

		if (text_bytes && kernel_map_has_beginning(s)) {
			s->map->end = s->text + text_bytes;
			break;
		}

		n = read(fd, buf + have, CHUNK_BYTES - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
		buf[have] = '\0';
		while ((nl = memchr(p, '\n', have - (size_t)(p - buf)))) {
			kernel_map_add_line(s, p, (size_t)(nl - p));
			p = nl + 1;
		}
		have -= (size_t)(p - buf);
		memmove(buf, p, have);
		if (have == CHUNK_BYTES)
			break; /* no line is that long */
	}
	n = n < 0 ? -errno : 0;
	free(buf);
	return n < 0 ? err_errno((int)-n, "cannot read /proc/kallsyms") : 0;
}

static int kernel_map_compress(struct outbuf *to, const struct outbuf *from)
{
	const size_t bound = ZSTD_compressBound(from->len);
	char *room = outbuf_room(to, bound);
	size_t n;

	if (!room)
		return err_nomem();
	n = ZSTD_compress(room, bound, from->data, from->len, ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return err_set(-EIO, "zstd: %s", ZSTD_getErrorName(n));
	outbuf_advance(to, n);
	return 0;
}

int kernel_map_read(struct kernel_map *ret, bool with_symbols)
{
	struct kernel_map k = { 0 };
	struct scan s = { .map = &k, .with_symbols = with_symbols };
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return err_errno(errno, "cannot open /proc/kallsyms");
	r = kernel_map_scan_file(&s, fd, with_symbols ? 0 : kernel_map_text_bytes());
	close(fd);
	k.reference = s.text ? "_text" : "_stext";
	k.reference_addr = s.text ? s.text : s.stext;
	k.start = s.stext && s.stext < k.reference_addr ? s.stext : k.reference_addr;
	if (k.end < k.start)
		k.end = k.start;
	if (r == 0 && s.kept.failed)
		r = err_nomem();
	/* If all addresses are zero, the symbols are useless and not kept. */
	if (r == 0 && with_symbols && k.reference_addr)
		r = kernel_map_compress(&k.symbols_zstd, &s.kept);
	outbuf_done(&s.kept);
	if (r < 0) {
		kernel_map_done(&k);
		return r;
	}
	*ret = k;
	return 0;
}

int kernel_map_unpack(const struct kernel_map *k, struct outbuf *to)
{
	const struct outbuf *from = &k->symbols_zstd;
	const unsigned long long size = ZSTD_getFrameContentSize(from->data, from->len);
	char *room = size < SIZE_MAX ? outbuf_room(to, (size_t)size) : NULL;
	size_t n;

	if (!room)
		return err_nomem();
	n = ZSTD_decompress(room, (size_t)size, from->data, from->len);
	if (ZSTD_isError(n))
		return err_set(-EIO, "zstd: %s", ZSTD_getErrorName(n));
	outbuf_advance(to, n);
	return 0;
}

void kernel_map_done(struct kernel_map *k)
{
	outbuf_done(&k->symbols_zstd);
}
