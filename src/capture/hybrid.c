/* SPDX-License-Identifier: MIT */
#include "capture/hybrid.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/sysfile.h"

static const char prefix[] = "cpu_";

bool hybrid_is_source(const struct pmu *pmu)
{
	char cpus[512];

	return !strncmp(pmu->name, prefix, sizeof(prefix) - 1) &&
	       sysfile_line(cpus, sizeof(cpus), "%s/cpus", pmu->dir);
}

static void hybrid_insert(struct hybrid_sources *s, const struct pmu *pmu)
{
	size_t at = s->nr++;

	for (; at > 0 && s->list[at - 1].type > pmu->type; at--)
		s->list[at] = s->list[at - 1];
	s->list[at] = *pmu;
}

void hybrid_sources_find(const char *root, struct hybrid_sources *ret)
{
	char pattern[256];
	glob_t found = { 0 };

	ret->nr = 0;
	snprintf(pattern, sizeof(pattern), "%s/%s*", root ? root : PMU_SOURCES, prefix);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && ret->nr < HYBRID_SOURCES_MAX; i++) {
			struct pmu pmu;

			if (pmu_open(root, strrchr(found.gl_pathv[i], '/') + 1, &pmu) == 0 &&
			    hybrid_is_source(&pmu))
				hybrid_insert(ret, &pmu);
		}
	globfree(&found);
}

const char *hybrid_core_type(const struct pmu *pmu)
{
	return pmu->name + sizeof(prefix) - 1;
}

bool hybrid_is_counter(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

void hybrid_set_source(struct perf_event_attr *attr, const struct pmu *pmu)
{
	if (attr->type == PERF_TYPE_RAW)
		attr->type = pmu->type;
	else
		attr->config |= (uint64_t)pmu->type << HYBRID_SOURCE_SHIFT;
}

uint32_t hybrid_source_of(uint32_t type, uint64_t config)
{
	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE)
		return (uint32_t)(config >> HYBRID_SOURCE_SHIFT);
	return type == PERF_TYPE_RAW || type >= PERF_TYPE_MAX ? type : 0;
}
