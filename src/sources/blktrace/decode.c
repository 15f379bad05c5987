/* SPDX-License-Identifier: MIT */
/*
 * Makes events of records: a payload of one layout with the name of the process, losses in front.
 */

#include <stdio.h>

#include "base/bytes.h"
#include "sources/blktrace/blktrace.h"

enum { MOST_SEQUENCES = 1 << 16 }; /* damaged records may name any device and cpu */

static int decode_bad_record(struct blktrace_source *s, const struct cut *rec, const char *what)
{
	defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1, "%s at 0x%llx of %.120s", what,
		    (unsigned long long)rec->file_off, s->files.v[rec->file].path);
	err_clear();
	return 0;
}

/* The memory of the next payload. The caller has checked that it is large enough. */
static void *decode_payload_begin(struct blktrace_source *s)
{
	return s->payloads + s->payloads_used;
}

/* Gives the payload to the event. */
static int decode_payload_end(struct blktrace_source *s, unsigned schema, size_t bytes,
			      struct event *ret)
{
	ret->schema = s->schemas[schema];
	ret->pub.schema = ret->schema->id;
	ret->attr = ret->member = schema;
	ret->pub.bytes = s->payloads + s->payloads_used;
	ret->pub.bytes_len = (uint32_t)bytes;
	s->payloads_used += (bytes + 7) & ~(size_t)7;
	return 1;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* 16 bytes, with a NUL in them. */
static const char *decode_comm_of(const struct blktrace_source *s, uint32_t pid)
{
	static const char none[BLKTRACE_COMM_BYTES];
	uint64_t i = hash64_find(&s->process_of_pid, pid);

	return i == HASH64_EMPTY ? none : s->processes.v[i].comm;
}

/*
 * A note names a process for the complete recording: the kernel writes one for each, and blkparse
 * -d moves them to the front. The first one is valid, as in blkparse.
 */
static int decode_process(struct blktrace_source *s, const struct cut *cut,
			  const struct blktrace_record *rec, struct event *ret)
{
	struct blktrace_process process = { 0 };
	struct blktrace_comm *made = decode_payload_begin(s);

	if (!rec->pdu_len)
		return decode_bad_record(s, cut, "a process without a name");
	memcpy(process.comm, rec->pdu,
	       rec->pdu_len < BLKTRACE_COMM_BYTES ? rec->pdu_len : BLKTRACE_COMM_BYTES - 1);
	*made = (struct blktrace_comm){ .pid = rec->pid };
	memcpy(made->comm, process.comm, sizeof(made->comm));
	if (hash64_find(&s->process_of_pid, rec->pid) == HASH64_EMPTY) {
		TRY(vec_push(&s->processes, process));
		TRY(hash64_put(&s->process_of_pid, rec->pid, s->processes.n - 1));
		s->change = (struct change){
			.kind = CHANGE_COMM,
			.pid = (int32_t)rec->pid,
			.tid = (int32_t)rec->pid,
			.time_ns = SONDE_NO_TIME,
			.is_untimed = true,
			.text = made->comm,
		};
		ret->change = &s->change;
	}
	return decode_payload_end(
		s, SCHEMA_COMM, offsetof(struct blktrace_comm, comm) + strlen(made->comm) + 1, ret);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static struct blktrace_sequence *decode_find_sequence(struct blktrace_source *s,
						      const struct blktrace_record *rec)
{
	const uint64_t key = (uint64_t)rec->device << 32 | rec->cpu;
	uint64_t i;

	if (s->last_sequence < s->sequences.n && s->sequences.v[s->last_sequence].key == key)
		return &s->sequences.v[s->last_sequence];
	i = hash64_find(&s->sequence_of, key);
	if (i == HASH64_EMPTY) {
		if (s->sequences.n == MOST_SEQUENCES ||
		    vec_push(&s->sequences, (struct blktrace_sequence){ .key = key }) < 0)
			return NULL;
		i = s->sequences.n - 1;
		if (hash64_put(&s->sequence_of, key, i) < 0) {
			s->sequences.n--;
			return NULL;
		}
	}
	s->last_sequence = i;
	return &s->sequences.v[i];
}

/* Notes are not counted: the kernel sets no sequence in them. */
static bool decode_is_counted(const struct blktrace_record *rec)
{
	return rec->sequence && !(rec->categories & BLKTRACE_NOTIFY);
}

/*
 * Counts the records of the same device and cpu that are missing in front of this one. Returns 0
 * for a record that was counted before or is out of order.
 */
static uint32_t decode_count_lost(struct blktrace_source *s, const struct blktrace_record *rec)
{
	struct blktrace_sequence *seq =
		decode_is_counted(rec) ? decode_find_sequence(s, rec) : NULL;
	uint32_t lost;

	if (!seq || rec->sequence < seq->next)
		return 0;
	lost = seq->next ? rec->sequence - seq->next : 0;
	seq->next = rec->sequence + 1;
	return lost;
}

/* True, and the sequence advances, if no record is lost in front of this one. */
static bool decode_follows(struct blktrace_source *s, const struct blktrace_record *rec)
{
	struct blktrace_sequence *seq =
		decode_is_counted(rec) ? decode_find_sequence(s, rec) : NULL;

	if (!seq || rec->sequence < seq->next)
		return true;
	if (seq->next && rec->sequence != seq->next)
		return false;
	seq->next = rec->sequence + 1;
	return true;
}

static int decode_lost(struct blktrace_source *s, const struct cut *cut,
		       const struct blktrace_record *rec, uint32_t lost, struct event *ret)
{
	struct blktrace_lost *made = decode_payload_begin(s);

	defects_add(s->opts.defects, DEFECT_LOST_EVENTS, lost, "at 0x%llx of %.120s",
		    (unsigned long long)cut->file_off, s->files.v[cut->file].path);
	*made = (struct blktrace_lost){ .dev = rec->device, .lost = lost };
	ret->pub.pid = ret->pub.tid = -1;
	return decode_payload_end(s, SCHEMA_LOST, sizeof(*made), ret);
}

/* ---- actions --------------------------------------------------------------------------------- */

static void decode_set_device(struct blktrace_payload *to, uint32_t device)
{
	to->dev = device;
	to->major = device >> BLKTRACE_MINOR_BITS;
	to->minor = device & ((1u << BLKTRACE_MINOR_BITS) - 1);
}

/* Writes the end of the payload. Returns its size, <0 if the record's own payload is too short. */
static int64_t decode_fill_end(struct blktrace_payload *to, enum blktrace_shape shape,
			       const struct blktrace_record *rec)
{
	enum { FIXED = offsetof(struct blktrace_payload, count) };
	uint8_t *end = (uint8_t *)to + FIXED;
	struct blktrace_remap remap;

	switch (shape) {
	case SHAPE_PDU:
		to->pdu = rec->pdu_len << 16 | (FIXED + (uint32_t)sizeof(to->pdu));
		memcpy(end + sizeof(to->pdu), rec->pdu, rec->pdu_len);
		return FIXED + (int64_t)sizeof(to->pdu) + rec->pdu_len;
	case SHAPE_REQUESTS:
	case SHAPE_SPLIT:
		return blktrace_count_read(rec, &to->count) ? FIXED + (int64_t)sizeof(to->count)
							    : -1;
	case SHAPE_REMAP:
		if (!blktrace_remap_read(rec, &remap))
			return -1;
		decode_set_device(to, remap.from_device);
		to->old_dev = to->dev;
		to->old_major = to->major;
		to->old_minor = to->minor;
		to->old_sector = remap.from_sector;
		decode_set_device(to, remap.to_device);
		to->pad = 0;
		return sizeof(*to);
	case SHAPE_MESSAGE:
		memcpy(end, rec->pdu, rec->pdu_len);
		end[rec->pdu_len] = '\0';
		return FIXED + (int64_t)rec->pdu_len + 1;
	default:
		return FIXED;
	}
}

/* Returns 0 if the record's own payload is too short for its action. */
static int decode_action(struct blktrace_source *s, const struct blktrace_record *rec,
			 unsigned schema, struct event *ret)
{
	struct blktrace_payload *to = decode_payload_begin(s);
	int64_t bytes;

	to->sector = rec->sector;
	to->action = rec->action;
	to->cgroup = rec->cgroup;
	decode_set_device(to, rec->device);
	to->bytes = rec->bytes;
	to->nr_sector = rec->bytes >> BLKTRACE_SECTOR_SHIFT;
	to->pid = rec->pid;
	to->sequence = rec->sequence;
	to->error = rec->error;
	blktrace_rwbs(rec, to->rwbs);
	memcpy(to->comm, decode_comm_of(s, rec->pid), sizeof(to->comm));
	bytes = decode_fill_end(to, blktrace_shape_of(schema), rec);
	return bytes < 0 ? 0 : decode_payload_end(s, schema, (size_t)bytes, ret);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Sets everything that depends on the record's header alone. */
static void decode_set_head(const struct cut *cut, const struct blktrace_record *rec,
			    struct event *ret)
{
	ret->cut = cut;
	ret->derived = 0;
	ret->period = 0;
	ret->chain_off = 0;
	ret->is_left_out = false;
	ret->change = NULL;
	ret->pub.time_ns = rec->time_ns;
	ret->pub.cpu = (int32_t)rec->cpu;
	ret->pub.pid = ret->pub.tid = (int32_t)rec->pid;
	ret->pub.cpumode = 0;
	ret->pub.flags = cut->flags & CUT_LATE ? SONDE_EVENT_LATE : 0;
	ret->pub.record = cut->bytes;
	ret->pub.record_len = cut->len;
	ret->pub.file_off = cut->file_off;
}

static unsigned decode_schema_of(const struct blktrace_record *rec)
{
	if (rec->categories & BLKTRACE_NOTIFY)
		return SCHEMA_MESSAGE;
	return rec->act && rec->act < NR_BLKTRACE_ACTS ? rec->act : SCHEMA_UNKNOWN_ACT;
}

static bool decode_read_record(const struct cut *cut, struct blktrace_record *ret)
{
	struct blktrace_head head;

	if (blktrace_head_find(cut->bytes, cut->len, &head) && head.bytes == cut->len &&
	    blktrace_record_read(&head, cut->bytes, ret) >= 0)
		return true;
	err_clear();
	return false;
}

/* Notes other than messages name processes and times. All other records only become an event. */
static bool decode_is_action(const struct blktrace_record *rec)
{
	return !(rec->categories & BLKTRACE_NOTIFY) || rec->act == BLKTRACE_NOTE_MESSAGE;
}

static int decode_note(struct blktrace_source *s, const struct cut *cut,
		       const struct blktrace_record *rec, struct event *ret)
{
	switch (rec->act) {
	case BLKTRACE_NOTE_PROCESS:
		return decode_process(s, cut, rec, ret);
	case BLKTRACE_NOTE_TIMESTAMP:
		return 0; /* open.c has read it */
	}
	defects_add(s->opts.defects, DEFECT_UNKNOWN_RECORD, 1, "note %u at 0x%llx of %.120s",
		    rec->act, (unsigned long long)cut->file_off, s->files.v[cut->file].path);
	return 0;
}

/*
 * Decodes a record that does more than become an event. Sets *ret_done if it has no further events.
 */
static int decode_alone(struct blktrace_source *s, const struct cut *cut, struct event *ret,
			bool *ret_done)
{
	struct blktrace_record rec;
	uint32_t lost;
	int n;

	*ret_done = true;
	if (!decode_read_record(cut, &rec))
		return decode_bad_record(s, cut, "a payload too short for its flags");
	decode_set_head(cut, &rec, ret);
	if (!decode_is_action(&rec))
		return decode_note(s, cut, &rec, ret);
	lost = s->has_reported_loss ? 0 : decode_count_lost(s, &rec);
	s->has_reported_loss = lost > 0;
	if (lost) {
		*ret_done = false;
		return decode_lost(s, cut, &rec, lost, ret);
	}
	n = decode_action(s, &rec, decode_schema_of(&rec), ret);
	return n ? n : decode_bad_record(s, cut, "a payload shorter than its action's");
}

/* False if the record must be decoded alone. */
static bool decode_ahead(struct blktrace_source *s, const struct cut *cut, struct event *ret)
{
	struct blktrace_record rec;

	if (s->payloads_used + BLKTRACE_LARGEST_PAYLOAD > sizeof(s->payloads) ||
	    !decode_read_record(cut, &rec) || !decode_is_action(&rec) || !decode_follows(s, &rec))
		return false;
	decode_set_head(cut, &rec, ret);
	return decode_action(s, &rec, decode_schema_of(&rec), ret) > 0;
}

int blktrace_decode(struct source *source, const struct cut *cuts, int nr, int *at,
		    struct event *ret, int max)
{
	struct blktrace_source *s = blktrace_of(source);
	bool is_done;
	int n = 0;

	s->payloads_used = 0;
	if (!s->has_reported_loss)
		for (; *at < nr && n < max && decode_ahead(s, &cuts[*at], &ret[n]); n++)
			++*at;
	if (n)
		return n;
	s->payloads_used = 0;
	n = decode_alone(s, &cuts[*at], ret, &is_done);
	if (is_done)
		++*at;
	return n;
}
