/* SPDX-License-Identifier: MIT */
/* Names of types and their scopes. A name of an inner scope hides that of an outer one. */
#include <string.h>

#include "formats/ctf/tsdl.h"

static uint64_t names_hash(enum tsdl_space space, const char *name)
{
	return hash_bytes(name, strlen(name)) + (uint64_t)space;
}

void tsdl_scope_begin(struct tsdl *p)
{
	p->scope++;
}

/* Index + 1 of the innermost name of this hash; 0 if there is none. */
static size_t names_top(const struct tsdl *p, uint64_t hash)
{
	const uint64_t i = hash64_find(&p->name_of, hash);

	return i == HASH64_EMPTY ? 0 : (size_t)i;
}

void tsdl_scope_end(struct tsdl *p)
{
	while (p->names.n && p->names.v[p->names.n - 1].scope == p->scope) {
		const struct tsdl_name *name = &p->names.v[--p->names.n];

		/* Replacing a value cannot fail. */
		(void)hash64_put(&p->name_of, name->hash, name->shadowed);
	}
	p->scope--;
}

static const struct tsdl_name *names_find(struct tsdl *p, enum tsdl_space space, const char *name)
{
	for (size_t i = names_top(p, names_hash(space, name)); i; i = p->names.v[i - 1].shadowed) {
		const struct tsdl_name *n = &p->names.v[i - 1];

		if (n->space == space && !strcmp(n->name, name))
			return n;
	}
	return NULL;
}

const struct ctf_type *tsdl_name_find(struct tsdl *p, enum tsdl_space space, const char *name)
{
	const struct tsdl_name *n = names_find(p, space, name);

	return n ? n->type : NULL;
}

int tsdl_name_add(struct tsdl *p, enum tsdl_space space, const char *name,
		  const struct ctf_type *type, const struct tsdl_token *at)
{
	const struct tsdl_name *old = names_find(p, space, name);
	const struct tsdl_name n = {
		.space = space,
		.name = name,
		.type = type,
		.scope = p->scope,
		.hash = names_hash(space, name),
		.shadowed = names_top(p, names_hash(space, name)),
	};

	if (old && old->scope == p->scope)
		return tsdl_fail_at(p, at->line, at->column,
				    "the type '%.100s' is defined twice in this scope", name);
	if (vec_push(&p->names, n) < 0 || hash64_put(&p->name_of, n.hash, p->names.n) < 0)
		return err_nomem();
	return 0;
}
