/* SPDX-License-Identifier: MIT */
#include "sources/ctf/view.h"

#include "base/err.h"
#include "formats/ctf/text.h"
#include "sources/ctf/ctf.h"

struct ctf_source *ctf_view_of(struct source *s)
{
	return s->ops == &ctf_source_ops ? ctf_source_of(s) : NULL;
}

void ctf_view_env(const struct ctf_source *s, struct ctf_view_env *ret)
{
	const struct ctf_env *vpid = ctf_env_find(&s->trace, "vpid");

	*ret = (struct ctf_view_env){
		.hostname = ctf_env_text(&s->trace, "hostname"),
		.procname = ctf_env_text(&s->trace, "procname"),
		.vpid = vpid && !vpid->text ? vpid->number : -1,
	};
}

const char *ctf_view_name(const struct ctf_source *s, const struct event *ev)
{
	if (ev->schema == s->lost_schema || !ev->cut || !(ev->cut->flags & CUT_SAMPLE))
		return NULL;
	return s->types[ev->attr].class->name ? s->types[ev->attr].class->name : "";
}

uint32_t ctf_view_classes(const struct ctf_source *s)
{
	return (uint32_t)s->trace.events.n;
}

void ctf_view_packet(const struct ctf_source *s, const struct event *ev, uint64_t *ret_file,
		     uint64_t *ret_off)
{
	*ret_file = ev->cut->file;
	*ret_off = s->files.v[ev->cut->file].current.off;
}

static int view_put(const struct ctf_program *program, struct ctf_reader *rd, bool *has_any,
		    struct outbuf *out)
{
	int r = program->nr ? ctf_text_put(program, rd, *has_any ? ", " : "", out) : 0;

	*has_any |= r > 0;
	return r < 0 ? r : 0;
}

int ctf_view_put_packet(struct ctf_source *s, const struct event *ev, bool *has_any,
			struct outbuf *out)
{
	const struct ctf_file *file = &s->files.v[ev->cut->file];
	struct ctf_reader rd = {
		.bytes = file->header,
		.avail = 8 * (uint64_t)file->current.header_bytes,
		.end = 8 * (uint64_t)file->current.header_bytes,
		.slots = file->slots,
		.budget = CTF_BUDGET,
	};

	TRY(ctf_walk(&s->trace.packet_header_program, &rd));
	return view_put(&file->current.class->packet_context_program, &rd, has_any, out);
}

int ctf_view_put_fields(struct ctf_source *s, const struct event *ev, bool *has_any,
			struct outbuf *out)
{
	const struct ctf_event_type *type = &s->types[ev->attr];
	struct ctf_reader rd;

	ctf_event_reader(s, ev->cut, &rd);
	if (type->stream->is_header_needed)
		TRY(ctf_walk_header(type->stream, &rd));
	else
		rd.pos = ev->member;
	TRY(view_put(&type->stream->event_context_program, &rd, has_any, out));
	TRY(view_put(&type->class->context_program, &rd, has_any, out));
	return view_put(&type->class->fields_program, &rd, has_any, out);
}
