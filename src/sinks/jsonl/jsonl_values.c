/* SPDX-License-Identifier: MIT */
/* Writes the members of an event's line: fields, sample values, places in code. */
#include <string.h>

#include "model/sampled.h"
#include "model/value.h"
#include "recording/code.h"
#include "recording/locate.h"
#include "sinks/jsonl/jsonl.h"

/* ---- fields ---------------------------------------------------------------------------------- */

static void values_put_array(const struct sonde_field *f, const uint8_t *p, uint32_t len, bool swap,
			     struct json *j)
{
	uint32_t width = f->elem_width;

	json_array(j);
	for (uint32_t at = 0; at + width <= len; at += width) {
		uint64_t v = value_u64(p + at, width, swap);

		if (f->is_signed)
			json_i64(j, value_sign_extend(v, width));
		else
			json_u64(j, v);
	}
	json_end(j);
}

static void value_put(const struct sonde_field *f, const struct sonde_event *ev, bool swap,
		      struct json *j);

static void values_put_members(const struct sonde_field *f, const struct sonde_event *ev, bool swap,
			       struct json *j)
{
	json_object(j);
	for (uint32_t i = 0; i < f->nr_fields; i++) {
		json_name(j, f->fields[i].name, strlen(f->fields[i].name));
		value_put(&f->fields[i], ev, swap, j);
	}
	json_end(j);
}

static void values_put_number(const struct sonde_field *f, uint64_t v, struct json *j)
{
	if (f->is_signed)
		json_i64(j, (int64_t)field_sign_extend(f, v));
	else
		json_u64(j, v);
}

static void values_put_labelled(const struct sonde_field *f, uint64_t v, struct json *j)
{
	const char *label = field_label(f, v);

	json_object(j);
	json_literal_name(j, "value");
	values_put_number(f, v, j);
	json_literal_name(j, "label");
	if (label)
		json_text(j, label);
	else
		json_null(j);
	json_end(j);
}

static bool values_is_number(const struct sonde_field *f)
{
	return (f->kind == SONDE_FIELD_INT && value_has_width(f->width)) ||
	       f->kind == SONDE_FIELD_ENUM || f->kind == SONDE_FIELD_BITS ||
	       f->kind == SONDE_FIELD_FLOAT;
}

/* Writes a field's value after its name. */
static void value_put(const struct sonde_field *f, const struct sonde_event *ev, bool swap,
		      struct json *j)
{
	uint32_t len;
	const uint8_t *p = field_bytes(f, ev->bytes, ev->bytes_len, swap, &len);

	if (!p || (values_is_number(f) && len < f->width))
		json_null(j);
	else if (f->kind == SONDE_FIELD_NESTED)
		values_put_members(f, ev, swap, j);
	else if (f->kind == SONDE_FIELD_FLOAT)
		json_double(j, field_double(f, ev->bytes, ev->bytes_len, swap));
	else if (f->kind == SONDE_FIELD_ENUM)
		values_put_labelled(f, field_number(f, ev->bytes, ev->bytes_len, swap), j);
	else if (values_is_number(f))
		values_put_number(f, field_number(f, ev->bytes, ev->bytes_len, swap), j);
	else if (f->kind == SONDE_FIELD_STRING)
		json_string(j, p, strnlen((const char *)p, len));
	else if (f->kind == SONDE_FIELD_ARRAY && value_has_width(f->elem_width))
		values_put_array(f, p, len, field_swap(f, swap), j);
	else
		json_hex(j, p, len);
}

void jsonl_fields_put(const struct jsonl_type *type, const struct event *ev, struct json *j)
{
	const struct sonde_schema *sc = ev->schema;
	const bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;

	json_member_object(j, "fields");
	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];
		const struct json_piece *name = &type->names[i];
		uint64_t v;

		if (!name->text)
			continue;
		if (!type->is_plain[i]) {
			json_name_piece(j, name);
			value_put(f, &ev->pub, swap, j);
			continue;
		}
		v = field_u64(f, ev->pub.bytes, ev->pub.bytes_len, swap);
		if (f->is_signed)
			json_i64_piece(j, name, value_sign_extend(v, f->width));
		else
			json_u64_piece(j, name, v);
	}
	json_end(j);
}

/* ---- sample values --------------------------------------------------------------------------- */

static void values_put_registers(struct json *j, uint64_t abi, uint64_t mask,
				 const uint64_t *values)
{
	unsigned nr = abi && values ? (unsigned)__builtin_popcountll(mask) : 0;

	json_object(j);
	json_member_u64(j, "abi", abi);
	json_member_u64(j, "mask", mask);
	json_member_array(j, "values");
	for (unsigned i = 0; i < nr; i++)
		json_u64(j, values[i]);
	json_end(j);
	json_end(j);
}

