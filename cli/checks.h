/* SPDX-License-Identifier: MIT */
/*
 * The counts of sonde check: one pass over the events of a recording, a result for each question.
 */
#ifndef SONDE_CLI_CHECKS_H
#define SONDE_CLI_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check {
	CHECK_SYMBOLS,
	CHECK_STACKS,
	CHECK_BUILD_IDS,
	CHECK_LOSSES,
	CHECK_THROTTLING,
	CHECK_CLOCK,
	CHECK_DAMAGE,
	NR_CHECKS
};
extern const char *const check_names[NR_CHECKS];

struct check_result {
	double value, limit; /* the result is over its limit if value > limit */
	bool is_share;       /* both are percentages */
	bool is_asked;       /* false if the recording has nothing to check */
	char text[200];
};

/* A file whose code was sampled, or is in frames of call chains. */
struct check_file {
	uint64_t id;                 /* sonde_location.dso_id; 0 if the address has no mapping */
	const char *name, *build_id; /* owned; build_id is "" if unknown */
	uint64_t samples, unknown;   /* unknown: samples without a symbol */
	/* frames without a symbol, not counting the sample's own address */
	uint64_t unknown_frames;
	uint32_t why; /* enum sonde_unknown, of the first unknown sample */
	bool is_file; /* false for memory of a JIT and the like */
};

struct sonde_session;
struct checks {
	uint64_t samples, places, unknown; /* places: samples with an address */
	uint64_t stacks, truncated;
	uint64_t without_time;
	struct check_result results[NR_CHECKS];
	void *by_id; /* of struct check_file, by tsearch(3) */
	/*
	 * All files of by_id; after checks_run() those with most unknown samples and frames are
	 * first.
	 */
	struct check_file **files;
	size_t nr_files;
	struct check_file *last;
};

void checks_init(struct checks *c); /* with the default limits */
/*
 * Reads all events and fills in the results. ctx is a struct checks. Returns 0, or a negative errno
 * with the library's causes.
 */
int checks_run(struct sonde_session *s, void *ctx);
void checks_done(struct checks *c);

#endif
