/* SPDX-License-Identifier: MIT */
#include "formats/tracedat/buffers.h"

#include <stdlib.h>

#include "formats/tracedat/layout.h"

int tracedat_tag_read(struct bytes *b, enum tracedat_tag *ret)
{
	static const char *const tags[] = {
		[TRACEDAT_TAG_OPTIONS] = TRACEDAT_OPTIONS_TAG,
		[TRACEDAT_TAG_LATENCY] = TRACEDAT_LATENCY_TAG,
		[TRACEDAT_TAG_PAGES] = TRACEDAT_PAGES_TAG,
	};
	const uint8_t *p = NULL;

	b->what = "tag";
	TRY(bytes_take(b, "tag", TRACEDAT_TAG_BYTES, &p));
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
		if (!memcmp(p, tags[i], TRACEDAT_TAG_BYTES)) {
			*ret = (enum tracedat_tag)i;
			return 0;
		}
	}
	return bytes_fail(b, -EBADMSG,
			  "\"options\", \"latency\" or \"flyrecord\" was expected before this "
			  "place");
}

static int buffers_check_cpus(struct bytes *b, uint32_t nr)
{
	return nr > TRACEDAT_MOST_CPUS
		       ? bytes_fail(b, -EBADMSG, "a buffer of %u cpus: at most %d can be read", nr,
				    TRACEDAT_MOST_CPUS)
		       : 0;
}

int tracedat_cpus_read(struct bytes *b, uint32_t nr_cpus, struct tracedat_buffer *ret)
{
	TRY(buffers_check_cpus(b, nr_cpus));
	b->what = "table of cpus";
	for (uint32_t i = 0; i < nr_cpus; i++) {
		struct tracedat_cpu cpu = { .cpu = i };

		TRY(bytes_u64(b, "offset of pages", &cpu.off));
		TRY(bytes_u64(b, "size of pages", &cpu.size));
		if (cpu.size && vec_push(&ret->cpus, cpu) < 0)
			return err_nomem();
	}
	return 0;
}

int tracedat_buffer_read(struct bytes *b, struct tracedat_buffer *ret)
{
	uint32_t nr = 0;

	b->what = "option of a buffer";
	TRY(bytes_u64(b, "offset of the section", &ret->section_off));
	TRY(bytes_cstr(b, "name", &ret->name));
	TRY(bytes_cstr(b, "clock", &ret->clock));
	TRY(bytes_u32(b, "page size", &ret->page_bytes));
	TRY(bytes_u32(b, "number of cpus", &nr));
	TRY(buffers_check_cpus(b, nr));
	while (nr--) {
		struct tracedat_cpu cpu = { 0 };

		TRY(bytes_u32(b, "number of a cpu", &cpu.cpu));
		TRY(bytes_u64(b, "offset of pages", &cpu.off));
		TRY(bytes_u64(b, "size of pages", &cpu.size));
		if (cpu.cpu > INT32_MAX)
			return bytes_fail(b, -EBADMSG, "a cpu has the number %u", cpu.cpu);
		ret->nr_cpus = cpu.cpu >= ret->nr_cpus ? cpu.cpu + 1 : ret->nr_cpus;
		if (cpu.size && vec_push(&ret->cpus, cpu) < 0)
			return err_nomem();
	}
	return 0;
}

int tracedat_instance_read(struct bytes *b, uint64_t *ret_off, const char **ret_name)
{
	b->what = "option of an instance";
	TRY(bytes_u64(b, "offset of the table", ret_off));
	return bytes_cstr(b, "name", ret_name);
}

int tracedat_tsc_read(struct bytes *b, struct tracedat_tsc *ret)
{
	b->what = "option of the processor's counter";
	TRY(bytes_u32(b, "mult", &ret->mult));
	TRY(bytes_u32(b, "shift", &ret->shift));
	TRY(bytes_u64(b, "offset", &ret->offset));
	return ret->shift > 63 ? bytes_fail(b, -EBADMSG, "a shift of %u bits", ret->shift) : 0;
}

int64_t tracedat_number_of(const struct bytes *text)
{
	char digits[40] = "";
	size_t n = bytes_left(text);

	if (n > sizeof(digits) - 1)
		n = sizeof(digits) - 1;
	if (n)
		memcpy(digits, text->pos, n);
	/* A hexadecimal number may have all 64 bits; a negative one wraps as it was added. */
	return *digits == '-' ? strtoll(digits, NULL, 0) : (int64_t)strtoull(digits, NULL, 0);
}
