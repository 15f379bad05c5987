/* SPDX-License-Identifier: MIT */
/*
 * The values in samples of an event type. The bits are those of sonde_sample.present, which are the
 * kernel's PERF_SAMPLE_*. Inputs that are not perf's use them under these names.
 */
#ifndef SONDE_MODEL_SAMPLED_H
#define SONDE_MODEL_SAMPLED_H

#include <stdint.h>

#define SAMPLED_IP             (UINT64_C(1) << 0)
#define SAMPLED_TID            (UINT64_C(1) << 1)
#define SAMPLED_TIME           (UINT64_C(1) << 2)
#define SAMPLED_ADDR           (UINT64_C(1) << 3)
#define SAMPLED_READ           (UINT64_C(1) << 4)
#define SAMPLED_CALLCHAIN      (UINT64_C(1) << 5)
#define SAMPLED_CPU            (UINT64_C(1) << 7)
#define SAMPLED_PERIOD         (UINT64_C(1) << 8)
#define SAMPLED_RAW            (UINT64_C(1) << 10)
#define SAMPLED_BRANCH_STACK   (UINT64_C(1) << 11)
#define SAMPLED_REGS_USER      (UINT64_C(1) << 12)
#define SAMPLED_STACK_USER     (UINT64_C(1) << 13)
#define SAMPLED_WEIGHT         (UINT64_C(1) << 14)
#define SAMPLED_DATA_SRC       (UINT64_C(1) << 15)
#define SAMPLED_IDENTIFIER     (UINT64_C(1) << 16)
#define SAMPLED_TRANSACTION    (UINT64_C(1) << 17)
#define SAMPLED_REGS_INTR      (UINT64_C(1) << 18)
#define SAMPLED_PHYS_ADDR      (UINT64_C(1) << 19)
#define SAMPLED_CGROUP         (UINT64_C(1) << 21)
#define SAMPLED_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define SAMPLED_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define SAMPLED_WEIGHT_STRUCT  (UINT64_C(1) << 24)

/* Either form of a weight. */
#define SAMPLED_WEIGHTS (SAMPLED_WEIGHT | SAMPLED_WEIGHT_STRUCT)

/* Bits of sonde_sample.read_format. */
#define READ_TIME_ENABLED (UINT64_C(1) << 0)
#define READ_TIME_RUNNING (UINT64_C(1) << 1)
#define READ_ID           (UINT64_C(1) << 2)
#define READ_LOST         (UINT64_C(1) << 4)

#endif
