/* SPDX-License-Identifier: MIT */
#include "profile/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "compat/rules.h"
#include "model/callchain.h"
#include "model/data_src.h"
#include "model/sampled.h"
#include "profile/places.h"
#include "profile/texts.h"
#include "profile/values.h"
#include "recording/locate.h"

enum { CACHE_LINE_BYTES = 64 };

/* ---- numbers of a sample --------------------------------------------------------------------- */

/*
 * The place of the data. perf looks for it only among the mappings of the mode of the code, so a
 * kernel that copies to a user's memory gets no place.
 */
static int memory_place(struct profile *p, const struct event *ev, uint64_t addr, uint32_t *ret)
{
	const uint32_t mode =
		p->rules->data_in_mode_of_code ? ev->pub.cpumode : recording_address_mode(ev, addr);
	const struct address_space *space = recording_space(ev, mode);

	return places_recent(p, ev, space ? space->stamp : 0, addr, mode, ret);
}

/* Fills what identifies the file of a mapping: perf reads a build id as device and inode. */
static void memory_note_file(const struct mapping *m, struct profile_cache_line *line)
{
	uint32_t words[3];

	line->major = m->major;
	line->minor = m->minor;
	line->inode = m->inode;
	if (!build_id_is_known(&m->build_id))
		return;
	memcpy(words, m->build_id.bytes, sizeof(words));
	line->major = (uint32_t)m->build_id.len;
	line->minor = words[0];
	line->inode = two_halves(words[2], words[1]);
}

static bool memory_is_anonymous(const struct profile_cache_line *line)
{
	return !line->major && !line->minor && !line->inode;
}

/* A cache line of a file is the same in all processes; memory without a file is that of one. */
static int memory_line(struct profile *p, const struct event *ev, uint64_t addr, uint64_t *ret)
{
	struct profile_cache_line line = { 0 };
	const struct profile_place *place;
	const struct mapping *m = NULL;
	const struct address_space *space;

	TRY(memory_place(p, ev, addr, &line.place));
	place = place_at(p, line.place);
	line.address = place->dso_addr & ~(uint64_t)(CACHE_LINE_BYTES - 1);
	space = place->cpumode == CPUMODE_USER ? recording_space(ev, CPUMODE_USER) : NULL;
	if (space)
		m = address_space_find(space, addr);
	line.has_map = place->map_bytes != 0;
	if (m) {
		memory_note_file(m, &line);
		line.is_data = m->shared && !m->executable && !memory_is_anonymous(&line);
		line.pid = memory_is_anonymous(&line) ? ev->pub.pid : 0;
	}
	return memory_copy_line(p, &line, line.place, ret);
}

int memory_copy_line(struct profile *p, const struct profile_cache_line *line, uint32_t place,
		     uint64_t *ret)
{
	const uint64_t key[4] = {
		two_halves(place, (uint32_t)line->pid),
		two_halves(line->major, line->minor),
		line->inode,
		line->is_data,
	};
	struct profile_cache_line own = *line;
	uint32_t number;
	int r = wordset_put(&p->line_keys, key, &number);

	own.place = place;
	*ret = number;
	return r > 0 ? vec_push(&p->cache_lines, own) : r;
}

int memory_raw(struct profile *p, const struct event *ev, enum profile_raw raw,
	       const struct sonde_sample *s, uint64_t *ret)
{
	const uint64_t data_src =
		s->present & SAMPLED_DATA_SRC ? s->data_src : data_src_absent(p->rules);
	uint32_t place;

	if (raw == RAW_CACHE_LINE)
		return memory_line(p, ev, s->addr, ret);
	if (raw >= RAW_LEVEL) {
		*ret = data_src_bits((enum data_src_part)(raw - RAW_LEVEL), data_src);
		return 0;
	}
	TRY(raw == RAW_DATA ? memory_place(p, ev, s->addr, &place)
			    : places_find_in_modes(p, ev, s->ip, &place));
	*ret = place;
	return 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int memory_text(struct profile *p, const char *text, struct profile_value *ret)
{
	ret->text = texts_intern(p, text);
	return ret->text ? 0 : -ENOMEM;
}

static int memory_address(struct profile *p, uint64_t addr, struct profile_value *ret)
{
	char text[32];

	ret->kind = SONDE_VALUE_ADDRESS;
	snprintf(text, sizeof(text), addr ? "0x%016" PRIx64 : "%016" PRIx64, addr);
	return memory_text(p, text, ret);
}

/* The width that perf gives the column of a symbol: room for an address after the name. */
enum { MEMORY_SYM_EXTRA = 22 };

/* A variable is shown with the distance from its start. */
int value_data_sym(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);
	char text[4096];

	(void)is_frame;
	ret->place = (uint32_t)raw + 1;
	ret->number = place->ip;
	ret->unknown = place->unknown;
	if (!place->sym)
		return memory_address(p, place->ip, ret);
	ret->width = (uint32_t)strlen(place->sym) + MEMORY_SYM_EXTRA;
	ret->long_text = ret->text = place->sym;
	if (!place->is_object)
		return 0;
	snprintf(text, sizeof(text), "%s+0x%" PRIx64, place->sym, place->sym_off);
	return memory_text(p, text, ret);
}

