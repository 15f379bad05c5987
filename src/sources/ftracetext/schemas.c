/* SPDX-License-Identifier: MIT */
/* Makes a schema of each event when its name is first seen, of the fields that the text shows. */

#include <stdio.h>

#include "formats/tracefs/eventformat.h"
#include "model/event.h"
#include "model/printfmt/invert.h"
#include "model/record_schema.h"
#include "model/sampled.h"
#include "model/schema_table.h"
#include "model/value.h"
#include "sources/ftracetext/ftracetext.h"

enum { MOST_FIXED = 16 * 1024, LONGEST_NAME = 128 };

static const struct abi this_abi = {
	.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
	.long_bytes = sizeof(long),
};

static const char marker_name[] = "tracing_mark_write";

/* ---- text of events -------------------------------------------------------------------------- */

/* The last field of a schema that has put_text is the text. */
static void schemas_put_text(const struct event *ev, struct outbuf *out)
{
	const struct sonde_field *f = &ev->schema->fields[ev->schema->nr_fields - 1];
	uint32_t n;
	const uint8_t *p = field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, false, &n);

	if (p)
		outbuf_put(out, (const char *)p, strnlen((const char *)p, n));
}

static void schemas_put_marker(const struct event *ev, struct outbuf *out)
{
	outbuf_put(out, marker_name, sizeof(marker_name) - 1);
	outbuf_put(out, ": ", 2);
	schemas_put_text(ev, out);
}

static struct sonde_field schemas_text_field(const char *name, uint32_t offset)
{
	return (struct sonde_field){
		.size = sizeof(struct sonde_field),
		.offset = offset,
		.width = 4,
		.elem_width = 1,
		.kind = SONDE_FIELD_STRING,
		.is_array = true,
		.is_dynamic = true,
		.is_text = true,
		.name = name,
		.type = "__data_loc char[]",
	};
}

/* ---- schemas --------------------------------------------------------------------------------- */

static int schemas_take(struct ftracetext_source *s, struct sonde_schema *sc,
			struct sonde_schema **ret)
{
	sc->kind = SONDE_TRACEPOINT;
	sc->abi = this_abi;
	sc->event_class = EVENT_TRACEPOINT;
	sc->sampled = SAMPLED_TID | SAMPLED_TIME | SAMPLED_CPU | SAMPLED_RAW;
	sc->dialect = (int)s->opts.rules->printfmt_dialect;
	return schema_table_take(s->opts.schemas, sc, s, ret);
}

/* An event that has only its text. */
static int schemas_make_text(struct ftracetext_source *s, const char *system, const char *event,
			     const char *field, bool is_marker, struct sonde_schema **ret)
{
	struct arena *a = &s->opts.schemas->arena;
	struct sonde_schema *sc = arena_alloc(a, sizeof(*sc));
	char name[2 * LONGEST_NAME + 2];

	if (!sc)
		return err_nomem();
	snprintf(name, sizeof(name), "%s:%s", system, event);
	sc->name = arena_strdup(a, name);
	sc->system = arena_strdup(a, system);
	sc->event = arena_strdup(a, event);
	sc->fields = arena_array(a, 1, sizeof(*sc->fields));
	if (!sc->name || !sc->system || !sc->event || !sc->fields)
		return err_nomem();
	sc->fields[0] = schemas_text_field(field, 0);
	sc->nr_fields = 1;
	sc->put_text = is_marker ? schemas_put_marker : schemas_put_text;
	return schemas_take(s, sc, ret);
}

int ftracetext_type_plain(struct ftracetext_source *s, struct ftracetext_type *type,
			  struct sonde_schema **ret)
{
	if (!type->plain)
		TRY(schemas_make_text(s, type->schema->system, type->schema->event, "text", false,
				      &type->plain));
	*ret = type->plain;
	return 0;
}

static int32_t schemas_place_of(const struct sonde_schema *sc, const char *name, uint32_t width)
{
	const struct sonde_field *f = schema_find_field(sc, name, strlen(name));

	return f && f->width == width ? (int32_t)f->offset : -1;
}

