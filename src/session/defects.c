/* SPDX-License-Identifier: MIT */
/* Defects as events (events=all). */
#include <string.h>

#include "base/err.h"
#include "session/session.h"

static int defects_make_schema(struct sonde_session *s)
{
	struct schema_table *schemas = &s->recordings.schemas;
	struct sonde_schema *sc = arena_alloc(&schemas->arena, sizeof(*sc));
	struct sonde_field *f = arena_alloc(&schemas->arena, sizeof(*f));

	if (!sc || !f)
		return err_nomem();
	*f = (struct sonde_field){
		.size = sizeof(*f),
		.elem_width = 1,
		.kind = SONDE_FIELD_STRING,
		.is_array = 1,
		.is_text = 1,
		.name = "name",
		.type = "char[]",
	};
	*sc = (struct sonde_schema){
		.kind = SONDE_DEFECT,
		.system = "",
		.event = "defect",
		.name = "defect",
		.fields = f,
		.nr_fields = 1,
	};
	return schema_table_take(schemas, sc, s, &s->defect_schema);
}

/*
 * Makes an event of a kind of defect that was not delivered yet (events=all). Its payload is the
 * kind's name.
 */
int session_defect_event(struct sonde_session *s, struct recording *rec)
{
	struct lane *lane = &s->merge.lanes[rec->nr];
	size_t kind, seen = 0;

	_Static_assert(NR_DEFECTS <= 64, "defects_reported has a bit for each");

	recordings_note_memory(&s->recordings);
	for (kind = 0; kind < NR_DEFECTS; kind++) {
		if (rec->defects.count[kind] && !(lane->defects_reported >> kind & 1))
			break;
		seen += rec->defects.count[kind] != 0;
	}
	if (kind == NR_DEFECTS || !defects_get(&rec->defects, seen, &rec->reported)) {
		lane->defects_looked_at = rec->defects.changes;
		return 0;
	}
	lane->defects_reported |= (uint64_t)1 << kind;
	if (!s->defect_schema)
		TRY(defects_make_schema(s));
	rec->defect_event =
		(struct event){ .pub = { .size = sizeof(rec->defect_event.pub),
					 .schema = s->defect_schema->id,
					 .time_ns = SONDE_NO_TIME,
					 .cpu = -1,
					 .pid = -1,
					 .tid = -1,
					 .bytes = (const uint8_t *)rec->reported.name,
					 .bytes_len = (uint32_t)strlen(rec->reported.name) + 1 },
				.recording = rec,
				.schema = s->defect_schema,
				.source = rec->source };
	return 1;
}
