/* SPDX-License-Identifier: MIT */
#include "sources/unknown.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct kind {
	const char *magic;
	uint8_t len;
	const char *text;
};

/* The first match counts, so a longer magic is in front of a shorter one that is its prefix. */
static const struct kind kinds[] = {
#define KIND(magic, text)                      \
	{                                      \
		magic, sizeof(magic) - 1, text \
	}
	KIND("\xc1\x1f\xfc\xc1",
	     "a stream of a CTF trace (LTTng, barectf): name its folder, which has the metadata"),
	KIND("\xc1\xfc\x1f\xc1",
	     "a stream of a CTF trace (LTTng, barectf): name its folder, which has the metadata"),
	KIND("\x7f"
	     "ELF",
	     "a program or a library; sonde record -- PROGRAM records one"),
	KIND("DTiJ", "the functions of a JIT (jitdump), not a recording of events"),
	KIND("JiTD", "the functions of a JIT (jitdump), not a recording of events"),
	KIND("Ftrace!", "the info file of a uftrace recording: uftrace reads its folder"),
	KIND("\x1f\x8b\x08", "something packed twice: unpack it once (gunzip)"),
	KIND("\xfd\x37zXZ", "something packed twice: unpack it once (unxz)"),
	KIND("\x28\xb5\x2f\xfd", "something packed twice: unpack it once (unzstd)"),
	KIND("BZh",
	     "something packed with bzip2, perhaps by perf archive: unpack it first (bunzip2)"),
	KIND("\x04\x22\x4d\x18", "something packed with lz4: unpack it first (unlz4)"),
	KIND("LZIP", "something packed with lzip: unpack it first (lzip -d)"),
	KIND("PK\x03\x04", "a zip archive: unpack it first (unzip)"),
	KIND("7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
	KIND("SQLite format 3", "a database of SQLite, perhaps one that was made from a recording"),
	KIND("\xd4\xc3\xb2\xa1", "packets of a network (pcap), which tcpdump -r shows"),
	KIND("\x0a\x0d\x0d\x0a", "packets of a network (pcapng), which tshark -r shows"),
	KIND("/* CTF ", "the metadata of a CTF trace of another version than 1.8 and 2"),
	KIND("{\"header\":{\"sche", "JSON lines, as sonde script --format jsonl writes them: open "
				    "the recording that they were made from"),
	KIND("{", "JSON: open the recording that it was made from"),
	KIND("# ========", "the text of a recording (perf script --header): open the recording "
			   "that it was made from"),
#undef KIND
};

static bool unknown_is_text(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((p[i] < ' ' && !strchr("\t\n\r", p[i])) || p[i] > '~' || !p[i])
			return false;
	}
	return true;
}

void unknown_describe(const uint8_t *head, size_t len, char ret[UNKNOWN_TEXT_BYTES])
{
	static const char magics[][9] = { "PERFILE2", "2ELIFREP", "PERFFILE" };
	size_t n;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (len >= kinds[i].len && !memcmp(head, kinds[i].magic, kinds[i].len)) {
			snprintf(ret, UNKNOWN_TEXT_BYTES, "it looks like %s", kinds[i].text);
			return;
		}
	}
	for (size_t i = 0; i < 3; i++) {
		if (!memcmp(head, magics[i], len < 8 ? len : 8)) {
			snprintf(ret, UNKNOWN_TEXT_BYTES,
				 "it is a perf.data that ends in its header");
			return;
		}
	}
	if (unknown_is_text(head, len)) {
		for (n = 0; n < len && head[n] >= ' ';)
			n++;
		snprintf(ret, UNKNOWN_TEXT_BYTES,
			 "it is text that begins with '%.*s': a script is run with -s", (int)n,
			 (const char *)head);
		return;
	}
	n = (size_t)snprintf(ret, UNKNOWN_TEXT_BYTES, "it begins with the bytes");
	for (size_t i = 0; i < len && i < 8; i++)
		n += (size_t)snprintf(ret + n, UNKNOWN_TEXT_BYTES - n, " %02x", head[i]);
}

const char *unknown_directory(int dir)
{
	static const struct kind files[] = {
		{ "task.txt", 0, "it looks like a recording of uftrace, which uftrace reads" },
		{ "kernel/metadata", 0,
		  "it looks like a session of LTTng: name the folders in it that have a file "
		  "'metadata' (kernel, ust/uid/0/64-bit), each after -i" },
		{ "ust", 0,
		  "it looks like a session of LTTng: name the folders in it that have a file "
		  "'metadata' (ust/uid/0/64-bit), each after -i" },
		{ "perf.data", 0, "there is a perf.data in it, to be named itself" },
		{ "trace.dat", 0, "there is a trace.dat in it, to be named itself" },
		{ "trace_pipe", 0, "it looks like tracefs: sonde record -e records its events" },
	};
	struct stat st;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!fstatat(dir, files[i].magic, &st, 0))
			return files[i].text;
	}
	return "";
}
