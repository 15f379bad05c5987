/* SPDX-License-Identifier: MIT */
#include "profile/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/rules.h"
#include "model/callchain.h"
#include "profile/texts.h"

static int values_intern(struct profile *p, const char *text, const char **ret)
{
	*ret = texts_intern(p, text);
	return *ret ? 0 : -ENOMEM;
}

char value_level(uint32_t cpumode)
{
	static const char letters[] = {
		[CPUMODE_UNKNOWN] = 'H',    [CPUMODE_KERNEL] = 'k',       [CPUMODE_USER] = '.',
		[CPUMODE_HYPERVISOR] = 'H', [CPUMODE_GUEST_KERNEL] = 'g', [CPUMODE_GUEST_USER] = 'u'
	};

	return cpumode < sizeof(letters) ? letters[cpumode] : 'H';
}

/* ---- values ---------------------------------------------------------------------------------- */

int value_comm(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const uint64_t named = hash64_find(&p->first_names, raw);

	return value_text(p, named == HASH64_EMPTY ? raw : named, is_frame, ret);
}

int value_text(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	ret->text = strpool_text(&p->strings, (uint32_t)raw);
	return 0;
}

int value_pid(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_task *t = &p->tasks.v[raw];
	char text[64];

	(void)is_frame;
	ret->kind = SONDE_VALUE_NUMBER;
	ret->number = (uint64_t)(int64_t)t->tid;
	ret->long_text = strpool_text(&p->strings, t->comm);
	snprintf(text, sizeof(text), "%7d:%s", t->tid, ret->long_text);
	return values_intern(p, text, &ret->text);
}

int value_dso(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);

	(void)is_frame;
	ret->place = (uint32_t)raw + 1;
	ret->text = "[unknown]";
	if (!place->dso) {
		ret->kind = SONDE_VALUE_NONE;
		ret->unknown = place->unknown;
		return 0;
	}
	ret->text = p->dsos.v[place->dso - 1].short_name;
	ret->long_text = p->dsos.v[place->dso - 1].long_name;
	return 0;
}

int value_sym(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);
	char text[32];

	ret->place = (uint32_t)raw + 1;
	if (place->sym) {
		ret->text = ret->long_text = place->sym;
		ret->number = place->sym_start;
		return 0;
	}
	ret->kind = SONDE_VALUE_ADDRESS;
	ret->unknown = place->unknown;
	ret->number = is_frame || p->opts.branches ? place->ip : place->dso_addr;
	if (ret->number)
		snprintf(text, sizeof(text), "0x%016" PRIx64, ret->number);
	else
		snprintf(text, sizeof(text), "%016d", 0);
	return values_intern(p, text, &ret->text);
}

int value_cpu(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	char text[24];

	(void)is_frame;
	ret->kind = SONDE_VALUE_NUMBER;
	ret->number = raw;
	snprintf(text, sizeof(text), "%.3d", (int)(int64_t)raw);
	return values_intern(p, text, &ret->text);
}

int value_time(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	char text[40];

	(void)is_frame;
	ret->kind = SONDE_VALUE_NUMBER;
	ret->number = raw;
	if (p->opts.nanoseconds)
		snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64, raw / 1000000000,
			 raw % 1000000000);
	else
		snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, raw / 1000000000,
			 raw % 1000000000 / 1000);
	return values_intern(p, text, &ret->text);
}

int value_addr(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);
	char text[32];

	ret->place = (uint32_t)raw + 1;
	ret->kind = SONDE_VALUE_ADDRESS;
	ret->number = place->ip;
	if (is_frame && p->rules->maps_callers_twice)
		ret->number += place->ip - place->dso_addr;
	snprintf(text, sizeof(text), "%#" PRIx64, ret->number);
	return values_intern(p, text, &ret->text);
}

/* perf adds this column if a key's name contains the word symbol; rows are then functions. */
int value_ipc(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	TRY(value_sym(p, raw, is_frame, ret));
	ret->kind = SONDE_VALUE_NONE;
	ret->text = "-      -            ";
	return 0;
}

int value_parent(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	ret->text = "[other]";
	ret->kind = raw ? SONDE_VALUE_TEXT : SONDE_VALUE_NONE;
	ret->place = (uint32_t)raw;
	if (raw)
		ret->text = place_at(p, (uint32_t)raw - 1)->sym;
	return 0;
}

