/* SPDX-License-Identifier: MIT */
/* Opens ftrace's text. Its first lines have the tracer, and say if the columns have flags. */

#include <stdlib.h>
#include <unistd.h>

#include "model/printfmt/printfmt.h"
#include "sources/ftracetext/ftracetext.h"

enum { FIRST_BYTES = 64 * 1024, SCAN_BYTES = 1 << 20, SCAN_MOST = 64 << 20 };

static const char tracer_line[] = "# tracer: ";

/* The first line is the head's, or one with all columns. It may be cut off after them. */
static int open_ftracetext_probe(const uint8_t *head, size_t len)
{
	struct ftracetext_line line;
	size_t bytes;

	if (len >= sizeof(tracer_line) - 1 && !memcmp(head, tracer_line, sizeof(tracer_line) - 1))
		return 100;
	ftracetext_next_line(head, len, &line, &bytes);
	return line.kind == FTRACETEXT_LOST || (line.kind == FTRACETEXT_EVENT && line.has_time) ? 60
												: 0;
}

static void open_ftracetext_close(struct source *source)
{
	struct ftracetext_source *s = ftracetext_of(source);

	if (s->fd >= 0)
		close(s->fd);
	vec_foreach(type, &s->types)
		printfmt_free((*type)->print);
	vec_done(&s->types);
	hash64_done(&s->type_of_name);
	hash64_done(&s->comm_of_pid);
	vec_done(&s->comms);
	arena_done(&s->arena);
	free(s);
}

/* ---- the first lines ------------------------------------------------------------------------- */

static void open_take_tracer(struct ftracetext_source *s, const char *at, size_t n)
{
	n = n < sizeof(s->tracer) - 1 ? n : sizeof(s->tracer) - 1;
	for (size_t i = 0; i < n; i++)
		s->tracer[i] = at[i] > ' ' && at[i] <= '~' ? at[i] : '?';
	s->tracer[n] = '\0';
}

/* Events that the buffer overwrote are counted in the head only. */
static void open_take_head(struct ftracetext_source *s, const struct ftracetext_line *line)
{
	uint64_t kept, written;

	if (line->text_len >= sizeof(tracer_line) - 1 &&
	    !memcmp(line->text, tracer_line, sizeof(tracer_line) - 1))
		open_take_tracer(s, line->text + sizeof(tracer_line) - 1,
				 line->text_len - (sizeof(tracer_line) - 1));
	else if (ftracetext_counts_read(line->text, line->text_len, &kept, &written) &&
		 written > kept)
		defects_add(s->opts.defects, DEFECT_LOST_EVENTS, written - kept,
			    "overwritten before the text was read: %.120s", s->opts.path);
}

static int open_look_at_first(struct ftracetext_source *s)
{
	uint8_t *first = malloc(FIRST_BYTES);
	ssize_t n = first ? pread(s->fd, first, FIRST_BYTES, 0) : 0;
	size_t bytes;

	if (n < 0)
		err_errno(errno, "cannot read %s", s->opts.path);
	for (ssize_t at = 0; at < n; at += (ssize_t)bytes) {
		struct ftracetext_line line;

		ftracetext_next_line(first + at, (size_t)(n - at), &line, &bytes);
		if (line.kind == FTRACETEXT_HEAD) {
			open_take_head(s, &line);
			if (s->head_len == (size_t)at)
				s->head_len += bytes;
		}
		s->has_flags |= line.has_flags;
		s->is_latency |= line.is_latency;
		if (line.kind == FTRACETEXT_EVENT)
			break;
	}
	if (first)
		s->head = arena_strndup(&s->arena, (const char *)first, s->head_len);
	free(first);
	return !first || !s->head ? err_nomem() : n < 0 ? -EIO : 0;
}

/* A line that does not end was cut off: the copying of trace_pipe ended within it. */
static void open_check_end(struct ftracetext_source *s)
{
	char last = '\n';

	if (s->file_bytes && pread(s->fd, &last, 1, (off_t)s->file_bytes - 1) == 1 && last != '\n')
		defects_add(s->opts.defects, DEFECT_TRUNCATED, 1,
			    "the last line of %.120s has no end", s->opts.path);
}

/* ---- event types ----------------------------------------------------------------------------- */

static int open_scan_lines(struct ftracetext_source *s, const uint8_t *p, size_t len,
			   size_t *ret_used)
{
	size_t at = 0, bytes;

	for (; at < len; at += bytes) {
		struct ftracetext_line line;
		struct ftracetext_type *type;
		size_t skip;

		if (!ftracetext_next_line(p + at, len - at, &line, &bytes) && at)
			break;
		if (line.kind == FTRACETEXT_EVENT)
			TRY(ftracetext_type_find(s, line.text, line.text_len, &type, &skip));
	}
	*ret_used = at;
	return 0;
}

