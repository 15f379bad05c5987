/* SPDX-License-Identifier: MIT */
/* Fields as babeltrace2 prints them: { a = 1, b = "x" }. docs/formats/ctf.md has the rules. */
#ifndef SONDE_FORMATS_CTF_TEXT_H
#define SONDE_FORMATS_CTF_TEXT_H

#include "base/outbuf.h"
#include "formats/ctf/walk.h"

/*
 * Writes the fields of a program with steps behind `before`. The reader has all their bytes.
 * Returns 1; 0 and writes nothing if the program has no shown fields; <0 if the bytes do not fit.
 */
int ctf_text_put(const struct ctf_program *program, struct ctf_reader *rd, const char *before,
		 struct outbuf *out);
/* One value without its name: the step at `at` and what is inside it. */
int ctf_text_put_value(const struct ctf_step *steps, uint32_t at, struct ctf_reader *rd,
		       struct outbuf *out);
/* True if the array is printed as text: its elements are bytes with an encoding. */
bool ctf_is_text_array(const struct ctf_step *array);

#endif
