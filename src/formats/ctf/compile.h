/* SPDX-License-Identifier: MIT */
/*
 * Types compiled for the places that have them: each scope of a stream or an event is a program,
 * a row of steps. The steps of a struct's members follow the struct's own step; `next` is behind
 * them. Lengths and tags are resolved: the field that they refer to puts its value into a slot.
 *
 *	struct { uint8_t len; string a[len]; uint32_t b; }
 *
 *	0 STRUCT            next 5
 *	1 INT       slot 0  next 2
 *	2 SEQUENCE  ref 0   next 4
 *	3 STRING            next 4
 *	4 INT               next 5
 */
#ifndef SONDE_FORMATS_CTF_COMPILE_H
#define SONDE_FORMATS_CTF_COMPILE_H

#include "formats/ctf/model.h"

#define CTF_NO_SLOT UINT32_MAX

/* Labels are copied in pieces of this size; digits are written into as much memory. */
enum { CTF_LABEL_SLACK = 16, CTF_NUMBER_BYTES = 24, CTF_QUICK_TEXT = 256 };

/* How a quick step is printed. Numbers of the last form have another size or byte order. */
enum ctf_quick_form { QUICK_TEXT, QUICK_U32, QUICK_I32, QUICK_U64, QUICK_I64, QUICK_NUMBER };

/* A quick step, as text.c prints it. */
struct ctf_quick {
	const char *label; /* of the step */
	uint32_t label_len;
	uint32_t off;   /* in bytes, from the first step of the run */
	uint32_t count; /* TEXT: bytes */
	uint8_t form;   /* enum ctf_quick_form */
	uint8_t bits, base;
	bool is_big, is_signed;
};

/* The option of a variant for values of its tag. */
struct ctf_choice {
	uint64_t from, to;
	uint32_t step;
};

/* What is added to a copied number of a payload, in this host's byte order. */
struct ctf_add {
	uint32_t to;
	int32_t add;
	uint8_t width;
};

struct ctf_step {
	uint8_t kind; /* enum ctf_kind */
	uint8_t role; /* enum ctf_role */
	uint8_t base, bits;
	bool is_big, is_signed, is_text, is_leb;
	bool is_hidden; /* describes packets or events: no field of them */
	bool is_fixed;  /* has fixed_bits if it begins at its alignment; is only passed */
	/* A number of complete bytes in base 10 or 16, or a short text: see text_write_run(). */
	bool is_quick;
	bool is_last;        /* member of its struct, or any option of a variant */
	bool is_tag_signed;  /* VARIANT */
	bool is_optional;    /* VARIANT */
	uint32_t align;      /* bits; a power of 2 */
	uint32_t next;       /* the step behind this one and all inside it */
	uint32_t slot;       /* gets the value; CTF_NO_SLOT if none */
	uint32_t ref;        /* SEQUENCE, VARIANT: slot of the length or tag */
	uint32_t run_next;   /* behind the fixed steps from this one on; 0 if not fixed */
	uint32_t nr_choices; /* VARIANT */
	uint64_t count;      /* ARRAY */
	uint64_t fixed_bits, run_bits;
	const struct ctf_choice *choices;
	const struct ctf_clock *clock;
	const struct ctf_type *type;
	const char *name; /* as written; NULL for the scope and for elements */
	const char *shown;
	const char *label; /* ", shown = ", for text; CTF_LABEL_SLACK bytes may be read behind it */
	uint32_t label_len;
	/* The quick steps from this one on: the step behind them, their bits, the most of text. */
	uint32_t quick_next, quick_room, nr_quick;
	uint64_t quick_bits;
	const struct ctf_quick *quick;
	/* For the source: where the value is in the payload of an event. */
	uint32_t to;
	uint32_t copy_bytes, copy_next;
	uint8_t fill, width;
	int32_t add;      /* a number's difference to that of the kernel */
	uint32_t nr_adds; /* of the steps up to copy_next */
	const struct ctf_add *adds;
};

#endif
