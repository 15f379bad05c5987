/* SPDX-License-Identifier: MIT */
/*
 * Code made at run time: a loop that counts down, named in the map that JITs write. Prints its pid;
 * exits with 77 on machines whose code it does not know.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__
/* dec rdi; jnz to it; ret */
static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#else
static const unsigned char code[] = { 0 };
#endif

int main(void)
{
	unsigned char *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	if (sizeof(code) == 1 || place == MAP_FAILED)
		return 77;
	memcpy(place, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		return 77;
	fprintf(map, "%lx 40 jit_loop\n", (unsigned long)place);
	fclose(map);
	printf("%d\n", getpid());
	fflush(stdout);
	((void (*)(unsigned long))(void *)place)(200000000ul);
	return 0;
}
