/* SPDX-License-Identifier: MIT */
/*
 * Converts field bytes to scalars by the contract's rules: texts are strings of bytes, everything
 * else is a number.
 */
#include "plsonde.h"

#include <string.h>

/* True for "char[16]", false for arrays of bytes: "u8[6]", "unsigned char[6]". */
static bool values_is_chars(const char *type)
{
	return strstr(type, "char") && !strstr(type, "signed char");
}

/*
 * perf reads a text up to the first NUL, wherever that is. With perl_texts_run_on a text extends to
 * the end of the event's payload: the bytes after a text without a NUL belong to it, as in perf.
 */
static void values_set_text(pTHX_ SV *sv, const struct sonde_event *ev, const struct sonde_field *f,
			    const struct sonde_rules *rules)
{
	size_t len;
	const uint8_t *bytes = sonde_event_bytes(ev, f, &len);

	if (!bytes) {
		sv_setpvn(sv, "", 0);
		return;
	}
	/* Arrays of small numbers are declared like texts, and sometimes look like one. */
	if (!rules->perl_texts_run_on && !values_is_chars(f->type) &&
	    !prelude_is_text(bytes, len)) {
		sv_setpvn(sv, (const char *)bytes, len);
		return;
	}
	if (rules->perl_texts_run_on)
		len = (size_t)(ev->bytes + ev->bytes_len - bytes);
	sv_setpvn(sv, (const char *)bytes, strnlen((const char *)bytes, len));
}

/* {member => value} */
static void values_set_nested(pTHX_ SV *sv, const struct sonde_event *ev,
			      const struct sonde_field *f, const struct sonde_rules *rules)
{
	HV *hv = newHV();
	SV *ref = newRV_noinc((SV *)hv);

	for (uint32_t i = 0; i < f->nr_fields; i++) {
		const char *name = f->fields[i].name;
		SV *value = newSV(0);

		value_set_field(aTHX_ value, ev, &f->fields[i], rules);
		(void)hv_store(hv, name, (I32)strlen(name), value, 0);
	}
	sv_setsv(sv, ref);
	SvREFCNT_dec(ref);
}

void value_set_field(pTHX_ SV *sv, const struct sonde_event *ev, const struct sonde_field *f,
		     const struct sonde_rules *rules)
{
	const uint8_t *bytes;
	size_t len;

	switch (prelude_value_kind(f)) {
	case PRELUDE_INT:
		if (prelude_value_signed(f, rules))
			sv_setiv(sv, (IV)sonde_event_i64(ev, f));
		else
			value_set_u64(aTHX_ sv, sonde_event_u64(ev, f));
		return;
	case PRELUDE_TEXT:
		values_set_text(aTHX_ sv, ev, f, rules);
		return;
	case PRELUDE_BYTES:
		if (!rules->perl_arrays_are_zero) { /* for unpack() */
			bytes = sonde_event_bytes(ev, f, &len);
			sv_setpvn(sv, bytes ? (const char *)bytes : "", bytes ? len : 0);
			return;
		}
		/* fallthrough */
	case PRELUDE_ZERO:
		sv_setiv(sv, 0);
		return;
	case PRELUDE_FLOAT:
		sv_setnv(sv, sonde_event_double(ev, f));
		return;
	case PRELUDE_NESTED:
		values_set_nested(aTHX_ sv, ev, f, rules);
		return;
	}
}

/* STORE() compiles only for keys that the prelude names. */
#define K(name) KEY_##name,
enum { PRELUDE_FRAME_KEYS(K) PRELUDE_SYMBOL_KEYS(K) };
#undef K
#define STORE(hv, key, sv) ((void)KEY_##key, (void)hv_stores(hv, #key, sv))

static SV *values_new_u64(pTHX_ uint64_t value)
{
	return value <= IV_MAX ? newSViv((IV)value) : newSVuv((UV)value);
}

static SV *values_new_symbol(pTHX_ const char *name, const struct sonde_location *loc)
{
	HV *sym = newHV();

	STORE(sym, start, values_new_u64(aTHX_ loc->sym_start));
	STORE(sym, end, values_new_u64(aTHX_ loc->sym_end));
	STORE(sym, binding, newSVuv(loc->sym_binding));
	STORE(sym, name, newSVpv(name, 0));
	return newRV_noinc((SV *)sym);
}

/* [{ip, sym => {start, end, binding, name}, dso}, ...] */
SV *value_callchain(pTHX_ const struct sonde_event *ev)
{
	const struct sonde_frame *frames = NULL;
	const int nr = sonde_event_callchain(ev, &frames);
	AV *chain = newAV();

	for (int i = 0; i < nr; i++) {
		struct sonde_location loc = { .size = sizeof(loc) };
		const char *name;
		HV *node = newHV();

		av_push(chain, newRV_noinc((SV *)node));
		STORE(node, ip, values_new_u64(aTHX_ frames[i].ip));
		if (sonde_event_locate(ev, frames[i].ip, frames[i].cpumode, &loc) < 0)
			continue;
		name = loc.sym && frames[i].sym ? frames[i].sym : loc.sym;
		if (name)
			STORE(node, sym, values_new_symbol(aTHX_ name, &loc));
		if (loc.dso)
			STORE(node, dso, newSVpv(loc.dso, 0));
	}
	return newRV_noinc((SV *)chain);
}
