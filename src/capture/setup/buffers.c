/* SPDX-License-Identifier: MIT */
#include "capture/setup/buffers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/setup/values.h"

/*
 * Per cpu: 512 KiB as in perf. Root's locked memory has no limit: root gets 4 MiB, which lose some
 * ten times fewer events under load, if all buffers together take at most 1 / MEMORY_SHARE of the
 * memory.
 */
enum {
	DEFAULT_BUFFER_BYTES = 512 << 10,
	ROOT_BUFFER_BYTES = 4 << 20,
	BUFFER_BYTES_MAX = 1 << 30,
	MEMORY_SHARE = 64
};

static size_t buffers_choose_pages(size_t page, size_t nr)
{
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
	size_t bytes = DEFAULT_BUFFER_BYTES;

	if (geteuid() == 0)
		for (bytes = ROOT_BUFFER_BYTES; bytes > DEFAULT_BUFFER_BYTES; bytes /= 2)
			if (bytes * nr <= memory / MEMORY_SHARE)
				break;
	return bytes / page ? bytes / page : 1;
}

int buffers_parse(const char *text, const struct say *to, uint64_t *ret_pages)
{
	const char *comma = strchr(text, ',');
	char pages[32];
	uint64_t aux;

	*ret_pages = 0;
	if (!comma)
		return capture_value_pages("-m", text, ret_pages);
	if (snprintf(pages, sizeof(pages), "%.*s", (int)(comma - text), text) >= (int)sizeof(pages))
		return err_set(-EBADR, "-m %s: the number of pages is too long", text);
	if (*pages)
		TRY(capture_value_pages("-m", pages, ret_pages));
	TRY(capture_value_pages("-m (the number after the comma, for hardware traces)", comma + 1,
				&aux));
	say(to, SAY_VERBOSE,
	    "-m %s: the number after the comma has no effect, because hardware traces are not "
	    "recorded",
	    text);
	return 0;
}

int buffers_choose(const char *text, uint64_t given, size_t nr, const struct say *to,
		   size_t *ret_pages)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = 1;

	if (given > BUFFER_BYTES_MAX / page)
		return err_set(-EBADR, "-m %s: at most %zu pages", text, BUFFER_BYTES_MAX / page);
	while (pages < given)
		pages *= 2;
	if (!given)
		pages = buffers_choose_pages(page, nr);
	else if (pages != given)
		say(to, SAY_NORMAL, "-m %s: taking %zu pages, the next power of two", text, pages);
	*ret_pages = pages;
	return 0;
}

/*
 * The recorder is woken when an eighth of a buffer is full. The other seven eighths have room for
 * new data until it runs and has written that much. (perf leaves the threshold at the kernel's
 * default, one half.) The threshold is never so small that a wakeup costs more than its data. With
 * -z it is a quarter: each wakeup ends a block early, and small blocks compress worse.
 */
uint32_t buffers_wakeup_bytes(size_t pages, bool is_zipped)
{
	enum { LEAST_BYTES = 64 << 10 };
	const size_t share = is_zipped ? 4 : 8;
	const size_t bytes = pages * (size_t)sysconf(_SC_PAGESIZE);
	const size_t wakeup = bytes / share > LEAST_BYTES ? bytes / share : LEAST_BYTES;

	return (uint32_t)(wakeup < bytes / 4 ? wakeup : bytes / 4);
}
