/* SPDX-License-Identifier: MIT */
#include "recording/keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "recording/locate.h"

struct event *recording_keep(const struct event *ev)
{
	const struct sonde_event *pub = &ev->pub;
	struct address_space *space = ev->space;
	/*
	 * Copy the record, or the payload if it is not inside the record (defects). A pair has
	 * both.
	 */
	const bool inside = pub->record && pub->bytes >= pub->record &&
			    pub->bytes <= pub->record + pub->record_len;
	const bool is_pair = ev->schema->traits & SCHEMA_PAIR && !inside && pub->record;
	const size_t len = inside ? pub->record_len : pub->bytes_len;
	struct event *dup = malloc(sizeof(*dup) + len + (is_pair ? pub->record_len : 0));
	uint8_t *bytes;

	if (!dup) {
		err_nomem();
		return NULL;
	}
	bytes = (uint8_t *)(dup + 1);
	*dup = *ev;
	memcpy(bytes, inside ? pub->record : pub->bytes, len);
	dup->pub.bytes = inside ? bytes + (pub->bytes - pub->record) : bytes;
	dup->pub.record = inside ? bytes : NULL;
	if (is_pair)
		dup->pub.record = memcpy(bytes + len, pub->record, pub->record_len);
	else if (!inside)
		dup->pub.record_len = 0;
	dup->change = NULL;
	if (!ev->owned) /* a reference is taken */
		space = (struct address_space *)recording_space(ev, CPUMODE_USER);
	dup->space = space ? address_space_ref(space) : NULL;
	dup->kernel_space =
		address_space_ref(ev->owned ? ev->kernel_space : ev->recording->state.kernel);
	dup->cut = NULL;
	dup->owned = true;
	return dup;
}

void recording_keep_done(struct event *ev)
{
	if (!ev)
		return;
	address_space_unref(ev->space);
	address_space_unref(ev->kernel_space);
	free(ev);
}
