/* SPDX-License-Identifier: MIT */
/* What sonde check counts of a recording: one walk over its events, a result for each question. */
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
	double value, limit; /* over: value > limit */
	bool is_share;       /* both are percents */
	bool is_asked;       /* false: the recording has nothing of the kind */
	char text[200];
};

/* A file in which samples or frames of call chains lie. */
struct check_file {
	uint64_t id;                 /* sonde_location.dso_id; 0: nothing was mapped there */
	const char *name, *build_id; /* owned; build_id "" unknown */
	uint64_t samples, unknown; /* unknown: samples without a symbol */
	uint64_t unknown_frames;   /* of call chains, without the sample's own address */
	uint32_t why;              /* enum sonde_unknown, of the first unknown one */
	bool is_file; /* not memory of a JIT and the like */
};

struct sonde_session;
struct checks {
	uint64_t samples, places,
		unknown; /* places: samples whose address tells where they were taken */
	uint64_t stacks, cut;
	uint64_t without_time;
	struct check_result results[NR_CHECKS];
	void *by_id;               /* tsearch(3)'s; of struct check_file */
	/* those; after checks_run() most unknown samples and frames first */
	struct check_file **files;
	size_t nr_files;
	struct check_file *last;
};

void checks_init(struct checks *c); /* with the default limits */
/* Reads all events; fills the results. ctx: struct checks. 0, or <0 with the library's causes. */
int checks_run(struct sonde_session *s, void *ctx);
void checks_done(struct checks *c);

#endif
