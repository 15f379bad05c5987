/* SPDX-License-Identifier: MIT */
#include "base/thread.h"

#include <signal.h>

int thread_start(pthread_t *ret_id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(ret_id, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
