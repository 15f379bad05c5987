/* SPDX-License-Identifier: MIT */
#include "pfm_events.h"

#include "unittest.h"

#include <stdlib.h>

TEST(names_get_the_prefix)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "A", "pfm:A" },
		{ "A,B:u", "pfm:A,pfm:B:u" },
		{ " A , {B:c=1, skl::C}", " pfm:A , {pfm:B:c=1, pfm:skl::C}" },
		{ "{A},{B}", "{pfm:A},{pfm:B}" },
		{ "A,,B", "pfm:A,,pfm:B" },
		{ "{A}x", "{pfm:A}x" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = pfm_events_text(cases[i][0]);

		assert_string_equal(text, cases[i][1]);
		free(text);
	}
}
