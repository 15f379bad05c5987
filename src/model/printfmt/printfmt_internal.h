/* SPDX-License-Identifier: MIT */
/*
 * The inside of model/printfmt. A text passes four stages:
 *
 *	text --lexer.c--> tokens --parse_perf.c or parse_c.c--> nodes (a tree per argument)
 *	     --compile.c (lower_perf.c, lower_c.c)--> steps, expressions, text sources
 *	     --run.c (eval.c, ...)--> text
 *
 * Nodes are kept for defines.c. Everything is in the program's arena; running allocates nothing.
 */
#ifndef SONDE_MODEL_PRINTFMT_INTERNAL_H
#define SONDE_MODEL_PRINTFMT_INTERNAL_H

#include "base/err.h"
#include "model/printfmt/printfmt.h"

#include "model/schema.h"

/* The limit on nesting. No kernel's text is nearly as deep. */
#define PF_MAX_DEPTH 400
/* Fixed fields beyond this offset count as missing, because no record is longer. */
#define PF_MAX_OFFSET 65536u

/* ---- dialects -------------------------------------------------------------------------------- */

struct pf_dialect {
	const char *name;
	/* C's priorities and types; if false, perf's trees and 64-bit unsigned arithmetic */
	bool c_grammar;
	/* %c %+d `% d` %td %px ... as in the kernel; if false, perf's set and `>X<` */
	bool c_conversions;
	bool c_escapes; /* \a \x41 \101 ...; if false, only \n \t \r and the bare character */
	/* Additions of libtraceevent 1.7.1 to perf 6.1. C's grammar includes all of them. */
	bool folds_constants; /* in arguments with operators; only there ^ works */
	bool paren_record;    /* (REC)->x */
	bool full_arguments;  /* expressions as arguments of __print_hex and __print_array */
	/* __get_rel_dynamic_array counts from the field's end, not from the record's start */
	bool rel_arrays;
	bool pointer_casts;  /* %pM and %pU look through casts */
	bool size_is_long;   /* %zd has 64 bits, not 32 */
	bool strict_strings; /* an unprintable character ends a string */
	bool empty_strings;  /* a dynamic string of length 0 is not even padded */
	bool has_sizeof;     /* sizeof(long), sizeof(REC->scalar) */
	bool has_cpumask;    /* __get_cpumask as a list of cpus */
	bool has_sockaddr;
	bool endless_text; /* a text field without a final NUL continues into the next */
	bool sticky_text;  /* a text field found unprintable once is hex from then on */
	bool perf_defines; /* every constant is passed to scripts as a "value 0" */
};

const struct pf_dialect *pf_dialect_find(enum printfmt_dialect dialect);

/* ---- tokens ---------------------------------------------------------------------------------- */

enum pf_token_kind {
	PF_TOK_END,
	PF_TOK_OP,
	PF_TOK_DELIM,  /* ( ) , */
	PF_TOK_ITEM,   /* identifiers and numbers */
	PF_TOK_STRING, /* "..." without the quotes, neighbours joined, escapes untouched */
	PF_TOK_CHAR,   /* '...' without the quotes, escapes untouched */
	PF_TOK_BAD     /* a string that does not end */
};

struct pf_token {
	enum pf_token_kind kind;
	const char *text; /* borrowed from the input, or in the arena */
	size_t len;
};

/* ---- nodes ----------------------------------------------------------------------------------- */

/*
 * The first sixteen are in perf's order, because perf prints their numbers:
 * "ARG TYPE NOT FIELD BUT 2".
 */
enum pf_kind {
	PF_NULL,
	PF_ATOM,  /* number, identifier, string */
	PF_FIELD, /* REC->x */
	PF_FLAGS,
	PF_SYMBOL,
	PF_HEX,
	PF_ARRAY, /* __print_array */
	PF_CAST,
	PF_STR, /* __get_str */
	PF_BSTRING,
	PF_DYNARRAY, /* __get_dynamic_array */
	PF_OP,
	PF_FUNC,
	PF_BITMASK,
	PF_DYNLEN, /* __get_dynamic_array_len */
	PF_HEX_STR,
	PF_CPUMASK,
	PF_SOCKADDR,
	PF_HEX_DUMP,
	PF_DEREF, /* *(type *)expr: text is the type, a the address */
	PF_ADDR,  /* &REC->x */
	PF_NUMBER /* sizeof: value */
};

