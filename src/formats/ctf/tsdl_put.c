/* SPDX-License-Identifier: MIT */
#include "formats/ctf/tsdl_put.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"

enum { NS_IN_S = 1000000000 };

static bool put_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool put_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Bytes that a text of the metadata cannot have become octal escapes, which end after three digits.
 */
void tsdl_put_text(struct outbuf *o, const char *text)
{
	outbuf_char(o, '"');
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			outbuf_char(o, '\\');
		if (c < ' ' || c == 0x7f)
			outbuf_fmt(o, "\\%03o", c);
		else
			outbuf_char(o, *text);
	}
	outbuf_char(o, '"');
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void put_uuid(struct outbuf *o, const uint8_t *uuid)
{
	for (int i = 0; i < CTF_UUID_BYTES; i++)
		outbuf_fmt(o, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static void put_env(struct outbuf *o, const struct tsdl_env *env, size_t nr)
{
	outbuf_str(o, "\nenv {\n");
	for (size_t i = 0; i < nr; i++) {
		outbuf_fmt(o, "\t%s = ", env[i].name);
		if (env[i].text)
			tsdl_put_text(o, env[i].text);
		else
			outbuf_u64(o, env[i].number);
		outbuf_str(o, ";\n");
	}
	outbuf_str(o, "};\n");
}

/* The offset within a second is not negative. */
static void put_clock(struct outbuf *o, const struct tsdl_clock *c)
{
	int64_t s = c->offset_ns / NS_IN_S, ns = c->offset_ns % NS_IN_S;

	if (ns < 0) {
		ns += NS_IN_S;
		s--;
	}
	outbuf_fmt(o, "\nclock {\n\tname = \"%s\";\n\tdescription = ", c->name);
	tsdl_put_text(o, c->description);
	outbuf_fmt(o,
		   ";\n\tfreq = %d;\n\toffset_s = %" PRId64 ";\n\toffset = %" PRId64
		   ";\n\tabsolute = %s;\n};\n",
		   NS_IN_S, s, ns, c->is_absolute ? "true" : "false");
	outbuf_fmt(o,
		   "\ntypealias integer { size = 64; align = 8; map = clock.%s.value; } := "
		   "timestamp_t;\n",
		   c->name);
}

static void put_stream(struct outbuf *o, enum ctf_stream_id id, bool has_clock)
{
	outbuf_fmt(o,
		   "\nstream {\n\tid = %d;\n"
		   "\tpacket.context := struct {\n"
		   "\t\tuint64_t content_size;\n"
		   "\t\tuint64_t packet_size;\n"
		   "%s"
		   "\t\tuint64_t events_discarded;\n"
		   "\t\tuint64_t packet_seq_num;\n"
		   "%s"
		   "\t};\n"
		   "\tevent.header := struct {\n"
		   "\t\tuint16_t id;\n"
		   "%s"
		   "\t};\n"
		   "};\n",
		   (int)id,
		   has_clock ? "\t\ttimestamp_t timestamp_begin;\n\t\ttimestamp_t timestamp_end;\n"
			     : "",
		   id == CTF_STREAM_OF_CPU ? "\t\tuint32_t cpu_id;\n" : "",
		   has_clock ? "\t\ttimestamp_t timestamp;\n" : "");
}

void tsdl_put_head(struct outbuf *o, const struct tsdl_head *head)
{
	const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	outbuf_str(o, "/* CTF 1.8 */\n\n");
	for (int bits = 8; bits <= 64; bits *= 2)
		outbuf_fmt(o, "typealias integer { size = %d; align = 8; } := uint%d_t;\n", bits,
			   bits);
	outbuf_str(o, "\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	put_uuid(o, head->uuid);
	outbuf_fmt(o,
		   "\";\n\tbyte_order = %s;\n"
		   "\tpacket.header := struct {\n"
		   "\t\tuint32_t magic;\n"
		   "\t\tuint8_t uuid[16];\n"
		   "\t\tuint32_t stream_id;\n"
		   "\t\tuint64_t stream_instance_id;\n"
		   "\t};\n"
		   "};\n",
		   is_big ? "be" : "le");
	put_env(o, head->env, head->nr_env);
	if (head->has_clock)
		put_clock(o, &head->clock);
	for (int id = 0; id < NR_CTF_STREAM_IDS; id++)
		if (head->has[id])
			put_stream(o, (enum ctf_stream_id)id, head->has_clock);
}

void tsdl_put_event(struct outbuf *o, const struct tsdl_event *ev)
{
	outbuf_str(o, "\nevent {\n\tname = ");
	tsdl_put_text(o, ev->name);
	outbuf_fmt(o, ";\n\tid = %u;\n\tstream_id = %d;\n", ev->id, (int)ev->stream);
	if (ev->context_len) {
		outbuf_str(o, "\tcontext := struct {\n");
		outbuf_put(o, ev->context, ev->context_len);
		outbuf_str(o, "\t};\n");
	}
	outbuf_str(o, "\tfields := struct {\n");
	outbuf_put(o, ev->fields, ev->fields_len);
	outbuf_str(o, "\t};\n};\n");
}

/* ---- members --------------------------------------------------------------------------------- */

void tsdl_put_number(struct outbuf *o, const struct tsdl_number *n)
{
	const char *order = n->is_big ? "be" : "le";

	if (n->is_float) {
		outbuf_fmt(o,
			   "floating_point { exp_dig = %d; mant_dig = %d; align = 8; byte_order = "
			   "%s; }",
			   n->bits == 32 ? 8 : 11, n->bits == 32 ? 24 : 53, order);
		return;
	}
	outbuf_fmt(o, "integer { size = %u; align = 8; signed = %s; byte_order = %s;%s%s }",
		   n->bits, n->is_signed ? "true" : "false", order, n->is_hex ? " base = 16;" : "",
		   n->is_character ? " encoding = UTF8;" : "");
}

/* A name with the hash of another one counts as taken, too. */
static bool tsdl_names_is_taken(const struct tsdl_names *names, const char *name)
{
	return hash64_find(&names->taken, hash_bytes(name, strlen(name))) != HASH64_EMPTY;
}

int tsdl_names_add(struct tsdl_names *names, const char *name, struct outbuf *ret)
{
	const size_t start = ret->len;
	size_t end;

	outbuf_char(ret, '_');
	for (; *name; name++)
		outbuf_char(ret, put_is_letter(*name) || put_is_digit(*name) ? *name : '_');
	end = ret->len;
	outbuf_char(ret, '\0');
	for (size_t i = names->taken.n + 1;
	     !ret->failed && tsdl_names_is_taken(names, ret->data + start); i++) {
		ret->len = end;
		outbuf_fmt(ret, "_%zu", i);
		outbuf_char(ret, '\0');
	}
	if (ret->failed ||
	    hash64_put(&names->taken, hash_bytes(ret->data + start, ret->len - 1 - start), 1) < 0)
		return err_nomem();
	return 0;
}

void tsdl_names_done(struct tsdl_names *names)
{
	hash64_done(&names->taken);
}
