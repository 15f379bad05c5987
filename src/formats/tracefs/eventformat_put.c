/* SPDX-License-Identifier: MIT */
#include "formats/tracefs/eventformat_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct putter {
	struct outbuf *o;
	const struct sonde_schema *sc;
	uint32_t shift;
	uint32_t comm_at; /* the place of the next name of a task */
	bool is_common;   /* the fields to write: common ones or the others */
	size_t nr;        /* fields so far, of a print format */
};

static const struct sonde_field *put_find(const struct sonde_schema *sc, const char *name)
{
	return schema_find_field(sc, name, strlen(name));
}

bool eventformat_has_common(const struct sonde_schema *sc)
{
	const struct sonde_field *type = put_find(sc, "common_type"),
				 *pid = put_find(sc, "common_pid");

	return type && pid && !type->offset && type->width == 2 &&
	       pid->offset == EVENTFORMAT_PID_AT && pid->width == 4;
}

bool eventformat_is_comm(const struct sonde_schema *sc, const struct sonde_field *f)
{
	static const char end[] = "_comm";
	const size_t len = strlen(f->name), end_len = strlen(end);

	return !strcmp(sc->system, "sched") && f->kind == SONDE_FIELD_STRING && f->is_dynamic &&
	       (!strcmp(f->name, end + 1) ||
		(len > end_len && !strcmp(f->name + len - end_len, end))) &&
	       !eventformat_has_common(sc);
}

uint32_t eventformat_added_bytes(const struct sonde_schema *sc)
{
	uint32_t bytes = EVENTFORMAT_COMMON_BYTES;

	if (eventformat_has_common(sc))
		return 0;
	for (size_t i = 0; i < sc->nr_fields; i++)
		if (eventformat_is_comm(sc, &sc->fields[i]))
			bytes += EVENTFORMAT_COMM_BYTES;
	return bytes;
}

static bool put_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

void eventformat_put_name(struct outbuf *o, const char *name)
{
	if (!*name)
		outbuf_char(o, '_');
	for (; *name; name++)
		outbuf_char(o, put_is_word(*name) ? *name : '_');
}

/* outer: "" or "outer_". */
static void put_field_name(struct outbuf *o, const char *outer, const struct sonde_field *f)
{
	eventformat_put_name(o, *outer ? outer : f->name);
	if (*outer)
		eventformat_put_name(o, f->name);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* "char comm[16]", "__data_loc char[] name" */
static void put_decl(struct outbuf *o, const char *outer, const struct sonde_field *f)
{
	const char *brackets = f->is_dynamic ? NULL : strchr(f->type, '[');

	if (f->kind == SONDE_FIELD_ENUM)
		outbuf_fmt(o, "%c%u", f->is_signed ? 's' : 'u', 8 * f->width);
	else if (f->is_dynamic && strncmp(f->type, "__data_loc", strlen("__data_loc")) != 0 &&
		 strncmp(f->type, "__rel_loc", strlen("__rel_loc")) != 0)
		outbuf_fmt(o, "%s %s", f->is_relative ? "__rel_loc" : "__data_loc", f->type);
	else if (brackets)
		outbuf_put(o, f->type, (size_t)(brackets - f->type));
	else
		outbuf_str(o, f->type);
	outbuf_char(o, ' ');
	put_field_name(o, outer, f);
	if (brackets)
		outbuf_str(o, brackets);
}

static void put_comm(struct putter *p, const struct sonde_field *f)
{
	outbuf_str(p->o, "\tfield:char ");
	put_field_name(p->o, "", f);
	outbuf_fmt(p->o, "[%d];\toffset:%u;\tsize:%d;\tsigned:0;\n", EVENTFORMAT_COMM_BYTES,
		   p->comm_at, EVENTFORMAT_COMM_BYTES);
	p->comm_at += EVENTFORMAT_COMM_BYTES;
}

static void put_fields(struct putter *p, const char *outer, const struct sonde_field *fields,
		       size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct sonde_field *f = &fields[i];

		if ((!p->shift && f->is_common != p->is_common) || f->kind == SONDE_FIELD_BITS)
			continue;
		if (f->kind == SONDE_FIELD_NESTED) {
			char inner[256];

			snprintf(inner, sizeof(inner), "%s%s_", outer, f->name);
			put_fields(p, inner, f->fields, f->nr_fields);
			continue;
		}
		if (!*outer && eventformat_is_comm(p->sc, f)) {
			put_comm(p, f);
			continue;
		}
		outbuf_str(p->o, "\tfield:");
		put_decl(p->o, outer, f);
		outbuf_fmt(p->o, ";\toffset:%u;\tsize:%u;\tsigned:%u;\n", f->offset + p->shift,
			   f->width, f->is_signed);
	}
}

/* ---- a print format -------------------------------------------------------------------------- */

static void put_quoted(struct outbuf *o, const char *text)
{
	outbuf_char(o, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			outbuf_char(o, '\\');
		outbuf_char(o, *text);
	}
	outbuf_char(o, '"');
}

/* True if each label is of one value, so that a table of symbols can have it. */
static bool put_has_symbols(const struct sonde_field *f)
{
	for (uint32_t i = 0; i < f->nr_labels; i++)
		if (f->labels[i].from != f->labels[i].to)
			return false;
	return f->kind == SONDE_FIELD_ENUM && f->nr_labels;
}

