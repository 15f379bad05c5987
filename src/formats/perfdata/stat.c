/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/stat.h"

#include <string.h>

#include "formats/perfdata/layout.h"
#include "formats/perfdata/writer.h"

/* The settings of STAT_CONFIG, in the order in which perf writes them. */
enum { TAG_AGGREGATION, TAG_INTERVAL, TAG_SCALE, NR_TAGS };

/* ---- reading --------------------------------------------------------------------------------- */

int perfdata_count_read(struct bytes *b, struct perfdata_count *ret)
{
	TRY(bytes_u64(b, "id", &ret->id));
	TRY(bytes_u32(b, "cpu", &ret->cpu));
	TRY(bytes_u32(b, "thread", &ret->thread));
	TRY(bytes_u64(b, "value", &ret->value));
	TRY(bytes_u64(b, "enabled", &ret->enabled_ns));
	return bytes_u64(b, "running", &ret->running_ns);
}

int perfdata_round_read(struct bytes *b, struct perfdata_round *ret)
{
	TRY(bytes_u64(b, "kind", &ret->kind));
	return bytes_u64(b, "time", &ret->time_ns);
}

/* nr x { tag, value } */
int perfdata_stat_config_read(struct bytes *b, struct perfdata_stat_config *ret)
{
	uint64_t nr = 0, tag = 0, value = 0;

	TRY(bytes_u64(b, "number of settings", &nr));
	for (uint64_t i = 0; i < nr; i++) {
		TRY(bytes_u64(b, "tag", &tag));
		TRY(bytes_u64(b, "value", &value));
		if (tag == TAG_AGGREGATION) {
			ret->aggregation = value;
			ret->has_aggregation = true;
		} else if (tag == TAG_INTERVAL) {
			ret->interval_ms = value;
		} else if (tag == TAG_SCALE) {
			ret->is_unscaled = !value;
		}
	}
	return 0;
}

/* { u64 kind | u64 id | a text, a double, or a set of cpus } */
int perfdata_update_read(struct bytes *b, struct perfdata_update *ret)
{
	uint64_t word = 0;

	TRY(bytes_u64(b, "kind", &ret->kind));
	TRY(bytes_u64(b, "id", &ret->id));
	switch (ret->kind) {
	case PERFDATA_UPDATE_UNIT:
		return bytes_cstr(b, "unit", &ret->text);
	case PERFDATA_UPDATE_NAME:
		return bytes_cstr(b, "name", &ret->text);
	case PERFDATA_UPDATE_SCALE:
		TRY(bytes_u64(b, "scale", &word));
		memcpy(&ret->scale, &word, sizeof(ret->scale));
		return 0;
	case PERFDATA_UPDATE_CPUS:
		ret->cpus = *b;
		return 0;
	default:
		return 0;
	}
}

