/* SPDX-License-Identifier: MIT */
#ifndef SONDE_SINKS_TEXT_EVLIST_H
#define SONDE_SINKS_TEXT_EVLIST_H

/* What is to stand in a line of a list of event types: words separated by commas, NULL none. -EINVAL with a message. */
int evlist_details_parse(const char *text, unsigned *ret);

#endif
