/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "symbols/elfutils.h"

static int dwarf_file_not_found(struct dso *d)
{
	if (dso_lacks_descriptor(d))
		return err_set(-EMFILE, "no descriptors were left to look for the file");
	return err_set(-ENOENT, "the file is not found");
}

/* ---- files that another file names: libdw opens them ----------------------------------------- */

static bool dwarf_file_is_plain_or_absent(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 || S_ISREG(st.st_mode);
}

/*
 * Builds a path as libdw does: name below dir, which is itself below the folder of f. dir is "" for
 * none.
 */
static bool dwarf_file_may_open(const struct dwarf_file *f, const char *dir, const char *name)
{
	const char *slash = f->path ? strrchr(f->path, '/') : NULL;
	char *path;
	bool may;

	if (*name == '/')
		return dwarf_file_is_plain_or_absent(name);
	if (asprintf(&path, "%.*s%s/%s", *dir == '/' || !slash ? 0 : (int)(slash + 1 - f->path),
		     slash ? f->path : "", dir, name) < 0) {
		err_note_nomem();
		return false;
	}
	may = dwarf_file_is_plain_or_absent(path);
	free(path);
	return may;
}

static bool dwarf_file_may_open_package(const struct dwarf_file *f)
{
	char *path;
	bool may;

	if (!f->path)
		return true;
	if (asprintf(&path, "%s.dwp", f->path) < 0) {
		err_note_nomem();
		return false;
	}
	may = dwarf_file_is_plain_or_absent(path);
	free(path);
	return may;
}

