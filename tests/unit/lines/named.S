/* SPDX-License-Identifier: MIT */
/*
 * A function of C++ without a mangled name in DWARF, whole(), and a symbol inside of it, middle.
 *
 *	whole   0          32
 *	middle       8 16
 */
#if __SIZEOF_POINTER__ == 8
#define ADDRESS .quad
#else
#define ADDRESS .long
#endif
	.file	1 "named.cc"
	.text
	.globl	whole
	.type	whole, %function
whole:
	.loc	1 1
	.skip	8
	.globl	middle
	.type	middle, %function
middle:
	.loc	1 2
	.skip	8
	.size	middle, 8
	.skip	16
	.size	whole, 32

	.section .debug_abbrev, "", %progbits
	.uleb128 1, 0x11 /* compile_unit */
	.byte	1
	.uleb128 0x13, 0x0b /* language: data1 */
	.uleb128 0x03, 0x08 /* name: string */
	.uleb128 0x11, 0x01 /* low_pc: addr */
	.uleb128 0x12, 0x07 /* high_pc: data8 */
	.uleb128 0x10, 0x17 /* stmt_list: sec_offset */
	.uleb128 0, 0
	.uleb128 2, 0x2e /* subprogram */
	.byte	0
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 0

	.section .debug_info, "", %progbits
	.long	2f - 1f
1:	.short	4
	.long	.debug_abbrev
	.byte	__SIZEOF_POINTER__
	.uleb128 1
	.byte	4 /* C++ */
	.string	"named.cc"
	ADDRESS	whole
	.quad	32
	.long	.debug_line
	.uleb128 2
	.string	"whole"
	ADDRESS	whole
	.quad	32
	.uleb128 0
2:
	.section .debug_line, "", %progbits
	.section .note.GNU-stack, "", %progbits