/* nr x { u64 tid, char comm[16] } */
int perfdata_threads_read(struct bytes *b, int (*add)(void *ctx, int32_t tid, const uint8_t *comm),
			  void *ctx)
{
	uint64_t nr = 0, tid = 0;
	const uint8_t *comm = NULL;

	TRY(bytes_u64(b, "number of threads", &nr));
	for (uint64_t i = 0; i < nr; i++) {
		TRY(bytes_u64(b, "tid", &tid));
		TRY(bytes_take(b, "comm", PERFDATA_COMM_BYTES, &comm));
		TRY(add(ctx, (int32_t)tid, comm));
	}
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void stat_put_head(struct outbuf *o, uint32_t type, size_t body_bytes)
{
	const struct perfdata_record_header h = {
		.type = type,
		.size = (uint16_t)(sizeof(h) + ((body_bytes + 7) & ~(size_t)7)),
	};

	outbuf_put(o, &h, sizeof(h));
}

static void stat_put_words(struct outbuf *o, uint32_t type, const uint64_t *words, size_t nr)
{
	stat_put_head(o, type, nr * sizeof(*words));
	outbuf_put(o, words, nr * sizeof(*words));
}

void perfdata_put_count(struct outbuf *o, const struct perfdata_count *c)
{
	stat_put_head(o, RECORD_STAT, sizeof(*c));
	outbuf_put(o, c, sizeof(*c));
}
_Static_assert(sizeof(struct perfdata_count) == 40, "the body of STAT has no gaps");

void perfdata_put_round(struct outbuf *o, const struct perfdata_round *r)
{
	stat_put_words(o, RECORD_STAT_ROUND, (const uint64_t[]){ r->kind, r->time_ns }, 2);
}

void perfdata_put_stat_config(struct outbuf *o, const struct perfdata_stat_config *c)
{
	const uint64_t words[] = { NR_TAGS,        TAG_AGGREGATION, c->aggregation, TAG_INTERVAL,
				   c->interval_ms, TAG_SCALE,       !c->is_unscaled };

	stat_put_words(o, RECORD_STAT_CONFIG, words, sizeof(words) / sizeof(*words));
}

static void stat_put_update(struct outbuf *o, enum perfdata_update_kind kind, uint64_t id,
			    const void *body, size_t len)
{
	stat_put_head(o, RECORD_EVENT_UPDATE, 16 + len);
	perfdata_put_u64(o, kind);
	perfdata_put_u64(o, id);
	outbuf_put(o, body, len);
	outbuf_pad(o, '\0', -len & 7);
}

void perfdata_put_unit(struct outbuf *o, uint64_t id, const char *unit)
{
	stat_put_update(o, PERFDATA_UPDATE_UNIT, id, unit, strlen(unit) + 1);
}

void perfdata_put_scale(struct outbuf *o, uint64_t id, double scale)
{
	stat_put_update(o, PERFDATA_UPDATE_SCALE, id, &scale, sizeof(scale));
}

/* u16 kind; range: u8 any, u8 padding, u16 first, last; list: u16 nr, nr x u16 */
static void stat_put_cpus(struct outbuf *o, const int *cpus, size_t nr)
{
	enum { LIST = 0, RANGE = 2 };
	const bool is_range = cpus[0] >= 0 && cpus[nr - 1] - cpus[0] + 1 == (int)nr;
	const uint16_t head[] = { RANGE, 0, (uint16_t)cpus[0], (uint16_t)cpus[nr - 1] };

	if (is_range) {
		outbuf_put(o, head, sizeof(head));
		return;
	}
	outbuf_put(o, (const uint16_t[]){ LIST, (uint16_t)nr }, 4);
	for (size_t i = 0; i < nr; i++)
		outbuf_put(o, &(uint16_t){ (uint16_t)cpus[i] }, 2);
	outbuf_pad(o, '\0', -(4 + 2 * nr) & 7);
}

void perfdata_put_cpu_map(struct outbuf *o, const int *cpus, size_t nr)
{
	struct outbuf body = { 0 };

	stat_put_cpus(&body, cpus, nr);
	stat_put_head(o, RECORD_CPU_MAP, body.len);
	outbuf_put(o, body.data, body.len);
	o->failed |= body.failed;
	outbuf_done(&body);
}

void perfdata_put_event_cpus(struct outbuf *o, uint64_t id, const int *cpus, size_t nr)
{
	struct outbuf body = { 0 };

	stat_put_cpus(&body, cpus, nr);
	stat_put_update(o, PERFDATA_UPDATE_CPUS, id, body.data, body.len);
	o->failed |= body.failed;
	outbuf_done(&body);
}

void perfdata_put_threads(struct outbuf *o, size_t nr)
{
	stat_put_head(o, RECORD_THREAD_MAP, sizeof(uint64_t) + nr * (8 + PERFDATA_COMM_BYTES));
	perfdata_put_u64(o, nr);
}

void perfdata_put_thread(struct outbuf *o, int32_t tid, const char *comm)
{
	char name[PERFDATA_COMM_BYTES] = "";

	memcpy(name, comm, strnlen(comm, sizeof(name) - 1));
	perfdata_put_u64(o, (uint64_t)(int64_t)tid);
	outbuf_put(o, name, sizeof(name));
}
