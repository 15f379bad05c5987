/* SPDX-License-Identifier: MIT */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define COMMON FIELD("unsigned short common_type", 0, 2, 0) FIELD("int common_pid", 4, 4, 1)
#define HEAD   "name: sched_switch\nID: 372\nformat:\n" COMMON "\n"

static int parse(struct arena *a, const char *text, struct abi abi, struct sonde_schema **ret)
{
	return eventformat_parse(a, bytes_init(text, strlen(text), 0, "test", false), "sched", abi,
				 ret);
}

static const struct sonde_field *field(const struct sonde_schema *sc, const char *name)
{
	const struct sonde_field *f = schema_find_field(sc, name, strlen(name));

	if (!f)
		fail_msg("no field %s", name);
	return f;
}

TEST(eventformat_reads_names_and_blocks)
{
	struct arena a = { 0 };
	struct sonde_schema *sc;

	assert_int_equal(parse(&a,
			       HEAD FIELD("pid_t pid", 8, 4, 1) "\nprint fmt: \"%d\", REC->pid\n",
			       fixture_abi(0, 8), &sc),
			 0);
	assert_string_equal(sc->system, "sched");
	assert_string_equal(sc->event, "sched_switch");
	assert_string_equal(sc->name, "sched:sched_switch");
	assert_int_equal(sc->tracepoint_id, 372);
	assert_int_equal(sc->kind, SONDE_TRACEPOINT);
	assert_int_equal(sc->nr_fields, 3);
	assert_int_equal(sc->nr_common, 2);
	assert_true(sc->fields[1].is_common);
	assert_false(sc->fields[2].is_common);
	assert_string_equal(sc->print_fmt, "\"%d\", REC->pid");
	arena_done(&a);
}

struct expected {
	const char *decl, *name, *type;
	uint32_t size;
	int is_signed;
	enum sonde_field_kind kind;
	uint32_t elem;
	const char *flags; /* a array, d dynamic, r relative, t text, p pointer, l long */
};

static const struct expected fields_64[] = {
	{ "int pid", "pid", "int", 4, 1, SONDE_FIELD_INT, 4, "" },
	{ "unsigned long ip", "ip", "unsigned long", 8, 0, SONDE_FIELD_INT, 8, "l" },
	{ "long long x", "x", "long long", 8, 1, SONDE_FIELD_INT, 8, "l" },
	{ "bool on", "on", "bool", 1, 0, SONDE_FIELD_INT, 1, "" },
	{ "enum zone_type z", "z", "enum zone_type", 4, 0, SONDE_FIELD_INT, 4, "" },
	{ "const char * name", "name", "const char *", 8, 0, SONDE_FIELD_INT, 8, "p" },
	{ "const char *const *argv", "argv", "const char *const *", 8, 0, SONDE_FIELD_INT, 8, "p" },
	{ "struct foo * p", "p", "struct foo *", 8, 0, SONDE_FIELD_INT, 8, "p" },
	{ "void __seg_gs * q", "q", "void __seg_gs *", 8, 0, SONDE_FIELD_INT, 8, "p" },
	{ "struct in6_addr addr", "addr", "struct in6_addr", 16, 0, SONDE_FIELD_STRUCT, 16, "" },
	{ "char odd", "odd", "char", 3, 0, SONDE_FIELD_STRUCT, 3, "" },
	{ "char comm[16]", "comm", "char[16]", 16, 0, SONDE_FIELD_STRING, 1, "at" },
	{ "char comm[TASK_COMM_LEN]", "comm", "char[TASK_COMM_LEN]", 16, 0, SONDE_FIELD_STRING, 1,
	  "at" },
	{ "u8 mac[6]", "mac", "u8[6]", 6, 0, SONDE_FIELD_ARRAY, 1, "at" },
	{ "unsigned char raw[4]", "raw", "unsigned char[4]", 4, 0, SONDE_FIELD_ARRAY, 1, "at" },
	{ "u32 v[4]", "v", "u32[4]", 16, 0, SONDE_FIELD_ARRAY, 4, "a" },
	{ "unsigned long args[6]", "args", "unsigned long[6]", 48, 0, SONDE_FIELD_ARRAY, 8, "al" },
	{ "unsigned long args[]", "args", "unsigned long[]", 0, 0, SONDE_FIELD_ARRAY, 8, "al" },
	{ "char buf[]", "buf", "char[]", 0, 0, SONDE_FIELD_STRING, 1, "at" },
	{ "s32 iarr[]", "iarr", "s32[]", 16, 1, SONDE_FIELD_ARRAY, 4, "a" },
	{ "__data_loc char[] cmd", "cmd", "__data_loc char[]", 4, 0, SONDE_FIELD_STRING, 1, "adt" },
	{ "__rel_loc char[] cmd", "cmd", "__rel_loc char[]", 4, 0, SONDE_FIELD_STRING, 1, "adrt" },
	{ "__data_loc u64[] q", "q", "__data_loc u64[]", 4, 0, SONDE_FIELD_ARRAY, 8, "ad" },
	{ "__data_loc unsigned long[] m", "m", "__data_loc unsigned long[]", 4, 0,
	  SONDE_FIELD_ARRAY, 8, "adl" },
	{ "__data_loc cpumask_t mask", "mask", "__data_loc cpumask_t", 4, 0, SONDE_FIELD_ARRAY, 8,
	  "ad" },
};

