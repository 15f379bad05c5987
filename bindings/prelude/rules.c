/* SPDX-License-Identifier: MIT */
/* perf's rules for the launchers of scripts. */
#include "prelude.h"

#include <string.h>

#define RULE(name)                                        \
	{                                                 \
#name, offsetof(struct sonde_rules, name) \
	}

const struct prelude_rule prelude_rules[] = {
	RULE(status_failed),           RULE(status_interrupted),
	RULE(perl_dies_with_errno),    RULE(perl_exit_fails),
	RULE(perl_runs_on_after_exit), RULE(binds_by_place),
	RULE(passes_over_handlers),    RULE(drops_file_name),
	RULE(syscall_names),           { NULL },
};

/* The value of the text's line compat=, not NUL-terminated; NULL if there is none. */
static const char *rules_version_of(const char *text)
{
	static const char key[] = "compat=";

	for (; *text; text += *text == '\n') {
		if (!strncmp(text, key, sizeof(key) - 1))
			return text + sizeof(key) - 1;
		text += strcspn(text, "\n");
	}
	return NULL;
}

const struct sonde_rules *prelude_rules_of_text(const char *text)
{
	const struct sonde_rules *rules = NULL;
	const char *version = rules_version_of(text);
	size_t len = version ? strcspn(version, "\n") : 0;
	char word[32];

	if (version && len < sizeof(word)) {
		memcpy(word, version, len);
		word[len] = '\0';
		rules = sonde_rules_find(word);
	}
	return rules ? rules : sonde_rules_get(0);
}
