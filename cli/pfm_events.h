/* SPDX-License-Identifier: MIT */
/* The value of --pfm-events as a value of -e. */
#ifndef SONDE_CLI_PFM_EVENTS_H
#define SONDE_CLI_PFM_EVENTS_H

/*
 * "A,{B:u,C}" becomes "pfm:A,{pfm:B:u,pfm:C}". free() frees the result; NULL if there is no memory.
 * Mistakes are left for the parser of -e to report.
 */
char *pfm_events_text(const char *list);

#endif