static void values_put_reads(struct json *j, const struct sonde_sample *s)
{
	if (s->read_format & READ_TIME_ENABLED)
		json_member_u64(j, "time_enabled", s->time_enabled_ns);
	if (s->read_format & READ_TIME_RUNNING)
		json_member_u64(j, "time_running", s->time_running_ns);
	json_member_array(j, "reads");
	for (uint32_t i = 0; i < s->nr_reads; i++) {
		json_object(j);
		json_member_u64(j, "value", s->reads[i].value);
		if (s->read_format & READ_ID)
			json_member_u64(j, "id", s->reads[i].id);
		if (s->read_format & READ_LOST)
			json_member_u64(j, "lost", s->reads[i].lost);
		json_end(j);
	}
	json_end(j);
}

static void values_put_branches(struct json *j, const struct sonde_sample *s)
{
	json_member_array(j, "branches");
	for (uint64_t i = 0; i < s->nr_branches; i++) {
		json_object(j);
		json_member_u64(j, "from", s->branches[i].from);
		json_member_u64(j, "to", s->branches[i].to);
		json_member_u64(j, "flags", s->branches[i].flags);
		json_end(j);
	}
	json_end(j);
}

void jsonl_sample_put(const struct event *ev, const struct sonde_sample *s, struct json *j)
{
	uint64_t has = s->present;

	json_member_object(j, "sample");
#define NUMBER(bit, name, value) \
	if (has & (bit))         \
	json_member_u64(j, name, value)
	NUMBER(SAMPLED_PERIOD, "period", s->period);
	NUMBER(SAMPLED_IP, "ip", s->ip);
	NUMBER(SAMPLED_ADDR, "addr", s->addr);
	NUMBER(SAMPLED_WEIGHTS, "weight", s->weight);
	NUMBER(SAMPLED_DATA_SRC, "data_src", s->data_src);
	NUMBER(SAMPLED_TRANSACTION, "transaction", s->transaction);
	NUMBER(SAMPLED_PHYS_ADDR, "phys_addr", s->phys_addr);
	NUMBER(SAMPLED_CGROUP, "cgroup", s->cgroup);
	NUMBER(SAMPLED_DATA_PAGE_SIZE, "data_page_size", s->data_page_size);
	NUMBER(SAMPLED_CODE_PAGE_SIZE, "code_page_size", s->code_page_size);
#undef NUMBER
	if (has & SAMPLED_READ)
		values_put_reads(j, s);
	if (has & SAMPLED_BRANCH_STACK)
		values_put_branches(j, s);
	if (has & SAMPLED_REGS_INTR) {
		json_literal_name(j, "intr_regs");
		values_put_registers(j, s->intr_regs_abi, s->intr_regs_mask, s->intr_regs);
	}
	if (has & SAMPLED_REGS_USER) {
		json_literal_name(j, "user_regs");
		values_put_registers(j, s->user_regs_abi, s->user_regs_mask, s->user_regs);
	}
	if (has & SAMPLED_STACK_USER)
		json_member_u64(j, "user_stack_bytes", s->user_stack_len);
	json_end(j);
}

/* ---- places in code -------------------------------------------------------------------------- */

static void values_put_frame(const struct event *ev, const struct sonde_frame *f, struct json *j)
{
	const struct sonde_location loc = *recording_located(ev, f->ip, f->cpumode);

	json_object(j);
	json_member_u64(j, "ip", f->ip);
	if (f->sym) {
		json_member_text(j, "sym", f->sym);
	} else if (loc.sym) {
		json_member_text(j, "sym", loc.sym);
		json_member_u64(j, "off", loc.sym_off);
	}
	if (loc.dso)
		json_member_text(j, "dso", loc.dso);
	if (f->file) {
		json_member_text(j, "file", f->file);
		json_member_u64(j, "line", f->line);
	}
	if (f->flags & SONDE_FRAME_INLINED)
		json_member_bool(j, "inlined", true);
	json_end(j);
}

void jsonl_place_put(const struct event *ev, uint64_t ip, struct json *j)
{
	json_literal_name(j, "at");
	values_put_frame(ev, &(struct sonde_frame){ .ip = ip, .cpumode = ev->pub.cpumode }, j);
}

/* True if the chain ends with this frame (--stop-bt). */
static bool values_is_last(const struct event *ev, const struct sonde_frame *f)
{
	const char *name = f->sym;

	if (!ev->recording->opts->stop_bt.comms)
		return false;
	if (!name)
		name = recording_located(ev, f->ip, f->cpumode)->sym;
	return name && recording_stops_chain(ev->recording, name);
}

void jsonl_chain_put(const struct event *ev, struct json *j)
{
	const struct sonde_frame *frames = NULL;
	int nr = recording_chain(ev, &frames);

	json_member_array(j, "chain");
	for (int i = 0; i < nr; i++) {
		values_put_frame(ev, &frames[i], j);
		if (values_is_last(ev, &frames[i]))
			break;
	}
	json_end(j);
}
