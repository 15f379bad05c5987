/* SPDX-License-Identifier: MIT */
/*
 * Replaces libFuzzer: calls the target with each file of a folder, and prints TAP.
 *
 * Inputs are copied to memory of exactly their size, so that a sanitizer sees a read after the
 * end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *dir, const char *name)
{
	char *path = NULL;
	uint8_t *data = NULL;
	long size;
	FILE *f;
	int r = -1;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -1;
	f = fopen(path, "rb");
	if (f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET)) {
		data = malloc(size ? (size_t)size : 1);
		if (data && fread(data, 1, (size_t)size, f) == (size_t)size)
			r = LLVMFuzzerTestOneInput(data, (size_t)size);
	}
	if (f)
		fclose(f);
	free(data);
	free(path);
	return r;
}

static int is_input(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int n = argc > 1 ? scandir(argv[1], &entries, is_input, alphasort) : -1;

	if (n <= 0) {
		printf("1..1\nnot ok 1 - no corpus\n");
		return 1;
	}
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		/* Printed before the call, so that a crash shows its input. */
		printf("# %s\n", entries[i]->d_name);
		fflush(stdout);
		printf("%sok %d - %s\n", replay(argv[1], entries[i]->d_name) ? "not " : "", i + 1,
		       entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
