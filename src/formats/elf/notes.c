/* SPDX-License-Identifier: MIT */
#include "formats/elf/notes.h"

#include <elf.h>
#include <string.h>

#include "base/bytes.h"

/* u32 name size, u32 descriptor size, u32 type | name padded to 4 | descriptor padded to 4 */
struct build_id elf_notes_build_id(const uint8_t *notes, size_t len, bool swap)
{
	const struct build_id none = { 0 };
	size_t at = 0;

	while (len - at >= 12) {
		size_t name = get_u32(notes + at, swap), desc = get_u32(notes + at + 4, swap);
		uint32_t type = get_u32(notes + at + 8, swap);
		size_t name_at = at + 12, desc_at;

		if (name > len || desc > len)
			return none;
		desc_at = name_at + ((name + 3) & ~(size_t)3);
		if (desc_at + desc > len)
			return none;
		if (type == NT_GNU_BUILD_ID && name == 4 && !memcmp(notes + name_at, "GNU", 4) &&
		    desc && desc <= BUILD_ID_MAX_BYTES)
			return build_id_of(notes + desc_at, desc);
		at = desc_at + ((desc + 3) & ~(size_t)3);
		if (at > len)
			return none;
	}
	return none;
}
