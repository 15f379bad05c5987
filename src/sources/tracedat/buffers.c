/* SPDX-License-Identifier: MIT */
/* Reads what is in front of the pages, and finds the pages of each cpu of each buffer. */

#include <stdlib.h>

#include "formats/tracedat/layout.h"
#include "sources/tracedat/tracedat.h"

enum { FIRST_BYTES = 1 << 20, MOST_OPTIONS = 1 << 16, MOST_BUFFERS = 1024 };

/* ---- options --------------------------------------------------------------------------------- */

static int buffers_add(struct tracedat_source *s, const struct tracedat_buffer *take)
{
	if (s->buffers.n < MOST_BUFFERS && vec_push(&s->buffers, *take) >= 0)
		return 0;
	free(take->cpus.v);
	return s->buffers.n < MOST_BUFFERS ? err_nomem()
					   : err_set(-EBADMSG, "%s has more than %d buffers",
						     s->opts.path, MOST_BUFFERS);
}

static int buffers_keep_name(struct tracedat_source *s, struct tracedat_buffer *buffer)
{
	buffer->name = arena_strdup(&s->arena, buffer->name);
	if (buffer->clock)
		buffer->clock = arena_strdup(&s->arena, buffer->clock);
	return buffer->name ? 0 : err_nomem();
}

/* Version 6: the option has the place of another table of cpus, for an instance. */
static int buffers_read_instance(struct tracedat_source *s, struct bytes *b)
{
	struct tracedat_buffer buffer = { 0 };
	struct bytes table;
	enum tracedat_tag tag;
	uint64_t off;
	int r;

	TRY(tracedat_instance_read(b, &off, &buffer.name));
	TRY(buffers_keep_name(s, &buffer));
	TRY(tracedat_block_read(s, off, TRACEDAT_TAG_BYTES + 16 * (uint64_t)s->sections.nr_cpus,
				"the table of an instance", &table));
	TRY(tracedat_tag_read(&table, &tag));
	if (tag != TRACEDAT_TAG_PAGES)
		return bytes_fail(&table, -EBADMSG, "the instance has no pages");
	r = tracedat_cpus_read(&table, s->sections.nr_cpus, &buffer);
	if (r < 0) {
		vec_done(&buffer.cpus);
		return r;
	}
	return buffers_add(s, &buffer);
}

static int buffers_read_buffer(struct tracedat_source *s, struct bytes *b)
{
	struct tracedat_buffer buffer = { 0 };
	int r = tracedat_buffer_read(b, &buffer);

	if (r >= 0)
		r = buffers_keep_name(s, &buffer);
	if (r < 0) {
		vec_done(&buffer.cpus);
		return r;
	}
	return buffers_add(s, &buffer);
}

static int buffers_load_part(struct tracedat_source *s, unsigned id, struct bytes *option)
{
	static const char *const names[] = {
		[TRACEDAT_HEADER_INFO] = "description of pages",
		[TRACEDAT_FTRACE_EVENTS] = "ftrace's event formats",
		[TRACEDAT_EVENT_FORMATS] = "event formats",
		[TRACEDAT_KALLSYMS] = "kallsyms",
		[TRACEDAT_PRINTK] = "printk formats",
		[TRACEDAT_CMDLINES] = "saved command lines",
	};
	uint64_t off = 0, place = 0;
	struct bytes b;

	TRY(bytes_u64(option, "offset of a section", &off));
	TRY(tracedat_section_load(s, off, id, names[id], &b, &place));
	switch (id) {
	case TRACEDAT_HEADER_INFO:
		return tracedat_header_info_read(&b, &s->sections.header_page);
	case TRACEDAT_FTRACE_EVENTS:
		s->sections.ftrace_events = b;
		return 0;
	case TRACEDAT_EVENT_FORMATS:
		s->sections.event_formats = b;
		return 0;
	case TRACEDAT_KALLSYMS:
		return tracedat_text_u32(&b, names[id], &s->sections.kallsyms);
	case TRACEDAT_PRINTK:
		return tracedat_text_u32(&b, names[id], &s->sections.printk);
	default:
		TRY(tracedat_text_u64(&b, names[id], &s->sections.cmdlines));
		s->has_cmdlines_section = place != 0;
		s->cmdlines_off = place + 8;
		return 0;
	}
}

