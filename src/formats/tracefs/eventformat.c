/* SPDX-License-Identifier: MIT */
#include "formats/tracefs/eventformat.h"

#include <stdlib.h>
#include <string.h>

/*
 *	name: NAME
 *	ID: 123
 *	format:
 *	<tab>field:DECL;<tab>offset:N;<tab>size:N;<tab>signed:N;      common_* fields
 *
 *	<tab>field:DECL;<tab>offset:N;<tab>size:N;<tab>signed:N;      the event's own
 *
 *	print fmt: "...", ...
 *
 * Any blanks are accepted. `signed:` may be missing (kernels before 2.6.32 did not write it).
 */

/* A record is at most 64 KiB. A larger offset or size is damage, not a field. */
#define FIELD_LIMIT (1u << 20)

struct span {
	const char *at, *end;
};

static bool eventformat_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool eventformat_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (c & 0x80);
}

static struct span eventformat_trim(struct span s)
{
	while (s.at < s.end && eventformat_is_blank(*s.at))
		s.at++;
	while (s.at < s.end && eventformat_is_blank(s.end[-1]))
		s.end--;
	return s;
}

/* The next line without its newline; false at the end of the text. */
static bool eventformat_next_line(struct span *text, struct span *ret)
{
	const char *nl;

	if (text->at >= text->end)
		return false;
	nl = memchr(text->at, '\n', (size_t)(text->end - text->at));
	*ret = (struct span){ text->at, nl ? nl : text->end };
	text->at = nl ? nl + 1 : text->end;
	return true;
}

static bool format_has_prefix(struct span s, const char *prefix)
{
	size_t n = strlen(prefix);

	return (size_t)(s.end - s.at) >= n && !memcmp(s.at, prefix, n);
}

/* True if `s` is exactly this word. */
static bool format_span_is(struct span s, const char *word)
{
	return (size_t)(s.end - s.at) == strlen(word) && format_has_prefix(s, word);
}

static bool eventformat_contains(const char *text, const char *word)
{
	return strstr(text, word) != NULL;
}

/* A decimal, 0x hexadecimal or 0 octal number that fills the span. */
static bool eventformat_parse_number(struct span s, uint32_t limit, uint32_t *ret)
{
	uint64_t v = 0;
	unsigned base = 10;

	s = eventformat_trim(s);
	if (s.end - s.at > 2 && s.at[0] == '0' && (s.at[1] | 32) == 'x') {
		base = 16;
		s.at += 2;
	} else if (s.end - s.at > 1 && s.at[0] == '0') {
		base = 8;
	}
	if (s.at == s.end)
		return false;
	for (; s.at < s.end; s.at++) {
		unsigned digit = *s.at >= '0' && *s.at <= '9' ? (unsigned)(*s.at - '0')
				 : (*s.at | 32) >= 'a' && (*s.at | 32) <= 'f'
					 ? (unsigned)((*s.at | 32) - 'a' + 10)
					 : 99;

		if (digit >= base)
			return false;
		v = v * base + digit;
		if (v > limit)
			return false;
	}
	*ret = (uint32_t)v;
	return true;
}

/* The size of an array element, by its type's name; 0 if unknown. */
static uint32_t format_type_width(const char *type, uint8_t long_bytes)
{
	static const struct {
		const char *word;
		uint8_t width;
	} words[] = {
		{ "64", 8 },       { "sector_t", 8 }, { "loff_t", 8 }, { "32", 4 },
		{ "16", 2 },       { "u8", 1 },       { "s8", 1 },     { "int8_t", 1 },
		{ "char", 1 },     { "bool", 1 },     { "short", 2 },  { "enum ", 4 },
		{ "pid_t", 4 },    { "dev_t", 4 },    { "gfp_t", 4 },  { "uid_t", 4 },
		{ "gid_t", 4 },    { "size_t", 0 },   { "long", 0 },   { "cpumask_t", 0 },
		{ "unsigned", 4 }, { "int", 4 },
	};

	if (eventformat_contains(type, "*"))
		return long_bytes;
	if (eventformat_contains(type, "struct ") || eventformat_contains(type, "union "))
		return 0;
	if (eventformat_contains(type, "long long"))
		return 8;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (eventformat_contains(type, words[i].word))
			return words[i].width ? words[i].width : long_bytes;
	return 0;
}

/* No kernel has such fields; eventformat_put() writes them. */
static bool format_is_float(const struct sonde_field *f)
{
	return (f->width == 8 && !strcmp(f->type, "double")) ||
	       (f->width == 4 && !strcmp(f->type, "float"));
}

