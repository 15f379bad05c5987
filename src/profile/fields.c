/* SPDX-License-Identifier: MIT */
#include "profile/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "compat/rules.h"
#include "model/field_text.h"
#include "model/schema_table.h"
#include "model/value.h"
#include "recording/recording.h"
#include "profile/texts.h"
#include "recording/text.h"

/*
 * Appends the print format's text of a field that has names for its values or bits: the text after
 * "FIELD=" in the event's text. A table is not enough for flags (sched_switch writes R for no
 * flag).
 */
static bool fields_put_names(const struct event *ev, const struct sonde_field *f,
			     struct outbuf *out)
{
	/* some members are made on first use */
	struct sonde_schema *sc = (struct sonde_schema *)ev->schema;
	const struct sonde_define *d;
	struct outbuf text = { 0 };
	char head[256];
	bool has = false;
	const char *at;
	size_t nr;

	d = schema_defines(sc, &nr);
	for (size_t i = 0; i < nr && !has; i++)
		has = d[i].field && !strcmp(d[i].field, f->name);
	if (!has || !sc->print_fmt ||
	    snprintf(head, sizeof(head), "%s=%%s", f->name) >= (int)sizeof(head) ||
	    !strstr(sc->print_fmt, head))
		return false;
	recording_event_text(ev, &text);
	outbuf_char(&text, '\0');
	head[strlen(head) - 2] = '\0';
	at = text.failed ? NULL : strstr(text.data, head);
	if (at)
		outbuf_put(out, at + strlen(head), strcspn(at + strlen(head), " ,"));
	outbuf_done(&text);
	return at != NULL;
}

static void fields_put(const struct event *ev, const struct sonde_field *f, bool is_raw,
		       struct outbuf *out)
{
	const bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;

	if (f->kind == SONDE_FIELD_INT && !is_raw && fields_put_names(ev, f, out))
		return;
	field_text_put(f, ev->pub.bytes, ev->pub.bytes_len, swap, out);
}

/*
 * Appends the word of the event's text that perf takes for the field's value: the first one that
 * begins with the field's name, without the name and the character after it.
 */
static bool fields_put_word(const struct event *ev, const struct sonde_field *f, struct outbuf *out)
{
	const size_t len = strlen(f->name);
	struct outbuf text = { 0 };
	const char *at;

	recording_event_text(ev, &text);
	outbuf_char(&text, '\0');
	at = text.failed ? NULL : text.data;
	while (at && strncmp(at, f->name, len)) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	if (at && at[len])
		outbuf_put(out, at + len + 1, strcspn(at + len + 1, " "));
	outbuf_done(&text);
	return at != NULL;
}

/* perf's text of a field. Also sets v->width, if the length of the text counts for the column's. */
static void fields_put_as_perf(const struct event *ev, const struct profile_column *c,
			       struct outbuf *out, struct profile_field_value *v)
{
	if (!c->is_raw && fields_put_word(ev, c->field, out)) {
		v->width = (uint32_t)out->len;
		return;
	}
	recording_event_fields(ev, c->field, out);
}

static int fields_add(struct profile *p, struct profile_column *c, const struct event *ev,
		      uint32_t bytes, uint32_t len, uint64_t *ret)
{
	struct profile_field_value v = {
		.bytes = strpool_text(&p->strings, bytes),
		.bytes_len = len,
	};
	uint32_t text;

	p->text.len = 0;
	if (ev && p->rules->fields_by_text) {
		fields_put_as_perf(ev, c, &p->text, &v);
	} else if (ev) {
		fields_put(ev, c->field, c->is_raw, &p->text);
		v.width = (uint32_t)p->text.len;
	}
	if (p->text.failed)
		return err_nomem();
	TRY(strpool_intern(&p->strings, p->text.len ? p->text.data : "", p->text.len, &text));
	v.text = strpool_text(&p->strings, text);
	*ret = p->field_values.n;
	TRY(vec_push(&p->field_values, v));
	return hash64_put(&c->fields, ev ? bytes : UINT32_MAX, *ret);
}

int fields_copy(struct profile *p, struct profile_column *c, const struct profile_field_value *from,
		uint64_t *ret)
{
	struct profile_field_value v = { .bytes_len = from->bytes_len, .width = from->width };
	uint32_t bytes;

	TRY(strpool_intern(&p->strings, from->bytes, from->bytes_len, &bytes));
	*ret = hash64_find(&c->fields, bytes);
	if (*ret != HASH64_EMPTY)
		return 0;
	v.bytes = strpool_text(&p->strings, bytes);
	v.text = texts_intern(p, from->text);
	if (!v.text)
		return -ENOMEM;
	*ret = p->field_values.n;
	TRY(vec_push(&p->field_values, v));
	return hash64_put(&c->fields, bytes, *ret);
}

int fields_find(struct profile *p, struct profile_column *c, const struct event *ev, uint64_t *ret)
{
	const bool has = ev->schema->id == c->schema;
	const uint8_t *at = NULL;
	uint32_t len = 0, bytes = 0;

	if (has)
		at = field_bytes(c->field, ev->pub.bytes, ev->pub.bytes_len,
				 ev->pub.flags & SONDE_EVENT_SWAPPED, &len);
	if (at)
		TRY(strpool_intern(&p->strings, (const char *)at, len, &bytes));
	*ret = hash64_find(&c->fields, has ? bytes : UINT32_MAX);
	if (*ret != HASH64_EMPTY)
		return 0;
	return fields_add(p, c, has ? ev : NULL, bytes, at ? len : 0, ret);
}
