/* SPDX-License-Identifier: MIT */
/* The members of an event's line: fields, sample values, places in code. */
#include <linux/perf_event.h>

#include "code.h"
#include "model/value.h"
#include "session.h"
#include "sinks/jsonl/json.h"
#include "sinks/jsonl/jsonl.h"

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static void put_array(const struct sonde_field *f, const uint8_t *p, uint32_t len, bool swap,
		      struct outbuf *out)
{
	uint32_t width = f->elem_width;

	outbuf_char(out, '[');
	for (uint32_t at = 0; at + width <= len; at += width) {
		uint64_t v = value_u64(p + at, width, swap);

		if (at)
			outbuf_char(out, ',');
		if (f->is_signed)
			json_i64(out, value_sign_extend(v, width));
		else
			json_u64(out, v);
	}
	outbuf_char(out, ']');
}

static bool is_number_width(uint32_t width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

static void put_field(const struct sonde_field *f, const struct sonde_event *ev, struct outbuf *out)
{
	bool swap = ev->flags & SONDE_EVENT_SWAPPED;
	const uint8_t *p;
	uint32_t len;

	if (f->kind == SONDE_FIELD_INT && is_number_width(f->width)) {
		uint64_t v = field_u64(f, ev->bytes, ev->bytes_len, swap);

		if (f->is_signed)
			json_i64(out, value_sign_extend(v, f->width));
		else
			json_u64(out, v);
		return;
	}
	p = field_bytes(f, ev->bytes, ev->bytes_len, swap, &len);
	if (!p)
		outbuf_put(out, "null", 4);
	else if (f->kind == SONDE_FIELD_STRING)
		json_string(out, p, strnlen((const char *)p, len));
	else if (f->kind == SONDE_FIELD_ARRAY && is_number_width(f->elem_width))
		put_array(f, p, len, swap, out);
	else
		json_hex(out, p, len);
}

void jsonl_fields_put(const struct jsonl_type *type, const struct event *ev, struct outbuf *out)
{
	const struct sonde_schema *sc = ev->schema;
	bool first = true;

	outbuf_put(out, ",\"fields\":{", 11);
	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct jsonl_text *key = &type->keys[i];

		if (!key->text)
			continue;
		outbuf_put(out, key->text + first, key->len - first);
		first = false;
		put_field(&sc->fields[i], &ev->pub, out);
	}
	outbuf_char(out, '}');
}

/* ---- sample values ----------------------------------------------------------------------------------------------- */

static void put_registers(struct outbuf *out, uint64_t abi, uint64_t mask, const uint64_t *values)
{
	unsigned nr = abi && values ? (unsigned)__builtin_popcountll(mask) : 0;

	outbuf_put(out, "{\"abi\":", 7);
	json_u64(out, abi);
	json_member_u64(out, "mask", mask);
	outbuf_str(out, ",\"values\":[");
	for (unsigned i = 0; i < nr; i++) {
		if (i)
			outbuf_char(out, ',');
		json_u64(out, values[i]);
	}
	outbuf_str(out, "]}");
}

