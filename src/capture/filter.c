/* SPDX-License-Identifier: MIT */
#include "capture/filter.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "base/outbuf.h"
#include "formats/tracefs/eventformat.h"
#include "model/field_text.h"

/*
 *	expr = term { ("||"|"&&") term }
 *	term = "!"* ( "(" expr ")" | FIELD[.FUNCTION] OP VALUE )
 */
struct check {
	const char *start, *pos;
	const struct sonde_field *fields;
	size_t nr_fields;
	char *buf; /* the mistake found; "" if none so far */
	size_t size;
};

static void filter_skip_blanks(struct check *c)
{
	c->pos += strspn(c->pos, " \t\n");
}

#define FOUND(c, ...)                                               \
	do {                                                        \
		if (!*(c)->buf)                                     \
			snprintf((c)->buf, (c)->size, __VA_ARGS__); \
		return false;                                       \
	} while (0)

static const struct sonde_field *filter_find_field(const struct check *c, const char *name)
{
	for (size_t i = 0; i < c->nr_fields; i++)
		if (!strcmp(c->fields[i].name, name))
			return &c->fields[i];
	return NULL;
}

static bool filter_is_pseudo_field(const char *name)
{
	static const char *const names[] = { "cpu", "CPU", "comm", "COMM", "stacktrace" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool filter_takes_text(const struct sonde_field *f, const char *name)
{
	return f ? f->is_text || (f->is_pointer && strstr(f->type, "char"))
		 : !strcasecmp(name, "comm");
}

/* [-]DECIMAL, 0OCTAL or 0xHEX */
static bool filter_is_number(const char *from, const char *end)
{
	char *stop;

	from += *from == '-';
	if (!isdigit((unsigned char)*from))
		return false;
	strtoull(from, &stop, 0);
	return stop == end;
}

static bool filter_check_value(struct check *c, const struct sonde_field *f, const char *name,
			       const char *op, bool is_function)
{
	const char *from = c->pos, *end;
	bool text = filter_takes_text(f, name);

	if (*from == '"' || *from == '\'') {
		end = strchr(from + 1, *from);
		if (!end)
			FOUND(c, "the quote before %.40s is not closed", from + 1);
		c->pos = end + 1;
		if (!text)
			FOUND(c, "%s is a number, so its value takes no quotes", name);
		if (strcmp(op, "==") && strcmp(op, "!=") && strcmp(op, "~"))
			FOUND(c,
			      "%s is text: it can be compared with ==, != and ~ (a pattern with * "
			      "and ?)",
			      name);
		return true;
	}
	end = from + strcspn(from, " \t\n()&|");
	if (end == from)
		FOUND(c, "there is no value after %s %s", name, op);
	if (!strncmp(from, "CPUS{", 5)) {
		end = strchr(from, '}');
		if (!end)
			FOUND(c, "CPUS{ is not closed with }");
		c->pos = end + 1;
		return true;
	}
	if (text && f)
		FOUND(c, "%s is text: its value needs quotes, %s %s \"%.*s\"", name, name, op,
		      (int)(end - from), from);
	if (!text && !is_function && !filter_is_number(from, end))
		FOUND(c, "%.*s is not a number, but %s is", (int)(end - from), from, name);
	if (*from == '-' && f && !f->is_signed)
		FOUND(c, "%s has no sign, so it cannot be compared with %.*s", name,
		      (int)(end - from), from);
	c->pos = end;
	return true;
}

static bool filter_check_predicate(struct check *c)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">", "&", "~" };
	size_t len = 0;
	const char *op = NULL;
	const struct sonde_field *f;
	char name[NEAR_NAME], near_names[512];
	bool is_function;

	while (isalnum((unsigned char)c->pos[len]) || c->pos[len] == '_')
		len++;
	if (!len)
		FOUND(c, "a field's name is missing at '%.30s'", *c->pos ? c->pos : "the end");
	snprintf(name, sizeof(name), "%.*s", (int)len, c->pos);
	c->pos += len;
	f = filter_find_field(c, name);
	if (!f && !filter_is_pseudo_field(name)) {
		struct near near;

		near_init(&near, name);
		for (size_t i = 0; i < c->nr_fields; i++)
			near_offer(&near, c->fields[i].name);
		near_text(&near, near_names, sizeof(near_names));
		if (!*near_names)
			snprintf(near_names, sizeof(near_names), "%s", field_text_advice(name));
		FOUND(c, "there is no field %s%s", name, near_names);
	}
	is_function = !strncmp(c->pos, ".function", 9);
	if (*c->pos == '.')
		while (*c->pos == '.' || isalpha((unsigned char)*c->pos))
			c->pos++;
	filter_skip_blanks(c);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops) && !op; i++)
		if (!strncmp(c->pos, ops[i], strlen(ops[i])))
			op = ops[i];
	if (!op)
		FOUND(c,
		      "%s is followed by '%.20s'; operators are == != < <= > >= & and, for text, ~",
		      name, *c->pos ? c->pos : "nothing");
	c->pos += strlen(op);
	filter_skip_blanks(c);
	return filter_check_value(c, f, name, op, is_function);
}

