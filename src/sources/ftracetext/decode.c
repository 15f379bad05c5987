/* SPDX-License-Identifier: MIT */
/* Makes events of lines. Each record is decoded alone: names of tasks come from all of them. */

#include "model/printfmt/invert.h"
#include "sources/ftracetext/ftracetext.h"

enum { MOST_NAMES = 1 << 22 };

enum part { PART_LOST, PART_COMM, PART_EVENT };

/* A record's lines. */
struct lines {
	struct ftracetext_line main;
	uint64_t lost;
	int32_t lost_cpu;
	bool has_lost, has_main;
	const char *more; /* lines after the main one, without the last end of line */
	size_t more_len;
};

static void decode_read(const struct cut *cut, struct lines *ret)
{
	struct ftracetext_line line;
	size_t at = 0, bytes;

	*ret = (struct lines){ 0 };
	for (; at < cut->len && !ret->has_main; at += bytes) {
		ftracetext_next_line(cut->bytes + at, cut->len - at, &line, &bytes);
		if (line.kind == FTRACETEXT_LOST) {
			ret->has_lost = true;
			ret->lost_cpu = line.cpu;
			ret->lost += line.lost ? line.lost : 1;
		} else {
			ret->has_main = true;
			ret->main = line;
		}
	}
	ret->more = (const char *)cut->bytes + at;
	ret->more_len = cut->len - at;
	while (ret->more_len && ret->more[ret->more_len - 1] == '\n')
		ret->more_len--;
}

static void decode_set(const struct cut *cut, int32_t pid, int32_t tid, int32_t cpu,
		       const struct sonde_schema *sc, const void *bytes, size_t len,
		       struct event *ret)
{
	ret->cut = cut;
	ret->schema = sc;
	ret->change = NULL;
	ret->attr = ret->member = 0;
	ret->derived = 0;
	ret->period = 0;
	ret->chain_off = 0;
	ret->is_left_out = false;
	ret->pub.schema = sc->id;
	ret->pub.time_ns =
		cut->order == CUT_AT_ONCE && !cut->time_ns ? SONDE_NO_TIME : cut->time_ns;
	ret->pub.cpu = cpu;
	ret->pub.pid = pid;
	ret->pub.tid = tid;
	ret->pub.cpumode = 0;
	ret->pub.flags = cut->flags & CUT_LATE ? SONDE_EVENT_LATE : 0;
	ret->pub.record = cut->bytes;
	ret->pub.record_len = cut->len;
	ret->pub.file_off = cut->file_off;
	ret->pub.bytes = bytes;
	ret->pub.bytes_len = (uint32_t)len;
}

/* ---- losses and names ------------------------------------------------------------------------ */

static int decode_lost(struct ftracetext_source *s, const struct cut *cut, const struct lines *l,
		       struct event *ret)
{
	s->made.lost = (struct ftracetext_lost_payload){ .cpu = l->lost_cpu, .lost = l->lost };
	defects_add(s->opts.defects, DEFECT_LOST_EVENTS, l->lost,
		    "in front of the event at 0x%llx of %.120s", (unsigned long long)cut->file_off,
		    s->opts.path);
	decode_set(cut, -1, -1, l->lost_cpu, s->lost_schema, &s->made.lost, sizeof(s->made.lost),
		   ret);
	return 1;
}