static void eventformat_classify(struct sonde_field *f, const struct abi *abi, uint32_t array_len,
				 bool has_brackets)
{
	const char *type = f->type;

	f->is_relative = !strncmp(type, "__rel_loc", 9);
	f->is_dynamic = f->is_relative || !strncmp(type, "__data_loc", 10);
	f->is_array = has_brackets || f->is_dynamic;
	f->is_pointer = eventformat_contains(type, "*");
	f->is_long = eventformat_contains(type, "long");
	f->is_text = has_brackets &&
		     (eventformat_contains(type, "char") || eventformat_contains(type, "u8") ||
		      eventformat_contains(type, "s8"));
	if (!f->is_array) {
		f->elem_width = f->width;
		f->kind = format_is_float(f) ? SONDE_FIELD_FLOAT
			  : f->width == 1 || f->width == 2 || f->width == 4 || f->width == 8
				  ? SONDE_FIELD_INT
				  : SONDE_FIELD_STRUCT;
		return;
	}
	if (array_len && !f->is_dynamic && f->width && f->width % array_len == 0)
		f->elem_width = f->width / array_len;
	else
		f->elem_width = format_type_width(type, abi->long_bytes);
	f->kind = f->is_text && f->elem_width == 1 && eventformat_contains(type, "char") &&
				  !eventformat_contains(type, "unsigned char") && !f->is_pointer
			  ? SONDE_FIELD_STRING
		  : f->elem_width ? SONDE_FIELD_ARRAY
				  : SONDE_FIELD_STRUCT;
}

/* `char comm[16]`, `__data_loc char[] name`, `unsigned long args[]`, `const char *const * argv`. */
static int format_parse_decl(struct arena *a, struct span decl, struct sonde_field *f,
			     uint32_t *ret_len, bool *ret_brackets)
{
	const char *open, *close = NULL, *name_end, *name;
	struct span type, brackets = { "", "" };
	char *text;
	size_t n, m;

	decl = eventformat_trim(decl);
	*ret_len = 0;
	open = memchr(decl.at, '[', (size_t)(decl.end - decl.at));
	*ret_brackets = open != NULL;
	if (open) {
		for (const char *p = decl.end; p > open && !close; p--)
			if (p[-1] == ']')
				close = p;
		if (!close)
			return -EBADMSG;
		eventformat_parse_number((struct span){ open + 1, close - 1 }, FIELD_LIMIT,
					 ret_len);
	}
	/*
	 * The name follows the brackets (dynamic fields), precedes them, or ends the declaration.
	 */
	name_end = decl.end;
	if (open && eventformat_trim((struct span){ close, decl.end }).at == decl.end)
		name_end = open;
	while (name_end > decl.at && eventformat_is_blank(name_end[-1]))
		name_end--;
	name = name_end;
	while (name > decl.at && eventformat_is_word(name[-1]))
		name--;
	if (name == name_end)
		return -EBADMSG;
	type = eventformat_trim((struct span){ decl.at, name });
	if (name_end == open)
		brackets = (struct span){ open, close };
	if (type.at == type.end)
		return -EBADMSG;

	n = (size_t)(type.end - type.at);
	m = (size_t)(brackets.end - brackets.at);
	text = arena_alloc(a, n + m + 1);
	f->name = arena_strndup(a, name, (size_t)(name_end - name));
	if (!text || !f->name)
		return err_nomem();
	memcpy(text, type.at, n);
	memcpy(text + n, brackets.at, m);
	f->type = text;
	return 0;
}

/* `field:DECL; offset:N; size:N; signed:N;` */
static int format_parse_field(struct arena *a, struct span line, const struct abi *abi,
			      struct sonde_field *f)
{
	bool has_offset = false, has_size = false, brackets = false;
	uint32_t len = 0, is_signed = 0;

	*f = (struct sonde_field){ .size = sizeof(*f) };
	for (line = eventformat_trim(line); line.at < line.end; line = eventformat_trim(line)) {
		const char *semicolon = memchr(line.at, ';', (size_t)(line.end - line.at));
		const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
		struct span key, value;

		if (!semicolon || !colon || colon > semicolon)
			return -EBADMSG;
		key = eventformat_trim((struct span){ line.at, colon });
		value = (struct span){ colon + 1, semicolon };
		line.at = semicolon + 1;
		if (format_span_is(key, "field"))
			TRY(format_parse_decl(a, value, f, &len, &brackets));
		else if (format_span_is(key, "offset"))
			has_offset = eventformat_parse_number(value, FIELD_LIMIT, &f->offset);
		else if (format_span_is(key, "size"))
			has_size = eventformat_parse_number(value, FIELD_LIMIT, &f->width);
		else if (format_span_is(key, "signed") &&
			 eventformat_parse_number(value, UINT32_MAX, &is_signed))
			f->is_signed = is_signed != 0;
	}
	if (!f->name || !has_offset || !has_size)
		return -EBADMSG;
	eventformat_classify(f, abi, len, brackets);
	return 0;
}

static size_t format_count_fields(struct span text)
{
	struct span line;
	size_t n = 0;

	while (eventformat_next_line(&text, &line) && !format_has_prefix(line, "print fmt:"))
		n += format_has_prefix(eventformat_trim(line), "field:");
	return n;
}

