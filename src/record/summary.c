/* SPDX-License-Identifier: MIT */
#include "record/summary.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "record/recorder.h"

void summary_say(const struct sonde_recorder *r, const struct sonde_record_result *result,
		 uint64_t unwritten)
{
	const double share =
		100.0 * (double)result->lost / (double)(result->lost + result->samples);
	const struct recorder_figures figures = recorder_file_figures(&r->file);
	char samples[64] = "", packed[96] = "", where[PATH_MAX + 64];

	if (r->rotation.nr_ended > 1)
		snprintf(where, sizeof(where), "in %u files %s.<timestamp>", r->rotation.nr_ended,
			 r->file.output.path);
	else
		snprintf(where, sizeof(where), "%s%s", r->file.output.path,
			 r->rotation.nr_ended ? ".<timestamp>" : "");
	say(&r->say, SAY_NORMAL, "[ sonde record: Woken up %llu times to write data ]",
	    (unsigned long long)r->wakeups);
	if (figures.packed_bytes)
		snprintf(packed, sizeof(packed), ", compressed (original %.3f MB, ratio is %.3f)",
			 (double)figures.plain_bytes / (1 << 20),
			 (double)figures.plain_bytes / (double)figures.packed_bytes);
	if (result->samples)
		snprintf(samples, sizeof(samples), " (%llu samples)",
			 (unsigned long long)result->samples);
	say(&r->say, SAY_NORMAL, "[ sonde record: Captured and wrote %.3f MB %s%s%s%s ]",
	    (double)result->bytes_written / (1 << 20), r->is_pipe ? "to " : "", where, packed,
	    samples);
	if (result->lost)
		say(&r->say, SAY_WARNING,
		    "%llu events were lost (%.*f %%), because a buffer was full: take larger "
		    "buffers (-m, now %zu pages for each "
		    "cpu), fewer events, or a --filter",
		    (unsigned long long)result->lost, share < 10 ? 2 : 0, share,
		    r->capture.counters.rings.mapped_bytes / (size_t)sysconf(_SC_PAGESIZE) - 1);
	if (r->state_lost)
		say(&r->say, SAY_WARNING,
		    "a buffer had no room for names, mappings, forks and exits either (records "
		    "lost: %llu): "
		    "some names may be missing",
		    (unsigned long long)r->state_lost);
	if (unwritten)
		say(&r->say, SAY_WARNING,
		    "%llu events were recorded, but could not be written: they are lost, too",
		    (unsigned long long)unwritten);
}
