/* SPDX-License-Identifier: MIT */
/* The parser of CTF 1.8's metadata language (TSDL): tokens, names of types, types, blocks. */
#ifndef SONDE_FORMATS_CTF_TSDL_H
#define SONDE_FORMATS_CTF_TSDL_H

#include "base/err.h"
#include "formats/ctf/model.h"

enum tsdl_token_kind {
	TOKEN_END,
	TOKEN_WORD, /* an identifier or a keyword */
	TOKEN_NUMBER,
	TOKEN_TEXT,
	TOKEN_SIGN,   /* one character */
	TOKEN_ASSIGN, /* := */
	TOKEN_DOTS    /* ... */
};

struct tsdl_token {
	enum tsdl_token_kind kind;
	unsigned line, column;
	char sign;
	uint64_t number;
	const char *text; /* WORD, TEXT: in the arena */
	size_t len;
};

/* The spaces of names: those of structs, variants, enums and plain types are separate. */
enum tsdl_space { SPACE_STRUCT = 's', SPACE_VARIANT = 'v', SPACE_ENUM = 'e', SPACE_TYPE = 't' };

struct tsdl_name {
	enum tsdl_space space;
	const char *name;
	const struct ctf_type *type;
	unsigned scope;
	size_t shadowed; /* index + 1 of the name of the same hash that this one hides */
	uint64_t hash;
};

struct tsdl {
	struct ctf_trace *trace;
	const char *at, *end;
	unsigned line;
	const char *line_start;
	struct tsdl_token token; /* the current one */
	VEC(struct tsdl_name) names;
	struct hash64 name_of; /* hash -> index of the innermost name */
	unsigned scope, depth;
	bool has_trace;
};

/* tsdl_lexer.c: moves to the next token. */
int tsdl_advance(struct tsdl *p);
/* Fails with the place of the token. Returns -EBADMSG. */
int tsdl_fail_at(const struct tsdl *p, unsigned line, unsigned column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define tsdl_fail(p, ...) tsdl_fail_at(p, (p)->token.line, (p)->token.column, __VA_ARGS__)
/* "found ..." for messages, in room. */
const char *tsdl_found(const struct tsdl *p, char room[80]);

static inline bool tsdl_is_sign(const struct tsdl *p, char sign)
{
	return p->token.kind == TOKEN_SIGN && p->token.sign == sign;
}

bool tsdl_is_word(const struct tsdl *p, const char *word);
/* Passes the sign, or fails. */
int tsdl_expect(struct tsdl *p, char sign);
/* 1 and passes the sign, 0 if another token is here. */
int tsdl_take(struct tsdl *p, char sign);
int tsdl_take_word(struct tsdl *p, const char *word);

/* tsdl_names.c */
void tsdl_scope_begin(struct tsdl *p);
void tsdl_scope_end(struct tsdl *p);
int tsdl_name_add(struct tsdl *p, enum tsdl_space space, const char *name,
		  const struct ctf_type *type, const struct tsdl_token *at);
const struct ctf_type *tsdl_name_find(struct tsdl *p, enum tsdl_space space, const char *name);

/* tsdl_scalars.c */
struct ctf_type *tsdl_type_new(struct tsdl *p, enum ctf_kind kind);
/* A value after '='. */
struct tsdl_value {
	bool is_number, is_negative, is_path;
	uint64_t number;  /* without its sign */
	const char *text; /* of a string, an identifier or a dotted path */
	struct tsdl_token at;
};
int tsdl_value(struct tsdl *p, struct tsdl_value *ret);
int tsdl_value_unsigned(struct tsdl *p, const struct tsdl_value *v, const char *what,
			uint64_t *ret);
/* Words joined by dots. */
int tsdl_dotted(struct tsdl *p, const char **ret);
/* The byte order of its word; 0 if it is native. */
int tsdl_order(struct tsdl *p, const struct tsdl_value *v, uint8_t *ret);
int tsdl_align(struct tsdl *p, const struct tsdl_value *v, uint32_t *ret);
/* The types, after their first word. */
int tsdl_integer(struct tsdl *p, const struct ctf_type **ret);
int tsdl_float(struct tsdl *p, const struct ctf_type **ret);
int tsdl_string(struct tsdl *p, const struct ctf_type **ret);

/* tsdl_types.c */
/* A type without a declarator: "unsigned long", "struct { }". */
int tsdl_specifier(struct tsdl *p, const struct ctf_type **ret);
/* "T a, b[2];" and "T := NAME;", after their first words. */
int tsdl_typedef(struct tsdl *p);
int tsdl_typealias(struct tsdl *p);
/* typedef or typealias. Returns 0 if none begins. */
int tsdl_declaration(struct tsdl *p);
/* "struct NAME", "struct { }", or the name of one. */
int tsdl_scope_type(struct tsdl *p, const struct ctf_type **ret);

#endif