/*
 * The distance of a cache line from the start of its variable, which may be in the middle of the
 * line. perf subtracts an address in memory from one in the file.
 */
static int memory_distance(struct profile *p, const struct profile_cache_line *line,
			   struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, line->place);
	const uint64_t in_line = place->dso_addr - line->address;
	int64_t off = (int64_t)(place->sym_off - in_line);
	char text[4096];

	if (p->rules->cache_line_from_file)
		off = (int64_t)(line->address - (place->ip - place->sym_off));
	if (off < 0 && !p->rules->cache_line_from_file)
		snprintf(text, sizeof(text), "%s-0x%" PRIx64, place->sym, -(uint64_t)off);
	else
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, place->sym, (uint64_t)off);
	return memory_text(p, text, ret);
}

int value_cache_line(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_cache_line *line = &p->cache_lines.v[raw];
	const struct profile_place *place = place_at(p, line->place);
	const uint64_t in_line = place->dso_addr - line->address;

	(void)is_frame;
	ret->place = line->place + 1;
	ret->number = raw;
	ret->unknown = place->unknown;
	ret->level = line->is_data ? 's' : line->has_map ? 0 : 'X';
	if (!place->sym)
		return memory_address(
			p, p->rules->cache_line_from_file ? line->address : place->ip - in_line,
			ret);
	ret->width = (uint32_t)strlen(place->sym) + MEMORY_SYM_EXTRA + 1;
	ret->long_text = ret->text = place->sym;
	return place->is_object ? memory_distance(p, line, ret) : 0;
}

int value_phys(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	ret->number = raw;
	return memory_address(p, raw, ret);
}

/* perf's buffer for the words of a part. */
enum { MEMORY_WORD_BYTES = 63 };

static int memory_word(struct profile *p, enum data_src_part part, uint64_t raw,
		       struct profile_value *ret)
{
	p->text.len = 0;
	data_src_put_part(part, p->rules, raw, &p->text);
	if (p->text.failed)
		return err_nomem();
	if (p->rules->merges_words_of_access && p->text.len > MEMORY_WORD_BYTES)
		p->text.len = MEMORY_WORD_BYTES;
	outbuf_char(&p->text, '\0');
	ret->number = data_src_key(part, raw);
	return p->text.failed ? err_nomem() : memory_text(p, p->text.data, ret);
}

int value_mem_level(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	return memory_word(p, DATA_SRC_LEVEL, raw, ret);
}

int value_mem_snoop(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	return memory_word(p, DATA_SRC_SNOOP, raw, ret);
}

int value_mem_tlb(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	return memory_word(p, DATA_SRC_TLB, raw, ret);
}

int value_mem_lock(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	return memory_word(p, DATA_SRC_LOCK, raw, ret);
}

int value_mem_blocked(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	return memory_word(p, DATA_SRC_BLOCKED, raw, ret);
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* perf's levels and snoops are equal if the older bits are, whatever the newer ones say. */
static int memory_by_word(const struct profile *p, const struct profile_value *a,
			  const struct profile_value *b)
{
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return p->rules->merges_words_of_access ? 0 : strcmp(a->text, b->text);
}

static int memory_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By the file's device and inode; lines of memory without a file by process. */
static int memory_by_file(const struct profile_cache_line *x, const struct profile_cache_line *y)
{
	int r = memory_compare(x->major, y->major);

	if (!r)
		r = memory_compare(x->minor, y->minor);
	if (!r)
		r = memory_compare(x->inode, y->inode);
	return r ? r : (x->pid > y->pid) - (x->pid < y->pid);
}

/* Lines of the kernel first; those without a mapping last. */
static int memory_by_line(const struct profile *p, const struct profile_value *a,
			  const struct profile_value *b)
{
	const struct profile_cache_line *x = &p->cache_lines.v[a->number];
	const struct profile_cache_line *y = &p->cache_lines.v[b->number];
	int r = memory_compare(place_at(p, x->place)->cpumode, place_at(p, y->place)->cpumode);

	if (!r)
		r = y->has_map - x->has_map;
	if (!r)
		r = memory_by_file(x, y);
	return r ? r : memory_compare(x->address, y->address);
}

const struct value_order order_cache_line = { memory_by_line, memory_by_line };
const struct value_order order_mem_word = { memory_by_word, memory_by_word };
