/* SPDX-License-Identifier: MIT */
/* The members that event types have in pairs, and the keys of their events. */
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "model/value.h"
#include "session/session.h"

/* ---- members --------------------------------------------------------------------------------- */

static bool members_is_named(const char *name, const struct sonde_schema *sc)
{
	const char *colon = strchr(sc->name, ':');

	return !strcmp(name, sc->name) ||
	       (sc->kind == SONDE_TRACEPOINT && colon && !strcmp(name, colon + 1));
}

static enum pair_own members_own_value(const char *name)
{
	static const char *const names[] = {
		[PAIR_TID] = "tid", [PAIR_PID] = "pid", [PAIR_CPU] = "cpu", [PAIR_COMM] = "comm"
	};

	for (size_t i = PAIR_TID; i <= PAIR_COMM; i++)
		if (!strcmp(name, names[i]))
			return (enum pair_own)i;
	return PAIR_FIELD;
}

static bool members_is_number(const struct sonde_field *f)
{
	return (f->kind == SONDE_FIELD_INT || f->kind == SONDE_FIELD_ENUM ||
		f->kind == SONDE_FIELD_BITS) &&
	       (f->bit_width || value_has_width(f->width));
}

/* The key's name for this member; `tid` is never a field. */
static const char *members_key_name(const struct pair *p, bool is_stop)
{
	const char *name = is_stop && p->is.names[3] ? p->is.names[3] : p->is.names[2];

	return name ? name : "tid";
}

static int members_has_no_field(const struct pair *p, const struct sonde_schema *sc,
				const char *name, bool follows_start)
{
	struct near near;
	char guess[512];

	near_init(&near, name);
	for (size_t i = 0; i < sc->nr_fields; i++)
		near_offer(&near, sc->fields[i].name);
	near_text(&near, guess, sizeof(guess));
	return err_set(-EINVAL, "pair=%s: %s has no field '%s'%s%s", p->is.text, sc->name, name,
		       guess,
		       follows_start ? "; the name of the field of the STOP event may follow the "
				       "key"
				     : "");
}

/*
 * Without STOPKEY the key is a field of both events, or of none. Returns -EINVAL if the event does
 * not have the key.
 */
static int members_bind_key(const struct pair *p, struct pair_member *member)
{
	const struct sonde_schema *sc = member->schema;
	const char *name = members_key_name(p, member->is_stop);
	const bool follows_start = member->is_stop && !p->is.names[3];
	const enum pair_own own = members_own_value(name);
	const struct sonde_field *f = schema_find_field(sc, name, strlen(name));

	if (own == PAIR_TID || (follows_start && !p->by_field))
		f = NULL;
	if (f) {
		member->field = f;
		member->is_text = f->kind == SONDE_FIELD_STRING || f->is_text;
		return member->is_text || members_is_number(f)
			       ? 0
			       : err_set(-EINVAL,
					 "pair=%s: the field '%s' of %s is neither a number nor a "
					 "text",
					 p->is.text, name, sc->name);
	}
	if (own && !(follows_start && p->by_field)) {
		member->own = own;
		member->is_text = own == PAIR_COMM;
		return 0;
	}
	return members_has_no_field(p, sc, name, follows_start);
}

static int members_add(struct pair *p, const struct sonde_schema *sc, bool is_stop)
{
	struct pair_member member = { .schema = sc, .is_stop = is_stop };

	TRY(members_bind_key(p, &member));
	if (!is_stop)
		p->by_field = member.field != NULL;
	if (p->members.n && p->members.v[0].is_text != member.is_text)
		return err_set(-EINVAL,
			       "pair=%s: the key is a text in one event and a number in "
			       "the other",
			       p->is.text);
	return vec_push(&p->members, member);
}

/* A tracepoint of a pipe has no fields until the pipe describes it. */
static bool members_is_described(const struct sonde_session *s, const struct sonde_schema *sc)
{
	return sc->nr_fields || sc->kind != SONDE_TRACEPOINT || !s->is_stream;
}

/*
 * Adds the members of a schema in a pair. The members of START are added first: of two schemas, the
 * caller passes a START before its STOP.
 */
int pair_members_add(const struct sonde_session *s, struct pair *p, const struct sonde_schema *sc,
		     bool is_stop)
{
	if (sc->kind > SONDE_SAMPLE || sc->traits & (SCHEMA_PAIR | SCHEMA_DUMMY) || sc->newer ||
	    !members_is_described(s, sc) || !members_is_named(p->is.names[is_stop], sc))
		return 0;
	TRY(members_add(p, sc, is_stop));
	return 1;
}

/* ---- keys of events -------------------------------------------------------------------------- */

struct pair_key pair_key_of(const struct pair_member *member, const struct event *ev)
{
	const bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;
	struct pair_key key = { 0 };
	uint32_t len;

	switch (member->own) {
	case PAIR_TID:
		key.number = (uint64_t)ev->pub.tid;
		return key;
	case PAIR_PID:
		key.number = (uint64_t)ev->pub.pid;
		return key;
	case PAIR_CPU:
		key.number = (uint64_t)ev->pub.cpu;
		return key;
	case PAIR_COMM:
		key.text = strpool_text(ev->recording->strings, ev->pub.comm);
		key.len = (uint32_t)strlen(key.text);
		return key;
	case PAIR_FIELD:
		break;
	}
	if (!member->is_text) {
		key.number =
			field_sign_extend(member->field, field_number(member->field, ev->pub.bytes,
								      ev->pub.bytes_len, swap));
		return key;
	}
	key.text = (const char *)field_bytes(member->field, ev->pub.bytes, ev->pub.bytes_len, swap,
					     &len);
	key.text = key.text ? key.text : "";
	key.len = (uint32_t)strnlen(key.text, len);
	return key;
}
