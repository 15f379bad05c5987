/* SPDX-License-Identifier: MIT */
/*
 * The kernel's filter language, as far as it takes to say what is wrong with a text that the kernel refused: its ioctl
 * answers with a bare number, and EPERM and ENOENT there mean a mistake in the text, not missing rights.
 */
#ifndef SONDE_CAPTURE_FILTER_H
#define SONDE_CAPTURE_FILTER_H

#include "capture/tracefs.h"
#include "model/schema.h"

/* What is wrong with the filter for an event with these fields, as text into buf; "" when nothing is found. */
void filter_check(const char *filter, const struct sonde_field *fields, size_t nr_fields, char *buf,
		  size_t size);
/* After SET_FILTER failed with `error`: a message with the mistake and the event's fields; returns -EINVAL. */
int filter_explain(const struct tracefs *t, const char *system, const char *event,
		   const char *filter, int error);

#endif