bool dwarf_file_may_open_split(const struct dwarf_file *f, void *dwarf_die)
{
	Dwarf_Die *unit = dwarf_die;
	Dwarf_Attribute attr;
	const char *name, *dir;

	if (!dwarf_attr(unit, DW_AT_dwo_name, &attr) &&
	    !dwarf_attr(unit, DW_AT_GNU_dwo_name, &attr))
		return true;
	name = dwarf_formstring(&attr);
	dir = dwarf_attr(unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
	return name && dwarf_file_may_open(f, "", name) &&
	       (!dir || dwarf_file_may_open(f, dir, name)) && dwarf_file_may_open_package(f);
}

static int dwarf_file_check_alternate(const struct dwarf_file *f)
{
	const void *build_id;
	const char *name = NULL;

	if (f->dwarf &&
	    ERR_MEMORY_NOTED(dwelf_dwarf_gnu_debugaltlink(f->dwarf, &name, &build_id)) > 0 &&
	    name && !dwarf_file_may_open(f, "", name))
		return err_set(-EINVAL, "%s continues in %s, which is not a regular file", f->path,
			       name);
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int dwarf_file_adopt_elf(struct dwarf_file *f, const char *name)
{
	GElf_Ehdr header;

	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF ||
	    !ERR_MEMORY_NOTED(gelf_getehdr(f->elf, &header)))
		return err_set(-ENOEXEC, "%s: not an ELF file", name);
	f->machine = header.e_machine;
	f->type = header.e_type;
	f->elf_class = header.e_ident[EI_CLASS];
	return 0;
}

static int dwarf_file_open_path(struct dwarf_file *f, struct dso *d, const char *path)
{
	struct stat st;

	TRY(f->fd = dso_open_file(d, path));
	if (fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(-EINVAL, "%s: not a regular file", path);
	f->path = realpath(path, NULL);
	if (!f->path && errno == ENOMEM)
		return err_nomem();
	f->elf = ERR_MEMORY_NOTED(elf_begin(f->fd, ELF_C_READ, NULL));
	/*
	 * Reads the complete file first. Later, libelf would lose the pieces it has already read.
	 */
	if (dso_hold_descriptor(d))
		f->held = d;
	else if (f->elf && !ERR_MEMORY_NOTED(elf_rawfile(f->elf, NULL)))
		return err_set(-EIO, "%s: cannot read it into memory: %s", path, elf_errmsg(-1));
	return dwarf_file_adopt_elf(f, path);
}

/* Must follow dwarf_begin_elf(), which uses the descriptor to find the file's path. */
static void dwarf_file_settle_descriptor(struct dwarf_file *f)
{
	if (f->held || f->fd < 0)
		return;
	elf_cntl(f->elf, ELF_C_FDDONE);
	close(f->fd);
	f->fd = -1;
}

static int dwarf_file_open_image(struct dwarf_file *f, struct dso *d)
{
	size_t len = 0;
	const uint8_t *image = dso_image(d, &len);

	if (!image || !len)
		return dwarf_file_not_found(d);
	f->image = malloc(len); /* libelf may write to it */
	if (!f->image)
		return err_nomem();
	memcpy(f->image, image, len);
	f->elf = ERR_MEMORY_NOTED(elf_memory(f->image, len));
	return dwarf_file_adopt_elf(f, "an image in memory");
}

int dwarf_file_open_code(struct dwarf_file *ret, struct dso *d)
{
	struct dwarf_file f = { .fd = -1 };
	const char *path = dso_code_path(d);
	int r;

	TRY(elfutils_load());
	elf_version(EV_CURRENT);
	r = path ? dwarf_file_open_path(&f, d, path) : dwarf_file_open_image(&f, d);
	if (r < 0) {
		dwarf_file_close(&f);
		return r;
	}
	dwarf_file_settle_descriptor(&f);
	*ret = f;
	return 0;
}

static bool dwarf_file_ends_in_nul(Elf_Scn *scn, const GElf_Shdr *header, bool gnu_compressed)
{
	const Elf_Data *data;

	if (header->sh_type == SHT_NOBITS)
		return true;
	/* libdw decompresses in the same way, and skips sections that fail. */
	if (gnu_compressed)
		ERR_MEMORY_NOTED(elf_compress_gnu(scn, 0, 0));
	if (header->sh_flags & SHF_COMPRESSED)
		ERR_MEMORY_NOTED(elf_compress(scn, 0, 0));
	data = ERR_MEMORY_NOTED(elf_rawdata(scn, NULL));
	return !data || !data->d_buf || !data->d_size ||
	       !((const char *)data->d_buf)[data->d_size - 1];
}

/* libdw 0.188 reads names of line tables up to a NUL, even beyond the end of the section. */
static int dwarf_file_check_strings(Elf *elf, const char *path)
{
	static const char *const strings[] = { "debug_str", "debug_line_str", "debug_str.dwo" };
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0; /* libdw finds no sections either */
	while ((scn = ERR_MEMORY_NOTED(elf_nextscn(elf, scn)))) {
		GElf_Shdr header;
		const char *name =
			ERR_MEMORY_NOTED(gelf_getshdr(scn, &header))
				? ERR_MEMORY_NOTED(elf_strptr(elf, names, header.sh_name))
				: NULL;
		bool is_z = name && !strncmp(name, ".zdebug", 7);

		for (size_t i = 0; name && *name && i < sizeof(strings) / sizeof(*strings); i++) {
			if (!strcmp(name + 1 + is_z, strings[i]) &&
			    !dwarf_file_ends_in_nul(scn, &header, is_z))
				return err_set(-EBADMSG,
					       "%s: the last string of section %s has no end: the "
					       "file is damaged or truncated, use another copy",
					       path, name);
		}
	}
	return 0;
}

int dwarf_file_open_debug(struct dwarf_file *ret, struct dso *d)
{
	struct dwarf_file f = { .fd = -1 };
	const char *path = dso_debug_path(d);
	int r;

	/* If only a descriptor was missing, the code file must not be taken for the only one. */
	if (!path && !dso_lacks_descriptor(d))
		path = dso_code_path(d);
	if (!path)
		return dwarf_file_not_found(d);
	TRY(elfutils_load());
	elf_version(EV_CURRENT);
	r = dwarf_file_open_path(&f, d, path);
	if (r >= 0)
		r = dwarf_file_check_strings(f.elf, path);
	if (r >= 0)
		f.dwarf = ERR_MEMORY_NOTED(dwarf_begin_elf(f.elf, DWARF_C_READ, NULL));
	if (r >= 0)
		r = dwarf_file_check_alternate(&f);
	if (r < 0) {
		dwarf_file_close(&f);
		return r;
	}
	dwarf_file_settle_descriptor(&f);
	*ret = f;
	return 0;
}

void dwarf_file_close(struct dwarf_file *f)
{
	if (f->dwarf)
		dwarf_end(f->dwarf);
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	if (f->held)
		dso_release_descriptor(f->held);
	free(f->image);
	free(f->path);
	*f = (struct dwarf_file){ .fd = -1 };
}