/* One { value, "name" } of a table. */
struct pf_pair {
	struct pf_pair *next;
	struct pf_node *value;  /* C grammar; NULL if the number is unknown */
	const char *value_text; /* perf grammar: perf's result for the value, as text */
	const char *name;
};

struct pf_node {
	uint8_t kind;
	uint8_t prio;     /* priority of an operator in perf's tree; 0 for a unary one */
	bool is_string;   /* atom: a string literal */
	bool is_char;     /* atom: a character literal */
	char op[4];       /* the operator; the b of "?" is a node ":" */
	const char *text; /* atom, name of a field, type of a cast */
	const struct sonde_field *field; /* NULL if there is no such field */
	struct pf_node *a, *b, *c;       /* operands; arguments of a helper */
	uint64_t value;
	const char *delim;
	struct pf_pair *pairs;
	struct pf_node *next; /* next argument of the print format */
	struct pf_node *more; /* further arguments of a helper (hex dump) */
};

struct pf_parser {
	struct arena *arena;
	const struct sonde_schema *schema;
	const struct pf_dialect *dialect;
	const char *pos, *end;
	struct pf_token tok; /* the current one */
	unsigned depth;
	size_t work; /* fields compared so far */
	bool no_memory;
	char *why; /* buffer for the reason of a refusal */
	size_t why_size;
};