static void check_field(const struct expected *e, struct abi abi)
{
	struct arena a = { 0 };
	struct sonde_schema *sc = NULL;
	const struct sonde_field *f;
	char text[512], flags[8];

	snprintf(text, sizeof(text),
		 HEAD "\tfield:%s;\toffset:8;\tsize:%u;\tsigned:%d;\n\nprint fmt: \"\"\n", e->decl,
		 e->size, e->is_signed);
	if (parse(&a, text, abi, &sc) < 0)
		fail_msg("%s: %s", e->decl, err_text());
	f = field(sc, e->name);
	snprintf(flags, sizeof(flags), "%s%s%s%s%s%s", f->is_array ? "a" : "",
		 f->is_dynamic ? "d" : "", f->is_relative ? "r" : "", f->is_text ? "t" : "",
		 f->is_pointer ? "p" : "", f->is_long ? "l" : "");
	if (strcmp(flags, e->flags) || f->kind != e->kind || f->elem_width != e->elem ||
	    f->is_signed != e->is_signed || f->width != e->size || f->offset != 8 ||
	    strcmp(f->type, e->type))
		fail_msg("%s: type %s kind %d elem %u flags %s", e->decl, f->type, f->kind,
			 f->elem_width, flags);
	arena_done(&a);
}

TEST(eventformat_classifies_fields)
{
	static const struct expected longs_32 = { "__data_loc unsigned long[] m",
						  "m",
						  "__data_loc unsigned long[]",
						  4,
						  0,
						  SONDE_FIELD_ARRAY,
						  4,
						  "adl" };
	static const struct expected pointer_32 = { "void * p",      "p", "void *", 4, 0,
						    SONDE_FIELD_INT, 4,   "p" };

	for (size_t i = 0; i < sizeof(fields_64) / sizeof(*fields_64); i++) {
		check_field(&fields_64[i], fixture_abi(0, 8));
		check_field(&fields_64[i], fixture_abi(1, 8));
	}
	check_field(&longs_32, fixture_abi(0, 4));
	check_field(&pointer_32, fixture_abi(1, 4));
}

TEST(eventformat_takes_old_and_odd_layouts)
{
	struct arena a = { 0 };
	struct sonde_schema *sc;

	/* No `signed:`; offsets not in order; unaligned. */
	assert_int_equal(
		parse(&a,
		      "name: x\nID: 1\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\n\n"
		      "\tfield:u32 b;\toffset:27;\tsize:4;\n\tfield:u8 "
		      "a;\toffset:8;\tsize:1;\n\nprint fmt: \"\"\n",
		      fixture_abi(0, 8), &sc),
		0);
	assert_int_equal(field(sc, "b")->offset, 27);
	/* No fields of its own, no print format, no final newline. */
	assert_int_equal(parse(&a, "name: x\nID: 1\nformat:\n" COMMON, fixture_abi(0, 8), &sc), 0);
	assert_int_equal(sc->nr_common, 2);
	assert_null(sc->print_fmt);
	/* In one block, common fields are recognised by their names. */
	assert_int_equal(parse(&a, "name: x\nID: 1\nformat:\n" COMMON FIELD("int a", 8, 4, 1),
			       fixture_abi(0, 8), &sc),
			 0);
	assert_int_equal(sc->nr_common, 2);
	assert_int_equal(sc->nr_fields, 3);
	arena_done(&a);
}

TEST(eventformat_refuses_what_is_none)
{
	static const char *const bad[] = {
		"",
		"\n",
		"name:\nID: 1\nformat:\n",
		"name: x\n",
		"name: x\nID: \nformat:\n",
		"name: x\nID: abc\nformat:\n",
		"name: x\nID: 99999999999\nformat:\n",
		"ID: 1\nname: x\nformat:\n",
		"name: x\nID: 1\nprint fmt: \"\"\n",
		"name: x\nID: 1\nformat:\n\tfield:int;\toffset:0;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\nformat:\n\tfield:int a;\toffset:0;\n",
		"name: x\nID: 1\nformat:\n\tfield:int a;\toffset:-1;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\nformat:\n\tfield:int a;\toffset:99999999;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\nformat:\n\tfield:int a[;\toffset:0;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\nformat:\n\tfield;;;\n",
		"name: x\nID: 1\nformat:\nrubbish\n",
	};
	struct arena a = { 0 };
	struct sonde_schema *sc = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (parse(&a, bad[i], fixture_abi(0, 8), &sc) != -EBADMSG)
			fail_msg("accepted: %s", bad[i]);
		assert_non_null(strstr(err_text(), "event format"));
	}
	arena_done(&a);
}
