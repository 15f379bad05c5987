/* SPDX-License-Identifier: MIT */
/*
 * Finds the values of fields in a text that a print format made. Only the values that the text
 * shows can be found: a pointer that the kernel hides, or a quotient, cannot.
 */
#ifndef SONDE_MODEL_PRINTFMT_INVERT_H
#define SONDE_MODEL_PRINTFMT_INVERT_H

#include "model/printfmt/printfmt.h"

/* True if the text shows the field. */
bool printfmt_inverts(const struct printfmt *pf, const struct sonde_field *f);
/* True if the values found make the same text again. */
bool printfmt_inverts_text(const struct printfmt *pf);
/*
 * Sets the fields in the record bytes[0..*len), whose other bytes stay. Texts of dynamic fields are
 * appended to it, up to room bytes. False if the text is not one of the format.
 */
bool printfmt_invert(const struct printfmt *pf, const char *text, size_t text_len, uint8_t *bytes,
		     uint32_t room, uint32_t *len);

#endif
