/* SPDX-License-Identifier: MIT */
/* Text of a latency tracer: trace-cmd prints the text that a trace.dat stores as it is. */

#include "sinks/text/terminal.h"
#include "sinks/tracecmd/tracecmd.h"
#include "sources/ftracetext/view.h"

static void latency_put(struct tracecmd_sink *s, const char *text, size_t len)
{
	struct outbuf *out = &s->writer.out;
	const size_t start = out->len;

	outbuf_put(out, text, len);
	if (len && text[len - 1] != '\n')
		outbuf_char(out, '\n');
	if (s->on_terminal && !out->failed)
		text_terminal_quiet(out, start, true);
}

void tracecmd_put_latency_head(struct tracecmd_sink *s, const struct tracecmd_input *in)
{
	const uint32_t cpus = ftracetext_latency_cpus(in->latency);
	size_t len;
	const char *head = ftracetext_latency_head(in->latency, &len);

	if (cpus)
		outbuf_fmt(&s->writer.out, "cpus=%u\n", cpus);
	latency_put(s, head, len);
}

void tracecmd_put_latency_end(struct tracecmd_sink *s, const struct tracecmd_input *in)
{
	if (ftracetext_latency_cpus(in->latency))
		outbuf_char(&s->writer.out, '\n');
}

int tracecmd_put_latency(struct tracecmd_sink *s, const struct tracecmd_input *in,
			 const struct event *ev)
{
	size_t len;
	const char *lines;

	if (ev->schema->traits & SCHEMA_LOSS && !cpu_list_holds(&in->rec->early.cpus, ev->pub.cpu))
		return 0;
	lines = ftracetext_latency_lines(in->latency, ev, &len);
	latency_put(s, lines, len);
	return fd_writer_tick(&s->writer);
}
