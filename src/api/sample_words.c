/* SPDX-License-Identifier: MIT */
/* sonde.h: words for the values of a sample. */

#include <string.h>

#include "base/err.h"
#include "base/outbuf.h"
#include "model/registers.h"
#include "session/session.h"
#include "model/data_src.h"

size_t sonde_session_data_src_text(const struct sonde_session *s, uint64_t data_src, char *buf,
				   size_t size)
{
	struct outbuf out = { 0 };
	size_t len;

	NOT_NULL(buf, 0);
	if (size)
		buf[0] = 0;
	NOT_NULL(s, 0);
	data_src_words(s->opts.rules, data_src, &out);
	len = out.len;
	if (size) {
		size_t kept = len < size ? len : size - 1;

		memcpy(buf, out.data, kept);
		buf[kept] = 0;
	}
	outbuf_done(&out);
	return len;
}

const char *sonde_event_register_name(const struct sonde_event *ev, uint32_t nr, char room[16])
{
	const struct recording *rec;

	NOT_NULL(ev, "");
	NOT_NULL(room, "");
	rec = event_of(ev)->recording;
	return register_name(rec->opts->rules, recording_info(rec, "arch"), nr, room);
}
