/* SPDX-License-Identifier: MIT */
#ifndef SONDE_BASE_THREAD_H
#define SONDE_BASE_THREAD_H

#include <pthread.h>

/*
 * As pthread_create, with all signals masked: they are for the caller's thread that waits for them. 0, or an errno value
 * for the caller to explain. attr may be NULL.
 */
int thread_start(pthread_t *ret_id, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

#endif
