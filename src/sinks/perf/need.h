/* SPDX-License-Identifier: MIT */
/* The error of this folder's sinks for input that is not perf.data. */
#ifndef SONDE_SINKS_PERF_NEED_H
#define SONDE_SINKS_PERF_NEED_H

struct recording;
struct perfdata_view;

/*
 * The view of a recording in perf.data's format. For other formats it fails with -EINVAL and a
 * message that begins with `what`: "a list of records needs ...".
 */
int perf_view_need(const struct recording *rec, const char *what, struct perfdata_view **ret);

#endif
