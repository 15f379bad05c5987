/* SPDX-License-Identifier: MIT */
#include "stat/read_options.h"

#include <errno.h>
#include <stddef.h>

#include "base/keys.h"
#include "stat/options.h"

static const struct key read_keys[] = {
	KEY_WORD("by", struct stat_read_options, by, stat_by_words),
	KEY_WORD("compat", struct stat_read_options, compat, rules_versions),
	KEY_FLAG("force", struct stat_read_options, force),
};

int stat_read_options_parse(struct stat_read_options *ret, const char *settings)
{
	const struct key_set set = { read_keys, sizeof(read_keys) / sizeof(*read_keys), ret };
	int r;

	keys_init(set.keys, set.nr, ret, sizeof(*ret));
	r = key_sets_parse(&set, 1, settings ? settings : "", "counts of a file");
	ret->rules = rules_of(ret->compat);
	return r == -EINVAL ? -EBADR : r;
}