static void put_reads(struct outbuf *out, const struct sonde_sample *s)
{
	if (s->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		json_member_u64(out, "time_enabled", s->time_enabled_ns);
	if (s->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		json_member_u64(out, "time_running", s->time_running_ns);
	outbuf_str(out, ",\"reads\":[");
	for (uint32_t i = 0; i < s->nr_reads; i++) {
		outbuf_str(out, i ? ",{\"value\":" : "{\"value\":");
		json_u64(out, s->reads[i].value);
		if (s->read_format & PERF_FORMAT_ID)
			json_member_u64(out, "id", s->reads[i].id);
		if (s->read_format & PERF_FORMAT_LOST)
			json_member_u64(out, "lost", s->reads[i].lost);
		outbuf_char(out, '}');
	}
	outbuf_char(out, ']');
}

static void put_branches(struct outbuf *out, const struct sonde_sample *s)
{
	outbuf_str(out, ",\"branches\":[");
	for (uint64_t i = 0; i < s->nr_branches; i++) {
		outbuf_str(out, i ? ",{\"from\":" : "{\"from\":");
		json_u64(out, s->branches[i].from);
		json_member_u64(out, "to", s->branches[i].to);
		json_member_u64(out, "flags", s->branches[i].flags);
		outbuf_char(out, '}');
	}
	outbuf_char(out, ']');
}

void jsonl_sample_put(const struct event *ev, const struct sonde_sample *s, struct outbuf *out)
{
	uint64_t has = s->present;
	size_t start;

	outbuf_put(out, ",\"sample\":", 10);
	start = out->len;
#define NUMBER(bit, name, value) \
	if (has & (bit))         \
	json_member_u64(out, name, value)
	NUMBER(PERF_SAMPLE_PERIOD, "period", s->period);
	NUMBER(PERF_SAMPLE_IP, "ip", s->ip);
	NUMBER(PERF_SAMPLE_ADDR, "addr", s->addr);
	NUMBER(PERF_SAMPLE_WEIGHT_TYPE, "weight", s->weight);
	NUMBER(PERF_SAMPLE_DATA_SRC, "data_src", s->data_src);
	NUMBER(PERF_SAMPLE_TRANSACTION, "transaction", s->transaction);
	NUMBER(PERF_SAMPLE_PHYS_ADDR, "phys_addr", s->phys_addr);
	NUMBER(PERF_SAMPLE_CGROUP, "cgroup", s->cgroup);
	NUMBER(PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size", s->data_page_size);
	NUMBER(PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size", s->code_page_size);
#undef NUMBER
	if (has & PERF_SAMPLE_READ)
		put_reads(out, s);
	if (has & PERF_SAMPLE_BRANCH_STACK)
		put_branches(out, s);
	if (has & PERF_SAMPLE_REGS_INTR) {
		outbuf_str(out, ",\"intr_regs\":");
		put_registers(out, s->intr_regs_abi, s->intr_regs_mask, s->intr_regs);
	}
	if (has & PERF_SAMPLE_REGS_USER) {
		outbuf_str(out, ",\"user_regs\":");
		put_registers(out, s->user_regs_abi, s->user_regs_mask, s->user_regs);
	}
	if (has & PERF_SAMPLE_STACK_USER)
		json_member_u64(out, "user_stack_bytes", s->user_stack_len);
	if (out->failed)
		return;
	if (out->len == start) /* nothing of all this */
		outbuf_char(out, '{');
	else
		out->data[start] = '{'; /* in place of the first comma */
	outbuf_char(out, '}');
}

/* ---- places in code ---------------------------------------------------------------------------------------------- */

static void put_frame(const struct event *ev, const struct sonde_frame *f, struct outbuf *out)
{
	struct sonde_location loc;

	outbuf_put(out, "{\"ip\":", 6);
	json_u64(out, f->ip);
	if (sonde_event_locate(&ev->pub, f->ip, f->cpumode, &loc) < 0)
		loc = (struct sonde_location){ .size = sizeof(loc) };
	if (f->sym) {
		json_member_text(out, "sym", f->sym);
	} else if (loc.sym) {
		json_member_text(out, "sym", loc.sym);
		json_member_u64(out, "off", loc.sym_off);
	}
	if (loc.dso)
		json_member_text(out, "dso", loc.dso);
	if (f->file) {
		json_member_text(out, "file", f->file);
		json_member_u64(out, "line", f->line);
	}
	if (f->flags & SONDE_FRAME_INLINED)
		outbuf_str(out, ",\"inlined\":true");
	outbuf_char(out, '}');
}

void jsonl_place_put(const struct event *ev, uint64_t ip, struct outbuf *out)
{
	outbuf_put(out, ",\"at\":", 6);
	put_frame(ev, &(struct sonde_frame){ .ip = ip, .cpumode = ev->pub.cpumode }, out);
}

/* --stop-bt: the chain ends with this frame. */
static bool is_last(const struct event *ev, const struct sonde_frame *f)
{
	const char *name = f->sym;
	struct sonde_location loc;

	if (!ev->session->stop_bt.comms)
		return false;
	if (!name && sonde_event_locate(&ev->pub, f->ip, f->cpumode, &loc) >= 0)
		name = loc.sym;
	return name && session_stops_chain(ev->session, name);
}

void jsonl_chain_put(const struct event *ev, struct outbuf *out)
{
	const struct sonde_frame *frames = NULL;
	int nr = session_chain(ev, &frames);

	outbuf_str(out, ",\"chain\":[");
	for (int i = 0; i < nr; i++) {
		if (i)
			outbuf_char(out, ',');
		put_frame(ev, &frames[i], out);
		if (is_last(ev, &frames[i]))
			break;
	}
	outbuf_char(out, ']');
}