int value_socket(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	char text[24];

	(void)is_frame;
	ret->kind = raw == UINT64_MAX ? SONDE_VALUE_NONE : SONDE_VALUE_NUMBER;
	ret->number = raw;
	snprintf(text, sizeof(text), "%.3d", (int)(int64_t)raw);
	return values_intern(p, text, &ret->text);
}

/* The namespace of control groups of a sample's thread: "DEVICE/0xINODE", ordered by both. */
int value_cgroup_id(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	char *end;
	uint64_t device, inode;

	TRY(value_text(p, raw, is_frame, ret));
	device = strtoull(ret->text, &end, 10);
	inode = *end ? strtoull(end + 1, NULL, 16) : 0;
	ret->kind = device || inode ? SONDE_VALUE_TEXT : SONDE_VALUE_NONE;
	/* inodes of namespaces have 32 bits */
	ret->number = device << 32 | (uint32_t)inode;
	return 0;
}

/* The name of a place's file, without its folders unless they are wanted. */
static const char *values_file(const struct profile *p, const struct profile_place *place)
{
	const char *slash = p->opts.full_source_path ? NULL : strrchr(place->file, '/');

	return slash ? slash + 1 : place->file;
}

/*
 * True if perf looks for the line at another address than the place's, where there is none. If call
 * paths are compared by address, frames have their lines already, as do frames of copied stacks; if
 * paths are compared by line, frames that have one. The target of a branch has no address in its
 * file.
 */
static bool values_line_is_lost(const struct profile *p, const struct profile_place *place,
				bool is_frame)
{
	const bool has_chains_line = p->opts.callgraph_key == CALLGRAPH_ADDRESS ||
				     (p->opts.callgraph_key == CALLGRAPH_SRCLINE && place->file);
	const bool is_looked_up = is_frame && !has_chains_line && !place->is_unwound_line;

	return p->rules->maps_callers_twice && (is_looked_up || p->opts.branches || !place->dso);
}

/* addr: shown if neither a line nor a function is known. sym: NULL for the place's function. */
static int values_line(struct profile *p, uint64_t raw, uint64_t addr, bool is_lost,
		       const char *sym, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);
	char text[4096];

	ret->place = (uint32_t)raw + 1;
	if (place->file && !is_lost)
		snprintf(text, sizeof(text), "%s:%u", values_file(p, place), place->line);
	else if (is_lost && !place->dso)
		snprintf(text, sizeof(text), "??:0");
	else if (place->sym)
		snprintf(text, sizeof(text), "%s+%" PRIu64, sym ? sym : place->sym,
			 is_lost ? place->ip - place->sym_start : place->sym_off);
	else
		snprintf(text, sizeof(text), "%s[%" PRIx64 "]",
			 place->dso ? p->dsos.v[place->dso - 1].short_name : "[unknown]", addr);
	ret->kind = place->file ? SONDE_VALUE_TEXT : SONDE_VALUE_NONE;
	return values_intern(p, text, &ret->text);
}

/* A function without a line is shown with the distance from its start. */
int value_srcline(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);
	const bool is_lost = values_line_is_lost(p, place, is_frame);
	const bool in_memory = (is_lost && p->opts.branches) ||
			       (is_frame && p->opts.callgraph_key != CALLGRAPH_ADDRESS);

	const bool is_nameless = is_frame && p->rules->lines_of_callers_are_nameless &&
				 p->opts.callgraph_key == CALLGRAPH_ADDRESS;

	return values_line(p, raw, in_memory ? place->ip : place->dso_addr, is_lost,
			   is_nameless ? "" : NULL, ret);
}

/* The line of one end of a branch. */
int value_branch_line(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);

	(void)is_frame;
	if (place->dso)
		return values_line(p, raw, place->dso_addr, false, NULL, ret);
	ret->place = (uint32_t)raw + 1;
	ret->kind = SONDE_VALUE_NONE;
	ret->text = "??:0";
	return 0;
}

int value_srcfile(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);
	/* perf looks for the file by itself, also for frames of which it has the line. */
	const bool is_lost = values_line_is_lost(p, place, is_frame) ||
			     (is_frame && p->rules->maps_callers_twice);
	const bool has_file = place->file && strcmp(place->file, "??") != 0 && !is_lost;

	ret->place = (uint32_t)raw + 1;
	ret->kind = has_file ? SONDE_VALUE_TEXT : SONDE_VALUE_NONE;
	ret->text = has_file ? values_file(p, place) : "";
	return 0;
}

