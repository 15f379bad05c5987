/* SPDX-License-Identifier: MIT */
/* sonde.h: questions about one event. */

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "model/value.h"
#include "session.h"

/* Entries of a call chain at or above this are markers (PERF_CONTEXT_MAX). */
#define FIRST_CHAIN_MARKER ((uint64_t)-4095)

static bool is_swapped(const struct sonde_event *ev)
{
	return ev->flags & SONDE_EVENT_SWAPPED;
}

struct sonde_session *sonde_event_session(const struct sonde_event *ev)
{
	return event_of(ev)->session;
}

struct sonde_event *sonde_event_dup(const struct sonde_event *pub)
{
	const struct event *ev = event_of(pub);
	struct address_space *space = ev->space;
	struct event *dup;
	uint8_t *bytes;

	/* The record, and the payload where it is not part of it (defects). */
	bool inside = pub->record && pub->bytes >= pub->record && pub->bytes <= pub->record + pub->record_len;
	size_t len = inside ? pub->record_len : pub->bytes_len;

	dup = malloc(sizeof(*dup) + len);
	if (!dup) {
		err_nomem();
		return NULL;
	}
	bytes = (uint8_t *)(dup + 1);
	*dup = *ev;
	memcpy(bytes, inside ? pub->record : pub->bytes, len);
	dup->pub.bytes = inside ? bytes + (pub->bytes - pub->record) : bytes;
	dup->pub.record = inside ? bytes : NULL;
	if (!inside)
		dup->pub.record_len = 0;
	dup->change = (struct change){ 0 };
	if (!ev->owned)
		space = state_space(&ev->session->state, pub->pid);
	dup->space = space ? address_space_ref(space) : NULL;
	dup->owned = true;
	session_ref(ev->session);
	return &dup->pub;
}

void sonde_event_free(struct sonde_event *pub)
{
	struct event *ev = (struct event *)pub;

	if (!ev || !ev->owned)
		return;
	address_space_unref(ev->space);
	session_unref(ev->session);
	free(ev);
}

uint64_t sonde_event_u64(const struct sonde_event *ev, const struct sonde_field *f)
{
	return field_u64(f, ev->bytes, ev->bytes_len, is_swapped(ev));
}

int64_t sonde_event_i64(const struct sonde_event *ev, const struct sonde_field *f)
{
	uint64_t v = field_u64(f, ev->bytes, ev->bytes_len, is_swapped(ev));

	return f->is_signed ? value_sign_extend(v, f->width) : (int64_t)v;
}

const uint8_t *sonde_event_bytes(const struct sonde_event *ev, const struct sonde_field *f, size_t *ret_len)
{
	uint32_t len;
	const uint8_t *p = field_bytes(f, ev->bytes, ev->bytes_len, is_swapped(ev), &len);

	*ret_len = len;
	return p;
}

int sonde_event_sample(const struct sonde_event *pub, struct sonde_sample *ret)
{
	const struct event *ev = event_of(pub);

	if (ev->schema->kind > SONDE_SAMPLE)
		return err_set(-ENODATA, "%s is not a sample", ev->schema->name);
	return ev->source->ops->sample(ev->source, ev, ret);
}

static uint32_t marker_cpumode(uint64_t marker, uint32_t before)
{
	switch ((int64_t)marker) {
	case -32:
		return 3;
	case -128:
		return 1;
	case -512:
	case -640:
		return 2;
	case -2176:
		return 4;
	case -2560:
		return 5;
	default:
		return before;
	}
}

int sonde_event_callchain(const struct sonde_event *pub, const struct sonde_frame **ret)
{
	const struct event *ev = event_of(pub);
	struct sonde_session *s = ev->session;
	const uint8_t *chain = NULL;
	uint32_t cpumode = pub->cpumode;
	int n = s->opts.callchain ? ev->source->ops->callchain(ev->source, ev, &chain) : 0;

	vec_clear(&s->frames);
	*ret = s->frames.v;
	if (n <= 0)
		return n;
	TRY(vec_reserve(&s->frames, n));
	for (int i = 0; i < n; i++) {
		uint64_t ip = get_u64(chain + 8 * i, is_swapped(pub));

		if (ip >= FIRST_CHAIN_MARKER) {
			cpumode = marker_cpumode(ip, cpumode);
			continue;
		}
		s->frames.v[s->frames.n++] = (struct sonde_frame){ .ip = ip, .cpumode = cpumode };
	}
	*ret = s->frames.v;
	return (int)s->frames.n;
}