static int format_parse_fields(struct arena *a, struct span *text, struct bytes *at,
			       struct sonde_schema *sc)
{
	size_t room = format_count_fields(*text), blocks = 0;
	bool was_field = false;
	struct span line;

	sc->fields = arena_array(a, room, sizeof(*sc->fields));
	if (!sc->fields)
		return err_nomem();
	while (text->at < text->end) {
		const char *start = text->at;
		struct sonde_field *f = sc->fields + sc->nr_fields;
		int err;

		eventformat_next_line(text, &line);
		at->pos = (const uint8_t *)start;
		if (format_has_prefix(line, "print fmt:")) {
			text->at = start;
			break;
		}
		line = eventformat_trim(line);
		if (line.at == line.end) {
			blocks += was_field;
			was_field = false;
			continue;
		}
		if (!format_has_prefix(line, "field:"))
			return bytes_fail(at, -EBADMSG, "event format: not a field: %.*s",
					  (int)(line.end - line.at < 60 ? line.end - line.at : 60),
					  line.at);
		err = format_parse_field(a, line, &sc->abi, f);
		if (err == -EBADMSG)
			return bytes_fail(at, err, "event format: bad field: %.*s",
					  (int)(line.end - line.at < 60 ? line.end - line.at : 60),
					  line.at);
		TRY(err);
		f->is_common = blocks == 0;
		was_field = true;
		sc->nr_fields++;
	}
	/* There is only one block: the event has no common fields, or no others. */
	if (blocks + was_field < 2)
		for (size_t i = 0; i < sc->nr_fields; i++)
			sc->fields[i].is_common = !strncmp(sc->fields[i].name, "common_", 7);
	for (size_t i = 0; i < sc->nr_fields; i++)
		sc->nr_common += sc->fields[i].is_common;
	return 0;
}

/* Reads `key` and the value up to the end of its line. */
static int format_header_line(struct span *text, struct bytes *at, const char *key,
			      struct span *ret)
{
	struct span line = { 0 };

	do {
		at->pos = (const uint8_t *)text->at;
		if (!eventformat_next_line(text, &line))
			return bytes_fail(at, -EBADMSG, "event format: \"%s\" expected, text ends",
					  key);
		line = eventformat_trim(line);
	} while (line.at == line.end);
	if (!format_has_prefix(line, key))
		return bytes_fail(at, -EBADMSG, "event format: \"%s\" expected", key);
	line.at += strlen(key);
	*ret = eventformat_trim(line);
	return 0;
}

int eventformat_parse(struct arena *a, struct bytes text, const char *system, struct abi abi,
		      struct sonde_schema **ret)
{
	struct span rest = { (const char *)text.pos, (const char *)text.end }, value;
	struct sonde_schema *sc;
	const char *nul;
	size_t len;
	char *name;

	if (!system)
		system = "";
	if (rest.at == rest.end)
		return bytes_fail(&text, -EBADMSG, "event format: empty");
	/* The length may include a terminating NUL. */
	nul = memchr(rest.at, 0, (size_t)(rest.end - rest.at));
	if (nul)
		rest.end = nul;
	sc = arena_alloc(a, sizeof(*sc));
	if (!sc)
		return err_nomem();
	sc->kind = SONDE_TRACEPOINT;
	sc->abi = abi;
	TRY(format_header_line(&rest, &text, "name:", &value));
	if (value.at == value.end)
		return bytes_fail(&text, -EBADMSG, "event format: the event has no name");
	sc->event = arena_strndup(a, value.at, (size_t)(value.end - value.at));
	sc->system = arena_strdup(a, system);
	if (!sc->event || !sc->system)
		return err_nomem();
	TRY(format_header_line(&rest, &text, "ID:", &value));
	if (!eventformat_parse_number(value, UINT32_MAX, &sc->tracepoint_id))
		return bytes_fail(&text, -EBADMSG, "event format: bad ID");
	TRY(format_header_line(&rest, &text, "format:", &value));
	TRY(format_parse_fields(a, &rest, &text, sc));

	if (rest.at < rest.end) {
		value = (struct span){ rest.at + strlen("print fmt:"), rest.end };
		while (value.end > value.at &&
		       (value.end[-1] == '\n' || eventformat_is_blank(value.end[-1])))
			value.end--;
		value = eventformat_trim(value);
		if (value.at < value.end) {
			sc->print_fmt = arena_strndup(a, value.at, (size_t)(value.end - value.at));
			if (!sc->print_fmt)
				return err_nomem();
		}
	}
	len = strlen(system) + 1 + strlen(sc->event) + 1;
	name = arena_alloc(a, len);
	if (!name)
		return err_nomem();
	strcpy(name, system);
	if (*system)
		strcat(name, ":");
	strcat(name, sc->event);
	sc->name = name;
	*ret = sc;
	return 0;
}
