/* SPDX-License-Identifier: MIT */
#include "sinks/blkparse/line.h"

#include <string.h>

static const struct blkparse_action actions[] = {
	{ "queue", "Q", BLKPARSE_REQUEST, BLKPARSE_SIZE },
	{ "backmerge", "M", BLKPARSE_REQUEST, BLKPARSE_NONE },
	{ "frontmerge", "F", BLKPARSE_REQUEST, BLKPARSE_NONE },
	{ "getrq", "G", BLKPARSE_REQUEST, BLKPARSE_REQUEST },
	{ "sleeprq", "S", BLKPARSE_REQUEST, BLKPARSE_REQUEST },
	{ "requeue", "R", BLKPARSE_RESULT, BLKPARSE_ERROR },
	{ "issue", "D", BLKPARSE_REQUEST, BLKPARSE_COMMAND },
	{ "complete", "C", BLKPARSE_RESULT, BLKPARSE_REPLY },
	{ "plug", "P", BLKPARSE_COMM, BLKPARSE_NONE },
	{ "unplug", "U", BLKPARSE_COUNT, BLKPARSE_NONE },
	{ "unplug_timer", "UT", BLKPARSE_COUNT, BLKPARSE_NONE },
	{ "insert", "I", BLKPARSE_REQUEST, BLKPARSE_COMMAND },
	{ "split", "X", BLKPARSE_SPLIT, BLKPARSE_NONE },
	{ "bounce", "B", BLKPARSE_REQUEST, BLKPARSE_NONE },
	{ "remap", "A", BLKPARSE_REMAP, BLKPARSE_NONE },
	{ "message", "m", BLKPARSE_MESSAGE, BLKPARSE_MESSAGE },
};

const struct blkparse_action *blkparse_action_find(const char *name)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(actions[i].name, name))
			return &actions[i];
	return NULL;
}

static void line_left_aligned(struct outbuf *out, uint32_t v, unsigned width)
{
	size_t before = out->len;

	outbuf_u64(out, v);
	if (out->len - before < width)
		outbuf_pad(out, ' ', width - (out->len - before));
}

static void line_right_aligned(struct outbuf *out, const char *text, size_t width)
{
	size_t len = strlen(text);

	if (len < width)
		outbuf_pad(out, ' ', width - len);
	outbuf_put(out, text, len);
}

/* Prints five places of seconds, a point, nine places of nanoseconds. */
static void line_time(struct outbuf *out, int64_t since_ns)
{
	enum { SECONDS_WIDTH = 5, NSEC_PER_SEC = 1000000000 };
	uint64_t ns = since_ns < 0 ? -(uint64_t)since_ns : (uint64_t)since_ns;

	if (since_ns < 0) {
		char text[24];
		char *digits = digits_u64(text + sizeof(text) - 1, ns / NSEC_PER_SEC);

		text[sizeof(text) - 1] = '\0';
		*--digits = '-';
		line_right_aligned(out, digits, SECONDS_WIDTH);
	} else {
		outbuf_u64_width(out, ns / NSEC_PER_SEC, SECONDS_WIDTH, ' ');
	}
	outbuf_char(out, '.');
	outbuf_u64_width(out, ns % NSEC_PER_SEC, 9, '0');
}

/*
 * Prints "  8,1    0        1     0.000000000   100  Q  WS ". A message has no sequence and no pid.
 */
static void line_head(struct outbuf *out, const struct blkparse_line *l)
{
	const bool is_message = l->action->fs == BLKPARSE_MESSAGE;

	outbuf_u64_width(out, l->major, 3, ' ');
	outbuf_char(out, ',');
	line_left_aligned(out, l->minor, 3);
	outbuf_char(out, ' ');
	outbuf_u64_width(out, l->cpu, 2, ' ');
	outbuf_char(out, ' ');
	outbuf_u64_width(out, is_message ? 0 : l->sequence, 8, ' ');
	outbuf_char(out, ' ');
	line_time(out, l->since_ns);
	outbuf_char(out, ' ');
	outbuf_u64_width(out, is_message ? 0 : l->pid, 5, ' ');
	outbuf_char(out, ' ');
	line_right_aligned(out, l->action->letters, 2);
	outbuf_char(out, ' ');
	line_right_aligned(out, l->rwbs, 3);
	outbuf_char(out, ' ');
}