/* ---- symbols ---- */

/*
 * The mapping of the kernel's text is called "[kernel.kallsyms]_text": behind the bracket the symbol by which the recorder
 * measured it, whose address then is its pgoff. Symbols of another boot are moved by it.
 */
static void find_reference(struct sonde_session *s, struct kernel_symbols_options *opts)
{
	static const char prefix[] = "[kernel.kallsyms]";

	if (!s->state.kernel)
		return;
	vec_foreach(m, &s->state.kernel->maps) {
		const char *name = strpool_text(&s->strings, m->name);

		if (!strncmp(name, prefix, strlen(prefix)) && name[strlen(prefix)]) {
			opts->ref_symbol = name + strlen(prefix);
			opts->ref_addr = m->pgoff;
			return;
		}
	}
}

static void open_kernel_symbols(struct sonde_session *s)
{
	struct source_kernel k = { 0 };
	struct kernel_symbols_options opts = { .kallsyms_path = s->opts.kallsyms,
					       .buildid_dir = s->opts.buildid_dir,
					       .compat = s->opts.compat };

	s->kernel_symbols_tried = true;
	s->source->ops->kernel(s->source, &k);
	opts.build_id = k.build_id;
	opts.build_id_len = k.build_id_len;
	opts.recorded = k.kallsyms;
	opts.recorded_len = k.kallsyms_len;
	find_reference(s, &opts);
	if (kernel_symbols_open(&s->kernel_symbols, &opts) < 0)
		s->kernel_symbols = NULL;
}

const struct kernel_symbol *session_kernel_symbol_at(struct sonde_session *s, uint64_t addr)
{
	const struct kernel_symbol *sym;

	if (!s->kernel_symbols_tried)
		open_kernel_symbols(s);
	sym = s->kernel_symbols ? kallsyms_find(s->kernel_symbols, addr) : NULL;
	/* perf knows no symbols of modules that are none (trampolines made at run time) */
	if (sym && s->opts.compat && !strncmp(sym->module, "[__builtin__", 12))
		return NULL;
	return sym;
}

const char *session_kernel_symbol(struct sonde_session *s, uint64_t addr, uint64_t *ret_off)
{
	const struct kernel_symbol *sym = session_kernel_symbol_at(s, addr);

	if (!sym)
		return NULL;
	*ret_off = addr - sym->start;
	return sym->name;
}