static bool filter_check_expression(struct check *c, int depth)
{
	for (;;) {
		filter_skip_blanks(c);
		while (*c->pos == '!') {
			c->pos++;
			filter_skip_blanks(c);
		}
		if (*c->pos == '(') {
			if (depth > 64)
				FOUND(c, "too many parentheses");
			c->pos++;
			if (!filter_check_expression(c, depth + 1))
				return false;
			if (*c->pos != ')')
				FOUND(c, "a ')' is missing");
			c->pos++;
		} else if (!filter_check_predicate(c)) {
			return false;
		}
		filter_skip_blanks(c);
		if (strncmp(c->pos, "&&", 2) && strncmp(c->pos, "||", 2))
			break;
		c->pos += 2;
		filter_skip_blanks(c);
		if (!*c->pos)
			break; /* the kernel accepts a trailing && */
	}
	if (depth == 0 && *c->pos)
		FOUND(c,
		      *c->pos == ')' ? "there is a ')' too many before '%.20s'"
				     : "'%.40s' follows without && or ||",
		      *c->pos == ')' ? c->pos + 1 : c->pos);
	return true;
}

void filter_check(const char *filter, const struct sonde_field *fields, size_t nr_fields, char *buf,
		  size_t size)
{
	struct check c = { filter, filter, fields, nr_fields, buf, size };

	*buf = '\0';
	filter_check_expression(&c, 0);
}

static void filter_put_fields(struct outbuf *o, const struct sonde_field *fields, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		outbuf_fmt(o, "%s%s%s", i ? ", " : "", fields[i].name,
			   fields[i].is_text ? " (text)" : "");
}

int filter_explain(const struct tracefs *t, const char *system, const char *event,
		   const char *filter, int error)
{
	enum { SHOWN = 400 }; /* bytes printed of a filter, which may be as long as a page */
	struct abi abi = {
		.long_bytes = sizeof(long),
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
	};
	struct sonde_schema *sc = NULL;
	struct outbuf o = { 0 };
	struct arena arena = { 0 };
	char path[512], finding[512] = "", *text = NULL;
	size_t len;

	snprintf(path, sizeof(path), "events/%s/%s/format", system, event);
	if (tracefs_read(t, path, &text, &len) == 0 &&
	    eventformat_parse(&arena, bytes_init(text, len, 0, path, false), system, abi, &sc) ==
		    0) {
		filter_check(filter, sc->fields, sc->nr_fields, finding, sizeof(finding));
		filter_put_fields(&o, sc->fields, sc->nr_fields);
	}
	outbuf_char(&o, '\0');
	err_set(-EINVAL, "the filter '%.*s%s' does not fit %s:%s: %s", SHOWN, filter,
		strlen(filter) > SHOWN ? "..." : "", system, event,
		*finding ? finding : "the kernel refuses it");
	if (o.len > 1 && !o.failed)
		err_add(-EINVAL, "its fields: %s", o.data);
	else if (!*finding)
		err_add(-EINVAL, "%s", strerror(error));
	outbuf_done(&o);
	arena_done(&arena);
	free(text);
	return -EINVAL;
}
