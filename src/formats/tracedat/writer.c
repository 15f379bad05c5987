/* SPDX-License-Identifier: MIT */
#include "formats/tracedat/writer.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/err.h"
#include "base/write_all.h"

void tracedat_put_u32(struct outbuf *o, uint32_t v)
{
	outbuf_put(o, &v, sizeof(v));
}

void tracedat_put_u64(struct outbuf *o, uint64_t v)
{
	outbuf_put(o, &v, sizeof(v));
}

void tracedat_put_text_u32(struct outbuf *o, const char *text, size_t len)
{
	tracedat_put_u32(o, (uint32_t)len);
	outbuf_put(o, text, len);
}

void tracedat_put_text_u64(struct outbuf *o, const char *text, size_t len)
{
	tracedat_put_u64(o, len);
	outbuf_put(o, text, len);
}

static void writer_put_word(struct outbuf *o, const char *word)
{
	outbuf_put(o, word, strlen(word) + 1);
}

void tracedat_put_header_info(struct outbuf *o, const char *page, size_t page_len,
			      const char *event, size_t event_len)
{
	writer_put_word(o, "header_page");
	tracedat_put_text_u64(o, page, page_len);
	writer_put_word(o, "header_event");
	tracedat_put_text_u64(o, event, event_len);
}

static int writer_write(struct tracedat_writer *w, const void *data, size_t len)
{
	const int r = write_all(w->fd, data, len);

	if (r < 0)
		return err_errno(-r, "cannot write the file");
	w->off += len;
	return 0;
}

static int writer_flush(struct tracedat_writer *w)
{
	int r;

	if (w->head.failed || w->options.failed)
		return err_nomem();
	r = writer_write(w, w->head.data, w->head.len);
	w->head.len = 0;
	return r;
}

int tracedat_writer_begin(struct tracedat_writer *w, int fd, unsigned version, uint32_t page_bytes,
			  uint8_t long_bytes)
{
	const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	*w = (struct tracedat_writer){ .fd = fd, .version = version, .page_bytes = page_bytes };
	outbuf_put(&w->head, TRACEDAT_MAGIC, TRACEDAT_MAGIC_BYTES);
	writer_put_word(&w->head, version == TRACEDAT_VERSION_6 ? "6" : "7");
	outbuf_char(&w->head, is_big);
	outbuf_char(&w->head, (char)long_bytes);
	tracedat_put_u32(&w->head, page_bytes);
	if (version == TRACEDAT_VERSION_6)
		return writer_flush(w);
	writer_put_word(&w->head, "none");
	writer_put_word(&w->head, "");
	w->options_at = w->head.len;
	tracedat_put_u64(&w->head, 0);
	return writer_flush(w);
}

/* u16 id | u16 flags | u32 description | u64 bytes that follow */
static void writer_put_section_header(struct tracedat_writer *w, uint16_t id, uint64_t len)
{
	const uint16_t words[] = { id, 0 };

	outbuf_put(&w->head, words, sizeof(words));
	tracedat_put_u32(&w->head, 0);
	tracedat_put_u64(&w->head, len);
}

void tracedat_writer_option(struct tracedat_writer *w, enum tracedat_option_id id, const void *data,
			    size_t len)
{
	const uint16_t word = (uint16_t)id;

	outbuf_put(&w->options, &word, sizeof(word));
	tracedat_put_text_u32(&w->options, data, len);
}

int tracedat_writer_section(struct tracedat_writer *w, enum tracedat_option_id id, const void *data,
			    size_t len)
{
	if (w->version == TRACEDAT_VERSION_7) {
		tracedat_writer_option(w, id, &w->off, sizeof(w->off));
		writer_put_section_header(w, (uint16_t)id, len);
		TRY(writer_flush(w));
	}
	return writer_write(w, data, len);
}

void tracedat_writer_name_sonde(struct tracedat_writer *w)
{
	static const char recorder[] = SONDE_VERSION " sonde";

	tracedat_writer_option(w, TRACEDAT_RECORDER, recorder, sizeof(recorder));
}

void tracedat_writer_cpus(struct tracedat_writer *w, uint32_t nr)
{
	w->nr_cpus = nr;
	tracedat_writer_option(w, TRACEDAT_CPUCOUNT, &nr, sizeof(nr));
}

