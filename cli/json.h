/* SPDX-License-Identifier: MIT */
/* The pieces of a JSON object. docs/formats/lists-json.md describes the format. */
#ifndef SONDE_CLI_JSON_H
#define SONDE_CLI_JSON_H

#include <stdio.h>

/* Prints `{"schema":"sonde-SCHEMA","version":1,"sonde":"..."`, without the end of the object. */
void json_begin(const char *schema);
/* Prints a text in quotes, escaped. */
void json_write_string(FILE *out, const char *text);
/* The same on standard output. */
void json_put_string(const char *text);
/* Prints `,"name":"text"`, or nothing if text is NULL. */
void json_put_member(const char *name, const char *text);

#endif
