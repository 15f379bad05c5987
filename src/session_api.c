/* SPDX-License-Identifier: MIT */
/* sonde.h: questions about a session and its schemas. */

#include <stdlib.h>

#include "base/err.h"
#include "session.h"
#include "sinks/text/fields.h"

/* Lends o's text, "" when memory ran out. */
static const char *lend(struct outbuf *o)
{
	outbuf_char(o, '\0');
	return o->failed ? "" : o->data;
}

const char *sonde_session_print(struct sonde_session *s)
{
	NOT_NULL(s, "");
	s->printed.len = 0;
	session_options_print(&s->opts, &s->printed);
	return lend(&s->printed);
}

int sonde_session_parse(const char *text, char **ret)
{
	struct session_options o;
	struct outbuf out = { 0 };

	NOT_NULL(text, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	err_clear();
	TRY(session_options_parse(&o, text, NULL));
	session_options_print(&o, &out);
	session_options_done(&o);
	outbuf_char(&out, '\0');
	if (out.failed) {
		outbuf_done(&out);
		return err_nomem();
	}
	*ret = out.data;
	return 0;
}

enum sonde_compat sonde_session_compat(const struct sonde_session *s)
{
	NOT_NULL(s, SONDE_COMPAT_NONE);
	return s->opts.compat;
}

const char *sonde_session_info(struct sonde_session *s, const char *key)
{
	NOT_NULL(s, NULL);
	NOT_NULL(key, NULL);
	return s->source->ops->info(s->source, key);
}

const struct sonde_defect *sonde_session_defect(struct sonde_session *s, size_t i)
{
	NOT_NULL(s, NULL);
	session_note_memory(s);
	if (s->parts)
		several_sum_defects(s);
	return defects_get(&s->defects, i, &s->defect) ? &s->defect : NULL;
}

const char *sonde_session_defects_line(struct sonde_session *s)
{
	NOT_NULL(s, "");
	session_note_memory(s);
	if (s->parts)
		several_sum_defects(s);
	s->defects_line.len = 0;
	defects_line(&s->defects, &s->defects_line);
	return lend(&s->defects_line);
}

const char *sonde_session_notes(struct sonde_session *s)
{
	struct text_fields fields;

	NOT_NULL(s, "");
	s->text.len = 0;
	if (s->opts.fields && text_fields_parse(&fields, s->opts.fields, s->opts.callchain,
						s->opts.compat, &s->text) < 0)
		err_clear();
	if (s->copied_none)
		outbuf_fmt(&s->text, "%s: %s\n", s->opts.input,
			   s->filtered || s->is_choosy
				   ? "no event was chosen: what is written holds none"
				   : "there is no event in it, and none in what is written");
	return lend(&s->text);
}

const char *session_cgroup(const struct sonde_session *s, uint64_t id)
{
	return state_cgroup(&s->state, id);
}

const char *sonde_session_string(const struct sonde_session *s, uint32_t id)
{
	NOT_NULL(s, "");
	return strpool_text(s->strings, id);
}

size_t sonde_session_schemas(const struct sonde_session *s)
{
	NOT_NULL(s, 0);
	return s->schemas->schemas.n;
}

const struct sonde_schema *sonde_session_schema(const struct sonde_session *s, uint32_t id)
{
	NOT_NULL(s, NULL);
	return id < s->schemas->schemas.n ? s->schemas->schemas.v[id] : NULL;
}

uint32_t sonde_schema_id(const struct sonde_schema *sc)
{
	NOT_NULL(sc, 0);
	return sc->id;
}

uint32_t sonde_schema_family(const struct sonde_schema *sc)
{
	NOT_NULL(sc, 0);
	return sc->family;
}

enum sonde_schema_kind sonde_schema_kind(const struct sonde_schema *sc)
{
	NOT_NULL(sc, SONDE_TRACEPOINT);
	return sc->kind;
}

const char *sonde_schema_system(const struct sonde_schema *sc)
{
	NOT_NULL(sc, "");
	return sc->system;
}

const char *sonde_schema_event(const struct sonde_schema *sc)
{
	NOT_NULL(sc, "");
	return sc->event;
}

const char *sonde_schema_name(const struct sonde_schema *sc)
{
	NOT_NULL(sc, "");
	return sc->name;
}

const struct sonde_field *sonde_schema_fields(const struct sonde_schema *sc, size_t *ret_nr)
{
	NOT_NULL(ret_nr, NULL);
	*ret_nr = 0;
	NOT_NULL(sc, NULL);
	*ret_nr = sc->nr_fields;
	return sc->fields;
}

const struct sonde_field *sonde_schema_field(const struct sonde_schema *sc, const char *name)
{
	NOT_NULL(sc, NULL);
	NOT_NULL(name, NULL);
	return schema_find_field(sc, name, strlen(name));
}

const struct sonde_define *sonde_schema_defines(const struct sonde_schema *sc, size_t *ret_nr)
{
	/* Schemas are const to callers; what is made at the first question is not. */
	struct sonde_schema *own = (struct sonde_schema *)sc;

	NOT_NULL(ret_nr, NULL);
	*ret_nr = 0;
	NOT_NULL(sc, NULL);
	if (!own->defines_made && schema_printfmt(own) &&
	    printfmt_defines(own->print, own->arena, &own->defines, &own->nr_defines) < 0)
		own->nr_defines = 0;
	own->defines_made = true;
	*ret_nr = own->nr_defines;
	return own->defines;
}

const void *sonde_schema_attr(const struct sonde_schema *sc, size_t *ret_len)
{
	NOT_NULL(ret_len, NULL);
	*ret_len = 0;
	NOT_NULL(sc, NULL);
	*ret_len = sc->attr_len;
	return sc->attr;
}
