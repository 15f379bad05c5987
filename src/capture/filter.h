/* SPDX-License-Identifier: MIT */
/*
 * The kernel's filter language, as far as needed to explain why the kernel refused a text. Its
 * ioctl returns only a number, and there EPERM and ENOENT mean a mistake in the text, not missing
 * rights.
 */
#ifndef SONDE_CAPTURE_FILTER_H
#define SONDE_CAPTURE_FILTER_H

#include "capture/tracefs.h"
#include "model/schema.h"

/* Writes to buf the mistake in a filter for an event with these fields; "" if none is found. */
void filter_check(const char *filter, const struct sonde_field *fields, size_t nr_fields, char *buf,
		  size_t size);
/*
 * After SET_FILTER failed with `error`: sets a message with the mistake and the event's fields.
 * Returns -EINVAL.
 */
int filter_explain(const struct tracefs *t, const char *system, const char *event,
		   const char *filter, int error);

#endif
