/* SPDX-License-Identifier: MIT */
/* The values of keys, made from the numbers of the pass, and the orders of values. See keys.def. */
#ifndef SONDE_PROFILE_VALUES_H
#define SONDE_PROFILE_VALUES_H

#include "profile/types.h"

int value_comm(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_text(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_pid(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_dso(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_sym(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_cpu(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_time(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_parent(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_socket(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_srcline(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_branch_line(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_srcfile(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_symbol_size(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_dso_size(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_cgroup_id(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_decimal(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_address(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_page_size(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_transaction(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_field(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_ipc(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_addr(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);

extern const struct value_order order_text, order_number, order_size, order_dso, order_sym,
	order_field, order_ipc, order_parent;

/*
 * perf's order of functions. Without the key dso it compares unresolved addresses of all files, but
 * an address and a function by file; inlined functions are compared by name, the last first, others
 * by address. This is not a total order: unresolved addresses
 * compare across files, functions within one.
 */
int values_by_function(const struct profile *p, const struct profile_value *a,
		       const struct profile_value *b);

/* perf's letter for a cpu mode: k . g u H */
char value_level(uint32_t cpumode);

#endif
