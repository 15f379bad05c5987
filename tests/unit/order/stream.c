/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a pipe are read again from memory or from a temporary file, unless they were released.
 */
#include "unittest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "sources/stream.h"

enum { WORDS = 5 * 1024 * 1024 }; /* 40 MiB: more than is kept in memory */

/* The stream consists of words; word i has the value i. */
static void *write_words(void *arg)
{
	uint64_t words[1024];
	int fd = *(int *)arg;

	for (uint64_t i = 0; i < WORDS; i += 1024) {
		for (uint64_t k = 0; k < 1024; k++)
			words[k] = i + k;
		if (write(fd, words, sizeof(words)) != (ssize_t)sizeof(words))
			break;
	}
	close(fd);
	return NULL;
}

static struct stream stream;
static pthread_t writer;
static int fds[2];

static void begin(void)
{
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_words, &fds[1]), 0);
	stream_init(&stream, fds[0], "a pipe", NULL);
}

static void end(void)
{
	stream_done(&stream);
	close(fds[0]);
	assert_int_equal(pthread_join(writer, NULL), 0);
}

/* Checks n words from word i on. */
static void expect_words(uint64_t i, uint64_t n)
{
	static uint64_t words[65536];
	uint64_t off = 8 * i, got = 0;

	assert_true(n <= 65536);
	while (got < 8 * n) {
		int64_t r = stream_read(&stream, off + got, (char *)words + got, 8 * n - got);

		assert_true(r > 0);
		got += (uint64_t)r;
	}
	for (uint64_t k = 0; k < n; k++)
		assert_int_equal(words[k], i + k);
}

TEST(reads_again_what_nobody_let_go)
{
	char byte;

	begin();
	for (uint64_t i = 0; i < WORDS; i += 65536)
		expect_words(i, 65536);
	assert_int_equal(stream_read(&stream, 8 * (uint64_t)WORDS, &byte, 1), 0);
	for (uint64_t i = 0; i < WORDS; i += 10 * 65536)
		expect_words(i, 65536);
	expect_words(STREAM_MEMORY / 8 - 3, 7);
	expect_words(WORDS - 5, 5);
	assert_true(stream.spool >= 0);
	end();
}

TEST(keeps_no_more_than_is_needed)
{
	uint64_t word;

	begin();
	for (uint64_t i = 0; i < WORDS; i += 65536) {
		stream_let_go(&stream, 8 * i);
		expect_words(i, 65536);
	}
	assert_int_equal(stream.spool, -1);
	assert_true(stream_read(&stream, 0, &word, 8) < 0);
	assert_non_null(strstr(err_text(), "not kept"));
	end();
}

TEST(waits_until_asked_to_stop)
{
	atomic_int stopped = 1;
	char byte;

	assert_int_equal(pipe(fds), 0);
	stream_init(&stream, fds[0], "a pipe", &stopped);
	assert_int_equal(stream_read(&stream, 0, &byte, 1), -EINTR);
	atomic_store(&stopped, 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(stream_read(&stream, 0, &byte, 1), 1);
	close(fds[1]);
	assert_int_equal(stream_read(&stream, 1, &byte, 1), 0);
	stream_done(&stream);
	close(fds[0]);
}
