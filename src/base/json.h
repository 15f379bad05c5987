/* SPDX-License-Identifier: MIT */
/*
 * struct json: JSON written to a buffer. It tracks open levels and due commas, so that callers
 * write names and values only. Integers are exact. Strings preserve arbitrary bytes.
 *
 *	struct json j = json_to(&out);
 *	json_object(&j);
 *	json_member_text(&j, "name", "x");
 *	json_member_array(&j, "cpus");
 *	json_u64(&j, 0);
 *	json_u64(&j, 1);
 *	json_end_line(&j);
 *	-> {"name":"x","cpus":[0,1]}
 *
 * Members that many objects share are written once as a piece, and then copied:
 *
 *	struct json j = json_piece_to(&scratch);
 *	json_member_text(&j, "comm", "bash");
 *	struct json_piece comm = { scratch.data, scratch.len };
 *	...
 *	json_member_piece(&line, &comm);
 */
#ifndef SONDE_BASE_JSON_H
#define SONDE_BASE_JSON_H

#include "base/outbuf.h"

enum { JSON_NEWLINE = 0x80 };

struct json {
	struct outbuf *out;
	uint64_t arrays; /* one bit per open level, the innermost lowest; 1 for an array */
	unsigned depth;  /* at most 64 */
	/*
	 * The character in front of the next name or element: ',', or the '{' or '[' of an object
	 * or array that is still empty; 0 if there is none. JSON_NEWLINE: a line feed follows it.
	 */
	unsigned char due;
};

/* Borrowed from the owner of the text. */
struct json_piece {
	const char *text; /* NULL if none */
	uint32_t len;
};

static inline struct json json_to(struct outbuf *out)
{
	return (struct json){ .out = out };
}

/* For a piece that is not the first of its object. */
static inline struct json json_piece_to(struct outbuf *out)
{
	return (struct json){ .out = out, .due = ',' };
}

/* The next name or element begins a line. */
static inline void json_newline(struct json *j)
{
	j->due |= JSON_NEWLINE;
}

/* ---- building blocks of values and names ----------------------------------------------------- */

/* Writes the due characters. */
void json_put_due(struct json *j);

static inline void json_separate(struct json *j)
{
	if (__builtin_expect(j->due >= JSON_NEWLINE, 0))
		json_put_due(j);
	else if (j->due)
		outbuf_char(j->out, (char)j->due);
	j->due = 0;
}

/*
 * Writes `,"name":` with the due character in place of the comma, in room for `more` further bytes.
 * Returns the beginning of that room; NULL if out of memory.
 */
static inline __attribute__((always_inline)) char *json_write_name(struct json *j, const char *text,
								   size_t len, size_t more)
{
	char *to;

	if (__builtin_expect(j->due >= JSON_NEWLINE, 0)) {
		json_put_due(j); /* at least one character was due, among them a comma */
		to = outbuf_room(j->out, len - 1 + more);
		if (to)
			memcpy(to, text + 1, len - 1);
		return to ? to + len - 1 : NULL;
	}
	to = outbuf_room(j->out, len + more);
	if (!to)
		return NULL;
	memcpy(to, text, len);
	*to = (char)j->due;
	return to + len;
}

static inline void json_ended_at(struct json *j, const char *end)
{
	j->out->len = (size_t)(end - j->out->data);
}

static inline void json_copy_name(struct json *j, const char *text, size_t len)
{
	const char *end = json_write_name(j, text, len, 0);

	if (end)
		json_ended_at(j, end);
	j->due = 0;
}

/* `name` is a literal that needs no escape. */
#define json_literal_name(j, name) json_copy_name(j, ",\"" name "\":", sizeof(name) + 3)

/* ---- objects and arrays ---------------------------------------------------------------------- */

static inline void json_object(struct json *j)
{
	json_separate(j);
	j->due = '{';
	j->arrays <<= 1;
	j->depth++;
}

static inline void json_array(struct json *j)
{
	json_separate(j);
	j->due = '[';
	j->arrays = j->arrays << 1 | 1;
	j->depth++;
}

/* Ends the innermost object or array. */
static inline void json_end(struct json *j)
{
	if ((j->due & ~JSON_NEWLINE) != ',') /* it is empty */
		outbuf_char(j->out, (char)(j->due & ~JSON_NEWLINE));
	outbuf_char(j->out, j->arrays & 1 ? ']' : '}');
	j->arrays >>= 1;
	j->depth--;
	j->due = ',';
}

/* Ends all open objects and arrays, and the line. */
static inline void json_end_line(struct json *j)
{
	while (j->depth)
		json_end(j);
	outbuf_char(j->out, '\n');
	j->due = 0;
}

/* ---- values: elements of arrays, or after a name -------------------------------------------- */

enum { JSON_NUMBER_BYTES = 21 };

extern const uint64_t json_powers[20]; /* powers of 10 */

