/* SPDX-License-Identifier: MIT */
#ifndef SONDE_BASE_THREAD_H
#define SONDE_BASE_THREAD_H

#include <pthread.h>

/*
 * Like pthread_create(), but the thread has all signals masked, so that they reach the caller's
 * thread that waits for them. Returns 0 on success, or an errno value that the caller reports. attr
 * may be NULL.
 */
int thread_start(pthread_t *ret_id, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

#endif
