/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/header.h"

#include <unistd.h>

static const char magic_v1[8] = "PERFFILE";

int perfdata_probe(const uint8_t *head, size_t len)
{
	uint64_t magic;

	if (len < 16)
		return 0;
	magic = load_u64(head);
	return magic == PERFDATA_MAGIC || magic == PERFDATA_MAGIC_SWAPPED ||
			       !memcmp(head, magic_v1, 8)
		       ? 100
		       : 0;
}

static int header_pread_all(const struct perfdata_file *f, void *to, uint64_t n, uint64_t off,
			    const char *what)
{
	uint8_t *p = to;

	while (n) {
		ssize_t got = pread(f->fd, p, n, (off_t)off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(errno, "%s: cannot read %s at 0x%llx", f->path, what,
					 (unsigned long long)off);
		if (!got)
			return err_set(-EBADMSG, "%s: the file ends at 0x%llx, in the middle of %s",
				       f->path, (unsigned long long)off, what);
		p += got;
		off += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

static bool header_section_fits(const struct perfdata_file *f, struct perfdata_section s)
{
	return s.offset <= f->size_bytes && s.size <= f->size_bytes - s.offset;
}

int perfdata_section_read(const struct perfdata_file *f, struct arena *a,
			  struct perfdata_section sec, const char *what, uint64_t max_bytes,
			  struct bytes *ret)
{
	uint8_t *p;

	if (!header_section_fits(f, sec))
		return err_set(-EBADMSG,
			       "%s: %s (0x%llx, %llu bytes) is outside the file of %llu bytes",
			       f->path, what, (unsigned long long)sec.offset,
			       (unsigned long long)sec.size, (unsigned long long)f->size_bytes);
	if (sec.size > max_bytes)
		return err_set(
			-EFBIG, "%s: %s has %llu bytes, more than the %llu that are accepted",
			f->path, what, (unsigned long long)sec.size, (unsigned long long)max_bytes);
	p = arena_alloc(a, sec.size + 1);
	if (!p)
		return err_nomem();
	TRY(header_pread_all(f, p, sec.size, sec.offset, what));
	*ret = bytes_init(p, sec.size, sec.offset, f->path, f->swap);
	ret->what = what;
	return 0;
}

int perfdata_string_read(struct bytes *b, const char *field, const char **ret, size_t *ret_len)
{
	const uint8_t *p = NULL;
	uint32_t len = 0;

	TRY(bytes_u32(b, field, &len));
	TRY(bytes_take(b, field, len, &p));
	*ret = (const char *)p;
	*ret_len = strnlen((const char *)p, len);
	return 0;
}

/*
 * The magic of version 1 is the same in both byte orders; the size of attr entries shows the order.
 */
static int header_v1_byte_order(const struct perfdata_file *f, const uint8_t *head, bool *ret_swap)
{
	static const uint64_t sizes[] = { 64, 72, 80, 96, 104 };
	uint64_t attr_size = load_u64(head + 16);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (attr_size == sizes[i] + 16 || __builtin_bswap64(attr_size) == sizes[i] + 16) {
			*ret_swap = attr_size != sizes[i] + 16;
			return 0;
		}
	}
	return err_set(-EBADMSG,
		       "%s: a perf.data of version 1 of unknown byte order (attr size 0x%llx)",
		       f->path, (unsigned long long)attr_size);
}

static struct perfdata_section header_get_section(const uint8_t *p, bool swap)
{
	return (struct perfdata_section){ get_u64(p, swap), get_u64(p + 8, swap) };
}

/*
 * Feature bits were written as an array of the recorder's longs, so swapping works on 8 or 4 bytes.
 * The bit of HOSTNAME, which is nearly always present, shows which. If it is absent, 4 bytes are
 * assumed if otherwise no feature below 32 would be set, because no recorder writes only others.
 */
static void header_read_feature_bits(struct perfdata_file *f, const uint8_t *p)
{
	const uint64_t hostname = 1u << FEAT_HOSTNAME;
	uint64_t as_u64 = get_u64(p, f->swap), as_u32 = get_u32(p, f->swap);
	bool words_of_4 =
		f->swap && !(as_u64 & hostname) && (as_u32 & hostname || !(as_u64 & UINT32_MAX));

	for (int i = 0; i < 4; i++, p += 8)
		f->feature_bits[i] = words_of_4 ? get_u32(p, true) | (uint64_t)get_u32(p + 4, true)
									     << 32
						: get_u64(p, f->swap);
}

static void header_add_feature(struct perfdata_file *f, uint64_t feature,
			       struct perfdata_section sec, struct defects *defects)
{
	if (!header_section_fits(f, sec))
		defects_add(defects, DEFECT_BAD_FEATURE, 1, "feature %llu",
			    (unsigned long long)feature);
	else if (feature < NR_FEATURES)
		f->features[feature] = sec;
	else if (feature == PERFDATA_PRIVATE_KALLSYMS)
		f->kallsyms = sec;
	else if (feature == PERFDATA_PRIVATE_END)
		f->end = sec;
	else if (feature == PERFDATA_PRIVATE_CGROUPS)
		f->cgroups = sec;
}

/* The table after the data: one section for each set bit, in ascending order. */
static int header_read_feature_table(struct perfdata_file *f, struct defects *defects)
{
	uint64_t off = f->data.offset + f->data.size;

	for (unsigned feature = 0; feature < NR_FEATURES; feature++) {
		uint8_t entry[16];

		if (!(f->feature_bits[feature / 64] >> feature % 64 & 1))
			continue;
		if (header_pread_all(f, entry, sizeof(entry), off, "the feature table") < 0) {
			defects_add(defects, DEFECT_TRUNCATED, 1, "in the feature table at 0x%llx",
				    (unsigned long long)off);
			return 0;
		}
		header_add_feature(f, feature, header_get_section(entry, f->swap), defects);
		off += sizeof(entry);
	}
	return 0;
}

/* Our own index after the header (layout.h). Files of other recorders have none. */
static int header_read_private_index(struct perfdata_file *f, struct defects *defects)
{
	const uint64_t off = sizeof(struct perfdata_header);
	uint8_t head[16];
	uint32_t nr;

	if (f->size_bytes < off + sizeof(head))
		return 0;
	TRY(header_pread_all(f, head, sizeof(head), off, "the index"));
	if (get_u64(head, f->swap) != PERFDATA_INDEX_MAGIC)
		return 0;
	nr = get_u32(head + 8, f->swap);
	if (nr > 2 * NR_FEATURES) {
		defects_add(defects, DEFECT_BAD_FEATURE, 1, "an index of %u bodies", nr);
		return 0;
	}
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t at = off + sizeof(head) + 24u * i, feature;
		uint8_t entry[24];

		if (at + sizeof(entry) > f->size_bytes)
			return 0;
		TRY(header_pread_all(f, entry, sizeof(entry), at, "the index"));
		feature = get_u64(entry, f->swap);
		if (f->unfinished || feature >= NR_FEATURES)
			header_add_feature(f, feature, header_get_section(entry + 8, f->swap),
					   defects);
	}
	return 0;
}

int perfdata_pipe_header_read(struct perfdata_file *f,
			      const uint8_t head[PERFDATA_PIPE_HEADER_BYTES])
{
	uint64_t magic = load_u64(head);

	f->swap = magic == PERFDATA_MAGIC_SWAPPED;
	f->big_endian = f->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	f->is_pipe = true;
	if ((magic == PERFDATA_MAGIC || f->swap) && get_u64(head + 8, f->swap) == 16)
		return 0;
	if (!memcmp(head, magic_v1, 8) &&
	    (load_u64(head + 8) == 16 || get_u64(head + 8, true) == 16)) {
		f->swap = load_u64(head + 8) != 16;
		f->big_endian = f->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		return 0;
	}
	return err_set(-EBADMSG, "%s: this is not a recording in pipe mode", f->path);
}

int perfdata_header_read(struct perfdata_file *f, struct defects *defects)
{
	uint8_t head[sizeof(struct perfdata_header)] = { 0 };
	uint64_t size;

	if (f->size_bytes < 16)
		return err_set(-EBADMSG, "%s: %llu bytes are too few for a recording", f->path,
			       (unsigned long long)f->size_bytes);
	TRY(header_pread_all(f, head, f->size_bytes < sizeof(head) ? f->size_bytes : sizeof(head),
			     0, "the header"));
	f->is_v1 = !memcmp(head, magic_v1, 8);
	if (f->is_v1)
		TRY(header_v1_byte_order(f, head, &f->swap));
	else
		f->swap = load_u64(head) == PERFDATA_MAGIC_SWAPPED;
	f->big_endian = f->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	size = get_u64(head + 8, f->swap);
	if (size == PERFDATA_PIPE_HEADER_BYTES) {
		f->is_pipe = true;
		return 0;
	}
	/* Unknown members are a newer recorder's. The sections say where everything else is. */
	if (size != 72 && (size < sizeof(head) || size > PERFDATA_HEADER_MAX_BYTES))
		return err_set(-EBADMSG,
			       "%s: a perf.data header of %llu bytes; 72, or 104 to %d were "
			       "expected",
			       f->path, (unsigned long long)size, PERFDATA_HEADER_MAX_BYTES);
	if (f->size_bytes < size)
		return err_set(-EBADMSG,
			       "%s: the file ends in its header, after %llu of %llu bytes", f->path,
			       (unsigned long long)f->size_bytes, (unsigned long long)size);
	f->attr_entry_bytes = get_u64(head + 16, f->swap);
	f->attrs = header_get_section(head + 24, f->swap);
	f->data = header_get_section(head + 40, f->swap);
	if (f->attr_entry_bytes < PERFDATA_ATTR_MIN_BYTES + 16 || f->attr_entry_bytes > 65536)
		return err_set(-EBADMSG,
			       "%s: attr entries of %llu bytes; 80 to 65536 were expected", f->path,
			       (unsigned long long)f->attr_entry_bytes);
	if (!header_section_fits(f, f->attrs))
		return err_set(-EBADMSG,
			       "%s: the attr section (0x%llx, %llu bytes) is outside the file of "
			       "%llu bytes",
			       f->path, (unsigned long long)f->attrs.offset,
			       (unsigned long long)f->attrs.size,
			       (unsigned long long)f->size_bytes);
	if (f->data.offset > f->size_bytes)
		return err_set(-EBADMSG,
			       "%s: the data section begins at 0x%llx, beyond the end of the file",
			       f->path, (unsigned long long)f->data.offset);
	if (size >= sizeof(head))
		header_read_feature_bits(f, head + 72);

	if (!f->data.size) {
		f->unfinished = true;
		f->data.size = f->size_bytes - f->data.offset;
		defects_add(defects, DEFECT_UNFINISHED, 1, NULL);
	} else if (!header_section_fits(f, f->data)) {
		/*
		 * The file ends inside the data: it has no feature table, but possibly our own
		 * index.
		 */
		defects_add(defects, DEFECT_TRUNCATED, 1,
			    "the data section should end at 0x%llx, the file ends at 0x%llx",
			    (unsigned long long)(f->data.offset + f->data.size),
			    (unsigned long long)f->size_bytes);
		f->unfinished = true;
		f->data.size = f->size_bytes - f->data.offset;
	} else {
		TRY(header_read_feature_table(f, defects));
	}
	return header_read_private_index(f, defects);
}
