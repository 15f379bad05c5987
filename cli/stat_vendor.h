/* SPDX-License-Identifier: MIT */
/* Options of stat whose events depend on the processor: -T, --topdown, --smi-cost, -M, --iostat. */
#ifndef SONDE_CLI_STAT_VENDOR_H
#define SONDE_CLI_STAT_VENDOR_H

#include "opt.h"

#define STAT_FREEZE_ON_SMI "/sys/devices/cpu/freeze_on_smi"

struct stat_args;

int stat_set_transaction(struct opt_parser *p, void *values, const char *value, bool negated);
int stat_set_topdown(struct opt_parser *p, void *values, const char *value, bool negated);
int stat_set_smi(struct opt_parser *p, void *values, const char *value, bool negated);
int stat_refuse_metrics(struct opt_parser *p, void *values, const char *value, bool negated);
int stat_refuse_iostat(struct opt_parser *p, void *values, const char *value, bool negated);

/* Adds the events of --topdown once all options are known. Returns -1 with p->error. */
int stat_vendor_choose(struct opt_parser *p, struct stat_args *a);
/* value: '0' or '1'. Returns the value before, or -1 if it cannot be changed. */
int stat_freeze_on_smi(char value);

#endif