/* True if the text of the event has the field. */
static bool schemas_is_shown(const struct ftracetext_source *s, const struct ftracetext_type *type,
			     const struct sonde_field *f)
{
	if (f->is_common)
		return s->has_flags || (strcmp(f->name, "common_flags") != 0 &&
					strcmp(f->name, "common_preempt_count") != 0);
	if (type->is_enter || type->is_exit)
		return f->kind == SONDE_FIELD_INT && strcmp(f->name, "__syscall_nr") != 0 &&
		       strcmp(f->name, "nr") != 0;
	return printfmt_inverts(type->print, f);
}

/*
 * Leaves out the fields that the text does not have. The text itself becomes a field, if the others
 * do not make it again.
 */
static int schemas_reduce(struct ftracetext_source *s, struct ftracetext_type *type,
			  struct sonde_schema *sc)
{
	struct sonde_field *kept =
		arena_array(&s->opts.schemas->arena, sc->nr_fields + 1, sizeof(*kept));
	const struct sonde_field *hidden = NULL;
	size_t n = 0;

	if (!kept)
		return err_nomem();
	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];
		const uint64_t end = (uint64_t)f->offset + f->width;

		if (end > type->fixed)
			type->fixed = end <= MOST_FIXED ? (uint32_t)end : MOST_FIXED + 1;
		if (schemas_is_shown(s, type, f))
			kept[n++] = *f;
		else if (!f->is_common && !hidden)
			hidden = f;
	}
	if (hidden)
		defects_add(s->opts.defects, DEFECT_HIDDEN_FIELDS, 1, "%s: %s", sc->name,
			    hidden->name);
	type->fixed = (type->fixed + 7) & ~7u;
	type->text_off = -1;
	if (!type->has_whole_text) {
		type->text_off = (int32_t)type->fixed;
		kept[n++] = schemas_text_field("text", type->fixed);
		type->fixed += 8;
		sc->print_fmt = NULL;
		sc->put_text = schemas_put_text;
	}
	sc->fields = kept;
	sc->nr_fields = n;
	for (sc->nr_common = 0; sc->nr_common < n && kept[sc->nr_common].is_common; sc->nr_common++)
		;
	type->type_off = schemas_place_of(sc, "common_type", 2);
	type->flags_off = schemas_place_of(sc, "common_flags", 1);
	type->preempt_off = schemas_place_of(sc, "common_preempt_count", 1);
	type->pid_off = schemas_place_of(sc, "common_pid", 4);
	return 0;
}

/* Makes the schema by the kernel's description. */
static int schemas_make_described(struct ftracetext_source *s, struct ftracetext_type *type,
				  const char *system, struct bytes text)
{
	struct sonde_schema *sc = NULL;
	int r = eventformat_parse(&s->opts.schemas->arena, text, system, this_abi, &sc);

	if (r == -EBADMSG) {
		defects_add(s->opts.defects, DEFECT_BAD_FORMAT, 1, "%s", err_text());
		err_clear();
		return 0;
	}
	TRY(r);
	if (!type->is_enter && !type->is_exit) {
		/* The kernel printed the text. */
		TRY(printfmt_compile(&type->print, sc, PRINTFMT_RIGHT));
		type->has_whole_text = printfmt_inverts_text(type->print);
	}
	for (size_t i = 0; i < sc->nr_fields; i++)
		if ((uint64_t)sc->fields[i].offset + sc->fields[i].width > MOST_FIXED)
			return 0;
	/* The program keeps the schema that it was compiled for. */
	if (type->print) {
		struct sonde_schema *shown = arena_alloc(&s->opts.schemas->arena, sizeof(*shown));

		if (!shown)
			return err_nomem();
		*shown = *sc;
		sc = shown;
	}
	TRY(schemas_reduce(s, type, sc));
	s->has_formats = true;
	if (!s->opts.has_copied_formats)
		defects_add(s->opts.defects, DEFECT_KERNEL_FORMATS, 1, "%s", sc->name);
	return schemas_take(s, sc, &type->schema);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The name that the text begins with, and the name of its event. False if there is none. */
static bool schemas_split(const char *text, size_t len, size_t *ret_name, size_t *ret_skip,
			  bool *ret_enter, bool *ret_exit)
{
	size_t n = 0;

	while (n < len && n < LONGEST_NAME - 16 &&
	       ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z') ||
		(text[n] >= '0' && text[n] <= '9') || text[n] == '_'))
		n++;
	*ret_name = n;
	*ret_skip = n + 1;
	*ret_enter = *ret_exit = false;
	if (!n || n == len)
		return false;
	if (text[n] == ':') {
		if (n + 1 < len && text[n + 1] == ' ')
			++*ret_skip;
		return true;
	}
	*ret_skip = n;
	if (n < 5 || memcmp(text, "sys_", 4) != 0)
		return false;
	*ret_enter = text[n] == '(';
	*ret_exit = len - n > 4 && !memcmp(text + n, " -> ", 4);
	return *ret_enter || *ret_exit;
}

