/* SPDX-License-Identifier: MIT */
#include "record/preparer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/thread.h"
#include "base/vec.h"

enum state { IDLE, ASKED, ANSWERED, OVER };

struct preparer {
	const struct sonde_recorder *recorder;
	pthread_t thread;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	enum state state;
	VEC(int32_t) pids;
	struct file_beginning beginning;
	int result;
	char why[512]; /* the failure's text; error messages are per thread */
	int answered_fd;
};

static void *preparer_prepare(void *arg)
{
	struct preparer *p = arg;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct file_beginning b = { 0 };
		const uint64_t one = 1;
		int r;

		while (p->state == IDLE || p->state == ANSWERED)
			pthread_cond_wait(&p->changed, &p->lock);
		if (p->state == OVER)
			break;
		pthread_mutex_unlock(&p->lock);
		r = recorder_file_prepare(p->recorder, p->pids.v, p->pids.n, &b);
		pthread_mutex_lock(&p->lock);
		p->result = r;
		p->beginning = b;
		if (r < 0)
			strncpy(p->why, err_text(), sizeof(p->why) - 1);
		if (p->state == OVER)
			break;
		p->state = ANSWERED;
		/*
		 * A counter of 1 cannot overflow: there is no new request before the answer was
		 * taken.
		 */
		if (write(p->answered_fd, &one, sizeof(one)) < 0)
			p->result = -EIO;
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int preparer_new(struct preparer **ret, const struct sonde_recorder *r)
{
	struct preparer *p = calloc(1, sizeof(*p));
	int error;

	if (!p)
		return err_nomem();
	p->recorder = r;
	p->answered_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->answered_fd < 0) {
		error = errno;
		free(p);
		return err_errno(error, "cannot make an eventfd");
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	error = thread_start(&p->thread, NULL, preparer_prepare, p);
	if (error) {
		close(p->answered_fd);
		free(p);
		return err_errno(error, "cannot start a thread");
	}
	*ret = p;
	return 0;
}

int preparer_ask(struct preparer *p, const int32_t *pids, size_t nr_pids)
{
	int r = 0;

	pthread_mutex_lock(&p->lock);
	vec_clear(&p->pids);
	for (size_t i = 0; i < nr_pids && r == 0; i++)
		r = vec_push(&p->pids, pids[i]);
	if (r == 0) {
		p->state = ASKED;
		pthread_cond_signal(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return r;
}

int preparer_fd(const struct preparer *p)
{
	return p->answered_fd;
}

int preparer_take(struct preparer *p, struct file_beginning *ret)
{
	uint64_t count;
	int r = 0;

	pthread_mutex_lock(&p->lock);
	if (p->state == ANSWERED) {
		if (read(p->answered_fd, &count, sizeof(count)) < 0)
			count = 0; /* the count only wakes the reader */
		p->state = IDLE;
		r = p->result < 0 ? err_set(p->result, "%s", p->why) : 1;
		if (r > 0) {
			*ret = p->beginning;
			p->beginning = (struct file_beginning){ 0 };
		}
	}
	pthread_mutex_unlock(&p->lock);
	return r;
}

void preparer_free(struct preparer *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->state = OVER;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	file_beginning_done(&p->beginning);
	vec_done(&p->pids);
	close(p->answered_fd);
	free(p);
}