/* A section of version 7 that cannot be read is left out, unless pages cannot be read without it.
 */
static int buffers_take_section(struct tracedat_source *s, unsigned id, struct bytes *option)
{
	int r = buffers_load_part(s, id, option);

	if (r != -EBADMSG || id == TRACEDAT_HEADER_INFO)
		return r;
	defects_add(s->opts.defects, DEFECT_BAD_FEATURE, 1, "%s", err_text());
	err_clear();
	return 0;
}

static int buffers_take_option(struct tracedat_source *s, struct tracedat_option *o)
{
	switch (o->id) {
	case TRACEDAT_DATE:
		s->date_us = (uint64_t)tracedat_number_of(&o->data);
		return 0;
	case TRACEDAT_OFFSET:
		s->offset_ns = (uint64_t)tracedat_number_of(&o->data);
		return 0;
	case TRACEDAT_CPUSTAT:
		return tracedat_losses_read(s, &o->data);
	case TRACEDAT_BUFFER:
		return s->start.version == TRACEDAT_VERSION_6 ? buffers_read_instance(s, &o->data)
							      : buffers_read_buffer(s, &o->data);
	case TRACEDAT_TRACECLOCK:
		s->texts.clock = o->data;
		return 0;
	case TRACEDAT_UNAME:
		s->texts.uname = o->data;
		return 0;
	case TRACEDAT_RECORDER:
		s->texts.recorder = o->data;
		return 0;
	case TRACEDAT_CPUCOUNT:
		return bytes_u32(&o->data, "number of cpus", &s->nr_cpus);
	case TRACEDAT_TRACEID:
		return bytes_u64(&o->data, "id of the recording", &s->trace_id);
	case TRACEDAT_TIME_SHIFT:
		return tracedat_shifts_read(&o->data, &s->arena, &s->shifts);
	case TRACEDAT_TSC2NSEC:
		return tracedat_tsc_read(&o->data, &s->tsc);
	case TRACEDAT_HEADER_INFO:
	case TRACEDAT_FTRACE_EVENTS:
	case TRACEDAT_EVENT_FORMATS:
	case TRACEDAT_KALLSYMS:
	case TRACEDAT_PRINTK:
	case TRACEDAT_CMDLINES:
		return s->start.version == TRACEDAT_VERSION_6
			       ? 0
			       : buffers_take_section(s, o->id, &o->data);
	case TRACEDAT_BUFFER_TEXT:
		s->has_text = true;
		return bytes_u64(&o->data, "offset of a text", &s->text_off);
	default:
		return 0;
	}
}

static int buffers_read_options(struct tracedat_source *s, struct bytes *b, uint64_t *ret_next)
{
	struct tracedat_option o;
	unsigned n = 0;
	int r;

	for (;;) {
		r = tracedat_option_next(b, s->start.version, &o, ret_next);
		if (r <= 0)
			return r;
		if (n++ == MOST_OPTIONS)
			return bytes_fail(b, -EBADMSG, "more than %d options", MOST_OPTIONS);
		TRY(buffers_take_option(s, &o));
	}
}

/* ---- version 6 ------------------------------------------------------------------------------- */

/* The top buffer is the first, although the options with its instances are in front of it. */
static int buffers_add_top(struct tracedat_source *s, struct tracedat_buffer *take)
{
	TRY(buffers_add(s, take));
	for (size_t i = s->buffers.n - 1; i > 0; i--) {
		const struct tracedat_buffer last = s->buffers.v[i];

		s->buffers.v[i] = s->buffers.v[i - 1];
		s->buffers.v[i - 1] = last;
	}
	return 0;
}

static int buffers_read_6(struct tracedat_source *s, struct bytes *b)
{
	struct tracedat_buffer top = { .name = "" };
	enum tracedat_tag tag;
	uint64_t next;
	int r;

	TRY(tracedat_sections_read(b, &s->sections));
	TRY(tracedat_tag_read(b, &tag));
	if (tag == TRACEDAT_TAG_OPTIONS) {
		TRY(buffers_read_options(s, b, &next));
		TRY(tracedat_tag_read(b, &tag));
	}
	if (tag == TRACEDAT_TAG_OPTIONS)
		return bytes_fail(b, -EBADMSG, "options follow the options");
	if (tag == TRACEDAT_TAG_LATENCY) {
		s->has_text = true;
		s->text_off = bytes_file_off(b);
		return 0;
	}
	r = tracedat_cpus_read(b, s->sections.nr_cpus, &top);
	if (r < 0) {
		vec_done(&top.cpus);
		return r;
	}
	s->nr_cpus = s->sections.nr_cpus;
	s->has_cmdlines_section = true;
	s->cmdlines_off = s->sections.cmdlines.file_off;
	return buffers_add_top(s, &top);
}

