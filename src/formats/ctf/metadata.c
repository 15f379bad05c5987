/* SPDX-License-Identifier: MIT */
/* The file `metadata`: text, or packets that have pieces of the text. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/outbuf.h"
#include "formats/ctf/layout.h"
#include "formats/ctf/model.h"

static const char text_start[] = "/* CTF 1.8";

void *ctf_copy(struct ctf_trace *t, const void *v, size_t n, size_t size)
{
	void *to = arena_array(&t->arena, n ? n : 1, size);

	if (to && n)
		memcpy(to, v, n * size);
	return to;
}

static int metadata_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

bool ctf_uuid_parse(const char *text, uint8_t ret[16])
{
	for (int i = 0; i < 16; i++) {
		int high, low;

		if (i == 4 || i == 6 || i == 8 || i == 10)
			if (*text++ != '-')
				return false;
		high = metadata_digit(text[0]);
		low = high < 0 ? -1 : metadata_digit(text[1]);
		if (low < 0)
			return false;
		ret[i] = (uint8_t)(high << 4 | low);
		text += 2;
	}
	return !*text;
}

const struct ctf_env *ctf_env_find(const struct ctf_trace *t, const char *name)
{
	for (size_t i = 0; i < t->env.n; i++)
		if (!strcmp(t->env.v[i].name, name))
			return &t->env.v[i];
	return NULL;
}

const char *ctf_env_text(const struct ctf_trace *t, const char *name)
{
	const struct ctf_env *env = ctf_env_find(t, name);

	return env ? env->text : NULL;
}

static bool metadata_is_packet(const uint8_t *p, size_t len, bool *ret_swap)
{
	const uint32_t magic = len >= sizeof(magic) ? load_u32(p) : 0;

	*ret_swap = magic == __builtin_bswap32(CTF_METADATA_MAGIC);
	return magic == CTF_METADATA_MAGIC || *ret_swap;
}

bool ctf_is_metadata(const uint8_t *head, size_t len)
{
	bool swap;

	return metadata_is_packet(head, len, &swap) ||
	       (len >= sizeof(text_start) - 1 &&
		!memcmp(head, text_start, sizeof(text_start) - 1)) ||
	       (len >= 2 && head[0] == CTF_JSON_RECORD &&
		(head[1] == '{' || head[1] == '\n' || head[1] == ' '));
}

/* Appends the text of one packet. Returns the size of the packet. */
static int64_t metadata_take_packet(const struct ctf_trace *t, const uint8_t *p, size_t len,
				    uint64_t off, struct outbuf *out)
{
	struct ctf_metadata_header h;
	uint32_t content, packet;
	bool swap;

	if (len < sizeof(h) || !metadata_is_packet(p, len, &swap))
		return err_set(-EBADMSG, "%s: no packet of metadata begins at 0x%llx", t->path,
			       (unsigned long long)off);
	memcpy(&h, p, sizeof(h));
	content = swap ? __builtin_bswap32(h.content_size) : h.content_size;
	packet = swap ? __builtin_bswap32(h.packet_size) : h.packet_size;
	content /= 8;
	packet /= 8;
	if (h.compression || h.encryption || h.checksum_scheme)
		return err_set(-EBADMSG,
			       "%s: the packet at 0x%llx is compressed, encrypted or has a "
			       "checksum, which no tracer writes",
			       t->path, (unsigned long long)off);
	if (!((h.major == 1 && h.minor == 8) || (h.major == 2 && h.minor == 0)))
		return err_set(-EBADMSG,
			       "%s: the packet at 0x%llx is of version %u.%u; sonde reads CTF 1.8 "
			       "and CTF 2",
			       t->path, (unsigned long long)off, h.major, h.minor);
	if (content < sizeof(h) || content > packet || content > len)
		return err_set(-EBADMSG,
			       "%s: the packet at 0x%llx has %u bytes of content and %u bytes, of "
			       "which %zu are there",
			       t->path, (unsigned long long)off, content, packet, len);
	outbuf_put(out, p + sizeof(h), content - sizeof(h));
	return packet;
}

static int metadata_unpack(const struct ctf_trace *t, const uint8_t *bytes, size_t len,
			   struct outbuf *out)
{
	for (size_t at = 0; at < len;) {
		const int64_t n = metadata_take_packet(t, bytes + at, len - at, at, out);

		if (n < 0)
			return (int)n;
		at = (uint64_t)n > len - at ? len : at + (size_t)n;
	}
	return out->failed ? err_nomem() : 0;
}

static int metadata_parse(struct ctf_trace *t, const char *text, size_t len)
{
	if (len && (uint8_t)text[0] == CTF_JSON_RECORD)
		return ctf_json_parse(t, text, len);
	return ctf_tsdl_parse(t, text, len);
}

int ctf_trace_read(struct ctf_trace *t, const char *path, const uint8_t *bytes, size_t len)
{
	struct outbuf text = { 0 };
	bool swap;
	int r;

	t->path = arena_strdup(&t->arena, path);
	if (!t->path)
		return err_nomem();
	if (len > CTF_METADATA_BYTES)
		return err_set(-E2BIG, "%s has %zu bytes; sonde reads at most %d of metadata", path,
			       len, CTF_METADATA_BYTES);
	t->major = 1;
	t->minor = 8;
	if (metadata_is_packet(bytes, len, &swap)) {
		r = metadata_unpack(t, bytes, len, &text);
		if (r >= 0)
			r = metadata_parse(t, text.data, text.len);
	} else if (ctf_is_metadata(bytes, len)) {
		r = metadata_parse(t, (const char *)bytes, len);
	} else {
		r = err_set(
			-EBADMSG,
			"%s begins as no metadata do ('/* CTF 1.8', a packet, or JSON of CTF 2)",
			path);
	}
	outbuf_done(&text);
	return r < 0 ? r : ctf_compile(t);
}

void ctf_trace_done(struct ctf_trace *t)
{
	vec_foreach(stream, &t->streams) {
		vec_done(&(*stream)->events);
		hash64_done(&(*stream)->event_of_id);
	}
	vec_done(&t->clocks);
	vec_done(&t->env);
	vec_done(&t->streams);
	vec_done(&t->events);
	arena_done(&t->arena);
}