/* Makes the schemas of the events at the file's beginning, so that filters know their fields. */
static int open_scan(struct ftracetext_source *s)
{
	uint8_t *room = malloc(SCAN_BYTES);
	size_t used = 0;
	int r = room ? 0 : err_nomem();

	for (uint64_t at = 0; r >= 0 && at < SCAN_MOST; at += used) {
		const ssize_t n = pread(s->fd, room, SCAN_BYTES, (off_t)at);

		if (n <= 0)
			break;
		r = open_scan_lines(s, room, (size_t)n, &used);
	}
	free(room);
	return r;
}

/* ---- the table's functions ------------------------------------------------------------------- */

static int open_steps(struct ftracetext_source *s)
{
	TRY(source_open_file(&s->opts, &s->fd, &s->file_bytes));
	TRY(open_look_at_first(s));
	open_check_end(s);
	TRY(ftracetext_schemas_make(s));
	return open_scan(s);
}

static int open_ftracetext(struct source **ret, const struct source_options *opts)
{
	struct ftracetext_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return source_refuse_without_memory(opts);
	stream_free(opts->stream); /* find_source() has copied it to a file */
	s->source.ops = &ftracetext_source_ops;
	s->opts = *opts;
	s->opts.stream = NULL;
	s->is_latency = opts->inside;
	s->fd = -1;
	r = open_steps(s);
	if (r < 0) {
		open_ftracetext_close(&s->source);
		return r;
	}
	*ret = &s->source;
	return 0;
}

static bool open_ftracetext_file(struct source *source, unsigned i, struct source_file *ret)
{
	struct ftracetext_source *s = ftracetext_of(source);

	if (i)
		return false;
	*ret = (struct source_file){ .fd = s->fd, .path = s->opts.path, .end = s->file_bytes };
	return true;
}

/* The text does not name the clock. */
static void open_ftracetext_clock(struct source *source __attribute__((unused)),
				  struct source_clock *ret)
{
	*ret = (struct source_clock){ .id = -1, .reference_id = -1 };
}

static void open_ftracetext_report(struct source *source, const struct event *ev,
				   struct source_report *ret)
{
	if (ev->schema != ftracetext_of(source)->lost_schema)
		return;
	*ret = (struct source_report){
		.kind = REPORT_LOST,
		.lost = load_u64(ev->pub.bytes + offsetof(struct ftracetext_lost_payload, lost)),
	};
}

/* Each event counts once, as in profiles of tracepoints. */
static void open_ftracetext_weigh(struct source *source __attribute__((unused)),
				  const struct event *ev __attribute__((unused)), uint64_t *ret_ip,
				  uint64_t *ret_period)
{
	*ret_ip = 0;
	*ret_period = 1;
}

static void open_ftracetext_traits(struct source *source __attribute__((unused)),
				   struct source_traits *ret)
{
	*ret = (struct source_traits){ .describes_late = true, .has_time_zero = true };
}

static bool open_ftracetext_fact_at(struct source *source, size_t i, struct source_fact *ret)
{
	const struct ftracetext_source *s = ftracetext_of(source);
	const struct source_fact facts[] = {
		{ .key = "kind", .value = "file" },
		{ .key = "format", .value = "ftrace text" },
		{ .key = "format_text",
		  .value =
			  s->opts.inside ? "ftrace's text, stored in a trace.dat" : "ftrace's text",
		  .label = "format",
		  .about = FACT_TEXT_ONLY },
		{ .key = "tracer", .value = *s->tracer ? s->tracer : NULL, .label = "tracer" },
		{ .key = "inside", .value = s->opts.inside },
	};

	if (i >= sizeof(facts) / sizeof(*facts) - !s->opts.inside)
		return false;
	*ret = facts[i];
	return true;
}

const struct source_ops ftracetext_source_ops = {
	.name = "ftrace text",
	.summary = "text of ftrace: trace or trace_pipe, saved to a file",
	.probe = open_ftracetext_probe,
	.open = open_ftracetext,
	.file = open_ftracetext_file,
	.cut = ftracetext_cut,
	.decode = ftracetext_decode,
	.weigh = open_ftracetext_weigh,
	.clock = open_ftracetext_clock,
	.traits = open_ftracetext_traits,
	.report = open_ftracetext_report,
	.fact_at = open_ftracetext_fact_at,
	.close = open_ftracetext_close,
};