static int schemas_make_type(struct ftracetext_source *s, const char *name, size_t len,
			     bool is_enter, bool is_exit, struct ftracetext_type **ret)
{
	struct ftracetext_type *type = arena_alloc(&s->arena, sizeof(*type));
	char event[LONGEST_NAME];
	const char *system;
	struct bytes text;
	int r = -ENOENT;

	if (!type)
		return err_nomem();
	type->is_enter = is_enter;
	type->is_exit = is_exit;
	type->name = arena_strndup(&s->arena, name, len);
	type->name_len = len;
	if (!type->name || vec_push(&s->types, type) < 0)
		return err_nomem();
	*ret = type;
	if (len == sizeof(marker_name) - 1 && !memcmp(name, marker_name, len))
		return schemas_make_text(s, "ftrace", "print", "buf", true, &type->plain);
	if (is_enter || is_exit)
		snprintf(event, sizeof(event), "sys_%s_%.*s", is_enter ? "enter" : "exit",
			 (int)len - 4, name + 4);
	else
		snprintf(event, sizeof(event), "%.*s", (int)len, name);
	if (s->opts.find_event)
		r = s->opts.find_event(s->opts.find_format_ctx, event, &system, &text);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		type->why = arena_strdup(&s->arena, s->opts.find_event ? err_text() : "");
		if (!type->why)
			return err_nomem();
	}
	err_clear();
	return r < 0 ? 0 : schemas_make_described(s, type, system, text);
}

int ftracetext_type_find(struct ftracetext_source *s, const char *text, size_t len,
			 struct ftracetext_type **ret, size_t *ret_skip)
{
	size_t n;
	bool is_enter, is_exit;
	uint64_t key, i;

	*ret = NULL;
	*ret_skip = 0;
	if (!schemas_split(text, len, &n, ret_skip, &is_enter, &is_exit))
		return 0;
	key = hash_bytes(text, n) + is_enter + 2 * is_exit;
	i = hash64_find(&s->type_of_name, key);
	if (i != HASH64_EMPTY) {
		struct ftracetext_type *type = s->types.v[i];

		if (type->name_len == n && !memcmp(type->name, text, n) &&
		    type->is_enter == is_enter && type->is_exit == is_exit)
			*ret = type;
		return 0;
	}
	if (s->types.n == FTRACETEXT_MOST_TYPES)
		return 0;
	TRY(schemas_make_type(s, text, n, is_enter, is_exit, ret));
	return hash64_put(&s->type_of_name, key, s->types.n - 1);
}

/* ---- records --------------------------------------------------------------------------------- */

static const struct sonde_field comm_fields[] = {
	RECORD_NUMBER(struct ftracetext_comm_payload, pid, "u32", false),
	RECORD_TEXT(struct ftracetext_comm_payload, comm),
};

static const struct sonde_field lost_fields[] = {
	RECORD_NUMBER(struct ftracetext_lost_payload, cpu, "s32", true),
	RECORD_NUMBER(struct ftracetext_lost_payload, lost, "u64", false),
};

int ftracetext_schemas_make(struct ftracetext_source *s)
{
	TRY(schemas_make_text(s, "ftrace", "text", "text", false, &s->text_schema));
	TRY(record_schema_make(s->opts.schemas, s, "comm", 0, comm_fields, 2, &s->comm_schema));
	return record_schema_make(s->opts.schemas, s, "lost", SCHEMA_LOSS, lost_fields, 2,
				  &s->lost_schema);
}
