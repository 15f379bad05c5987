/* SPDX-License-Identifier: MIT */
#include "sinks/text/line.h"

#include "base/err.h"
#include "model/sampled.h"
#include "recording/recording.h"
#include "sinks/text/terminal.h"

#define ODD_HEAD (TEXT_MACHINE_PID | TEXT_VCPU | TEXT_MISC | TEXT_TOD)
#define TAIL                                                                                     \
	(TEXT_SYNTH | TEXT_ADDR | TEXT_DATA_SRC | TEXT_WEIGHT | TEXT_INS_LAT | TEXT_RETIRE_LAT | \
	 TEXT_CGROUP | TEXT_IP | TEXT_IREGS | TEXT_UREGS | TEXT_BRSTACK | TEXT_BRSTACKSYM |      \
	 TEXT_BRSTACKOFF | TEXT_BPF_OUTPUT | TEXT_INSNLEN | TEXT_INSN | TEXT_DISASM |            \
	 TEXT_BRSTACKINSN | TEXT_BRSTACKINSNLEN | TEXT_BRSTACKDISASM | TEXT_BRCNTR |             \
	 TEXT_PHYS_ADDR | TEXT_DATA_PAGE_SIZE | TEXT_CODE_PAGE_SIZE | TEXT_IPC | TEXT_SRCCODE |  \
	 TEXT_METRIC)

#define BOLD  "\x1b[1m"
#define PLAIN "\x1b[0m"

/*
 * True for branches of a hardware trace. perf checks one bit only. The default checks more, because
 * other events also have that bit.
 */
static bool line_is_branch(const struct text_sink *s, const struct sonde_schema *sc)
{
	return sc->traits & (s->rules->branches_by_bit ? SCHEMA_LIKE_BRANCH : SCHEMA_BRANCH);
}

/* Types without recorded events do not count, as far as that is known. */
static unsigned line_longest_name(const struct schema_table *schemas)
{
	const struct sonde_schema *sc;
	size_t width = 0, unseen = 0;

	for (uint32_t id = 0; (sc = schema_at(schemas, id)) != NULL; id++) {
		size_t len = strlen(sc->name), *longest = sc->is_unseen ? &unseen : &width;

		if (sc->kind <= SONDE_SAMPLE && len > *longest)
			*longest = len;
	}
	return (unsigned)(width ? width : unseen);
}

/* Makes `name: ` with name_width + 2 characters, padded to the size in which it is copied. */
static int line_make_name(struct text_sink *s, const struct sonde_schema *sc, struct line *line)
{
	size_t len = strlen(sc->name), room;
	struct outbuf b = { 0 };
	char *text = NULL;

	outbuf_pad(&b, ' ', s->name_width > len ? s->name_width - len : 0);
	outbuf_str(&b, s->color ? BOLD : "");
	outbuf_str(&b, sc->name);
	if (s->terminal)
		text_terminal_quiet(&b, b.len - len, false);
	outbuf_str(&b, s->color ? PLAIN ": " : ": ");
	room = (b.len + COPY_BYTES - 1) / COPY_BYTES * COPY_BYTES;
	if (room < NAME_COPY_BYTES)
		room = NAME_COPY_BYTES;
	if (!b.failed && room <= UINT32_MAX)
		text = arena_alloc(&s->arena, room);
	if (text) {
		memcpy(text, b.data, b.len);
		line->name = text;
		line->name_len = (uint32_t)b.len;
		line->name_room = (uint32_t)room;
	}
	outbuf_done(&b);
	return text ? 0 : err_nomem();
}

/* Sets the parts of a type's line that do not depend on columns. */
static int line_make(struct text_sink *s, const struct sonde_schema *sc, struct line *line)
{
	uint64_t bits = sc->sampled;

	TRY(text_fields_meet(&s->fields, &s->recording, sc));
	line->has_chain = s->fields.callchain && bits & SAMPLED_CALLCHAIN;
	line->weight_struct = bits & SAMPLED_WEIGHT_STRUCT;
	line->addr_has_names = sc->traits & SCHEMA_ADDR_IN_TASK;
	line->is_bpf_output = sc->traits & SCHEMA_BPF_OUTPUT;
	line->is_branch = line_is_branch(s, sc);
	line->samples_addr = bits & SAMPLED_ADDR;
	line->addr_has_names |= line->is_branch;
	return line_make_name(s, sc, line);
}

/* Sets the parts of a type's line that follow from its columns. */
static void line_settle_class(const struct text_sink *s, const struct text_class_fields *c,
			      struct line *line)
{
	uint64_t tail = line->fields & TAIL;

	/* A default column that only one kind of event uses. */
	if (!line->is_bpf_output)
		tail &= ~TEXT_BPF_OUTPUT;
	line->bare_comm = line->has_chain && line->fields & TEXT_IP;
	line->odd_head = line->fields & ODD_HEAD || s->latency || s->times;
	line->branch_addr = line->fields & TEXT_ADDR || (line->samples_addr && !c->chosen);
	line->has_tail = tail || line->is_branch;
	line->needs_sample = line->fields & TEXT_PERIOD || tail & ~TEXT_IP || line->is_branch ||
			     (line->fields & TEXT_IP && !line->has_chain);
}

/*
 * Settles the columns of types after all types known at the start were met, because their classes
 * influence each other.
 */
static int line_settle(struct text_sink *s)
{
	for (uint32_t id = 0; id < s->lines.n; id++) {
		const struct sonde_schema *sc = schema_at(&s->recordings->schemas, id);
		struct line *line = &s->lines.v[id];

		if (sc && sc->kind <= SONDE_SAMPLE) {
			const struct text_class_fields *c = &s->fields.classes[sc->event_class];

			line->fields = text_fields_of(&s->fields, &s->recording, sc);
			if (s->fields.flags && line->fields)
				line->fields |= TEXT_FLAGS;
			line_settle_class(s, c, line);
		}
	}
	return text_fields_met_all(&s->fields, &s->recording);
}

int text_lines_meet(struct text_sink *s, uint32_t schema)
{
	if (!s->name_width)
		s->name_width = line_longest_name(&s->recordings->schemas);
	for (uint32_t id = (uint32_t)s->lines.n; id <= schema; id++)
		s->recording.traits |= schema_at(&s->recordings->schemas, id)->traits;
	for (uint32_t id = (uint32_t)s->lines.n; id <= schema; id++) {
		const struct sonde_schema *sc = schema_at(&s->recordings->schemas, id);
		struct line line = { 0 };

		if (sc->kind <= SONDE_SAMPLE)
			TRY(line_make(s, sc, &line));
		TRY(vec_push(&s->lines, line));
		TRY(s->provider_ops->schema(s->provider, sc));
	}
	return line_settle(s);
}