void pf_next(struct pf_parser *p);
bool pf_is(const struct pf_parser *p, enum pf_token_kind kind, const char *text);
/* The token's text as a string in the arena. */
char *pf_token_text(struct pf_parser *p);
char *pf_join(struct pf_parser *p, const char *s, const char *delim, const char *t);
struct pf_node *pf_node_new(struct pf_parser *p, enum pf_kind kind);
const struct sonde_field *pf_find_field(struct pf_parser *p, const char *name, bool event_only);
/* Stores the reason why the text is refused; only the first one is kept. Returns false. */
bool pf_refuse(struct pf_parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Parse the arguments after the format string to a list linked by `next`. False if one is refused;
 * *ret then contains the arguments before it.
 */
bool pf_parse_perf(struct pf_parser *p, struct pf_node **ret);
bool pf_parse_c(struct pf_parser *p, struct pf_node **ret);
/* The value of a name that some kernels do not resolve in their tables. */
bool pf_known_name(const char *name, bool perf_only, uint64_t *ret);

/* ---- programs -------------------------------------------------------------------------------- */

enum pf_code {
	PF_E_CONST,
	PF_E_LOAD1,
	PF_E_LOAD2,
	PF_E_LOAD4,
	PF_E_LOAD8, /* unsigned, at offset, host order */
	PF_E_LOADS1,
	PF_E_LOADS2,
	PF_E_LOADS4, /* sign-extended */
	PF_E_SWAP2,
	PF_E_SWAP4,
	PF_E_SWAP8, /* unsigned, at offset, other order */
	PF_E_MASK4,
	PF_E_MASK8,    /* unsigned, at offset, and value */
	PF_E_INDEX,    /* `width` bytes at offset + a * value */
	PF_E_DYNINDEX, /* the same, counted from the place that a dynamic field points to */
	PF_E_DYNLEN,
	PF_E_DYNADDR, /* the offset that a dynamic field points to */
	PF_E_TRUNC1,
	PF_E_TRUNC2,
	PF_E_TRUNC4,
	PF_E_SEXT1,
	PF_E_SEXT2,
	PF_E_SEXT4,
	PF_E_NEG,
	PF_E_NOT,
	PF_E_LNOT,
	PF_E_ADD,
	PF_E_SUB,
	PF_E_MUL,
	PF_E_DIV,
	PF_E_MOD,
	PF_E_SDIV,
	PF_E_SMOD,
	PF_E_SHL,
	PF_E_SHR,
	PF_E_SSHR,
	PF_E_AND,
	PF_E_OR,
	PF_E_XOR,
	PF_E_LT,
	PF_E_LE,
	PF_E_GT,
	PF_E_GE,
	PF_E_SLT,
	PF_E_SLE,
	PF_E_SGT,
	PF_E_SGE,
	PF_E_EQ,
	PF_E_NE,
	PF_E_LAND,
	PF_E_LOR,
	PF_E_COND
};

struct pf_expr {
	uint8_t code;
	uint8_t width;
	uint32_t offset;
	uint64_t value;
	const struct sonde_field *field; /* set for dynamic codes */
	const struct pf_expr *a, *b, *c;
};

/* The place of bytes: a fixed or dynamic field, or part of one. */
struct pf_place {
	const struct sonde_field *field;
	const struct pf_expr *skip; /* bytes to skip at the field's beginning; NULL if none */
	bool itself;                /* a dynamic field's own word, not the bytes it points to */
};

enum pf_text_kind {
	PF_T_NOTHING,
	PF_T_CONST,
	PF_T_BYTES,   /* a field's bytes up to the first NUL */
	PF_T_CSTR,    /* bytes that a dynamic field points to, up to the first NUL */
	PF_T_POINTER, /* printk text or hexadecimal */
	PF_T_FLAGS,
	PF_T_SYMBOL,
	PF_T_HEX,
	PF_T_ARRAY,
	PF_T_BITMASK,
	PF_T_CPUMASK,
	PF_T_SOCKADDR,
	PF_T_HEX_DUMP,
	PF_T_NUMBER, /* a number where text was expected, C grammar */
	PF_T_COND
};

struct pf_entry {
	uint64_t value;
	const char *name;
	uint32_t len;
	/* perf treats an unknown value as -1: it prints this entry for 0, and ends the list. */
	bool matches_none;
	bool never; /* the entry is never printed */
};

struct pf_text {
	uint8_t kind;
	bool compact;     /* hex: no blanks; dynamic string: not even padded if its length is 0 */
	bool braces;      /* array: printed like the kernel's {0x1,0x2} */
	bool is_list;     /* bitmap: printed as 0,4-7 */
	bool none_entry;  /* flags: an entry has matches_none */
	const char *text; /* constant, delimiter, prefix of hex dump lines */
	uint32_t len;
	const struct pf_expr *num; /* the value for flags and symbols, or a condition */
	const struct pf_expr *count, *elem;
	struct pf_place place;
	const struct pf_entry *entries;
	uint32_t nr_entries;
	const struct pf_text *a, *b;
	const struct pf_expr *prefix_type, *row, *group, *ascii; /* hex dump */
};

struct pf_spec {
	char conv;    /* d i u x X o c s p */
	uint8_t bits; /* width of the number: 8 16 32 64 */
	bool left, zero, alt, plus, space;
	bool has_prec, star_width, star_prec;
	uint32_t width, prec;
};

enum pf_pointer {
	PF_P_ADDRESS,
	PF_P_FUNC,
	PF_P_MAC,
	PF_P_IP4,
	PF_P_IP6,
	PF_P_SOCKADDR,
	PF_P_UUID,
	PF_P_BUFFER,
	PF_P_BITMAP
};

/* The output for %p and its letters. */
struct pf_pointer_spec {
	uint8_t kind; /* enum pf_pointer */
	bool lower;   /* %pi4 %pi6 %pm: digits padded, no separators */
	bool reverse, dash, compressed, port, flow, scope, with_offset, upper, little, is_list;
	bool back_one;         /* %pB: the call before a return address */
	bool hex_zero;         /* address: 0x0, not (nil) */
	char delim;            /* between bytes of a buffer; 0 if none */
	const char *complaint; /* printed if the argument has a wrong kind or size; else NULL */
};

enum pf_step_code {
	PF_S_TEXT,  /* the prefix only */
	PF_S_DEC4S, /* %d of a 4-byte field, host order */
	PF_S_DEC4U,
	PF_S_DEC8S,
	PF_S_DEC8U,
	PF_S_HEX4,
	PF_S_HEX8,
	PF_S_COMM,  /* %s of a char array of 16 bytes */
	PF_S_BYTES, /* %s of a fixed array */
	PF_S_DEC,   /* plain %d %u %x of an expression; the spec has the bits */
	PF_S_UDEC,
	PF_S_HEX,
	PF_S_NUMBER, /* any number with its spec */
	PF_S_CHAR,
	PF_S_STR, /* plain %s of a text source */
	PF_S_STR_SPEC,
	PF_S_POINTER
};

/* A step writes its prefix, then its value. */
struct pf_step {
	uint8_t code;
	uint32_t prefix_len, offset, width;
	uint32_t room;      /* bytes that the prefix and a plain value may take */
	const char *prefix; /* 32 readable bytes follow its end */
	const struct pf_expr *num, *star;
	const struct pf_text *text;
	const struct pf_spec *spec;
	const struct pf_pointer_spec *pointer;
	struct pf_place place;
	const struct sonde_field *only; /* the field that is the argument, casts or not; or NULL */
};

struct printfmt {
	struct arena arena;
	const struct sonde_schema *schema;
	const struct pf_dialect *dialect;
	struct pf_node *args;
	const char *refused;
	struct pf_step *steps;
	size_t nr_steps;
	bool is_bprint;
	uint32_t need; /* size of a record that contains all fixed fields */
	bool swap;
	/* Fields of ftrace:bprint; NULL for other events. */
	const struct sonde_field *bprint_ip, *bprint_fmt, *bprint_buf;
	uint8_t *not_text; /* per field: 1 if it was unprintable once, which perf remembers */
};

/* The input of a running program. */
struct pf_run {
	const uint8_t *bytes; /* at least pf->need bytes, with zeros after the record */
	uint32_t len;         /* size of the record */
	bool swap, big_endian;
	uint8_t long_bytes;
	bool perf;
	const struct printfmt_env *env;
	struct outbuf *out;
};

/* env is NULL if nothing but the bytes is needed. */
static inline struct pf_run pf_run_of(const struct printfmt *pf, const struct printfmt_env *env,
				      const uint8_t *bytes, uint32_t len, struct outbuf *out)
{
	return (struct pf_run){
		.bytes = bytes ? bytes : (const uint8_t *)"",
		.len = len,
		.swap = pf->schema->abi.swap,
		.big_endian = pf->schema->abi.big_endian,
		.long_bytes = pf->schema->abi.long_bytes,
		.perf = !pf->dialect->c_grammar,
		.env = env,
		.out = out,
	};
}

uint64_t pf_eval(const struct pf_run *r, const struct pf_expr *e);
/* The bytes of a place, clipped to the record; NULL if they are outside the record. */
const uint8_t *pf_place_bytes(const struct pf_run *r, const struct pf_place *pl, uint32_t *ret_len);
/* The bytes from a place to the end of the record, for pointers without a length. */
const uint8_t *pf_place_rest(const struct pf_run *r, const struct pf_place *pl, uint32_t *ret_len);

void pf_put_text(const struct pf_run *r, const struct pf_text *t, const struct pf_spec *spec);
void pf_put_str(struct outbuf *o, const char *s, size_t n, const struct pf_spec *spec);
void pf_put_number(struct outbuf *o, uint64_t v, const struct pf_spec *spec);
void pf_put_bitmask(const struct pf_run *r, const uint8_t *p, uint32_t n, uint32_t bits,
		    bool is_list, const struct pf_spec *spec);
void pf_put_hex_dump(const struct pf_run *r, const struct pf_text *t);
void pf_put_pointer(const struct pf_run *r, const struct pf_step *s, int64_t star);
/* ftrace:bprint, an event that contains the address of its own format string. */
bool pf_bprint_find(struct printfmt *pf);
void pf_put_bprint(const struct printfmt *pf, const struct pf_run *r);
void pf_put_fields(const struct printfmt *pf, const struct pf_run *r);
/* A field's value without a conversion. */
void pf_put_field(const struct printfmt *pf, const struct pf_run *r, const struct sonde_field *f);

/* ---- compiling ------------------------------------------------------------------------------- */

/* The facts about a C type that numbers need. */
struct pf_ctype {
	uint8_t width; /* bytes; 0 if it is no number */
	bool is_signed;
	uint8_t target; /* for a pointer, bytes of its target; 0 if unknown or no pointer */
	bool target_signed;
};

struct pf_compiler {
	struct arena *arena;
	const struct sonde_schema *schema;
	const struct pf_dialect *dialect;
	uint32_t need;
	struct pf_parser *parser; /* receives the reason of a refusal */
	unsigned depth;
	unsigned budget; /* nodes still allowed; `a ?: b` counts a twice */
	bool no_memory;
};

bool pf_enter(struct pf_compiler *c); /* enters one more level of nodes; false if a limit is reached
				       */
void pf_leave(struct pf_compiler *c);
struct pf_expr *pf_expr_new(struct pf_compiler *c, enum pf_code code, const struct pf_expr *a,
			    const struct pf_expr *b);
struct pf_expr *pf_expr_const(struct pf_compiler *c, uint64_t v);
/* Loads the number of a fixed field; gives 0 if no number has its size. */
struct pf_expr *pf_expr_load(struct pf_compiler *c, uint32_t offset, uint32_t width,
			     bool is_signed);
struct pf_expr *pf_expr_dynamic(struct pf_compiler *c, enum pf_code code,
				const struct sonde_field *f);

/* Lowering: NULL if the node is refused or memory ran out. */
struct pf_expr *pf_lower_perf(struct pf_compiler *c, const struct pf_node *n);
struct pf_expr *pf_lower_c(struct pf_compiler *c, const struct pf_node *n, struct pf_ctype *ret);
/* A number used only as a condition. An array counts as true, because it has an address. */
struct pf_expr *pf_truth_c(struct pf_compiler *c, const struct pf_node *n);
const struct pf_text *pf_lower_text_perf(struct pf_compiler *c, const struct pf_node *n);
const struct pf_text *pf_lower_text_c(struct pf_compiler *c, const struct pf_node *n);
/*
 * The place that a pointer-like expression points to: an array field, __get_dynamic_array, a cast
 * of them, with or without an offset.
 */
bool pf_lower_place(struct pf_compiler *c, const struct pf_node *n, struct pf_place *ret,
		    struct pf_ctype *ret_elem);
struct pf_text *pf_text_new(struct pf_compiler *c, enum pf_text_kind kind);
/* Copies a constant text, so that 16 bytes after its end are readable. */
bool pf_text_set(struct pf_compiler *c, struct pf_text *t, const char *text, size_t len);
bool pf_c_type(const char *name, uint8_t long_bytes, struct pf_ctype *ret);
uint64_t pf_perf_cast(uint64_t v, const char *type, bool element);
/*
 * The bytes of a number that remain after perf's cast to a type. If `element` is true, the type is
 * a pointer to the number's type.
 */
unsigned pf_perf_cast_width(const char *type, size_t len, bool element);
/* Computes an operator of two constants. False for any other operator or a division by zero. */
bool pf_perf_binary(const char *op, uint64_t a, uint64_t b, uint64_t *ret);
/* perf's size of an array's elements. */
uint32_t pf_perf_elem_width(const struct sonde_schema *sc, const struct sonde_field *f);
const struct sonde_field *pf_perf_array_field(struct pf_compiler *c, const struct sonde_field *f);
bool pf_has_brackets(const struct sonde_field *f);
void pf_need(struct pf_compiler *c, uint64_t end);

/* Compiles a format string and its arguments to steps. */
int pf_compile_steps(struct pf_compiler *c, struct printfmt *pf, const char *format,
		     struct pf_node *args);
/* Reads the letters after %p; returns how many belong to it. */
size_t pf_pointer_parse(const char *letters, bool star, const struct pf_dialect *d,
			const struct abi *abi, struct pf_pointer_spec *ret);
/* Resolves the escapes of C, or the few of perf. The result is in the arena. */
char *pf_unescape(struct pf_compiler *c, const char *s, size_t *ret_len);

#endif
