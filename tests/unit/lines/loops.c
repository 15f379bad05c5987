/* SPDX-License-Identifier: MIT */
/* Misleading debug information: 40 nested entries, each with its own first child as its sibling. */
__attribute__((visibility("default"))) int loops_function(void);

int loops_function(void)
{
	return 1;
}

__asm__(".pushsection .debug_abbrev,\"\"\n"
	".byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0\n"       /* compile_unit: low_pc, high_pc */
	".byte 2, 0x39, 1, 1, 0x13, 0, 0\n"                /* namespace: sibling */
	".byte 3, 0x2e, 0, 0x11, 1, 0x12, 7, 3, 8, 0, 0\n" /* subprogram: low_pc, high_pc, name */
	".byte 0\n"
	".popsection\n"
	".pushsection .debug_info,\"\"\n"
	"7:\n"
	".4byte 9f - 8f\n"
	"8:\n"
	".2byte 4\n"
	".4byte 0\n"
	".byte 8\n"
	".byte 1\n"
	".8byte loops_function\n"
	".8byte 4\n"
	".rept 40\n"
	"1: .byte 2\n"
	".4byte 1f - 7b\n"
	".endr\n"
	"1: .byte 3\n"
	".8byte loops_function\n"
	".8byte 4\n"
	".asciz \"in_loops\"\n"
	".rept 42\n"
	".byte 0\n"
	".endr\n"
	"9:\n"
	".popsection\n");
