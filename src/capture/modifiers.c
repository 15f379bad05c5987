/* SPDX-License-Identifier: MIT */
#include "capture/modifiers.h"

#include <string.h>

#include "base/err.h"

static int modifiers_check(const char *text, const char *modifiers)
{
	unsigned precise = 0;

	for (const char *m = modifiers; *m; m++) {
		if (!strchr("ukhGHIpPSDeWb", *m))
			return err_set(
				-EBADR,
				"event '%s': '%c' is not a modifier; the modifiers are u k h "
				"(user, kernel, hypervisor only), G H (guest, host only), I (not "
				"idle), p (precise), P (most precise), S (samples contain the "
				"counts of the group), D (pinned), e (exclusive), W (weak group)",
				text, *m);
		if (*m == 'p')
			precise++;
		else if (strchr(m + 1, *m))
			return err_set(-EBADR, "event '%s': the modifier '%c' is given twice", text,
				       *m);
	}
	return precise > 3 ? err_set(-EBADR, "event '%s': at most ppp", text) : 0;
}

/*
 * Applies perf's rules. The first of u k h excludes the other two levels; the first of G H excludes
 * the other. u, p and H exclude guests, P does not. D and e apply to a leader only.
 */
static int modifiers_add(struct capture_event *e, const char *text, const char *modifiers,
			 bool is_leader)
{
	struct perf_event_attr *a = &e->attr;
	unsigned precise = a->precise_ip;

	e->precise_max = false;
	for (const char *m = modifiers; *m; m++) {
		if (strchr("ukh", *m) && !e->chose_levels) {
			e->chose_levels = true;
			a->exclude_user = a->exclude_kernel = a->exclude_hv = 1;
		}
		if (strchr("GH", *m) && !e->chose_guest) {
			e->chose_guest = true;
			a->exclude_guest = a->exclude_host = 1;
		}
		switch (*m) {
		case 'u':
			a->exclude_user = 0;
			a->exclude_guest |= !e->chose_guest;
			break;
		case 'k':
			a->exclude_kernel = 0;
			break;
		case 'h':
			a->exclude_hv = 0;
			break;
		case 'G':
			a->exclude_guest = 0;
			break;
		case 'H':
			a->exclude_host = 0;
			break;
		case 'I':
			a->exclude_idle = 1;
			break;
		case 'p':
			precise++;
			a->exclude_guest |= !e->chose_guest;
			break;
		case 'P':
			e->precise_max = true;
			break;
		case 'S':
			e->sample_read = true;
			break;
		case 'D':
			a->pinned |= is_leader;
			break;
		case 'e':
			a->exclusive |= is_leader;
			break;
		case 'W':
			e->is_weak = true;
			break;
		}
	}
	if (precise > 3)
		return err_set(-EBADR, "event '%s': at most ppp, including those of its group",
			       text);
	a->precise_ip = precise;
	return 0;
}

int event_modifiers_apply(struct capture_event *e, const char *text, const char *modifiers)
{
	TRY(modifiers_check(text, modifiers));
	e->attr.exclude_guest = 0;
	return modifiers_add(e, text, modifiers, true);
}

int event_modifiers_add(struct capture_event *e, const char *text, const char *modifiers,
			bool is_leader)
{
	TRY(modifiers_check(text, modifiers));
	return modifiers_add(e, text, modifiers, is_leader);
}