/* 1 if the line gives its task another name than was known; then ret is a record of it. */
static int decode_comm(struct ftracetext_source *s, const struct cut *cut,
		       const struct ftracetext_line *line, struct event *ret)
{
	struct ftracetext_comm_payload *made = &s->made.comm;
	struct ftracetext_comm name = { 0 };
	uint64_t i;

	if (line->kind != FTRACETEXT_EVENT || line->pid <= 0 ||
	    line->comm_len >= sizeof(name.text) ||
	    (line->comm_len == 5 && !memcmp(line->comm, "<...>", 5)))
		return 0;
	memcpy(name.text, line->comm, line->comm_len);
	i = hash64_find(&s->comm_of_pid, (uint32_t)line->pid);
	if (i != HASH64_EMPTY && !strcmp(s->comms.v[i].text, name.text))
		return 0;
	if (i != HASH64_EMPTY) {
		s->comms.v[i] = name;
	} else if (s->comms.n < MOST_NAMES) {
		TRY(vec_push(&s->comms, name));
		TRY(hash64_put(&s->comm_of_pid, (uint32_t)line->pid, s->comms.n - 1));
	} else {
		return 0;
	}
	made->pid = (uint32_t)line->pid;
	memcpy(made->comm, name.text, sizeof(made->comm));
	decode_set(cut, line->tgid >= 0 ? line->tgid : line->pid, line->pid, line->cpu,
		   s->comm_schema, made,
		   offsetof(struct ftracetext_comm_payload, comm) + line->comm_len + 1, ret);
	s->change = (struct change){
		.kind = CHANGE_COMM,
		.pid = ret->pub.pid,
		.tid = line->pid,
		.time_ns = ret->pub.time_ns,
		.text = made->comm,
	};
	ret->change = &s->change;
	return 1;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Appends the text to the payload, and sets the word that says where it is. */
static uint32_t decode_put_text(struct ftracetext_source *s, const struct ftracetext_line *line,
				const struct lines *l, uint32_t off, uint32_t len)
{
	const size_t more = l->more_len ? l->more_len + 1 : 0;
	size_t n = line->text_len + more;
	uint32_t word;

	if (len > UINT16_MAX || sizeof(s->payload) - len < n + 1)
		n = line->text_len < sizeof(s->payload) - len ? line->text_len : 0;
	if (n > UINT16_MAX - 1)
		n = UINT16_MAX - 1;
	word = (uint32_t)(n + 1) << 16 | (len & UINT16_MAX);
	memcpy(s->payload + off, &word, sizeof(word));
	memcpy(s->payload + len, line->text, n < line->text_len ? n : line->text_len);
	if (n > line->text_len) {
		s->payload[len + line->text_len] = '\n';
		memcpy(s->payload + len + line->text_len + 1, l->more, n - line->text_len - 1);
	}
	s->payload[len + n] = '\0';
	return len + (uint32_t)n + 1;
}

static void decode_put_common(struct ftracetext_source *s, const struct ftracetext_type *type,
			      const struct ftracetext_line *line)
{
	const uint16_t id = (uint16_t)type->schema->tracepoint_id;

	if (type->type_off >= 0)
		memcpy(s->payload + type->type_off, &id, sizeof(id));
	if (type->flags_off >= 0)
		s->payload[type->flags_off] = line->flags;
	if (type->preempt_off >= 0)
		s->payload[type->preempt_off] = line->preempt;
	if (type->pid_off >= 0)
		memcpy(s->payload + type->pid_off, &line->pid, sizeof(line->pid));
}

/* " 0x1f" or " 31". Returns the place after it; NULL if there is no number. */
static const char *decode_number(const char *at, const char *end, uint64_t *ret)
{
	unsigned base = 10;
	const char *first;

	if (at == end || *at != ' ')
		return NULL;
	at++;
	if (end - at > 2 && at[0] == '0' && at[1] == 'x') {
		base = 16;
		at += 2;
	}
	*ret = 0;
	for (first = at; at < end; at++) {
		const unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
				       : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a' + 10)
								  : base;

		if (digit >= base)
			break;
		*ret = *ret * base + digit;
	}
	return at > first ? at : NULL;
}

/* Reads "(dfd: 0x3, flags: 0x1)": values by the names of fields. False if it is no such text. */
static bool decode_arguments(struct ftracetext_source *s, const struct sonde_schema *sc,
			     const char *at, const char *end)
{
	if (end - at < 2 || *at != '(' || end[-1] != ')')
		return false;
	at++;
	while (at < end && *at != ')') {
		const char *colon = memchr(at, ':', (size_t)(end - at));
		const struct sonde_field *f;
		uint64_t v = 0;

		if (!colon)
			return false;
		f = schema_find_field(sc, at, (size_t)(colon - at));
		at = colon + 1;
		at = decode_number(at, end, &v);
		if (!at)
			return false;
		if (f && f->kind == SONDE_FIELD_INT && f->width <= 8 &&
		    f->offset + f->width <= sizeof(s->payload))
			memcpy(s->payload + f->offset, &v, f->width);
		/* Newer kernels show what an argument points to. */
		while (at < end && *at != ',' && *at != ')') {
			if (*at == '"')
				for (at++; at < end && *at != '"'; at++)
					;
			at += at < end;
		}
		while (at < end && (*at == ',' || *at == ' '))
			at++;
	}
	return at < end;
}

/* " -> 0x3" */
static bool decode_result(struct ftracetext_source *s, const struct sonde_schema *sc,
			  const char *at, const char *end)
{
	const struct sonde_field *f = schema_find_field(sc, "ret", 3);
	uint64_t v = 0;

	if (!f || f->width > 8 || end - at < 4 || memcmp(at, " ->", 3) != 0 ||
	    decode_number(at + 3, end, &v) != end)
		return false;
	memcpy(s->payload + f->offset, &v, f->width);
	return true;
}

/* Finds the fields in the text. False if it is not the text of the event's print format. */
static bool decode_fields(struct ftracetext_source *s, const struct ftracetext_type *type,
			  const char *text, size_t len, uint32_t *used)
{
	if (type->is_enter)
		return decode_arguments(s, type->schema, text, text + len);
	if (type->is_exit)
		return decode_result(s, type->schema, text, text + len);
	return printfmt_invert(type->print, text, len, s->payload,
			       type->fixed + FTRACETEXT_LONGEST_RECORD, used);
}

static void decode_count_text(const struct ftracetext_source *s, const struct cut *cut,
			      const char *what, const char *of)
{
	defects_add(s->opts.defects, DEFECT_TEXT_ONLY, 1, "the line at 0x%llx of %.80s %s %.120s",
		    (unsigned long long)cut->file_off, s->opts.path, what, of);
}

static int decode_event(struct ftracetext_source *s, const struct cut *cut, const struct lines *l,
			struct event *ret)
{
	const struct ftracetext_line *line = &l->main;
	struct ftracetext_type *type = NULL;
	struct sonde_schema *sc = s->text_schema;
	const int32_t pid = line->tgid >= 0 ? line->tgid : line->pid;
	struct ftracetext_line shown = *line;
	uint32_t len = 4;
	size_t skip = 0;

	if (line->kind == FTRACETEXT_EVENT)
		TRY(ftracetext_type_find(s, line->text, line->text_len, &type, &skip));
	if (type && type->schema) {
		shown.text += skip;
		shown.text_len -= skip;
		memset(s->payload, 0, type->fixed);
		len = type->fixed;
		if ((!l->more_len || !type->has_whole_text) &&
		    decode_fields(s, type, shown.text, shown.text_len, &len)) {
			decode_put_common(s, type, line);
			if (type->text_off >= 0)
				len = decode_put_text(
					s, type->is_enter || type->is_exit ? line : &shown, l,
					(uint32_t)type->text_off, len);
			decode_set(cut, pid, line->pid, line->cpu, type->schema, s->payload, len,
				   ret);
			return 1;
		}
		decode_count_text(s, cut, "is not the text of", type->schema->name);
		TRY(ftracetext_type_plain(s, type, &sc));
	} else if (type && type->why) {
		decode_count_text(s, cut, "has no description:", type->why);
	} else if (type && type->plain) { /* a marker */
		shown.text += skip;
		shown.text_len -= skip;
		sc = type->plain;
	}
	len = decode_put_text(s, &shown, l, 0, 4);
	decode_set(cut, pid, line->pid, line->cpu, sc, s->payload, len, ret);
	return 1;
}

int ftracetext_decode(struct source *source, const struct cut *cuts, int nr, int *at,
		      struct event *ret, int max)
{
	struct ftracetext_source *s = ftracetext_of(source);
	const struct cut *cut = &cuts[*at];
	struct lines l;
	int n = 0;

	if (*at >= nr || max < 1)
		return 0;
	if (s->part_of != cut->file_off + 1) {
		s->part = PART_LOST;
		s->part_of = cut->file_off + 1;
	}
	decode_read(cut, &l);
	if (s->part == PART_LOST) {
		s->part = PART_COMM;
		if (l.has_lost)
			n = decode_lost(s, cut, &l, ret);
	}
	if (!n && s->part == PART_COMM) {
		s->part = PART_EVENT;
		if (l.has_main)
			n = decode_comm(s, cut, &l.main, ret);
	}
	if (n)
		return n;
	n = l.has_main ? decode_event(s, cut, &l, ret) : 0;
	s->part_of = 0;
	++*at;
	return n;
}