static int values_number(struct profile *p, const char *fmt, uint64_t number,
			 struct profile_value *ret)
{
	char text[40];

	ret->kind = SONDE_VALUE_NUMBER;
	ret->number = number;
	snprintf(text, sizeof(text), fmt, (unsigned long long)number);
	return values_intern(p, text, &ret->text);
}

int value_symbol_size(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);

	(void)is_frame;
	ret->place = (uint32_t)raw + 1;
	if (place->sym)
		return values_number(p, "%llu", place->sym_end - place->sym_start, ret);
	ret->kind = SONDE_VALUE_NONE;
	ret->text = "unknown";
	return 0;
}

int value_dso_size(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const uint64_t bytes = place_at(p, (uint32_t)raw)->map_bytes;
	char text[16];

	(void)is_frame;
	ret->place = (uint32_t)raw + 1;
	TRY(values_number(p, "%llu", bytes, ret));
	if (!bytes) {
		ret->kind = SONDE_VALUE_NONE;
		ret->text = "unknown";
		return 0;
	}
	if (!p->rules->map_sizes_are_ints)
		return 0;
	snprintf(text, sizeof(text), "%d", (int)bytes);
	return values_intern(p, text, &ret->text);
}

int value_decimal(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	return values_number(p, "%llu", raw, ret);
}

int value_address(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	TRY(values_number(p, "0x%llx", raw, ret));
	ret->kind = SONDE_VALUE_ADDRESS;
	return 0;
}

int value_page_size(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const bool as_perf = p->rules->page_sizes_in_units;
	char text[40];
	uint64_t v = raw;
	int unit = 0;

	(void)is_frame;
	ret->number = raw;
	ret->kind = raw ? SONDE_VALUE_NUMBER : SONDE_VALUE_NONE;
	for (; as_perf ? v / 1024 > 1 && unit < 3 : v >= 1024 && !(v % 1024); v /= 1024)
		unit++;
	snprintf(text, sizeof(text), "%" PRIu64 "%c", v, "BKMGTPE"[unit]);
	return values_intern(p, raw ? text : "N/A", &ret->text);
}

int value_transaction(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	static const char *const names[] = { "EL ",    "TX ",  "SYNC ",      "ASYNC ",
					     "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ " };
	char text[80] = "";

	(void)is_frame;
	ret->number = raw;
	for (int i = 0; i < 8; i++) {
		if (raw >> i & 1)
			strcat(text, names[i]);
	}
	if (raw && !(raw & 12))
		strcat(text, "NEITHER ");
	if (raw >> 32)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ":%" PRIx64, raw >> 32);
	return values_intern(p, text, &ret->text);
}