static int writer_copy(struct tracedat_writer *w, const struct tracedat_pages *p)
{
	enum { AT_ONCE = 1 << 24 };
	uint64_t left = p->bytes;
	off_t from = 0;

	while (left) {
		const ssize_t n = sendfile(w->fd, p->fd, &from, left < AT_ONCE ? left : AT_ONCE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(n ? errno : EIO, "cannot copy the events of cpu %u",
					 p->cpu);
		left -= (uint64_t)n;
		w->off += (uint64_t)n;
	}
	return 0;
}

static int writer_copy_all(struct tracedat_writer *w, const struct tracedat_pages *cpus, size_t nr)
{
	int r = writer_flush(w);

	for (size_t i = 0; i < nr && r == 0; i++)
		r = writer_copy(w, &cpus[i]);
	return r;
}

static uint64_t writer_align(const struct tracedat_writer *w, uint64_t off)
{
	return (off + w->page_bytes - 1) / w->page_bytes * w->page_bytes;
}

static void writer_put_tag(struct outbuf *o, const char *tag)
{
	outbuf_put(o, tag, TRACEDAT_TAG_BYTES);
}

/* The pages of the list's cpu of that number; without bytes if it has none. */
static struct tracedat_pages writer_pages_of(const struct tracedat_pages *cpus, size_t nr,
					     uint32_t cpu)
{
	for (size_t i = 0; i < nr; i++)
		if (cpus[i].cpu == cpu)
			return cpus[i];
	return (struct tracedat_pages){ .cpu = cpu };
}

/*
 * u32 number of cpus | "options  " options u16 0 | "flyrecord" | of each cpu u64 offset, u64 size |
 * u64 n, n bytes: the clock
 */
static int writer_put_all_6(struct tracedat_writer *w, const char *clock,
			    const struct tracedat_pages *cpus, size_t nr)
{
	const uint16_t done = TRACEDAT_DONE;
	struct outbuf selected = { 0 };
	uint64_t at;

	tracedat_put_u32(&w->head, w->nr_cpus);
	writer_put_tag(&w->head, TRACEDAT_OPTIONS_TAG);
	outbuf_put(&w->head, w->options.data, w->options.len);
	outbuf_put(&w->head, &done, sizeof(done));
	writer_put_tag(&w->head, TRACEDAT_PAGES_TAG);
	outbuf_fmt(&selected, "[%s]", clock);
	at = writer_align(w, w->off + w->head.len + 16 * (uint64_t)w->nr_cpus + 8 + selected.len);
	for (uint32_t cpu = 0; cpu < w->nr_cpus; cpu++) {
		const uint64_t bytes = writer_pages_of(cpus, nr, cpu).bytes;

		tracedat_put_u64(&w->head, at);
		tracedat_put_u64(&w->head, bytes);
		at += bytes;
	}
	tracedat_put_text_u64(&w->head, selected.data, selected.len);
	w->head.failed |= selected.failed;
	outbuf_done(&selected);
	outbuf_pad(&w->head, '\0', writer_align(w, w->off + w->head.len) - w->off - w->head.len);
	return writer_copy_all(w, cpus, nr);
}

int tracedat_writer_buffer(struct tracedat_writer *w, const char *name, const char *clock,
			   const struct tracedat_pages *cpus, size_t nr)
{
	const uint64_t section = w->off;
	const uint64_t data = writer_align(w, section + TRACEDAT_SECTION_HEADER_BYTES);
	struct outbuf option = { 0 };
	uint64_t at = data;
	uint32_t with_pages = 0;

	if (w->version == TRACEDAT_VERSION_6)
		return writer_put_all_6(w, clock, cpus, nr);
	for (size_t i = 0; i < nr; i++)
		with_pages += cpus[i].bytes != 0;
	tracedat_put_u64(&option, section);
	writer_put_word(&option, name);
	writer_put_word(&option, clock);
	tracedat_put_u32(&option, w->page_bytes);
	tracedat_put_u32(&option, with_pages);
	for (size_t i = 0; i < nr; i++) {
		if (!cpus[i].bytes)
			continue;
		tracedat_put_u32(&option, cpus[i].cpu);
		tracedat_put_u64(&option, at);
		tracedat_put_u64(&option, cpus[i].bytes);
		at += cpus[i].bytes;
	}
	if (option.failed)
		w->options.failed = true;
	tracedat_writer_option(w, TRACEDAT_BUFFER, option.data, option.len);
	outbuf_done(&option);
	writer_put_section_header(w, TRACEDAT_BUFFER, at - section - TRACEDAT_SECTION_HEADER_BYTES);
	outbuf_pad(&w->head, '\0', data - section - TRACEDAT_SECTION_HEADER_BYTES);
	return writer_copy_all(w, cpus, nr);
}

int tracedat_writer_end(struct tracedat_writer *w)
{
	const uint64_t at = w->off, no_more = 0;

	if (w->version == TRACEDAT_VERSION_6)
		return writer_flush(w);
	tracedat_writer_option(w, TRACEDAT_DONE, &no_more, sizeof(no_more));
	writer_put_section_header(w, 0, w->options.len);
	outbuf_put(&w->head, w->options.data, w->options.len);
	TRY(writer_flush(w));
	if (pwrite(w->fd, &at, sizeof(at), (off_t)w->options_at) != sizeof(at))
		return err_errno(errno, "cannot write the file");
	return 0;
}

void tracedat_writer_done(struct tracedat_writer *w)
{
	outbuf_done(&w->head);
	outbuf_done(&w->options);
}
