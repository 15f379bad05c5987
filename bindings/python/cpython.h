/* SPDX-License-Identifier: MIT */
/*
 * Python.h as all files of this folder include it, and what depends on the build. One source gives
 * three builds: exact for one CPython, limited API 3.9, limited API 3.12.
 */
#ifndef SONDE_PY_CPYTHON_H
#define SONDE_PY_CPYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined(Py_LIMITED_API) || Py_LIMITED_API + 0 >= 0x030c0000
#define HAVE_VECTORCALL 1
#endif

/*
 * Only where one interpreter lock guards all reference counts does a count of 1 mean that nobody
 * else can see it.
 */
#ifdef Py_GIL_DISABLED
#define ONLY_MINE(o) false
#else
#define ONLY_MINE(o) (Py_REFCNT(o) == 1)
#endif

#endif