static const char *put_conversion(const struct sonde_field *f)
{
	if (f->kind == SONDE_FIELD_STRING || f->kind == SONDE_FIELD_ARRAY ||
	    f->kind == SONDE_FIELD_STRUCT || put_has_symbols(f))
		return "%s";
	if (f->kind == SONDE_FIELD_FLOAT || f->is_pointer)
		return f->width == 8 ? "0x%llx" : "0x%x";
	if (f->width == 8)
		return f->is_signed ? "%lld" : "%llu";
	return f->is_signed ? "%d" : "%u";
}

static void put_symbols(struct outbuf *o, const char *outer, const struct sonde_field *f)
{
	outbuf_str(o, "__print_symbolic(REC->");
	put_field_name(o, outer, f);
	for (uint32_t i = 0; i < f->nr_labels; i++) {
		outbuf_fmt(o, ", { %" PRIu64 ", ", f->labels[i].from);
		put_quoted(o, f->labels[i].text);
		outbuf_str(o, " }");
	}
	outbuf_char(o, ')');
}

static void put_array(struct outbuf *o, const char *outer, const struct sonde_field *f)
{
	const bool is_bytes = f->kind == SONDE_FIELD_STRUCT || f->elem_width < 2;
	const uint32_t width = is_bytes ? 1 : f->elem_width;

	outbuf_str(o, is_bytes ? "__print_hex(" : "__print_array(");
	outbuf_str(o, f->is_dynamic ? "__get_dynamic_array(" : "REC->");
	put_field_name(o, outer, f);
	if (f->is_dynamic) {
		/* libtraceevent takes a division as an argument in parentheses only */
		outbuf_str(o, is_bytes ? "), __get_dynamic_array_len("
				       : "), (__get_dynamic_array_len(");
		put_field_name(o, outer, f);
		outbuf_char(o, ')');
		if (!is_bytes)
			outbuf_fmt(o, " / %u)", width);
	} else {
		outbuf_fmt(o, ", %u", f->width / width);
	}
	if (!is_bytes)
		outbuf_fmt(o, ", %u", width);
	outbuf_char(o, ')');
}

static void put_argument(const struct putter *p, const char *outer, const struct sonde_field *f)
{
	struct outbuf *o = p->o;

	if (put_has_symbols(f)) {
		put_symbols(o, outer, f);
	} else if (f->kind == SONDE_FIELD_ARRAY || f->kind == SONDE_FIELD_STRUCT) {
		put_array(o, outer, f);
	} else {
		const bool is_call = f->kind == SONDE_FIELD_STRING && f->is_dynamic &&
				     (*outer || !eventformat_is_comm(p->sc, f));

		outbuf_str(o, !is_call         ? "REC->"
			      : f->is_relative ? "__get_rel_str("
					       : "__get_str(");
		put_field_name(o, outer, f);
		if (is_call)
			outbuf_char(o, ')');
	}
}

/* Each field of the event's own: its name and conversion, or its argument. */
static void put_print(struct putter *p, bool is_arguments, const char *outer,
		      const struct sonde_field *fields, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct sonde_field *f = &fields[i];

		if (f->is_common || f->kind == SONDE_FIELD_BITS)
			continue;
		if (f->kind == SONDE_FIELD_NESTED) {
			char inner[256];

			snprintf(inner, sizeof(inner), "%s%s_", outer, f->name);
			put_print(p, is_arguments, inner, f->fields, f->nr_fields);
			continue;
		}
		if (is_arguments) {
			outbuf_str(p->o, ", ");
			put_argument(p, outer, f);
		} else {
			outbuf_str(p->o, p->nr++ ? " " : "");
			put_field_name(p->o, outer, f);
			outbuf_char(p->o, '=');
			outbuf_str(p->o, put_conversion(f));
		}
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

void eventformat_put(struct outbuf *o, const struct sonde_schema *sc, uint32_t id)
{
	const bool has_common = eventformat_has_common(sc);
	struct putter p = { .o = o,
			    .sc = sc,
			    .shift = eventformat_added_bytes(sc),
			    .comm_at = EVENTFORMAT_COMMON_BYTES };

	outbuf_str(o, "name: ");
	eventformat_put_name(o, sc->event);
	outbuf_fmt(o, "\nID: %u\nformat:\n", id);
	p.is_common = true;
	if (has_common)
		put_fields(&p, "", sc->fields, sc->nr_fields);
	else
		outbuf_str(o, "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;"
			      "\tsigned:0;\n"
			      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n");
	outbuf_char(o, '\n');
	p.is_common = false;
	put_fields(&p, "", sc->fields, sc->nr_fields);
	outbuf_str(o, "\nprint fmt: ");
	if (sc->print_fmt) {
		outbuf_str(o, sc->print_fmt);
	} else {
		outbuf_char(o, '"');
		put_print(&p, false, "", sc->fields, sc->nr_fields);
		outbuf_char(o, '"');
		put_print(&p, true, "", sc->fields, sc->nr_fields);
	}
	outbuf_char(o, '\n');
}