static void buffers_forget(struct tracedat_source *s)
{
	vec_foreach(buffer, &s->buffers)
		vec_done(&buffer->cpus);
	vec_clear(&s->buffers);
	vec_foreach(block, &s->blocks)
		free(*block);
	vec_clear(&s->blocks);
	vec_clear(&s->losses);
	s->dropped = 0;
	s->has_text = false;
}

/* The sections have no total size, so the memory grows until all are in it. */
static int buffers_read_start(struct tracedat_source *s)
{
	uint64_t n = FIRST_BYTES;
	struct bytes b;
	int r;

	for (;;) {
		n = n < s->file_bytes ? n : s->file_bytes;
		n = n < TRACEDAT_LARGEST_PART ? n : TRACEDAT_LARGEST_PART;
		TRY(tracedat_block_read(s, 0, n, "start", &b));
		r = tracedat_start_read(&b, &s->start);
		s->is_swapped = b.swap;
		if (r < 0 || s->start.version != TRACEDAT_VERSION_6)
			return r;
		r = buffers_read_6(s, &b);
		if (r != -EBADMSG || n == s->file_bytes || n == TRACEDAT_LARGEST_PART)
			return r;
		err_clear();
		buffers_forget(s);
		n *= 4;
	}
}

/* ---- version 7 ------------------------------------------------------------------------------- */

static int buffers_read_7(struct tracedat_source *s)
{
	uint64_t off = s->start.options_off, place;
	struct bytes b;

	/* Each section is after the one that refers to it, so there is no circle. */
	for (uint64_t before = 0; off; before = place) {
		if (off <= before)
			return err_set(-EBADMSG, "%s: the options at 0x%llx refer to 0x%llx",
				       s->opts.path, (unsigned long long)before,
				       (unsigned long long)off);
		place = off;
		TRY(tracedat_section_load(s, off, TRACEDAT_DONE, "options", &b, &off));
		TRY(buffers_read_options(s, &b, &off));
	}
	return 0;
}

/* ---- text of a latency tracer ---------------------------------------------------------------- */

/* In version 6 the text is the rest of the file. */
static int buffers_copy_rest(struct tracedat_source *s)
{
	enum { AT_ONCE = 1 << 20 };
	uint8_t *room = malloc(AT_ONCE);
	int r = room ? 0 : err_nomem();

	for (uint64_t at = s->text_off; at < s->file_bytes && r == 0;) {
		const uint64_t left = s->file_bytes - at, n = left < AT_ONCE ? left : AT_ONCE;

		r = tracedat_read(s, at, n, "text", room);
		if (r == 0)
			r = tracedat_unpacked_append(s, room, n);
		at += n;
	}
	free(room);
	return r;
}

/* Copies the text to the file `unpacked`. */
static int buffers_copy_text(struct tracedat_source *s)
{
	struct bytes text;
	uint64_t place;

	TRY(tracedat_unpacked_append(s, NULL, 0));
	if (s->start.version == TRACEDAT_VERSION_6)
		return buffers_copy_rest(s);
	TRY(tracedat_section_load(s, s->text_off, TRACEDAT_BUFFER_TEXT, "text", &text, &place));
	return tracedat_unpacked_append(s, text.pos, bytes_left(&text));
}

