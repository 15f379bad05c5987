/* SPDX-License-Identifier: MIT */
/* Prints the ten hottest functions of a recording: their share, program, file and name. */

#include <sonde/sonde.h>
#include <stdio.h>

static int hottest_fail(const char *what)
{
	fprintf(stderr, "hottest: %s: %s\n", what, sonde_error_text());
	return 1;
}

int main(int argc, char **argv)
{
	struct sonde_profile_table table = { .size = sizeof(table) };
	struct sonde_profile_row row = { .size = sizeof(row) };
	struct sonde_session *session;
	struct sonde_profile *profile;
	char text[4096];

	snprintf(text, sizeof(text), "input=%s\ncallchain=0\n", argc > 1 ? argv[1] : "perf.data");
	if (sonde_session_open(&session, text, "the command line") < 0)
		return hottest_fail("open");
	if (sonde_profile_new(&profile, "keys=comm,dso,sym\n", NULL) < 0 ||
	    sonde_profile_read(profile, session) < 0 || sonde_profile_finish(profile) < 0)
		return hottest_fail("read");
	for (uint32_t t = 0; sonde_profile_table(profile, t, &table) > 0; t++) {
		printf("%s\n", table.name);
		for (uint64_t i = 0; i < 10 && sonde_profile_row(profile, t, i, &row) > 0; i++) {
			const double all = table.period ? (double)table.period : 1;

			printf("%7.2f%%  %-16s  %-20s  %s\n", 100 * (double)row.period / all,
			       sonde_profile_text(profile, t, i, 0),
			       sonde_profile_text(profile, t, i, 1),
			       sonde_profile_text(profile, t, i, 2));
		}
	}
	sonde_profile_free(profile);
	sonde_session_close(session);
	return 0;
}
