/* SPDX-License-Identifier: MIT */
/* Names of header sections, as perf prints them. */
#ifndef SONDE_FORMATS_PERFDATA_FEATURE_NAMES_H
#define SONDE_FORMATS_PERFDATA_FEATURE_NAMES_H

#include "formats/perfdata/layout.h"

enum { LAST_NAMED_FEATURE = FEAT_PMU_CAPS };

/* "BUILD_ID"; NULL if the section has no known name. */
const char *perfdata_feature_name(unsigned feature);

#endif