int value_field(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_field_value *v = &p->field_values.v[raw];

	(void)is_frame;
	ret->text = v->text;
	ret->long_text = v->bytes;
	ret->bytes_len = v->bytes_len;
	ret->width = v->width;
	return 0;
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* perf subtracts numbers and looks at the sign. */
static int values_by_number(const struct profile *p, const struct profile_value *a,
			    const struct profile_value *b)
{
	const int64_t x = (int64_t)a->number, y = (int64_t)b->number;

	(void)p;
	return (x > y) - (x < y);
}

/* The largest first. */
static int values_by_size(const struct profile *p, const struct profile_value *a,
			  const struct profile_value *b)
{
	return values_by_number(p, b, a);
}

static int values_by_text(const struct profile *p, const struct profile_value *a,
			  const struct profile_value *b)
{
	(void)p;
	return strcmp(a->text, b->text);
}

/* perf puts places without a dso last, ... */
static int values_by_dso(const struct profile *p, const struct profile_value *a,
			 const struct profile_value *b)
{
	const uint32_t x = place_at(p, a->place - 1)->dso, y = place_at(p, b->place - 1)->dso;

	if (!x || !y)
		return (x == 0) - (y == 0);
	return strcmp(p->dsos.v[x - 1].short_name, p->dsos.v[y - 1].short_name);
}

/*
 * An inlined function has the range of the function that it is in; perf takes functions of a name
 * for one also if such ranges are neighbours.
 */
static bool values_overlap(const struct profile *p, const struct profile_place *x,
			   const struct profile_place *y)
{
	const bool or_meet = p->rules->merges_by_tree;

	return x->sym_start < y->sym_end + or_meet && y->sym_start < x->sym_end + or_meet;
}

/* ... and also places without a symbol. */
static int values_by_range(const struct profile *p, const struct profile_value *a,
			   const struct profile_value *b)
{
	const struct profile_place *x = place_at(p, a->place - 1), *y = place_at(p, b->place - 1);

	if (!x->sym && !y->sym)
		return values_by_number(p, a, b);
	if (!x->sym || !y->sym)
		return (x->sym == NULL) - (y->sym == NULL);
	if (p->merged)
		return strcmp(x->sym, y->sym);
	if (x->is_inlined != y->is_inlined)
		return x->is_inlined - y->is_inlined;
	if (x->is_inlined && (strcmp(x->sym, y->sym) != 0 || values_overlap(p, x, y)))
		return strcmp(x->sym, y->sym);
	if (x->sym_start != y->sym_start)
		return (int64_t)x->sym_start < (int64_t)y->sym_start ? -1 : 1;
	return ((int64_t)x->sym_end > (int64_t)y->sym_end) -
	       ((int64_t)x->sym_end < (int64_t)y->sym_end);
}

/*
 * The dso is compared before the symbol, unless the dso is a separate key. Two places without a
 * symbol are compared by address alone, and are after all functions: equal places are neighbours in
 * this order. perf compares their dsos with those of functions, too: values_by_function().
 */
static int values_by_symbol_place(const struct profile *p, const struct profile_value *a,
				  const struct profile_value *b)
{
	const bool x = place_at(p, a->place - 1)->sym, y = place_at(p, b->place - 1)->sym;
	int r;

	if (!x && !y)
		return values_by_number(p, a, b);
	if (!x || !y)
		return y ? 1 : -1;
	r = p->has_dso ? values_by_range(p, a, b) : values_by_dso(p, a, b);
	if (r)
		return r;
	return p->has_dso ? values_by_dso(p, a, b) : values_by_range(p, a, b);
}

int values_by_function(const struct profile *p, const struct profile_value *a,
		       const struct profile_value *b)
{
	const struct profile_place *x = place_at(p, a->place - 1), *y = place_at(p, b->place - 1);
	const int64_t distance = (int64_t)(a->number - b->number); /* may wrap, as perf's */
	int r = 0;

	if (!x->sym && !y->sym)
		return (distance > 0) - (distance < 0);
	if (!p->has_dso)
		r = values_by_dso(p, a, b);
	if (r || !x->sym || !y->sym || !(x->is_inlined || y->is_inlined))
		return r ? r : values_by_range(p, a, b);
	if (strcmp(x->sym, y->sym) != 0)
		return strcmp(y->sym, x->sym);
	if (values_overlap(p, x, y))
		return 0;
	return x->sym_start < y->sym_start ? -1 : 1;
}

static int values_by_symbol(const struct profile *p, const struct profile_value *a,
			    const struct profile_value *b)
{
	const char *x = place_at(p, a->place - 1)->sym, *y = place_at(p, b->place - 1)->sym;

	if (!x || !y)
		return (x == NULL) - (y == NULL);
	return strcmp(x, y);
}

/* perf compares the bytes of fields; the largest is first. */
static int values_by_bytes(const struct profile *p, const struct profile_value *a,
			   const struct profile_value *b)
{
	const size_t len = a->bytes_len < b->bytes_len ? a->bytes_len : b->bytes_len;
	int r = memcmp(b->long_text, a->long_text, len);

	(void)p;
	return r ? r : (a->bytes_len < b->bytes_len) - (a->bytes_len > b->bytes_len);
}

/* Samples without a parent are last. */
static int values_by_parent(const struct profile *p, const struct profile_value *a,
			    const struct profile_value *b)
{
	if (!a->place || !b->place)
		return (a->place == 0) - (b->place == 0);
	return values_by_text(p, a, b);
}

const struct value_order order_text = { values_by_text, values_by_text };
const struct value_order order_number = { values_by_number, values_by_number };
const struct value_order order_size = { values_by_size, values_by_size };
const struct value_order order_dso = { values_by_dso, values_by_dso };
const struct value_order order_sym = { values_by_symbol_place, values_by_symbol };
const struct value_order order_ipc = { values_by_symbol_place, values_by_symbol_place };
const struct value_order order_field = { values_by_bytes, values_by_bytes };
const struct value_order order_parent = { values_by_parent, values_by_parent };