static bool buffers_have_pages(struct tracedat_source *s)
{
	vec_foreach(buffer, &s->buffers) {
		if (buffer->cpus.n)
			return true;
	}
	return false;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static int buffers_describe(struct tracedat_source *s)
{
	struct ring_layout layout = {
		.swap = s->is_swapped,
		.is_big = s->start.is_big,
	};

	TRY(ring_layout_read(s->sections.header_page, &layout));
	s->abi = (struct abi){
		.swap = s->is_swapped,
		.big_endian = s->start.is_big,
		.long_bytes = layout.commit_bytes,
	};
	TRY(vec_reserve(&s->instances, s->buffers.n));
	vec_foreach(buffer, &s->buffers) {
		struct tracedat_instance instance = {
			.name = buffer->name,
			.layout = layout,
			.times = { s->tsc, s->offset_ns + s->date_us * 1000 },
			.clock = tracedat_clock_of(s, buffer),
		};

		if (buffer->page_bytes)
			instance.layout.page_bytes = buffer->page_bytes;
		if (instance.layout.page_bytes > RING_LARGEST_PAGE ||
		    instance.layout.page_bytes < layout.data_off + (uint32_t)RING_SMALLEST_PAGE)
			return err_set(-EBADMSG, "%s: the buffer '%.40s' has pages of %u bytes",
				       s->opts.path, buffer->name, instance.layout.page_bytes);
		TRY(vec_push(&s->instances, instance));
	}
	return 0;
}

static int buffers_add_range(struct tracedat_source *s, const struct tracedat_instance *instance,
			     const struct tracedat_cpu *cpu, int fd)
{
	struct tracedat_range range = {
		.fd = fd,
		.begin = cpu->off,
		.end = cpu->off + cpu->size,
		.cpu = (int32_t)cpu->cpu,
		.instance = instance,
		.shift = cpu->cpu < s->shifts.nr_cpus ? &s->shifts.cpus[cpu->cpu] : NULL,
	};

	if (fd == s->fd && (cpu->off > s->file_bytes || cpu->size > s->file_bytes - cpu->off)) {
		defects_add(s->opts.defects, DEFECT_TRUNCATED, 1,
			    "the pages of cpu %u at 0x%llx have %llu bytes, %.120s ends at 0x%llx",
			    cpu->cpu, (unsigned long long)cpu->off, (unsigned long long)cpu->size,
			    s->opts.path, (unsigned long long)s->file_bytes);
		if (cpu->off >= s->file_bytes)
			return 0;
		range.end = s->file_bytes;
	}
	if (s->ranges.n == UINT16_MAX)
		return err_set(-EBADMSG, "%s has pages of more than %d cpus", s->opts.path,
			       UINT16_MAX);
	return range.begin < range.end ? vec_push(&s->ranges, range) : 0;
}

static int buffers_find_pages(struct tracedat_source *s, struct tracedat_buffer *buffer,
			      const struct tracedat_instance *instance)
{
	uint8_t head[TRACEDAT_SECTION_HEADER_BYTES];
	struct tracedat_section section = { 0 };
	struct bytes b =
		bytes_init(head, sizeof(head), buffer->section_off, s->opts.path, s->is_swapped);

	if (s->start.version == TRACEDAT_VERSION_7 && strcmp(s->start.compression, "none") != 0) {
		TRY(tracedat_read(s, buffer->section_off, sizeof(head), "a buffer", head));
		TRY(tracedat_section_read(&b, &section));
	}
	vec_foreach(cpu, &buffer->cpus) {
		if (section.is_compressed)
			TRY(tracedat_pages_unpack(s, cpu, instance->layout.page_bytes));
		TRY(buffers_add_range(s, instance, cpu,
				      section.is_compressed ? s->unpacked : s->fd));
	}
	return 0;
}

int tracedat_buffers_open(struct tracedat_source *s)
{
	TRY(buffers_read_start(s));
	if (s->start.version == TRACEDAT_VERSION_7)
		TRY(buffers_read_7(s));
	if (s->has_text && !buffers_have_pages(s)) {
		TRY(buffers_copy_text(s));
		return SOURCE_HOLDS_OTHER;
	}
	if (s->has_text)
		defects_add(s->opts.defects, DEFECT_UNKNOWN_RECORD, 1,
			    "the text of a latency tracer, which is in %.120s in addition to "
			    "events",
			    s->opts.path);
	TRY(buffers_describe(s));
	TRY(tracedat_names_open(s));
	for (size_t i = 0; i < s->buffers.n; i++)
		TRY(buffers_find_pages(s, &s->buffers.v[i], &s->instances.v[i]));
	if (s->dropped)
		defects_add(s->opts.defects, DEFECT_LOST_EVENTS, s->dropped,
			    "the statistics of %.120s count events that the kernel did not store",
			    s->opts.path);
	return 0;
}