static inline char *json_write_u64(char *to, uint64_t v)
{
	unsigned len;

	if (v < 10) { /* most numbers are this small */
		*to = (char)('0' + v);
		return to + 1;
	}
	/* 1233 / 4096 is log10(2): the number of digits is v's bits times that, or one more. */
	len = (64 - (unsigned)__builtin_clzll(v)) * 1233 >> 12;
	len += v >= json_powers[len];
	digits_u64(to + len, v);
	return to + len;
}

static inline char *json_write_i64(char *to, int64_t v)
{
	if (v < 0)
		*to++ = '-';
	return json_write_u64(to, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/*
 * Writes name and value into one piece of memory: nearly all members are numbers. `name` is
 * `,"name":`.
 */
static inline __attribute__((always_inline)) void json_member_number(struct json *j,
								     const char *name, size_t len,
								     uint64_t v, bool is_signed)
{
	char *to = json_write_name(j, name, len, JSON_NUMBER_BYTES);

	j->due = ',';
	if (to)
		json_ended_at(j,
			      is_signed ? json_write_i64(to, (int64_t)v) : json_write_u64(to, v));
}

static inline void json_number(struct json *j, uint64_t v, bool is_signed)
{
	char *to;

	if (__builtin_expect(j->due >= JSON_NEWLINE, 0))
		json_put_due(j);
	to = outbuf_room(j->out, 1 + JSON_NUMBER_BYTES);
	if (!to)
		return;
	*to = (char)j->due;
	to += j->due != 0;
	j->due = ',';
	json_ended_at(j, is_signed ? json_write_i64(to, (int64_t)v) : json_write_u64(to, v));
}

static inline void json_u64(struct json *j, uint64_t v)
{
	json_number(j, v, false);
}

static inline void json_i64(struct json *j, int64_t v)
{
	json_number(j, (uint64_t)v, true);
}

/*
 * The shortest digits that read back as the same number, with a point or an exponent. JSON has no
 * numbers for "NaN", "Infinity" and "-Infinity"; they are written as strings.
 */
void json_double(struct json *j, double v);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
/*
 * A string of any bytes, in quotes. Valid UTF-8 stays as it is. Control characters (C0, DEL, C1)
 * are escaped. Each byte 0xNN that is not part of valid UTF-8 becomes \udcNN, a lone surrogate,
 * which valid text cannot contain.
 */
void json_string(struct json *j, const void *bytes, size_t len);
/* The same for a NUL-terminated text. */
void json_text(struct json *j, const char *text);
/* The bytes as a string of hexadecimal digits. */
void json_hex(struct json *j, const uint8_t *bytes, size_t len);
/* Between the two calls, j->out receives the characters of a string; none may need an escape. */
void json_begin_words(struct json *j);
void json_end_words(struct json *j);
/* A number given as digits. */
void json_digits(struct json *j, const char *digits);

/* ---- members --------------------------------------------------------------------------------- */

/* A value must follow. */
void json_name(struct json *j, const char *name, size_t len);

/* `name` is a literal that needs no escape. */
#define json_member_u64(j, name, v) \
	json_member_number(j, ",\"" name "\":", sizeof(name) + 3, v, false)
#define json_member_i64(j, name, v) \
	json_member_number(j, ",\"" name "\":", sizeof(name) + 3, (uint64_t)(int64_t)(v), true)
#define json_member_bool(j, name, v)   (json_literal_name(j, name), json_bool(j, v))
#define json_member_null(j, name)      (json_literal_name(j, name), json_null(j))
#define json_member_text(j, name, v)   (json_literal_name(j, name), json_text(j, v))
#define json_member_object(j, name)    (json_literal_name(j, name), json_object(j))
#define json_member_array(j, name)     (json_literal_name(j, name), json_array(j))
#define json_member_hex(j, name, p, n) (json_literal_name(j, name), json_hex(j, p, n))

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A name made by json_name() or json_literal_name(). A value must follow. */
static inline void json_name_piece(struct json *j, const struct json_piece *p)
{
	json_copy_name(j, p->text, p->len);
}

static inline void json_u64_piece(struct json *j, const struct json_piece *name, uint64_t v)
{
	json_member_number(j, name->text, name->len, v, false);
}

static inline void json_i64_piece(struct json *j, const struct json_piece *name, int64_t v)
{
	json_member_number(j, name->text, name->len, (uint64_t)v, true);
}

/* One or more members. */
static inline void json_member_piece(struct json *j, const struct json_piece *p)
{
	json_copy_name(j, p->text, p->len);
	j->due = ',';
}

/*
 * The beginning of an object with its first members, made by json_object() and members with
 * json_to().
 */
static inline void json_object_piece(struct json *j, const struct json_piece *p)
{
	json_separate(j);
	outbuf_put(j->out, p->text, p->len);
	j->arrays <<= 1;
	j->depth++;
	j->due = ',';
}

#endif