static void line_comm(struct outbuf *out, const struct blkparse_line *l)
{
	outbuf_char(out, '[');
	outbuf_str(out, l->comm ? l->comm : "(null)");
	outbuf_char(out, ']');
}

static void line_error(struct outbuf *out, const struct blkparse_line *l)
{
	outbuf_char(out, '[');
	outbuf_u64(out, l->error);
	outbuf_char(out, ']');
}

static void line_sectors(struct outbuf *out, const struct blkparse_line *l)
{
	outbuf_u64(out, l->sector);
	outbuf_str(out, " + ");
	outbuf_u64(out, l->nr_sector);
}

/* Prints "(12 00 ..) ": of the zeros at the end, only the first one is printed. */
static void line_pdu(struct outbuf *out, const struct blkparse_line *l)
{
	uint32_t len = l->pdu_len;

	if (!len)
		return;
	while (len && !l->pdu[len - 1])
		len--;
	for (uint32_t i = 0; i < len + (len < l->pdu_len); i++) {
		outbuf_char(out, i ? ' ' : '(');
		outbuf_hex_width(out, l->pdu[i], 2, '0');
	}
	outbuf_str(out, len < l->pdu_len ? " ..) " : ") ");
}

bool blkparse_line_put(struct outbuf *out, const struct blkparse_line *l)
{
	enum blkparse_tail tail = l->is_pc ? l->action->pc : l->action->fs;
	uint32_t text_len = l->pdu_len;

	if (tail == BLKPARSE_MESSAGE)
		text_len = (uint32_t)strnlen((const char *)l->pdu, l->pdu_len);
	if (tail == BLKPARSE_NONE || (tail == BLKPARSE_MESSAGE && !l->pdu_len))
		return false;
	line_head(out, l);
	switch (tail) {
	case BLKPARSE_REQUEST:
		if (l->nr_sector) {
			line_sectors(out, l);
			outbuf_char(out, ' ');
		}
		line_comm(out, l);
		break;
	case BLKPARSE_COMMAND:
	case BLKPARSE_SIZE:
		outbuf_u64(out, l->bytes);
		outbuf_char(out, ' ');
		if (tail == BLKPARSE_COMMAND)
			line_pdu(out, l);
		line_comm(out, l);
		break;
	case BLKPARSE_RESULT:
		if (l->nr_sector)
			line_sectors(out, l);
		else
			outbuf_u64(out, l->sector);
		outbuf_char(out, ' ');
		line_error(out, l);
		break;
	case BLKPARSE_REPLY:
		line_pdu(out, l);
		line_error(out, l);
		break;
	case BLKPARSE_ERROR:
		line_error(out, l);
		break;
	case BLKPARSE_COMM:
		line_comm(out, l);
		break;
	case BLKPARSE_COUNT:
		line_comm(out, l);
		outbuf_char(out, ' ');
		outbuf_u64(out, (uint32_t)l->count);
		break;
	case BLKPARSE_SPLIT:
		outbuf_u64(out, l->sector);
		outbuf_str(out, " / ");
		outbuf_u64(out, (uint32_t)l->count);
		outbuf_char(out, ' ');
		line_comm(out, l);
		break;
	case BLKPARSE_REMAP:
		line_sectors(out, l);
		outbuf_str(out, " <- (");
		outbuf_u64(out, l->old_major);
		outbuf_char(out, ',');
		outbuf_u64(out, l->old_minor);
		outbuf_str(out, ") ");
		outbuf_u64(out, l->old_sector);
		break;
	case BLKPARSE_MESSAGE:
		outbuf_put(out, l->pdu, text_len);
		break;
	case BLKPARSE_NONE:
		break;
	}
	outbuf_char(out, '\n');
	return true;
}
