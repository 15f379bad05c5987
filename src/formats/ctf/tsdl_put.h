/* SPDX-License-Identifier: MIT */
/*
 * Writes the metadata of a CTF 1.8 trace: the text that describes what stream_writer.h writes.
 *
 *	tsdl_put_head(&text, &head);
 *	tsdl_put_event(&text, &event);		// for each class, with the text of its structs
 */
#ifndef SONDE_FORMATS_CTF_TSDL_PUT_H
#define SONDE_FORMATS_CTF_TSDL_PUT_H

#include "base/hash.h"
#include "base/outbuf.h"
#include "formats/ctf/stream_writer.h"

struct tsdl_clock {
	const char *name; /* characters of a C identifier */
	const char *description;
	int64_t offset_ns; /* of its 0, since 1970 */
	bool is_absolute;  /* it counts from 1970 */
};

/* A line of env. */
struct tsdl_env {
	const char *name, *text; /* NULL: number */
	uint64_t number;
};

struct tsdl_head {
	const uint8_t *uuid;
	bool has_clock;
	struct tsdl_clock clock;
	const struct tsdl_env *env;
	size_t nr_env;
	bool has[NR_CTF_STREAM_IDS]; /* streams of the class are written */
};
void tsdl_put_head(struct outbuf *o, const struct tsdl_head *head);

struct tsdl_event {
	const char *name;
	uint16_t id;
	enum ctf_stream_id stream;
	const char *context, *fields; /* members; "" if there are none */
	size_t context_len, fields_len;
};
void tsdl_put_event(struct outbuf *o, const struct tsdl_event *ev);

/* "..." with escapes. */
void tsdl_put_text(struct outbuf *o, const char *text);

/* ---- members --------------------------------------------------------------------------------- */

struct tsdl_number {
	unsigned bits;
	bool is_signed, is_big, is_hex, is_float, is_character;
};
/* The type of a number, without a name. */
void tsdl_put_number(struct outbuf *o, const struct tsdl_number *n);

/* Names of one struct's members, which must differ. */
struct tsdl_names {
	struct hash64 taken; /* hashes of the names */
};
/*
 * Appends the name of a member and a NUL: an underscore, which readers leave out, so that no name
 * is a reserved word; then the name, with '_' for characters that names cannot have, and a number
 * behind a name that is taken. <0 without memory.
 */
int tsdl_names_add(struct tsdl_names *names, const char *name, struct outbuf *ret);
void tsdl_names_done(struct tsdl_names *names);

#endif
