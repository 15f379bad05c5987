/* SPDX-License-Identifier: MIT */
#include "symbols/vdso.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define MAX_VDSO_BYTES (1u << 20)

int vdso_open(struct elf_file **ret)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start = 0, end = 0;
	char line[512];
	uint8_t *image;

	if (!maps)
		return err_errno(errno, "cannot open /proc/self/maps");
	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, " [vdso]\n") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			break;
		start = end = 0;
	}
	fclose(maps);
	if (end <= start || end - start > MAX_VDSO_BYTES)
		return err_set(-ENOENT, "this process has no vdso");
	image = malloc(end - start);
	if (!image)
		return err_nomem();
	memcpy(image, (const void *)start, end - start);
	return elf_file_from_memory(ret, image, end - start, "[vdso]");
}