static const char *build_id_text(struct sonde_session *s, const struct mapping *m)
{
	char hex[2 * sizeof(m->build_id)];
	uint32_t id;

	for (unsigned i = 0; i < m->build_id_len; i++) {
		hex[2 * i] = "0123456789abcdef"[m->build_id[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[m->build_id[i] & 15];
	}
	if (strpool_intern(&s->strings, hex, 2u * m->build_id_len, &id) < 0)
		return "";
	return strpool_text(&s->strings, id);
}

int sonde_event_locate(const struct sonde_event *pub, uint64_t addr, uint32_t cpumode, struct sonde_location *ret)
{
	const struct event *ev = event_of(pub);
	struct sonde_session *s = ev->session;
	bool kernel = cpumode == 1 || cpumode == 4;
	struct address_space *space = kernel	  ? s->state.kernel
				      : ev->owned ? ev->space
						  : state_space(&s->state, pub->pid);
	const struct mapping *m = space ? address_space_find(space, addr) : NULL;
	const struct kernel_symbol *sym = NULL;

	*ret = (struct sonde_location){ .size = sizeof(*ret), .addr = addr, .dso_build_id = "" };
	if (m) {
		const char *name = strpool_text(&s->strings, m->name);

		/* "[kernel.kallsyms]_text": the suffix is the symbol that the map was measured by. */
		ret->dso = kernel && !strncmp(name, "[kernel.kallsyms]", 17) ? "[kernel.kallsyms]" : name;
		ret->map_start = m->start;
		ret->map_end = m->end;
		ret->map_pgoff = m->pgoff;
		ret->dso_build_id = build_id_text(s, m);
	}
	if (kernel)
		sym = session_kernel_symbol_at(s, addr);
	if (sym) {
		if (!ret->dso)
			ret->dso = *sym->module ? sym->module : "[kernel.kallsyms]";
		ret->sym = sym->name;
		ret->sym_start = sym->start;
		ret->sym_end = sym->end;
		ret->sym_binding = sym->binding;
		ret->sym_off = addr - sym->start;
	}
	return 0;
}

/* ---- text ---- */

static const char *env_symbol(void *ctx, uint64_t addr, uint64_t *ret_off)
{
	return session_kernel_symbol(ctx, addr, ret_off);
}

static const char *env_printk(void *ctx, uint64_t addr)
{
	struct sonde_session *s = ctx;

	if (!s->printk_tried) {
		struct source_kernel k = { 0 };

		s->printk_tried = true;
		s->source->ops->kernel(s->source, &k);
		if (k.printk)
			printk_formats_read(&s->printk, k.printk, k.printk_len);
	}
	return printk_formats_find(&s->printk, addr);
}

static void env_divided_by_zero(void *ctx)
{
	struct sonde_session *s = ctx;

	defects_add(&s->defects, DEFECT_DIVISION_BY_ZERO, 1, "in %s", s->event.schema ? s->event.schema->name : "");
}

static void hex_bytes(const uint8_t *p, uint32_t len, struct outbuf *out)
{
	for (uint32_t i = 0; i < len; i++) {
		if (i)
			outbuf_char(out, ' ');
		outbuf_hex_width(out, p[i], 2, '0');
	}
}

/* Records of state: "pid=1 tid=1 comm=init". */
static void record_text(const struct event *ev, struct outbuf *out)
{
	const struct sonde_schema *sc = ev->schema;

	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];

		outbuf_fmt(out, "%s%s=", i ? " " : "", f->name);
		if (f->kind == SONDE_FIELD_STRING) {
			uint32_t len;
			const uint8_t *p = field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, is_swapped(&ev->pub), &len);

			if (p)
				outbuf_put(out, p, strnlen((const char *)p, len));
		} else if (f->is_signed) {
			outbuf_i64(out, sonde_event_i64(&ev->pub, f));
		} else {
			outbuf_fmt(out, f->width == 8 ? "0x%llx" : "%llu", (unsigned long long)sonde_event_u64(&ev->pub, f));
		}
	}
}

void session_event_text(const struct event *ev, struct outbuf *out)
{
	struct sonde_session *s = ev->session;
	const struct printfmt *pf = ev->schema->print;

	if (__builtin_expect(!pf, 0)) {
		if (!s->printfmt_env.ctx)
			s->printfmt_env = (struct printfmt_env){ .ctx = s,
								 .symbol = env_symbol,
								 .printk = env_printk,
								 .divided_by_zero = env_divided_by_zero };
		pf = schema_printfmt((struct sonde_schema *)ev->schema);
	}
	if (pf)
		printfmt_run(pf, &s->printfmt_env, ev->pub.bytes, ev->pub.bytes_len, out);
	else if (ev->schema->kind >= SONDE_RECORD)
		record_text(ev, out);
	else if (ev->schema->kind == SONDE_TRACEPOINT)
		hex_bytes(ev->pub.bytes, ev->pub.bytes_len, out);
}

const char *sonde_event_text(const struct sonde_event *pub, size_t *ret_len)
{
	struct sonde_session *s = event_of(pub)->session;

	s->text.len = 0;
	session_event_text(event_of(pub), &s->text);
	*ret_len = s->text.failed ? 0 : s->text.len;
	outbuf_char(&s->text, '\0');
	return s->text.failed ? "" : s->text.data;
}
