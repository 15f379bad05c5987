/* SPDX-License-Identifier: MIT */
/*
 * libdw and libelf, loaded when the first file with debug information is opened: with the libraries
 * that they need they are half of those of a process, which most commands start without any use for
 * them. This header is included instead of theirs; their functions have their own names.
 */
#ifndef SONDE_SYMBOLS_ELFUTILS_H
#define SONDE_SYMBOLS_ELFUTILS_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdbool.h>

#define ELFUTILS_FUNCTIONS(F)           \
	F(dwarf_attr)                   \
	F(dwarf_attr_integrate)         \
	F(dwarf_begin_elf)              \
	F(dwarf_cfi_addrframe)          \
	F(dwarf_cfi_end)                \
	F(dwarf_child)                  \
	F(dwarf_cu_info)                \
	F(dwarf_end)                    \
	F(dwarf_filesrc)                \
	F(dwarf_formstring)             \
	F(dwarf_formudata)              \
	F(dwarf_frame_cfa)              \
	F(dwarf_frame_info)             \
	F(dwarf_frame_register)         \
	F(dwarf_get_units)              \
	F(dwarf_getcfi)                 \
	F(dwarf_getcfi_elf)             \
	F(dwarf_getsrc_die)             \
	F(dwarf_getsrcfiles)            \
	F(dwarf_getsrclines)            \
	F(dwarf_haschildren)            \
	F(dwarf_line_file)              \
	F(dwarf_lineaddr)               \
	F(dwarf_lineendsequence)        \
	F(dwarf_lineno)                 \
	F(dwarf_onesrcline)             \
	F(dwarf_ranges)                 \
	F(dwarf_siblingof)              \
	F(dwarf_srclang)                \
	F(dwarf_tag)                    \
	F(dwelf_dwarf_gnu_debugaltlink) \
	F(elf_begin)                    \
	F(elf_cntl)                     \
	F(elf_compress)                 \
	F(elf_compress_gnu)             \
	F(elf_end)                      \
	F(elf_errmsg)                   \
	F(elf_getdata)                  \
	F(elf_getshdrnum)               \
	F(elf_getshdrstrndx)            \
	F(elf_kind)                     \
	F(elf_memory)                   \
	F(elf_nextscn)                  \
	F(elf_rawdata)                  \
	F(elf_rawfile)                  \
	F(elf_strptr)                   \
	F(elf_version)                  \
	F(gelf_getehdr)                 \
	F(gelf_getshdr)                 \
	F(gelf_getsym)

/* Set by elfutils_load(), once for the process; like the functions themselves, never unset. */
struct elfutils {
#define ELFUTILS_MEMBER(function) __typeof__(function) *function;
	ELFUTILS_FUNCTIONS(ELFUTILS_MEMBER)
#undef ELFUTILS_MEMBER
};
extern struct elfutils elfutils;

/* Loads the libraries. Threads may call both at once. */
bool elfutils_are_there(void);
/* The same, before any other function; -ENOTSUP if the libraries are not there. */
int elfutils_load(void);

#ifndef ELFUTILS_LOADER /* the one file that needs the names themselves */

#define dwarf_attr                   elfutils.dwarf_attr
#define dwarf_attr_integrate         elfutils.dwarf_attr_integrate
#define dwarf_begin_elf              elfutils.dwarf_begin_elf
#define dwarf_cfi_addrframe          elfutils.dwarf_cfi_addrframe
#define dwarf_cfi_end                elfutils.dwarf_cfi_end
#define dwarf_child                  elfutils.dwarf_child
#define dwarf_cu_info                elfutils.dwarf_cu_info
#define dwarf_end                    elfutils.dwarf_end
#define dwarf_filesrc                elfutils.dwarf_filesrc
#define dwarf_formstring             elfutils.dwarf_formstring
#define dwarf_formudata              elfutils.dwarf_formudata
#define dwarf_frame_cfa              elfutils.dwarf_frame_cfa
#define dwarf_frame_info             elfutils.dwarf_frame_info
#define dwarf_frame_register         elfutils.dwarf_frame_register
#define dwarf_get_units              elfutils.dwarf_get_units
#define dwarf_getcfi                 elfutils.dwarf_getcfi
#define dwarf_getcfi_elf             elfutils.dwarf_getcfi_elf
#define dwarf_getsrc_die             elfutils.dwarf_getsrc_die
#define dwarf_getsrcfiles            elfutils.dwarf_getsrcfiles
#define dwarf_getsrclines            elfutils.dwarf_getsrclines
#define dwarf_haschildren            elfutils.dwarf_haschildren
#define dwarf_line_file              elfutils.dwarf_line_file
#define dwarf_lineaddr               elfutils.dwarf_lineaddr
#define dwarf_lineendsequence        elfutils.dwarf_lineendsequence
#define dwarf_lineno                 elfutils.dwarf_lineno
#define dwarf_onesrcline             elfutils.dwarf_onesrcline
#define dwarf_ranges                 elfutils.dwarf_ranges
#define dwarf_siblingof              elfutils.dwarf_siblingof
#define dwarf_srclang                elfutils.dwarf_srclang
#define dwarf_tag                    elfutils.dwarf_tag
#define dwelf_dwarf_gnu_debugaltlink elfutils.dwelf_dwarf_gnu_debugaltlink
#define elf_begin                    elfutils.elf_begin
#define elf_cntl                     elfutils.elf_cntl
#define elf_compress                 elfutils.elf_compress
#define elf_compress_gnu             elfutils.elf_compress_gnu
#define elf_end                      elfutils.elf_end
#define elf_errmsg                   elfutils.elf_errmsg
#define elf_getdata                  elfutils.elf_getdata
#define elf_getshdrnum               elfutils.elf_getshdrnum
#define elf_getshdrstrndx            elfutils.elf_getshdrstrndx
#define elf_kind                     elfutils.elf_kind
#define elf_memory                   elfutils.elf_memory
#define elf_nextscn                  elfutils.elf_nextscn
#define elf_rawdata                  elfutils.elf_rawdata
#define elf_rawfile                  elfutils.elf_rawfile
#define elf_strptr                   elfutils.elf_strptr
#define elf_version                  elfutils.elf_version
#define gelf_getehdr                 elfutils.gelf_getehdr
#define gelf_getshdr                 elfutils.gelf_getshdr
#define gelf_getsym                  elfutils.gelf_getsym
#endif

#endif
